"""An HLO computation: instructions in order, one of them the root.

Longer than most files: an edit changes users, order, names, control and what is printed in one go, all of it here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy as shallow_copy
from dataclasses import replace
from typing import TYPE_CHECKING

from dialect_utils.hlo.graph import CONTROL, ControlEdges, Order, Uses
from dialect_utils.hlo.instruction import Instruction, as_instruction
from dialect_utils.hlo.text.attributes import CALLING_OPCODES, names_in, with_attribute
from dialect_utils.hlo.text.header import Signature
from dialect_utils.hlo.text.printing import format_body, format_header, text_before, with_sigil
from dialect_utils.hlo.text.provenance import BodyText, Edits, Origin
from dialect_utils.ir import Value
from dialect_utils.layout import Shape
from dialect_utils.ops import Trait, has
from dialect_utils.text import Diagnostic, DiagnosticError, Location, Source, nearest

if TYPE_CHECKING:
    from dialect_utils.hlo.module import HloModule


class Computation:
    """A computation of a module; equal and hashed by identity.

    `written` and `edits` say where it was read and what no longer is as it was; all else is the
    graph. Its fields are for reading: the methods change them.
    """

    __slots__ = (
        "_by_number",
        "_callers",
        "_row",
        "_uses",
        "by_name",
        "control",
        "edits",
        "is_marked_entry",
        "module",
        "name",
        "order",
        "outside",
        "owner",
        "parameters",
        "root",
        "root_is_marked",
        "sigil",
        "written",
    )

    root: Instruction

    def __init__(self, module: HloModule, name: str, sigil: str, written: BodyText, *, is_entry: bool = False) -> None:
        self.module = module
        # Without `%`; empty for bare instruction lines.
        self.name = name
        # The prefix of names in its text: `%` or nothing.
        self.sigil = sigil
        self.written = written
        self.edits: Edits[Instruction] = Edits()
        self.is_marked_entry = is_entry
        # The instruction in whose attributes it is written, if any.
        self.owner: Instruction | None = None
        # The names that bare instruction lines use and do not define.
        self.outside: list[Instruction] = []
        self.by_name: dict[str, Instruction] = {}
        self.parameters: Sequence[Instruction] = ()
        self.root_is_marked = False
        self._callers: dict[Instruction, None] = {}
        self.control: ControlEdges[Instruction] = ControlEdges()
        self._uses: Uses[Instruction] | None = None
        self._by_number: dict[int, Instruction] | None = None
        # The first and the last of the parameters in a row that were found last, until an edit among them.
        self._row: tuple[Instruction, Instruction] | None = None

    def fill(self, items: list[Instruction], parameters: Sequence[Instruction], root: Instruction | None) -> None:
        """Gives it its instructions; the last is the root where none is marked. Readers do this once."""
        self.order = Order(items)
        self.parameters = tuple(parameters)
        self.root = items[-1] if root is None else root
        self.root_is_marked = root is not None

    def __repr__(self) -> str:
        return f"<Computation %{self.name}>"

    # Properties

    @property
    def source(self) -> Source:
        """Returns the text it was read from."""
        return self.written.source

    @property
    def is_inline(self) -> bool:
        """Is true where it is printed as an attribute's value of the instruction that calls it.

        An edit of either gives it a place of its own before the computation it was in.
        """
        return self.owner is not None and not self.owner.computation.is_edited(self.owner)

    @property
    def is_entry(self) -> bool:
        """Is true for the module's entry."""
        return self.module.try_entry() is self

    @property
    def is_embedded(self) -> bool:
        """Is true for an embedded computation: applied per element, by reduce, sort, scatter or map."""
        return any(has(caller.opcode, Trait.APPLIES) for caller in self._callers)

    @property
    def instructions(self) -> Sequence[Instruction]:
        """Returns a snapshot of all instructions in order, parameters included."""
        return self.order.items

    @property
    def operations(self) -> Sequence[Instruction]:
        """Returns a snapshot of the instructions in order, without parameters."""
        return [item for item in self.order.items if item.opcode != "parameter"]

    def values(self) -> Sequence[Instruction]:
        """Returns the parameters by number, then the other instructions in order."""
        return [*self.parameters, *self.operations]

    @property
    def results(self) -> Sequence[Instruction]:
        """Returns (root,)."""
        return (self.root,)

    @property
    def callers(self) -> Sequence[Instruction]:
        """Returns the instructions that call it."""
        return tuple(self._callers)

    @property
    def uses(self) -> Uses[Instruction]:
        """Returns who uses what; it is found when it is first asked for or changed."""
        if self._uses is None:
            self._uses = Uses(self.order.items)
        return self._uses

    @property
    def location(self) -> Location | None:
        """Returns the place of the name in the text that was read."""
        return Location(self.source, self.written.frame.name)

    def find(self, name: str) -> Instruction | None:
        """Returns the instruction of a name (without `%`), or None."""
        return self.by_name.get(name)

    def check_order(self, value: Instruction, user: Instruction) -> None:
        """Raises ValueError where `value` is not defined in this computation before `user`."""
        if value.computation is not self or user.computation is not self:
            raise ValueError(f"%{value.name} and %{user.name} are in different computations")
        if not self.order.precedes(value, user):
            raise ValueError(f"%{value.name} is not defined before its user %{user.name}")

    # Edits

    def is_edited(self, item: Instruction) -> bool:
        """Is true for an instruction that is printed again."""
        return item.number < 0 or item in self.edits.instructions

    def mark_edited(self, *items: Instruction) -> None:
        """Notes that instructions no longer are as they were read; without any, that something else is not."""
        self.edits.any = True
        if items:
            if self.written.inline:
                self._mark_with_inline(items)
            else:
                self.edits.instructions.update(items)
        self.module.mark_edited()
        if self.owner is not None and not self.owner.computation.is_edited(self.owner):
            self.owner.computation.mark_edited(self.owner)

    def _mark_with_inline(self, items: Sequence[Instruction]) -> None:
        """Gives what is written in the operands of edited instructions, and edited itself, lines of its own."""
        if self._by_number is None:
            self._by_number = {item.number: item for item in self.order.items}
        inline, edited, found = self.written.inline, self.edits.instructions, self._by_number
        waiting = list(items)
        while waiting:
            item = waiting.pop()
            if item in edited:
                continue
            edited.add(item)
            waiting += [found[number] for number in self.written.inside(item.number) if number in found]
            waiting += [operand for operand in item.operands if operand.number in inline]
            if item.number in inline:
                waiting += self.uses.of(item)
                waiting += [found[number] for number in (inline[item.number].owner,) if number in found]

    def set_root(self, value: Value) -> None:
        """Returns another instruction; the signature and, for the entry, the entry layout follow."""
        root, old = as_instruction(value), self.root
        if root is old:
            return
        if root.computation is not self:
            raise ValueError(f"%{root.name} is not in %{self.name}")
        self.root = root
        self.root_is_marked = True
        self.edits.header = True
        self.mark_edited(old, root)
        if self.is_entry:
            self.module.header.result_changed(old.shape, root.shape)

    def set_results(self, values: Sequence[Value]) -> None:
        """Returns another value; raises ValueError for any number of values but one."""
        if len(values) != 1:
            raise ValueError(f"an HLO computation returns one value, not {len(values)}")
        self.set_root(values[0])

    def rename(self, name: str) -> None:
        """Changes the name, in the callers too; raises ValueError where the module has another of that name."""
        if name == self.name:
            return
        self.module.rename_computation(self, name)
        self.name = name
        self.edits.header = True
        self.mark_edited()

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
        like: Instruction | None = None,
    ) -> Instruction:
        """Makes an instruction after `place` (None: first) under a fresh name like `name`.

        `inner` is what is between the parentheses of an instruction without operands; diagnostics
        place the new one where `like` is. Raises ValueError where an operand is not defined before it.
        """
        order = self.order
        if place is not None and place not in order:
            raise ValueError(f"%{place.name} is no longer in %{self.name}")
        for operand in operands:
            if operand is not place and (operand not in order or place is None or order.precedes(place, operand)):
                raise ValueError(f"%{operand.name} is not defined before the new {opcode}")
        tail = "".join([f", {key}={value}" for key, value in attributes.items()]) if attributes else ""
        name = self.module.fresh_name(name)
        made = Instruction(self, name, shape, opcode, tuple(operands), inner, tail, origin=origin_of(like))
        self.adopt(made, place)
        return made

    def adopt(self, made: Instruction, place: Instruction | None) -> None:
        """Takes a new instruction in after `place` (None: first)."""
        self.uses.add(made, made.operands)
        if self._row is not None and place is not None and place.opcode == "parameter" and place is not self._row[1]:
            self._row = None
        self.order.insert_after(place, made)
        self.by_name[made.name] = made
        text = made.attribute_text
        if "%" in text or made.opcode in CALLING_OPCODES:
            self.module.link_calls(made)
        if CONTROL in text:
            self.link_control(made)
        self.mark_edited()

    def remove(self, item: Instruction) -> None:
        """Takes an instruction out that nothing uses; a comment before it stays."""
        self.uses.drop(item, item.operands)
        lead, following = text_before(item, self.written, self.edits), self.order.after(item)
        if "/" in lead:
            # One that ends with its line keeps the line break.
            kept = lead.rstrip(" \t") if "//" in lead else lead.rstrip()
            self.edits.leads[following] = kept + text_before(following, self.written, self.edits)
        if item.opcode == "parameter":
            self._row = None
        self.order.remove(item)
        self.edits.leads.pop(item, None)
        del self.by_name[item.name]
        for callee in item.called:
            callee.remove_caller(item)
        inherited = self.control.of(item)
        self.control.set(item, ())
        for user, found in self.control.users(item):
            kept_predecessors = [p for p in found if p is not item]
            self._write_control(user, kept_predecessors + [p for p in inherited if p not in kept_predecessors])
        self.mark_edited(item)

    def drop_parameter(self, parameter: Value) -> None:
        """Removes a parameter without uses from a computation without callers; raises ValueError for others."""
        parameter = as_instruction(parameter)
        if parameter.users or self._callers or parameter is self.root:
            raise ValueError(f"%{parameter.name} is still used, or given a value")
        self.remove(parameter)
        self.parameters = tuple(each for each in self.parameters if each is not parameter)
        for number, each in enumerate(self.parameters):
            each.contents = str(number)
            self.mark_edited(each)
        self.edits.header = True

    def last_parameter_in_row(self, parameter: Instruction) -> Instruction:
        """Returns the last of the parameters that follow one without another instruction between them."""
        precedes = self.order.precedes
        if self._row is None or precedes(parameter, self._row[0]) or precedes(self._row[1], parameter):
            last, following = parameter, self.order.after(parameter)
            while following is not None and following.opcode == "parameter":
                last, following = following, self.order.after(following)
            self._row = (parameter, last)
        return self._row[1]

    def add_caller(self, caller: Instruction) -> None:
        """Notes that an instruction calls it."""
        self._callers[caller] = None

    def remove_caller(self, caller: Instruction) -> None:
        """Notes that an instruction no longer calls it."""
        self._callers.pop(caller, None)

    # Updates after the edit of an instruction

    def checked_name(self, name: str) -> str:
        """Returns a name for an instruction; raises ValueError where another one has it."""
        if name in self.by_name:
            raise ValueError(f"%{self.name} already has an instruction %{name}")
        return name

    def name_changed(self, item: Instruction, old: str) -> None:
        """Lets everything that names an instruction follow."""
        self.by_name[item.name] = self.by_name.pop(old)
        self.module.note_name(item.name)
        if item.opcode == "parameter":
            self.edits.header = True
        for user, found in self.control.users(item):
            self._write_control(user, found)
        self.mark_edited(item, *self.uses.of(item))

    def shape_changed(self, item: Instruction, old: Shape) -> None:
        """Lets everything that writes an instruction's shape follow."""
        typed = self.written.typed
        self.mark_edited(item, *([user for user in self.uses.of(item) if user.number in typed] if typed else ()))
        self.module.note_shape(item.shape)
        is_parameter = item.opcode == "parameter"
        if item is not self.root and not is_parameter:
            return
        self.edits.header = True
        if not self.is_entry:
            return
        if is_parameter:
            self.module.header.parameter_changed(int(item.contents), old, item.shape)
        if item is self.root:
            self.module.header.result_changed(old, item.shape)

    # Control predecessors

    def link_control(self, item: Instruction) -> None:
        """Looks up an instruction's control predecessors by name; raises DiagnosticError for an unknown one."""
        text = item.attribute(CONTROL)
        if text is not None:
            self.control.set(item, [self._predecessor(item, name) for name in names_in(text)])
        elif self.control.of(item):
            self.control.set(item, ())

    def _predecessor(self, item: Instruction, name: str) -> Instruction:
        found = self.find(name)
        if found is not None:
            return found
        known = nearest(name, self.by_name)
        hint = f"did you mean %{known}?" if known else None
        message = f"unknown control predecessor %{name} of %{item.name}"
        raise DiagnosticError(Diagnostic(message, item.locate_name(CONTROL, name), hint=hint))

    def inherit_control(self, item: Instruction, original: Instruction) -> None:
        """Lets `item` run after the predecessors of another instruction, as far as they come before it."""
        found = [p for p in self.control.of(original) if p in self.order and self.order.precedes(p, item)]
        if found:
            self._write_control(item, found)

    def redirect_control(self, old: Instruction, new: Instruction, keep: set[int]) -> None:
        """Lets what has to run after `old` run after `new`, where that comes before it."""
        for user, found in self.control.users(old):
            if id(user) not in keep and self.order.precedes(new, user):
                self._write_control(user, [new if p is old else p for p in found])

    def _write_control(self, item: Instruction, found: list[Instruction]) -> None:
        self.control.set(item, found)
        attributes = dict(item.attributes)
        if found:
            names = ", ".join(with_sigil(item.sigil, p.name) for p in found)
            attributes = with_attribute(attributes, CONTROL, f"{{{names}}}")
        else:
            del attributes[CONTROL]
        item.set_attributes(attributes)

    # Copies

    def copied(self, module: HloModule, twins: dict[Instruction, Instruction]) -> Computation:
        """Returns a copy for a copy of the module; notes the copy of every instruction in `twins`.

        Calls are linked when all computations are copied.
        """
        copy = Computation(module, self.name, self.sigil, self.written, is_entry=self.is_marked_entry)
        for position, item in enumerate([*self.outside, *self.order.items], -len(self.outside)):
            operands = tuple([twins[operand] for operand in item.operands])
            twin = Instruction(
                copy,
                item.name,
                item.shape,
                item.opcode,
                operands,
                item.contents,
                item.attribute_text,
                item.number,
                item.origin,
            )
            twin.position = max(position, -1)
            twins[item] = twin
        marked = twins[self.root] if self.root_is_marked else None
        copy.fill([twins[item] for item in self.order.items], [twins[item] for item in self.parameters], marked)
        copy.root = twins[self.root]
        copy.outside = [twins[item] for item in self.outside]
        copy.by_name = {name: twins[item] for name, item in self.by_name.items()}
        copy.edits = self.edits.copied(twins)
        copy.control = self.control.copied(twins)
        return copy

    def link_copy(
        self, copy: Computation, twins: Mapping[Instruction, Instruction], functions: Mapping[Computation, Computation]
    ) -> None:
        """Gives a copy the calls between the copies of the computations."""
        copy.owner = None if self.owner is None else twins.get(self.owner)
        for caller in self._callers:
            copy.add_caller(twins[caller])
        for item in self.order.items:
            if item.called:
                twins[item].called = tuple(functions[callee] for callee in item.called)

    # Text

    def drop_execution_thread(self) -> None:
        """Moves the computation to the main thread: removes `execution_thread="..."` after its last brace."""
        frame, text = self.written.frame, self.source.text
        if "execution_thread" in text[frame.tail : frame.end]:
            # Copies of the computation share the text.
            self.written = shallow_copy(self.written)
            self.written.frame = replace(frame, end=text.index("}", frame.tail) + 1)

    def marks_root(self, item: Instruction) -> bool:
        """Is true where `ROOT` is before an instruction when it is printed."""
        return item is self.root and (self.root_is_marked or self._moved_root() is item)

    def _moved_root(self) -> Instruction | None:
        """Returns the root where no mark was read and it no longer is the last; bare lines return nothing."""
        return self.root if self.name and not self.root_is_marked and self.order.last is not self.root else None

    def text(self) -> str:
        """Prints the computation, with the white space and comments before it."""
        frame, text = self.written.frame, self.source.text
        if not self.edits.any and self.owner is None:
            return text[frame.begin : frame.end]
        body = format_body(self.order.items, self.written, self.edits, self._moved_root())
        before_end = text_before(None, self.written, self.edits)
        return "".join([text[frame.begin : frame.head], self._header(), body, before_end, text[frame.tail : frame.end]])

    def _header(self) -> str:
        frame = self.written.frame
        name = with_sigil(self.sigil, self.name)
        if self.owner is not None:
            return f"\n\n{name} {{"
        if not self.edits.header or frame.head == frame.body:
            return self.source.text[frame.head : frame.body]
        names, shapes = tuple(each.name for each in self.parameters), tuple(each.shape for each in self.parameters)
        return format_header(self.source, frame, name, Signature(names, shapes, self.root.shape))


def origin_of(like: Instruction | None) -> Origin | Location | None:
    """Returns where diagnostics place what is made like an instruction."""
    if like is None:
        return None
    if like.origin is None and like.number >= 0:
        # One for all that are made like it.
        like.origin = Origin(like.computation.written, like.number)
    return like.origin


def as_computation(function: object) -> Computation:
    """Returns a function that is a computation of this package; raises TypeError for others."""
    if not isinstance(function, Computation):
        raise TypeError(f"expected an HLO computation, found {type(function).__name__}")
    return function
