"""Makes the sets of inputs on which both programs run, of several kinds that detect different faults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

from dialect_utils.execution import Array, bits_type, from_bits
from dialect_utils.layout import ElementType
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.verdict.sampling.kinds import DataKind, DataSet
from dialect_utils.verdict.sampling.needs import Need
from dialect_utils.verdict.sampling.structured import Scaling, paired, prime_above
from dialect_utils.verdict.sampling.values import (
    LARGEST_INTEGER,
    MOST_ITERATIONS,
    float_pool,
    integer_pool,
    special_floats,
    value_range,
)

# The most sets of one kind: small arrays need many sets to hold all values worth trying.
_MOST_SETS = 32
# Arrays with more elements than this get one set of each kind.
_MANY_ELEMENTS = 1 << 18
# Choosing and passing an array takes as long as that of so many elements.
_LEAST_ELEMENTS = 128
_NARROW_BITS = 16
_LARGEST_EXPONENT = 30.0
_FEW = 3
# Larger than all other elements of the set, and small enough for exp to be finite.
_PEAK = 50.0
# The largest and the smallest element at the last position, the first, and two more.
_PEAK_SETS = 8
# Twice by rows and by columns, and four times by whole arrays.
_SCALED_SETS = 8
_PAIR_SETS = 12
_MOST_RARE = 7
# Values that give NaN in arithmetic with another of these.
_OPPOSED = (np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0)
# exp of it overflows or underflows in f32; within the range of f16 and of most 8-bit types.
_SHIFT = 200.0


@dataclass(frozen=True, slots=True)
class _Draw:
    """The random state of one array of one set: `run` is the number of the set in its kind, `position` of the array."""

    rng: np.random.Generator
    need: Need
    kind: DataKind
    run: int
    position: int
    sums: bool

    @property
    def size(self) -> tuple[int, ...]:
        return self.need.shape.dimensions


def data_sets(needs: Sequence[Need], seeds: int, *, finite: bool = False, sums: bool = False) -> list[DataSet]:
    """Returns the sets for entry arrays of these needs; the same seeds give the same sets.

    `finite`: no special values and no extreme magnitudes; floats that count the iterations of a loop never have them.
    `sums`: magnitudes whose products do not overflow in a sum, and another set whose products may.
    """
    kinds: list[tuple[DataKind, int]] = [
        ("whole", 1),
        ("random", 1),
        ("equal", 2),
        ("boundary", _sets(needs, _pool_size)),
    ]
    if any(need.compares and need.constants for need in needs):
        kinds += [("pairs", min(_PAIR_SETS, _sets(needs, _pairs_of_constants)))]
    if any(need.peaks for need in needs):
        kinds += [("peaks", _PEAK_SETS)]
    has_free_floats = any(need.shape.is_inexact and not need.counts for need in needs)
    kinds += [("scaled", _SCALED_SETS)] if has_free_floats else []
    if has_free_floats and not finite:
        kinds += [
            ("sparse", 3),
            ("special", _sets(needs, _special_size)),
            ("infinite", _sets(needs, _pairs)),
            ("magnitudes", 1),
            ("shifted", 2),
        ]
        kinds += [("saturated", 1)] if sums else []
    return [
        DataSet(kind, _arrays(needs, kind, seed, run, sums=sums))
        for seed in range(seeds)
        for kind, count in kinds
        for run in range(count)
    ]


def unreached(needs: Sequence[Need], seeds: int, *, finite: bool) -> list[str]:
    """Returns remarks on boundary values and kinds of data that the sets of `data_sets` leave out."""
    lines = []
    sets = _sets(needs, _pool_size)
    for position, need in enumerate(needs):
        size, held = _pool_size(need), sets * need.shape.element_count
        if held < size:
            lines.append(f"not reached: {size - held} of {size} boundary values of input {position}")
        if need.distinct or need.ascending:
            lines.append(f"not reached: indices out of range, in input {position} (their order is promised)")
        if need.shape.is_inexact and (finite or need.counts):
            why = "the groups of a convolution" if finite else "the end of a loop"
            lines.append(f"not reached: NaN, infinities and extreme magnitudes in input {position} ({why} meets them)")
    if any(need.counts for need in needs):
        lines.append(f"not reached: loops of more than {MOST_ITERATIONS} iterations")
    return lines


def _sets(needs: Sequence[Need], size: Callable[[Need], int]) -> int:
    """Returns the number of sets after which every array has held all its values."""
    elements = [max(1, need.shape.element_count) for need in needs]
    if sum(max(_LEAST_ELEMENTS, count) for count in elements) > _MANY_ELEMENTS:
        return 1
    rounds = [-(-size(need) // count) for need, count in zip(needs, elements, strict=True)]
    return min(_MOST_SETS, max(2, *rounds))


def _pool_size(need: Need) -> int:
    kind = need.shape.element_type
    if kind.is_inexact:
        return len(float_pool(need, kind.part))
    return 2 if kind.name == "pred" else len(integer_pool(need))


def _special_size(need: Need) -> int:
    kind = need.shape.element_type
    return 2 * len(special_floats(kind.part)) if kind.is_inexact else 1


def _pairs_of_constants(need: Need) -> int:
    """Returns the number of elements that hold each pair of constants, systematically and at random."""
    return 2 * prime_above(len(_rare(need))) ** 2


def _pairs(need: Need) -> int:
    """Returns the number of elements that hold each pair of opposed values twice."""
    return 2 * len(_OPPOSED) ** 2 if need.shape.is_inexact else 1


def _arrays(needs: Sequence[Need], kind: DataKind, seed: int, run: int, *, sums: bool) -> list[Array]:
    draws = [
        _Draw(np.random.default_rng([seed, crc32(kind.encode()), run, position]), need, kind, run, position, sums)
        for position, need in enumerate(needs)
    ]
    arrays = [_array(draw) for draw in draws]
    return _with_equal_elements(draws, arrays) if kind == "equal" else arrays


def _array(draw: _Draw) -> Array:
    kind = draw.need.shape.element_type
    if kind.is_complex:
        whole = np.empty(draw.size, dtype_of(kind))
        whole.real, whole.imag = _floats(draw, kind.part), _floats(draw, kind.part)
        return whole
    if kind.is_floating:
        return _floats(draw, kind)
    return _predicates(draw) if kind.name == "pred" else _integers(draw, kind)


def _floats(draw: _Draw, kind: ElementType) -> Array:
    rng, dtype, size = draw.rng, dtype_of(kind), draw.size
    if draw.kind == "whole":
        largest = LARGEST_INTEGER if kind.bits > _NARROW_BITS else 1
        return rng.integers(-largest, largest, size, endpoint=True).astype(dtype)
    if draw.kind == "boundary":
        return _cycled(draw, float_pool(draw.need, kind))
    if draw.kind == "equal" and not draw.need.counts:
        pool = float_pool(draw.need, kind)
        return pool[rng.integers(0, min(len(pool), _FEW + 2 * draw.run), size)]
    if draw.need.counts:
        # With special values, a loop that counts with these floats might never end.
        return _normal(draw, dtype)
    if draw.kind == "peaks":
        peak = min(_PEAK, float(_limits(dtype).max))
        return _with_a_peak(draw, _normal(draw, dtype), (-peak, peak))
    if draw.kind in ("special", "infinite", "sparse"):
        return _with_rules(draw, kind)
    if draw.kind in ("scaled", "pairs"):
        return _structured(draw, dtype)
    if draw.kind == "shifted":
        return (_normal(draw, dtype).astype(np.float64) + (_SHIFT if draw.run % 2 else -_SHIFT)).astype(dtype)
    return _magnitudes(draw, dtype) if draw.kind in ("magnitudes", "saturated") else _normal(draw, dtype)


def _with_rules(draw: _Draw, kind: ElementType) -> Array:
    """Returns floats among which some have special rules in arithmetic."""
    dtype = dtype_of(kind)
    if draw.kind == "infinite":
        return np.array(draw.rng.choice(_OPPOSED, draw.size)).astype(dtype)
    if draw.kind == "sparse":
        return _with_one_special(draw, _normal(draw, dtype))
    return _with_specials(draw, _normal(draw, dtype), special_floats(kind, largest=not draw.sums))


def _structured(draw: _Draw, dtype: np.dtype[Any]) -> Array:
    need, values = draw.need, _normal(draw, dtype)
    if draw.kind == "scaled":
        return Scaling(values, need.constants, need.numbers, draw.run, draw.position).scaled(draw.rng)
    with np.errstate(all="ignore"):
        rare = np.array(_rare(need), np.float64).astype(dtype)
    return paired(draw.rng, values, rare, draw.run, draw.position)


def _normal(draw: _Draw, dtype: np.dtype[Any]) -> Array:
    values = draw.rng.standard_normal(draw.size)
    return (np.abs(values) if draw.need.counts else values).astype(dtype)


def _with_specials(draw: _Draw, values: Array, special: Array) -> Array:
    """Writes special values to half of the elements; over the runs, each reaches each element of a small array."""
    chosen = draw.rng.integers(0, 2, draw.size) == 0
    return np.where(chosen, _cycled(draw, special), values).astype(values.dtype)


def _with_one_special(draw: _Draw, values: Array) -> Array:
    """Writes one special value, a different one in each run, to one element of an array."""
    flat = values.reshape(-1).copy()
    if flat.size:
        with np.errstate(all="ignore"):
            flat[draw.rng.integers(0, flat.size)] = np.array((np.inf, np.nan, -np.inf)[draw.run % 3]).astype(
                values.dtype
            )
    return flat.reshape(values.shape)


def _with_a_peak(draw: _Draw, values: Array, ends: tuple[float, float]) -> Array:
    """Writes the largest number, in every second run the smallest, to one element: the last, the first, then any."""
    flat = values.reshape(-1).copy()
    if flat.size:
        places = [flat.size - 1, 0, *np.random.default_rng(draw.position).permutation(flat.size)]
        flat[places[draw.run // 2 % len(places)]] = ends[1 - draw.run % 2]
    return flat.reshape(values.shape)


def _limits(dtype: np.dtype[Any]) -> Any:
    import ml_dtypes

    return ml_dtypes.finfo(dtype)


def _magnitudes(draw: _Draw, dtype: np.dtype[Any]) -> Array:
    """Returns floats of all magnitudes up to 1e30, or to the largest of the type."""
    limits = _limits(dtype)
    low = max(-_LARGEST_EXPONENT, float(np.log10(float(limits.smallest_normal))))
    high = min(_LARGEST_EXPONENT, float(np.log10(float(limits.max))))
    if draw.sums and draw.kind == "magnitudes":
        low, high = max(low, -high), max(1.0, high / 2 - 3)
    if draw.kind == "saturated":
        low, high = 0.0, float(np.log10(float(limits.max)))
    exponents = draw.rng.uniform(low, high, draw.size)
    with np.errstate(all="ignore"):
        return (draw.rng.choice([-1.0, 1.0], draw.size) * 10.0**exponents).astype(dtype)


def _predicates(draw: _Draw) -> Array:
    """Returns both values in turn for a scalar and, in some runs, equal elements for an array."""
    turn = bool((draw.run + (draw.kind in ("random", "sparse")) >> draw.position % 3) & 1)
    if not draw.size or (draw.kind == "boundary" and draw.run < 2):
        return np.full(draw.size, turn)
    return draw.rng.integers(0, 2, draw.size).astype(np.bool_)


def _integers(draw: _Draw, kind: ElementType) -> Array:
    need = draw.need
    if need.distinct or need.ascending:
        return _ordered(draw, kind)
    if draw.kind == "boundary":
        return _cycled(draw, _as_integers(integer_pool(need), kind))
    if draw.kind == "peaks" and need.is_free:
        few = draw.rng.integers(0, 2, draw.size).astype(dtype_of(kind))
        return _with_a_peak(draw, few, value_range(kind))
    if draw.kind == "equal":
        pool = integer_pool(need)[: _FEW + 2 * draw.run]
        return _as_integers(pool, kind)[draw.rng.integers(0, len(pool), draw.size)]
    if not need.is_free:
        return _near_range(draw, kind)
    if draw.kind == "pairs":
        low, high = value_range(kind)
        rare = [int(each) for each in _rare(need) if each == int(each) and low <= each <= high] or [0]
        return paired(draw.rng, _words(draw, kind), _as_integers(rare, kind), draw.run, draw.position)
    if draw.kind == "whole":
        low = max(value_range(kind)[0], -LARGEST_INTEGER)
        high = min(value_range(kind)[1], LARGEST_INTEGER)
        return draw.rng.integers(low, high, draw.size, endpoint=True).astype(dtype_of(kind))
    return _words(draw, kind)


def _words(draw: _Draw, kind: ElementType) -> Array:
    """Returns integers of the whole range of their type."""
    words = draw.rng.integers(0, np.iinfo(np.uint64).max, draw.size, np.uint64, endpoint=True)
    return from_bits((words & np.uint64((1 << kind.bits) - 1)).astype(bits_type(kind)), kind)


def _rare(need: Need) -> tuple[float, ...]:
    """Returns the constants to combine: the largest, which small whole numbers do not hold."""
    return need.constants[-_MOST_RARE:]


def _near_range(draw: _Draw, kind: ElementType) -> Array:
    """Returns indices, amounts or counts: one in six is out of range, except in sets of whole numbers."""
    need = draw.need
    reach = max([*need.limits[-1:], *need.widths, need.branches, 2 if need.counts else 1])
    limit = min(
        [*need.limits, *need.widths, *([need.branches] if need.branches else []), *([8] if need.counts else [])]
    )
    values = draw.rng.integers(0, max(1, limit), draw.size)
    if draw.kind != "whole":
        outside = draw.rng.integers(-reach, 2 * reach + 1, draw.size)
        values = np.where(draw.rng.integers(0, 6, draw.size) == 0, outside, values)
    low, high = value_range(kind)
    return np.clip(values, max(low, -(1 << 31)), min(high, 1 << 31)).astype(dtype_of(kind))


def _ordered(draw: _Draw, kind: ElementType) -> Array:
    """Returns indices that keep the promise of a gather or scatter: distinct, ascending, or both."""
    need, count = draw.need, draw.need.shape.element_count
    limit = max(count, min(need.limits, default=count), 1)
    values = draw.rng.choice(limit, count, replace=False) if need.distinct else draw.rng.integers(0, limit, count)
    return (np.sort(values) if need.ascending else values).astype(dtype_of(kind)).reshape(draw.size)


def _as_integers(values: Sequence[int], kind: ElementType) -> Array:
    return np.array(values, object).astype(dtype_of(kind))


def _cycled(draw: _Draw, pool: Array) -> Array:
    """Returns the pool's values in a fixed random order, continuing after the values of the previous run."""
    count = draw.need.shape.element_count
    order = np.random.default_rng([len(pool), draw.position]).permutation(len(pool))
    return pool[order[(draw.run * count + np.arange(count)) % len(pool)]].reshape(draw.size)


def _with_equal_elements(draws: Sequence[_Draw], arrays: Sequence[Array]) -> list[Array]:
    """Returns arrays of one type and dimensions with half of their elements equal; scalars in every second set."""
    first: dict[object, Array] = {}
    made = []
    for draw, array in zip(draws, arrays, strict=True):
        shape = draw.need.shape
        other = first.setdefault((shape.element_type, shape.dimensions), array)
        is_same = np.array(draw.run % 2 == 0) if not draw.size else draw.rng.integers(0, 2, draw.size) == 0
        made.append(np.where(is_same, other, array).astype(array.dtype))
    return made
