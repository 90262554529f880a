"""Runs hostile commands, each in a session of its own under limits, and prints what they violate.

`python -m tests.hostile.commands [--count N] [--only TEXT] [--json FILE]` ends with 1 if a command shows a
traceback, is ended by a signal, works longer than its limit allows, takes more memory than its limit, or leaves a
process or a temporary file behind. Linux only.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.hostile.case import Case, Command
from tests.hostile.families import commands, telling
from tests.paths import ROOT

_COUNT = 1000
# The time limit that each command gets, and the time after it in which it has to end.
SECONDS, GRACE = 4.0, 2.0
# A dozen of those that tell most work until their limit.
_TELLING_SECONDS = 1.0
# Beside the limit: the start of Python and of a worker, on a machine that does other work.
_START = 6.0
_KILLED_AFTER = 45.0
# The main process and one child, in megabytes; --memory is 4 GB by default.
MOST_OF_MAIN, MOST_OF_CHILD = 1000, 4700
_ADDRESS_SPACE = 16 << 30
# Between two looks at all processes: none takes gigabytes in less.
_LOOK_SECONDS = 0.1
_POLL_SECONDS = 0.02
_SETTLING_SECONDS = 0.5
_CODES = (0, 1, 2, 3, 141)
_TELLTALES = (
    "Traceback (most recent call last)",
    "internal error",
    "Fatal Python error",
    "terminate called",
    "nanobind",
)
_RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_PR_SET_CHILD_SUBREAPER = 36
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Outcome:
    """The outcome of one command."""

    code: int = 0
    wall: float = 0.0
    cpu: float = 0.0
    main_megabytes: float = 0.0
    child_megabytes: float = 0.0
    stdout: str = ""
    stderr: str = ""
    left: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    is_killed: bool = False


def adopt_orphans() -> None:
    """Makes this process the parent of processes whose parents end."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def run(command: Command, directory: Path, temporary: Path) -> Outcome:
    """Runs a command line of `relayout`, and ends whatever it leaves."""
    # The address space of Python's worker threads counts, too.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment |= {"PYTHONPATH": str(ROOT), "TMPDIR": str(temporary), "JAX_PLATFORMS": "cpu"}
    outcome, start = Outcome(), time.monotonic()
    with (directory / ".stdout").open("w+b") as stdout, (directory / ".stderr").open("w+b") as stderr:
        main = subprocess.Popen(
            [sys.executable, "-m", "relayout", *command],
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
            preexec_fn=_limit,
        )
        _watch(main.pid, outcome, start)
        outcome.wall = time.monotonic() - start
        main.returncode = outcome.code
        _end_orphans(outcome)
        for stream, name in ((stdout, "stdout"), (stderr, "stderr")):
            stream.seek(0)
            setattr(outcome, name, stream.read(1 << 20).decode("utf-8", "surrogateescape"))
    outcome.files = sorted(path.name for path in temporary.iterdir())
    return outcome


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _watch(main: int, outcome: Outcome, start: float) -> None:
    """Waits for a process, and notes what it and the processes below it take."""
    peaks: dict[int, float] = {}
    ticks: dict[int, float] = {}
    handle = os.pidfd_open(main)
    ended = select.poll()
    ended.register(handle, select.POLLIN)
    while True:
        for pid in (main, *_below(main)):
            peaks[pid] = max(peaks.get(pid, 0.0), _peak(pid))
            ticks[pid] = max(ticks.get(pid, 0.0), _cpu(pid))
        found, status, usage = os.wait4(main, os.WNOHANG)
        if found:
            break
        if time.monotonic() - start > _KILLED_AFTER:
            outcome.is_killed = True
            os.kill(main, signal.SIGKILL)
        ended.poll(_LOOK_SECONDS * 1000)
    os.close(handle)
    outcome.code = os.waitstatus_to_exitcode(status)
    outcome.cpu = max(usage.ru_utime + usage.ru_stime, sum(ticks.values()))
    outcome.main_megabytes = peaks.pop(main, 0.0)
    outcome.child_megabytes = max(peaks.values(), default=0.0)


def _end_orphans(outcome: Outcome) -> None:
    """Notes and ends processes that a command left behind; they are children of this process now."""
    end = time.monotonic() + _SETTLING_SECONDS
    while _living(os.getpid()) and time.monotonic() < end:
        time.sleep(_POLL_SECONDS)
    for pid in _living(os.getpid()):
        outcome.left.append(_command_line(pid))
        os.kill(pid, signal.SIGKILL)
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _stat(pid: int) -> list[str]:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return []
    # The name in parentheses may hold anything.
    return text[text.rindex(")") + 2 :].split()


def _parents() -> dict[int, tuple[int, str]]:
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (stat := _stat(int(entry))):
            found[int(entry)] = int(stat[1]), stat[0]
    return found


