"""Gather and scatter in one form, whatever their dimension numbers.

The indices become columns, one vector for each dimension of the array that is indexed. These dimensions come first in
the array, in their order, and all others are one last dimension. So passes that transpose indices, collapse window
dimensions or write batching dimensions as indices change only movement. One slice is a dynamic slice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce as fold
from math import prod
from typing import TYPE_CHECKING

from dialect_utils.layout import ELEMENT_TYPES, ElementType, Slice
from dialect_utils.layout.moves.steps import inverse_permutation
from dialect_utils.ops.domain import (
    Domain,
    Scatter,
    UndefinedError,
    V,
    grouped,
    only_function,
    required_ints,
    reshaped,
    result_array,
    section,
    transposed,
)

if TYPE_CHECKING:
    from dialect_utils.ir import Operation

# The attributes of `Numbers` but the last one.
GATHER_NAMES = ("start_index_map", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims")
SCATTER_NAMES = (
    "scatter_dims_to_operand_dims",
    "inserted_window_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
)
_PRED = ELEMENT_TYPES["pred"]


@dataclass(frozen=True, slots=True)
class Numbers:
    """The dimension numbers that gather and scatter share.

    `mapped` are the dimensions of the array that an index vector is for, `gone` those that no window has. `batched` are
    the batching dimensions of the array, `joined` those of the indices, and `vector` that of the index vectors.
    """

    mapped: tuple[int, ...]
    gone: tuple[int, ...]
    batched: tuple[int, ...]
    joined: tuple[int, ...]
    vector: int

    def kept(self, rank: int) -> list[int]:
        """Returns the dimensions of an array that windows have."""
        return [i for i in range(rank) if i not in (*self.gone, *self.batched)]

    @property
    def order(self) -> tuple[int, ...]:
        """Returns the indexed dimensions of the array in the order in which indices are sorted."""
        return (*self.batched, *self.mapped)


def _numbers(operation: Operation, names: Sequence[str]) -> Numbers:
    mapped, gone, batched, joined = (operation.ints(name) or () for name in names)
    (vector,) = required_ints(operation, "index_vector_dim")
    return Numbers(mapped, gone, batched, joined, vector)


def _columns(domain: Domain[V], indices: V, numbers: Numbers) -> tuple[dict[int, V], int]:
    """Returns a vector of start indices for each indexed dimension of the array, and the number of index vectors.

    The column of a batching dimension holds 0, 1, 2, ...: the position along that dimension.
    """
    sizes = domain.dimensions(indices)
    batch = [i for i in range(len(sizes)) if i != numbers.vector]
    rows = grouped(domain, indices, batch, [i for i in range(len(sizes)) if i == numbers.vector])
    count, lengths = domain.dimensions(rows)[0], tuple(sizes[i] for i in batch)
    found = {
        dimension: reshaped(domain, section(domain, rows, 1, 1, k), (count,))
        for k, dimension in enumerate(numbers.mapped)
    }
    for ours, joined in zip(numbers.batched, numbers.joined, strict=True):
        counted = domain.iota(_counting_type(domain.element_type(indices), sizes[joined]), sizes[joined])
        found[ours] = reshaped(domain, domain.broadcast(counted, (batch.index(joined),), lengths), (count,))
    return found, count


def _largest(kind: ElementType) -> int:
    return (1 << (kind.bits - kind.is_signed)) - 1


def _counting_type(kind: ElementType, size: int) -> ElementType:
    """Returns a type of integers that holds a size: the given one, or a wider one."""
    return next(each for each in (kind, ELEMENT_TYPES["s32"], ELEMENT_TYPES["s64"]) if size <= _largest(each))


@dataclass(frozen=True, slots=True)
class _Indexed:
    """The dimensions of an array in the order of the primitives: the indexed ones, then the rest as one dimension."""

    sizes: tuple[int, ...]
    moving: tuple[int, ...]

    @property
    def order(self) -> list[int]:
        """Returns the dimensions in the order of the primitives."""
        return [*self.moving, *(i for i in range(len(self.sizes)) if i not in self.moving)]

    def _rest(self) -> list[int]:
        return [self.sizes[i] for i in self.order[len(self.moving) :]]

    def array(self, domain: Domain[V], array: V) -> V:
        """Returns an array [*indexed, rest]."""
        moved = transposed(domain, array, self.order)
        return reshaped(domain, moved, [*(self.sizes[i] for i in self.moving), prod(self._rest())])

    def restored(self, domain: Domain[V], array: V) -> V:
        """Returns an array [*indexed, rest] in the order that it had."""
        split = reshaped(domain, array, [self.sizes[i] for i in self.order])
        return transposed(domain, split, inverse_permutation(self.order))

    def windows(self, domain: Domain[V], windows: V) -> V:
        """Returns windows [count, *all dimensions] as [count, *indexed, rest]."""
        moved = transposed(domain, windows, [0, *(i + 1 for i in self.order)])
        kept = domain.dimensions(moved)[: len(self.moving) + 1]
        return reshaped(domain, moved, [*kept, prod(self._rest())])

    def all_windows(self, domain: Domain[V], windows: V) -> V:
        """Returns windows [count, *indexed, rest] as [count, *all dimensions]."""
        split = reshaped(domain, windows, [*domain.dimensions(windows)[:-1], *self._rest()])
        return transposed(domain, split, [0, *(i + 1 for i in inverse_permutation(self.order))])


# Gather


def define_gather(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the slices at the start indices; source: StableHLO's specification of gather."""
    array, indices = operands
    return [gathered(domain, operation, array, indices, required_ints(operation, "slice_sizes"))]


