"""Chains of data-movement ops in a module: reading them as movements, making and removing them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from dialect_utils.elementwise import is_elementwise
from dialect_utils.ir import Builder, Function, Operation, Value
from dialect_utils.layout import ArrayShape, BitcastConvert, Pad, Plan, Step
from dialect_utils.layout.linear_map import Fill
from dialect_utils.layout.movement import Movement, normal_form
from passes.emit import STEP_NAMES

# The frontend attribute of a pad whose padding nobody may rely on.
PADDING_MARK = "relayout.padding"
UNSPECIFIED = "unspecified"

# A padding with more different uses than this is taken to be read.
_MOST_USES = 64


@dataclass(frozen=True, slots=True)
class Chain:
    """Is a run of movement ops, each the operand of the next, from `source` to the last one's result."""

    source: Value
    operations: tuple[Operation, ...]

    @property
    def value(self) -> Value:
        """Returns the value at the end."""
        return self.operations[-1].results[0] if self.operations else self.source

    def movement(self, fill: Callable[[Operation], Fill] | None = None) -> Movement:
        """Returns what the chain does; `fill` says what a pad writes (by default `padding_fill`)."""
        start = array_shape(self.source)
        steps = tuple(step_of(operation) for operation in self.operations)
        fills = tuple(
            (fill or padding_fill)(operation) if isinstance(step, Pad) else None
            for operation, step in zip(self.operations, steps, strict=True)
        )
        return Movement(Plan(start.element_type, start.dimensions, steps), fills)


def array_shape(value: Value) -> ArrayShape:
    """Returns the shape of a value that is an array."""
    shape = value.shape
    assert isinstance(shape, ArrayShape)  # steps start from and end in arrays
    return shape


def step_of(operation: Operation) -> Step:
    """Returns the step of a movement op."""
    step = operation.step
    assert step is not None  # callers ask is_movement first
    return step


def is_plain(value: Value) -> bool:
    """Is true for an array of fixed size that lies row-major and untiled, in any memory space."""
    shape = value.shape
    return isinstance(shape, ArrayShape) and shape.is_static and _has_plain_layout(shape)


def _has_plain_layout(shape: ArrayShape) -> bool:
    return shape.layout is None or shape.layout.replace(memory_space=0).is_default


def is_movement(operation: Operation) -> bool:
    """Is true for a data-movement op between plain arrays that nothing else is attached to.

    A sharding or an order of execution would be lost with the op.
    """
    if operation.step is None or not is_plain(operation.results[0]) or not is_plain(operation.operands[0]):
        return False
    return not any(operation.attribute(name) for name in ("sharding", "control-predecessors", "mhlo.sharding"))


def chain_to(value: Value, limit: int) -> Chain:
    """Returns the longest chain, of at most `limit` ops, that ends in a value."""
    operations: list[Operation] = []
    while len(operations) < limit:
        operation = value.operation
        if operation is None or not is_movement(operation):
            break
        operations.insert(0, operation)
        value = operation.operands[0]
    return Chain(value, tuple(operations))


def chains_from(value: Value, limit: int) -> Iterator[Chain]:
    """Yields every chain of at most `limit` ops that starts at a value, shorter ones first."""
    pending = [Chain(value, ())]
    while pending:
        chain = pending.pop(0)
        if chain.operations:
            yield chain
        if len(chain.operations) < limit:
            pending += [replace(chain, operations=(*chain.operations, user)) for user in movement_users(chain.value)]


def movement_users(value: Value) -> list[Operation]:
    """Returns the movement ops that move a value (not those that pad with it)."""
    return [user for user in value.users if is_movement(user) and user.operands[0] == value]


def is_returned(value: Value) -> bool:
    """Is true for a value that its function yields."""
    return value in value.function.results


def is_dead(value: Value) -> bool:
    """Is true for a value that nothing uses."""
    return not value.users and not is_returned(value)


