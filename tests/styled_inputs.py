"""Random inputs of three styles, for tests that execute programs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

import numpy as np

from dialect_utils.execution import Array, from_bits
from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.layout.arrays.floats import complex_array, limits
from dialect_utils.verdict.sampling import LARGEST_INTEGER

Style = Literal["integers", "random", "special"]

# Integers that may be indices or trip counts stay below this.
_SMALL = 8
# One element in this many is a special value.
_SPECIAL_EVERY = 7
# Types of at most this many bits have too few mantissa bits for sums of larger numbers.
_NARROW_BITS = 16


def styled_inputs(
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
        return complex_array(*(_floats(rng, element_type.part, size, style) for _ in range(2)))
    if element_type.is_floating:
        return _floats(rng, element_type, size, style)
    if element_type.name == "pred":
        return rng.integers(0, 2, size).astype(np.bool_)
    if small:
        return rng.integers(0, min(_SMALL, 1 << (element_type.bits - element_type.is_signed)), size).astype(
            dtype_of(element_type)
        )
    if style == "integers":
        low = -LARGEST_INTEGER if element_type.is_signed else 0
        return rng.integers(max(low, -(1 << element_type.bits - 1)), LARGEST_INTEGER, size).astype(
            dtype_of(element_type)
        )
    return from_bits(rng.integers(0, (1 << element_type.bits) - 1, size, np.uint64, endpoint=True), element_type)


def _floats(rng: np.random.Generator, element_type: ElementType, size: tuple[int, ...], style: Style) -> Array:
    dtype = dtype_of(element_type)
    if style == "integers":
        largest = LARGEST_INTEGER if element_type.bits > _NARROW_BITS else 1
        return rng.integers(-largest, largest, size, endpoint=True).astype(dtype)
    values = rng.standard_normal(size).astype(dtype)
    if style == "special":
        finfo = limits(element_type)
        ends = [float(each) for each in (finfo.max, finfo.min, finfo.smallest_normal, -finfo.smallest_normal)]
        special = np.array([0.0, -0.0, *ends, np.nan, np.inf, -np.inf]).astype(dtype)
        chosen = rng.integers(0, _SPECIAL_EVERY, size) == 0
        values = np.where(chosen, special[rng.integers(0, len(special), size)], values).astype(dtype)
    return values
