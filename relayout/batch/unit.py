"""Units of a batch: plain values that go from process to process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from dialect_utils.io.inputs import Input
from dialect_utils.text import DiagnosticError
from relayout.process import LEAST_SECONDS

# The most modules that are named one by one.
_NAMED = 2


@dataclass(frozen=True, slots=True)
class Unit:
    """One part of a batch: a module, or two to compare, and its output file (None: standard output).

    `seconds` is its time limit; `known` is the SHA-256 of the content for which a result exists, and `recorded` what
    the command printed for it. `label` is what the command itself calls the unit.
    """

    inputs: tuple[Input, ...] = ()
    target: str | None = None
    seconds: float = LEAST_SECONDS
    known: str = ""
    recorded: bytes = b""
    label: str = ""

    @property
    def name(self) -> str:
        """Returns its name in results: of more than two modules the one that the command gives them."""
        return " and ".join(each.title for each in self.inputs) if len(self.inputs) <= _NAMED else self.label

    def with_contents(self) -> Unit:
        """Returns the unit with the bytes of its inputs; the work reports an input that cannot be read."""
        return replace(self, inputs=tuple(map(_with_content, self.inputs)))

    def content(self) -> str:
        """Returns the SHA-256 of the bytes of each input, or an empty string if an input was not read."""
        # Imported here because it is slow to load, and most batches keep no results.
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


# The work of a command on one unit: it prints results and diagnostics, and returns the exit code.
Work = Callable[[Unit], int]
