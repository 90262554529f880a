"""Makes the sets of inputs on which both programs run, of several kinds that detect different faults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any
from zlib import crc32

import numpy as np

from dialect_utils.execution import Array, bits_type, from_bits
from dialect_utils.layout import ElementType
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.layout.arrays.floats import complex_array, limits, smallest_normal
from dialect_utils.verdict.sampling.data_set import DataSet
from dialect_utils.verdict.sampling.demands import Demand, sets_that_fit
from dialect_utils.verdict.sampling.structured import Scaling, paired, prime_above
from dialect_utils.verdict.sampling.values import LARGEST_INTEGER, float_pool, integer_pool, special_floats

# The most sets of one kind: small arrays demand many sets to hold all values worth trying.
_MOST_SETS = 32
# Arrays with more elements than this get one set of each kind.
_MANY_ELEMENTS = 1 << 18
# The fixed cost of choosing and passing an array, in elements.
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
# Kinds of data in which loops run to their limits.
_LONG = ("shifted", "magnitudes", "saturated")
_LARGEST_CONSTANT, _FAR_FROM_LARGEST = 1e30, 8.0
# Values that give NaN in arithmetic with another of these.
_OPPOSED = (np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0)
# Three sets with one special value in an array, then three with one in every second row and equal integers.
_SPARSE_SETS = 6
# The special ones of four elements: in two arrays one element is special in both, one in each, and one in none.
_SPECIAL_OF_FOUR = ((1, 3), (2, 3), (1, 2))
# exp of it overflows or underflows in f32; within the range of f16 and of most 8-bit types.
_SHIFT = 200.0
# All arrays below or above, then each above, below or as it is, so that products have both signs.
_SHIFTED_SETS, _SIGNS = 5, (1, -1, 0)
# The same as the last three by the root of a large constant, such as that of masked scores, and all arrays beyond it.
_FAR_SETS = 4
# Rows of these sets differ by up to so many decimal digits below and above the constant.
_FAR_DIGITS = (-1.0, 0.5)


@dataclass(frozen=True, slots=True)
class _Draw:
    """The random state of one array of one set.

    `run` is the number of the set in its kind, `number` among all sets, and `position` that of the array.
    """

    rng: np.random.Generator
    demand: Demand
    kind: str
    run: int
    number: int
    position: int
    sums: bool

    @property
    def size(self) -> tuple[int, ...]:
        return self.demand.shape.dimensions


def data_sets(demands: Sequence[Demand], seeds: int, *, finite: bool = False, sums: bool = False) -> list[DataSet]:
    """Returns the sets for entry arrays of these demands; the same seeds give the same sets.

    `finite`: no special values and no extreme magnitudes; floats that count the iterations of a loop never have them.
    `sums`: magnitudes whose products do not overflow in a sum, and another set whose products may.
    """
    has_free_floats = any(demand.shape.is_inexact and not demand.use.counts for demand in demands)
    kinds: list[tuple[str, int]] = [
        ("whole", 1),
        # Other kinds reach the other indices in programs of floats.
        ("random", 1 if has_free_floats else _sets(demands, lambda each: each.use.limits[0] if each.use.limits else 1)),
        ("equal", 2),
        ("boundary", _sets(demands, _pool_size)),
    ]
    if any(demand.compares and demand.constants for demand in demands):
        kinds += [("pairs", min(_PAIR_SETS, _sets(demands, _pairs_of_constants)))]
    if any(demand.peaks for demand in demands):
        kinds += [("peaks", _PEAK_SETS)]
    kinds += [("scaled", _SCALED_SETS)] if has_free_floats else []
    if has_free_floats and not finite:
        kinds += [
            ("sparse", _SPARSE_SETS),
            ("special", _sets(demands, _special_size)),
            ("infinite", _sets(demands, _pairs)),
            ("magnitudes", 1),
            ("shifted", _SHIFTED_SETS + (_FAR_SETS if any(map(_large_constant, demands)) else 0)),
        ]
        kinds += [("saturated", 1)] if sums else []
    sets = [(seed, kind, run) for seed in range(seeds) for kind, count in kinds for run in range(count)]
    # Of large arrays the first sets of each kind.
    chosen = sorted(sorted(range(len(sets)), key=lambda number: sets[number][2])[: sets_that_fit(demands)])
    return [DataSet(sets[number][1], _arrays(demands, *sets[number], number, sums=sums)) for number in chosen]


def unreached(demands: Sequence[Demand], drawn: int, *, finite: bool) -> list[str]:
    """Returns remarks on boundary values and kinds of data that the `drawn` sets of `data_sets` leave out."""
    lines = []
    if drawn == sets_that_fit(demands):
        lines.append(f"not reached: kinds of data beyond {drawn} sets of these large arrays")
    sets = _sets(demands, _pool_size)
    for position, demand in enumerate(demands):
        size, held = _pool_size(demand), sets * demand.shape.element_count
        if held < size:
            lines.append(f"not reached: {size - held} of {size} boundary values of input {position}")
        if demand.use.distinct or demand.use.ascending:
            lines.append(f"not reached: indices out of range, in input {position} (their order is promised)")
        if demand.shape.is_inexact and (finite or demand.use.counts):
            why = "the groups of a convolution" if finite else "the end of a loop"
            lines.append(f"not reached: NaN, infinities and extreme magnitudes in input {position} ({why} meets them)")
    if counts := [demand.use.counts for demand in demands if demand.use.counts]:
        lines.append(f"not reached: loops of more than {min(counts)} iterations")
    return lines


def _sets(demands: Sequence[Demand], size: Callable[[Demand], int]) -> int:
    """Returns the number of sets after which every array has held all its values."""
    elements = [max(1, demand.shape.element_count) for demand in demands]
    if sum(max(_LEAST_ELEMENTS, count) for count in elements) > _MANY_ELEMENTS:
        return 1
    rounds = [-(-size(demand) // count) for demand, count in zip(demands, elements, strict=True)]
    return min(_MOST_SETS, max(2, *rounds))


def _pool_size(demand: Demand) -> int:
    element_type = demand.shape.element_type
    if element_type.is_inexact:
        return len(float_pool(demand, element_type.part))
    return 2 if element_type.name == "pred" else len(integer_pool(demand))


def _special_size(demand: Demand) -> int:
    element_type = demand.shape.element_type
    return 4 * len(special_floats(element_type.part)) if element_type.is_inexact else 1


def _pairs_of_constants(demand: Demand) -> int:
    """Returns the number of elements needed to hold each pair of constants, once by design and once at random."""
    return 2 * prime_above(len(_rare(demand))) ** 2


def _pairs(demand: Demand) -> int:
    """Returns the number of elements needed to hold each pair of opposed values twice."""
    return 2 * len(_OPPOSED) ** 2 if demand.shape.is_inexact else 1


def _arrays(demands: Sequence[Demand], seed: int, kind: str, run: int, number: int, *, sums: bool) -> list[Array]:
    state = [seed, crc32(kind.encode()), run]
    draws = [
        _Draw(np.random.default_rng([*state, position]), demand, kind, run, number, position, sums)
        for position, demand in enumerate(demands)
    ]
    arrays = [_array(draw) for draw in draws]
    return _with_equal_elements(draws, arrays) if kind == "equal" else arrays


def _array(draw: _Draw) -> Array:
    element_type = draw.demand.shape.element_type
    if element_type.is_complex:
        return complex_array(*(_floats(draw, element_type.part) for _ in range(2)))
    if element_type.is_floating:
        return _floats(draw, element_type)
    return _predicates(draw) if element_type.name == "pred" else _integers(draw, element_type)


def _floats(draw: _Draw, element_type: ElementType) -> Array:
    rng, dtype, size = draw.rng, dtype_of(element_type), draw.size
    if draw.kind == "whole":
        largest = LARGEST_INTEGER if element_type.bits > _NARROW_BITS else 1
        return rng.integers(-largest, largest, size, endpoint=True).astype(dtype)
    if draw.kind == "boundary":
        return _cycled(draw, float_pool(draw.demand, element_type))
    if draw.kind == "equal" and not draw.demand.use.counts:
        pool = float_pool(draw.demand, element_type)
        return pool[rng.integers(0, min(len(pool), _FEW + 2 * draw.run), size)]
    if draw.demand.use.counts:
        # With special values, a loop that counts with these floats might never end.
        return _normal(draw, dtype)
    if draw.kind == "peaks":
        peak = min(_PEAK, float(limits(element_type).max))
        return _with_a_peak(draw, _normal(draw, dtype), (-peak, peak))
    if draw.kind in ("special", "infinite", "sparse"):
        return _with_rules(draw, element_type)
    if draw.kind in ("scaled", "pairs"):
        return _structured(draw, dtype)
    if draw.kind == "shifted":
        shifted: Array = _normal(draw, dtype).astype(np.float64) + _shift(draw, element_type)
        return shifted.astype(dtype)
    return _magnitudes(draw, element_type) if draw.kind in ("magnitudes", "saturated") else _normal(draw, dtype)


def _with_rules(draw: _Draw, element_type: ElementType) -> Array:
    """Returns floats among which some have special rules in arithmetic."""
    dtype = dtype_of(element_type)
    if draw.kind == "infinite":
        return np.array(draw.rng.choice(_OPPOSED, draw.size)).astype(dtype)
    if draw.kind == "sparse":
        return _with_one_special(draw, _normal(draw, dtype))
    # Over the runs, each special value of one array meets ordinary and special values of another one.
    first, second = _SPECIAL_OF_FOUR[draw.position % len(_SPECIAL_OF_FOUR)]
    special, count = special_floats(element_type, largest=not draw.sums), prod(draw.size)
    numbers = draw.run * count + np.random.default_rng(draw.run).permutation(count).reshape(draw.size)
    chosen = special[(numbers // 4 * 2 + (numbers % 4 == second)) % (len(special) | 1) % len(special)]
    return np.where(np.isin(numbers % 4, (first, second)), chosen, _normal(draw, dtype)).astype(dtype)


def _structured(draw: _Draw, dtype: np.dtype[Any]) -> Array:
    demand, values = draw.demand, _normal(draw, dtype)
    if draw.kind == "scaled":
        return Scaling(values, demand.constants, demand.numbers, draw.run, draw.position).scaled(draw.rng)
    with np.errstate(all="ignore"):
        rare = np.array(_rare(demand), np.float64).astype(dtype)
    return paired(draw.rng, values, rare, draw.run, draw.position)


def _normal(draw: _Draw, dtype: np.dtype[Any]) -> Array:
    values = draw.rng.standard_normal(draw.size)
    return (np.abs(values) if draw.demand.use.counts else values).astype(dtype)


def _shift(draw: _Draw, element_type: ElementType) -> Any:
    """Returns the number to add to all elements, or to each row."""
    run, far = draw.run, draw.run - _SHIFTED_SETS
    is_whole = far == _FAR_SETS - 1
    sign = 2 * (run % 2) - 1 if run < 2 or is_whole else _SIGNS[(run + draw.position) % len(_SIGNS)]
    if far < 0:
        return sign * _SHIFT
    largest = _large_constant(draw.demand)
    size = (*draw.size[:-1], 1) if draw.size else ()
    scales = 10.0 ** draw.rng.uniform(*_FAR_DIGITS, size)
    most = float(limits(element_type).max) / _FAR_FROM_LARGEST
    return sign * np.minimum(scales * (largest if is_whole else largest**0.5), most)


def _large_constant(demand: Demand) -> float:
    """Returns the largest magnitude of the programs' constants, 0 where none is above that of shifted data."""
    return max((abs(each) for each in demand.constants if _SHIFT < abs(each) < _LARGEST_CONSTANT), default=0.0)


