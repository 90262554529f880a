"""Chains of data-movement ops in a module: reads them as plans, makes them from plans, removes them.

A *relayout* is a data-movement op between row-major untiled arrays. Each relayout in a chain is an operand of the next.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from dialect_utils.ir import Builder, Function, NewScalar, Operation, Padding, Value, array_shape
from dialect_utils.ir.elementwise import is_elementwise
from dialect_utils.layout import ArrayShape, ElementType, Step
from dialect_utils.layout.moves.normal_form import normal_form
from dialect_utils.layout.moves.plan import PaddingValue, Plan

# The contents of unspecified padding: zeros, or poison, which reveals an op that reads the padding.
Contents = Literal["zero", "poison"]

# The frontend attribute that marks a pad with undefined padding.
PADDING = "relayout.padding"
UNSPECIFIED = "unspecified"

# The kind of a PaddingValue that refers to a value of the module.
_VALUE = "value"

# Padding with more uses than this counts as read.
_MOST_USES = 64


@dataclass(frozen=True, slots=True)
class Chain:
    """Relayouts from `source` to the last one's result, each the operand of the next."""

    source: Value
    operations: tuple[Operation, ...]

    @property
    def value(self) -> Value:
        """Returns the value at the end of the chain."""
        return self.operations[-1].results[0] if self.operations else self.source

    def longer(self, user: Operation) -> Chain:
        """Returns the chain with one more relayout at the end."""
        return Chain(self.source, (*self.operations, user))

    def plan(self, padding: Callable[[Operation], PaddingValue] | None = None) -> Plan:
        """Returns the plan of the chain; `padding` returns the padding value of a pad (by default `padding_of`)."""
        start = array_shape(self.source)
        find, steps = padding or padding_of, tuple([step_of(operation) for operation in self.operations])
        paddings = tuple(
            [
                find(operation) if step.adds_elements else None
                for operation, step in zip(self.operations, steps, strict=True)
            ]
        )
        if any(isinstance(each, tuple) and each[0] == _VALUE for each in paddings):
            # A cached plan would keep the module alive.
            return Plan(start.element_type, start.dimensions, steps, paddings)
        return _plan(start.element_type, start.dimensions, steps, paddings)


@lru_cache(maxsize=1 << 12)
def _plan(
    element_type: ElementType, dimensions: tuple[int, ...], steps: tuple[Step, ...], paddings: tuple[PaddingValue, ...]
) -> Plan:
    return Plan(element_type, dimensions, steps, paddings)


def step_of(operation: Operation) -> Step:
    """Returns the step of a relayout."""
    step = operation.step
    assert step is not None  # checked by the caller: is_relayout
    return step


def is_plain(value: Value) -> bool:
    """Is true for an array of fixed size that is row-major and untiled, in any memory space."""
    shape = value.shape
    if not isinstance(shape, ArrayShape) or not shape.is_static:
        return False
    return shape.layout is None or shape.layout.in_default_memory.is_default


def is_relayout(operation: Operation) -> bool:
    """Is true for a data-movement op between plain arrays that `is_pinned` does not exclude."""
    if operation.step is None or not is_plain(operation.results[0]) or not is_plain(operation.operands[0]):
        return False
    return not is_pinned(operation)


def is_pinned(operation: Operation) -> bool:
    """Is true for an operation with a sharding or control dependency, which removing the operation would lose."""
    # Three calls are faster than a loop; this function is called many times for every operation.
    return bool(
        operation.attribute("sharding")
        or operation.attribute("control-predecessors")
        or operation.attribute("mhlo.sharding")
    )


def chain_to(value: Value, limit: int) -> Chain:
    """Returns the longest chain, of at most `limit` ops, that ends in a value."""
    operations: list[Operation] = []
    while len(operations) < limit:
        operation = value.operation
        if operation is None or not is_relayout(operation):
            break
        operations.insert(0, operation)
        value = operation.operands[0]
    return Chain(value, tuple(operations))


def chains_from(value: Value, limit: int, ends: Callable[[Chain], bool] | None = None) -> Iterator[Chain]:
    """Yields every chain of at most `limit` ops that starts at a value, shorter ones first.

    A chain for which `ends` returns true is not extended.
    """
    pending = deque([Chain(value, ())])
    while pending:
        chain = pending.popleft()
        if chain.operations:
            yield chain
            if ends is not None and ends(chain):
                continue
        if len(chain.operations) < limit:
            pending += [chain.longer(user) for user in relayout_users(chain.value)]


def relayout_users(value: Value) -> list[Operation]:
    """Returns the relayouts whose first operand is a value."""
    return [user for user in value.users if moves(user, value)]


def moves(user: Operation, value: Value) -> bool:
    """Is true for a relayout whose first operand is `value`, not for a pad that uses it as padding."""
    operands = user.operands
    return bool(operands) and operands[0] == value and is_relayout(user)


def is_returned(value: Value) -> bool:
    """Is true for a value that is a result of its function."""
    return value in value.function.results


def is_dead(value: Value) -> bool:
    """Is true for a value that nothing uses."""
    return not value.users and not is_returned(value)


