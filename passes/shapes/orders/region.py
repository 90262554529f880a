"""The values around one value that take another order of dimensions with it."""

from __future__ import annotations

from collections import ChainMap, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from dialect_utils.ir import Join, Module, Operation, Value
from dialect_utils.ir.chains import is_pinned, is_plain
from dialect_utils.ir.control_flow import merged
from dialect_utils.ir.factors import Order, identity, orders_of, positions_of, value_at
from dialect_utils.ops import Trait, has, with_trait
from dialect_utils.ops.factors import Position
from passes.shapes.known_factors import KnownFactors

# The orders of values that are not in their own order.
Orders = Mapping[Value, Order]
# The order of each array at which an operation computes.
Fit = Mapping[Position, Order]

# Operations that may pass arrays in another order to their parameters and results.
_JOINING = with_trait(Trait.CONTROL_FLOW) | {"fusion"}


@dataclass(slots=True)
class Joins:
    """The values that control flow joins, by target and by source; all targets of a join have one order."""

    module: Module
    of_target: dict[Value, Join] = field(default_factory=dict)
    of_source: dict[Value, list[Join]] = field(default_factory=dict)
    fixed: set[Value] = field(default_factory=set)
    _factors: KnownFactors = field(default_factory=KnownFactors)

    def __post_init__(self) -> None:
        calling = [each for each in self.module.operations() if has(each.opcode, Trait.CALLS)]
        for operation in calling:
            if operation.opcode not in _JOINING or is_pinned(operation):
                self.fixed.update(target for join in operation.control_flow() for target in join.targets)
        for join in merged(join for operation in calling for join in operation.control_flow()):
            if not all(map(is_plain, join.values)):
                self.fixed.update(join.targets)
            for target in join.targets:
                self.of_target[target] = join
            for source in join.sources:
                self.of_source.setdefault(source.value, []).append(join)

    def is_free(self, value: Value) -> bool:
        """Is true for a parameter or result that may get another order."""
        join = self.of_target.get(value)
        return join is not None and not any(target in self.fixed for target in join.targets)

    def fit(self, operation: Operation, known: Orders) -> Fit | None:
        """Returns how an operation computes where some values have known orders; None for one that stays as it is."""
        factors = self._factors.of(operation)
        if factors is None:
            return None
        values = (*enumerate(operation.operands), *((~i, result) for i, result in enumerate(operation.results)))
        found = {position: known[value] for position, value in values if value in known}
        return orders_of(operation, factors, found) if found else None

    def targets(self, value: Value) -> tuple[Value, ...]:
        """Returns the values that have to have the order of a value, with the value itself."""
        return self.of_target[value].targets if value in self.of_target else (value,)


@dataclass(slots=True)
class Region:
    """The orders that spread from one value, and how each operation around them computes."""

    joins: Joins
    orders: dict[Value, Order] = field(default_factory=dict)
    fits: dict[Operation, Fit] = field(default_factory=dict)
    _waiting: deque[Value] = field(default_factory=deque)

    def spread(self, value: Value, order: Order) -> None:
        """Gives a value an order, and with it each value that then needs no transpose; the first order decides."""
        self._give(value, order)
        while self._waiting:
            self._visit(self._waiting.popleft())
        for operation in self._operations():
            found = self.joins.fit(operation, self.orders)
            if found is not None:
                self.fits[operation] = found

    @property
    def changes(self) -> frozenset[tuple[Operation | Join, Sequence[object]]]:
        """Returns the operations and joins that have another order, each with its fit or its order."""
        # A transpose computes nothing: it is made again where others need it.
        remade = ((each, found) for each, found in self.fits.items() if each.opcode != "transpose")
        joined = ((join, self.orders[join.targets[0]]) for join in self.joined())
        return frozenset((*((each, tuple(found.items())) for each, found in remade if not is_trivial(found)), *joined))

    def joined(self) -> Iterator[Join]:
        """Yields each join whose targets get another order."""
        seen = {}
        for value in self.orders:
            join = self.joins.of_target.get(value)
            if join is not None and self.joins.is_free(value):
                seen[join.targets] = join
        yield from seen.values()

    def leaves(self, value: Value) -> bool:
        """Is true for a value that an operation outside of the region reads, or that a function returns as it was."""
        if any(user not in self.fits and user.opcode not in _JOINING for user in value.users):
            return True
        return value in value.function.results and value not in self.joins.of_source

    def _give(self, value: Value, order: Order) -> None:
        for each in self.joins.targets(value) if self.joins.is_free(value) else (value,):
            self.orders[each] = order
            self._waiting.append(each)

    def _visit(self, value: Value) -> None:
        for operation in self._around(value):
            found = self.joins.fit(operation, self.orders)
            if found is None:
                continue
            for position, order in found.items():
                self._offer(value_at(operation, position), order)
        if self.joins.is_free(value):
            for source in self.joins.of_target[value].sources:
                self._offer(source.value, self.orders[value])
        for join in self.joins.of_source.get(value, ()):
            self._offer(join.targets[0], self.orders[value])

    def _offer(self, value: Value, order: Order) -> None:
        """Gives a value an order if it has none yet, and if its definition computes in this order."""
        if value in self.orders or order == identity(len(order)):
            return
        operation = value.operation
        if self.joins.is_free(value):
            self._give(value, order)
        elif operation is not None:
            found = self.joins.fit(operation, ChainMap({value: order}, self.orders))
            if found is not None and all(found[each] == order for each in positions_of(operation, value)):
                self._give(value, order)

    def _around(self, value: Value) -> Iterator[Operation]:
        """Yields the operations that define and use a value."""
        if value.operation is not None:
            yield value.operation
        yield from value.users

    def _operations(self) -> dict[Operation, None]:
        """Returns the operations around all values with another order."""
        return dict.fromkeys(operation for value in self.orders for operation in self._around(value))


def is_trivial(fit: Fit) -> bool:
    """Is true where all dimensions stay where they are."""
    return all(order == identity(len(order)) for order in fit.values())
