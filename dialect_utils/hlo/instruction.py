"""An HLO instruction: one operation and its one value.

Longer than most files: it implements two interfaces, `ir.Operation` and `ir.Value`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from dialect_utils.hlo.graph import CONTROL
from dialect_utils.hlo.text.attributes import (
    called_in,
    format_frontend_attributes,
    is_calling,
    metadata_in,
    parse_frontend_attributes,
    parse_ints,
    parse_step,
    string_bytes,
    with_attribute,
)
from dialect_utils.hlo.text.grammar import InstructionText, scan_attributes, split_attributes, split_operands
from dialect_utils.hlo.text.literals import splat_scalar
from dialect_utils.hlo.text.printing import format_operands, format_shape, with_sigil
from dialect_utils.hlo.text.provenance import Origin
from dialect_utils.hlo.text.tokens import Scanner
from dialect_utils.ir import Operation, Value
from dialect_utils.ir.assignments import Guarded, assign
from dialect_utils.ir.control_flow import call_roles, in_role_order, role_position
from dialect_utils.layout import ArrayShape, Shape, Step
from dialect_utils.text import DiagnosticError, Location, Span

if TYPE_CHECKING:
    from dialect_utils.hlo.computation import Computation


class Instruction(Operation, Value):
    """An instruction of a computation: an operation and its one value.

    `computation.written` locates an instruction in the text by its `number`. Only methods change the fields, so that
    users, signatures and the printed text follow. Instructions are compared by identity. `HloModule.before`,
    `after`, `at_end` and `Computation.insert` make new ones.
    """

    __slots__ = (
        "_attributes",
        "_step",
        "attribute_text",
        "called",
        "computation",
        "contents",
        "name",
        "number",
        "opcode",
        "operands",
        "origin",
        "position",
        "shape",
    )

    name: str
    shape: Shape
    opcode: str
    operands: tuple[Instruction, ...]

    def __init__(
        self,
        computation: Computation,
        name: str,
        shape: Shape,
        opcode: str,
        operands: tuple[Instruction, ...],
        contents: str,
        attribute_text: str,
        number: int = -1,
        origin: Origin | Location | None = None,
        attributes: dict[str, str] | None = None,
        step: Step | None = None,
    ) -> None:
        # The computation that contains it.
        self.computation = computation
        # Without `%`.
        self.name = name
        # As written; the layout is None where the text has none.
        self.shape = shape
        # As written, e.g. `dynamic-slice`.
        self.opcode = opcode
        self.operands = operands
        # The text between the parentheses of an instruction without operands.
        self.contents = contents
        # The attributes as text, each `, name=value`; split on first use.
        self.attribute_text = attribute_text
        # The number of the instruction in the computation's text, and its position among those that were read; -1: new.
        self.number = self.position = number
        # The location of a new instruction.
        self.origin = origin
        # The computations it calls, in the order of their roles.
        self.called: tuple[Computation, ...] = ()
        self._attributes = attributes
        # The attributes and shape that the step was read from, and the step; a new instruction is made of its step.
        self._step: tuple[str, Shape, Step | None] | None = None if step is None else (attribute_text, shape, step)
        # From here on assignments are edits; the class that checks them would take longer to construct.
        self.__class__ = _Guarded

    def __repr__(self) -> str:
        return f"<Instruction {self.text()}>"

    # Queries

    @property
    def results(self) -> Sequence[Instruction]:
        return (self,)

    @property
    def captured(self) -> Sequence[Instruction]:
        return ()

    @property
    def operation(self) -> Instruction | None:
        return None if self.opcode == "parameter" else self

    @property
    def function(self) -> Computation:
        return self.computation

    @property
    def users(self) -> Sequence[Instruction]:
        return self.computation.uses.of(self)

    @property
    def is_root(self) -> bool:
        """Is true for the instruction whose value the computation returns."""
        return self.computation.root is self

    @property
    def roles(self) -> Sequence[str]:
        calls = in_role_order(self.opcode, called_in(self.attribute_text))
        return call_roles(self.opcode, [attribute for attribute, _ in calls])

    def called_as(self, role: str) -> Computation:
        return self.called[role_position(self, role)]

    @property
    def step(self) -> Step | None:
        known = self._step
        if known is None or known[0] is not self.attribute_text or known[1] is not self.shape:
            known = self._step = self.attribute_text, self.shape, parse_step(self)
        return known[2]

    @property
    def callee(self) -> str | None:
        target = self.attribute("custom_call_target")
        return None if target is None else target[1:-1]

    @property
    def literal(self) -> str | None:
        """Returns the text between a constant's parentheses, or None for other opcodes."""
        return self.contents if self.opcode == "constant" else None

    @property
    def splat_bits(self) -> int | None:
        if self.opcode != "constant" or not isinstance(self.shape, ArrayShape):
            return None
        return splat_scalar(self.shape.element_type, self.shape.element_count, self.contents)

    # Attributes

    @property
    def attributes(self) -> Mapping[str, str]:
        return MappingProxyType(self._split())

    def _split(self) -> dict[str, str]:
        if self._attributes is None:
            try:
                self._attributes = split_attributes(self.attribute_text) if self.attribute_text else {}
            except DiagnosticError:
                # Raises the same error at its location in the text that was read.
                self.locate("attributes")
                raise
        return self._attributes

    def attribute(self, name: str) -> str | None:
        # Most attributes of most instructions are absent: no need to split for those.
        if self._attributes is None and name not in self.attribute_text:
            return None
        return self._split().get(name)

    def string(self, name: str) -> bytes | None:
        """Returns the bytes of an attribute in quotes, or None for another one."""
        text = self.attribute(name)
        return string_bytes(text) if text is not None and text.startswith('"') else None

    def definition(self, _: str) -> str | None:
        """Returns None: attributes of HLO name computations only."""
        return None

    @property
    def attribute_names(self) -> Sequence[str]:
        """Returns the names of all attributes in order."""
        return tuple(self._split()) if self.attribute_text else ()

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
        self.set_attributes(attributes)
        if is_calling(name):
            self.computation.module.link_calls(self)
        if name == CONTROL:
            self.computation.link_control(self)

    def set_attributes(self, attributes: dict[str, str]) -> None:
        """Replaces all attributes; called computations and control predecessors stay linked as they are."""
        self._attributes = attributes
        assign(self, "attribute_text", "".join(f", {name}={text}" for name, text in attributes.items()))
        self.computation.mark_edited(self)

    def ints(self, name: str) -> tuple[int, ...] | None:
        """Returns the integers of an attribute `{1,0}` or `1`, or None for any other text."""
        text = self.attribute(name)
        return None if text is None else parse_ints(text)

    def set_ints(self, name: str, values: Sequence[int]) -> None:
        """Changes an attribute of integers and keeps the form `{1}` or `1`; raises ValueError for another text."""
        text = self.attribute(name)
        if text is None or parse_ints(text) is None:
            raise ValueError(f"%{self.name} has no integers {name}")
        listed = ",".join(map(str, values))
        self.set_attribute(name, f"{{{listed}}}" if "{" in text else listed)

    @property
    def metadata(self) -> str | None:
        """Returns the text of `metadata`, or None."""
        found = metadata_in(self.attribute_text) if self._attributes is None else None
        return self.attribute("metadata") if found is None else found

    @property
    def frontend_attributes(self) -> Mapping[str, str]:
        """Returns the frontend attributes, strings without their quotes."""
        text = self.attribute("frontend_attributes")
        return MappingProxyType({} if text is None else parse_frontend_attributes(text))

    def set_frontend_attribute(self, name: str, value: str | None) -> None:
        values = dict(self.frontend_attributes)
        values.pop(name, None) if value is None else values.update({name: value})
        self.set_attribute("frontend_attributes", format_frontend_attributes(values) if values else None)

    # Edits

    def set_shape(self, shape: Shape) -> None:
        old = self.shape
        if shape == old and self.number not in self.computation.written.shapeless:
            return
        assign(self, "shape", shape)
        self.computation.shape_changed(self, old)

    def set_operand(self, index: int, value: Value) -> None:
        """Replaces one operand; raises ValueError where it is not defined before the instruction."""
        new = as_instruction(value)
        self.computation.check_order(new, self)
        uses, operands = self.computation.uses, list(self.operands)
        old, operands[index] = operands[index], new
        if new not in self.operands:
            uses.add(self, (new,))
        assign(self, "operands", tuple(operands))
        if old not in operands:
            uses.drop(self, (old,))
        self.computation.mark_edited(self)

    def replace_uses(self, new: Value, *, keep: Sequence[Operation] = ()) -> None:
        """Makes every use, the ROOT included, use `new`, except in the instructions of `keep`.

        Raises ValueError, and changes nothing, where `new` is not defined before a use.
        """
        replacement = as_instruction(new)
        if replacement is self:
            return
        kept = set(map(id, keep))
        users = [user for user in self.users if id(user) not in kept]
        for user in users:
            self.computation.check_order(replacement, user)
        uses = self.computation.uses
        for user in users:
            if replacement not in user.operands:
                uses.add(user, (replacement,))
            assign(user, "operands", tuple([replacement if each is self else each for each in user.operands]))
        if users:
            self.computation.mark_edited(*users)
        uses.drop_all(self, users)
        self.computation.redirect_control(self, replacement, kept)
        if self.is_root:
            self.computation.set_root(replacement)

    def rename(self, name: str) -> None:
        """Changes the name in all uses; raises ValueError where another instruction of the computation has it."""
        if name == self.name:
            return
        old = self.name
        assign(self, "name", self.computation.checked_name(name))
        self.computation.name_changed(self, old)

    def erase(self) -> None:
        """Removes the instruction; raises ValueError where it is used, the ROOT or a parameter."""
        if users := self.users:
            raise ValueError(f"%{self.name} is still used by %{users[0].name}")
        if self.opcode == "parameter":
            raise ValueError(f"%{self.name} is a parameter")
        if self.is_root:
            raise ValueError(f"%{self.name} is the ROOT of %{self.computation.name}")
        self.computation.remove(self)

    # Locations

    @property
    def location(self) -> Location | None:
        """Returns the location of the name in the text that was read; a new instruction has the one of its `like`."""
        if self.number >= 0:
            return self.computation.written.location(self.number)
        return self.origin.location if isinstance(self.origin, Origin) else self.origin

    def locate(self, part: str) -> Location | None:
        """Returns the location in the text of `shape`, `opcode`, `operands`, `operand 2` or one attribute.

        An absent part has the location of the name.
        """
        if not self.has_own_text:
            return self.location
        source, found = self.computation.source, self.computation.written.parts(self.number)
        span = {"shape": found.shape, "opcode": found.opcode.span, "operands": found.operands}.get(part)
        if span is None and part.startswith("operand "):
            operands = split_operands(source, found.operands)
            span = operands[int(part.removeprefix("operand "))].span
        elif span is None:
            return self.locate_attributes([part])[part]
        return Location(source, span or found.name.span)

    def locate_attributes(self, names: Sequence[str]) -> dict[str, Location | None]:
        """Returns the locations of attributes in the text, in one pass; absent ones have the location of the name."""
        if not self.has_own_text:
            return dict.fromkeys(names, self.location)
        source, found = self.computation.source, self.computation.written.parts(self.number)
        scanner = Scanner(source, found.operands.end + 1)
        spans = {name: Span(start.start, value.end) for name, start, value in scan_attributes(scanner)}
        return {name: Location(source, spans.get(name, found.name.span)) for name in names}

    def locate_name(self, attribute: str, name: str) -> Location | None:
        """Returns the location of a name in an attribute's value, else of the attribute."""
        location = self.locate(attribute)
        if location is None:
            return None
        text, start, end = location.source.text, location.span.start, location.span.end
        pattern = re.compile(rf"(?<![\w.\-]){re.escape(name)}(?![\w.\-])", re.ASCII)
        match = pattern.search(text, text.find("=", start, end) + 1, end)
        return location if match is None else Location(location.source, Span(*match.span()))

    # Text

    @property
    def has_own_text(self) -> bool:
        """Is true where it was read from `name = ...`: not new, and not written in an operand."""
        return self.number >= 0 and self.number not in self.computation.written.inline

    @property
    def sigil(self) -> str:
        """Returns the prefix of names in its text: `%` or nothing."""
        if not self.has_own_text:
            return self.computation.sigil
        usual = self.computation.written.usual_sigil(self.number)
        return _sigil(self.computation.written.parts(self.number)) if usual is None else usual

    def text(self) -> str:
        """Prints the instruction in XLA's form; an unchanged shape stays as it was written."""
        computation, written = self.computation, self.computation.written
        sigil, shape, is_typed = computation.sigil, str(self.shape), False
        if self.has_own_text:
            is_typed, usual = self.number in written.typed, written.usual_sigil(self.number)
            if usual is None:
                parts = written.parts(self.number)
                sigil, shape = _sigil(parts), format_shape(self.shape, computation.source, parts.shape)
            else:
                sigil = usual
        root = "ROOT " if computation.root is self and computation.marks_root(self) else ""
        inner = format_operands(self.operands, sigil, is_typed=is_typed) if self.operands else self.contents
        return f"{root}{with_sigil(sigil, self.name)} = {shape} {self.opcode}({inner}){self.attribute_text}"


class _Guarded(Guarded, Instruction):
    """An instruction whose attributes are all assigned."""

    __slots__ = ()


def _sigil(parts: InstructionText) -> str:
    return "%" if parts.name.kind == "name" else ""


def as_instruction(value: object) -> Instruction:
    """Returns a value that is an instruction of this package; raises TypeError for other objects."""
    if not isinstance(value, Instruction):
        raise TypeError(f"expected an HLO instruction, found {type(value).__name__}")
    return value
