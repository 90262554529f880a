"""One hostile input: its bytes, or what makes it, and the commands it goes to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

Command = tuple[str, ...]
# Bytes, or a function that makes them, because some take seconds to make.
Data = bytes | Callable[[], bytes]

OPT: Command = ("opt", "{F}")
CHECK: Command = ("check", "{F}", "{F}")
RUN: Command = ("run", "{F}", "--timeout", "5")
EXPAND: Command = ("opt", "{F}", "-p", "annotate-layouts{target=tpu-v5e},expand-tiling")


class Ended(Protocol):
    """The outcome of a command that ended."""

    @property
    def code(self) -> int:
        """Returns the exit code."""

    @property
    def stdout(self) -> str:
        """Returns what it wrote."""

    @property
    def stderr(self) -> str:
        """Returns what it said."""


@dataclass(frozen=True, slots=True)
class Case:
    """A hostile input. In commands `{F}` is its file and `{D}` that file's directory.

    `make` writes something else than plain bytes to the file's path. `says` has to be part of the output of a
    command; with `is_refused` no command may succeed, nor print `equal`.
    """

    name: str
    data: Data = b""
    commands: tuple[Command, ...] = (OPT,)
    make: Callable[[Path], None] | None = None
    says: str = ""
    is_refused: bool = False

    def prepare(self, directory: Path) -> Path:
        """Makes the input in a directory and returns its path."""
        file = directory / "input"
        if self.make is not None:
            self.make(file)
        else:
            file.write_bytes(self.data if isinstance(self.data, bytes) else self.data())
        return file

    def faults(self, command: Command, outcome: Ended) -> Iterator[str]:
        """Yields what this input must not lead to."""
        if self.says and self.says not in outcome.stderr + outcome.stdout:
            yield f"it does not say {self.says!r}"
        if self.is_refused and outcome.code == 0:
            yield "it accepts what means nothing"
