"""An HLO instruction: one operation and its one value."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from dialect_utils.hlo.attributes import (
    format_frontend_attributes,
    parse_frontend_attributes,
    parse_ints,
    with_attribute,
)
from dialect_utils.hlo.calls import is_calling
from dialect_utils.hlo.control import CONTROL
from dialect_utils.hlo.grammar import InstructionText, scan_attributes, scan_instruction, split_attributes
from dialect_utils.hlo.literals import splat_scalar
from dialect_utils.hlo.movement import parse_step
from dialect_utils.hlo.spelling import with_sigil
from dialect_utils.hlo.tokens import Scanner
from dialect_utils.ir import Operation, Value
from dialect_utils.layout import ArrayShape, Shape, Step
from dialect_utils.text import DiagnosticError, Location, Span

if TYPE_CHECKING:
    from dialect_utils.hlo.computation import Computation


class Instruction:
    """Is an instruction of a computation: the operation and its value in one.

    It keeps its place in the text that was read; only what was edited is printed anew, in XLA's
    own form. Instructions are equal where they are the same object. Make new ones through
    `HloModule.before`, `after`, `at_end` or `Computation.insert`.
    """

    __slots__ = (
        "_attributes",
        "_begin",
        "_called",
        "_computation",
        "_edited",
        "_end",
        "_head",
        "_inner",
        "_location",
        "_name",
        "_opcode",
        "_operands",
        "_shape",
        "_shape_text",
        "_sigil",
        "_tail",
        "_typed",
        "_users",
    )

    def __init__(
        self,
        computation: Computation,
        place: tuple[int, int, int],
        sigil: str,
        name: str,
        shape: Shape,
        shape_text: str,
        opcode: str,
        operands: list[Instruction],
        inner: str,
        tail: str,
    ) -> None:
        self._computation = computation
        # The white space and comments in front begin at _begin, the instruction itself at _head.
        self._begin, self._head, self._end = place
        self._sigil = sigil
        self._name = name
        self._shape = shape
        self._shape_text = shape_text
        self._opcode = opcode
        self._operands = operands
        self._inner = inner
        self._tail = tail
        self._users: list[Instruction] = []
        self._called: tuple[Computation, ...] = ()
        self._attributes: dict[str, str] | None = None
        self._typed = False
        self._edited = False
        self._location: Location | None = None

    def __repr__(self) -> str:
        return f"<Instruction {self._render()}>"

    # What it is

    @property
    def name(self) -> str:
        """Returns the name without `%`."""
        return self._name

    @property
    def shape(self) -> Shape:
        """Returns the shape as written (a layout of None: none written)."""
        return self._shape

    @property
    def opcode(self) -> str:
        """Returns the opcode as written, e.g. `dynamic-slice`."""
        return self._opcode

    @property
    def operands(self) -> Sequence[Instruction]:
        """Returns the operands in order."""
        return tuple(self._operands)

    @property
    def results(self) -> Sequence[Instruction]:
        """Returns the instruction itself: its one value."""
        return (self,)

    @property
    def operation(self) -> Instruction | None:
        """Returns the instruction itself, or None for a parameter."""
        return None if self._opcode == "parameter" else self

    @property
    def computation(self) -> Computation:
        """Returns the computation it stands in."""
        return self._computation

    @property
    def function(self) -> Computation:
        """Returns the computation it stands in."""
        return self._computation

    @property
    def users(self) -> Sequence[Instruction]:
        """Returns the instructions that use the value, each once."""
        return tuple(self._users)

    @property
    def is_root(self) -> bool:
        """Is true for the instruction whose value the computation returns."""
        return self._computation.root is self

    @property
    def called(self) -> Sequence[Computation]:
        """Returns the computations it calls, in the order of its attributes."""
        return self._called

    @property
    def step(self) -> Step | None:
        """Returns the data-movement step of transpose, reshape, slice, pad, bitcast-convert, else None."""
        return parse_step(self)

    @property
    def callee(self) -> str | None:
        """Returns `custom_call_target` without quotes, or None where there is none."""
        target = self.attribute("custom_call_target")
        return None if target is None else target[1:-1]

    @property
    def literal(self) -> str | None:
        """Returns the text between a constant's parentheses, else None."""
        return self._inner if self._opcode == "constant" else None

    @property
    def splat_bits(self) -> int | None:
        """Returns the bits that every element of a constant has, or None for other operations and contents."""
        if self._opcode != "constant" or not isinstance(self._shape, ArrayShape):
            return None
        return splat_scalar(self._shape.element_type, self._shape.element_count, self._inner)

    @property
    def parameter_number(self) -> int | None:
        """Returns a parameter's number, else None."""
        return int(self._inner) if self._opcode == "parameter" else None

    @property
    def control_predecessors(self) -> Sequence[Instruction]:
        """Returns the instructions that have to run before it without being operands."""
        return self._computation._control.of(self)

    # Attributes

    @property
    def attributes(self) -> Mapping[str, str]:
        """Returns the attributes' texts by name, in order; they are split when first asked for."""
        return MappingProxyType(self._split())

    def _split(self) -> dict[str, str]:
        if self._attributes is None:
            try:
                self._attributes = split_attributes(self._tail) if self._tail else {}
            except DiagnosticError:
                # The same error once more, at its place in the text that was read.
                self._scan()
                raise
        return self._attributes

    def attribute(self, name: str) -> str | None:
        """Returns the text of one attribute, or None where it is absent."""
        # Most attributes of most instructions are absent: no need to split for those.
        if self._attributes is None and name not in self._tail:
            return None
        return self._split().get(name)

    def set_attribute(self, name: str, text: str | None) -> None:
        """Changes or adds an attribute, or drops it for None; called computations follow.

        Raises DiagnosticError where a computation or a control predecessor is unknown, and
        ValueError where the text is not one attribute value.
        """
        attributes = dict(self._split())
        if attributes.get(name) == text:
            return
        if text is None:
            attributes.pop(name, None)
        else:
            if split_attributes(f", {name}={text}") != {name: text}:
                raise ValueError(f"{text!r} is not the value of one attribute")
            attributes = with_attribute(attributes, name, text)
        self._set_attributes(attributes)
        if is_calling(name):
            self._computation.module._link_calls(self)
        if name == CONTROL:
            self._computation._control.link(self)

    def _set_attributes(self, attributes: dict[str, str]) -> None:
        self._attributes = attributes
        self._tail = "".join(f", {name}={text}" for name, text in attributes.items())
        self._mark_edited()

    def ints(self, name: str) -> tuple[int, ...] | None:
        """Returns an attribute `{1,0}` as integers, a lone integer as one; None for all others."""
        text = self.attribute(name)
        return None if text is None else parse_ints(text)

    def set_ints(self, name: str, values: Sequence[int]) -> None:
        """Changes an attribute of integers, in the spelling it has; raises ValueError where there is none."""
        text = self.attribute(name)
        if text is None or parse_ints(text) is None:
            raise ValueError(f"%{self._name} has no integers {name}")
        listed = ",".join(map(str, values))
        self.set_attribute(name, f"{{{listed}}}" if "{" in text else listed)

    @property
    def metadata(self) -> str | None:
        """Returns the text of `metadata`, or None."""
        return self.attribute("metadata")

    @property
    def frontend_attributes(self) -> Mapping[str, str]:
        """Returns the frontend attributes, strings without their quotes."""
        text = self.attribute("frontend_attributes")
        return MappingProxyType({} if text is None else parse_frontend_attributes(text))

    def set_frontend_attribute(self, name: str, value: str | None) -> None:
        """Changes, adds or (for None) drops one frontend attribute."""
        values = dict(self.frontend_attributes)
        values.pop(name, None) if value is None else values.update({name: value})
        self.set_attribute("frontend_attributes", format_frontend_attributes(values) if values else None)

    # Edits

    def _mark_edited(self) -> None:
        self._edited = True
        self._computation._mark_edited()

    def set_shape(self, shape: Shape) -> None:
        """Changes the shape; the computation's signature and the entry layout follow."""
        old = self._shape
        if shape == old and self._shape_text:
            return
        self._shape = shape
        self._shape_text = str(shape)
        self._mark_edited()
        self._computation._shape_changed(self, old)
        for user in self._users:
            if user._typed:
                user._mark_edited()

    def set_operand(self, index: int, value: Value) -> None:
        """Replaces one operand; raises ValueError where it is not defined in front of the instruction."""
        new = as_instruction(value)
        self._computation.check_order(new, self)
        old = self._operands[index]
        if new not in self._operands:
            new._users.append(self)
        self._operands[index] = new
        if old not in self._operands:
            old._users.remove(self)
        self._mark_edited()

    def replace_uses(self, new: Value, *, keep: Sequence[Operation] = ()) -> None:
        """Makes every use, the ROOT included, use `new`, but not in the instructions of `keep`.

        Raises ValueError, and changes nothing, where `new` is not defined in front of a use.
        """
        replacement = as_instruction(new)
        if replacement is self:
            return
        kept = set(map(id, keep))
        users = [user for user in self._users if id(user) not in kept]
        for user in users:
            self._computation.check_order(replacement, user)
        for user in users:
            for index, operand in enumerate(user._operands):
                if operand is self:
                    user.set_operand(index, replacement)
        self._computation._control.redirect(self, replacement, kept)
        if self.is_root:
            self._computation.set_root(replacement)

    def rename(self, name: str) -> None:
        """Changes the name, everywhere; raises ValueError where the computation has another of that name."""
        if name == self._name:
            return
        self._computation._rename(self, name)
        self._mark_edited()
        for user in self._users:
            user._mark_edited()

    def erase(self) -> None:
        """Removes the instruction; raises ValueError where it is used, the ROOT or a parameter."""
        if self._users:
            raise ValueError(f"%{self._name} is still used by %{self._users[0]._name}")
        if self._opcode == "parameter":
            raise ValueError(f"%{self._name} is a parameter")
        if self.is_root:
            raise ValueError(f"%{self._name} is the ROOT of %{self._computation.name}")
        for operand in set(self._operands):
            operand._users.remove(self)
        self._edited = True
        self._computation._remove(self)

    # Places

    @property
    def location(self) -> Location | None:
        """Returns the place of the name in the text that was read; a new one has that of its `like`."""
        if self._location is not None:
            return self._location
        found = self._scan()
        return None if found is None else Location(self._computation.source, found.name.span)

    def locate(self, part: str) -> Location | None:
        """Returns the place of `shape`, `opcode`, `operands` or one attribute in the text that was read.

        Where that part does not stand there: the place of the name.
        """
        found = self._scan()
        if self._location is not None or found is None:
            return self._location
        span = {"shape": found.shape, "opcode": found.opcode.span, "operands": found.operands}.get(part)
        if span is None:
            scanner = Scanner(self._computation.source, found.operands.end + 1)
            places = {name: Span(start.start, value.end) for name, start, value in scan_attributes(scanner)}
            span = places.get(part)
        return Location(self._computation.source, span or found.name.span)

    def locate_name(self, attribute: str, name: str) -> Location | None:
        """Returns the place of a name in an attribute's value, or that of the attribute."""
        place = self.locate(attribute)
        if place is None:
            return None
        text, start, end = place.source.text, place.span.start, place.span.end
        pattern = re.compile(rf"(?<![\w.\-]){re.escape(name)}(?![\w.\-])", re.ASCII)
        match = pattern.search(text, text.find("=", start, end) + 1, end)
        return place if match is None else Location(place.source, Span(*match.span()))

    def _scan(self) -> InstructionText | None:
        if self._head < 0:
            return None
        return scan_instruction(Scanner(self._computation.source, self._head))

    # Text

    def _render(self) -> str:
        root = "ROOT " if self._computation.marks_root(self) else ""
        shape = f"{self._shape_text} " if self._shape_text else ""
        inner = self._render_operands() if self._operands else self._inner
        return f"{root}{with_sigil(self._sigil, self._name)} = {shape}{self._opcode}({inner}){self._tail}"

    def _render_operands(self) -> str:
        parts = []
        for index, operand in enumerate(self._operands):
            # XLA marks every fifth operand for readers.
            mark = f"/*index={index}*/" if index and index % 5 == 0 else ""
            shape = f"{operand._shape} " if self._typed else ""
            parts.append(f"{mark}{shape}{with_sigil(self._sigil, operand._name)}")
        return ", ".join(parts)


def as_instruction(value: object) -> Instruction:
    """Returns a value that is an instruction of this room; raises TypeError for others."""
    if not isinstance(value, Instruction):
        raise TypeError(f"expected an HLO instruction, found {type(value).__name__}")
    return value
