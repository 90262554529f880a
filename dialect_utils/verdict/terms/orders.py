"""The order of a sum: which sums of one program, and of two, an engine computes in the same order."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from math import prod

from dialect_utils.ir import Function, Operation, Value
from dialect_utils.ir.chains import Chain, chain_to
from dialect_utils.ir.elementwise import is_elementwise
from dialect_utils.layout import ArrayShape, Step
from dialect_utils.layout.moves.normal_form import normal_form
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops import Trait, has, named, opcode_of
from dialect_utils.ops.choices import USES, Choice
from dialect_utils.ops.factors import Factor, Kind, sizes_at
from dialect_utils.ops.structured import convolution_window, group_counts, labels, reduction_window
from dialect_utils.verdict.terms.labels import key_of

# A scatter combines its updates in the order of the array of updates.
_SUMS = USES[Choice.COMBINATION_ORDER] - USES[Choice.UPDATE_ORDER]
# Operations whose results take over the layout of an operand.
_LAID_OUT = Trait.ELEMENTWISE, Trait.MOVES_DATA, Trait.FORWARDS
# Float operations that do not round, so that a scan may apply them in any order.
_UNROUNDED = named("maximum minimum select constant and or not")


def order_of(operation: Operation) -> Hashable:
    """Returns all that an engine's order of a sum of floats may depend on; None where the order changes nothing.

    An engine chooses the order for the opcode, the types, the windows, the dimensions of the operands in memory, and
    the role of each. Equal orders of equal arrays are equal sums. Dimensions of size 1 play no role, and neighbours
    that the sum keeps count as one. For example, rows of f32[4,8]{0,1} are summed as columns of f32[8,4].
    """
    is_sum = operation.opcode in _SUMS and any(value.shape.is_inexact for value in operation.results)
    if not is_sum or (operation.called and not any(map(rounds, operation.called))):
        return None
    rule = opcode_of(operation.opcode).factors
    factors = [*rule(operation)] if callable(rule) else []
    if callable(rule) and prod(each.size for each in factors if each.kind is not Kind.KEPT) <= 1:
        return None
    arrays = [[*value.shape.arrays()] for value in (*operation.results, *operation.operands)]
    types = tuple(shape.element_type.name for shapes in arrays for shape in shapes)
    roles = [
        tuple(_roles(shape, position, factors, is_listed=has(operation.opcode, Trait.CONTRACTS)))
        for position, shapes in enumerate(arrays[len(operation.results) :])
        for shape in shapes
    ]
    rest = _windows(operation) if callable(rule) else key_of(operation)[:3]
    return operation.opcode, types, tuple(roles), tuple(map(_turns, operation.operands)), rest


# The nearest operations before a sum that may decide about the layout of its operand.
_NEAREST = 64


def _turns(value: Value) -> frozenset[Hashable]:
    """Returns the movement that makes an operand, where a transposition is part of it, else nothing.

    An engine may give the result of a transposition the layout of its operand, and elementwise operations keep it. So
    two sums of equal arrays have equal orders only if equal movement makes their operands. XLA:CPU, for example, sums
    the products of transpose(x) in another order than those of opt-barrier(transpose(x)).
    """
    seen: set[Value] = set()
    chains: list[Chain] = []
    others: list[Operation] = []
    pending = [value]
    while pending and len(seen) < _NEAREST:
        value = pending.pop()
        operation = value.operation
        if value in seen or operation is None:
            continue
        seen.add(value)
        chain = chain_to(value, _NEAREST)
        if chain.operations:
            chains.append(chain)
            pending.append(chain.source)
        elif any(has(operation.opcode, each) for each in _LAID_OUT):
            others += [] if operation.opcode == "copy" or is_elementwise(operation) else [operation]
            pending += operation.operands
    moved = [*others, *(operation for chain in chains for operation in chain.operations)]
    if not any(operation.opcode == "transpose" for operation in moved):
        return frozenset()
    kept = [steps for chain in chains if (steps := _not_undone(chain.plan(lambda _: None)))]
    opcodes = {*(each.opcode for each in others), *(step.opcode for steps in kept for step in steps)}
    return frozenset([*kept, *(key_of(each)[:3] for each in others)]) if "transpose" in opcodes else frozenset()


@lru_cache(maxsize=1 << 10)
def _not_undone(plan: Plan) -> tuple[Step, ...]:
    """Returns the steps of a plan without those that move elements there and back, as through a tiling."""
    forms = [normal_form(plan.part(0, i)) for i in range(len(plan.steps) + 1)]
    kept: list[Step] = []
    position = 0
    while (position := max(i for i, form in enumerate(forms) if form == forms[position])) < len(plan.steps):
        kept.append(plan.steps[position])
        position += 1
    return tuple(kept)


def _windows(operation: Operation) -> Hashable:
    """Returns the groups of a convolution, and the windows of an operation that are more than single elements.

    For example, XLA:CPU sums a reversed or dilated window in another order than the plain one of the same elements.
    """
    if operation.opcode == "convolution":
        kernel = sizes_at(operation, 1)
        found = convolution_window(operation, [kernel[i] for i in labels(operation).rhs_spatial])
        return *group_counts(operation), *(each for each in found if not each.is_trivial)
    if operation.opcode == "reduce-window":
        return tuple(each for each in reduction_window(operation, len(sizes_at(operation, 0))) if not each.is_trivial)
    return None


def _roles(
    shape: ArrayShape, position: int, factors: Sequence[Factor], *, is_listed: bool
) -> Iterator[tuple[Hashable, int]]:
    """Yields the role and size of each dimension in memory, most major first.

    The role of a kept dimension are the operands that have it. With `is_listed` that of another one is its place in the
    list of the operation.
    """
    inner = [each for each in factors if each.kind is not Kind.KEPT]
    found: list[tuple[Hashable, int]] = []
    for dimension in range(shape.rank) if shape.layout is None else shape.layout.major_to_minor:
        own = [each for each in factors if each.dimensions.get(position) == dimension]
        kept = frozenset(at for each in own for at in each.dimensions if at >= 0)
        listed = tuple(inner.index(each) if is_listed else number for number, each in enumerate(own) if each in inner)
        found += [(listed or kept, shape.dimensions[dimension])] if shape.dimensions[dimension] != 1 else []
    for is_kept, group in groupby(found, key=lambda each: each[0] if isinstance(each[0], frozenset) else None):
        members = [*group]
        yield from members if is_kept is None else [(is_kept, prod(size for _, size in members))]


def rounds(function: Function) -> bool:
    """Is true for a function whose float results may depend on the order in which a scan or reduction calls it."""
    return any(
        any(value.shape.is_inexact for value in each.results)
        and not has(each.opcode, Trait.MOVES_DATA)
        and not has(each.opcode, Trait.TUPLES)
        and each.opcode not in _UNROUNDED
        for each in function.operations
    )


def combines_in_any_order(function: Function) -> bool:
    """Is true for a function of a scatter or reduction whose results are the same in each order of the calls.

    Each result is then a commutative operation on its own accumulator and element, without a rounding.
    """
    count = len(function.results)
    pairs = zip(function.results, function.parameters[:count], function.parameters[count:], strict=False)
    return not rounds(function) and all(_commutes(*each) for each in pairs)


def _commutes(result: Value, *pair: Value) -> bool:
    maker = result.operation
    return maker is not None and has(maker.opcode, Trait.COMMUTATIVE) and {*maker.operands} == {*pair}
