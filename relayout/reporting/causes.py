"""The causes of moved and padded arrays: as values, as JSON, as lines of text and as a part of a page."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal
from urllib.parse import quote

from dialect_utils.history.moved import Side
from dialect_utils.memory.rows import CollectiveRow, moved_text, origin_text, place
from dialect_utils.text import format_bytes
from dialect_utils.text.html import html_details, html_table, html_text
from relayout.reporting.pass_names import PassName

# The number of arrays that are explained where the user names none.
SHOWN = 10
_HINT = (
    "The most expensive arrays that the compiled program moves or pads, each with the pass of the compiler that "
    "introduced it. Open a line for the layouts on both sides, the line of the source and what removes the move."
)


def _introduction(by: PassName, name: str) -> Iterator[str]:
    yield f"  introduced  by {by}" if by.before else "  introduced  in the program"
    yield f"  first in    {os.path.basename(by.after)}, as {name}"


@dataclass(frozen=True, slots=True)
class End:
    """One side of a move: the instruction, by its name in the module after the pass, and the array there.

    `role` is argument, result, loop state or instruction; `number` is that of an argument, a result or an element of a
    loop's state.
    """

    role: str
    name: str
    opcode: str
    shape: str
    number: int | None
    text: str

    @classmethod
    def of(cls, side: Side) -> End:
        """Returns the values of a side."""
        return cls(side.role, side.name, side.opcode, side.shape, side.number, str(side))


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the program that removes a copy: argument layout, result layout, or donation.

    `number` is that of the argument or result, and `major_to_minor` the order of its dimensions. `bytes_now` and
    `bytes_then` are the bytes of its buffer before and after the change.
    """

    action: str
    number: int
    major_to_minor: tuple[int, ...]
    bytes_now: int
    bytes_then: int


