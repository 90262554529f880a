"""Three equalities of the terms of a replayed proof.

`BITS` is equality of all bits. `NAN` is equality but for the sign and payload of a NaN that arithmetic makes. `ENGINE`
is equality up to what the definition leaves to the engine besides: the order of a sum, the precision of a dot. Each is
coarser than the last. An operation that observes more than an equality keeps (a bitcast-convert observes the bits of a
NaN, a comparison observes the rounding of a sum) has equal results in it only for operands that are equal in a finer
one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from enum import IntEnum

from dialect_utils.layout import Shape
from dialect_utils.layout.proof.deadline import check_deadline
from dialect_utils.verdict.terms.graph import Graph, Symbol
from dialect_utils.verdict.terms.observed import observes_bits, observes_rounding
from dialect_utils.verdict.terms.primitives import Kind


class Level(IntEnum):
    """The three equalities, finest first."""

    BITS = 0
    NAN = 1
    ENGINE = 2


class Equality:
    """Classes of equal nodes, closed under operations: equal operands make equal results.

    `finer` is the equality in which operands that an operation observes are compared; None for equality of bits.
    """

    def __init__(self, graph: Graph, level: Level, finer: Equality | None) -> None:
        self.graph, self.level, self._finer = graph, level, finer
        count = len(graph.ids)
        self._root = list(range(count)) if finer is None else [finer.find(node) for node in range(count)]
        self._users: dict[int, list[int]] = {}
        # At first all nodes differ.
        self._table = {} if finer else graph.by_operands()
        self._observed = self._observing() if finer else [None] * count
        for node in range(count):
            check_deadline()
            for operand in {*map(self.find, graph.operands[node])} if finer else {*graph.operands[node]}:
                self._users.setdefault(operand, []).append(node)
        pairs = map(self._collision, range(count if finer else 0))
        self._pending = [pair for pair in pairs if pair is not None]
        self._close()

    def find(self, node: int) -> int:
        """Returns the representative of a node's class."""
        root = self._root
        while root[node] != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    def same(self, first: int, second: int) -> bool:
        """Is true where two nodes are equal."""
        return self.find(first) == self.find(second)

    def merge(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Makes pairs of nodes equal, and all that follows from it."""
        self._pending += pairs
        self._close()

    def _observing(self) -> list[Equality | None]:
        """Returns for each node the equality in which its operands are compared; None for this one."""
        found: list[Equality | None] = []
        inside: list[Level] = []  # the finest equality that a node, or an operation before it, needs
        for node, (kind, label, shape) in enumerate(self.graph.symbols):
            check_deadline()
            operands = self.graph.operands[node]
            own = self._needed(kind, label, shape, [self.graph.symbols[each][2] for each in operands])
            inside.append(min([own, *(inside[each] for each in operands)]))
            found.append(self.at(min([own, *(inside[each] for each in self._bodies(node))])))
        return found

    def _needed(self, kind: Kind, label: Hashable, shape: Shape, types: Sequence[Shape]) -> Level:
        if self.level > Level.BITS and observes_bits(kind, label, shape, types):
            return Level.BITS
        if self.level > Level.NAN and observes_rounding(kind, label, shape, types):
            return Level.NAN
        return self.level

    def at(self, level: Level) -> Equality | None:
        """Returns a finer equality; None for this one."""
        if level == self.level:
            return None
        assert self._finer is not None  # a finer level exists
        return self._finer if self._finer.level == level else self._finer.at(level)

    def _bodies(self, node: int) -> Sequence[int]:
        """Returns the operands that hold what an operation computes from the others."""
        kind, label, _ = self.graph.symbols[node]
        operands = self.graph.operands[node]
        if kind == "op" and isinstance(label, tuple) and label[0] == "while":
            return operands[label[2][0] :]
        return [each for each in operands if _is_function(self.graph.symbols[each])] if kind == "op" else ()

    def _key(self, node: int) -> tuple[int, ...]:
        operands, observed = self.graph.operands[node], self._observed[node]
        found = [*map((observed or self).find, operands)]
        if self._finer is None or observed is not None or len({*found}) == len(found):
            return (self.graph.ids[node], *found)
        # Two sums of which only the engine's choice makes one are still two for an operation that reads both.
        apart = [*map(self._finer.find, operands)]
        return (self.graph.ids[node], *found, *map(apart.index, apart))

    def _collision(self, node: int) -> tuple[int, int] | None:
        check_deadline()
        other = self._table.setdefault(self._key(node), node)
        return None if other == node else (other, node)

    def _close(self) -> None:
        while self._pending:
            # Users are looked at once for all merges: a sum of many terms is the user of each.
            users = dict.fromkeys(user for pair in self._pending for user in self._joined(*map(self.find, pair)))
            self._pending = [pair for node in users if (pair := self._collision(node)) is not None]

    def _joined(self, first: int, second: int) -> Sequence[int]:
        """Makes two classes one; returns the users of the class whose representative changes."""
        if first == second:
            return ()
        if len(self._users.get(first, ())) > len(self._users.get(second, ())):
            first, second = second, first
        self._root[first] = second
        moved = self._users.pop(first, [])
        self._users.setdefault(second, []).extend(moved)
        return moved

    def without(self, leaves: frozenset[int]) -> set[int]:
        """Returns the classes that have a term in which none of some leaves occurs."""
        needed = [{self.find(each) for each in operands} for operands in self.graph.operands]
        users: dict[int, list[int]] = {}
        for node, classes in enumerate(needed):
            for each in classes:
                users.setdefault(each, []).append(node)
        waiting = [*map(len, needed)]
        found: set[int] = set()
        ready = [node for node, count in enumerate(waiting) if not count]
        while ready:
            check_deadline()
            node = ready.pop()
            root = self.find(node)
            if node in leaves or root in found:
                continue
            found.add(root)
            for user in users.get(root, ()):
                waiting[user] -= 1
                if not waiting[user]:
                    ready.append(user)
        return found


def _is_function(symbol: Symbol) -> bool:
    kind, label, _ = symbol
    return kind == "op" and isinstance(label, tuple) and label[0] == "function"
