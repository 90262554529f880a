"""Data-movement steps: the effect of one pad, reshape, transpose, slice or bitcast-convert on an array.

Plans, passes and both dialects share these steps. This module has the properties of a single step, `pad_slice` those of
pads and slices; `plan` and `normal_form` have those of runs of steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar, NamedTuple

from dialect_utils.layout.element_type import ElementType

# An array between two steps: its element type and its dimensions (in elements).
Stage = tuple[ElementType, tuple[int, ...]]


class SharedDimension(NamedTuple):
    """A dimension of the operand, and a dimension of the result, at whose equal indices the same elements are.

    `is_whole` is false where the step adds or drops elements at an end of the dimension.
    """

    source: int
    dimension: int
    is_whole: bool


class Step(ABC):
    """One data-movement op as a value.

    `opcode` is HLO's. One class of steps adds elements (of a padding value), one drops elements, and
    one regroups bits into other elements; the others permute the elements.
    """

    __slots__ = ()

    opcode: ClassVar[str]
    adds_elements: ClassVar[bool] = False
    drops_elements: ClassVar[bool] = False
    regroups_bits: ClassVar[bool] = False

    @abstractmethod
    def result(self, element_type: ElementType, dimensions: tuple[int, ...]) -> Stage:
        """Returns element type and dimensions after the step; raises ValueError where it does not fit."""

    @abstractmethod
    def inverse(self, element_type: ElementType, dimensions: tuple[int, ...]) -> Step:
        """Returns the inverse step; element type and dimensions are those before this step.

        The inverse of a slice restores dimensions, not the elements that were dropped.
        """

    @abstractmethod
    def then(self, other: Step, element_type: ElementType, dimensions: tuple[int, ...]) -> Step | None:
        """Returns one step with the effect of this one, on the given array, and then `other`, or None.

        Two pads are assumed to write the same padding value.
        """

    def is_identity(self, element_type: ElementType, dimensions: tuple[int, ...]) -> bool:
        """Is true where the step does not change the given array."""
        return self.result(element_type, dimensions) == (element_type, dimensions)

    def permuted(self, order: Sequence[int]) -> Step | None:
        """Returns the step for arrays whose dimension i is dimension `order[i]` of this step's arrays.

        Returns None for steps that do not act on each dimension separately.
        """
        return None

    def with_minor_dimension(self, size: int) -> Step:
        """Returns the step for arrays with one more, most minor dimension of `size` elements, which it keeps."""
        raise ValueError(f"{self} has no counterpart on arrays of one more dimension")

    @property
    def order(self) -> tuple[int, ...] | None:
        """Returns the permutation of a transpose, None for other steps."""
        return None

    def try_with_leading(self, own: tuple[int, ...], sizes: tuple[int, ...]) -> Step | None:
        """Returns the step for arrays whose first dimensions are `sizes` instead of `own`, which it has to keep.

        Returns None for a step that changes the first dimensions.
        """
        return None

    def try_resized(self, dimensions: tuple[int, ...], dimension: int, size: int) -> Step | None:
        """Returns the step whose result has another size in a dimension, because the array before it has.

        `dimensions` are those before this step, `dimension` is one of the result. Returns None for a step that adds or
        drops elements along the dimension.
        """
        return None

    def shared_dimensions(self, dimensions: tuple[int, ...]) -> Iterator[SharedDimension]:
        """Yields the dimensions that the step keeps, at least a range of neighbouring indices of each."""
        yield from ()

    def try_merged(self, dimensions: tuple[int, ...], dimension: int, result: tuple[int, ...]) -> Step | None:
        """Returns the step for arrays in which `dimension` and the next dimension are merged.

        The step has to keep the next dimension whole. `dimensions` are those before this step, `result` the dimensions
        after the new step. Returns None for a step that has no counterpart.
        """
        return None


@dataclass(frozen=True, slots=True)
class Transpose(Step):
    """A permutation: dimension `permutation[i]` of the operand becomes dimension i of the result."""

    opcode: ClassVar[str] = "transpose"

    permutation: tuple[int, ...]

    def result(self, element_type: ElementType, dimensions: tuple[int, ...]) -> Stage:
        if sorted(self.permutation) != list(range(len(dimensions))):
            raise ValueError(f"{self} does not permute {len(dimensions)} dimensions")
        return element_type, tuple(dimensions[i] for i in self.permutation)

    def inverse(self, element_type: ElementType, dimensions: tuple[int, ...]) -> Transpose:
        return Transpose(inverse_permutation(self.permutation))

    def then(self, other: Step, element_type: ElementType, dimensions: tuple[int, ...]) -> Step | None:
        if isinstance(other, Transpose):
            return Transpose(tuple(self.permutation[i] for i in other.permutation))
        return None

    def is_identity(self, element_type: ElementType, dimensions: tuple[int, ...]) -> bool:
        return self.permutation == tuple(range(len(dimensions)))

    def with_minor_dimension(self, size: int) -> Transpose:
        return Transpose((*self.permutation, len(self.permutation)))

    @property
    def order(self) -> tuple[int, ...]:
        return self.permutation

    def try_with_leading(self, own: tuple[int, ...], sizes: tuple[int, ...]) -> Transpose | None:
        count, more = len(own), len(sizes) - len(own)
        if self.permutation[:count] != tuple(range(count)):
            return None
        return Transpose((*range(len(sizes)), *(i + more for i in self.permutation[count:])))

    def try_resized(self, dimensions: tuple[int, ...], dimension: int, size: int) -> Transpose:
        return self

    def shared_dimensions(self, dimensions: tuple[int, ...]) -> Iterator[SharedDimension]:
        for dimension, source in enumerate(self.permutation):
            yield SharedDimension(source, dimension, is_whole=True)

    def try_merged(self, dimensions: tuple[int, ...], dimension: int, result: tuple[int, ...]) -> Transpose:
        """Returns the transpose that has both dimensions, side by side before and after it, as one."""
        return Transpose(without_next(self.permutation, dimension))

    def __str__(self) -> str:
        return f"transpose{{{joined(self.permutation)}}}"


@dataclass(frozen=True, slots=True)
class Reshape(Step):
    """The same elements, in row-major order, under the dimensions `dimensions`."""

    opcode: ClassVar[str] = "reshape"

    dimensions: tuple[int, ...]

    def result(self, element_type: ElementType, dimensions: tuple[int, ...]) -> Stage:
        if prod(self.dimensions) != prod(dimensions):
            raise ValueError(f"{self} does not keep the {prod(dimensions)} elements of {list(dimensions)}")
        return element_type, self.dimensions

    def inverse(self, element_type: ElementType, dimensions: tuple[int, ...]) -> Reshape:
        return Reshape(dimensions)

    def then(self, other: Step, element_type: ElementType, dimensions: tuple[int, ...]) -> Step | None:
        return other if isinstance(other, Reshape) else None

    def with_minor_dimension(self, size: int) -> Reshape:
        return Reshape((*self.dimensions, size))

    def try_with_leading(self, own: tuple[int, ...], sizes: tuple[int, ...]) -> Reshape | None:
        count = len(own)
        return Reshape((*sizes, *self.dimensions[count:])) if self.dimensions[:count] == own else None

    def try_resized(self, dimensions: tuple[int, ...], dimension: int, size: int) -> Reshape:
        return Reshape((*self.dimensions[:dimension], size, *self.dimensions[dimension + 1 :]))

    def try_merged(self, dimensions: tuple[int, ...], dimension: int, result: tuple[int, ...]) -> Reshape:
        return Reshape(result)

    def __str__(self) -> str:
        return f"reshape[{joined(self.dimensions)}]"


@dataclass(frozen=True, slots=True)
class BitcastConvert(Step):
    """The same bits as elements of another type, as HLO's bitcast-convert reads them.

    To a wider type the last dimension (wide bits / narrow bits) disappears, as in `u8[3,4] -> u32[3]`; to a
    narrower one it appears. The least significant bits come first.
    """

    opcode: ClassVar[str] = "bitcast-convert"
    regroups_bits: ClassVar[bool] = True

    element_type: ElementType

    def result(self, element_type: ElementType, dimensions: tuple[int, ...]) -> Stage:
        """Returns the new element type, and the dimensions with or without that of the narrower elements."""
        old, new = element_type.bits, self.element_type.bits
        if old == new:
            return self.element_type, dimensions
        if old > new:
            if old % new:
                raise ValueError(f"{element_type} does not hold whole elements of {self.element_type}")
            return self.element_type, (*dimensions, old // new)
        if new % old or not dimensions or dimensions[-1] != new // old:
            raise ValueError(f"{self} needs a last dimension of {new}/{old} elements, found {list(dimensions)}")
        return self.element_type, dimensions[:-1]

    def inverse(self, element_type: ElementType, dimensions: tuple[int, ...]) -> BitcastConvert:
        return BitcastConvert(element_type)

    def then(self, other: Step, element_type: ElementType, dimensions: tuple[int, ...]) -> Step | None:
        """Returns the last of two bitcast-converts if two of the three types are equally wide, else None."""
        if not isinstance(other, BitcastConvert):
            return None
        return other if len({element_type.bits, self.element_type.bits, other.element_type.bits}) < 3 else None

    def __str__(self) -> str:
        return f"bitcast-convert[{self.element_type}]"


def inverse_permutation(permutation: Sequence[int]) -> tuple[int, ...]:
    """Returns the inverse of a permutation: entry `permutation[i]` of the result is i."""
    return tuple(sorted(range(len(permutation)), key=permutation.__getitem__))


def without_next(numbers: Iterable[int], dimension: int) -> tuple[int, ...]:
    """Returns numbers of dimensions after the one after `dimension` is gone: `0,1,2,3` are `0,1,2` for dimension 1."""
    return tuple(number - (number > dimension) for number in numbers if number != dimension + 1)


def joined(values: Iterable[object]) -> str:
    """Returns values with commas between them."""
    return ",".join(map(str, values))
