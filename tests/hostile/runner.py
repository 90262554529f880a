"""Runs hostile cases and says what is wrong with what came of them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from tests.hostile.case import Case
from tests.paths import ROOT

MOST_CPU_SECONDS = 10.0
MOST_MEGABYTES = 1000.0
# A command that waits, which costs no processor time, is ended after this.
_WALL_SECONDS = 60.0
_EXIT_CODES = (0, 1, 2, 3)
# Of C0 a tab and a line feed may come out; of Unicode nothing that turns text around.
_RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_TELLTALES = ("Traceback (most recent call last)", "internal error")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one command: exit code, processor seconds, megabytes, and both streams."""

    code: int
    cpu: float
    megabytes: float
    stdout: str
    stderr: str


class Runner:
    """A process that runs commands, each in a child of its own."""

    def __init__(self) -> None:
        environment = os.environ | {"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu", "PYTHONWARNINGS": "ignore"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.hostile.server"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None  # pipes
            stream.close()
        self._process.wait()

    def run(self, arguments: tuple[str, ...], directory: Path, temporary: Path) -> Outcome:
        """Runs one command line of `relayout`."""
        assert self._process.stdin is not None  # pipes
        assert self._process.stdout is not None
        request = {
            "arguments": arguments,
            "directory": str(directory),
            "temporary": str(temporary),
            "seconds": _WALL_SECONDS,
        }
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return Outcome(**json.loads(self._process.stdout.readline()))

    def faults(self, case: Case, *, most_commands: int | None = None) -> Iterator[str]:
        """Yields what is wrong with what the commands of a case did, each with the command."""
        with _directory(case) as (directory, file, temporary):
            for command in case.commands[:most_commands]:
                arguments = tuple(part.replace("{F}", str(file)).replace("{D}", str(directory)) for part in command)
                outcome = self.run(arguments, directory, temporary)
                for fault in (*_faults(outcome, command[0]), *_left_over(temporary), *case.faults(command, outcome)):
                    yield f"{case.name}: relayout {' '.join(command)[:80]}: {fault}: {outcome.stderr[-300:]}"


@contextmanager
def _directory(case: Case) -> Iterator[tuple[Path, Path, Path]]:
    with tempfile.TemporaryDirectory(prefix="hostile-") as name:
        directory, temporary = Path(name, "d"), Path(name, "t")
        directory.mkdir()
        temporary.mkdir()
        yield directory, case.prepare(directory), temporary


def _faults(outcome: Outcome, command: str) -> Iterator[str]:
    if outcome.code not in _EXIT_CODES:
        yield f"it ended with {outcome.code}"
    if outcome.cpu > MOST_CPU_SECONDS:
        yield f"it took {outcome.cpu:.1f} seconds"
    if outcome.megabytes > MOST_MEGABYTES:
        yield f"it took {outcome.megabytes:.0f} megabytes"
    # `opt` writes a module to a pipe byte for byte.
    shown = outcome.stderr if command == "opt" else outcome.stderr + outcome.stdout
    if _RAW.search(shown):
        yield "something raw reaches the terminal"
    yield from (f"it says {telltale}" for telltale in _TELLTALES if telltale in shown)


def _left_over(temporary: Path) -> Iterator[str]:
    if left := sorted(path.name for path in temporary.iterdir()):
        yield f"it leaves {', '.join(left)}"
