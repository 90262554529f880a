"""Keeps `control-predecessors`: what has to run before an instruction without being an operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialect_utils.hlo.attributes import with_attribute
from dialect_utils.hlo.calls import names_in
from dialect_utils.hlo.spelling import with_sigil
from dialect_utils.text import Diagnostic, DiagnosticError, nearest

if TYPE_CHECKING:
    from dialect_utils.hlo.computation import Computation
    from dialect_utils.hlo.instruction import Instruction

CONTROL = "control-predecessors"


class ControlEdges:
    """Holds the control predecessors of one computation's instructions; their attributes follow."""

    def __init__(self, computation: Computation) -> None:
        self._computation = computation
        self._predecessors: dict[Instruction, list[Instruction]] = {}

    def of(self, item: Instruction) -> Sequence[Instruction]:
        """Returns the control predecessors of an instruction."""
        return tuple(self._predecessors.get(item, ()))

    def link(self, item: Instruction) -> None:
        """Looks up the names in an instruction's attribute; raises DiagnosticError for an unknown one."""
        text = item.attribute(CONTROL)
        if text is None:
            self._predecessors.pop(item, None)
        else:
            self._predecessors[item] = [self._find(item, name) for name in names_in(text)]

    def _find(self, item: Instruction, name: str) -> Instruction:
        found = self._computation.find(name)
        if found is not None:
            return found
        known = nearest(name, (other.name for other in self._computation.instructions))
        hint = f"did you mean %{known}?" if known else None
        message = f"unknown control predecessor %{name} of %{item.name}"
        raise DiagnosticError(Diagnostic(message, item.locate_name(CONTROL, name), hint=hint))

    def inherit(self, item: Instruction, original: Instruction) -> None:
        """Lets `item` run behind the predecessors of another instruction, as far as they stand in front of it."""
        order = self._computation._order()
        found = [p for p in self.of(original) if p in order and order.precedes(p, item)]
        if found:
            self._write(item, found)

    def renamed(self, item: Instruction) -> None:
        """Writes the attributes that name an instruction anew."""
        for user, found in self._users(item):
            self._write(user, found)

    def redirect(self, old: Instruction, new: Instruction, keep: set[int]) -> None:
        """Lets what has to run behind `old` run behind `new`, where that stands in front of it."""
        for user, found in self._users(old):
            if id(user) not in keep and self._computation._order().precedes(new, user):
                self._write(user, [new if p is old else p for p in found])

    def drop(self, item: Instruction) -> None:
        """Takes an instruction out; its own predecessors take its place."""
        inherited = self._predecessors.pop(item, [])
        for user, found in self._users(item):
            kept = [p for p in found if p is not item]
            self._write(user, kept + [p for p in inherited if p not in kept])

    def copy_to(self, other: ControlEdges, items: dict[Instruction, Instruction]) -> None:
        """Gives the same edges to a copy of the computation; `items` maps to the copied instructions."""
        for item, found in self._predecessors.items():
            other._predecessors[items[item]] = [items[p] for p in found]

    def _users(self, item: Instruction) -> list[tuple[Instruction, list[Instruction]]]:
        return [(user, found) for user, found in self._predecessors.items() if item in found]

    def _write(self, item: Instruction, found: list[Instruction]) -> None:
        attributes = dict(item.attributes)
        if found:
            self._predecessors[item] = found
            names = ", ".join(with_sigil(item._sigil, p.name) for p in found)
            attributes = with_attribute(attributes, CONTROL, f"{{{names}}}")
        else:
            del self._predecessors[item]
            del attributes[CONTROL]
        item._set_attributes(attributes)
