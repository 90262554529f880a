"""Elementwise operations on numpy arrays of exact bit patterns: one table for each kind of element.

Sources: StableHLO's specification; xla/hlo/evaluator/hlo_evaluator_typed_visitor.h. Floats narrower than 32 bits are
computed in f32 and rounded once. Functions that need not be correctly rounded (`exponential`) are computed in f64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dialect_utils.execution.arrays import Array
from dialect_utils.execution.reference import special
from dialect_utils.execution.reference.conversions import (
    convert,
    kind_of,
    rounded,
    stochastic_convert,
    widened,
    wrapped,
)
from dialect_utils.layout import ElementType
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.ops import by_opcode, is_opcode, named
from dialect_utils.ops.domain import UndefinedError

_Function = Callable[..., Any]


def each(opcode: str, result: ElementType, operands: Sequence[Array]) -> Array:
    """Returns an elementwise operation on arrays of the same dimensions; raises UndefinedError for an unknown one."""
    with np.errstate(all="ignore"):
        if opcode in _ANY:
            return np.asarray(_ANY[opcode](result, *operands))
        # HLO has instructions for some of CHLO's functions: chlo.acos is acos.
        plain = opcode.removeprefix("chlo.")
        found = _found(plain if is_opcode(plain) else opcode, result, operands)
    if found is None:
        raise UndefinedError(f"{opcode} of {kind_of(operands[0])} has no definition")
    return np.asarray(found)


def _found(opcode: str, result: ElementType, operands: Sequence[Array]) -> Array | None:
    kind = kind_of(operands[0])
    if kind.name == "pred":
        return _LOGICAL[opcode](*operands) if opcode in _LOGICAL else None
    if kind.is_integral:
        function = _INTEGER.get(opcode)
        return None if function is None else wrapped(function(*map(widened, operands), **_width(opcode, kind)), result)
    if kind.is_complex:
        function = _COMPLEX.get(opcode)
        return None if function is None else function(*operands).astype(dtype_of(result))
    if opcode == "chlo.next_after":
        return np.nextafter(*operands)
    if opcode in _SIGNS:
        return np.asarray(_SIGNS[opcode](*operands))
    if opcode in _FLOAT:
        return rounded(_FLOAT[opcode](*map(widened, operands)), result)
    if opcode in _FUNCTIONS:
        return rounded(_FUNCTIONS[opcode](*(array.astype(np.float64) for array in operands)), result)
    return None


def _clamp(result: ElementType, low: Array, array: Array, high: Array) -> Array:
    return each("minimum", result, [each("maximum", result, [array, low]), high])


def _complex(result: ElementType, real: Array, imaginary: Array) -> Array:
    found: Array = np.empty(real.shape, dtype_of(result))
    found.real, found.imag = real, imaginary
    return np.asarray(found)


# Operations that take elements of several types.
_ANY: Mapping[str, _Function] = by_opcode(
    {
        "clamp": _clamp,
        "complex": _complex,
        "convert": convert,
        "copy": lambda result, array: array,
        "imag": lambda result, array: array.imag if kind_of(array).is_complex else np.zeros_like(array),
        "real": lambda result, array: array.real,
        "select": lambda result, pred, on_true, on_false: np.where(pred, on_true, on_false),
        "stochastic-convert": stochastic_convert,
    }
)


def _width(opcode: str, kind: ElementType) -> dict[str, int]:
    """Returns the width of the type for the operations that need it."""
    return {"bits": kind.bits} if opcode in _BY_WIDTH else {}


def _divide_integers(left: Array, right: Array) -> Array:
    """Returns the quotient rounded toward zero; division by zero sets all bits, as HloEvaluator does."""
    divisor = np.where(right == 0, right.dtype.type(1), right)
    quotient = (left - np.fmod(left, divisor)) // divisor
    return np.where(right == 0, np.array(-1).astype(left.dtype), quotient)


def _remainder(left: Array, right: Array) -> Array:
    divisor = np.where(right == 0, right.dtype.type(1), right)
    return np.where(right == 0, left, np.fmod(left, divisor))


def _integer_power(base: Array, exponent: Array) -> Array:
    """Returns powers modulo the width; of a negative exponent only those of 1 and -1 are not 0."""
    is_negative = exponent < 0
    rest = np.where(is_negative, exponent & 1, exponent)
    result, factor = np.ones_like(base), base
    while rest.any():
        result = np.where(rest & 1, result * factor, result)
        factor, rest = factor * factor, rest >> 1
    is_unit = (base == 1) | (is_negative & (base == np.array(-1).astype(base.dtype)))
    return np.where(is_negative & ~is_unit, base.dtype.type(0), result)


def _unsigned(array: Array) -> Array:
    return array.view(f"u{array.dtype.itemsize}")


def _shift_left(array: Array, amount: Array, bits: int) -> Array:
    count = _unsigned(amount)
    return np.where(count < bits, _unsigned(array) << np.minimum(count, bits - 1), 0).view(array.dtype)


def _shift_right_logical(array: Array, amount: Array, bits: int) -> Array:
    count, mask = _unsigned(amount), (1 << bits) - 1
    own = _unsigned(array) & _unsigned(array).dtype.type(mask)
    return np.where(count < bits, own >> np.minimum(count, bits - 1), 0).astype(own.dtype).view(array.dtype)


def _shift_right_arithmetic(array: Array, amount: Array, bits: int) -> Array:
    unused = 8 * array.dtype.itemsize - bits
    signed = (_unsigned(array) << unused).view(f"i{array.dtype.itemsize}") >> unused
    count = np.minimum(_unsigned(amount), bits - 1).astype(signed.dtype)
    return (signed >> count).view(array.dtype)


def _count_leading_zeros(array: Array, bits: int) -> Array:
    own = _unsigned(array).astype(np.uint64) & np.uint64((1 << bits) - 1)
    found = np.full(array.shape, bits)
    for position in range(bits):
        found = np.where(own >> np.uint64(position), bits - 1 - position, found)
    return np.asarray(found)


def _population_count(array: Array, bits: int) -> Array:
    return np.asarray(np.bitwise_count(_unsigned(array).astype(np.uint64) & np.uint64((1 << bits) - 1)))


def _multiply_high(left: Array, right: Array, bits: int) -> Array:
    return np.asarray((np.asarray(left, object) * np.asarray(right, object)) >> bits, object)


# Their result depends on the width of the type.
_BY_WIDTH = named("shift-left shift-right-logical shift-right-arithmetic count-leading-zeros popcnt mulhi")

# Operations of integers; sub-byte integers are computed as bytes and wrapped afterwards.
_INTEGER: Mapping[str, _Function] = by_opcode(
    {
        "abs": np.abs,
        "add": np.add,
        "and": np.bitwise_and,
        "count-leading-zeros": _count_leading_zeros,
        "divide": _divide_integers,
        "maximum": np.maximum,
        "minimum": np.minimum,
        "mulhi": _multiply_high,
        "multiply": np.multiply,
        "negate": np.negative,
        "not": np.invert,
        "or": np.bitwise_or,
        "popcnt": _population_count,
        "power": _integer_power,
        "remainder": _remainder,
        "shift-left": _shift_left,
        "shift-right-arithmetic": _shift_right_arithmetic,
        "shift-right-logical": _shift_right_logical,
        "sign": np.sign,
        "chlo.square": np.square,
        "subtract": np.subtract,
        "xor": np.bitwise_xor,
    }
)

# Operations of pred: addition is or, multiplication is and.
_LOGICAL: Mapping[str, _Function] = by_opcode(
    {
        "add": np.logical_or,
        "and": np.logical_and,
        "maximum": np.logical_or,
        "minimum": np.logical_and,
        "multiply": np.logical_and,
        "not": np.logical_not,
        "or": np.logical_or,
        "xor": np.logical_xor,
    }
)


def _maximum(left: Array, right: Array) -> Array:
    """Returns IEEE 754's maximum: NaN where either is NaN, and +0 above -0."""
    return np.where(left == right, np.where(np.signbit(left), right, left), np.maximum(left, right))


