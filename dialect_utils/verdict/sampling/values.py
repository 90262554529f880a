"""Random inputs of three styles, and the boundary values of one array.

Boundary values are constants of the programs and their neighbours, and the values that are special in a type.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal

import numpy as np

from dialect_utils.execution import Array, from_bits
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.verdict.sampling.needs import Need, index_operands, leaf_spans, values_behind

Style = Literal["integers", "random", "special"]

# The largest float of the style "integers", so that sums and dots of many elements stay exact.
LARGEST_INTEGER = 2
# Integers that may be indices or trip counts stay below this.
_SMALL = 8
# One element in so many is a special value.
_SPECIAL_EVERY = 7


def random_inputs(
    shapes: Sequence[ArrayShape], seed: int, style: Style = "random", small: Collection[int] = ()
) -> list[Array]:
    """Returns one array for each shape; the same seed gives the same arrays.

    `integers`: floats hold whole numbers up to LARGEST_INTEGER. `random`: ordinary floats and
    integers over the whole range of their type. `special`: random, with zeros of both signs,
    infinities, NaNs, the largest and the smallest normal numbers among the floats. Integers at
    the positions in `small` are 0 to 7 in every style, because they may be indices or trip counts.
    """
    return [
        _array(np.random.default_rng([seed, position]), shape, style, position in small)
        for position, shape in enumerate(shapes)
    ]


def _array(rng: np.random.Generator, shape: ArrayShape, style: Style, small: bool) -> Array:
    element_type, size = shape.element_type, shape.dimensions
    if element_type.is_complex:
        part = element_type.part
        whole = np.empty(size, dtype_of(element_type))
        whole.real, whole.imag = _floats(rng, part, size, style), _floats(rng, part, size, style)
        return whole
    if element_type.is_floating:
        return _floats(rng, element_type, size, style)
    return _integers(rng, element_type, size, style, small)


def _integers(rng: np.random.Generator, kind: ElementType, size: tuple[int, ...], style: Style, small: bool) -> Array:
    if kind.name == "pred":
        return rng.integers(0, 2, size).astype(np.bool_)
    if small:
        return rng.integers(0, min(_SMALL, 1 << (kind.bits - kind.is_signed)), size).astype(dtype_of(kind))
    if style == "integers":
        low = -LARGEST_INTEGER if kind.is_signed else 0
        return rng.integers(max(low, -(1 << kind.bits - 1)), LARGEST_INTEGER, size).astype(dtype_of(kind))
    bits = rng.integers(0, 1 << kind.bits, size, np.uint64, endpoint=False) if kind.bits < 64 else _words(rng, size)
    return from_bits(bits, kind)


def _words(rng: np.random.Generator, size: tuple[int, ...]) -> Array:
    return rng.integers(0, np.iinfo(np.uint64).max, size, np.uint64, endpoint=True)


def _floats(rng: np.random.Generator, kind: ElementType, size: tuple[int, ...], style: Style) -> Array:
    dtype = dtype_of(kind)
    if style == "integers":
        largest = LARGEST_INTEGER if kind.bits > _NARROW_BITS else 1
        return rng.integers(-largest, largest, size, endpoint=True).astype(dtype)
    values = rng.standard_normal(size).astype(dtype)
    if style == "special":
        special = _special_values(dtype)
        chosen = rng.integers(0, _SPECIAL_EVERY, size) == 0
        values = np.where(chosen, special[rng.integers(0, len(special), size)], values).astype(dtype)
    return values


# Types of at most this many bits have too few mantissa bits for sums of larger numbers.
_NARROW_BITS = 16


def _special_values(dtype: np.dtype[Any]) -> Array:
    import ml_dtypes

    limits: Any = ml_dtypes.finfo(dtype)
    values = [0.0, -0.0, limits.max, limits.min, limits.smallest_normal, -limits.smallest_normal]
    values += [float("nan"), float("inf"), -float("inf")]
    with np.errstate(all="ignore"):
        return np.array([float(value) for value in values]).astype(dtype)


def small_integer_positions(module: Module) -> frozenset[int]:
    """Returns the positions of entry parameters (tuples flattened) that must hold small integers.

    These reach an index of gather, scatter or a dynamic slice; in a module with a loop, all parameters, because a trip
    count might depend on one.
    """
    spans = leaf_spans(module.entry)
    if any(operation.opcode == "while" for operation in module.operations()):
        return frozenset(leaf for span in spans.values() for leaf in span)
    reached = values_behind(value for operation in module.operations() for value in index_operands(operation))
    return frozenset(leaf for value, span in spans.items() if value in reached for leaf in span)


# The largest integer that may count iterations: longer loops show nothing new and take longer.
MOST_ITERATIONS = 300


def value_range(kind: ElementType) -> tuple[int, int]:
    """Returns the smallest and the largest number of an integer type."""
    return (-(1 << kind.bits - 1), (1 << kind.bits - 1) - 1) if kind.is_signed else (0, (1 << kind.bits) - 1)


def integer_pool(need: Need) -> list[int]:
    """Returns the numbers worth trying in an integer array, each once."""
    kind = need.shape.element_type
    low, high = value_range(kind)
    found = [0, 1, -1, 2]
    for limit in need.limits:
        found += [limit - 1, limit, limit + 1, -limit, limit // 2]
    for width in need.widths:
        found += [width - 1, width, width + 1, 2 * width]
    found += range(-1, need.branches + 1 if need.branches else 0)
    for number in need.numbers:
        # A fraction contributes both neighbouring whole numbers.
        found += [int(number) - 1, int(number), int(number) + 1] if abs(number) < 1 << 64 else []
    if not need.counts:
        found += [low, high, low + 1, high - 1]
    if need.counts:
        low, high = max(low, -MOST_ITERATIONS), min(high, MOST_ITERATIONS)
    return list(dict.fromkeys(value for value in found if low <= value <= high))


def float_pool(need: Need, kind: ElementType) -> Array:
    """Returns the finite numbers worth trying in a float array: constants and their neighbours, small whole numbers."""
    dtype = dtype_of(kind)
    numbers = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, *map(float, need.numbers), *(-float(number) for number in need.numbers)]
    if need.counts:
        # With other numbers, a loop that counts with these floats might never end.
        numbers = [float(number) for number in need.numbers if 0 < number <= MOST_ITERATIONS] or [0.5]
    with np.errstate(all="ignore"):
        exact = np.array(numbers, np.float64).astype(dtype)
        below, above = (np.nextafter(exact, np.array(end).astype(dtype)) for end in (-np.inf, np.inf))
        return _finite([exact, below, above], dtype)


# NaN with another payload. (A sort in total order would separate NaNs by their sign.)
_OTHER_NAN = {"f32": 0x7FC12345, "f64": 0x7FF8000012345678}


def special_floats(kind: ElementType, *, largest: bool = True) -> Array:
    """Returns the values with special rules in floating-point arithmetic, as far as the type has them.

    `largest`: with the largest numbers, whose sums overflow.
    """
    import ml_dtypes

    dtype = dtype_of(kind)
    limits: Any = ml_dtypes.finfo(dtype)
    with np.errstate(all="ignore"):
        tiny = float(limits.smallest_normal)
        values = [0.0, -0.0, tiny, -tiny, tiny / 2, -tiny / 4]
        values += [float(limits.max), float(limits.min)] if largest else []
        special = np.array([*values, np.nan, np.inf, -np.inf]).astype(dtype)
    # Engines change the bits of narrow NaNs even where they only move them.
    return (
        np.concatenate([special, from_bits(np.array([_OTHER_NAN[kind.name]], np.uint64), kind)])
        if (kind.name in _OTHER_NAN)
        else special
    )


def _finite(parts: Iterable[Array], dtype: np.dtype[Any]) -> Array:
    with np.errstate(all="ignore"):
        whole = np.concatenate([part.astype(dtype) for part in parts])
        return whole[np.isfinite(whole.astype(np.float64))]
