"""An HLO computation: instructions in order, one of them the root.

Longer than most files: one edit changes users, order, names, control predecessors and the printed text together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy as shallow_copy
from dataclasses import replace
from typing import TYPE_CHECKING

from dialect_utils.hlo.graph import CONTROL, Order, Uses
from dialect_utils.hlo.instruction import Instruction, as_instruction
from dialect_utils.hlo.text.attributes import names_in, with_attribute
from dialect_utils.hlo.text.header import Signature
from dialect_utils.hlo.text.printing import format_body, format_header, text_before, with_sigil
from dialect_utils.hlo.text.provenance import BodyText, Edits, Origin
from dialect_utils.ir import Function, Value
from dialect_utils.ir.assignments import Guarded, assign
from dialect_utils.layout import Shape
from dialect_utils.ops import CALLING_OPCODES, Trait, has
from dialect_utils.text import DiagnosticError, Location, Source, meant

if TYPE_CHECKING:
    from dialect_utils.hlo.module import HloModule

# The execution thread of a computation that names none.
MAIN_THREAD = "main"


class Computation(Function):
    """A computation of a module; equal and hashed by identity.

    `written` locates the computation in the text that was read, and `edits` says which parts of that text are outdated.
    Only methods change the fields.
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

    name: str
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
        # Parameters for the values that bare instruction lines use and do not define.
        self.outside: list[Instruction] = []
        self.by_name: dict[str, Instruction] = {}
        self.parameters: Sequence[Instruction] = ()
        self.root_is_marked = False
        self._callers: dict[Instruction, None] = {}
        # The control predecessors of instructions.
        self.control: dict[Instruction, list[Instruction]] = {}
        self._uses: Uses[Instruction] | None = None
        self._by_number: dict[int, Instruction] | None = None
        # The first and last of the parameters that `last_parameter_in_row` found; None after an edit of them.
        self._row: tuple[Instruction, Instruction] | None = None
        # From here on assignments are edits, as in an instruction.
        self.__class__ = _Guarded

    def fill(self, items: list[Instruction], parameters: Sequence[Instruction], root: Instruction | None) -> None:
        """Sets the instructions, once, after reading; without a ROOT mark the last is the root."""
        self.order = Order(items)
        assign(self, "parameters", tuple(parameters))
        assign(self, "root", items[-1] if root is None else root)
        assign(self, "root_is_marked", root is not None)

    def __repr__(self) -> str:
        return f"<Computation %{self.name}>"

    # Queries

    @property
    def source(self) -> Source:
        """Returns the text it was read from."""
        return self.written.source

    @property
    def is_inline(self) -> bool:
        """Is true where it is printed as the value of an attribute of its caller, as in `to_apply={...}`.

        After an edit of the computation or the caller, it is printed before the computation that contained it.
        """
        return self.owner is not None and not self.owner.computation.is_edited(self.owner)

    @property
    def outermost(self) -> Computation:
        return self

    @property
    def is_entry(self) -> bool:
        return self.module.try_entry() is self

    @property
    def is_embedded(self) -> bool:
        return any(has(caller.opcode, Trait.APPLIES) for caller in self._callers)

    @property
    def instructions(self) -> Sequence[Instruction]:
        """Returns a snapshot of all instructions in order, parameters included."""
        return self.order.items

    @property
    def operations(self) -> Sequence[Instruction]:
        return [item for item in self.order.items if item.opcode != "parameter"]

    def values(self) -> Sequence[Instruction]:
        return [*self.parameters, *self.operations]

    @property
    def results(self) -> Sequence[Instruction]:
        return (self.root,)

    @property
    def callers(self) -> Sequence[Instruction]:
        return tuple(self._callers)

    @property
    def uses(self) -> Uses[Instruction]:
        """Returns the users of every instruction, which are collected on first use."""
        if self._uses is None:
            self._uses = Uses(self.order.items)
        return self._uses

    @property
    def location(self) -> Location | None:
        """Returns the location of the name in the text that was read."""
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
        """Is true for an instruction that is printed from the graph and not copied from the text."""
        return item.number < 0 or item in self.edits.instructions

    def mark_edited(self, *items: Instruction) -> None:
        """Marks instructions as changed since they were read; without arguments, another part of the computation."""
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
        """Marks instructions and all that share their text, so that those in operands get lines of their own."""
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
        """Makes another instruction the root; the signature and, for the entry, the entry layout follow."""
        root, old = as_instruction(value), self.root
        if root is old:
            return
        if root.computation is not self:
            raise ValueError(f"%{root.name} is not in %{self.name}")
        assign(self, "root", root)
        assign(self, "root_is_marked", True)
        self.edits.header = True
        self.mark_edited(old, root)
        if self.is_entry:
            self.module.header.result_changed(old.shape, root.shape)

    def set_results(self, values: Sequence[Value]) -> None:
        """Makes another value the result; raises ValueError for any number of values but one."""
        if len(values) != 1:
            raise ValueError(f"an HLO computation returns one value, not {len(values)}")
        self.set_root(values[0])

    def rename(self, name: str) -> None:
        """Changes the name, in the callers too; raises ValueError where another computation has the name."""
        if name == self.name:
            return
        self.module.rename_computation(self, name)
        assign(self, "name", name)
        self.edits.header = True
        self.mark_edited()

    def insert(
        self,
        anchor: Instruction | None,
        name: str,
        shape: Shape,
        opcode: str,
        operands: Sequence[Instruction] = (),
        *,
        inner: str = "",
        attributes: Mapping[str, str] | None = None,
        like: Instruction | None = None,
    ) -> Instruction:
        """Makes an instruction after `anchor` (None: first) under a fresh name like `name`.

        `inner` is the text between the parentheses of an instruction without operands, as in `constant(1)`.
        Diagnostics locate the new instruction at `like`. Raises ValueError where an operand is not defined before it.
        """
        self._check_insertion(anchor, operands, opcode)
        attributes = dict(attributes or {})
        tail = "".join([f", {key}={value}" for key, value in attributes.items()])
        name = self.module.fresh_name(name)
        made = Instruction(
            self, name, shape, opcode, tuple(operands), inner, tail, origin=origin_of(like), attributes=attributes
        )
        self._link_run(anchor, (made,))
        self.link(made)
        self.mark_edited()
        return made

    def insert_run(self, anchor: Instruction | None, made: Sequence[Instruction], outer: Sequence[Instruction]) -> None:
        """Adds new instructions, in their order, after `anchor` (None: first); `link` has to follow where one calls.

        Their operands are `outer` and earlier ones of the run. Raises ValueError where one of `outer` is not defined
        before the run.
        """
        self._check_insertion(anchor, outer, made[0].opcode)
        self._link_run(anchor, made)
        self.mark_edited()

    def _check_insertion(self, anchor: Instruction | None, operands: Sequence[Instruction], opcode: str) -> None:
        """Raises ValueError where a new instruction after `anchor` would use an operand that comes later."""
        order = self.order
        if anchor is not None and anchor not in order:
            raise ValueError(f"%{anchor.name} is no longer in %{self.name}")
        for operand in operands:
            if operand is not anchor and (operand not in order or anchor is None or order.precedes(anchor, operand)):
                raise ValueError(f"%{operand.name} is not defined before the new {opcode}")

    def _link_run(self, anchor: Instruction | None, made: Sequence[Instruction]) -> None:
        """Adds new instructions to the users, the order and the names."""
        uses, by_name = self.uses, self.by_name
        if self._row is not None and anchor is not None and anchor.opcode == "parameter" and anchor is not self._row[1]:
            self._row = None
        self.order.insert_after(anchor, *made)
        for item in made:
            uses.add(item, item.operands)
            by_name[item.name] = item

    def link(self, item: Instruction) -> None:
        """Links the computations that a new instruction calls, and its control predecessors."""
        text = item.attribute_text
        if "%" in text or item.opcode in CALLING_OPCODES:
            self.module.link_calls(item)
        if CONTROL in text:
            self.link_control(item)

    def remove(self, item: Instruction) -> None:
        """Removes an unused instruction; a comment before it stays."""
        self.uses.drop(item, item.operands)
        if self.written.has_comments:
            lead, following = text_before(item, self.written, self.edits), self.order.after(item)
            if "/" in lead:
                # A `//` comment keeps its line break.
                kept = lead.rstrip(" \t") if "//" in lead else lead.rstrip()
                self.edits.leads[following] = kept + text_before(following, self.written, self.edits)
        if item.opcode == "parameter":
            self._row = None
        self.order.remove(item)
        self.edits.leads.pop(item, None)
        del self.by_name[item.name]
        for callee in item.called:
            callee.remove_caller(item)
        inherited = self.control.pop(item, ())
        for user, found in self.controlled_by(item):
            kept_predecessors = [p for p in found if p is not item]
            self._write_control(user, kept_predecessors + [p for p in inherited if p not in kept_predecessors])
        self.mark_edited(item)

    def add_parameter(self, name: str, shape: Shape) -> Instruction:
        """Makes one more parameter under a fresh name like `name`; raises ValueError if the computation has callers."""
        if self._callers:
            raise ValueError(f"%{self.name} is called without a value for one more parameter")
        number = len(self.parameters)
        made = self.insert(self.parameters[-1] if number else None, name, shape, "parameter", inner=str(number))
        assign(self, "parameters", (*self.parameters, made))
        self._row = None
        self.edits.header = True
        return made

    def drop_parameter(self, parameter: Value) -> None:
        parameter = as_instruction(parameter)
        if parameter.users or self._callers or parameter is self.root:
            raise ValueError(f"%{parameter.name} is still used, or given a value")
        self.remove(parameter)
        self._number([each for each in self.parameters if each is not parameter])

    def set_parameters(self, order: Sequence[int | Shape]) -> None:
        own = self.parameters
        self._number([own[each] if isinstance(each, int) else self.add_parameter("unused", each) for each in order])

    def _number(self, parameters: Sequence[Instruction]) -> None:
        assign(self, "parameters", tuple(parameters))
        for number, each in enumerate(self.parameters):
            assign(each, "contents", str(number))
            self.mark_edited(each)
        self.edits.header = True

    def last_parameter_in_row(self, parameter: Instruction) -> Instruction:
        """Returns the last of the consecutive parameters from `parameter` on."""
        precedes = self.order.precedes
        if self._row is None or precedes(parameter, self._row[0]) or precedes(self._row[1], parameter):
            last, following = parameter, self.order.after(parameter)
            while following is not None and following.opcode == "parameter":
                last, following = following, self.order.after(following)
            self._row = (parameter, last)
        return self._row[1]

    def add_caller(self, caller: Instruction) -> None:
        """Records that an instruction calls it."""
        self._callers[caller] = None

    def remove_caller(self, caller: Instruction) -> None:
        """Records that an instruction no longer calls it."""
        self._callers.pop(caller, None)

    # Effects of an edit

    def checked_name(self, name: str) -> str:
        """Returns a name for an instruction; raises ValueError where another one has it."""
        if name in self.by_name:
            raise ValueError(f"%{self.name} already has an instruction %{name}")
        return name

    def name_changed(self, item: Instruction, old: str) -> None:
        """Updates everything that names a renamed instruction."""
        self.by_name[item.name] = self.by_name.pop(old)
        self.module.note_name(item.name)
        if item.opcode == "parameter":
            self.edits.header = True
        for user, found in self.controlled_by(item):
            self._write_control(user, found)
        self.mark_edited(item, *self.uses.of(item))

    def shape_changed(self, item: Instruction, old: Shape) -> None:
        """Updates everything that writes the shape of an instruction."""
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
        """Resolves an instruction's control predecessors by name; raises DiagnosticError for an unknown one."""
        text = item.attribute(CONTROL)
        if text is not None:
            self.control[item] = [self._predecessor(item, name) for name in names_in(text)]
        else:
            self.control.pop(item, None)

    def controlled_by(self, item: Instruction) -> list[tuple[Instruction, list[Instruction]]]:
        """Returns the instructions with `item` as a control predecessor, each with all of its control predecessors."""
        return [(user, found) for user, found in self.control.items() if item in found]

    def _predecessor(self, item: Instruction, name: str) -> Instruction:
        found = self.find(name)
        if found is not None:
            return found
        hint = meant(name, self.by_name, sign="%")
        message = f"unknown control predecessor %{name} of %{item.name}"
        raise DiagnosticError(message, item.locate_name(CONTROL, name), hint=hint)

    def inherit_control(self, item: Instruction, original: Instruction) -> None:
        """Gives `item` those control predecessors of another instruction that come before `item`."""
        found = [p for p in self.control.get(original, ()) if p in self.order and self.order.precedes(p, item)]
        if found:
            self._write_control(item, found)

    def redirect_control(self, old: Instruction, new: Instruction, keep: set[int]) -> None:
        """Replaces the control predecessor `old` by `new` in the instructions that come after `new`."""
        for user, found in self.controlled_by(old):
            if id(user) not in keep and self.order.precedes(new, user):
                self._write_control(user, [new if p is old else p for p in found])

    def _write_control(self, item: Instruction, found: list[Instruction]) -> None:
        self.control[item] = found
        attributes = dict(item.attributes)
        if found:
            names = ", ".join(with_sigil(item.sigil, p.name) for p in found)
            attributes = with_attribute(attributes, CONTROL, f"{{{names}}}")
        else:
            del attributes[CONTROL]
        item.set_attributes(attributes)

    # Copies

    def copied(self, module: HloModule, copies: dict[Instruction, Instruction]) -> Computation:
        """Returns a copy for a copy of the module; `copies` gets the copy of every instruction.

        `link_copy` links the calls when all computations are copied.
        """
        copy = Computation(module, self.name, self.sigil, self.written, is_entry=self.is_marked_entry)
        for position, item in enumerate([*self.outside, *self.order.items], -len(self.outside)):
            operands = tuple([copies[operand] for operand in item.operands])
            made = Instruction(
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
            if made.position != max(position, -1):
                assign(made, "position", max(position, -1))
            copies[item] = made
        marked = copies[self.root] if self.root_is_marked else None
        copy.fill([copies[item] for item in self.order.items], [copies[item] for item in self.parameters], marked)
        assign(copy, "root", copies[self.root])
        assign(copy, "outside", [copies[item] for item in self.outside])
        assign(copy, "by_name", {name: copies[item] for name, item in self.by_name.items()})
        assign(copy, "edits", self.edits.copied(copies))
        edges = {copies[item]: [copies[p] for p in found] for item, found in self.control.items()}
        assign(copy, "control", edges)
        return copy

    def link_copy(
        self, copy: Computation, copies: Mapping[Instruction, Instruction], functions: Mapping[Computation, Computation]
    ) -> None:
        """Links the calls of a copy to the copies of the called computations."""
        assign(copy, "owner", None if self.owner is None else copies.get(self.owner))
        for caller in self._callers:
            copy.add_caller(copies[caller])
        for item in self.order.items:
            if item.called:
                assign(copies[item], "called", tuple(functions[callee] for callee in item.called))

    # Text

    def drop_execution_thread(self) -> None:
        """Moves the computation to the main thread: removes `execution_thread="..."` after its last brace."""
        frame, text = self.written.frame, self.source.text
        if "execution_thread" in text[frame.tail : frame.end]:
            # Copies of the computation share the text.
            assign(self, "written", shallow_copy(self.written))
            self.written.frame = replace(frame, end=text.index("}", frame.tail) + 1)

    def marks_root(self, item: Instruction) -> bool:
        """Is true where an instruction is printed with `ROOT`."""
        return item is self.root and (self.root_is_marked or self._moved_root() is item)

    def _moved_root(self) -> Instruction | None:
        """Returns an unmarked root that is no longer the last instruction, or None; bare lines have no root."""
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


class _Guarded(Guarded, Computation):
    """A computation whose attributes are all assigned."""

    __slots__ = ()


def origin_of(like: Instruction | None) -> Origin | Location | None:
    """Returns the location in diagnostics of an instruction that is made like another."""
    if like is None:
        return None
    if like.origin is None and like.number >= 0:
        # One object for all instructions that are made like it.
        assign(like, "origin", Origin(like.computation.written, like.number))
    return like.origin


def as_computation(function: object) -> Computation:
    """Returns a function that is a computation of this package; raises TypeError for other objects."""
    if not isinstance(function, Computation):
        raise TypeError(f"expected an HLO computation, found {type(function).__name__}")
    return function
