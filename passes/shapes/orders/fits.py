"""Operations that compute with their dimensions in other orders: which orders their operands and results have then.

An order lists dimensions: dimension `order[i]` of a value becomes dimension i.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from dialect_utils.ir import Operation, Value, array_shape
from dialect_utils.ir.chains import is_pinned, is_plain
from dialect_utils.ir.elementwise import is_elementwise, scalar_operands
from dialect_utils.ir.permuted import NamedInts, permute_op
from dialect_utils.layout import Layout, Step
from dialect_utils.layout.moves.steps import inverse_permutation
from dialect_utils.layout.targets.propagation import Propagation, propagate_broadcast, propagate_reshaped
from dialect_utils.ops import by_opcode, opcode_of
from passes.shapes.orders import roles
from passes.shapes.orders.roles import Order, identity

# The orders of values that are not in their own order.
Orders = Mapping[Value, Order]


class Fit(NamedTuple):
    """How an operation computes with its dimensions in other orders.

    `operands` has the order of each operand (None: any), `positions` the numbers of the operands in their new sequence,
    `results` the orders of the results, `ints` the changed attributes, and `step` the changed pad or slice.
    """

    operands: tuple[Order | None, ...]
    positions: tuple[int, ...]
    results: tuple[Order, ...]
    ints: tuple[NamedInts, ...] = ()
    step: Step | None = None

    @property
    def is_trivial(self) -> bool:
        """Is true where all dimensions stay where they are."""
        orders = (*(order for order in self.operands if order is not None), *self.results)
        return not self.ints and all(order == identity(len(order)) for order in orders)


_Rule = Callable[[Operation, Orders], Fit | None]


def fit(operation: Operation, known: Orders) -> Fit | None:
    """Returns how an operation that has a rule computes where some of its operands and results have known orders.

    None where the operation has to keep its dimensions then, and where no known order concerns the operation. The
    orders that a fit has for other operands and results move the least data.
    """
    if not any(value in known for value in (*operation.operands, *operation.results)):
        return None
    rule = _RULES.get(operation.opcode, _same)
    return rule(operation, known)


def has_rule(operation: Operation) -> bool:
    """Is true for an operation on plain arrays that may compute with its dimensions in another order."""
    if operation.opcode == "constant":
        has_rule_ = operation.splat_bits is not None
    else:
        has_rule_ = operation.opcode in _RULES or is_elementwise(operation)
    if not has_rule_ or is_pinned(operation) or operation.attribute("sdy.sharding"):
        return False
    return all(map(is_plain, (*operation.operands, *operation.results)))


def _same(operation: Operation, known: Orders) -> Fit | None:
    """Fits an operation whose result has the order of the operands that have the result's dimensions."""
    [result] = operation.results
    order = known.get(result) or next(
        (known[value] for value in _aligned(operation) if value in known and len(known[value]) == _rank(result)), None
    )
    return None if order is None else _in_order(operation, order)


def _in_order(operation: Operation, order: Order) -> Fit | None:
    step = operation.step
    if operation.opcode in ("pad", "slice") and step is not None:
        others = (None,) * (len(operation.operands) - 1)
        return Fit((order, *others), tuple(range(1 + len(others))), (order,), (), step.permuted(order))
    if operation.opcode == "constant":
        return Fit((), (), (order,))
    found = permute_op(operation, order)
    return None if found is None else Fit(found.orders, found.operands, (order,), found.ints)


def _aligned(operation: Operation) -> Sequence[Value]:
    """Returns the operands that have the result's dimensions."""
    if is_elementwise(operation):
        scalars = scalar_operands(operation)
        return [value for i, value in enumerate(operation.operands) if i not in scalars]
    count = opcode_of(operation.opcode).aligned
    return operation.operands if count < 0 else operation.operands[:count]


def _broadcast(operation: Operation, known: Orders) -> Fit | None:
    [source], [result] = operation.operands, operation.results
    dimensions = operation.ints("dimensions")
    if dimensions is None:
        return None
    order = known.get(result)
    if order is None:
        order = _carried(partial(propagate_broadcast, dimensions=dimensions), source, known[source], result)
    return _in_order(operation, order)


def _transpose(operation: Operation, known: Orders) -> Fit | None:
    [source], [result] = operation.operands, operation.results
    permutation = operation.ints("dimensions") or ()
    if source in known:
        inverse = inverse_permutation(permutation)
        order = tuple(inverse[dim] for dim in known[source])
        return Fit((known[source],), (0,), (known.get(result, order),))
    order = known[result]
    return Fit((tuple(permutation[dim] for dim in order),), (0,), (order,))


def _reshape(operation: Operation, known: Orders) -> Fit | None:
    [source], [result] = operation.operands, operation.results
    of_source = known.get(source) or _carried(propagate_reshaped, result, known[result], source)
    of_result = known.get(result) or _carried(propagate_reshaped, source, known[source], result)
    return Fit((of_source,), (0,), (of_result,))


def _carried(rule: Propagation, source: Value, order: Order, target: Value) -> Order:
    """Returns the order of `target` that a layout rule derives from the order of `source`."""
    laid_out = array_shape(source).with_layout(Layout(tuple(reversed(order))))
    layout = rule(laid_out, array_shape(target).without_layout)
    return identity(_rank(target)) if layout is None else layout.major_to_minor


def _rank(value: Value) -> int:
    return array_shape(value).rank


def _by_role(rule: roles.Rule) -> _Rule:
    """Returns the fit of an operation whose dimensions have different roles."""

    def fitted(operation: Operation, known: Orders) -> Fit | None:
        wanted = [known.get(value) for value in operation.results]
        given = [known.get(value) for value in operation.operands]
        found = rule(operation, given, wanted)
        if found is None:
            return None
        return Fit(found.operands, tuple(range(len(found.operands))), found.results, found.ints)

    return fitted


# Each operation has attributes of its own that number dimensions.
_RULES: Mapping[str, _Rule] = by_opcode(
    {
        **dict.fromkeys(
            ("concatenate", "dynamic-slice", "dynamic-update-slice", "iota", "pad", "reverse", "slice"), _same
        ),
        "broadcast": _broadcast,
        "dot": _by_role(roles.dot),
        "gather": _by_role(roles.gather),
        "reduce": _by_role(roles.reduce),
        "reshape": _reshape,
        "scatter": _by_role(roles.scatter),
        "transpose": _transpose,
    }
)
