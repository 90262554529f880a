"""Keeps who uses a value: made in one walk when it is first asked for, then kept up to date."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic, Protocol, TypeVar


class User(Protocol):
    """An item that has operands of its own kind."""

    @property
    def operands(self) -> Sequence[Any]:
        """Returns the operands in order."""


Item = TypeVar("Item", bound=User)


class Uses(Generic[Item]):
    """The users of each item, each once, in the order in which they came to use it."""

    __slots__ = ("_users",)

    def __init__(self, items: Iterable[Item]) -> None:
        self._users: dict[Item, list[Item]] = {}
        for item in items:
            for operand in item.operands:
                users = self._users.setdefault(operand, [])
                # An item that uses a value twice is one user.
                if not users or users[-1] is not item:
                    users.append(item)

    def of(self, item: Item) -> tuple[Item, ...]:
        """Returns the users of an item."""
        return tuple(self._users.get(item, ()))

    def add(self, user: Item, operands: Iterable[Item]) -> None:
        """Notes that `user` uses operands that it did not use before."""
        for operand in dict.fromkeys(operands):
            self._users.setdefault(operand, []).append(user)

    def drop_all(self, item: Item, users: Sequence[Item]) -> None:
        """Notes that some users of an item no longer use it."""
        if users:
            gone = set(map(id, users))
            self._users[item] = [user for user in self._users[item] if id(user) not in gone]

    def drop(self, user: Item, operands: Iterable[Item]) -> None:
        """Notes that `user` no longer uses operands."""
        for operand in dict.fromkeys(operands):
            self._users[operand].remove(user)