def padding_of(pad: Operation) -> PaddingValue:
    """Returns the padding value of a pad: its bits or its scalar, or None if the pad is marked unspecified."""
    if pad.frontend_attributes.get(PADDING) == UNSPECIFIED:
        return None
    scalar = pad.operands[1]
    bits = scalar.operation.splat_bits if scalar.operation is not None else None
    return ("bits", bits) if bits is not None else (_VALUE, scalar)


def padding_unless_unread(pad: Operation) -> PaddingValue:
    """Returns `padding_of`, or None if no use of the pad's result reads the padding."""
    padding = padding_of(pad)
    return padding if padding is not None and is_padding_read(pad) else None


def is_padding_read(pad: Operation) -> bool:
    """Is true unless every use of a pad's result, followed through relayouts and elementwise ops, drops the padding."""
    token = "this padding"
    pending = [(pad.results[0], Chain(pad.operands[0], (pad,)).plan(lambda _: token))]
    seen = set(pending)
    while pending:
        current, plan = pending.pop()
        if token not in plan.paddings:
            continue
        if is_returned(current) or len(seen) > _MOST_USES:
            return True
        for user in current.users:
            after = _plan_through(user, current, plan)
            if after is None:
                return True
            if after not in seen:
                seen.add(after)
                pending.append(after)
    return False


def _plan_through(user: Operation, value: Value, plan: Plan) -> tuple[Value, Plan] | None:
    """Returns a user's result and the plan up to it, or None for a user that reads `value` in another way."""
    if value in user.operands[1:] and user.step is not None:
        return None
    if is_relayout(user):
        padding = padding_of(user) if step_of(user).adds_elements else None
        moved = Plan(*plan.result, (step_of(user),), (padding,))
        return user.results[0], normal_form(plan.then(moved))
    if not is_elementwise(user) or plan.regroups_bits:
        return None
    result = user.results[0]
    return result, plan.retyped(array_shape(result).element_type)


def emit_plan(
    builder: Builder,
    plan: Plan,
    value: Value,
    *,
    base: str,
    like: Value,
    last: str | None = None,
    scalars: Mapping[PaddingValue, Value] | None = None,
    contents: Contents = "zero",
    scalar_name: str = "padding",
) -> list[Value]:
    """Builds the ops of a plan and returns their values in order.

    Ops are named `<base>.<opcode>`, the last one `<base>.<last>` if that is given; metadata and location come from
    `like`. `scalars` holds the scalar of every padding value. A pad with undefined padding uses any scalar of the right
    type, or else a new constant of `contents`, named `<base>.<scalar_name>`.
    """
    if not plan.steps:
        return []
    names = [f"{base}.{step.opcode}" for step in plan.steps]
    if last is not None:
        names[-1] = f"{base}.{last}"
    paddings: list[Padding] = [None] * len(names)
    if plan.adds_elements:
        for index, (step, padding, before) in enumerate(zip(plan.steps, plan.paddings, plan.stages, strict=False)):
            if step.adds_elements:
                scalar = _scalar(padding, before[0], scalars or {})
                bits = before[0].poison_bits if contents == "poison" else 0
                paddings[index] = scalar or NewScalar(f"{base}.{scalar_name}", bits)
    return list(builder.apply_plan(plan, value, names, like=like, paddings=paddings))


def _scalar(padding: PaddingValue, element_type: ElementType, scalars: Mapping[PaddingValue, Value]) -> Value | None:
    if padding is not None:
        return scalars[padding]
    return next((known for known in scalars.values() if array_shape(known).element_type == element_type), None)


def emit_chain(
    builder: Builder,
    plan: Plan,
    source: Value,
    *,
    base: str,
    like: Value,
    scalars: Mapping[PaddingValue, Value] | None = None,
) -> Value:
    """Builds the ops of a plan, marks pads with undefined padding, and returns the last value (or `source`)."""
    made = emit_plan(builder, plan, source, base=base, like=like, scalars=scalars)
    for value, step, padding in zip(made, plan.steps, plan.paddings, strict=True):
        if step.adds_elements and padding is None:
            mark_unspecified(value)
    return made[-1] if made else source


def mark_unspecified(value: Value) -> None:
    """Marks the padding of a pad as undefined."""
    assert value.operation is not None  # the pad
    value.operation.set_frontend_attribute(PADDING, UNSPECIFIED)


def erase_dead(values: Sequence[Value], *, keep: Value | None = None) -> set[Operation]:
    """Removes dead relayouts and constants, and operands that become dead, but not `keep`; returns the removed ops."""
    pending = list(values)
    gone: set[Operation] = set()
    while pending:
        value = pending.pop()
        operation = value.operation
        if operation is None or value == keep or operation in gone or not is_dead(value):
            continue
        if operation.opcode != "constant" and not is_relayout(operation):
            continue
        pending += operation.operands
        operation.erase()
        gone.add(operation)
    return gone


def relayouts_of(function: Function) -> list[Operation]:
    """Returns the relayouts of a function in order."""
    return [operation for operation in function.operations if is_relayout(operation)]