def gathered(domain: Domain[V], operation: Operation, array: V, indices: V, slices: Sequence[int]) -> V:
    """Returns the slices of given sizes at the start indices of a gather."""
    numbers, result = _numbers(operation, GATHER_NAMES), result_array(operation).dimensions
    columns, count = _columns(domain, indices, numbers)
    if prod(result) and 0 in slices:
        raise UndefinedError("a gather collapses a slice without elements")
    sizes = domain.dimensions(array)
    # A slice begins at 0 in a dimension without indices.
    limit = tuple(size if i in columns else slices[i] for i, size in enumerate(sizes))
    part = array if limit == sizes else domain.move(array, Slice((0,) * len(sizes), limit))
    moving = tuple(i for i in sorted(columns) if slices[i] < sizes[i])
    indexed = _Indexed(domain.dimensions(part), moving)
    if not moving:
        found = domain.broadcast(part, range(1, len(sizes) + 1), (count, *slices))
    elif count == 1:
        starts = _starts(domain, columns, indexed, domain.element_type(indices))
        found = domain.slice_at(part, starts, tuple(slices))
    else:
        windows = tuple(slices[i] for i in moving)
        chosen = [columns[i] for i in moving]
        read = domain.gather(operation, indexed.array(domain, part), chosen, windows, numbers.order)
        found = indexed.all_windows(domain, read)
    offsets = operation.ints("offset_dims") or ()
    batch = [i for i in range(len(result)) if i not in offsets]
    kept = [slices[i] for i in numbers.kept(len(sizes))]
    return transposed(
        domain, reshaped(domain, found, [*(result[i] for i in batch), *kept]), inverse_permutation([*batch, *offsets])
    )


def _starts(domain: Domain[V], columns: dict[int, V], indexed: _Indexed, kind: ElementType) -> list[V]:
    """Returns the scalar start indices of the only slice, 0 in dimensions without indices."""
    zero = domain.number(kind, 0, ())
    return [reshaped(domain, columns[i], ()) if i in indexed.moving else zero for i in range(len(indexed.sizes))]


# Scatter


def define_scatter(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the operands with the updates combined into them; source: HloEvaluator's HandleScatter."""
    total = len(operands) // 2
    arrays, indices, updates = operands[:total], operands[total], operands[total + 1 :]
    numbers, sizes = _numbers(operation, SCATTER_NAMES), domain.dimensions(arrays[0])
    columns, count = _columns(domain, indices, numbers)
    written = domain.dimensions(updates[0])
    windowed = sorted(operation.ints("update_window_dims") or ())
    window = [1] * len(sizes)
    for dimension, to in zip(numbers.kept(len(sizes)), windowed, strict=True):
        window[dimension] = written[to]
    if any(part > size for part, size in zip(window, sizes, strict=True)):
        return [*arrays]  # no window is inside
    kind = domain.element_type(indices)
    for i, size in enumerate(sizes):
        if window[i] < size and i not in columns:
            columns[i] = domain.number(ELEMENT_TYPES["s32"], 0, (count,))
    indexed = _Indexed(sizes, tuple(sorted(columns)))
    batch = [i for i in range(len(written)) if i not in windowed]
    rows = [reshaped(domain, transposed(domain, each, [*batch, *windowed]), [count, *window]) for each in updates]
    scatter = Scatter(operation, only_function(operation), numbers.order)
    if count == 1:
        try:
            return _updated(domain, operation, arrays, rows, _starts(domain, columns, indexed, kind), indexed.moving)
        except UndefinedError:
            # A function that is not elementwise is applied by the primitive alone.
            pass
    found = domain.scatter_at(
        scatter,
        [indexed.array(domain, each) for each in arrays],
        [columns[i] for i in indexed.moving],
        [indexed.windows(domain, each) for each in rows],
    )
    return [indexed.restored(domain, each) for each in found]


def _updated(
    domain: Domain[V],
    operation: Operation,
    arrays: Sequence[V],
    updates: Sequence[V],
    starts: Sequence[V],
    moving: Sequence[int],
) -> list[V]:
    """Returns arrays with the only update combined into them, where its window is inside."""
    sizes, window = domain.dimensions(arrays[0]), domain.dimensions(updates[0])[1:]
    parts = [domain.slice_at(array, starts, window) for array in arrays]
    rows = [reshaped(domain, update, window) for update in updates]
    combined = domain.map(operation, only_function(operation), [*parts, *rows])
    bounds = [(starts[i], sizes[i] - window[i]) for i in moving]
    conditions = [each for start, last in bounds for each in _inside(domain, start, last)]
    if conditions:
        predicate = fold(lambda first, second: domain.each("and", _PRED, [first, second]), conditions)
        is_inside = domain.broadcast(predicate, (), window)
        pairs = zip(combined, parts, strict=True)
        combined = [domain.each("select", domain.element_type(old), [is_inside, new, old]) for new, old in pairs]
    return [domain.update_at(array, new, starts) for array, new in zip(arrays, combined, strict=True)]


def _inside(domain: Domain[V], start: V, last: int) -> list[V]:
    """Returns the conditions under which a start index is between 0 and a last one."""
    kind = domain.element_type(start)
    found = [domain.compare("LE", domain.number(kind, 0, ()), start, is_total=False)]
    if last < _largest(kind):
        found.append(domain.compare("LE", start, domain.number(kind, last, ()), is_total=False))
    return found