def _minimum(left: Array, right: Array) -> Array:
    return np.where(left == right, np.where(np.signbit(left), left, right), np.minimum(left, right))


def _round_away(array: Array) -> Array:
    """Returns the nearest whole numbers, halves away from zero."""
    whole = np.trunc(array)
    return np.copysign(np.where(np.abs(array - whole) >= 0.5, np.abs(whole) + 1, np.abs(whole)), array)


# Operations on the sign bit, in the type itself: a conversion to f32 may change the payload of a NaN.
_SIGNS: Mapping[str, _Function] = by_opcode({"abs": np.abs, "negate": np.negative})

# Operations of floats that are exact or rounded once, in the type itself or in f32.
_FLOAT: Mapping[str, _Function] = by_opcode(
    {
        "add": np.add,
        "ceil": np.ceil,
        "divide": np.divide,
        "floor": np.floor,
        "is-finite": np.isfinite,
        "chlo.is_inf": np.isinf,
        "chlo.is_neg_inf": np.isneginf,
        "chlo.is_pos_inf": np.isposinf,
        "maximum": _maximum,
        "minimum": _minimum,
        "multiply": np.multiply,
        "remainder": np.fmod,
        "round-nearest-afz": _round_away,
        "round-nearest-even": np.rint,
        "sign": lambda array: np.where(np.isnan(array) | (array == 0), array, np.copysign(1, array)),
        "sqrt": np.sqrt,
        "chlo.square": np.square,
        "subtract": np.subtract,
    }
)