def padding_fill(operation: Operation) -> Fill:
    """Returns what a pad writes, as a value that tells paddings apart; None where it is marked as unspecified."""
    if operation.frontend_attributes.get(PADDING_MARK) == UNSPECIFIED:
        return None
    padding = operation.operands[1]
    made_by = padding.operation
    bits = made_by.splat_bits if made_by is not None else None
    return ("bits", bits) if bits is not None else ("value", padding)


def fill_unless_unread(operation: Operation) -> Fill:
    """Returns `padding_fill`, or None where no use of the pad's result reads the padding."""
    fill = padding_fill(operation)
    return fill if fill is not None and is_padding_read(operation) else None


def is_padding_read(pad: Operation) -> bool:
    """Is true unless every use of a pad's result drops the padding, through movement and elementwise ops."""
    token = "this padding"
    value = pad.operands[0]
    start = Chain(value, (pad,)).movement(lambda _: token)
    pending = [(pad.results[0], start)]
    seen = set(pending)
    while pending:
        current, movement = pending.pop()
        if token not in movement.fills:
            continue
        if is_returned(current) or len(seen) > _MOST_USES:
            return True
        for user in current.users:
            after = _movement_through(user, current, movement)
            if after is None:
                return True
            if after not in seen:
                seen.add(after)
                pending.append(after)
    return False


def _movement_through(user: Operation, value: Value, movement: Movement) -> tuple[Value, Movement] | None:
    """Returns a user's result and how the padding lies in it, or None where the user reads it in another way."""
    if value in user.operands[1:] and user.step is not None:
        return None
    if is_movement(user):
        fill: Fill = padding_fill(user) if isinstance(user.step, Pad) else None
        moved = Plan(*movement.plan.result, (step_of(user),))
        return user.results[0], normal_form(movement.then(Movement(moved, (fill,))))
    if not is_elementwise(user) or any(isinstance(step, BitcastConvert) for step in movement.plan.steps):
        return None
    result = user.results[0]
    retyped = replace(movement.plan, element_type=array_shape(result).element_type)
    return result, replace(movement, plan=retyped)


def emit_movement(
    builder: Builder, movement: Movement, source: Value, *, base: str, like: Value, paddings: dict[Fill, Value]
) -> Value:
    """Makes the ops of a movement and returns the last one's value, or the source where there are none.

    `paddings` holds the scalar of every fill; a pad of unspecified contents takes any of the
    right type, or zero, and is marked.
    """
    value = source
    for step, fill in zip(movement.plan.steps, movement.fills, strict=True):
        padding = _padding(builder, step, fill, value, base, like, paddings)
        name = f"{base}.{STEP_NAMES[type(step)]}"
        value = builder.apply(step, value, name=name, like=like, padding=padding)
        if isinstance(step, Pad) and fill is None:
            mark_unspecified(value)
    return value


def mark_unspecified(value: Value) -> None:
    """Marks the padding of a pad's result as contents that nobody may rely on."""
    assert value.operation is not None  # a pad made it
    value.operation.set_frontend_attribute(PADDING_MARK, UNSPECIFIED)


def _padding(
    builder: Builder, step: Step, fill: Fill, value: Value, base: str, like: Value, paddings: dict[Fill, Value]
) -> Value | None:
    if not isinstance(step, Pad):
        return None
    if fill is not None:
        return paddings[fill]
    element_type = array_shape(value).element_type
    for known in paddings.values():
        if array_shape(known).element_type == element_type:
            return known
    return builder.constant(element_type, 0, name=f"{base}.padding", like=like)


def erase_dead(values: Sequence[Value], *, keep: Value | None = None) -> set[Operation]:
    """Removes movement ops and constants among dead values, and what they alone used, but not `keep`.

    Returns the removed operations.
    """
    pending = list(values)
    gone: set[Operation] = set()
    while pending:
        value = pending.pop()
        operation = value.operation
        if operation is None or value == keep or operation in gone or not is_dead(value):
            continue
        if operation.opcode != "constant" and not is_movement(operation):
            continue
        pending += operation.operands
        operation.erase()
        gone.add(operation)
    return gone


def movements_of(function: Function) -> list[Operation]:
    """Returns a function's movement ops in order."""
    return [operation for operation in function.operations if is_movement(operation)]
