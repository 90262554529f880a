"""Terms in classes, closed under operations: a small union-find with congruence that tests build on."""

from __future__ import annotations

from collections.abc import Hashable

from dialect_utils.verdict.proof.terms import Term


class Closure:
    """Classes of equal terms: operations on equal operands are equal."""

    def __init__(self) -> None:
        self._parent: dict[Term, Term] = {}
        self._users: dict[Term, list[Term]] = {}
        self._known: dict[tuple[Hashable, ...], Term] = {}
        self._pending: list[tuple[Term, Term]] = []

    def add(self, term: Term) -> None:
        """Adds a term and all terms in it."""
        pending = [term]
        while pending:
            part = pending[-1]
            missing = [operand for operand in part.operands if operand not in self._parent]
            if part in self._parent or not missing:
                pending.pop()
            pending += missing if part not in self._parent else []
            if part not in self._parent and not missing:
                self._parent[part], self._users[part] = part, []
                for operand in part.operands:
                    self._users[self.find(operand)].append(part)
                self._enter(part)
        self._close()

    def find(self, term: Term) -> Term:
        """Returns the representative of a term's class."""
        while self._parent[term] is not term:
            self._parent[term] = self._parent[self._parent[term]]
            term = self._parent[term]
        return term

    def merge(self, first: Term, second: Term) -> None:
        """Makes two terms equal, and all that follows from it."""
        self.add(first)
        self.add(second)
        self._pending.append((first, second))
        self._close()

    def same(self, first: Term, second: Term) -> bool:
        """Is true where two terms are equal."""
        self.add(first)
        self.add(second)
        return self.find(first) is self.find(second)

    def _enter(self, term: Term) -> None:
        key = (term.kind, term.label, term.shape, *map(self.find, term.operands))
        other = self._known.setdefault(key, term)
        if other is not term:
            self._pending.append((other, term))

    def _close(self) -> None:
        while self._pending:
            first, second = map(self.find, self._pending.pop())
            if first is second:
                continue
            self._parent[first] = second
            moved = self._users.pop(first)
            self._users[second] += moved
            for user in moved:
                self._enter(user)
