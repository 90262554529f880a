"""The order of a sum: which sums of one program, and of two, an engine computes in the same order."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import groupby
from math import prod

from dialect_utils.ir import Operation
from dialect_utils.layout import ArrayShape
from dialect_utils.ops import Trait, has, opcode_of
from dialect_utils.ops.choices import USES, Choice
from dialect_utils.ops.factors import Factor, Kind
from dialect_utils.verdict.terms.labels import key_of
from dialect_utils.verdict.terms.loops import rounds

# A scatter combines its updates in the order of the array of updates.
_SUMS = USES[Choice.COMBINATION_ORDER] - USES[Choice.UPDATE_ORDER]
Role = tuple[Hashable, int]


def order_of(operation: Operation) -> Hashable:
    """Returns all that an engine's order of a sum of floats may depend on; None where the order changes nothing.

    An engine chooses the order for the opcode, the types, the dimensions of the operands in memory, and the role of each. Equal
    orders of equal arrays are equal sums. Dimensions of size 1 play no role, and neighbouring ones that the sum keeps
    count as one. For example, rows of f32[4,8]{0,1} are summed as columns of f32[8,4].
    """
    if operation.opcode not in _SUMS or not any(value.shape.is_inexact for value in operation.results):
        return None
    if operation.called and not any(map(rounds, operation.called)):
        return None
    known, values = opcode_of(operation.opcode), (*operation.results, *operation.operands)
    types = tuple(shape.element_type.name for value in values for shape in value.shape.arrays())
    if not callable(known.factors):
        shapes = [shape for value in operation.operands for shape in value.shape.arrays()]
        return operation.opcode, types, key_of(operation)[:3], tuple(tuple(_in_memory(shape)) for shape in shapes)
    factors = list(known.factors(operation))
    inner = [each for each in factors if each.kind is not Kind.KEPT]
    if prod(each.size for each in inner) <= 1:
        return None
    numbers: dict[int, int] = {}
    arrays = [
        tuple(_roles(shape, position, factors, numbers))
        for position, value in enumerate(operation.operands)
        for shape in value.shape.arrays()
    ]
    listed = [numbers.get(factors.index(each)) for each in inner] if has(operation.opcode, Trait.CONTRACTS) else []
    return operation.opcode, types, tuple(arrays), tuple(listed)


def _in_memory(shape: ArrayShape) -> Iterator[int]:
    """Yields the sizes of an array's dimensions of more than one element, most major first."""
    return (size for _, size in _dimensions(shape))


def _dimensions(shape: ArrayShape) -> Iterator[tuple[int, int]]:
    order = range(shape.rank) if shape.layout is None else shape.layout.major_to_minor
    return ((dimension, shape.dimensions[dimension]) for dimension in order if shape.dimensions[dimension] != 1)


def _roles(shape: ArrayShape, position: int, factors: Sequence[Factor], numbers: dict[int, int]) -> Iterator[Role]:
    """Yields the role and size of each dimension in memory; `numbers` counts the factors that are not kept."""
    found: list[Role] = []
    for dimension, size in _dimensions(shape):
        own = [i for i, each in enumerate(factors) if each.dimensions.get(position) == dimension]
        kept = tuple(sorted({at for i in own for at in factors[i].dimensions if at >= 0}))
        inner = tuple(numbers.setdefault(i, len(numbers)) for i in own if factors[i].kind is not Kind.KEPT)
        found.append((inner or ("kept", kept), size))
    for role, group in groupby(found, key=lambda each: each[0]):
        sizes = [size for _, size in group]
        yield role, prod(sizes)
