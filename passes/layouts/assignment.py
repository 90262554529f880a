"""The orders of dimensions that XLA's layout assignment gives the arrays of a module.

Follows xla/service/layout_assignment.cc: constraints on arrays where they are defined and where they are used spread in
two rounds over the functions, callees first. In the first round loops and branches find the orders that they prefer; in
the second they are given. Where a use has another order than the definition, the compiler makes a copy.
Longer than most files: the constraints propagate to each other.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dialect_utils.ir import Function, Module, Operation, Value
from dialect_utils.ir.control_flow import BODY
from dialect_utils.layout import ArrayShape, Layout, Shape, parse_shape
from dialect_utils.layout.moves.steps import inverse_permutation
from dialect_utils.layout.targets.target import Target
from dialect_utils.layout.targets.xla_compat import align_layouts
from dialect_utils.ops import OPCODES, Trait, named, with_trait
from passes.layouts.constraints import BOUNDARIES, Node

Order = tuple[int, ...]
Orders = list[Order | None]
# So often may a constraint change, as BufferLayoutConstraint::kMaxLayoutProp.
_MOST_CHANGES = 10
# InstructionCanChangeLayout is false: operands of the result's rank have its order.
_KEEPING = (
    (with_trait(Trait.ELEMENTWISE) - {"copy"})
    | {name for name, each in OPCODES.items() if each.aligned}
    | named(
        "all-gather all-reduce all-to-all bitcast-convert cholesky collective-permute fft map reduce-scatter"
        " reduce-window scatter select-and-scatter set-dimension-size sort triangular-solve while"
    )
)
_FORWARDING = frozenset(BOUNDARIES)
_CALLING = named("call conditional while")
# In HLO these take their arrays in a tuple, which is no use of an array.
_PACKING = _FORWARDING | named("conditional while")
# An order in a custom call of StableHLO: `dense<[0, 1]> : tensor<2xindex>`.
_DENSE = re.compile(r"dense<([^>]*)> : tensor<\d+xindex>")


class Use(NamedTuple):
    """One array of an operand."""

    operation: Operation
    operand: int
    leaf: int = 0

    @property
    def value(self) -> Value:
        """Returns the operand."""
        return self.operation.operands[self.operand]


# The order that a backend asks for: of one operand, by number, or of all results.
RESULT = -1
Wish = tuple[int, Order]


@dataclass(slots=True)
class _Constraint:
    """The order of an array at its definition or at a use; one that is not `first` waits for the others."""

    order: Order
    mandatory: bool
    first: bool
    changes: int = 0


@dataclass(slots=True)
class _Interface:
    """The orders in which a function is given its parameters and makes its results, where they are known."""

    given: Orders
    made: Orders


@dataclass(frozen=True, slots=True)
class Rules:
    """The decisions of a backend.

    With `waiting` operations, as the TPU compiler has them, their wishes wait for the orders of parameters, and results
    of functions wait for both; reductions keep the order of their operands; arrays without a constraint get one from
    the last operation to the first, those of a called function after those of its callers. This is read off dumps.
    """

    target: Target
    by_opcode: Mapping[str, Callable[[Operation, Assignment], Iterable[Wish]]]
    waiting: frozenset[str] = frozenset()

    def default(self, shape: ArrayShape) -> Order:
        """Returns the order of an array without any constraint."""
        return descending(shape.rank)

    def aligned(self, source: ArrayShape, order: Order, target: ArrayShape) -> Order | None:
        """Returns the order of a reshaped array that moves no element, or None."""
        if source.true_rank == target.true_rank == 1 or 0 in source.dimensions:
            return None
        found = align_layouts(source.with_layout(Layout(order)), target.dimensions)
        return None if found is None else found.effective_layout.minor_to_major

    def reduces_rows(self, operation: Operation) -> bool:
        """Is true for a reduction whose reduced dimensions should be the most minor ones of its operand."""
        return False


class Assignment:
    """The orders of a module's arrays by the rules of a backend, given the entry's parameters and results."""

    def __init__(self, module: Module, rules: Rules, entry: tuple[Sequence[Shape], Sequence[Shape]]) -> None:
        self.rules = rules
        self.functions, self._fusions = _in_call_order(module)
        # The constraints on definitions and uses.
        self._constraints: dict[Node | Use, _Constraint] = {}
        # Definitions, uses and results of functions whose orders have to spread.
        self._added: list[Node | Use | Function] = []
        self._forwarded: dict[Node, Node] = {}
        self._shapes: dict[Node, ArrayShape] = {}
        self._uses: dict[Node, list[Use]] = {}
        self._is_given = False
        self._interfaces = {
            each: _Interface([None] * len(nodes(each.parameters)), [None] * len(nodes(each.results)))
            for each in self.functions
        }
        self._interfaces[module.entry] = _Interface(*([*map(order_of, _leaves(each))] for each in entry))
        for function in (*self.functions, *(called for each in self._fusions for called in each.called)):
            self._index(function)
        self._run()

    def _index(self, function: Function) -> None:
        for value in function.values():
            shapes = zip(nodes([value]), value.shape.leaves(), strict=True)
            self._shapes |= {node: leaf for node, leaf in shapes if isinstance(leaf, ArrayShape) and leaf.is_static}
        for operation in function.operations:
            if operation.opcode in _FORWARDING:
                self._forwarded |= {edge.target: edge.source for edge in BOUNDARIES[operation.opcode](operation)}
            elif operation.opcode not in _PACKING:
                for use in uses(operation):
                    if isinstance(use.value.shape, ArrayShape):
                        self._uses.setdefault(self._definition(Node(use.value, 0)), []).append(use)

    def _definition(self, node: Node) -> Node:
        """Returns the array that a tuple, a get-tuple-element or a barrier forwards."""
        while node in self._forwarded:
            node = self._forwarded[node]
        return node

    def order(self, node: Node) -> Order | None:
        """Returns the order of an array where it is defined."""
        found = self._constraints.get(self._definition(node))
        return None if found is None else found.order

    def asked(self, use: Use) -> Order | None:
        """Returns the order that a use asks for, if any."""
        found = self._constraints.get(use)
        return None if found is None else found.order

    def returned(self, function: Function) -> Orders:
        """Returns the orders in which a function returns its results."""
        return self._interfaces[function].made

    def _read(self, operation: Operation) -> Orders:
        return [self.asked(use) or self.order(Node(use.value, use.leaf)) for use in uses(operation)]

    def _run(self) -> None:
        for function in self.functions:
            self._assign(function)
        self._is_given = True
        for has_defaults in (False, True) if self.rules.waiting else ():
            for function in reversed(self.functions):
                self._constraints.clear()
                self._assign(function, has_defaults=has_defaults)
                self._take(function)
                for operation in function.operations:
                    self._inherit(operation)
        self._constraints.clear()
        for function in self.functions:
            self._assign(function)
        for fusion in self._fusions:
            (fused,) = fusion.called
            made = [self.order(each) for each in nodes(fusion.results)]
            known = dict(
                zip((*nodes(fused.parameters), *nodes(fused.results)), (*self._read(fusion), *made), strict=True)
            )
            for node in nodes(fused.values()):
                if node in self._shapes:
                    order = known.get(node) or descending(self._shapes[node].rank)
                    self._constraints[node] = _Constraint(order, mandatory=True, first=True)

    def _take(self, function: Function) -> None:
        """Takes the orders that are still unknown of parameters and results from the function's body."""
        interface = self._interfaces[function]
        interface.given = [a or self.order(b) for a, b in zip(interface.given, nodes(function.parameters), strict=True)]
        interface.made = [a or self.order(b) for a, b in zip(interface.made, nodes(function.results), strict=True)]

    def _assign(self, function: Function, *, has_defaults: bool = True) -> None:
        """Assigns the orders of one function: RunOnComputation."""
        interface, waits = self._interfaces[function], bool(self.rules.waiting)
        is_given = function.is_entry or self._is_given
        if is_given:
            self._set(nodes(function.parameters), interface.given)
        for operation in function.operations:
            self._constrain_call(operation)
        if is_given and not waits:
            self._added.append(function)
        self._constrain_by_backend(list(function.operations))
        self._spread()
        if is_given and waits:
            self._added.append(function)
            self._spread()
        if has_defaults and (is_given or not waits):
            self._set_defaults(function)
        if not is_given:
            self._take(function)

    def _constrain_by_backend(self, operations: Sequence[Operation]) -> None:
        waiting = self.rules.waiting
        for operation in operations if waiting else reversed(operations):
            rule = self.rules.by_opcode.get(operation.opcode)
            for place, order in () if rule is None else rule(operation, self):
                places = nodes(operation.results) if place == RESULT else [Use(operation, place)]
                self._set(places, [order] * len(places), first=operation.opcode not in waiting)
        for operation in operations:
            if operation.opcode == "custom-call":
                self._set((*nodes(operation.results), *uses(operation)), _named_orders(operation))

    def _set_defaults(self, function: Function) -> None:
        values = list(function.values())
        for node in nodes(reversed(values) if self.rules.waiting else values):
            if node in self._shapes and node not in self._forwarded and node not in self._constraints:
                self.set(node, self.rules.default(self._shapes[node]), mandatory=False)
                self._spread()

    def _constrain_call(self, operation: Operation) -> None:
        """Makes operands and results agree with the loop's body, the called function or the largest branch."""
        if operation.opcode not in _CALLING:
            return
        called = [self._interfaces[each] for each in operation.called]
        sizes = [len(each.operations) + len(each.parameters) for each in operation.called]
        if operation.opcode == "while":
            body = self._interfaces[operation.called_as(BODY)]
            body.made = [a or b for a, b in zip(body.made, body.given, strict=True)]
            for each in called:
                each.given = body.made
        else:
            body = called[sizes.index(max(sizes))]
        for number, interface in enumerate(called):
            if operation.opcode == "conditional":
                interface.made = body.made
            self._set(_passed(operation, number), interface.given)
        self._set(nodes(operation.results), body.made)

    def _inherit(self, operation: Operation) -> None:
        """Gives the unknown orders of called functions those of the operation that calls them."""
        results = [self.order(each) for each in nodes(operation.results)]
        orders = dict(zip(uses(operation), self._read(operation), strict=True))
        for number, function in enumerate(operation.called if operation.opcode in _CALLING else ()):
            interface = self._interfaces[function]
            given = [orders[use] for use in _passed(operation, number)]
            interface.given = [a or b for a, b in zip(interface.given, given, strict=False)]
            if operation.opcode != "while" or function == operation.called_as(BODY):
                interface.made = [a or b for a, b in zip(interface.made, results, strict=False)]

    def _set(self, places: Iterable[Node | Use], orders: Iterable[Order | None], *, first: bool = True) -> None:
        for place, order in zip(places, orders, strict=False):
            self.set(place, order, first=first)

    def set(self, place: Node | Use, order: Order | None, *, mandatory: bool = True, first: bool = True) -> None:
        """Constrains the definition or the use of an array of the order's rank: SetBufferLayout, SetOperandLayout."""
        node = self._definition(Node(place.value, place.leaf) if isinstance(place, Use) else place)
        if not order or node not in self._shapes or self._shapes[node].rank != len(order):
            return
        is_use = isinstance(place, Use)
        place = place if is_use else node
        found = self._constraints.get(place)
        if found is not None and found.order == order:
            is_stronger = mandatory > found.mandatory or first > found.first
            found.mandatory, found.first = found.mandatory or mandatory, found.first or first
            if is_use or not is_stronger or len(order) < 2:
                return
        elif found is not None and (not mandatory or found.changes > _MOST_CHANGES):
            return
        else:
            changes = 0 if found is None else found.changes + 1
            self._constraints[place] = _Constraint(order, mandatory, first, changes)
        self._added.append(place)

    def _spread(self) -> None:
        """Propagates constraints until none is new, depth first: PropagateConstraints."""
        waiting: deque[Node | Use | Function] = deque()
        while waiting or self._added:
            for place in self._added:
                if isinstance(place, (Node, Use)) and not self._constraints[place].first:
                    waiting.append(place)
                else:
                    waiting.appendleft(place)
            self._added = []
            place = waiting.popleft()
            if isinstance(place, Use):
                self._spread_use(place, self._constraints[place].order)
            elif isinstance(place, Node):
                self._spread_definition(place, self._constraints[place].order)
            else:
                for node, order in zip(nodes(place.results), self._interfaces[place].made, strict=True):
                    self._ask(node, order)

    def _ask(self, node: Node, order: Order | None) -> None:
        """Asks the definition of an array for the order of a use."""
        node = self._definition(node)
        if _is_array(node) or _opcode(node) != "reduce":
            self.set(node, order, mandatory=False)

    def _spread_use(self, use: Use, order: Order) -> None:
        """Propagates the order of a use to the definition, to other operands and to results."""
        user = use.operation
        self._ask(Node(use.value, use.leaf), order)
        if len(order) < 2 or user.opcode in _PACKING or not isinstance(use.value.shape, ArrayShape):
            return
        results = nodes(user.results)
        if user.opcode == "concatenate" and _has_larger_sibling(use):
            return
        if _keeps_order(user) or user.opcode == "reduce":
            others = (number for number, value in enumerate(user.operands) if value != use.value)
            self._set((Use(user, number) for number in others), [order] * len(user.operands))
            if user.opcode == "reduce" and self.rules.waiting:
                kept = _kept(user, len(order))
                order = tuple(kept.index(each) for each in order if each in kept)
                self._set(results if len(order) > 1 else (), [order] * len(results), first=False)
            else:
                self._set(results, [order] * len(results))
        elif _is_array(results[0]):
            mandatory = user.opcode == "transpose"
            self.set(results[0], self._result_order(order, user), mandatory=mandatory, first=_is_depth_first(user))

    def _spread_definition(self, node: Node, order: Order) -> None:
        """Propagates the order of an array to the operands of its operation and to its uses."""
        assert isinstance(node.owner, Value)  # of a function
        operation = node.owner.operation
        if operation is not None and len(order) > 1 and operation.opcode not in _PACKING:
            for number, value in enumerate(operation.operands):
                if isinstance(value.shape, ArrayShape) and value.shape.rank > 1:
                    self._spread_to_operand(node, Use(operation, number), order, value.shape)
        for use in self._uses.get(node, ()):
            self.set(use, order, mandatory=False)

    def _spread_to_operand(self, node: Node, use: Use, order: Order, shape: ArrayShape) -> None:
        operation = use.operation
        if _keeps_order(operation):
            self.set(use, order)
        elif _is_array(node):
            mandatory = operation.opcode == "broadcast"
            chosen = self._operand_order(order, operation, self._shapes[node], shape)
            self.set(use, chosen, mandatory=mandatory, first=_is_depth_first(operation))

    def _operand_order(
        self, order: Order, operation: Operation, shape: ArrayShape, operand: ArrayShape
    ) -> Order | None:
        """Returns the order of an operand from which no element moves: ChooseOperandLayoutFromOutputLayout."""
        dimensions = operation.ints("dimensions") or ()
        if operation.opcode == "broadcast":
            return tuple(dimensions.index(each) for each in order if each in dimensions)
        if operation.opcode == "reshape":
            return self.rules.aligned(shape, order, operand)
        if operation.opcode == "transpose":
            return tuple(dimensions[each] for each in order)
        if operation.opcode == "reduce" and (self.rules.waiting or self.rules.reduces_rows(operation)):
            kept, reduced = _kept(operation, operand.rank), sorted(dimensions, reverse=True)
            outer = tuple(kept[each] for each in order)
            return (*outer, *reduced) if self.rules.waiting else (*reduced, *outer)
        return None

    def _result_order(self, order: Order, operation: Operation) -> Order | None:
        """Returns the order of a result to which no element moves: ChooseOutputLayoutFromOperandLayout."""
        shape, operand = operation.results[0].shape, operation.operands[0].shape
        if operation.opcode == "reshape" and isinstance(shape, ArrayShape) and isinstance(operand, ArrayShape):
            return self.rules.aligned(operand, order, shape)
        if operation.opcode == "transpose":
            inverse = inverse_permutation(operation.ints("dimensions") or ())
            return tuple(inverse[each] for each in order)
        return None


