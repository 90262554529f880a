"""An HLO computation: instructions in order, one of them the root."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dialect_utils.hlo.calls import called_names, is_applying
from dialect_utils.hlo.control import ControlEdges
from dialect_utils.hlo.instruction import Instruction, as_instruction
from dialect_utils.hlo.order import OrderedItems
from dialect_utils.hlo.signature import Signature, parse_signature
from dialect_utils.hlo.spelling import with_sigil
from dialect_utils.ir import Value
from dialect_utils.layout import Shape
from dialect_utils.text import Location, Source, Span

if TYPE_CHECKING:
    from dialect_utils.hlo.module import HloModule

_LINE_START = re.compile(r"\r?\n[ \t]*")
# Where no place in a text is known: a new instruction.
_NOWHERE = (-1, -1, -1)


@dataclass(slots=True)
class Frame:
    """Says where the parts of a computation stand in its source.

    The text in front begins at `begin`, the header at `head`; instructions stand from `body` to
    `tail`; `end` is behind `}` and what belongs to it. A fragment's header is empty.
    """

    begin: int
    head: int
    name: Span
    signature: Span | None
    body: int
    tail: int
    end: int


class Computation:
    """Is a computation of a module; equal and hashed by identity."""

    def __init__(self, module: HloModule, source: Source, name: str, style: str, frame: Frame, is_entry: bool) -> None:
        self.source = source
        self._module = module
        self._name = name
        self._sigil = style
        self._frame = frame
        self._is_entry = is_entry
        # The instruction in whose attributes it is written, if any.
        self._owner: Instruction | None = None
        self._read: list[Instruction] = []
        # What bare instruction lines use and do not define.
        self._outside: list[Instruction] = []
        self._by_name: dict[str, Instruction] = {}
        self._parameters: list[Instruction] = []
        self._root: Instruction | None = None
        self._marks_root = False
        self._callers: dict[Instruction, None] = {}
        self._control = ControlEdges(self)
        # From the first edit on: the order, and what stands in front of some instructions.
        self._ordered: OrderedItems[Instruction] | None = None
        self._leads: dict[Instruction | None, str] = {}
        self._line_start = ""
        self._edited = False
        self._header_edited = False

    def __repr__(self) -> str:
        return f"<Computation %{self._name}>"

    # What it is

    @property
    def name(self) -> str:
        """Returns the name without `%`; empty for bare instruction lines."""
        return self._name

    @property
    def module(self) -> HloModule:
        """Returns the module it belongs to."""
        return self._module

    @property
    def is_inline(self) -> bool:
        """Is true where it is printed as an attribute's value of the instruction that calls it.

        An edit of either gives it a place of its own in front of the computation it stood in.
        """
        return self._owner is not None and not self._owner._edited

    @property
    def is_entry(self) -> bool:
        """Is true for the module's entry."""
        return self._module.try_entry() is self

    @property
    def is_applied(self) -> bool:
        """Is true where an op applies it per element: reduce, sort, scatter, map and the like."""
        return any(
            name == self._name and is_applying(caller.opcode, attribute)
            for caller in self._callers
            for attribute, name in called_names(caller.attributes)
        )

    @property
    def parameters(self) -> Sequence[Instruction]:
        """Returns the parameters in order of their number."""
        return tuple(self._parameters)

    @property
    def instructions(self) -> Sequence[Instruction]:
        """Returns a snapshot of all instructions in order, parameters included."""
        return list(self._read if self._ordered is None else self._ordered)

    @property
    def operations(self) -> Sequence[Instruction]:
        """Returns a snapshot of the instructions in order, without parameters."""
        return [item for item in self.instructions if item.opcode != "parameter"]

    @property
    def root(self) -> Instruction:
        """Returns the instruction whose value the computation returns."""
        assert self._root is not None  # the parser refuses a computation without instructions
        return self._root

    @property
    def results(self) -> Sequence[Instruction]:
        """Returns (root,)."""
        return (self.root,)

    @property
    def callers(self) -> Sequence[Instruction]:
        """Returns the instructions that call it."""
        return tuple(self._callers)

    @property
    def location(self) -> Location | None:
        """Returns the place of the name in the text that was read."""
        return Location(self.source, self._frame.name)

    def find(self, name: str) -> Instruction | None:
        """Returns the instruction of a name (without `%`), or None."""
        return self._by_name.get(f"%{name}")

    # Edits

    def _mark_edited(self) -> None:
        self._edited = True
        self._module._edited = True
        if self._owner is not None and not self._owner._edited:
            self._owner._mark_edited()

    def _order(self) -> OrderedItems[Instruction]:
        if self._ordered is None:
            self._line_start = self._find_line_start()
            self._ordered = OrderedItems(self._read)
            self._read = []
            # Bare instruction lines return nothing.
            if not self._marks_root and self._name:
                self._marks_root = True
                # The root was the last instruction; from now on it need not be.
                self.root._mark_edited()
        return self._ordered

    def check_order(self, value: Instruction, user: Instruction) -> None:
        """Raises ValueError where `value` is not defined in this computation in front of `user`."""
        if value._computation is not self or user._computation is not self:
            raise ValueError(f"%{value.name} and %{user.name} stand in different computations")
        if not self._order().precedes(value, user):
            raise ValueError(f"%{value.name} is not defined in front of its user %{user.name}")

    def set_root(self, value: Value) -> None:
        """Returns another instruction; the signature and, for the entry, the entry layout follow."""
        root, old = as_instruction(value), self.root
        if root is old:
            return
        if root._computation is not self:
            raise ValueError(f"%{root.name} does not stand in %{self._name}")
        self._marks_root = True
        self._root = root
        for changed in (old, root):
            changed._mark_edited()
        self._header_edited = True
        if self.is_entry:
            self._module._entry_shape_changed(None, old.shape, root.shape)

    def set_results(self, values: Sequence[Value]) -> None:
        """Returns another value; raises ValueError for any number of values but one."""
        if len(values) != 1:
            raise ValueError(f"an HLO computation returns one value, not {len(values)}")
        self.set_root(values[0])

    def rename(self, name: str) -> None:
        """Changes the name, in the callers too; raises ValueError where the module has another of that name."""
        if name == self._name:
            return
        self._module._rename_computation(self, name)
        self._name = name
        self._header_edited = True
        self._mark_edited()

    def insert_before(self, place: Instruction, text: str) -> Instruction:
        """Reads one instruction's text and puts it in front of another; returns it.

        Raises DiagnosticError where the text is wrong or names what is not defined there.
        """
        return self._insert_text(self._order().before(place), text)

    def insert_after(self, place: Instruction, text: str) -> Instruction:
        """Reads one instruction's text and puts it behind another; returns it."""
        return self._insert_text(place, text)

    def _insert_text(self, place: Instruction | None, text: str) -> Instruction:
        from dialect_utils.hlo.parse import parse_new_instruction

        return parse_new_instruction(self, place, text)

    def insert(
        self,
        place: Instruction | None,
        name: str,
        shape: Shape,
        opcode: str,
        operands: Sequence[Instruction] = (),
        *,
        inner: str = "",
        attributes: Mapping[str, str] | None = None,
        location: Location | None = None,
    ) -> Instruction:
        """Makes an instruction behind `place` (None: first) under a fresh name like `name`.

        `inner` is what stands between the parentheses of an instruction without operands.
        Raises ValueError where an operand is not defined in front of it.
        """
        order = self._order()
        if place is not None and place not in order:
            raise ValueError(f"%{place.name} no longer stands in %{self._name}")
        for operand in operands:
            if operand not in order or place is None or order.precedes(place, operand):
                raise ValueError(f"%{operand.name} is not defined in front of the new {opcode}")
        tail = "".join(f", {key}={value}" for key, value in (attributes or {}).items())
        name = self._module.fresh_name(name)
        made = Instruction(self, _NOWHERE, self._sigil, name, shape, str(shape), opcode, list(operands), inner, tail)
        made._edited = True
        made._location = location
        self._adopt(made, place)
        return made

    def _adopt(self, made: Instruction, place: Instruction | None) -> None:
        order = self._order()
        self._leads[made] = self._line_start
        order.insert_after(place, made)
        self._by_name[f"%{made.name}"] = made
        for operand in dict.fromkeys(made._operands):
            operand._users.append(made)
        if made._tail:
            self._module._link_calls(made)
            self._control.link(made)
        self._mark_edited()

    def _find_line_start(self) -> str:
        """Returns what is to stand in front of a new instruction: a line break and indentation, or a space."""
        first = self._read[0]
        found = _LINE_START.findall(self.source.text, first._begin, first._head)
        return found[-1] if found else " "

    def _remove(self, item: Instruction) -> None:
        order = self._order()
        lead = self._lead(item)
        following = order.after(item)
        if "/" in lead:
            # A comment stays where it stood. One that ends with its line keeps the line break.
            kept = lead.rstrip(" \t") if "//" in lead else lead.rstrip()
            self._leads[following] = kept + self._lead(following)
        order.remove(item)
        self._leads.pop(item, None)
        del self._by_name[f"%{item.name}"]
        for callee in item._called:
            callee._callers.pop(item, None)
        self._control.drop(item)
        self._mark_edited()

    def _lead(self, item: Instruction | None) -> str:
        if item in self._leads:
            return self._leads[item]
        return "" if item is None else self.source.text[item._begin : item._head]

    def _rename(self, item: Instruction, name: str) -> None:
        if f"%{name}" in self._by_name:
            raise ValueError(f"%{self._name} already has an instruction %{name}")
        self._by_name[f"%{name}"] = self._by_name.pop(f"%{item.name}")
        self._module._note_name(name)
        item._name = name
        if item in self._parameters:
            self._header_edited = True
        self._control.renamed(item)

    def _shape_changed(self, item: Instruction, old: Shape) -> None:
        is_parameter = item.opcode == "parameter"
        if item is not self._root and not is_parameter:
            return
        self._header_edited = True
        if not self.is_entry:
            return
        if is_parameter:
            self._module._entry_shape_changed(item.parameter_number, old, item.shape)
        if item is self._root:
            self._module._entry_shape_changed(None, old, item.shape)

    # Text

    def marks_root(self, item: Instruction) -> bool:
        """Is true where `ROOT` stands in front of an instruction when it is printed."""
        return self._marks_root and item is self._root

    def text(self) -> str:
        """Prints the computation, with the white space and comments in front of it."""
        frame, text = self._frame, self.source.text
        if not self._edited and self._owner is None:
            return text[frame.begin : frame.end]
        parts = [text[frame.begin : frame.head], self._header()]
        for item in self.instructions:
            lead = self._lead(item)
            # Where nothing parted two instructions of one line, a space has to.
            parts.append(lead or ("" if parts[-1].endswith("{") or not parts[-1] else " "))
            parts.append(item._render() if item._edited else text[item._head : item._end])
        parts += [self._leads.get(None, ""), text[frame.tail : frame.end]]
        return "".join(parts)

    def _header(self) -> str:
        frame, text = self._frame, self.source.text
        if self._owner is not None:
            return f"\n\n{with_sigil(self._sigil, self._name)} {{"
        if not self._header_edited or frame.head == frame.body:
            return text[frame.head : frame.body]
        name = with_sigil(self._sigil, self._name)
        if frame.signature is None:
            return text[frame.head : frame.name.start].removesuffix("%") + name + text[frame.name.end : frame.body]
        between = text[frame.name.end : frame.signature.start]
        return (
            text[frame.head : frame.name.start].removesuffix("%")
            + name
            + between
            + self._signature(frame.signature)
            + text[frame.signature.end : frame.body]
        )

    def _signature(self, span: Span) -> str:
        """Returns the signature as it was written where it still holds, else a new one."""
        written = parse_signature(self.source, span)
        text = self.source.text[span.start : span.end]
        names = tuple(parameter.name for parameter in self._parameters)
        current = Signature(names, tuple(parameter.shape for parameter in self._parameters), self.root.shape)
        if written == written.without_layouts():
            current = current.without_layouts()
        return text if written == current else str(current)


def as_computation(function: object) -> Computation:
    """Returns a function that is a computation of this room; raises TypeError for others."""
    if not isinstance(function, Computation):
        raise TypeError(f"expected an HLO computation, found {type(function).__name__}")
    return function
