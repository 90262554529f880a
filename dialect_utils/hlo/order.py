"""Keeps items in order: O(1) to insert, to remove and to tell which of two stands first.

A doubly linked list whose nodes carry ascending numbers. Numbers are dealt with gaps; where a
gap is used up, all are dealt anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

_GAP = 1 << 20

Item = TypeVar("Item")


@dataclass(slots=True, eq=False)
class _Node(Generic[Item]):
    item: Item | None
    number: int
    previous: _Node[Item]
    next: _Node[Item]

    def __init__(self, item: Item | None, number: int) -> None:
        self.item = item
        self.number = number
        self.previous = self
        self.next = self


class OrderedItems(Generic[Item]):
    """Is a sequence of distinct hashable items."""

    def __init__(self, items: Iterable[Item]) -> None:
        # The ends meet in one node without an item, number 0.
        self._ends: _Node[Item] = _Node(None, 0)
        self._nodes: dict[Item, _Node[Item]] = {}
        for item in items:
            self.insert_after(None if not self._nodes else self._ends.previous.item, item)

    def __iter__(self) -> Iterator[Item]:
        node = self._ends.next
        while node.item is not None:
            yield node.item
            node = node.next

    def __len__(self) -> int:
        return len(self._nodes)

    def __contains__(self, item: object) -> bool:
        return item in self._nodes

    @property
    def last(self) -> Item | None:
        """Returns the last item, or None where there is none."""
        return self._ends.previous.item

    def before(self, item: Item) -> Item | None:
        """Returns the item in front of one."""
        return self._nodes[item].previous.item

    def after(self, item: Item | None) -> Item | None:
        """Returns the item behind one; the first for None."""
        return (self._ends if item is None else self._nodes[item]).next.item

    def precedes(self, first: Item, second: Item) -> bool:
        """Is true where `first` stands in front of `second`."""
        return self._nodes[first].number < self._nodes[second].number

    def insert_after(self, place: Item | None, item: Item) -> None:
        """Puts an item behind another one, or first for None."""
        previous = self._ends if place is None else self._nodes[place]
        following = previous.next
        node = _Node(item, 0)
        node.previous, node.next = previous, following
        previous.next = following.previous = node
        self._nodes[item] = node
        if following is self._ends:
            node.number = previous.number + _GAP
        elif following.number - previous.number > 1:
            node.number = (previous.number + following.number) // 2
        else:
            self._deal_numbers()

    def remove(self, item: Item) -> None:
        """Takes an item out."""
        node = self._nodes.pop(item)
        node.previous.next, node.next.previous = node.next, node.previous

    def _deal_numbers(self) -> None:
        node, number = self._ends.next, 0
        while node is not self._ends:
            number += _GAP
            node.number, node = number, node.next
