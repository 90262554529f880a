"""The causes of moved and padded arrays: as values, as JSON and as lines of text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

from dialect_utils.history.removal import Removal
from dialect_utils.text import format_bytes
from relayout.why.stages import PassName


@dataclass(frozen=True, slots=True)
class End:
    """One side of a move as text: the instruction and its layout. `role` says what it is in the program."""

    role: str
    name: str
    opcode: str
    shape: str
    text: str


@dataclass(frozen=True, slots=True)
class Cause:
    """One array that is moved or padded, and why.

    `adapted` is the instruction whose array is copied, and `kept` the one that has the array in its own layout; both
    are None for a padded array, and `kept` for a move that changes no layout. The names of both are those of the module
    after the pass. `origin` is what `op_name`, `source_file` and `source_line` belong to: the array itself, or the
    nearest instruction that has them. `replaced` is the operation whose place the move takes.
    """

    name: str
    kind: str
    opcode: str
    fusion: str
    source: str
    result: str
    bytes_moved: int
    trips: int | None
    padding_bytes: int
    padding: str
    introduced_by: PassName
    name_then: str
    replaced: str
    adapted: End | None
    kept: End | None
    readers: tuple[str, ...]
    op_name: str
    source_file: str
    source_line: int
    origin: str
    removal: Removal | None = None
    advice: str = ""

    def as_json(self) -> dict[str, Any]:
        """Returns the cause as plain values."""
        return asdict(self)

    @property
    def lines(self) -> Iterator[str]:
        """Yields the cause as text: a headline, and a line for each fact."""
        inside = f" in {self.fusion}" if self.fusion else ""
        yield f"{self.name}{inside}: {self.kind}, {self._size}"
        arrow = f"{self.source} -> {self.result}" if self.source else self.result
        yield f"  array       {arrow}"
        if self.padding:
            yield f"  padding     {format_bytes(self.padding_bytes)}: {self.padding}"
        yield f"  introduced  by {self.introduced_by}" if self.introduced_by.before else "  introduced  in the program"
        if self.replaced:
            yield f"  in place of {self.replaced}"
        if self.adapted is not None:
            yield f"  adapted     {self.adapted.text}: {self.adapted.shape}"
        if self.kept is not None:
            yield f"  kept        {self.kept.text}: {self.kept.shape}"
        elif self.readers:
            yield f"  read by     {', '.join(self.readers)}"
        if self.op_name or self.source_file:
            line = f" {self.source_file}:{self.source_line}" if self.source_file else ""
            of = f" (of {self.origin})" if self.origin else ""
            yield f"  from        {self.op_name}{line}{of}"
        if self.advice:
            yield f"  remove      {self.advice}"

    @property
    def _size(self) -> str:
        if not self.bytes_moved:
            return f"{format_bytes(self.padding_bytes)} of padding"
        times = "" if self.trips == 1 else f", {'an unknown number of' if self.trips is None else self.trips} times"
        return f"{format_bytes(self.bytes_moved)} read and written{times}"


@dataclass(frozen=True, slots=True)
class Why:
    """The causes of one program, the most expensive first; `arrays` counts all of them.

    `unread` are files of the compilation that could not be read: an array may come from the pass before such a file.
    """

    program: str
    final: str
    arrays: int
    causes: tuple[Cause, ...]
    unread: tuple[str, ...] = field(default=())

    def as_json(self) -> dict[str, Any]:
        """Returns the causes as plain values."""
        return asdict(self)

    def __str__(self) -> str:
        """Returns the causes as text."""
        return "\n".join(self.lines)

    @property
    def lines(self) -> list[str]:
        """Returns the causes as lines of text."""
        shown = f", {len(self.causes)} of them here" if len(self.causes) < self.arrays else ""
        lines = [f"{self.program}: {self.arrays} arrays are moved or padded{shown}"]
        for each in self.causes:
            lines += ["", *each.lines]
        if self.unread:
            lines += ["", f"not read: {', '.join(self.unread)}"]
        return lines