def descending(rank: int) -> Order:
    """Returns the order in which the last dimension is the most minor."""
    return Layout.descending(rank).minor_to_major


def nodes(values: Iterable[Value]) -> list[Node]:
    """Returns the arrays and tokens of values, in order."""
    return [Node(value, leaf) for value in values for leaf in range(value.shape.leaf_count)]


def uses(operation: Operation) -> list[Use]:
    """Returns the arrays and tokens of an operation's operands, in order."""
    counts = (value.shape.leaf_count for value in operation.operands)
    return [Use(operation, number, leaf) for number, count in enumerate(counts) for leaf in range(count)]


def order_of(shape: Shape) -> Order | None:
    """Returns the order of an array, None where its dimensions are dynamic and for another shape."""
    return shape.effective_layout.minor_to_major if isinstance(shape, ArrayShape) and shape.is_static else None


def _leaves(shapes: Iterable[Shape]) -> Iterator[Shape]:
    return (leaf for shape in shapes for leaf in shape.leaves())


def _passed(operation: Operation, number: int) -> list[Use]:
    """Returns the uses whose arrays a called function receives."""
    return [each for each in uses(operation) if operation.opcode != "conditional" or each.operand == number + 1]


def _opcode(node: Node) -> str:
    return node.owner.operation.opcode if isinstance(node.owner, Value) and node.owner.operation is not None else ""


