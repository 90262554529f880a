"""A graph of plain nodes, without rewrites: every operation by its definition, equal terms as one node."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np

from dialect_utils.ir import Operation
from dialect_utils.layout import ArrayShape, ElementType, Shape, Step
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.proof.deadline import check_deadline
from dialect_utils.layout.proof.reads import origin_of
from dialect_utils.ops.domain import UndefinedError
from dialect_utils.verdict.certificate import Reading
from dialect_utils.verdict.rules.formats import is_nan
from dialect_utils.verdict.terms.constants import folded
from dialect_utils.verdict.terms.loops import Loop
from dialect_utils.verdict.terms.maker import Maker
from dialect_utils.verdict.terms.primitives import Kind, Primitives, Term, TreeOf, bottom_up, leaves_of, reachable
from dialect_utils.verdict.terms.wellformed import NOTHING, check_term

Symbol = tuple[Kind, Hashable, Shape]
UNSPECIFIED = "unspecified"


class Graph:
    """Nodes, each a symbol (kind, label, shape) with nodes as operands; the same node is never made twice."""

    def __init__(self) -> None:
        self.symbols: list[Symbol] = []
        self.operands: list[tuple[int, ...]] = []
        self.ids: list[int] = []  # the number of the symbol of each node
        # Whether a node is free of undefined padding.
        self.is_specified: list[bool] = []
        self._symbols: dict[Symbol, int] = {}
        self._nodes: dict[tuple[int, ...], int] = {}
        self._inserted: dict[Term, int] = {}

    def make(self, kind: Kind, label: Hashable, shape: Shape, operands: Sequence[int] = ()) -> int:
        """Returns the node of a term; a plan of several steps becomes one node for each step."""
        if isinstance(label, Plan) and len(label.steps) != 1:
            return self.moved(operands[0], label, operands[1:])
        symbol = (kind, label, shape)
        number = self._symbols.setdefault(symbol, len(self._symbols))
        key = (number, *operands)
        found = self._nodes.get(key)
        if found is None:
            check_deadline()
            found = self._nodes[key] = len(self.ids)
            self.symbols.append(symbol)
            self.operands.append(tuple(operands))
            self.ids.append(number)
            self.is_specified.append(label != UNSPECIFIED and all(self.is_specified[each] for each in operands))
        return found

    def shape(self, node: int) -> Shape:
        """Returns the shape of a node."""
        return self.symbols[node][2]

    def by_operands(self) -> dict[tuple[int, ...], int]:
        """Returns all nodes by the number of their symbol and their operands."""
        return dict(self._nodes)

    def _is_known(self, term: Term, operands: Sequence[int]) -> bool:
        """Is true for a term that is already in the graph."""
        number = self._symbols.get((term.kind, term.label, term.shape))
        return number is not None and (number, *operands) in self._nodes

    def insert(self, term: Term) -> int:
        """Returns the node of a certificate's term; raises RefusedError for a malformed term."""
        for part in bottom_up(term, self._inserted):
            operands = [self._inserted[each] for each in part.operands]
            if part.kind == "moved" or not self._is_known(part, operands):
                check_term(part)
            self._inserted[part] = self.make(part.kind, part.label, part.shape, operands)
        return self._inserted[term]

    def substituted(self, node: int, found: dict[int, int]) -> int:
        """Returns an elementwise expression after the substitution `found`, which it extends."""

        def inner(part: int) -> Sequence[int]:
            return self.operands[part] if self.symbols[part][0] == "each" else ()

        for part in bottom_up(node, found, inner):
            operands = [found[each] for each in inner(part)]
            found[part] = self.make(*self.symbols[part], operands) if operands else part
        return found[node]

    def is_elementwise(self, node: int, variables: Sequence[int]) -> bool:
        """Is true where all operations that depend on variables are elementwise."""
        # Operands have lower numbers than the node that they are operands of.
        depends = set(variables)
        for part in sorted(reachable([node], self.operands.__getitem__)):
            if depends & {*self.operands[part]}:
                depends.add(part)
                if self.symbols[part][0] != "each":
                    return False
        return True

    def moved(self, node: int, plan: Plan, paddings: Iterable[int]) -> int:
        """Returns a node after all steps of a plan; `paddings` are the scalars of its pads."""
        rest = iter(paddings)
        for i, padding in enumerate(plan.paddings):
            part = plan.part(i, i + 1)
            scalars = () if padding is None else (next(rest),)
            node = self.make("moved", part.with_padding(True), ArrayShape(*part.result), (node, *scalars))
        return node


