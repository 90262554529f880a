"""Random inputs, and the boundary values of one array.

Boundary values are constants of the programs and their neighbours, and the values that are special in a type.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from dialect_utils.execution import Array, from_bits
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.layout.arrays.floats import complex_array, limits, smallest_normal
from dialect_utils.verdict.dataflow import values_behind
from dialect_utils.verdict.sampling.demands import Demand, index_operands, leaf_spans

# The largest float of whole numbers, so that sums and dots of many elements stay exact.
LARGEST_INTEGER = 2
# Integers that may be indices or trip counts stay below this.
_SMALL = 8


def random_inputs(shapes: Sequence[ArrayShape], seed: int, small: Collection[int] = ()) -> list[Array]:
    """Returns one array for each shape, of ordinary floats and integers of the whole range of their type.

    The same seed gives the same arrays. Integers at the positions in `small` are 0 to 7, because they may be indices or
    trip counts.
    """
    return [
        _array(np.random.default_rng([seed, position]), shape, position in small)
        for position, shape in enumerate(shapes)
    ]


def _array(rng: np.random.Generator, shape: ArrayShape, small: bool) -> Array:
    element_type, size = shape.element_type, shape.dimensions
    dtype = dtype_of(element_type.part if element_type.is_complex else element_type)
    if element_type.is_complex:
        return complex_array(*(rng.standard_normal(size).astype(dtype) for _ in range(2)))
    if element_type.is_floating:
        return rng.standard_normal(size).astype(dtype)
    if element_type.name == "pred":
        return rng.integers(0, 2, size).astype(np.bool_)
    if small:
        return rng.integers(0, min(_SMALL, 1 << (element_type.bits - element_type.is_signed)), size).astype(dtype)
    return from_bits(rng.integers(0, (1 << element_type.bits) - 1, size, np.uint64, endpoint=True), element_type)


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


def integer_pool(demand: Demand) -> list[int]:
    """Returns the numbers worth trying in an integer array, each once."""
    element_type = demand.shape.element_type
    low, high = element_type.integer_range
    found = [0, 1, -1, 2]
    for limit in demand.use.limits:
        found += [limit - 1, limit, limit + 1, -limit, limit // 2]
    for width in demand.use.widths:
        found += [width - 1, width, width + 1, 2 * width]
    found += range(-1, demand.use.branches + 1 if demand.use.branches else 0)
    for number in demand.numbers:
        # A fraction contributes both neighbouring whole numbers.
        found += [int(number) - 1, int(number), int(number) + 1] if abs(number) < 1 << 64 else []
    if not demand.use.counts:
        found += [low, high, low + 1, high - 1]
    if demand.use.counts:
        low, high = max(low, -demand.use.counts), min(high, demand.use.counts)
    return list(dict.fromkeys(value for value in found if low <= value <= high))


def float_pool(demand: Demand, element_type: ElementType) -> Array:
    """Returns the finite numbers worth trying in a float array: constants and their neighbours, small whole numbers."""
    dtype = dtype_of(element_type)
    found = [float(number) for number in demand.numbers]
    numbers = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, *found, *(-number for number in found)]
    if demand.use.counts:
        # With other numbers, a loop that counts with these floats might never end.
        numbers = [number for number in found if 0 < number <= demand.use.counts] or [0.5]
    with np.errstate(all="ignore"):
        exact = np.array(numbers, np.float64).astype(dtype)
        below, above = (np.nextafter(exact, np.array(end).astype(dtype)) for end in (-np.inf, np.inf))
        whole = np.concatenate([exact, below, above])
        return whole[np.isfinite(whole.astype(np.float64))]


# NaN with another payload. (A sort in total order would separate NaNs by their sign.)
_OTHER_NAN = {"f32": 0x7FC12345, "f64": 0x7FF8000012345678}


def special_floats(element_type: ElementType, *, largest: bool = True) -> Array:
    """Returns the values with special rules in floating-point arithmetic, as far as the type has them.

    `largest`: with the largest numbers, whose sums overflow.
    """
    tiny, finfo = smallest_normal(element_type), limits(element_type)
    values = [0.0, -0.0, tiny, -tiny, tiny / 2, -tiny / 4, *map(float, (finfo.max, finfo.min) if largest else ())]
    with np.errstate(all="ignore"):
        special = np.array([*values, np.nan, np.inf, -np.inf]).astype(dtype_of(element_type))
    if element_type.name not in _OTHER_NAN:
        # Engines change the bits of narrow NaNs even where they only move them.
        return special
    return np.concatenate([special, from_bits(np.array([_OTHER_NAN[element_type.name]], np.uint64), element_type)])
