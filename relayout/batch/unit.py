"""What a batch consists of, and what comes of each part, as plain values that go from process to process."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass, replace

from dialect_utils.io.files import STANDARD_INPUT
from dialect_utils.io.inputs import Input
from dialect_utils.text import DiagnosticError


@dataclass(frozen=True, slots=True)
class Unit:
    """One part of a batch: a module, or two to compare, and the file its output goes to (None: standard output).

    `known` is the content for which there is a result already.
    """

    inputs: tuple[Input, ...]
    target: str | None = None
    known: str = ""

    @property
    def name(self) -> str:
        """Returns what results call it."""
        return " and ".join(each.name for each in self.inputs)

    def with_standard_input(self) -> Unit:
        """Returns the unit with what another process could not read."""
        if all(each.path != STANDARD_INPUT for each in self.inputs):
            return self
        return self.with_contents()

    def with_contents(self) -> Unit:
        """Returns the unit with the bytes of its inputs; one that cannot be read stays, and is an error of the work."""
        return replace(self, inputs=tuple(map(_with_content, self.inputs)))

    def content(self) -> str:
        """Returns the SHA-256 of the bytes of the inputs, or nothing where they were not read."""
        # Imported here, as it is slow to load: most batches keep no results.
        from hashlib import sha256

        contents = [each.content for each in self.inputs if each.content is not None]
        if len(contents) < len(self.inputs):
            return ""
        return " ".join(sha256(content).hexdigest() for content in contents)


def _with_content(read: Input) -> Input:
    try:
        return replace(read, content=read.data())
    except DiagnosticError:
        return read


# What a command does with one unit: prints its results and its diagnostics, and returns its exit code.
Work = Callable[[Unit], int]


@dataclass(frozen=True, slots=True)
class Job:
    """What is done with every unit: a command with its options, and how diagnostics look.

    With `keeps_results` a unit whose content is known is left alone.
    """

    command: str
    arguments: Namespace
    colour: str = "never"
    keeps_results: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """What one unit gave: its exit code, what it printed, and how many seconds it took.

    `ends_batch` is set where the command itself is wrong, so that no other unit can succeed. Where results are kept,
    `content` identifies what was read, and `is_known` says that nothing was done for it.
    """

    status: int
    output: bytes = b""
    diagnostics: bytes = b""
    seconds: float = 0.0
    ends_batch: bool = False
    content: str = ""
    is_known: bool = False
