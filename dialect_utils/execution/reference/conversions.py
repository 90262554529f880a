"""Conversions between element types, comparisons and roundings, on numpy arrays of exact bit patterns."""

from __future__ import annotations

import numpy as np

from dialect_utils.execution.arrays import Array, from_bits, to_bits
from dialect_utils.hlo.text.literals import FLOAT_FORMATS
from dialect_utils.layout import ElementType
from dialect_utils.layout.arrays.dtypes import dtype_of, element_type_of
from dialect_utils.ops.domain import DIRECTIONS, UndefinedError

_BYTE, _SINGLE = 8, 32


def kind_of(array: Array) -> ElementType:
    """Returns the element type of an array."""
    return element_type_of(array.dtype)


def widened(array: Array) -> Array:
    """Returns sub-byte integers as bytes and floats of fewer than 32 bits as f32; other arrays unchanged."""
    kind = kind_of(array)
    if kind.is_integral and kind.bits < _BYTE:
        return array.astype(np.int8 if kind.is_signed else np.uint8)
    return array.astype(np.float32) if kind.is_floating and kind.bits < _SINGLE else array


def wrapped(array: Array, kind: ElementType) -> Array:
    """Returns integers modulo 2 to the width of a type; pred and integers of that type are unchanged."""
    if array.dtype == dtype_of(kind):
        return array
    mask = (1 << kind.bits) - 1
    wide = array if array.dtype == object else array.astype(np.int64 if array.dtype.kind in "ib" else np.uint64)
    if array.dtype == object:
        return from_bits(np.asarray(wide & mask, object).astype(np.uint64).astype(f"u{kind.storage_bytes}"), kind)
    return from_bits((wide & np.array(mask, np.uint64).astype(wide.dtype)).astype(f"u{kind.storage_bytes}"), kind)


def rounded(array: Array, kind: ElementType) -> Array:
    """Returns floats rounded to a type, ties to even; pred is unchanged."""
    if array.dtype == np.bool_ or array.dtype == dtype_of(kind):
        return array
    return array.astype(dtype_of(kind))


def convert(kind: ElementType, array: Array) -> Array:
    """Returns elements converted to a type: floats to integers truncate and saturate, and NaN gives 0."""
    source = kind_of(array)
    if source.is_complex and not kind.is_complex:
        array, source = array.real, source.part
    if source == kind:
        return array
    if kind.name == "pred":
        return np.not_equal(widened(array), 0)
    array = array.astype(np.int8) if source.name == "pred" else widened(array)
    if kind.is_complex or kind.is_floating:
        if array.dtype.kind in "iu" and kind.bits < _SINGLE:
            array = array.astype(np.float32)
        return array.astype(dtype_of(kind))
    return wrapped(array, kind) if array.dtype.kind in "iu" else _saturated(array.astype(np.float64), kind)


def _saturated(array: Array, kind: ElementType) -> Array:
    low, high = kind.integer_range
    # The double above the largest integer: 2**63 for s64, because 2**63 - 1 is not a double.
    is_above, is_below = array >= float(high + 1), array <= float(low)
    inside = np.where(is_above | is_below | np.isnan(array), 0.0, np.trunc(array))
    whole = inside.astype(np.int64 if kind.is_signed else np.uint64)
    whole = np.where(is_above, whole.dtype.type(high), np.where(is_below, whole.dtype.type(low), whole))
    return wrapped(whole, kind)


def compare(direction: str, left: Array, right: Array, *, is_total: bool = False) -> Array:
    """Returns a comparison; `is_total` orders floats -NaN < -inf < ... < -0 < +0 < ... < inf < NaN."""
    if is_total and kind_of(left).is_floating:
        left, right = total_rank(left), total_rank(right)
    left, right = widened(left), widened(right)
    return np.asarray(DIRECTIONS[direction](left, right), np.bool_)


def total_rank(array: Array) -> Array:
    """Returns integers in the total order of floats: the bits, those of negative numbers reversed."""
    kind = kind_of(array)
    bits = to_bits(array, kind).astype(np.uint64) << np.uint64(64 - kind.bits)
    sign = np.uint64(1 << 63)
    return np.where(bits & sign, ~bits, bits | sign)


def reduce_precision(array: Array, exponent_bits: int, mantissa_bits: int) -> Array:
    """Returns floats rounded to fewer bits; numbers below the smallest normal one become zero, NaN stays NaN."""
    kind = kind_of(array)
    mantissa = FLOAT_FORMATS[kind.name].mantissa_bits
    bits = to_bits(array, kind).astype(np.uint64)
    one, exponent = np.uint64(1), kind.bits - 1 - mantissa
    if mantissa_bits < mantissa:
        dropped = np.uint64(mantissa - mantissa_bits)
        last = (bits >> dropped) & one
        bits = (bits + last + (one << (dropped - one)) - one) >> dropped << dropped
    if exponent_bits < exponent:
        bias, narrow = (1 << (exponent - 1)) - 1, (1 << (exponent_bits - 1)) - 1
        sign, top = np.uint64(1 << (kind.bits - 1)), np.uint64(((1 << exponent) - 1) << mantissa)
        found = bits & top
        infinite = found > np.uint64((bias + narrow) << mantissa)
        tiny = found <= np.uint64((bias - narrow) << mantissa)
        bits = np.where(tiny, bits & sign, np.where(infinite, bits & sign | top, bits))
    reduced = from_bits(bits.astype(f"u{kind.storage_bytes}"), kind)
    of_nan = array if mantissa_bits > 0 else np.full(array.shape, np.inf).astype(array.dtype)
    return np.where(np.isnan(widened(array)), of_nan, reduced)


def stochastic_convert(kind: ElementType, array: Array, random: Array) -> Array:
    """Returns integers: magnitudes rounded up where the random bits are below the fraction, else down; NaN gives 0.

    Source: xla/hlo/evaluator/hlo_evaluator_typed_visitor.h, StochasticConvertOp, which knows integers only.
    """
    if not kind.is_integral:
        raise UndefinedError(f"stochastic-convert to {kind}: the engine chooses how")
    wide = array.astype(np.float64)
    whole = np.trunc(np.abs(wide))
    limit = np.floor(np.ldexp(np.abs(wide) - whole, kind_of(random).bits))
    return _saturated(np.copysign(whole + (random.astype(np.float64) < limit), wide), kind)
