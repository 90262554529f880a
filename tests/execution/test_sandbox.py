"""The filter of system calls: each row of the page's table, and calls that a process could use against others."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dialect_utils.sandbox import DENIED
from tests.paths import ROOT

# Each call has arguments that the system rejects, so that nothing happens where the filter lets it through.
_DENIED = """
import ctypes, errno, json, sys
from dialect_utils import sandbox
library = sandbox._library()
names = json.loads(sys.argv[1])
numbers = {name: library.seccomp_syscall_resolve_name(name.encode()) for name in names}
if sandbox.enter_sandbox() is not None:
    sys.exit(3)
system = ctypes.CDLL(None, use_errno=True)
wrong = ctypes.c_void_p(-1)
for name, number in numbers.items():
    if number >= 0 and (system.syscall(number, *[wrong] * 6) != -1 or ctypes.get_errno() != errno.EPERM):
        print(name, errno.errorcode.get(ctypes.get_errno()))
"""

_HOLES = """
import ctypes, errno, fcntl, os, resource, signal, struct, subprocess, sys, time
from dialect_utils import sandbox
file, *_ = sys.argv[1:]
this = os.getpid()
other = subprocess.Popen(["sleep", "60"], stdout=subprocess.DEVNULL, preexec_fn=lambda: sandbox.die_with_parent(this))
system = ctypes.CDLL(None, use_errno=True)
read, write = os.pipe()
system.msgget(0, 0)
sandbox.die_with_parent(os.getppid())
sandbox.limit_cpu_seconds(1, os.getpid())
sandbox.limit_resources(4_000_000_000)
limit = resource.getrlimit(resource.RLIMIT_CPU)
if sandbox.enter_sandbox() is not None:
    other.kill()
    sys.exit(3)
found = os.open(file, os.O_RDONLY)

def call(number, *values):
    if system.syscall(number, *[ctypes.c_void_p(each) if isinstance(each, int) else each for each in values]) == -1:
        raise OSError(ctypes.get_errno(), "")

text = ctypes.c_char_p
tries = {
    "SETOWN": lambda: fcntl.fcntl(read, fcntl.F_SETOWN, other.pid),
    "SETOWN group": lambda: fcntl.fcntl(read, fcntl.F_SETOWN, -os.getppid()),
    "SETOWN_EX": lambda: fcntl.fcntl(read, 15, struct.pack("ii", 1, other.pid)),
    "SETSIG": lambda: fcntl.fcntl(read, 10, signal.SIGKILL),
    "lease": lambda: fcntl.fcntl(found, 1024, fcntl.F_RDLCK),
    "notify": lambda: fcntl.fcntl(os.open("/", os.O_RDONLY), 1026, 1),
    "death signal": lambda: call(157, 1, 0, 0, 0, 0),
    "dumpable": lambda: call(157, 4, 0, 0, 0, 0),
    "subreaper": lambda: call(157, 36, 1, 0, 0, 0),
    "processor time": lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit[1], limit[1])),
    "limits of another": lambda: resource.prlimit(other.pid, resource.RLIMIT_NOFILE, (1, 1)),
    "size of files": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1)),
    "flags": lambda: fcntl.ioctl(found, 0x40086602, struct.pack("l", 0x40)),
    "terminal": lambda: fcntl.ioctl(0, 0x5412, b"x"),
    "setxattrat": lambda: call(463, -100, text(file.encode()), 0, text(b"user.a"), 0, 16),
    "file_setattr": lambda: call(469, -100, text(file.encode()), 0, 24, 0),
    "nice": lambda: os.setpriority(os.PRIO_PROCESS, other.pid, 19),
    "cores": lambda: os.sched_setaffinity(other.pid, {0}),
    "signal": lambda: os.kill(other.pid, 0),
    "signal to all": lambda: os.kill(-1, 0),
    "lock": lambda: fcntl.flock(found, fcntl.LOCK_EX),
    "record lock": lambda: fcntl.lockf(found, fcntl.LOCK_SH),
    "write": lambda: os.open(file, os.O_RDWR),
    "unnamed file": lambda: os.open(os.path.dirname(file), os.O_TMPFILE | os.O_WRONLY),
    "memory": lambda: os.ftruncate(os.memfd_create("x"), 1 << 20),
    "process": lambda: os.fork(),
    "namespace": lambda: call(56, 0x10000000, 0, 0, 0, 0),
    "mount": lambda: call(442, -100, text(b"/"), 0, 0, 0),
    "fanotify": lambda: call(300, 0, 0),
    "pidfd": lambda: call(434, other.pid, 0),
    "user": lambda: os.setuid(1000),
    "io_uring": lambda: call(425, 1, 0),
}
for name, attempt in tries.items():
    try:
        attempt()
        print(name)
    except (OSError, ValueError):
        pass
