"""Index maps between logical and linear indices, by the definition of tiles.

Meaning of tiles: docs/layouts.md, section "Meaning" (XLA: docs/tiled_layout.md and
LayoutUtil::LinearIndexForNestedTiling in xla/layout_util.cc). This is the oracle: it shares no code
with plans. A single index consists of integers, the indices of a whole array of numpy tables
that broadcast, so a dimension costs its size and only the last sum costs the array.

Tail padding and split configs move no element; they only change sizes. Sizes in bytes are here, too: the true size, and
the answers of XLA's functions. XLA's functions disagree with the definition and with each other (docs/layouts.md,
section "Sizes"), so each has XLA's name here, with its quirk. Sources: xla/shape_util.cc (ByteSizeOf, ArraySize) and
xla/layout_util.cc (MaxSplitSize). `tpu.allocation_bytes` is the allocation of the TPU runtime.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

from dialect_utils.layout.layout import COMBINE, INT64_MAX, MATCH, Layout, Tile
from dialect_utils.layout.shape import ArrayShape

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# An int, a numpy array that broadcasts, or anything else with `+`, `*`, `//` and `%` by ints.
Coordinate = Any


@dataclass(frozen=True, slots=True)
class _MetTile:
    """One tile and the sizes that it applies to (most major first).

    `sizes` includes `prepended` unit dimensions. `groups` are the positions that `*` merges,
    `lengths` the tile's length for each group.
    """

    sizes: tuple[int, ...]
    prepended: int
    kept: int
    groups: tuple[tuple[int, ...], ...]
    lengths: tuple[int, ...]

    @classmethod
    def of(cls, sizes: tuple[int, ...], tile: Tile) -> _MetTile:
        prepended = max(0, len(tile.dimensions) - len(sizes))
        sizes = (1,) * prepended + sizes
        kept = len(sizes) - len(tile.dimensions)
        groups: list[tuple[int, ...]] = []
        lengths: list[int] = []
        group: tuple[int, ...] = ()
        for position, length in enumerate(tile.dimensions, kept):
            group += (position,)
            if length == COMBINE:
                continue
            groups.append(group)
            lengths.append(prod(sizes[i] for i in group) if length == MATCH else length)
            group = ()
        return cls(sizes, prepended, kept, tuple(groups), tuple(lengths))

    @property
    def merged_sizes(self) -> list[int]:
        """Returns the size of every group."""
        return [prod(self.sizes[i] for i in group) for group in self.groups]

    @property
    def result(self) -> tuple[int, ...]:
        """Returns the sizes after the tile: the dimensions it leaves, the counts of tiles, the tile itself."""
        # A `d` on a dimension of size 0 makes one empty tile.
        counts = [-(-size // t) if t else 1 for size, t in zip(self.merged_sizes, self.lengths, strict=True)]
        return (*self.sizes[: self.kept], *counts, *self.lengths)

    def apply(self, position: list[Coordinate]) -> list[Coordinate]:
        """Returns the position after the tile, given the position before it."""
        position = [0] * self.prepended + position
        merged = []
        for group in self.groups:
            coordinate = position[group[0]]
            for i in group[1:]:
                coordinate = coordinate * self.sizes[i] + position[i]
            merged.append(coordinate)
        pairs = list(zip(merged, self.lengths, strict=True))
        return position[: self.kept] + [e // max(t, 1) for e, t in pairs] + [e % max(t, 1) for e, t in pairs]

    def undo(self, position: list[Coordinate]) -> tuple[list[Coordinate], list[Coordinate]]:
        """Returns the position before the tile, and for each group whether it is inside the array."""
        count = len(self.groups)
        before = position[: self.kept]
        outer, inner = position[self.kept : self.kept + count], position[self.kept + count :]
        merged = [a * t + b for a, b, t in zip(outer, inner, self.lengths, strict=True)]
        inside = [e < size for e, size in zip(merged, self.merged_sizes, strict=True)]
        for e, group in zip(merged, self.groups, strict=True):
            parts = []
            for i in reversed(group[1:]):
                parts.append(e % max(self.sizes[i], 1))
                e = e // max(self.sizes[i], 1)
            before += [e, *reversed(parts)]
        return before[self.prepended :], inside


def _start_sizes(dimensions: tuple[int, ...], layout: Layout) -> tuple[int, ...]:
    sizes = dimensions if layout.padded_dimensions is None else layout.padded_dimensions
    return tuple(sizes[i] for i in layout.major_to_minor)


# Callers compute many indices of one array: each cell of a picture, each element of a counterexample.
@lru_cache(maxsize=1024)
def _met_tiles(dimensions: tuple[int, ...], layout: Layout) -> tuple[_MetTile, ...]:
    sizes = _start_sizes(dimensions, layout)
    tilings: list[_MetTile] = []
    for tile in layout.tiles:
        tilings.append(_MetTile.of(sizes, tile))
        sizes = tilings[-1].result
    return tuple(tilings)


def final_dimensions(dimensions: tuple[int, ...], layout: Layout) -> tuple[int, ...]:
    """Returns the final dimensions in elements, by the definition: tile by tile, most major first.

    Ignores `E(n)`: the dimensions count slots of elements.
    """
    tilings = _met_tiles(dimensions, layout)
    return tilings[-1].result if tilings else _start_sizes(dimensions, layout)


def physical_element_count(shape: ArrayShape) -> int:
    """Returns the number of element slots of an array, padding included; raises ValueError if unbounded."""
    require_bounded(shape)
    return prod(final_dimensions(shape.dimensions, shape.effective_layout))


def element_slot_bits(shape: ArrayShape) -> int:
    """Returns the bits from one element to the next: `E(n)`, or the type's whole bytes."""
    return shape.effective_layout.element_size_in_bits or shape.element_type.storage_bits