def _with_one_special(draw: _Draw, values: Array) -> Array:
    """Writes one special value, a different one in each run, to one element of an array, or of every second row."""
    flat, is_by_row = values.reshape(-1).copy(), draw.run >= _SPARSE_SETS // 2
    if not flat.size:
        return values
    with np.errstate(all="ignore"):
        special = np.array((np.inf, np.nan, -np.inf)[draw.run % 3]).astype(values.dtype)
    if is_by_row and values.ndim > 1:
        rows = flat.reshape(-1, values.shape[-1])[draw.run % 2 :: 2]
        rows[np.arange(len(rows)), draw.rng.integers(0, values.shape[-1], len(rows))] = special
    else:
        # The last element may be cut off, or have no place left.
        flat[-1 if is_by_row else draw.rng.integers(0, flat.size)] = special
    return flat.reshape(values.shape)


def _with_a_peak(draw: _Draw, values: Array, ends: tuple[float, float]) -> Array:
    """Writes the largest number, in every second run the smallest, to one element: the last, the first, then any."""
    flat = values.reshape(-1).copy()
    if flat.size:
        places = [flat.size - 1, 0, *np.random.default_rng(draw.position).permutation(flat.size)]
        flat[places[draw.run // 2 % len(places)]] = ends[1 - draw.run % 2]
    return flat.reshape(values.shape)


def _magnitudes(draw: _Draw, element_type: ElementType) -> Array:
    """Returns floats of all magnitudes up to 1e30, or to the largest of the type."""
    largest = float(np.log10(float(limits(element_type).max)))
    low, high = max(-_LARGEST_EXPONENT, float(np.log10(smallest_normal(element_type)))), min(_LARGEST_EXPONENT, largest)
    if draw.sums and draw.kind == "magnitudes":
        low, high = max(low, -high), max(1.0, high / 2 - 3)
    if draw.kind == "saturated":
        low, high = 0.0, largest
    exponents = draw.rng.uniform(low, high, draw.size)
    with np.errstate(all="ignore"):
        return (draw.rng.choice([-1.0, 1.0], draw.size) * 10.0**exponents).astype(dtype_of(element_type))


def _predicates(draw: _Draw) -> Array:
    """Returns both values in turn for a scalar and, in some runs, equal elements for an array."""
    turn = bool((draw.run + (draw.kind in ("random", "sparse")) >> draw.position % 3) & 1)
    if not draw.size or (draw.kind == "boundary" and draw.run < 2):
        return np.full(draw.size, turn)
    return draw.rng.integers(0, 2, draw.size).astype(np.bool_)


def _integers(draw: _Draw, element_type: ElementType) -> Array:
    demand = draw.demand
    if demand.use.distinct or demand.use.ascending:
        return _ordered(draw, element_type)
    if draw.kind == "sparse" and draw.run >= _SPARSE_SETS // 2 and draw.size:
        return np.full(draw.size, draw.run % 2).astype(dtype_of(element_type))
    if demand.use.counts and draw.kind in _LONG:
        longest = _as_integers(sorted(integer_pool(demand))[-_FEW:], element_type)
        return draw.rng.choice(longest, draw.size).astype(dtype_of(element_type))
    if draw.kind == "boundary":
        return _cycled(draw, _as_integers(integer_pool(demand), element_type))
    if draw.kind == "peaks" and demand.use.is_free:
        few = draw.rng.integers(0, 2, draw.size).astype(dtype_of(element_type))
        return _with_a_peak(draw, few, element_type.integer_range)
    if draw.kind == "equal":
        pool = integer_pool(demand)[: _FEW + 2 * draw.run]
        return _as_integers(pool, element_type)[draw.rng.integers(0, len(pool), draw.size)]
    if not demand.use.is_free:
        return _near_range(draw, element_type)
    if draw.kind == "pairs":
        low, high = element_type.integer_range
        rare = [int(each) for each in _rare(demand) if each == int(each) and low <= each <= high] or [0]
        return paired(draw.rng, _words(draw, element_type), _as_integers(rare, element_type), draw.run, draw.position)
    if draw.kind == "whole":
        low = max(element_type.integer_range[0], -LARGEST_INTEGER)
        high = min(element_type.integer_range[1], LARGEST_INTEGER)
        return draw.rng.integers(low, high, draw.size, endpoint=True).astype(dtype_of(element_type))
    return _words(draw, element_type)


def _words(draw: _Draw, element_type: ElementType) -> Array:
    """Returns integers of the whole range of their type."""
    words = draw.rng.integers(0, np.iinfo(np.uint64).max, draw.size, np.uint64, endpoint=True)
    return from_bits((words & np.uint64((1 << element_type.bits) - 1)).astype(bits_type(element_type)), element_type)


def _rare(demand: Demand) -> tuple[float, ...]:
    """Returns the constants to combine: the largest, which small whole numbers do not hold."""
    return demand.constants[-_MOST_RARE:]


def _near_range(draw: _Draw, element_type: ElementType) -> Array:
    """Returns indices, amounts or counts: one in six is out of range, but in whole and random sets."""
    use = draw.demand.use
    reach = max([*use.limits[-1:], *use.widths, use.branches, 2 if use.counts else 1])
    limit = min([*use.limits, *use.widths, *([use.branches] if use.branches else []), *([8] if use.counts else [])])
    # The sets together hold all indices of a small dimension.
    is_small = 0 < limit <= _MANY_ELEMENTS
    values = (
        _cycled(replace(draw, run=draw.number), np.arange(limit))
        if is_small
        else draw.rng.integers(0, max(1, limit), draw.size)
    )
    if draw.kind not in ("whole", "random"):
        outside = draw.rng.integers(-reach, 2 * reach + 1, draw.size)
        values = np.where(draw.rng.integers(0, 6, draw.size) == 0, outside, values)
    low, high = element_type.integer_range
    return np.clip(values, max(low, -(1 << 31)), min(high, 1 << 31)).astype(dtype_of(element_type))


def _ordered(draw: _Draw, element_type: ElementType) -> Array:
    """Returns indices that keep the promise of a gather or scatter: distinct, ascending, or both."""
    use, count = draw.demand.use, draw.demand.shape.element_count
    limit = max(count, min(use.limits, default=count), 1)
    values = draw.rng.choice(limit, count, replace=False) if use.distinct else draw.rng.integers(0, limit, count)
    return (np.sort(values) if use.ascending else values).astype(dtype_of(element_type)).reshape(draw.size)


def _as_integers(values: Sequence[int], element_type: ElementType) -> Array:
    return np.array(values, object).astype(dtype_of(element_type))


def _cycled(draw: _Draw, pool: Array) -> Array:
    """Returns the pool's values in a fixed random order, continuing after the values of the previous run."""
    count = draw.demand.shape.element_count
    order = np.random.default_rng([len(pool), draw.position]).permutation(len(pool))
    return pool[order[(draw.run * count + np.arange(count)) % len(pool)]].reshape(draw.size)


def _with_equal_elements(draws: Sequence[_Draw], arrays: Sequence[Array]) -> list[Array]:
    """Returns arrays of one type and dimensions with half of their elements equal; scalars in every second set."""
    first: dict[object, Array] = {}
    made = []
    for draw, array in zip(draws, arrays, strict=True):
        shape = draw.demand.shape
        other = first.setdefault((shape.element_type, shape.dimensions), array)
        is_same = np.array(draw.run % 2 == 0) if not draw.size else draw.rng.integers(0, 2, draw.size) == 0
        made.append(np.where(is_same, other, array).astype(array.dtype))
    return made
