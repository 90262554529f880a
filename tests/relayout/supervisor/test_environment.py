"""Whole commands where the system lacks something, and where processes are stopped or ended at random moments."""

from __future__ import annotations

import fcntl
import os
import random
import resource
import signal
import subprocess
import sys
import termios
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from tests.paths import ROOT
from tests.signals import default_signals

_MODULE = "HloModule m\nENTRY e {\n  p = f32[3,5]{1,0:T(2,2)} parameter(0)\n  ROOT n = f32[3,5]{1,0} negate(p)\n}\n"
# MLIR's verifier visits every element of the replica groups, with Python's lock held.
_SLOW = """func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %r = "stablehlo.all_reduce"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %m = stablehlo.maximum %x, %y : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {replica_groups = dense<-1> : tensor<100000x10000000000xi64>} : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
"""


def _large(name: str, count: int) -> str:
    """Returns a module with so many instructions."""
    negations = "".join(f"  n{i} = f32[3,5]{{1,0}} negate(p)\n" for i in range(count))
    begin = f"HloModule {name}\nENTRY e {{\n  p = f32[3,5]{{1,0}} parameter(0)\n"
    return f"{begin}{negations}  ROOT r = f32[3,5]{{1,0}} negate(p)\n}}\n"


_OPT = "python -m relayout opt a.hlo"
_LINES = 4


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.hlo", "b.hlo"):
        (tmp_path / name).write_text(_MODULE)
    (tmp_path / "slow.mlir").write_text(_SLOW)
    (tmp_path / "t").mkdir()
    return tmp_path


def _environment(folder: Path, **changed: str) -> dict[str, str]:
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    # Workers get these two; a folder in them marks all processes of a test.
    marked = {"PATH": path, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}", "TMPDIR": str(folder / "t")}
    return os.environ | marked | changed


def shell(folder: Path, line: str, **changed: str) -> subprocess.CompletedProcess[str]:
    """Runs a line of sh in a folder."""
    with default_signals():
        ended = subprocess.run(
            ["sh", "-c", line],
            cwd=folder,
            env=_environment(folder, **changed),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert not left_over(folder)
    return ended


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """Starts a command."""
    with default_signals():
        return subprocess.Popen(
            [sys.executable, "-m", "relayout", *arguments],
            cwd=folder,
            env=_environment(folder),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def processes(folder: Path) -> Iterator[int]:
    """Yields the processes of a test, also those that were forked and have cleared their environment."""
    marker = f"{os.pathsep}{folder}\0".encode()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and marker in (entry / "environ").read_bytes():
                yield int(entry.name)
        except OSError:
            continue


def left_over(folder: Path, seconds: float = 1.0) -> list[int]:
    """Returns the processes that stay longer than so many seconds."""
    end = time.monotonic() + seconds
    while (left := list(processes(folder))) and time.monotonic() < end:
        time.sleep(0.02)
    return left


def _clean(folder: Path) -> bool:
    return not list(folder.rglob(".relayout-*")) and not list((folder / "t").iterdir())


def _until(condition: Callable[[], object], seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)


def child_of(process: subprocess.Popen[str]) -> int:
    """Returns the first child of a command, once it has one that is confined."""
    found: list[int] = []

    def find() -> bool:
        found[:] = map(int, Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split())
        with suppress(ProcessLookupError, FileNotFoundError):  # a child that has just ended
            return bool(found) and "Seccomp:\t2" in Path(f"/proc/{found[0]}/status").read_text()
        return False

    _until(find)
    return found[0]


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        (f"{_OPT} >&-", 0, ""),
        (f"{_OPT} >/dev/full", 1, "error: standard output: no space left on device"),
        (f"{_OPT} 2>&-", 0, ""),
        (f"{_OPT} <&- >&- 2>&-", 0, ""),
        (f"{_OPT} absent.hlo 2>&-", 2, ""),
        (f"{_OPT} absent.hlo 2>/dev/full", 1, ""),
        (f"{_OPT} absent.hlo >/dev/full 2>/dev/full", 1, ""),
        (f"{_OPT} -o /dev/full", 1, "error: /dev/full: no space left on device"),
        ("ulimit -f 0; " + f"{_OPT} -o out.hlo", 1, "error: out.hlo: file too large"),
        (f"{_OPT} -o absent/out.hlo", None, None),
        (f"mkdir gone; cd gone; rmdir ../gone; {_OPT}", 2, "error: the working directory"),
        (f"trap '' CHLD; {_OPT} b.hlo -o o/", 0, ""),
        (f"trap '' HUP INT TERM; {_OPT} -o out.hlo", 0, ""),
        (f"{_OPT} -o out.hlo | true", 0, ""),
        ("python -m relayout explain - <&-", None, None),
        ("cat a.hlo | python -m relayout report -", 0, ""),
        (
            f"{_OPT} b.hlo -o /dev/full 2>&1 | grep -v hint >&2",
            0,
            "error: 2 modules need a directory, but -o /dev/full",
        ),
        (f"{_OPT} -p strip-layouts --dump-dir /dev/full", 2, "error: --dump-dir /dev/full is a file, not a directory"),
    ],
)
def test_a_stream_or_a_file_that_fails_is_one_line(
    line: str, code: int | None, message: str | None, folder: Path
) -> None:
    ended = shell(folder, line)
    assert ended.returncode in ((0, 1, 2) if code is None else (code,)), ended.stderr
    if message is not None:
        assert ended.stderr.startswith(message), ended.stderr
        assert len(ended.stderr.splitlines()) == (message != "")
    assert "Traceback" not in ended.stderr
    assert _clean(folder)