class Nodes(Primitives[int], Maker[int]):
    """The nodes of one module, with the values of constants. `readings` are the readings of its loops.

    `claims` are pairs of nodes that must be proved equal, `closed` nodes with leaves that they must not depend on,
    `folds` operations on constants with their results.
    """

    def __init__(self, graph: Graph, readings: Mapping[Operation, Reading] | None = None) -> None:
        super().__init__(graph, self.applied)
        self.graph = graph
        self.readings = readings or {}
        self.claims: list[tuple[int, int]] = []
        self.closed: list[tuple[int, frozenset[int]]] = []
        self.folds: list[tuple[int, int]] = []
        self._bits: dict[int, int] = {}
        # The operations of the module that made a node first.
        self.makers: dict[int, Operation] = {}
        self._inside: list[Operation] = []

    def enter(self, operation: Operation) -> None:
        self._inside.append(operation)

    def leave(self, results: Sequence[TreeOf[int]]) -> None:
        operation = self._inside.pop()
        for node in (leaf for tree in results for leaf in leaves_of(tree)):
            self.makers.setdefault(node, operation)

    def make(self, kind: Kind, label: Hashable, shape: Shape, operands: Sequence[int] = ()) -> int:
        return self.graph.make(kind, label, shape, operands)

    def shape(self, array: int) -> Shape:
        return self.graph.shape(array)

    def unspecified(self) -> int:
        return self.graph.make("leaf", UNSPECIFIED, NOTHING)

    def each(self, label: Hashable, element_type: ElementType, operands: Sequence[int]) -> int:
        """Returns an elementwise operation; records the value of one on constant scalars."""
        made = super().each(label, element_type, operands)
        if not self.dimensions(operands[0]):
            self._fold(made)
        return made

    def move(self, array: int, step: Step, padding: int | None = None) -> int:
        """Returns an array after one more step; records the value of a scalar that is read from a constant."""
        made = super().move(array, step, padding)
        if not self.dimensions(made):
            self._read(made)
        return made

    def moved(self, array: int, step: Step, padding: int | None) -> int:
        plan = Plan(self.element_type(array), self.dimensions(array), (step,), (None if padding is None else True,))
        operands = (array,) if padding is None else (array, padding)
        return self.graph.make("moved", plan, ArrayShape(*plan.result), operands)

    def after(self, array: int, plan: Plan) -> int:
        padded = plan.with_padding(True)
        return self.graph.moved(array, padded, [self.unspecified() for each in padded.paddings if each is not None])

    # Constants

    def integer(self, node: int) -> int:
        """Returns the value of a constant, at most the largest signed one; raises UndefinedError for other nodes."""
        bits, kind = self.constant_bits(node), self.element_type(node)
        if bits is None:
            raise UndefinedError("an index is not known")
        is_negative = kind.is_signed and bits >> (kind.bits - 1)
        return bits - (1 << kind.bits) if is_negative else min(bits, np.iinfo(np.int64).max)

    def contents(self, array: int) -> int | bytes | None:
        kind, label, _ = self.graph.symbols[array]
        if kind == "splat":
            return self.contents(self.graph.operands[array][0])
        return label if kind == "constant" and isinstance(label, int | bytes) else self._bits.get(array)

    def _fold(self, node: int) -> None:
        """Records the value of an operation on constant scalars."""
        operands = self.graph.operands[node]
        known = [bits for bits in map(self.constant_bits, operands) if bits is not None]
        if len(known) == len(operands):
            kinds = map(self.element_type, operands)
            _, label, _ = self.graph.symbols[node]
            self._record(node, folded(label, self.element_type(node), tuple(zip(kinds, known, strict=True))))

    def _read(self, node: int) -> None:
        """Records the value of a scalar that movement reads from a constant."""
        graph, read = self.graph, node
        index: tuple[int, ...] | None = ()
        while isinstance(plan := graph.symbols[read][1], Plan) and not plan.regroups_bits and index is not None:
            array, *scalars = graph.operands[read]
            index = origin_of(plan, index).index
            index, read = ((), scalars[0]) if index is None and scalars else (index, array)
        if graph.symbols[read][0] == "splat":
            (read,) = graph.operands[read]
        self._record(node, None if index is None else self.constant_bits(read))

    def _record(self, node: int, bits: int | None) -> None:
        # The engine chooses the bits of a NaN.
        kind = self.element_type(node)
        if bits is not None and not is_nan(kind, bits):
            self._bits[node] = bits
            self.folds.append((node, self.literal(kind, bits, ())))

    # Control flow

    def select(self, selector: int, results: Sequence[int]) -> int:
        if len({*results}) == 1:
            return results[0]
        predicate = self.splat(selector, self.dimensions(results[0]))
        return self.each("select", self.element_type(results[0]), (predicate, *results))

    def choice(self, label: Hashable, selector: int, results: Sequence[int]) -> int:
        if len({*results}) == 1:
            return results[0]
        return self.graph.make("choice", label, self.shape(results[0]), (selector, *results))

    def final(self, loop: Loop[int], start: Sequence[int]) -> Sequence[int]:
        """Returns the final state of a loop by its reading; adds claims that the reading is correct."""
        every = tuple(range(len(start)))
        reading = self.readings.get(loop.operation, Reading(every, every, (None,) * len(start)))
        _check_reading(reading, [*map(self.shape, start)])
        logical = loop.logical(start, reading.plans)
        variables = loop.variables(logical, every)
        plain = loop.iteration(variables, reading.plans)
        self.claims += [(plain.ends[i], variables[i]) for i in every if i not in reading.changed]
        order = [*reading.order, *(i for i in reading.changed if i not in reading.order)]
        state = loop.variables(logical, order)
        short = loop.iteration(state, reading.plans)
        dropped = frozenset(state[i] for i in order[len(reading.order) :])
        if dropped:
            used = [*short.tested, *(short.ends[i] for i in reading.order), *short.effects[0], *short.effects[1]]
            self.closed += [(node, dropped) for node in used]
        if any(plan is not None for plan in reading.plans):
            self.closed += [(node, frozenset([self.unspecified()])) for node in (*plain.nodes, *short.nodes)]
        return loop.final(logical, reading, plain, short)


def _check_reading(reading: Reading, shapes: Sequence[Shape]) -> None:
    """Raises UndefinedError for a reading that does not fit a state of these shapes."""
    listed = [*reading.order, *reading.changed]
    is_fitting = len(reading.plans) == len(shapes) and all(type(i) is int and 0 <= i < len(shapes) for i in listed)
    is_fitting &= all(len({*each}) == len(each) for each in (reading.order, reading.changed))
    for plan, shape in zip(reading.plans, shapes, strict=False):
        if plan is not None:
            # Only a pad may drop elements, where its edges are negative.
            is_fitting &= not plan.drops_elements and all(getattr(step, "only_adds", True) for step in plan.steps)
            is_fitting &= ArrayShape(*plan.result) == shape
    if not is_fitting:
        raise UndefinedError("the reading of a loop does not fit its state")
