"""Keeps `control-predecessors`: what has to run before an instruction without being an operand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

CONTROL = "control-predecessors"

Item = TypeVar("Item")


class ControlEdges(Generic[Item]):
    """The control predecessors of one computation's instructions; the computation writes the attributes."""

    __slots__ = ("_predecessors",)

    def __init__(self) -> None:
        self._predecessors: dict[Item, list[Item]] = {}

    def of(self, item: Item) -> Sequence[Item]:
        """Returns the control predecessors of an instruction."""
        return tuple(self._predecessors.get(item, ()))

    def set(self, item: Item, predecessors: Sequence[Item]) -> None:
        """Gives an instruction other control predecessors."""
        if predecessors:
            self._predecessors[item] = list(predecessors)
        else:
            self._predecessors.pop(item, None)

    def users(self, item: Item) -> list[tuple[Item, list[Item]]]:
        """Returns the instructions that have to run after one, each with all its predecessors."""
        return [(user, found) for user, found in self._predecessors.items() if item in found]

    def copied(self, twins: dict[Item, Item]) -> ControlEdges[Item]:
        """Returns the same edges between the twins of the instructions."""
        copy: ControlEdges[Item] = ControlEdges()
        for item, found in self._predecessors.items():
            copy.set(twins[item], [twins[p] for p in found])
        return copy