def test_a_reader_that_closes_the_pipe_ends_the_command(folder: Path) -> None:
    line = f"{_OPT} b.hlo -o - ; echo $? >&2"
    ended = shell(folder, f"( {line} ) | true")
    assert ended.stderr.splitlines()[-1] in ("0", "141")
    assert len(ended.stderr.splitlines()) == 1


# With 4 Python itself cannot start.
@pytest.mark.parametrize("files", [5, 6, 7, 8, 10, 12, 20])
def test_few_descriptors_are_one_line_or_enough(files: int, folder: Path) -> None:
    ended = shell(folder, f"ulimit -n {files}; {_OPT} b.hlo --jobs 2 -o o/")
    assert "Traceback" not in ended.stderr, ended.stderr
    if ended.returncode == 0:
        assert ended.stderr == ""
        assert len(list((folder / "o").iterdir())) == 2
    else:
        assert ended.returncode == 1
        assert 0 < len(ended.stderr.splitlines()) <= _LINES, ended.stderr
    assert (ended.returncode == 0) >= (files >= 20)
    assert _clean(folder)


@pytest.mark.parametrize("files", [10, 16, 24])
def test_few_descriptors_for_a_worker_are_one_verdict(files: int, folder: Path) -> None:
    ended = shell(folder, f"ulimit -n {files}; python -m relayout check a.hlo -p expand-tiling")
    assert "Traceback" not in ended.stderr, ended.stderr
    assert len(ended.stderr.splitlines()) <= _LINES
    assert ended.returncode in (0, 1, 2, 3)
    assert _clean(folder)