os.write(write, b"x")
print("done")
"""


def _run(code: str, *arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, *arguments]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    if ended.returncode == 3:
        pytest.skip("this system has no filter")
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_every_call_of_the_table_is_denied() -> None:
    names = " ".join(DENIED.values()).split()
    assert len(set(names)) == len(names)
    assert _run(_DENIED, json.dumps(names)) == ""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are those of x86-64")
def test_a_process_cannot_reach_others_or_lift_its_limits(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("whole")
    assert _run(_HOLES, str(file)) == "done\n"
    assert file.read_text() == "whole"


def test_the_page_has_the_table_of_the_filter() -> None:
    rows = [f"| {topic} | {', '.join(names.split())} |" for topic, names in DENIED.items()]
    assert "\n".join(rows) in (ROOT / "docs" / "security.md").read_text()


_LANDLOCKED = """
import os, sys
from dialect_utils import sandbox
inside, outside = sys.argv[1:]
sandbox.write_only_in(inside)
open(os.path.join(inside, "new"), "w").close()
open(os.devnull, "w").close()
tries = {
    "write": lambda: open(outside, "w"),
    "remove": lambda: os.unlink(outside),
    "rename": lambda: os.rename(outside, os.path.join(inside, "taken")),
    "directory": lambda: os.mkdir(outside + ".d"),
    "truncate": lambda: os.truncate(outside, 0),
    "link": lambda: os.symlink("/", outside + ".l"),
}
for name, attempt in tries.items():
    try:
        attempt()
        print(name)
    except OSError:
        pass
"""


def test_a_compiler_writes_in_its_directory_only(tmp_path: Path) -> None:
    if ctypes.CDLL(None).syscall(444, None, 0, 1) < 1:
        pytest.skip("this kernel has no Landlock")
    (tmp_path / "inside").mkdir()
    (tmp_path / "outside").write_text("whole")
    assert _run(_LANDLOCKED, str(tmp_path / "inside"), str(tmp_path / "outside")) == ""
    assert (tmp_path / "outside").read_text() == "whole"


_HIDDEN = """
import os, sys
from dialect_utils import sandbox
files = [f"/proc/{os.getppid()}/{name}" for name in ("environ", "mem", "maps")]
for each in files:
    open(each, "rb").close()
sandbox.hide_other_processes()
for each in files:
    try:
        open(each, "rb").close()
        print(each)
    except PermissionError:
        pass
"""


def test_a_sandboxed_process_reads_no_memory_of_others() -> None:
    if ctypes.CDLL(None).syscall(444, None, 0, 1) < 1:
        pytest.skip("this kernel has no Landlock")
    assert _run(_HIDDEN) == ""


_COMPILER = """
import sys
from dialect_utils import sandbox
from dialect_utils.execution import compiling
restricted = []
sandbox.hide_other_processes, sandbox.write_only_in, compiling.add_flags = (lambda: None), restricted.append, str
compiling._load = lambda platform: sys.exit(int(restricted != ["dump"]))
compiling._serve(1, sys.argv[1], "dump")
"""


@pytest.mark.parametrize("platform", ["cpu", "cuda", "tpu"])
def test_every_compiler_is_restricted_before_it_is_loaded(platform: str) -> None:
    assert _run(_COMPILER, platform) == ""
