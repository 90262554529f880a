"""Runs plans on numpy arrays, step by step: the meaning of each step in its plainest form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.layout.arrays.dtypes import as_bits, bits_scalar, dtype_of
from dialect_utils.layout.element_type import ElementType
from dialect_utils.layout.moves.pad_slice import Pad, Slice
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import BitcastConvert, Reshape, Step, Transpose

Array = NDArray[Any]

_BYTE = 8


def run_plan(plan: Plan, array: Array, padding_bits: int = 0) -> Array:
    """Returns the result of a plan on an array, step by step; padding gets `padding_bits`.

    `array` has the plan's start dimensions and any dtype as wide as its element type; the dtype changes
    only at a bitcast-convert. Raises ValueError where the array does not fit the plan.
    """
    if array.shape != plan.dimensions:
        raise ValueError(
            f"an array of dimensions {list(array.shape)} is not {plan.element_type}{list(plan.dimensions)}"
        )
    if array.dtype.itemsize * _BYTE != plan.element_type.storage_bits:
        raise ValueError(f"the dtype {array.dtype} is not as wide as {plan.element_type}")
    for step, (element_type, _) in zip(plan.steps, plan.stages, strict=False):
        array = _run_step(step, element_type, array, padding_bits)
    return array


def _run_step(step: Step, element_type: ElementType, array: Array, padding_bits: int) -> Array:
    """Returns the result of a step on an array of an element type."""
    match step:
        case Transpose():
            return array.transpose(step.permutation)
        case Reshape():
            return array.reshape(step.dimensions)
        case Slice():
            return array[tuple(map(slice, step.start, step.limit, step.strides))]
        case Pad():
            return _padded(step, array, padding_bits)
        case BitcastConvert():
            return _bitcast(step, element_type, array)
    raise TypeError(f"numpy does not run {step}")


def _padded(step: Pad, array: Array, padding_bits: int) -> Array:
    sources, targets, dims = [], [], []
    for size, low, high, gap in zip(array.shape, step.low, step.high, step.gaps, strict=True):
        stride = gap + 1
        result = low + size + max(0, size - 1) * gap + high
        first = max(0, -(low // stride))
        end = max(first, min(size, -((low - result) // stride)))
        sources.append(slice(first, end))
        targets.append(slice(low + first * stride, low + (end - 1) * stride + 1, stride) if end > first else slice(0))
        dims.append(result)
    padded = np.full(dims, bits_scalar(padding_bits, array.dtype), array.dtype)
    padded[tuple(targets)] = array[tuple(sources)]
    return padded


def _bitcast(step: BitcastConvert, element_type: ElementType, array: Array) -> Array:
    old, new = element_type.bits, step.element_type.bits
    dtype = dtype_of(step.element_type)
    codes = np.ascontiguousarray(array)
    if old == new:
        return codes.reshape(array.shape).view(dtype)
    dims = (*array.shape, old // new) if old > new else array.shape[:-1]
    flat = as_bits(codes.reshape(-1))
    if new < _BYTE and old > new:
        flat = split_bits(flat.view(np.uint8), new, min(old, _BYTE) // new)
    elif old < _BYTE:
        flat = join_bits(flat, old, min(new, _BYTE) // old)
    return flat.view(dtype).reshape(dims)


def join_bits(codes: Array, bits: int, count: int) -> Array:
    """Returns every `count` neighbouring codes of `bits` bits as one byte, the first one lowest.

    `codes` is a flat uint8 array; missing codes at its end count as zero.
    """
    missing = -codes.size % count
    if missing:
        codes = np.concatenate([codes, np.zeros(missing, np.uint8)])
    mask = np.uint8((1 << bits) - 1)
    joined = codes[::count] & mask
    for i in range(1, count):
        joined |= (codes[i::count] & mask) << np.uint8(i * bits)
    return joined


def split_bits(packed: Array, bits: int, count: int) -> Array:
    """Returns the `count` codes of `bits` bits in each byte of a flat uint8 array; inverts `join_bits`."""
    codes = np.empty((packed.size, count), np.uint8)
    for i in range(count):
        codes[:, i] = (packed >> np.uint8(i * bits)) & np.uint8((1 << bits) - 1)
    return codes.reshape(-1)
