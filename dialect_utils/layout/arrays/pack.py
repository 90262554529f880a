"""Packs numpy arrays into their physical arrays and back; moves bits, never values.

`pack` and `unpack` reach the array that running the plan makes, in one pass: the physical array,
seen in the order of the logical digits, is a view, so packing is a handful of strided copies, one
for the whole tiles and one for each edge.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from dialect_utils.layout.arrays.dtypes import as_bits, bits_scalar, dtype_of
from dialect_utils.layout.arrays.interpret import check_array, join_bits, run_plan, split_bits
from dialect_utils.layout.moves.physical import physical_plan
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import Pad, Reshape, Step, Transpose, inverse_permutation
from dialect_utils.layout.shape import ArrayShape

Array = NDArray[Any]

_Kind = TypeVar("_Kind", Pad, Reshape, Transpose)

_BYTE = 8
# numpy's inner loop over this few elements costs more in overhead than in copies.
_SHORT_DIMENSION = 8
# Blocks that stay in a second-level cache while their sub-rows are interleaved; in smaller ones calls cost most.
_BLOCK_BYTES = 1 << 19


def pack(array: Array, shape: ArrayShape, *, padding_bits: int = 0, out: Array | None = None) -> Array:
    """Returns the physical array of `array` under the layout of `shape`.

    `array` has the shape's dimensions and any dtype as wide as its element type (bf16 may come as
    uint16). The result has the dimensions of `physical_plan(shape).result`, the dtype of `array`, or
    uint8 where `E(n)` packs elements into bytes. Padding is filled with `padding_bits`, legacy
    padding_value where the layout has one. `out` is contiguous memory of the result's dimensions.

    Raises ValueError where the array does not fit the shape, or the shape has dynamic dimensions.
    """
    check_array(array, shape.dimensions, shape.element_type)
    plan = physical_plan(shape)
    packed = plan.result[0] != shape.element_type
    elements = physical_plan(_unpacked(shape)) if packed else plan
    padding = bits_scalar(_padding_bits(shape, padding_bits), array.dtype)
    if packed:
        codes = as_bits(_pack_elements(array, elements, padding, None)).reshape(-1)
        bits = join_bits(codes, shape.element_type.bits, _BYTE // shape.element_type.bits)
        return _store(bits.reshape(plan.result[1]), out)
    return _pack_elements(array, elements, padding, out)


def unpack(physical: Array, shape: ArrayShape, *, out: Array | None = None) -> Array:
    """Returns the array whose physical array is given; the inverse of `pack`, padding is dropped.

    The result has the dtype of `physical`, or the element type's where `E(n)` packed it.
    Raises ValueError where the array does not fit the shape, or the shape has dynamic dimensions.
    """
    plan = physical_plan(shape)
    element_type, dimensions = plan.result
    check_array(physical, dimensions, element_type)
    if element_type != shape.element_type:
        elements = physical_plan(_unpacked(shape))
        flat = split_bits(as_bits(physical).reshape(-1), shape.element_type.bits, _BYTE // shape.element_type.bits)
        codes = flat[: prod(elements.result[1])]
        physical, plan = codes.reshape(elements.result[1]).view(dtype_of(shape.element_type)), elements
    strided = _Strided.of(plan)
    if strided is None:
        return _store(run_plan(plan.inverse(), physical), out)
    result = np.empty(shape.dimensions, physical.dtype) if out is None else out
    logical, digits = strided.views(result, physical)
    for theirs, ours in strided.pieces(logical, digits):
        _copy(theirs, ours, ours)
    return result


def _pack_elements(array: Array, plan: Plan, padding: Array, out: Array | None) -> Array:
    strided = _Strided.of(plan)
    if strided is None:
        return _store(run_plan(plan, array, int.from_bytes(padding.tobytes(), "little")), out)
    result = np.empty(plan.result[1], array.dtype) if out is None else out
    logical, digits = strided.views(array, result)
    for gap in strided.padding(digits):
        gap[...] = as_bits(padding)
    for theirs, ours in strided.pieces(logical, digits):
        _copy(ours, theirs, ours)
    return result


@dataclass(frozen=True, slots=True)
class _Strided:
    """A plan of the form [reshape], pad, reshape, transpose, each at most once.

    `start` are the dimensions that are padded, `digits[i]` the sizes dimension i splits into,
    `order[k]` the place of digit k in the physical array.
    """

    start: tuple[int, ...]
    digits: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]

    @classmethod
    def of(cls, plan: Plan) -> _Strided | None:
        """Returns the form of a plan, or None where it has another one."""
        steps = list(plan.steps)
        start = plan.dimensions
        if len(steps) > 1 and steps[1].adds_elements:
            reshape = _take(steps, Reshape)
            start = reshape.dimensions if reshape else start
        pad = _take(steps, Pad) or Pad((0,) * len(start), (0,) * len(start))
        if any(pad.low) or pad.interior or any(high < 0 for high in pad.high):
            return None
        padded = tuple(size + high for size, high in zip(start, pad.high, strict=True))
        split = (_take(steps, Reshape) or Reshape(padded)).dimensions
        last = _take(steps, Transpose) or Transpose(tuple(range(len(split))))
        digits = _digit_groups(padded, split)
        if steps or digits is None:
            return None
        return cls(start, digits, inverse_permutation(last.permutation))

    def views(self, logical: Array, physical: Array) -> tuple[Array, Array]:
        """Returns views as bits: the logical array as it is padded, the physical one in the order of the digits."""
        return as_bits(logical).reshape(self.start), as_bits(physical).transpose(self.order)

    def pieces(self, logical: Array, digits: Array) -> Iterator[tuple[Array, Array]]:
        """Yields views of the same elements in both arrays; together they are all elements."""
        choices = [_digit_pieces(size, sizes) for size, sizes in zip(self.start, self.digits, strict=True)]
        for choice in product(*choices):
            # The ellipsis keeps views where there is no axis or only integers.
            here: tuple[Any, ...] = (*(piece[0] for piece in choice), ...)
            theirs = logical[here]
            ours = digits[(*(index for piece in choice for index in piece[1]), ...)]
            yield theirs.reshape(ours.shape), ours

    def padding(self, digits: Array) -> Iterator[Array]:
        """Yields views of all padding in the physical array; some slots may be in several."""
        before = 0
        for size, sizes in zip(self.start, self.digits, strict=True):
            for index in _digit_gaps(size, sizes):
                yield digits[(*(slice(None),) * before, *index, ...)]
            before += len(sizes)


def _take(steps: list[Step], kind: type[_Kind]) -> _Kind | None:
    """Removes and returns the first step where it is of a kind."""
    if steps and isinstance(steps[0], kind):
        return cast("_Kind", steps.pop(0))
    return None


def _digit_groups(dims: tuple[int, ...], split: tuple[int, ...]) -> tuple[tuple[int, ...], ...] | None:
    """Returns which entries of `split` each dimension consists of, or None where they straddle."""
    groups = []
    rest = list(split)
    for dim, size in enumerate(dims):
        group: list[int] = []
        while rest and (prod(group) != size or (rest[0] == 1 and dim == len(dims) - 1)):
            group.append(rest.pop(0))
        if prod(group) != size:
            return None
        groups.append(tuple(group))
    return tuple(groups) if not rest else None


def _digit_pieces(size: int, digits: tuple[int, ...]) -> list[tuple[slice, tuple[slice | int, ...]]]:
    """Cuts a dimension of `size` elements where its digits (most major first) do not fill up.

    Returns pairs: the elements, and where they are along the digits.
    """
    pieces: list[tuple[slice, tuple[slice | int, ...]]] = []
    prefix: tuple[int, ...] = ()
    begin = 0
    for position in range(len(digits)):
        stride = prod(digits[position + 1 :])
        count = (size - begin) // stride if stride else 0
        if count:
            rest = (slice(None),) * (len(digits) - position - 1)
            pieces.append((slice(begin, begin + count * stride), (*prefix, slice(0, count), *rest)))
        begin += count * stride
        prefix = (*prefix, count)
    return pieces if digits else [(slice(0, size), ())]


def _digit_gaps(size: int, digits: tuple[int, ...]) -> Iterator[tuple[slice | int, ...]]:
    """Yields where along the digits a dimension of `size` elements has padding."""
    prefix: tuple[int, ...] = ()
    for position, digit in enumerate(digits):
        stride = prod(digits[position + 1 :])
        count, size = divmod(size, stride) if stride else (0, 0)
        first = count + (1 if size else 0)
        if first < digit:
            yield (*prefix, slice(first, None))
        if not size:
            return
        prefix = (*prefix, count)


def _copy(target: Array, source: Array, physical: Array) -> None:
    """Copies equal-shaped views; a short most minor axis of the physical one becomes the outer loop."""
    axes = [axis for axis in range(physical.ndim) if physical.shape[axis] > 1]
    short = min(axes, key=lambda axis: physical.strides[axis], default=None)
    if short is None or short == axes[0] or physical.shape[short] > _SHORT_DIMENSION:
        target[...] = source
        return
    outer = axes[0]
    rows = physical.shape[outer]
    block = max(1, _BLOCK_BYTES * rows // max(1, physical.size * physical.itemsize))
    for begin in range(0, rows, block):
        rows_here = slice(begin, begin + block)
        for i in range(physical.shape[short]):
            here: tuple[slice | int, ...] = tuple(
                rows_here if axis == outer else i if axis == short else slice(None) for axis in range(physical.ndim)
            )
            target[here] = source[here]


def _unpacked(shape: ArrayShape) -> ArrayShape:
    """Returns the shape with one element a byte, or more."""
    return shape.with_layout(shape.effective_layout.replace(element_size_in_bits=0))


def _padding_bits(shape: ArrayShape, padding_bits: int) -> int:
    value = shape.effective_layout.padding_value
    if value is None:
        return padding_bits
    return int.from_bytes(np.asarray(value).astype(dtype_of(shape.element_type)).tobytes(), "little")


def _store(array: Array, out: Array | None) -> Array:
    if out is None:
        return np.ascontiguousarray(array).reshape(array.shape)
    out[...] = array
    return out