def test_few_processes_are_one_line(folder: Path) -> None:
    if os.getuid() == 0:
        pytest.skip("the system does not limit the processes of root")

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))

    ended = subprocess.run(
        [sys.executable, "-m", "relayout", "opt", "a.hlo"],
        cwd=folder,
        env=_environment(folder),
        preexec_fn=limited,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (1, "error: resource temporarily unavailable\n")


@pytest.mark.parametrize("directory", ["absent", "a.hlo", "/proc", ""])
def test_without_a_directory_for_temporary_files_commands_work(directory: str, folder: Path) -> None:
    ended = shell(folder, f"{_OPT} -o out.hlo", TMPDIR=directory)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (folder / "out.hlo").read_text() == _MODULE


def test_of_two_commands_for_one_file_the_first_writes_it_whole(folder: Path) -> None:
    texts = {}
    for name in ("a", "b"):
        texts[name] = _large(name, 2000)
        (folder / f"{name}.hlo").write_text(texts[name])
    commands = [started(folder, "opt", f"{name}.hlo", "-o", "out.hlo") for name in ("a", "b")]
    for command in commands:
        _, errors = command.communicate(timeout=60)
        assert (command.returncode, "is written by another command" in errors) in ((0, False), (2, True))
    assert (folder / "out.hlo").read_text() in texts.values()
    assert _clean(folder)


@pytest.mark.parametrize("which", ["parent", "child", "both"])
def test_processes_that_are_stopped_and_continued_go_on(which: str, folder: Path) -> None:
    (folder / "many").mkdir()
    for number in range(30):
        (folder / "many" / f"m{number}.hlo").write_text(_MODULE)
    command = started(folder, "opt", "many", "-o", "o/", "--jobs", "1")
    stopped = {"parent": [command.pid], "child": [child_of(command)], "both": [command.pid, child_of(command)]}[which]
    try:
        for pid in stopped:
            os.kill(pid, signal.SIGSTOP)
        time.sleep(2.0)
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    except ProcessLookupError:
        pytest.skip("the command ended before it was stopped")
    _, errors = command.communicate(timeout=60)
    assert (command.returncode, errors) == (0, "")
    assert len(list((folder / "o").iterdir())) == 30
    assert not left_over(folder)


def test_a_stopped_child_costs_its_time_limit_only(folder: Path) -> None:
    command = started(folder, "opt", "slow.mlir", "--timeout", "3")
    child = child_of(command)
    # A child that is stopped while it plans has the time limit of planning.
    time.sleep(1.0)
    os.kill(child, signal.SIGSTOP)
    _, errors = command.communicate(timeout=20)
    assert (command.returncode, errors.splitlines()[0]) == (1, "error: slow.mlir: no result after 3 seconds")
    assert not left_over(folder)


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_end_a_command_whose_child_loops_in_mlir(sent: signal.Signals, folder: Path) -> None:
    command = started(folder, "opt", "slow.mlir", "a.hlo", "-o", "o/", "--jobs", "2")
    child_of(command)
    time.sleep(0.5)
    command.send_signal(sent)
    _, errors = command.communicate(timeout=20)
    assert (command.returncode, errors) == (128 + sent, "")
    assert not left_over(folder)
    assert _clean(folder)


def _is_full(pipe: int) -> bool:
    size = array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, size)
    return size[0] >= fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ)


def test_signals_end_a_command_that_waits_for_a_full_pipe(folder: Path) -> None:
    (folder / "a.hlo").write_text(_large("m", 5000))
    command = started(folder, "opt", "a.hlo")
    assert command.stdout is not None
    _until(partial(_is_full, command.stdout.fileno()))
    command.send_signal(signal.SIGTERM)
    assert command.wait(20) == 128 + signal.SIGTERM
    assert command.communicate()[1] == ""
    assert not left_over(folder)


def test_the_deadline_ends_a_child_that_loops_in_mlir_and_the_batch_goes_on(folder: Path) -> None:
    command = started(folder, "opt", "a.hlo", "slow.mlir", "b.hlo", "-o", "o/", "--timeout", "1")
    _, errors = command.communicate(timeout=20)
    assert (command.returncode, errors.splitlines()[0]) == (1, "error: slow.mlir: no result after 1 seconds")
    assert sorted(path.name for path in (folder / "o").iterdir()) == ["a.hlo", "b.hlo"]
    assert not left_over(folder)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("why slow.mlir --target cpu", 1),
        ("validate slow.mlir --target cpu", 3),
        # A worker reads the module, then one runs the pass.
        ("validate slow.mlir --with jaxlib --passes cse", 1),
    ],
)
def test_the_time_limit_holds_while_a_command_makes_modules(line: str, code: int, folder: Path) -> None:
    command = started(folder, *line.split(), "--timeout", "1")
    output, errors = command.communicate(timeout=40)
    assert (command.returncode, "no result after 1 seconds" in output + errors) == (code, True)
    assert not left_over(folder)


@pytest.mark.parametrize("seed", range(4))
def test_kill_9_at_a_random_moment_leaves_no_process(seed: int, folder: Path) -> None:
    chance = random.Random(seed)
    command = started(folder, "opt", "slow.mlir", "a.hlo", "-o", "o/", "--jobs", "2")
    time.sleep(chance.random() * 2.0)
    command.kill()
    command.communicate(timeout=20)
    assert not left_over(folder)
    assert not list(folder.rglob(".relayout-*"))


def test_a_process_that_stays_is_noticed(folder: Path) -> None:
    """A negative example for `left_over`."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"], env=_environment(folder)) as process:
        _until(lambda: list(processes(folder)))
        assert left_over(folder, 0.2) == [process.pid]
        process.kill()