def linear_index(shape: ArrayShape, index: Sequence[int]) -> int:
    """Returns the linear index (in elements) of a logical index, all tiles applied.

    Sizes of bounded dynamic dimensions are their bounds. Raises IndexError where the index does
    not fit the shape and ValueError for an unbounded dimension.
    """
    require_bounded(shape)
    if len(index) != shape.rank:
        raise IndexError(f"index {list(index)} has {len(index)} entries, but the rank of {shape} is {shape.rank}")
    for dim, (entry, size) in enumerate(zip(index, shape.dimensions, strict=True)):
        if not 0 <= entry < size:
            raise IndexError(f"index {list(index)} is outside dimension {dim} of {shape}: 0 to {size - 1}")
    strides = _strides(final_dimensions(shape.dimensions, shape.effective_layout))
    return sum(e * s for e, s in zip(physical_index(shape, index), strides, strict=True))


def physical_index(shape: ArrayShape, index: Sequence[Coordinate]) -> list[Coordinate]:
    """Returns the position along the final dimensions of a logical index."""
    layout = shape.effective_layout
    position = [index[i] for i in layout.major_to_minor]
    for tiling in _met_tiles(shape.dimensions, layout):
        position = tiling.apply(position)
    return position


def logical_index(shape: ArrayShape, linear: int) -> tuple[int, ...] | None:
    """Returns the logical index of the element at a linear index, or None for padding.

    Raises IndexError outside the physical array and ValueError for an unbounded dimension.
    """
    count = physical_element_count(shape)
    if not 0 <= linear < count:
        raise IndexError(f"linear index {linear} is outside the {count} elements of {shape}")
    layout = shape.effective_layout
    sizes = final_dimensions(shape.dimensions, layout)
    position = [linear // stride % size for stride, size in zip(_strides(sizes), sizes, strict=True)]
    index, inside = _undo(shape.dimensions, layout, position)
    return tuple(index) if all(inside) else None


def linear_indices(shape: ArrayShape) -> NDArray[np.int64]:
    """Returns the linear index of every element: int64, of the shape's own dimensions.

    Raises ValueError for an unbounded dimension, a rank numpy does not have or indices beyond int64.
    """
    import numpy as np

    _int64_count(shape)
    axes = np.ix_(*map(np.arange, shape.dimensions))
    strides = _strides(final_dimensions(shape.dimensions, shape.effective_layout))
    terms = [e * s for e, s in zip(physical_index(shape, axes), strides, strict=True)]
    return _broadcast_sum(terms, shape.dimensions)


def logical_indices(shape: ArrayShape) -> NDArray[np.int64]:
    """Returns the element in every slot: int64, of the final dimensions.

    An element is named by its row-major position in the shape's own dimensions, padding is -1.
    Raises ValueError like `linear_indices`.
    """
    import numpy as np

    elements = np.full(_int64_count(shape), -1)
    elements[linear_indices(shape)] = np.arange(prod(shape.dimensions)).reshape(shape.dimensions)
    return elements.reshape(final_dimensions(shape.dimensions, shape.effective_layout))


def elements_at(shape: ArrayShape, linear: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the element at each of many linear indices, of any dimensions: int64.

    An element is named by its row-major position in the shape's own dimensions; padding, and an
    index outside the physical array, is -1. Raises ValueError like `linear_indices`.
    """
    import numpy as np

    count = _int64_count(shape)
    layout = shape.effective_layout
    sizes = final_dimensions(shape.dimensions, layout)
    position: list[Coordinate] = [
        linear // max(stride, 1) % max(size, 1) for stride, size in zip(_strides(sizes), sizes, strict=True)
    ]
    index, inside = _undo(shape.dimensions, layout, position)
    element = np.zeros(linear.shape, np.int64)
    for coordinate, stride in zip(index, _strides(shape.dimensions), strict=True):
        element += coordinate * stride
    valid = (linear >= 0) & (linear < count)
    for part in inside:
        valid = valid & part
    return np.where(valid, element, -1)


def _int64_count(shape: ArrayShape) -> int:
    count = physical_element_count(shape)
    if count > INT64_MAX:
        raise ValueError(f"linear indices of {shape} do not fit 64 bits")
    return count


def _undo(
    dimensions: tuple[int, ...], layout: Layout, position: list[Coordinate]
) -> tuple[list[Coordinate], list[Coordinate]]:
    """Returns the logical index of a position in the physical array, and conditions: all hold unless it is padding."""
    inside: list[Coordinate] = []
    for tiling in reversed(_met_tiles(dimensions, layout)):
        position, checks = tiling.undo(position)
        inside += checks
    index: list[Coordinate] = [0] * len(dimensions)
    for coordinate, dim in zip(position, layout.major_to_minor, strict=True):
        index[dim] = coordinate
    return index, inside + [e < size for e, size in zip(index, dimensions, strict=True)]


def _broadcast_sum(terms: list[Coordinate], dimensions: tuple[int, ...]) -> NDArray[np.int64]:
    """Returns the sum of tables of the given dimensions; only the last addition is as large as the result."""
    import numpy as np

    tables: dict[tuple[int, ...], NDArray[np.int64]] = {}
    for term in terms:
        table = np.asarray(term, dtype=np.int64)
        tables[table.shape] = tables[table.shape] + table if table.shape in tables else table
    # Tables of the most minor dimensions come first, so that partial sums stay small.
    ordered = sorted(tables.values(), key=lambda t: [size != 1 for size in t.shape])
    total = np.zeros((1,) * len(dimensions), np.int64)
    for table in ordered[:-1]:
        total = total + table
    return np.add(total, ordered[-1] if ordered else 0, out=np.empty(dimensions, np.int64))


def _strides(sizes: Sequence[int]) -> list[int]:
    strides = [1] * len(sizes)
    for i in range(len(sizes) - 1, 0, -1):
        strides[i - 1] = strides[i] * sizes[i]
    return strides


def require_bounded(shape: ArrayShape) -> None:
    """Raises ValueError for an unbounded dimension; the size of a bounded dynamic one is its bound."""
    if any(size < 0 for size in shape.dimensions):
        raise ValueError(f"{shape} has an unbounded dimension, so its elements have no fixed position")


_BYTE = 8


def allocated_elements(shape: ArrayShape) -> int:
    """Returns the element slots that a layout allocates, padded to `L(n)`; raises ValueError if unbounded."""
    return round_up(physical_element_count(shape), shape.effective_layout.tail_padding_alignment_in_elements)


def byte_size(shape: ArrayShape) -> int:
    """Returns the bytes that an array spans under its layout: every tile, `E(n)` and `L(n)` applied.

    Split configs do not count: the size is that of all splits together. Raises ValueError for an
    unbounded dimension.
    """
    return _bytes(allocated_elements(shape) * element_slot_bits(shape))


def padding_fraction(shape: ArrayShape) -> float:
    """Returns the share of slots without an element, from 0 to 1 (0: no slots); raises ValueError if unbounded."""
    slots = allocated_elements(shape)
    return (slots - shape.element_count) / slots if slots else 0.0


def xla_byte_size(shape: ArrayShape) -> int | None:
    """Returns ShapeUtil::ArraySize, which XLA calls the size in bytes.

    ArraySize applies the first tile only, takes the largest split of a split dimension, and ignores `L(n)`
    and splits without tiles. Returns None where the first tile combines dimensions, which ArraySize does
    not support. Raises ValueError for an unbounded dimension.
    """
    require_bounded(shape)
    layout = shape.effective_layout
    if not layout.tiles:
        return byte_size_of(shape)
    tile = layout.tiles[0].dimensions[::-1]
    if COMBINE in tile:
        return None
    sizes = [max_split_size(shape, dim) for dim in layout.minor_to_major]
    sizes += [1] * (len(tile) - len(sizes))
    covered = [size if t == MATCH else round_up(size, t) for size, t in zip(sizes, tile, strict=False)]
    elements = round_up(prod(covered + sizes[len(tile) :]), layout.tail_padding_alignment_in_elements)
    return _bytes(elements * element_slot_bits(shape))


def byte_size_of(shape: ArrayShape) -> int:
    """Returns ShapeUtil::ByteSizeOf: the bytes of the elements, no tile applied; raises ValueError if unbounded."""
    require_bounded(shape)
    return _bytes(shape.element_count * element_slot_bits(shape))


def max_split_size(shape: ArrayShape, dim: int) -> int:
    """Returns LayoutUtil::MaxSplitSize: the longest piece, in elements, of a logical dimension."""
    layout = shape.effective_layout
    size = shape.dimensions[dim]
    for split in layout.split_configs:
        if layout.major_to_minor[split.dimension] == dim:
            return max(b - a for a, b in pairwise((0, *split.split_indices, size)))
    return size


def _bytes(bits: int) -> int:
    return -(-bits // _BYTE)


def round_up(value: int, multiple: int) -> int:
    """Returns the least multiple that is not below a value."""
    return -(-value // multiple) * multiple
