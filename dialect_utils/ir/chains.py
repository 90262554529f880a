"""Chains of data-movement ops in a module: read as plans, made of plans, removed.

A *relayout* is an op that only moves data between arrays that are row-major and untiled; a chain is a run of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from dialect_utils.elementwise import is_elementwise
from dialect_utils.ir import Builder, Function, Operation, Value, array_shape
from dialect_utils.layout import ArrayShape, ElementType, Step
from dialect_utils.layout.moves.normal_form import normal_form
from dialect_utils.layout.moves.plan import PaddingValue, Plan

# What pads of unspecified contents write: zeros, or what makes a reader of the padding conspicuous.
Contents = Literal["zero", "poison"]

# The marker attribute of a pad whose padding nobody may rely on.
PADDING = "relayout.padding"
UNSPECIFIED = "unspecified"

# The kind of a padding value that is a value of the module.
_VALUE = "value"

# A padding with more different uses than this is taken to be read.
_MOST_USES = 64


@dataclass(frozen=True, slots=True)
class Chain:
    """A run of relayouts, each the operand of the next, from `source` to the last one's result."""

    source: Value
    operations: tuple[Operation, ...]

    @property
    def value(self) -> Value:
        """Returns the value at the end."""
        return self.operations[-1].results[0] if self.operations else self.source

    def longer(self, user: Operation) -> Chain:
        """Returns the chain with one more relayout at its end."""
        return Chain(self.source, (*self.operations, user))

    def plan(self, padding: Callable[[Operation], PaddingValue] | None = None) -> Plan:
        """Returns what the chain does; `padding` says what a pad writes (by default `padding_of`)."""
        start = array_shape(self.source)
        find, steps = padding or padding_of, tuple([step_of(operation) for operation in self.operations])
        paddings = tuple(
            [
                find(operation) if step.adds_elements else None
                for operation, step in zip(self.operations, steps, strict=True)
            ]
        )
        if any(isinstance(each, tuple) and each[0] == _VALUE for each in paddings):
            # One that is remembered would keep the module alive.
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
    assert step is not None  # callers ask is_relayout first
    return step


def is_plain(value: Value) -> bool:
    """Is true for an array of fixed size that is row-major and untiled, in any memory space."""
    shape = value.shape
    return isinstance(shape, ArrayShape) and shape.is_static and _has_plain_layout(shape)


def _has_plain_layout(shape: ArrayShape) -> bool:
    return shape.layout is None or shape.layout.in_default_memory.is_default


def is_relayout(operation: Operation) -> bool:
    """Is true for a data-movement op between plain arrays that nothing else is attached to.

    A sharding or an order of execution would be lost with the op.
    """
    if operation.step is None or not is_plain(operation.results[0]) or not is_plain(operation.operands[0]):
        return False
    # One after the other: this is asked of every operation, many times.
    return not (
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

    None goes on beyond one that `ends`.
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
    """Returns the relayouts that move a value (not those that pad with it)."""
    return [user for user in value.users if moves(user, value)]


def moves(user: Operation, value: Value) -> bool:
    """Is true for a relayout that moves a value (not one that pads with it)."""
    return bool(user.operands) and user.operands[0] == value and is_relayout(user)


def is_returned(value: Value) -> bool:
    """Is true for a value that its function yields."""
    return value in value.function.results


def is_dead(value: Value) -> bool:
    """Is true for a value that nothing uses."""
    return not value.users and not is_returned(value)


def padding_of(pad: Operation) -> PaddingValue:
    """Returns what a pad writes, as a value that tells padding values apart; None where it is marked unspecified."""
    if pad.frontend_attributes.get(PADDING) == UNSPECIFIED:
        return None
    scalar = pad.operands[1]
    bits = scalar.operation.splat_bits if scalar.operation is not None else None
    return ("bits", bits) if bits is not None else (_VALUE, scalar)


def padding_unless_unread(pad: Operation) -> PaddingValue:
    """Returns `padding_of`, or None where no use of the pad's result reads the padding."""
    padding = padding_of(pad)
    return padding if padding is not None and is_padding_read(pad) else None


def is_padding_read(pad: Operation) -> bool:
    """Is true unless every use of a pad's result drops the padding, through relayouts and elementwise ops."""
    token = "this padding"
    value = pad.operands[0]
    pending = [(pad.results[0], Chain(value, (pad,)).plan(lambda _: token))]
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
    """Returns a user's result and how the padding is in it, or None where the user reads it in another way."""
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
    """Makes the ops of a plan and returns their values in order (none for an empty plan).

    Ops are named `<base>.<opcode>`, the last one `<base>.<last>` where that is given; metadata and location
    come from `like`. `scalars` holds the scalar of every padding value; a pad of unspecified contents takes any
    of the right type, or a new one of `contents`, named `<base>.<scalar_name>`.
    """
    made: list[Value] = []
    for number, (step, padding) in enumerate(zip(plan.steps, plan.paddings, strict=True), 1):
        scalar = None
        if step.adds_elements:
            element_type = array_shape(value).element_type
            scalar = _scalar(padding, element_type, scalars or {})
            if scalar is None:
                scalar = _constant(builder, element_type, contents, f"{base}.{scalar_name}", like)
        name = last if last is not None and number == len(plan.steps) else step.opcode
        value = builder.apply(step, value, name=f"{base}.{name}", like=like, padding=scalar)
        made.append(value)
    return made


def _scalar(padding: PaddingValue, element_type: ElementType, scalars: Mapping[PaddingValue, Value]) -> Value | None:
    if padding is not None:
        return scalars[padding]
    return next((known for known in scalars.values() if array_shape(known).element_type == element_type), None)


def _constant(builder: Builder, element_type: ElementType, contents: Contents, name: str, like: Value) -> Value:
    bits = element_type.poison_bits if contents == "poison" else 0
    return builder.constant(element_type, bits, name=name, like=like)


def emit_chain(
    builder: Builder,
    plan: Plan,
    source: Value,
    *,
    base: str,
    like: Value,
    scalars: Mapping[PaddingValue, Value] | None = None,
) -> Value:
    """Makes the ops of a plan, pads of unspecified contents marked so, and returns the last value, else the source."""
    made = emit_plan(builder, plan, source, base=base, like=like, scalars=scalars)
    for value, step, padding in zip(made, plan.steps, plan.paddings, strict=True):
        if step.adds_elements and padding is None:
            mark_unspecified(value)
    return made[-1] if made else source


def mark_unspecified(value: Value) -> None:
    """Marks the padding of a pad's result as contents that nobody may rely on."""
    assert value.operation is not None  # a pad made it
    value.operation.set_frontend_attribute(PADDING, UNSPECIFIED)


def erase_dead(values: Sequence[Value], *, keep: Value | None = None) -> set[Operation]:
    """Removes relayouts and constants among dead values, and what they alone used, but not `keep`.

    Returns the removed operations.
    """
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
    """Returns a function's relayouts in order."""
    return [operation for operation in function.operations if is_relayout(operation)]
