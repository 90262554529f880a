"""Locates the instructions of a computation in the text that was read, and notes outdated parts of that text.

The graph (`instruction`, `computation`, `module`) stores only numbers of instructions; their offsets in the text are
found on demand. Nothing here changes the graph.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from dialect_utils.hlo.text.grammar import InstructionText, scan_parts
from dialect_utils.layout import Shape
from dialect_utils.text import Location, Source, Span

# A search for one character is ten times as fast as for any other pattern.
_LINE_FEED = re.compile("\n")
_LINE_START = re.compile(r"\r?\n[ \t]*+")

Item = TypeVar("Item")


@dataclass(slots=True)
class Frame:
    """The offsets of a computation's parts in its source.

    The text before it begins at `begin`, the header at `head`; instructions are between `body` and
    `tail`; `end` is after `}` and its attributes. A fragment's header is empty.
    """

    begin: int
    head: int
    name: Span
    signature: Span | None
    body: int
    tail: int
    end: int


class Extent(NamedTuple):
    """The offsets of one instruction: white space and comments before it begin at `begin`, its text at `head`."""

    begin: int
    head: int
    end: int


class _Run(NamedTuple):
    """Instructions from number `first`: one per line from `begin` to `end`, or a single one at `extent`.

    Each line from `begin` to `end` has the common form of an instruction, with `sigil` before its names.
    """

    first: int
    begin: int
    end: int
    extent: Extent | None
    sigil: str = ""


class Spelling:
    """The shapes of a text, by their spelling."""

    __slots__ = ("_is_usual", "_looked", "shapes")

    def __init__(self) -> None:
        self.shapes: dict[str, Shape] = {}
        # The number of shapes that were compared, and the result.
        self._looked = 0
        self._is_usual = True

    @property
    def is_usual(self) -> bool:
        """Is true where every shape is written as it is printed."""
        if self._looked != len(self.shapes):
            self._looked = len(self.shapes)
            self._is_usual = all(str(shape) == text for text, shape in self.shapes.items())
        return self._is_usual


def line_breaks(text: str, start: int, end: int) -> list[int]:
    """Returns the offsets of the line breaks in a range, in order."""
    breaks = [match.start() for match in _LINE_FEED.finditer(text, start, end)]
    if text.find("\r", start, end) < 0:
        return breaks
    return [each - text.startswith("\r", each - 1, each) for each in breaks]


class Inline(NamedTuple):
    """An instruction without a line of its own: the number of the instruction in whose operands it is written."""

    owner: int
    span: Span | None


class BodyText:
    """The text in which a computation was read; copies of the computation share it."""

    __slots__ = (
        "_breaks",
        "_has_comments",
        "_hidden",
        "_inside",
        "_line_start",
        "_runs",
        "frame",
        "inline",
        "shapeless",
        "source",
        "spelling",
        "typed",
    )

    def __init__(self, source: Source, frame: Frame, spelling: Spelling) -> None:
        self.source = source
        self.frame = frame
        # How shapes are written in lines of the common form.
        self.spelling = spelling
        # Numbers of the instructions whose operands are written with shapes, and of those without a shape.
        self.typed: set[int] = set()
        self.shapeless: set[int] = set()
        # Instructions that are written in operands: the number of the user, and the span if that is known.
        self.inline: dict[int, Inline] = {}
        self._hidden: list[int] = []
        self._inside: dict[int, list[int]] = {}
        self._runs: list[_Run] = []
        self._breaks: dict[int, list[int]] = {}
        self._line_start: str | None = None
        self._has_comments: bool | None = None

    def add_lines(self, first: int, begin: int, end: int, sigil: str) -> None:
        """Records that from `begin` to `end` every line holds one instruction, the first of them number `first`."""
        if end > begin:
            self._runs.append(_Run(first, begin, end, None, sigil))

    def add(self, number: int, extent: Extent) -> None:
        """Records the extent of one instruction."""
        self._runs.append(_Run(number, extent.begin, extent.end, extent))

    def add_inline(self, number: int, owner: int, span: Span | None) -> None:
        """Records an instruction that is written in the operands of a later instruction, its owner."""
        self.inline[number] = Inline(owner, span)
        self._hidden.append(number)
        self._inside.setdefault(owner, []).append(number)

    def forget(self, number: int) -> Extent:
        """Removes the last instruction and returns its extent."""
        extent = self.extent(number)
        run = self._runs.pop()
        self._breaks.clear()
        if run.extent is None:
            self.add_lines(run.first, run.begin, extent.begin, run.sigil)
        self.typed.discard(number)
        self.shapeless.discard(number)
        return extent

    def extent(self, number: int) -> Extent:
        """Returns the extent of an instruction, or of the one whose operands contain it."""
        number = self.owner(number)
        index = self._run_of(number)
        run = self._runs[index]
        if run.extent is not None:
            return run.extent
        breaks, line = self._lines(index), self._line(run, number)
        begin, end = breaks[line], breaks[line + 1] if line + 1 < len(breaks) else run.end
        start = _LINE_START.match(self.source.text, begin)
        assert start is not None  # a line begins with its line break
        return Extent(begin, start.end(), end)

    def _run_of(self, number: int) -> int:
        runs = self._runs
        return 0 if len(runs) == 1 else bisect_right(runs, number, key=lambda run: run.first) - 1

    def _lines(self, index: int) -> list[int]:
        """Returns the line breaks of a run."""
        breaks = self._breaks.get(index)
        if breaks is None:
            run = self._runs[index]
            breaks = self._breaks[index] = line_breaks(self.source.text, run.begin, run.end)
        return breaks

    def _line(self, run: _Run, number: int) -> int:
        # Instructions in operands have no lines.
        hidden = self._hidden
        skipped = bisect_right(hidden, number) - bisect_left(hidden, run.first) if hidden else 0
        return number - run.first - skipped

    def usual_sigil(self, number: int) -> str | None:
        """Returns the prefix of names in a line of the common form with usual shapes.

        Returns None for any other instruction, whose spelling only the scanner finds.
        """
        if number in self.inline:
            return None
        run = self._runs[self._run_of(number)]
        return run.sigil if run.extent is None and self.spelling.is_usual else None

    def inside(self, number: int) -> list[int]:
        """Returns the numbers of the instructions that are written directly in the operands of an instruction."""
        return self._inside.get(number, [])

    def owner(self, number: int) -> int:
        """Returns the instruction whose text contains an instruction: itself unless it is written in operands."""
        while number in self.inline:
            number = self.inline[number].owner
        return number

    def before(self, number: int) -> str:
        """Returns the white space and comments before an instruction."""
        usual = self._line_start or (self.line_start if number else None)
        if usual and number not in self.inline:
            index = self._run_of(number)
            run = self._runs[index]
            if run.extent is None:
                text, begin = self.source.text, self._lines(index)[self._line(run, number)]
                if text.startswith(usual, begin) and text[begin + len(usual)] not in " \t":
                    return usual
        extent = self.extent(number)
        return self.source.text[extent.begin : extent.head]

    def between(self, first: int, last: int) -> str:
        """Returns the text from one instruction to another, both included, without the white space before the first."""
        return self.source.text[self.extent(first).head : self.extent(last).end]

    def parts(self, number: int) -> InstructionText:
        """Returns an instruction's text, split."""
        return scan_parts(self.source, self.extent(number).head)

    def location(self, number: int) -> Location:
        """Returns the location of an instruction's name, or of its text if it is written in an operand."""
        if number not in self.inline:
            return Location(self.source, self.parts(number).name.span)
        return Location(self.source, self.inline[number].span or self.parts(number).operands)

    @property
    def has_comments(self) -> bool:
        """Is true where the text may have comments other than XLA's before every fifth operand."""
        if self._has_comments is None:
            text = self.source.text[self.frame.begin : self.frame.end]
            self._has_comments = "//" in text or text.count("/*") > text.count(", /*index=")
        return self._has_comments

    @property
    def line_start(self) -> str:
        """Returns the text before a new instruction: a line break and indentation, or a space."""
        if self._line_start is None:
            found = _LINE_START.findall(self.before(0))
            self._line_start = found[-1] if found else " "
        return self._line_start


class Origin(NamedTuple):
    """The origin of a new instruction: the instruction with this number in a text."""

    text: BodyText
    number: int

    @property
    def location(self) -> Location:
        """Returns the location of the name, which is found on demand."""
        return self.text.location(self.number)


@dataclass(slots=True)
class Edits(Generic[Item]):
    """The outdated parts of a text: instructions, the text before some of them, the header, or anything at all."""

    instructions: set[Item] = field(default_factory=set)
    leads: dict[Item | None, str] = field(default_factory=dict)
    header: bool = False
    any: bool = False

    def copied(self, copies: dict[Item, Item]) -> Edits[Item]:
        """Returns the same edits for the copies of the instructions, without those of erased instructions."""
        instructions = {copies[item] for item in self.instructions if item in copies}
        leads = {None if item is None else copies[item]: lead for item, lead in self.leads.items()}
        return Edits(instructions, leads, self.header, self.any)
