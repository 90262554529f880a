"""Plain random inputs: seeded, of three styles."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Literal

import numpy as np

from dialect_utils.execution import Array, from_bits
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.verdict.data.needs import index_operands, leaf_spans, values_behind

Style = Literal["integers", "random", "special"]

# Floats of the style "integers" are at most this large, so that sums and dots of many stay exact.
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
    the positions in `small` are 0 to 7 in every style, as indices and trip counts need it.
    """
    return [
        _array(np.random.default_rng([seed, position]), shape, style, position in small)
        for position, shape in enumerate(shapes)
    ]


def _array(rng: np.random.Generator, shape: ArrayShape, style: Style, small: bool) -> Array:
    element_type, size = shape.element_type, shape.dimensions
    if element_type.is_complex:
        part = ElementType(f"f{element_type.bits // 2}", element_type.bits // 2)
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


# Types of so many bits have too few mantissa bits for sums of larger numbers.
_NARROW_BITS = 16


def _special_values(dtype: np.dtype[Any]) -> Array:
    import ml_dtypes

    limits: Any = ml_dtypes.finfo(dtype)
    values = [0.0, -0.0, limits.max, limits.min, limits.smallest_normal, -limits.smallest_normal]
    values += [float("nan"), float("inf"), -float("inf")]
    with np.errstate(all="ignore"):
        return np.array([float(value) for value in values]).astype(dtype)


def small_integer_positions(module: Module) -> frozenset[int]:
    """Returns which entry parameters (tuples flattened) must hold small integers.

    Those that reach an index of gather, scatter or a dynamic slice, and all of them where a
    loop's trip count might depend on one.
    """
    spans = leaf_spans(module.entry)
    if any(operation.opcode == "while" for operation in module.operations()):
        return frozenset(leaf for span in spans.values() for leaf in span)
    reached = values_behind(value for operation in module.operations() for value in index_operands(operation))
    return frozenset(leaf for value, span in spans.items() if value in reached for leaf in span)
