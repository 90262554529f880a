"""The domain of bits: the primitives of definitions on numpy arrays that hold exact bit patterns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce as fold
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.execution.arrays import Array, from_bits, to_bits
from dialect_utils.execution.reference import conversions, elementwise
from dialect_utils.execution.reference.conversions import convert, kind_of
from dialect_utils.ir import Function, Operation
from dialect_utils.layout import BitcastConvert, ElementType, Step
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.layout.arrays.floats import without_subnormals
from dialect_utils.ops import Trait, has
from dialect_utils.ops.arrays import ArrayDomain
from dialect_utils.ops.domain import Domain, Scatter
from dialect_utils.ops.positions import Positions, scatter_positions, window_positions
from dialect_utils.ops.window import WindowDimension, Windows

# (function, arrays of the same dimensions) -> the function of the elements at each index.
Apply = Callable[[Function, Sequence[Array]], list[Array]]
Present = NDArray[np.bool_]


class Bits(ArrayDomain[Array], Domain[Array]):
    """Numpy arrays as the domain of definitions."""

    def __init__(self, apply: Apply, call: Apply) -> None:
        # `apply` computes a function for the elements at each index, `call` a function of whole arrays.
        self.apply, self._call = apply, call

    def select(self, make: Callable[..., Array], *arrays: Array) -> Array:
        return make(*arrays)

    def dimensions(self, array: Array) -> tuple[int, ...]:
        return array.shape

    def element_type(self, array: Array) -> ElementType:
        return kind_of(array)

    def integers(self, array: Array) -> Positions:
        return conversions.widened(array).astype(np.int64)

    def number(self, element_type: ElementType, value: float, dimensions: tuple[int, ...]) -> Array:
        return np.full(dimensions, convert(element_type, np.array(float(value))))

    def each(self, opcode: str, element_type: ElementType, operands: Sequence[Array]) -> Array:
        return elementwise.each(opcode, element_type, operands)

    def map(self, operation: Operation, function: Function, arrays: Sequence[Array]) -> list[Array]:
        return self.apply(function, arrays)

    def compare(self, direction: str, left: Array, right: Array, *, is_total: bool) -> Array:
        return conversions.compare(direction, left, right, is_total=is_total)

    def reduce_precision(self, array: Array, exponent_bits: int, mantissa_bits: int) -> Array:
        return conversions.reduce_precision(array, exponent_bits, mantissa_bits)

    def move(self, array: Array, step: Step, padding: Array | None = None) -> Array:
        if isinstance(step, BitcastConvert):
            return _reread(array, step.element_type)
        return super().move(array, step, padding)

    def iota(self, element_type: ElementType, size: int) -> Array:
        return convert(element_type, np.arange(size))

    def contract(self, operation: Any, left: Array, right: Array, present: Present | None = None) -> Array:
        """Returns [batch, rows, columns] of [batch, rows, summed] and [batch, columns, summed].

        Products are added in their order. Floats of fewer than 32 bits are multiplied and added in f32, and the sum
        is rounded once.
        """
        kind = next(leaf.element_type for value in operation.results for leaf in value.shape.arrays())
        lhs, rhs = _factor(left, kind), _factor(right, kind).swapaxes(1, 2)
        with np.errstate(all="ignore"):
            if lhs.dtype.kind in "iub":
                return _rounded_sum(np.matmul(lhs, rhs), kind)
            total = np.zeros((*lhs.shape[:2], rhs.shape[2]), lhs.dtype)
            for i in range(lhs.shape[2]):
                # Zero times infinity is NaN, so padding must not be multiplied.
                kept = slice(None) if present is None or present[:, i].all() else present[:, i]
                total[:, kept] += lhs[:, kept, i, None] * rhs[:, None, i]
            return _rounded_sum(total, kind)

    def combine(self, opcode: str, array: Array, initial: Array) -> Array:
        """Returns the [kept] of an array [kept, reduced], combined by an operation from the first element on."""
        found = np.full(array.shape[0], initial)
        for i in range(array.shape[1]):
            found = self.each(opcode, kind_of(array), [found, array[:, i]])
        return found

    def reduce(
        self, operation: Operation, function: Function, arrays: Sequence[Array], initial: Sequence[Array]
    ) -> list[Array]:
        """Returns the [kept] of arrays [kept, reduced], combined from the first element on."""
        found = [np.full(arrays[0].shape[0], value) for value in initial]
        for i in range(arrays[0].shape[1]):
            found = self.apply(function, [*found, *(array[:, i] for array in arrays)])
        return found

    def reduce_window(
        self, windows: Windows, function: Function, arrays: Sequence[Array], initial: Sequence[Array]
    ) -> list[Array]:
        """Returns arrays with every window, combined from the initial values and first element on."""
        padding = arrays[0].size
        flat = [np.append(array.reshape(-1), value.reshape(1)) for array, value in zip(arrays, initial, strict=True)]
        positions = window_positions(windows.window, arrays[0].shape, windows.sizes)
        found = [np.full(len(positions), value) for value in initial]
        for offset in range(positions.shape[1]):
            at = positions[:, offset]
            combined = self.apply(function, [*found, *(array[at] for array in flat)])
            kept = np.full(at.shape, True) if windows.has_padding else at != padding
            found = [np.where(kept, new, old) for new, old in zip(combined, found, strict=True)]
        return [each.reshape(windows.sizes) for each in found]

    def scatter_at(
        self, scatter: Scatter, arrays: Sequence[Array], columns: Sequence[Array], updates: Sequence[Array]
    ) -> list[Array]:
        """Returns arrays [*indexed, rest] with updates [count, *windows, rest] combined into them, in their order."""
        sizes, windows = (*arrays[0].shape[:-1], 1), (*updates[0].shape[1:-1], 1)
        rest = arrays[0].shape[-1]
        starts = [*map(self.integers, columns), np.zeros(updates[0].shape[0], np.int64)]
        rows = scatter_positions(sizes, starts, windows)
        positions = np.where(rows < 0, -1, rows * rest + np.arange(rest))
        return self.scatter(scatter.function, arrays, updates, positions)

    def scatter(
        self, function: Function, arrays: Sequence[Array], updates: Sequence[Array], positions: Array
    ) -> list[Array]:
        """Returns arrays into which updates are combined, in their order, at flat positions (-1: not at all)."""
        results = [array.reshape(-1).copy() for array in arrays]
        flat = [update.reshape(-1) for update in updates]
        for chosen in _rounds(positions.reshape(-1)):
            at = positions.reshape(-1)[chosen]
            combined = self.apply(function, [*(result[at] for result in results), *(each[chosen] for each in flat)])
            for result, values in zip(results, combined, strict=True):
                result[at] = values
        return [result.reshape(array.shape) for result, array in zip(results, arrays, strict=True)]

    def select_in_windows(
        self, function: Function, array: Array, window: tuple[WindowDimension, ...], sizes: tuple[int, ...]
    ) -> Array:
        positions = window_positions(window, array.shape, sizes)
        flat, padding = np.append(array.reshape(-1), np.zeros(1, array.dtype)), array.size
        found = np.full(len(positions), -1)
        for offset in range(positions.shape[1]):
            at = positions[:, offset]
            [keeps] = self.apply(function, [flat[found], flat[at]])
            found = np.where((at != padding) & ((found < 0) | ~keeps), at, found)
        return found.reshape(sizes)

    def sort(self, function: Function, arrays: Sequence[Array], dimension: int) -> list[Array]:
        """Returns arrays sorted together along a dimension, equal keys in their order: neighbours are exchanged."""
        found = [np.moveaxis(array, dimension, -1).copy() for array in arrays]
        size = found[0].shape[-1]
        for start in range(size):
            lower, upper = slice(start % 2, size - 1, 2), slice(start % 2 + 1, size, 2)
            pairs = [value for array in found for value in (array[..., upper], array[..., lower])]
            if not pairs[0].size:
                continue
            [is_less] = self.apply(function, pairs)
            for array in found:
                low, high = array[..., lower].copy(), array[..., upper].copy()
                array[..., lower], array[..., upper] = np.where(is_less, high, low), np.where(is_less, low, high)
        return [np.moveaxis(array, -1, dimension) for array in found]

    def ranked(self, array: Array, *, is_descending: bool) -> list[Array]:
        key = conversions.total_rank(array) if kind_of(array).is_floating else conversions.widened(array)
        # The complement of an integer has the reverse order.
        index = np.argsort(~key if is_descending else key, axis=-1, kind="stable")
        return [np.take_along_axis(array, index, -1), index.astype(np.int32)]

    def call(self, function: Function, arguments: Sequence[Array]) -> list[Array]:
        return self._call(function, arguments)

    def fourier(self, operation: Operation, array: Array, kind: str, lengths: Sequence[int]) -> Array:
        """Returns the transform FFT, IFFT, RFFT or IRFFT of the last dimensions, of `lengths`; computed in f64."""
        result = next(leaf for value in operation.results for leaf in value.shape.arrays())
        axes = tuple(range(array.ndim - len(lengths), array.ndim))
        if 0 in lengths:
            return np.zeros(result.dimensions, dtype_of(result.element_type))
        functions: dict[str, Callable[..., Array]] = {
            "FFT": np.fft.fftn,
            "IFFT": np.fft.ifftn,
            "RFFT": np.fft.rfftn,
            "IRFFT": np.fft.irfftn,
        }
        wide = array.astype(np.complex128 if kind_of(array).is_complex else np.float64)
        found = functions[kind](wide, tuple(lengths), axes)
        return np.asarray(found).astype(dtype_of(result.element_type))

    def cholesky(self, array: Array) -> Array:
        """Returns the lower factors of [batch, n, n] symmetric matrices; NaN where one is not positive definite."""
        found = _in_double(np.zeros_like(array))
        wide = _in_double(array)
        with np.errstate(all="ignore"):
            for i in range(array.shape[1]):
                rest = wide[:, i:, i] - np.einsum("bij,bj->bi", found[:, i:, :i], found[:, i, :i].conj())
                pivot = np.sqrt(rest[:, 0].real)
                found[:, i:, i] = rest / pivot[:, None]
                found[:, i, i] = pivot
        return found.astype(array.dtype)

    def solve_lower(self, matrix: Array, right: Array, *, has_unit_diagonal: bool) -> Array:
        wide, found = _in_double(matrix), _in_double(right)
        with np.errstate(all="ignore"):
            for i in range(matrix.shape[1]):
                found[:, i] -= np.einsum("bj,bjc->bc", wide[:, i, :i], found[:, :i])
                found[:, i] /= 1 if has_unit_diagonal else wide[:, i, i, None]
        return found.astype(right.dtype)


def _in_double(array: Array) -> Array:
    return array.astype(np.complex128 if kind_of(array).is_complex else np.float64)


def _factor(array: Array, kind: ElementType) -> Array:
    """Returns a factor in the type that products of a result of type `kind` are summed in."""
    source = kind_of(array)
    is_wider = source.bits > kind.bits and not kind.is_complex
    return conversions.widened(array if is_wider else convert(kind, array))


def _rounded_sum(array: Array, kind: ElementType) -> Array:
    return conversions.wrapped(array, kind) if array.dtype.kind in "iu" else convert(kind, array)


def _rounds(positions: Array) -> list[Array]:
    """Returns the updates in groups that write to different positions, those of one position in their order."""
    kept = np.flatnonzero(positions >= 0)
    order = kept[np.argsort(positions[kept], kind="stable")]
    ordered = positions[order]
    first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])) if len(ordered) else ordered
    lengths = np.diff(np.append(first, len(ordered)))
    number = np.arange(len(ordered)) - np.repeat(first, lengths)
    return [order[number == i] for i in range(number.max(initial=-1) + 1)]


def _reread(array: Array, kind: ElementType) -> Array:
    """Returns the bits of an array as elements of another type, the least significant bits first."""
    source = kind_of(array)
    if source.bits == kind.bits:
        return _of_words(_words(array, source), kind)
    words = _words(array, source)
    bits = np.stack(
        [word >> np.uint64(i) & np.uint64(1) for word in words for i in range(source.bits // len(words))], -1
    )
    if source.bits > kind.bits:
        grouped = bits.reshape(*array.shape, source.bits // kind.bits, kind.bits)
    else:
        grouped = bits.reshape(*array.shape[:-1], kind.bits)
    return _of_words(_packed(grouped, kind), kind)


def _words(array: Array, kind: ElementType) -> list[Array]:
    bits = to_bits(array, kind)
    return [bits[..., 0], bits[..., 1]] if kind.name == "c128" else [bits.astype(np.uint64)]


def _packed(bits: Array, kind: ElementType) -> list[Array]:
    halves = np.split(bits, 2, -1) if kind.name == "c128" else [bits]
    return [fold(np.bitwise_or, (half[..., i] << np.uint64(i) for i in range(half.shape[-1]))) for half in halves]


def _of_words(words: list[Array], kind: ElementType) -> Array:
    if kind.name == "c128":
        return from_bits(np.stack(words, -1), kind)
    return from_bits(words[0].astype(f"u{kind.storage_bytes}"), kind)


class FlushedBits(Bits):
    """The bits of an engine that counts subnormal numbers as zeros, as the choice `SUBNORMALS` allows."""

    def each(self, opcode: str, element_type: ElementType, operands: Sequence[Array]) -> Array:
        if not has(opcode, Trait.ROUNDS):
            return super().each(opcode, element_type, operands)
        return without_subnormals(super().each(opcode, element_type, [*map(without_subnormals, operands)]))

    def compare(self, direction: str, left: Array, right: Array, *, is_total: bool) -> Array:
        if is_total:
            return super().compare(direction, left, right, is_total=True)
        return super().compare(direction, without_subnormals(left), without_subnormals(right), is_total=False)

    def contract(self, operation: Any, left: Array, right: Array, present: Present | None = None) -> Array:
        operands = without_subnormals(left), without_subnormals(right)
        return without_subnormals(super().contract(operation, *operands, present))
