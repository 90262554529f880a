"""Terms of a replayed proof as nodes of a graph, and three equalities of its nodes.

`BITS` is equality of all bits. `NAN` is equality but for the sign and payload of a NaN that arithmetic makes. `ENGINE`
is equality up to what the definition leaves to the engine besides: the order of a sum. Each is coarser than the last.
An operation that observes more than an equality keeps (a bitcast-convert observes the bits of a NaN, a comparison
observes the rounding of a sum) has equal results in it only for operands that are equal in a finer one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from enum import IntEnum

from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.verdict.replay.wellformed import check_term
from dialect_utils.verdict.written.observed import observes_bits, observes_rounding
from dialect_utils.verdict.written.terms import Kind, Term


class Level(IntEnum):
    """The three equalities, finest first."""

    BITS = 0
    NAN = 1
    ENGINE = 2


Symbol = tuple[Kind, Hashable, Shape]
UNSPECIFIED = "unspecified"


class Graph:
    """Nodes, each a symbol (kind, label, shape) with nodes as operands; the same node is never made twice."""

    def __init__(self) -> None:
        self.symbols: list[Symbol] = []
        self.operands: list[tuple[int, ...]] = []
        self.ids: list[int] = []  # the number of the symbol of each node
        # Whether no undefined padding occurs in a node.
        self.is_specified: list[bool] = []
        self._symbols: dict[Symbol, int] = {}
        self._nodes: dict[tuple[int, ...], int] = {}
        self._inserted: dict[int, tuple[Term, int]] = {}

    def make(self, kind: Kind, label: Hashable, shape: Shape, operands: Sequence[int] = ()) -> int:
        """Returns the node of a term; a plan of several steps becomes one node for each step."""
        if isinstance(label, Plan) and len(label.steps) != 1:
            return self.moved(operands[0], label, operands[1:])
        symbol = (kind, label, shape)
        number = self._symbols.setdefault(symbol, len(self._symbols))
        key = (number, *operands)
        found = self._nodes.get(key)
        if found is None:
            found = self._nodes[key] = len(self.ids)
            self.symbols.append(symbol)
            self.operands.append(tuple(operands))
            self.ids.append(number)
            self.is_specified.append(label != UNSPECIFIED and all(self.is_specified[each] for each in operands))
        return found

    def shape(self, node: int) -> Shape:
        """Returns the shape of a node."""
        return self.symbols[node][2]

    def _is_known(self, term: Term, operands: Sequence[int]) -> bool:
        """Is true for a term that a definition made, too."""
        number = self._symbols.get((term.kind, term.label, term.shape))
        return number is not None and (number, *operands) in self._nodes

    def insert(self, term: Term) -> int:
        """Returns the node of a term of a certificate; raises RefusedError for one that means nothing."""
        pending = [term]
        while pending:
            part = pending[-1]
            missing = [each for each in part.operands if id(each) not in self._inserted]
            if id(part) in self._inserted or not missing:
                pending.pop()
                if id(part) not in self._inserted:
                    operands = [self._inserted[id(each)][1] for each in part.operands]
                    if part.kind == "moved" or not self._is_known(part, operands):
                        check_term(part)
                    # The term is kept, so that its identity stays its own.
                    self._inserted[id(part)] = part, self.make(part.kind, part.label, part.shape, operands)
            pending += missing
        return self._inserted[id(term)][1]

    def moved(self, node: int, plan: Plan, paddings: Iterable[int]) -> int:
        """Returns a node after all steps of a plan; `paddings` are the scalars of its pads."""
        rest = iter(paddings)
        for i, padding in enumerate(plan.paddings):
            part = plan.part(i, i + 1)
            scalars = () if padding is None else (next(rest),)
            node = self.make("moved", part.with_padding(True), ArrayShape(*part.result), (node, *scalars))
        return node


class Equality:
    """Classes of equal nodes, closed under operations: equal operands make equal results.

    `finer` is the equality in which operands that an operation observes are compared; None for equality of bits.
    """

    def __init__(self, graph: Graph, level: Level, finer: Equality | None) -> None:
        self.graph, self.level, self._finer = graph, level, finer
        count = len(graph.ids)
        self._root = list(range(count)) if finer is None else [finer.find(node) for node in range(count)]
        self._users: dict[int, list[int]] = {}
        self._table: dict[tuple[int, ...], int] = {}
        self._observed = self._observing()
        for node in range(count):
            for operand in {self.find(each) for each in graph.operands[node]}:
                self._users.setdefault(operand, []).append(node)
        self._pending = [pair for node in range(count) if (pair := self._collision(node)) is not None]
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
        operands = self.graph.operands[node]
        if self._finer is None:
            return (self.graph.ids[node], *map(self.find, operands))
        observed = self._observed[node]
        if observed is not None:
            return (self.graph.ids[node], *map(observed.find, operands))
        found = [*map(self.find, operands)]
        if len({*found}) == len(found):
            return (self.graph.ids[node], *found)
        # Two sums of which only the engine's choice makes one are still two for an operation that reads both.
        apart = [*map(self._finer.find, operands)]
        return (self.graph.ids[node], *found, *map(apart.index, apart))

    def _collision(self, node: int) -> tuple[int, int] | None:
        other = self._table.setdefault(self._key(node), node)
        return None if other == node else (other, node)

    def _close(self) -> None:
        while self._pending:
            first, second = map(self.find, self._pending.pop())
            if first == second:
                continue
            if len(self._users.get(first, ())) > len(self._users.get(second, ())):
                first, second = second, first
            self._root[first] = second
            moved = self._users.pop(first, [])
            self._users.setdefault(second, []).extend(moved)
            self._pending += [pair for node in moved if (pair := self._collision(node)) is not None]

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
