"""Keeps the order and the users of instructions, and the names of a module."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar

from dialect_utils.ir.assignments import assign

# The attribute that names instructions that run before an instruction, although they are no operands of it.
CONTROL = "control-predecessors"
# Items that were read are numbered in steps of _GAP; items inserted one after another, in steps of _STEP.
_GAP = 1 << 40
_STEP = 1 << 20
_LEGAL = re.compile(r"[A-Za-z_][\w.\-]*", re.ASCII)
_ILLEGAL = re.compile(r"[^\w.\-]", re.ASCII)


class Positioned(Protocol):
    """An item with its position in the list that was read, or -1 for a new item."""

    position: int


class User(Protocol):
    """An item that has operands of its own kind."""

    @property
    def operands(self) -> Sequence[Any]:
        """Returns the operands in order."""


Ordered = TypeVar("Ordered", bound=Positioned)
Using = TypeVar("Using", bound=User)


class Order(Generic[Ordered]):
    """A sequence of items that are compared by identity; insertions, removals and comparisons of positions take O(1).

    The list of items that were read never changes. Edits are stored beside it, so an unedited order costs nothing.
    """

    __slots__ = ("_next", "_numbers", "_previous", "_read", "_removed", "_snapshot")

    def __init__(self, read: list[Ordered]) -> None:
        self._read = read
        # Neighbours and numbers that edits changed; the key None stands for both ends.
        self._next: dict[Ordered | None, Ordered | None] = {}
        self._previous: dict[Ordered | None, Ordered | None] = {}
        self._numbers: dict[Ordered, int] = {}
        self._removed: set[Ordered] = set()
        self._snapshot: list[Ordered] | None = read

    def __iter__(self) -> Iterator[Ordered]:
        return iter(self.items)

    @property
    def items(self) -> Sequence[Ordered]:
        """Returns all items in order; later edits do not change the returned list."""
        if self._snapshot is None:
            self._snapshot = list(self._walk())
        return self._snapshot

    def _walk(self) -> Iterator[Ordered]:
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
    def last(self) -> Ordered | None:
        """Returns the last item, or None for an empty order."""
        return self.before(None)

    def before(self, item: Ordered | None) -> Ordered | None:
        """Returns the item before an item; for None the last item."""
        if item in self._previous:
            return self._previous[item]
        position = len(self._read) if item is None else item.position
        return self._read[position - 1] if position else None

    def after(self, item: Ordered | None) -> Ordered | None:
        """Returns the item after an item; for None the first item."""
        if item in self._next:
            return self._next[item]
        position = 0 if item is None else item.position + 1
        return self._read[position] if position < len(self._read) else None

    def precedes(self, first: Ordered, second: Ordered) -> bool:
        """Is true where `first` comes before `second`."""
        return self._number(first) < self._number(second)

    def _number(self, item: Ordered) -> int:
        number = self._numbers.get(item)
        return item.position * _GAP if number is None else number

    def insert_after(self, anchor: Ordered | None, *items: Ordered) -> None:
        """Inserts new items one after another after an item, or first for None."""
        following = self.after(anchor)
        for item in items:
            number = self._between(anchor, following)
            if number is None:
                # An item of this run may not be linked to the next one yet.
                self._link(anchor, following)
                self._make_room(anchor)
                number = self._between(anchor, following)
                assert number is not None  # _make_room made a gap
            assign(item, "position", -1)
            self._numbers[item] = number
            self._link(anchor, item)
            anchor = item
        self._link(anchor, following)
        self._snapshot = None

    def remove(self, item: Ordered) -> None:
        """Removes an item."""
        self._link(self.before(item), self.after(item))
        self._numbers.pop(item, None)
        self._removed.add(item)
        self._snapshot = None

    def _link(self, first: Ordered | None, second: Ordered | None) -> None:
        self._next[first] = second
        self._previous[second] = first

    def _between(self, anchor: Ordered | None, following: Ordered | None) -> int | None:
        """Returns a number between the numbers of two neighbours, or None where no gap is left."""
        if anchor is None:
            return 0 if following is None else self._number(following) - _GAP
        low = self._number(anchor)
        room = _GAP if following is None else self._number(following) - low
        if room <= 1:
            return None
        # The number is close to a neighbour that is new, so that repeated insertions beside the last item find room.
        if anchor.position < 0:
            return low + min(_STEP, room // 2)
        is_new = following is not None and following.position < 0
        return low + (max(room - _STEP, room // 2) if is_new else room // 2)

    def _make_room(self, anchor: Ordered | None) -> None:
        """Renumbers items after `anchor`, as few as leave gaps that are wide enough (Dietz and Sleator, 1987)."""
        assert anchor is not None  # before the first item there is always room
        low = self._number(anchor)
        dealt: list[Ordered] = []
        item = self.after(anchor)
        while item is not None and self._number(item) - low <= (len(dealt) + 1) ** 2:
            dealt.append(item)
            item = self.after(item)
        room = _GAP * (len(dealt) + 1) if item is None else self._number(item) - low
        for index, each in enumerate(dealt, 1):
            self._numbers[each] = low + room * index // (len(dealt) + 1)


class Uses(Generic[Using]):
    """The users of each item: each user once, the earliest first."""

    __slots__ = ("_users",)

    def __init__(self, items: Iterable[Using]) -> None:
        self._users: dict[Using, list[Using]] = {}
        for item in items:
            for operand in item.operands:
                users = self._users.setdefault(operand, [])
                # An item that uses a value twice is one user.
                if not users or users[-1] is not item:
                    users.append(item)

    def of(self, item: Using) -> tuple[Using, ...]:
        """Returns the users of an item."""
        return tuple(self._users.get(item, ()))

    def add(self, user: Using, operands: Sequence[Using]) -> None:
        """Records that `user` uses operands that it did not use before."""
        users = self._users
        for operand in operands if len(operands) == 1 else dict.fromkeys(operands):
            if operand in users:
                users[operand].append(user)
            else:
                users[operand] = [user]

    def drop_all(self, item: Using, users: Sequence[Using]) -> None:
        """Removes instructions from the users of an item."""
        if users:
            gone = set(map(id, users))
            self._users[item] = [user for user in self._users[item] if id(user) not in gone]

    def drop(self, user: Using, operands: Iterable[Using]) -> None:
        """Records that `user` no longer uses operands."""
        for operand in dict.fromkeys(operands):
            self._users[operand].remove(user)


class NameTable:
    """All names that a module ever used: a new instruction never gets the name of an erased one."""

    def __init__(self, names: Iterable[str]) -> None:
        self._used = set(names)
        self._counters: dict[str, int] = {}

    def add(self, name: str) -> None:
        """Records a name as used."""
        self._used.add(name)

    def fresh(self, base: str) -> str:
        """Returns `base`, or `base.1`, `base.2`, ... where it is used, and notes the result as used.

        A character that XLA's names cannot contain becomes `_`. A number at the end of a used `base` is replaced:
        `x.3` gives `x.1`.
        """
        name = base if _LEGAL.fullmatch(base) else self._legal(base)
        if name in self._used:
            stem, dot, number = name.rpartition(".")
            if not (dot and number.isascii() and number.isdigit()):
                stem = name
            count = self._counters.get(stem, 0) + 1
            while f"{stem}.{count}" in self._used:
                count += 1
            self._counters[stem] = count
            name = f"{stem}.{count}"
        self._used.add(name)
        return name

    @staticmethod
    def _legal(base: str) -> str:
        name = _ILLEGAL.sub("_", base)
        return name if name[:1].isalpha() or name[:1] == "_" else f"_{name}"
