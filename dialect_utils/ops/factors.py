"""Factors of operations: the indices that dimensions of operands and results share.

In a dot of f32[8,4] and f32[4,5] the rows are a factor of 8 elements: dimension 0 of operand 0 and dimension 0 of the
result. Each operation declares a function that returns its factors, or the reason why it has none. From factors follow
the orders in which an operation can compute, and the dimensions that can be merged, cut or placed on devices.

Source of the idea: Shardy's OpShardingRuleAttr.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dialect_utils.ir import Operation

# Operand i is position i, result i is position ~i. The arrays of a tuple count as results.
Position = int
RESULT: Position = ~0
# A dimension by position.
Dimensions = Mapping[Position, int]


class Kind(Enum):
    """The way in which an operation uses the indices of a factor."""

    # Results at an index depend only on operands at this index, and in the same way at each index.
    KEPT = auto()
    # The results lack the factor: the operation combines all indices, a dot by add, others by their computation.
    COMBINED = auto()
    # A range of neighbouring indices is kept; sizes differ, because the operation joins, adds or drops indices.
    CUT = auto()
    # Indices of a result are windows over those of the operands, or every n-th of them.
    WINDOWED = auto()
    # Values of an operand are indices of the factor.
    INDEXED = auto()
    # Results at an index may depend on operands at every index, or on the number of the index.
    WHOLE = auto()


@dataclass(frozen=True, slots=True)
class Factor:
    """One shared index: a dimension for each operand and result that has the factor.

    A dimension may have several factors; they are listed from major to minor. `size` is the number of indices, the
    largest one where the sizes of the dimensions differ.
    """

    dimensions: Dimensions
    size: int
    kind: Kind = Kind.KEPT


FactorRule = Callable[["Operation"], Iterator[Factor]]


def sizes_at(operation: Operation, position: Position) -> tuple[int, ...]:
    """Returns the dimensions of an operand or result, which has to be an array."""
    if position >= 0:
        [shape] = operation.operands[position].shape.arrays()
    else:
        shape = [leaf for value in operation.results for leaf in value.shape.arrays()][~position]
    return shape.dimensions


def result_positions(operation: Operation) -> list[Position]:
    """Returns the positions of all results, arrays of a tuple counted one by one."""
    return [~i for i, _ in enumerate(leaf for value in operation.results for leaf in value.shape.arrays())]


def shared(operation: Operation, dimensions: Dimensions, kind: Kind = Kind.KEPT) -> Factor:
    """Returns the factor that consists of whole dimensions."""
    size = max(sizes_at(operation, position)[dimension] for position, dimension in dimensions.items())
    return Factor(dimensions, size, kind)


def aligned(operation: Operation, positions: Iterable[Position], kinds: Mapping[int, Kind]) -> Iterator[Factor]:
    """Yields a factor for each dimension, which has one number at all positions; those not in `kinds` are kept."""
    listed = list(positions)
    for dimension, _ in enumerate(sizes_at(operation, listed[-1])):
        yield shared(operation, dict.fromkeys(listed, dimension), kinds.get(dimension, Kind.KEPT))


def of_equal_arrays(operation: Operation, name: str = "", kind: Kind = Kind.WHOLE) -> Iterator[Factor]:
    """Yields the factors of an operation on arrays of one rank; the attribute `name` lists dimensions of a kind."""
    listed = operation.ints(name) or () if name else ()
    positions = (*range(len(operation.operands)), *result_positions(operation))
    return aligned(operation, positions, dict.fromkeys(listed, kind))


def of_elements(operation: Operation) -> Iterator[Factor]:
    """Yields the factors of an elementwise operation; a scalar operand, as the bound of a clamp, has none."""
    sizes = sizes_at(operation, RESULT)
    given = [sizes_at(operation, position) for position, _ in enumerate(operation.operands)]
    if all(each in (sizes, ()) for each in given):
        yield from aligned(operation, [*(i for i, each in enumerate(given) if each == sizes), RESULT], {})


def of_each_array(operation: Operation, name: str = "") -> Iterator[Factor]:
    """Yields the factors of an operation that treats its arrays one by one; `name` lists dimensions used as a whole."""
    kinds = dict.fromkeys((operation.ints(name) or ()) if name else (), Kind.WHOLE)
    for position, _ in enumerate(operation.operands):
        yield from aligned(operation, [position, ~position], kinds)


def of_matrices(operation: Operation, count: int) -> Iterator[Factor]:
    """Yields the factors of an operation that keeps all but the last `count` dimensions of operand 0."""
    rank = len(sizes_at(operation, 0))
    whole = dict.fromkeys(range(rank - count, rank), Kind.WHOLE)
    return aligned(operation, [0, *result_positions(operation)], whole)


def of_broadcast(operation: Operation) -> Iterator[Factor]:
    """Yields the dimensions of the result; one that repeats a dimension of size 1 uses that dimension as a whole."""
    sizes, source = sizes_at(operation, RESULT), sizes_at(operation, 0)
    given = {dimension: index for index, dimension in enumerate(operation.ints("dimensions") or ())}
    if operation.attribute("broadcast_sizes") is not None:
        return
    for dimension, size in enumerate(sizes):
        if dimension not in given:
            yield Factor({RESULT: dimension}, size)
            continue
        kind = Kind.KEPT if source[given[dimension]] == size else Kind.WHOLE
        yield Factor({0: given[dimension], RESULT: dimension}, size, kind)


def of_constant(operation: Operation) -> Iterator[Factor]:
    """Yields the dimensions of the result, kept if all elements are equal, else used as a whole."""
    kind = Kind.WHOLE if operation.splat_bits is None else Kind.KEPT
    return aligned(operation, [RESULT], dict.fromkeys(range(len(sizes_at(operation, RESULT))), kind))


def of_step(operation: Operation) -> Iterator[Factor]:
    """Yields the factors of a step of data movement."""
    step, sizes = operation.step, sizes_at(operation, 0)
    if step is None or step.regroups_bits:
        yield from _of_other_elements(operation)
    elif step.opcode == "reshape":
        yield from of_reshape(sizes, sizes_at(operation, RESULT))
    else:
        kept = {each.source: each for each in step.shared_dimensions(sizes)}
        for source, _ in enumerate(sizes):
            kind = Kind.WINDOWED if source not in kept else Kind.KEPT if kept[source].is_whole else Kind.CUT
            result = kept[source].dimension if source in kept else source
            yield shared(operation, {0: source, RESULT: result}, kind)


def _of_other_elements(operation: Operation) -> Iterator[Factor]:
    """Yields the dimensions that both sides have; a last dimension of narrower elements is inside the wider ones."""
    before, after = sizes_at(operation, 0), sizes_at(operation, RESULT)
    for dimension in range(min(len(before), len(after))):
        yield shared(operation, {0: dimension, RESULT: dimension})
    if len(before) != len(after):
        longer = 0 if len(before) > len(after) else RESULT
        yield shared(operation, {longer: min(len(before), len(after))}, Kind.WHOLE)


def of_reshape(before: Sequence[int], after: Sequence[int]) -> Iterator[Factor]:
    """Yields the factors of a reshape: the parts that divide the dimensions of both sides.

    The factors of [6,4] -> [2,12] are 2, 3 and 4: the first two are dimension 0 of the operand, the last two are
    dimension 1 of the result. [4,6] -> [6,4] has none.
    """
    if 0 not in (*before, *after):
        sides = [[(number, size) for number, size in enumerate(sizes) if size != 1] for sizes in (before, after)]
        while all(sides):
            yield from _divided(*_leading_groups(*sides))


_Sized = tuple[int, int]


def _leading_groups(before: list[_Sized], after: list[_Sized]) -> tuple[list[_Sized], list[_Sized]]:
    """Removes the fewest leading dimensions, with their sizes, that have equally many elements on both sides."""
    first, second = [before.pop(0)], [after.pop(0)]
    counts = [first[0][1], second[0][1]]
    while counts[0] != counts[1]:
        shorter, rest = (first, before) if counts[0] < counts[1] else (second, after)
        shorter.append(rest.pop(0))
        counts[shorter is second] *= shorter[-1][1]
    return first, second


def _divided(before: list[_Sized], after: list[_Sized]) -> list[Factor]:
    """Returns the factors of two groups with equal products: 2, 6 of [12] -> [2,6], none of [4,6] -> [6,4]."""
    found = []
    (source, left), (result, right) = before.pop(0), after.pop(0)
    while max(left, right) > 1:
        size = min(left, right)
        if max(left, right) % size:
            return []
        found.append(Factor({0: source, RESULT: result}, size))
        left, right = left // size, right // size
        if left == 1 and before:
            source, left = before.pop(0)
        if right == 1 and after:
            result, right = after.pop(0)
    return found
