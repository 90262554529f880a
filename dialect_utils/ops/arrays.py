"""Primitives that only select positions, for arrays of anything: bits, terms of a proof, or words of a finite field.

This module has the index arithmetic of each operation. A domain adds the arithmetic on elements: sums of products,
combinations, numbers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from dialect_utils.layout import ELEMENT_TYPES, Pad, Step
from dialect_utils.ops.domain import V
from dialect_utils.ops.positions import gather_positions, pad_into, stepped, window_positions
from dialect_utils.ops.window import WindowDimension, Windows

# Steps have the same sizes for every element type, but for those that regroup bits.
_ANY_TYPE = ELEMENT_TYPES["u8"]
# The positions of start indices, one for each dimension.
Starts = tuple[int, ...]


Make = Callable[..., NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Patches:
    """A convolution as a contraction: functions that reshape both operands and the result, and a mask of the products.

    `left` makes [groups, batch x results, features x offsets], `right` [groups, features of a group, features x
    offsets]. Where `present`, of the last two dimensions of the left operand, is false, the left operand is padding, 0;
    with `has_padding` it is multiplied.
    """

    left: Make
    right: Make
    result: Make
    present: NDArray[np.bool_]
    has_padding: bool


class ArrayDomain(Generic[V]):
    """Arrays that numpy indexes. Only the domain itself reads `operation`, so a term may stand for one."""

    @abstractmethod
    def select(self, make: Make, *arrays: V) -> V:
        """Returns the result of `make`, a function of numpy arrays that only selects elements by position."""

    @abstractmethod
    def dimensions(self, array: V) -> tuple[int, ...]:
        """Returns the sizes of an array."""

    @abstractmethod
    def integers(self, array: V) -> NDArray[np.int64]:
        """Returns the values of an array of integers; raises UndefinedError where they are not known."""

    @abstractmethod
    def contract(self, operation: Any, left: V, right: V, present: NDArray[np.bool_] | None = None) -> V:
        """Returns [batch, rows, columns] of [batch, rows, summed] and [batch, columns, summed].

        Where `present`, of dimensions [rows, summed], is false, a product takes no part; `left` holds 0 there.
        """

    def spend(self, count: int) -> None:
        """Checks the number of window elements before they are built; a domain may raise an error."""

    def move(self, array: V, step: Step, padding: V | None = None) -> V:
        """Returns an array after one step that keeps the elements; `padding` is a scalar."""
        if not isinstance(step, Pad):
            return self.select(lambda a: stepped(step, a), array)
        assert padding is not None  # a pad has a padding value
        sizes = step.result(_ANY_TYPE, self.dimensions(array))[1]
        return self.select(lambda a, p: pad_into(a, step, np.broadcast_to(p, sizes)), array, padding)

    def broadcast(self, array: V, dimensions: Sequence[int], sizes: Sequence[int]) -> V:
        """Returns an array of `sizes` that repeats another one, whose dimension i becomes `dimensions[i]`."""
        own, order = [1] * len(sizes), sorted(range(len(dimensions)), key=dimensions.__getitem__)
        for size, to in zip(self.dimensions(array), dimensions, strict=True):
            own[to] = size
        return self.select(lambda a: np.broadcast_to(a.transpose(order).reshape(own), tuple(sizes)), array)

    def reverse(self, array: V, dimensions: Sequence[int]) -> V:
        """Returns an array with the elements along some dimensions in reverse order."""
        return self.select(lambda a: np.flip(a, tuple(dimensions)), array)

    def concatenate(self, arrays: Sequence[V], dimension: int) -> V:
        """Returns arrays joined along a dimension."""
        return self.select(lambda *each: np.concatenate(each, dimension), *arrays)

    # Slices

    def slice_at(self, array: V, starts: Sequence[V], sizes: Sequence[int]) -> V:
        """Returns `sizes` elements from scalar start indices on, clamped so that the slice is inside the array."""
        return self.sliced(array, self._clamped(starts, self.dimensions(array), sizes), sizes)

    def sliced(self, array: V, starts: Starts, sizes: Sequence[int]) -> V:
        """Returns `sizes` elements from known positions on."""
        cut = tuple(slice(start, start + size) for start, size in zip(starts, sizes, strict=True))
        return self.select(lambda a: a[cut], array)

    def update_at(self, array: V, update: V, starts: Sequence[V]) -> V:
        """Returns an array with an update written at scalar start indices, clamped so that it is inside."""
        return self.updated(array, update, self._clamped(starts, self.dimensions(array), self.dimensions(update)))

    def updated(self, array: V, update: V, starts: Starts) -> V:
        """Returns an array with an update written from known positions on."""
        cut = tuple(slice(start, start + size) for start, size in zip(starts, self.dimensions(update), strict=True))

        def written(old: NDArray[Any], new: NDArray[Any]) -> NDArray[Any]:
            result = old.copy()
            result[cut] = new
            return result

        return self.select(written, array, update)

    def _clamped(self, starts: Sequence[V], sizes: Sequence[int], part: Sequence[int]) -> Starts:
        values = [int(self.integers(start)) for start in starts]
        return tuple(max(0, min(value, a - b)) for value, a, b in zip(values, sizes, part, strict=True))

    def gather(
        self, operation: Any, array: V, columns: Sequence[V], windows: Sequence[int], order: Sequence[int] = ()
    ) -> V:
        """Returns windows [count, *windows, rest] of an array [*indexed, rest] at clamped start indices."""
        sizes = self.dimensions(array)[: len(windows)]
        index = gather_positions(sizes, [*map(self.integers, columns)], windows)
        return self.select(lambda a: a[index], array)

    # Windows

    def windows(self, array: V, padding: V, window: Sequence[WindowDimension], sizes: Sequence[int]) -> V:
        """Returns [results, offsets]: the elements of every window, of which there are `sizes`, in row-major order."""
        self.spend(prod(sizes) * prod(each.size for each in window))
        index = window_positions(window, self.dimensions(array), sizes)
        return self.select(lambda a, p: np.append(a, p)[index], array, padding)

    def convolve(self, windows: Windows, lhs: V, rhs: V, groups: int) -> V:
        """Returns a convolution as a contraction of patches.

        `lhs` is [batch, feature, *spatial], `rhs` [output, input, *spatial]; `groups` is the number of feature
        groups, and the window is not reversed.
        """
        sizes = windows.sizes
        outputs, inputs, *kernel = self.dimensions(rhs)
        batch, _, *spatial = self.dimensions(lhs)
        self.spend(prod(sizes) * inputs * prod(kernel))
        index = window_positions(windows.window, spatial, sizes[2:])
        places, offsets = index.shape

        def patches(a: NDArray[Any]) -> NDArray[Any]:
            split = a.reshape(batch, groups, inputs, prod(spatial)).swapaxes(0, 1)
            padding = np.zeros((*split.shape[:-1], 1), split.dtype)
            found = np.concatenate([split, padding], -1)[..., index]
            return found.swapaxes(-2, -3).reshape(groups, batch * places, inputs * offsets)

        def kernels(a: NDArray[Any]) -> NDArray[Any]:
            return a.reshape(groups, outputs // groups, inputs * prod(kernel))

        def assembled(a: NDArray[Any]) -> NDArray[Any]:
            return a.reshape(groups, batch, places, outputs // groups).transpose(1, 0, 3, 2).reshape(sizes)

        present = np.tile(index < prod(spatial), (batch, inputs))
        joined = Patches(patches, kernels, assembled, present, windows.has_padding)
        return self.convolved(windows.operation, lhs, rhs, joined)

    def convolved(self, operation: Any, lhs: V, rhs: V, patches: Patches) -> V:
        """Returns a convolution from its patches."""
        left, right = self.select(patches.left, lhs), self.select(patches.right, rhs)
        present = None if patches.has_padding else patches.present
        return self.select(patches.result, self.contract(operation, left, right, present))
