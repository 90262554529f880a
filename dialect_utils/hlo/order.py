"""Keeps items in order: O(1) to insert, to remove and to tell which of two comes first.

The items as they were read are a list that never changes; only what edits did to it is kept
beside it, so that an order costs nothing until the first edit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, Protocol, TypeVar

# Numbers as read have wide gaps. Items inserted one after another use up a small part of one.
_GAP = 1 << 40
_STEP = 1 << 20


class Positioned(Protocol):
    """An item that knows its position in the list that was read; -1 where it is new."""

    position: int


Item = TypeVar("Item", bound=Positioned)


class Order(Generic[Item]):
    """A sequence of distinct items, each of which compares as the same object only."""

    __slots__ = ("_next", "_numbers", "_previous", "_read", "_removed", "_snapshot")

    def __init__(self, read: list[Item]) -> None:
        self._read = read
        # What edits changed: neighbours (None for both ends), and numbers.
        self._next: dict[Item | None, Item | None] = {}
        self._previous: dict[Item | None, Item | None] = {}
        self._numbers: dict[Item, int] = {}
        self._removed: set[Item] = set()
        self._snapshot: list[Item] | None = read

    def __iter__(self) -> Iterator[Item]:
        return iter(self.items)

    @property
    def items(self) -> Sequence[Item]:
        """Returns all items in order; a later edit leaves the list that was returned as it is."""
        if self._snapshot is None:
            self._snapshot = list(self._walk())
        return self._snapshot

    def _walk(self) -> Iterator[Item]:
        read, changed = self._read, self._next
        count = len(read)
        item = self.after(None)
        while item is not None:
            yield item
            if item in changed:
                item = changed[item]
            else:
                position = item.position + 1
                item = read[position] if position < count else None

    def __contains__(self, item: object) -> bool:
        position: int = getattr(item, "position", -1)
        if position < 0:
            return item in self._numbers
        read = self._read
        return position < len(read) and read[position] is item and item not in self._removed

    @property
    def last(self) -> Item | None:
        """Returns the last item, or None where there is none."""
        return self.before(None)

    def before(self, item: Item | None) -> Item | None:
        """Returns the item before one; the last for None."""
        if item in self._previous:
            return self._previous[item]
        position = len(self._read) if item is None else item.position
        return self._read[position - 1] if position else None

    def after(self, item: Item | None) -> Item | None:
        """Returns the item after one; the first for None."""
        if item in self._next:
            return self._next[item]
        position = 0 if item is None else item.position + 1
        return self._read[position] if position < len(self._read) else None

    def precedes(self, first: Item, second: Item) -> bool:
        """Is true where `first` comes before `second`."""
        return self._number(first) < self._number(second)

    def _number(self, item: Item) -> int:
        number = self._numbers.get(item)
        return item.position * _GAP if number is None else number

    def insert_after(self, place: Item | None, item: Item) -> None:
        """Puts a new item after another one, or first for None."""
        following = self.after(place)
        number = self._between(place, following)
        if number is None:
            self._make_room(place)
            number = self._between(place, following)
            assert number is not None  # there is room now
        item.position = -1
        self._numbers[item] = number
        self._link(place, item)
        self._link(item, following)
        self._snapshot = None

    def remove(self, item: Item) -> None:
        """Takes an item out."""
        self._link(self.before(item), self.after(item))
        self._numbers.pop(item, None)
        self._removed.add(item)
        self._snapshot = None

    def _link(self, first: Item | None, second: Item | None) -> None:
        self._next[first] = second
        self._previous[second] = first

    def _between(self, place: Item | None, following: Item | None) -> int | None:
        """Returns a number between those of two neighbours, or None where no gap is left."""
        if place is None:
            return 0 if following is None else self._number(following) - _GAP
        low = self._number(place)
        room = _GAP if following is None else self._number(following) - low
        if room <= 1:
            return None
        # Near the neighbour that is new: whoever inserts at one place again, before or after the last, has room left.
        if place.position < 0:
            return low + min(_STEP, room // 2)
        is_new = following is not None and following.position < 0
        return low + (max(room - _STEP, room // 2) if is_new else room // 2)

    def _make_room(self, place: Item | None) -> None:
        """Deals numbers after `place` anew, to as few items as have sparse enough ones (Dietz and Sleator, 1987)."""
        assert place is not None  # before the first item there is always room
        low = self._number(place)
        dealt: list[Item] = []
        item = self.after(place)
        while item is not None and self._number(item) - low <= (len(dealt) + 1) ** 2:
            dealt.append(item)
            item = self.after(item)
        room = _GAP * (len(dealt) + 1) if item is None else self._number(item) - low
        for index, each in enumerate(dealt, 1):
            self._numbers[each] = low + room * index // (len(dealt) + 1)
