"""Three equalities of the terms of a replayed proof.

`BITS` is equality of all bits. `NAN` ignores the sign and payload of NaN results of arithmetic. `ENGINE` also ignores
the engine's other choices, such as the order of a sum or the precision of a dot. Each is coarser than the last. Some
operations observe more than an equality keeps: a bitcast-convert observes the bits of a NaN, a comparison the rounding
of a sum. Their results are equal only if their operands are equal in a finer equality.

The engine chooses once for each value. So `ENGINE` relates the values of two programs one to one: values of one program
that differ but for choices stay distinct. For example, `((3t - u) - u) - u` of the sum t of x and the sum u of x
reversed may be 3 (t - u), so it is not equal to `((3t - t) - t) - t`, which has one sum. What a value is but for a
choice, such as x for 0 + x, is no value of its own unless something else reads it, and neither is an identity movement.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from enum import IntEnum
from functools import reduce
from typing import Any

from dialect_utils.layout import Shape
from dialect_utils.layout.moves.normal_form import is_identity, normal_form
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.proof.deadline import check_deadline
from dialect_utils.verdict.terms.graph import Graph, Symbol
from dialect_utils.verdict.terms.observed import observes_bits, observes_rounding
from dialect_utils.verdict.terms.primitives import Kind, is_ordered

# The most operations between a value and the value that it is but for a choice.
_MOST_BETWEEN = 6


class Level(IntEnum):
    """The equalities, finest first."""

    BITS = 0
    NAN = 1
    # As ENGINE, but for the order alone: a sum in the engine's order is the sum in the written one.
    ORDER = 2
    ENGINE = 3
    # As if no operation observed a choice, and each program made each choice as often as it likes: decides nothing.
    UNOBSERVED = 4


class Equality:
    """Classes of equal nodes, closed under operations: equal operands make equal results.

    `finer` is the next finer equality, for operands that an operation observes; None for equality of bits. `programs`
    holds the results of each program, and `choices` the pairs of nodes that are equal but for a choice. The classes are
    closed by `merge`, of no pairs at least.
    """

    def __init__(
        self,
        graph: Graph,
        level: Level,
        finer: Equality | None,
        programs: Sequence[Sequence[int]] = (),
        choices: Iterable[tuple[int, int]] = (),
    ) -> None:
        self.graph, self.level, self._finer = graph, level, finer
        count = len(graph.ids)
        self._root = list(range(count)) if finer is None else [finer.find(node) for node in range(count)]
        self._chosen = {self.find(first): self.find(self._source(second)) for first, second in choices}
        # For each program the classes of its values, with names. A class may hold one value of each program.
        self._values: list[dict[int, Hashable]] = []
        if level in (Level.ORDER, Level.ENGINE):
            self._values = [self._named(results) for results in programs]
        self._users: dict[int, list[int]] = {}
        # At first all nodes differ.
        self._table = {} if finer else graph.by_operands()
        self._observed = self._observing() if finer else [None] * count
        for node in range(count):
            check_deadline()
            for operand in {*map(self.find, graph.operands[node])} if finer else {*graph.operands[node]}:
                self._users.setdefault(operand, []).append(node)
        pairs = map(self._collision, range(count)) if finer else ()
        self._pending = [pair for pair in pairs if pair is not None]

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
        """Merges pairs of nodes, and then all operations on equal operands."""
        self._pending += pairs
        self._close()

    def _observing(self) -> list[Equality | None]:
        """Returns for each node the finer equality that its operands need; None for this equality."""
        found: list[Equality | None] = []
        inside: list[Level] = []  # the finest level that a node or its operands need
        for node, (kind, label, shape) in enumerate(self.graph.symbols):
            check_deadline()
            operands = self.graph.operands[node]
            own = self._needed(kind, label, shape, [self.graph.symbols[each][2] for each in operands])
            inside.append(min([own, *(inside[each] for each in operands)]))
            found.append(self.at(min([own, *(inside[each] for each in self._bodies(node))])))
        return found

    def _named(self, results: Iterable[int]) -> dict[int, Hashable]:
        """Returns the classes of a program's values, and of their elements, with names: other names are other values.

        For ORDER the names are the orders that a value depends on. A proof that reorders sums has steps about the sums
        in the written order only, so that the finer equality of ORDER would distinguish too many values.
        """
        arrays: dict[int, list[int]] = {}
        orders: list[frozenset[Hashable]] = []
        for node, ((kind, label, _), operands) in enumerate(zip(self.graph.symbols, self.graph.operands, strict=True)):
            if kind == "array":
                arrays.setdefault(self.find(node), []).append(node)
            inner = frozenset[Hashable]().union(*map(orders.__getitem__, operands))
            orders.append(frozenset([label]) if is_ordered(label) else inner)
        found: set[int] = set()
        pending = [*results]
        while pending:
            node = pending.pop()
            if node not in found:
                check_deadline()
                found.add(node)
                pending += [*self._read(node), *arrays.get(self.find(node), ())]
        if self.level is Level.ORDER:
            return {self.find(node): orders[node] for node in sorted(found)}
        # One name for a class: that of a movement, if it has one.
        moves_last = sorted(found, key=lambda node: (self._source(node) != node, node))
        return {self.find(node): self._name(node) for node in moves_last}

    def _name(self, node: int) -> Hashable:
        """Returns the class of a node, or of what it moves with the movement."""
        source = self._source(node)
        if source == node:
            return self.find(node)
        plans: list[Any] = []
        while node != source:
            plans.append(self.graph.symbols[node][1])
            node = self.graph.operands[node][0]
        plan = normal_form(reduce(Plan.then, reversed(plans)))
        return self.find(source) if is_identity(plan) else (self.find(source), plan)

    def _source(self, node: int) -> int:
        """Returns the array that a node moves, or the node itself."""
        while self.graph.symbols[node][0] == "moved" and len(self.graph.operands[node]) == 1:
            (node,) = self.graph.operands[node]
        return node

    def _read(self, node: int) -> Sequence[int]:
        """Returns the values that a node reads; what it is but for a choice, such as x for 0 + x, is none of them."""
        chosen, inner, others = self._chosen.get(self.find(node)), node, list[int]()
        for _ in range(_MOST_BETWEEN if chosen is not None else 0):
            first, *rest = self.graph.operands[inner] or (inner,)
            if self.find(first) == chosen:
                return [*others, *rest, *_read(self.graph, self._source(first))]
            inner, others = first, [*others, *rest]
        return _read(self.graph, node)

    def _needed(self, kind: Kind, label: Hashable, shape: Shape, types: Sequence[Shape]) -> Level:
        if self.level is Level.UNOBSERVED:
            return self.level
        if observes_bits(kind, label, shape, types):
            return Level.BITS
        if observes_rounding(kind, label, shape, types):
            return Level.NAN
        return self.level

    def at(self, level: Level) -> Equality | None:
        """Returns the equality of a finer level; None for this level."""
        if level == self.level:
            return None
        assert self._finer is not None  # a finer level exists
        return self._finer if self._finer.level == level else self._finer.at(level)

    def _bodies(self, node: int) -> Sequence[int]:
        """Returns the operands that are functions, or the condition and next state of a loop."""
        kind, label, _ = self.graph.symbols[node]
        operands = self.graph.operands[node]
        if kind == "op" and isinstance(label, tuple) and label[0] == "while":
            return operands[label[2][0] :]
        return [each for each in operands if _is_function(self.graph.symbols[each])] if kind == "op" else ()

    def _key(self, node: int) -> tuple[int, ...]:
        return (self.graph.ids[node], *map((self._observed[node] or self).find, self.graph.operands[node]))

    def _collision(self, node: int) -> tuple[int, int] | None:
        check_deadline()
        other = self._table.setdefault(self._key(node), node)
        return None if other == node else (other, node)

    def _close(self) -> None:
        while self._pending:
            # Visit each user once for all merges: a sum of many terms is a user of each term.
            users = dict.fromkeys(user for pair in self._pending for user in self._joined(*map(self.find, pair)))
            self._pending = [pair for node in users if (pair := self._collision(node)) is not None]

    def _joined(self, first: int, second: int) -> Sequence[int]:
        """Merges two classes; returns the users of the class whose representative changes.

        Classes that hold different values of one program stay apart.
        """
        held = [[values[each] for each in (first, second) if each in values] for values in self._values]
        if first == second or any(len({*each}) > 1 for each in held):
            return ()
        if len(self._users.get(first, ())) > len(self._users.get(second, ())):
            first, second = second, first
        self._root[first] = second
        for values in self._values:
            if first in values:
                values[second] = values.pop(first)
        moved = self._users.pop(first, [])
        self._users.setdefault(second, []).extend(moved)
        return moved

    def without(self, leaves: frozenset[int]) -> set[int]:
        """Returns the classes with a term that depends on none of the given leaves."""
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


def _read(graph: Graph, node: int) -> Sequence[int]:
    """Returns the values that a node reads; a sum in the engine's order is one value with the written sum."""
    operands = graph.operands[node]
    if not is_ordered(graph.symbols[node][1]):
        return operands
    while graph.symbols[operands[0]][0] in ("moved", "out"):
        operands = graph.operands[operands[0]]
    return graph.operands[operands[0]]


def _is_function(symbol: Symbol) -> bool:
    kind, label, _ = symbol
    return kind == "op" and isinstance(label, tuple) and label[0] == "function"