def _is_array(node: Node) -> bool:
    """Is true for an array that is a parameter or the only result of an operation."""
    owner = node.owner
    is_only = isinstance(owner, Value) and (owner.operation is None or len(owner.operation.results) == 1)
    return is_only and isinstance(owner, Value) and isinstance(owner.shape, ArrayShape)


def _keeps_order(operation: Operation) -> bool:
    return operation.opcode in _KEEPING or operation.callee == "TopK"


def _kept(operation: Operation, rank: int) -> list[int]:
    return [each for each in range(rank) if each not in (operation.ints("dimensions") or ())]


def _is_depth_first(operation: Operation) -> bool:
    """Is true where InstructionShouldPropagateDepthFirst is."""
    if operation.opcode == "reshape":
        source, result = (next(each.shape.arrays()) for each in (operation.operands[0], operation.results[0]))
        wide = [[size for size in each.dimensions if size > 1] for each in (source, result)]
        return source.rank == 1 or wide[0] == wide[1]
    return operation.opcode in ("gather", "scatter", "transpose")


def _has_larger_sibling(use: Use) -> bool:
    (dimension,) = use.operation.ints("dimensions") or (0,)
    sizes = [next(each.shape.arrays()).dimensions[dimension] for each in use.operation.operands]
    return max(sizes) > sizes[use.operand]


def _named_orders(operation: Operation) -> Iterator[Order | None]:
    """Yields the orders of results and operands that a custom call names."""
    text = operation.attribute("operand_layout_constraints")
    if text is not None:
        yield from map(order_of, _leaves(value.shape for value in operation.results))
        yield from map(order_of, parse_shape(f"({text.strip()[1:-1]})").leaves())
    for name in ("result_layouts", "operand_layouts") if text is None else ():
        for each in _DENSE.findall(operation.attribute(name) or ""):
            yield tuple(map(int, re.findall(r"\d+", each)))


def _in_call_order(module: Module) -> tuple[list[Function], list[Operation]]:
    """Returns the functions whose values are in memory, callees first, and the fusions, callers first."""
    functions: list[Function] = []
    fusions: list[Operation] = []
    waiting, seen = [(module.entry, False)], set[Function]()
    while waiting:
        function, is_done = waiting.pop()
        if is_done:
            functions.append(function)
        elif function not in seen:
            seen.add(function)
            waiting.append((function, True))
            for operation in function.operations:
                if operation.opcode == "fusion":
                    fusions.append(operation)
                else:
                    waiting += [(each, False) for each in operation.called if not each.is_embedded]
    return functions, fusions