def _logistic(array: Array) -> Array:
    return 1 / (1 + np.exp(-array))


def _reciprocal_root(array: Array) -> Array:
    return 1 / np.sqrt(array)


# Operations of floats that are computed in f64 and rounded to the type.
_FUNCTIONS: Mapping[str, _Function] = by_opcode(
    {
        "acos": np.arccos,
        "acosh": np.arccosh,
        "asin": np.arcsin,
        "asinh": np.arcsinh,
        "chlo.atan": np.arctan,
        "atan2": np.arctan2,
        "atanh": np.arctanh,
        "chlo.bessel_i1e": special.bessel_i1e,
        "cbrt": np.cbrt,
        "cosh": np.cosh,
        "cosine": np.cos,
        "chlo.digamma": special.digamma,
        "erf": special.erf,
        "chlo.erf_inv": special.erf_inv,
        "chlo.erfc": special.erfc,
        "exponential": np.exp,
        "exponential-minus-one": np.expm1,
        "chlo.lgamma": special.lgamma,
        "log": np.log,
        "log-plus-one": np.log1p,
        "logistic": _logistic,
        "chlo.polygamma": special.polygamma,
        "power": np.power,
        "rsqrt": _reciprocal_root,
        "sine": np.sin,
        "sinh": np.sinh,
        "tan": np.tan,
        "tanh": np.tanh,
        "chlo.zeta": special.zeta,
    }
)


def _in_double(function: _Function) -> _Function:
    return lambda *arrays: function(*(array.astype(np.complex128) for array in arrays))


def _greater(left: Array, right: Array) -> Array:
    """Returns whether complex numbers are greater: by the real part, then by the imaginary one."""
    return np.where(left.real == right.real, left.imag > right.imag, left.real > right.real)


def _complex_sign(array: Array) -> Array:
    length = np.abs(array)
    return np.where(length == 0, 0, array / np.where(length == 0, 1, length))


# Operations of complex numbers.
_COMPLEX: Mapping[str, _Function] = by_opcode(
    {
        "abs": lambda array: np.abs(array.astype(np.complex128)),
        "add": np.add,
        "chlo.conj": np.conj,
        "maximum": lambda left, right: np.where(_greater(left, right), left, right),
        "minimum": lambda left, right: np.where(_greater(right, left), left, right),
        "multiply": np.multiply,
        "negate": np.negative,
        "chlo.square": lambda array: array * array,
        "subtract": np.subtract,
        "is-finite": np.isfinite,
        "atan2": _in_double(lambda y, x: np.asarray(-1j * np.log((x + 1j * y) / np.sqrt(x * x + y * y)))),
        "cbrt": _in_double(lambda array: np.power(array, 1 / 3)),
        "divide": _in_double(np.divide),
        "logistic": _in_double(_logistic),
        "rsqrt": _in_double(_reciprocal_root),
        "sign": _in_double(_complex_sign),
        **{
            name: _in_double(_FUNCTIONS[name])
            for name in (
                *("acos", "acosh", "asin", "asinh", "chlo.atan", "atanh", "cosh", "cosine", "exponential"),
                *("exponential-minus-one", "log", "log-plus-one", "power", "sine", "sinh", "tan", "tanh"),
            )
        },
        "sqrt": _in_double(np.sqrt),
    }
)