def _below(main: int) -> Iterator[int]:
    """Yields the processes below one, and those that this process adopted."""
    parents = _parents()
    above = {main, os.getpid()}
    while added := {pid for pid, (parent, _) in parents.items() if parent in above and pid not in above}:
        above |= added
    yield from above - {main, os.getpid()}


def _living(parent: int) -> list[int]:
    return [pid for pid, (above, state) in _parents().items() if above == parent and state != "Z"]


def _peak(pid: int) -> float:
    try:
        text = Path(f"/proc/{pid}/status").read_text(errors="replace")
    except OSError:
        return 0.0
    found = re.search(r"VmHWM:\s+(\d+)", text)
    return int(found[1]) / 1024 if found else 0.0


def _cpu(pid: int) -> float:
    stat = _stat(pid)
    return (int(stat[11]) + int(stat[12])) / _TICKS if stat else 0.0


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:120]
    except OSError:
        return str(pid)


def violations(case: Case, command: Command, outcome: Outcome) -> Iterator[str]:
    """Yields what is wrong with the outcome of a command."""
    if outcome.is_killed:
        yield f"hang: not ended after {_KILLED_AFTER:g} s"
    elif outcome.code not in _CODES:
        yield f"abort: exit code {outcome.code}"
    limit = _limit_of(command)
    if outcome.cpu > limit + GRACE + _START and not outcome.is_killed:
        yield f"hang: {outcome.cpu:.1f} s of computation with a limit of {limit:g} s"
    if outcome.main_megabytes > MOST_OF_MAIN:
        yield f"memory: {outcome.main_megabytes:.0f} MB in the main process"
    if outcome.child_megabytes > MOST_OF_CHILD:
        yield f"memory: {outcome.child_megabytes:.0f} MB in a child"
    both = outcome.stderr + outcome.stdout
    yield from (f"traceback: it says {telltale}" for telltale in _TELLTALES if telltale in both)
    # `opt` writes a module to a pipe byte for byte.
    if _RAW.search(outcome.stderr if command[0] in ("opt", "run") else both):
        yield "terminal: something raw reaches the terminal"
    yield from (f"process: {each} is left behind" for each in outcome.left)
    yield from (f"file: {each} is left behind" for each in outcome.files)
    if outcome.code in (1, 2) and not outcome.stderr and not outcome.stdout:
        yield "silent: it fails without an error"
    yield from (f"answer: {fault}" for fault in case.faults(command, outcome))


def _limit_of(command: Command) -> float:
    """Returns the seconds that reading and rewriting, and then execution may take."""
    own = float(command[command.index("--timeout") + 1]) if "--timeout" in command else 9.0
    return own if command[0] in ("opt", "report") else 2 * own


def ran(case: Case, command: Command) -> Outcome:
    """Returns the outcome of a command on a case in fresh directories."""
    with tempfile.TemporaryDirectory(prefix="hostile-", ignore_cleanup_errors=True) as name:
        directory, temporary = Path(name, "d"), Path(name, "t")
        directory.mkdir()
        temporary.mkdir()
        file = case.prepare(directory)
        filled = tuple(part.replace("{F}", str(file)).replace("{D}", str(directory)) for part in command)
        return run(tuple(part.replace("\0", "") for part in filled), directory, temporary)


def main() -> int:
    """Runs the commands, prints violations and a table of them, and returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=_COUNT)
    parser.add_argument("--only", default="", help="part of the names of cases to run")
    parser.add_argument("--seed", type=int, default=23)
    parser.add_argument("--json", help="a file for a row a command")
    parser.add_argument("--telling", action="store_true", help="run the cases of the quick test")
    given = parser.parse_args()
    adopt_orphans()
    chosen = commands(given.count, SECONDS, given.only, given.seed)
    chosen = telling(_TELLING_SECONDS) if given.telling else chosen
    kinds: Counter[str] = Counter()
    number = wrong = 0
    slowest = Outcome()
    largest = Outcome()
    for case, command in chosen:
        outcome = ran(case, command)
        found = list(violations(case, command, outcome))
        number, wrong = number + 1, wrong + bool(found)
        slowest = max(slowest, outcome, key=lambda each: each.cpu)
        largest = max(largest, outcome, key=lambda each: each.main_megabytes)
        kinds.update({each.partition(":")[0] for each in found})
        shown = " ".join(command)[:100].encode("unicode_escape").decode()
        for each in found:
            print(f"{number} {case.name.encode('unicode_escape').decode()[:80]} | {shown} | {each[:300]}", flush=True)
        if given.json:
            row = {"name": case.name, "command": command, "found": found, **asdict(outcome)}
            row |= {"stdout": outcome.stdout[-500:], "stderr": outcome.stderr[-1500:]}
            with open(given.json, "a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    told = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common()) or "none"
    print(f"{number} commands: {wrong} with violations ({told})")
    print(f"most computation {slowest.cpu:.1f} s, most memory of a main process {largest.main_megabytes:.0f} MB")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