@dataclass(frozen=True, slots=True)
class Cause:
    """One array that is moved or padded, and why.

    `made_by` is the instruction whose array is moved, and `read_by` are those that read the moved array. Where the move
    changes the layout, the first reader is `kept`: its layout stayed, and the array of `made_by` was adapted to it.
    `introduced_as` is the name in the module after the pass, and `in_place_of` the operation that it replaced.
    `op_name`, `source_file` and `source_line` belong to the array itself, or to the instruction that `source_of` names.
    `padding_bytes` are those of the result.
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
    introduced_as: str
    in_place_of: str
    made_by: End | None
    read_by: tuple[End, ...]
    changes_layout: bool
    op_name: str
    source_file: str
    source_line: int
    source_of: str
    change: Change | None = None
    advice: str = ""

    @property
    def adapted(self) -> End | None:
        """Returns the instruction whose array had to be adapted, None for a move that changes no layout."""
        return self.made_by if self.changes_layout else None

    @property
    def kept(self) -> End | None:
        """Returns the instruction whose layout was kept, None for a move that changes no layout."""
        return self.read_by[0] if self.changes_layout and self.read_by else None

    def as_json(self) -> dict[str, Any]:
        """Returns the cause as plain values."""
        sides = {"adapted": self.adapted, "kept": self.kept}
        return {**asdict(self), **{name: end and asdict(end) for name, end in sides.items()}}

    @property
    def lines(self) -> Iterator[str]:
        """Yields the cause as text: a headline, and a line for each fact."""
        yield f"{self.title}: {self.kind}{self.size_text}"
        yield f"  array       {self.source} -> {self.result}" if self.source else f"  array       {self.result}"
        if self.padding:
            yield f"  padding     {format_bytes(self.padding_bytes)}: {self.padding}"
        yield from _introduction(self.introduced_by, self.introduced_as)
        if self.in_place_of:
            yield f"  instead of  {self.in_place_of}"
        if self.made_by is not None:
            yield f"  {'adapted' if self.changes_layout else 'made by':10}  {self.made_by.text}: {self.made_by.shape}"
        if self.kept is not None:
            yield f"  kept        {self.kept.text}: {self.kept.shape}"
        elif self.read_by:
            yield f"  read by     {', '.join(each.text for each in self.read_by)}"
        if self.line:
            yield f"  from        {self.line}"
        if self.advice:
            yield f"  remove      {self.advice}"

    @property
    def title(self) -> str:
        """Returns the name that reports have, of the fusion around a move, and in parentheses that of the move."""
        return f"{self.fusion} ({self.name})" if self.fusion else self.name

    @property
    def line(self) -> str:
        """Returns the line of the source and the op name, empty where the modules name none."""
        of = f"(of {self.source_of})" if self.source_of else ""
        return " ".join(filter(None, (origin_text(self), of)))

    @property
    def reason(self) -> str:
        """Returns one sentence: why the array is moved or padded."""
        if self.made_by is None or not self.read_by:
            return self.padding
        made, read, array = self.made_by, self.read_by[0], self.result.partition("{")[0]
        if self.changes_layout:
            # Equal dimensions are said once, in the title.
            is_same = made.shape.startswith(array) and read.shape.startswith(array)
            has, wanted = (each.shape.removeprefix(array * is_same) for each in (made, read))
            return f"{made.text} has {has}, and {read.text} asks for {wanted}"
        return f"{read.text} may not share the buffer of {made.text}"

    @property
    def size_text(self) -> str:
        """Returns the bytes that are moved, or else those of padding, after a comma."""
        if not self.bytes_moved:
            return f", {format_bytes(self.padding_bytes)} of padding" if self.padding_bytes else ""
        return f", {format_bytes(self.bytes_moved)} read and written{_times(self.trips)}"


Action = Literal["argument", "result", "constraint"]


@dataclass(frozen=True, slots=True)
class Resharding:
    """A change of a program that may remove a collective: another sharding of an argument or a result.

    The action `constraint` removes the sharding constraint of this number. `axes` are those of the mesh that split each
    dimension, None where they have no names. The bytes are those of the array on a device, now and then.
    """

    action: Action
    number: int
    axes: tuple[tuple[str, ...], ...] | None = None
    sharding: str = ""
    bytes_now: int = 0
    bytes_then: int = 0

    def __str__(self) -> str:
        """Returns the change as a sentence for a program that jax.jit compiles."""
        if self.action == "constraint":
            return "remove the sharding constraint"
        verb, where = ("pass", "in_shardings") if self.action == "argument" else ("return", "out_shardings")
        sizes = f"{format_bytes(self.bytes_then)} in place of {format_bytes(self.bytes_now)} on a device"
        takes = f"; it then takes {sizes}" if self.bytes_then > self.bytes_now else ""
        sharding = sharding_text(self.axes, self.sharding)
        return f"{verb} {self.action} {self.number} with {sharding}: {where} of jax.jit{takes}"


def sharding_text(axes: Sequence[Sequence[str]] | None, text: str) -> str:
    """Returns a sharding as JAX writes it where the axes are known, `P('x', None)`, and as HLO does elsewhere."""
    if axes is None:
        return text
    return f"P({', '.join(repr(tuple(each) if len(each) > 1 else each[0] if each else None) for each in axes)})"


_REASONS = {
    "program": "the program asks for it",
    "sum": "each device has a term of the sum",
    "reshard": "the array is wanted in other parts",
    "neighbours": "the operation reads elements of other parts",
}


@dataclass(frozen=True, slots=True)
class CollectiveCause:
    """One collective, and why the program has it; one that joins others has a cause for each.

    `changed_by` are the passes that made it of the collective that `introduced_by` made, the last one first. `given`
    are the arrays before the partitioner, and `wanted` is the one that the operation, or a result, asks for: the texts
    of their shapes end with the shardings. `reason` is empty where the modules do not tell. `resharded_by` wrote the
    resharding that is wanted.
    """

    row: CollectiveRow
    introduced_by: PassName
    introduced_as: str
    changed_by: tuple[PassName, ...]
    reason: str
    given: tuple[End, ...] = ()
    wanted: End | None = None
    resharded_by: PassName | None = None
    changes: tuple[Resharding, ...] = ()
    advice: str = ""

    def as_json(self) -> dict[str, Any]:
        """Returns the cause as plain values, with those of the collective."""
        values = asdict(self)
        return {**values.pop("row"), **values}

    @property
    def lines(self) -> Iterator[str]:
        """Yields the cause as text: a headline, and a line for each fact."""
        row = self.row
        sent = f"{format_bytes(row.bytes_sent)} sent by a device{_times(row.trips)}"
        yield f"{row.name}: {row.kind} of {row.operand_text}, {row.groups}, {sent}"
        yield from _introduction(self.introduced_by, self.introduced_as)
        yield from (f"  changed     by {each}" for each in reversed(self.changed_by))
        if self.reason:
            yield f"  because     {_REASONS[self.reason]}"
        yield from (f"  given       {each.text}: {each.shape}" for each in self.given)
        if self.wanted is not None:
            yield f"  wanted      {self.wanted.text}: {self.wanted.shape}"
        if self.resharded_by is not None:
            yield f"  resharded   {f'by {self.resharded_by}' if self.resharded_by.before else 'in the program'}"
        if row.op_name or row.source_file:
            yield f"  from        {origin_text(row)}"
        if self.advice:
            yield f"  remove      {self.advice}"


def _times(trips: int | None) -> str:
    return "" if trips == 1 else f", {'an unknown number of' if trips is None else trips} times"


@dataclass(frozen=True, slots=True)
class Why:
    """The causes of one program, the most expensive first; `arrays` counts all arrays that are moved or padded.

    `moved` are the `moved_totals`. `final` is the file of the final program. `unread` are files of the compilation that
    could not be read: an array may come from the pass before such a file.
    """

    program: str
    final: str
    arrays: int
    causes: tuple[Cause, ...]
    unread: tuple[str, ...] = ()
    collectives: tuple[CollectiveCause, ...] = ()
    moved: dict[str, tuple[int, int]] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Returns the causes as plain values."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**values, **{name: [each.as_json() for each in values[name]] for name in ("causes", "collectives")}}

    @property
    def parts(self) -> Sequence[Cause | CollectiveCause]:
        """Returns the causes of arrays, then those of collectives."""
        return (*self.causes, *self.collectives)

    def __str__(self) -> str:
        """Returns the causes as text."""
        shown = f", {len(self.causes)} of them here" if len(self.causes) < self.arrays else ""
        count = f"{self.arrays} array{' is' if self.arrays == 1 else 's are'} moved or padded"
        lines = [f"{self.program}: {count}{shown}", *filter(None, [moved_text(self.moved)])]
        lines += [line for each in self.parts for line in ("", *each.lines)]
        if self.unread:
            lines += ["", f"not read: {', '.join(self.unread)}"]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """Returns the totals, a table of the causes, and the facts about each, for a notebook."""
        rows = [
            (each.title, each.kind, each.size_text.lstrip(", "), place(each), str(each.introduced_by), each.advice)
            for each in self.causes
        ]
        table = html_table(("array", "kind", "bytes", "line", "introduced by", "change"), rows) if rows else ""
        return f"<p>{html_text(self.program)}: {html_text(moved_text(self.moved))}</p>{table}{causes_section(self)}"


class Programs(tuple[Why, ...]):
    """The causes of several programs, which a notebook shows as tables."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Returns the tables of all programs."""
        return "".join(each._repr_html_() for each in self)


def causes_section(why: Why) -> str:
    """Returns a section of a page with one part for each cause; names are links to the buffers of the page."""
    parts = "".join(map(_part, why.parts))
    if not parts:
        return ""
    shown = f" ({len(why.causes)} of {why.arrays})" if len(why.causes) < why.arrays else ""
    return (
        f'<section id="why"><h2>Why arrays are moved or padded{shown}</h2><p class="hint">{_HINT}</p>{parts}</section>'
    )


def _part(cause: Cause | CollectiveCause) -> str:
    headline, *facts = cause.lines
    name = cause.row.name if isinstance(cause, CollectiveCause) else cause.fusion or cause.name
    text = html_text("\n".join(line.removeprefix("  ") for line in facts))
    link = f'<p><a href="#{html_text(quote(name))}">the buffer of {html_text(name)}</a></p>'
    return html_details(f"{headline}, by {cause.introduced_by}", f"<pre>{text}</pre>{link}")
