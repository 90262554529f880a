"""Data-movement steps: the effect of one pad, reshape, transpose, slice or bitcast-convert on an array.

Plans, passes and both dialects share these steps. This module has the properties of a single step;
`plan` and `normal_form` have those of runs of steps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from dialect_utils.layout.element_type import ElementType

# An array between two steps: its element type and its dimensions (in elements).
Stage = tuple[ElementType, tuple[int, ...]]


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


@dataclass(frozen=True, slots=True)
class Transpose(Step):
    """A permutation: dimension `permutation[i]` of the operand becomes dimension i of the result."""

    opcode: ClassVar[str] = "transpose"

    permutation: tuple[int, ...]

    def result(self, element_type: ElementType, dimensions: tuple[int, ...]) -> Stage:
        """Returns the permuted dimensions."""
        if sorted(self.permutation) != list(range(len(dimensions))):
            raise ValueError(f"{self} does not permute {len(dimensions)} dimensions")
        return element_type, tuple(dimensions[i] for i in self.permutation)

    def inverse(self, element_type: ElementType, dimensions: tuple[int, ...]) -> Transpose:
        """Returns the inverse transpose."""
        return Transpose(inverse_permutation(self.permutation))

    def then(self, other: Step, element_type: ElementType, dimensions: tuple[int, ...]) -> Step | None:
        """Returns two transposes as one."""
        if isinstance(other, Transpose):
            return Transpose(tuple(self.permutation[i] for i in other.permutation))
        return None

    def is_identity(self, element_type: ElementType, dimensions: tuple[int, ...]) -> bool:
        """Is true where every dimension keeps its number."""
        return self.permutation == tuple(range(len(dimensions)))

    def with_minor_dimension(self, size: int) -> Transpose:
        """Returns the transpose that leaves one more dimension most minor."""
        return Transpose((*self.permutation, len(self.permutation)))

    @property
    def order(self) -> tuple[int, ...]:
        """Returns the permutation."""
        return self.permutation

    def try_with_leading(self, own: tuple[int, ...], sizes: tuple[int, ...]) -> Transpose | None:
        """Returns the transpose that leaves other first dimensions in their positions."""
        count, more = len(own), len(sizes) - len(own)
        if self.permutation[:count] != tuple(range(count)):
            return None
        return Transpose((*range(len(sizes)), *(i + more for i in self.permutation[count:])))

    def __str__(self) -> str:
        return f"transpose{{{_joined(self.permutation)}}}"


@dataclass(frozen=True, slots=True)
class Reshape(Step):
    """The same elements, in row-major order, under the dimensions `dimensions`."""

    opcode: ClassVar[str] = "reshape"

    dimensions: tuple[int, ...]

    def result(self, element_type: ElementType, dimensions: tuple[int, ...]) -> Stage:
        """Returns the new dimensions."""
        if prod(self.dimensions) != prod(dimensions):
            raise ValueError(f"{self} does not keep the {prod(dimensions)} elements of {list(dimensions)}")
        return element_type, self.dimensions

    def inverse(self, element_type: ElementType, dimensions: tuple[int, ...]) -> Reshape:
        """Returns the inverse reshape."""
        return Reshape(dimensions)

    def then(self, other: Step, element_type: ElementType, dimensions: tuple[int, ...]) -> Step | None:
        """Returns two reshapes as the last one."""
        return other if isinstance(other, Reshape) else None

    def with_minor_dimension(self, size: int) -> Reshape:
        """Returns the reshape that leaves one more dimension most minor."""
        return Reshape((*self.dimensions, size))

    def try_with_leading(self, own: tuple[int, ...], sizes: tuple[int, ...]) -> Reshape | None:
        """Returns the reshape that keeps other first dimensions."""
        count = len(own)
        return Reshape((*sizes, *self.dimensions[count:])) if self.dimensions[:count] == own else None

    def __str__(self) -> str:
        return f"reshape[{_joined(self.dimensions)}]"


@dataclass(frozen=True, slots=True)
class Pad(Step):
    """`low` elements of a padding value before every dimension and `high` after it; negative counts remove.

    `interior` (empty: none) elements go between neighbours, as in HLO's pad.
    """

    opcode: ClassVar[str] = "pad"
    adds_elements: ClassVar[bool] = True

    low: tuple[int, ...]
    high: tuple[int, ...]
    interior: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not any(self.interior):
            object.__setattr__(self, "interior", ())

    @property
    def gaps(self) -> tuple[int, ...]:
        """Returns `interior` with one count for every dimension."""
        return self.interior or (0,) * len(self.low)

    @property
    def only_adds(self) -> bool:
        """Is true where the pad only adds elements, and only at the ends of dimensions."""
        return not self.interior and min((*self.low, *self.high), default=0) >= 0

    def result(self, element_type: ElementType, dimensions: tuple[int, ...]) -> Stage:
        """Returns the padded dimensions."""
        if len(self.low) != len(dimensions) or len(self.high) != len(dimensions):
            raise ValueError(f"{self} does not fit rank {len(dimensions)}")
        spans = self.spans(dimensions)
        padded = tuple(low + span + high for low, span, high in zip(self.low, spans, self.high, strict=True))
        if any(size < 0 for size in padded):
            raise ValueError(f"{self} leaves a negative size of {list(dimensions)}")
        return element_type, padded

    def spans(self, dimensions: Sequence[int]) -> tuple[int, ...]:
        """Returns the extent of the elements of each dimension, gaps between them included."""
        return tuple(size + max(0, size - 1) * gap for size, gap in zip(dimensions, self.gaps, strict=True))

    def inverse(self, element_type: ElementType, dimensions: tuple[int, ...]) -> Slice:
        """Returns the slice that keeps the original elements."""
        limit = tuple(low + span for low, span in zip(self.low, self.spans(dimensions), strict=True))
        return Slice(self.low, limit, tuple(gap + 1 for gap in self.gaps))

    def then(self, other: Step, element_type: ElementType, dimensions: tuple[int, ...]) -> Step | None:
        """Returns two pads that only add as one; a slice that drops all added elements gives the identity."""
        if isinstance(other, Slice):
            is_undone = self.only_adds and other == self.inverse(element_type, dimensions)
            return Reshape(dimensions) if is_undone else None
        # A negative edge of the second pad may cut off padding of the first one, or elements.
        if not isinstance(other, Pad) or not self.only_adds or not other.only_adds:
            return None
        return Pad(tuple(map(int.__add__, self.low, other.low)), tuple(map(int.__add__, self.high, other.high)))

    def is_identity(self, element_type: ElementType, dimensions: tuple[int, ...]) -> bool:
        """Is true where nothing is added or removed; a pad that adds and removes as many elements is no identity."""
        return not any((*self.low, *self.high, *self.interior))

    def permuted(self, order: Sequence[int]) -> Pad:
        """Returns the pad of the same dimensions in another order."""
        return Pad(_picked(self.low, order), _picked(self.high, order), _picked(self.interior, order))

    def with_minor_dimension(self, size: int) -> Pad:
        """Returns the pad that does not change one more, most minor dimension."""
        return Pad((*self.low, 0), (*self.high, 0), (*self.gaps, 0))

    def try_with_leading(self, own: tuple[int, ...], sizes: tuple[int, ...]) -> Pad | None:
        """Returns the pad that does not change other first dimensions."""
        count, none = len(own), (0,) * len(sizes)
        amounts = self.low, self.high, self.gaps
        if any(any(each[:count]) for each in amounts):
            return None
        return Pad(*((*none, *each[count:]) for each in amounts))

    def __str__(self) -> str:
        parts = zip(self.low, self.high, self.gaps, strict=True)
        return f"pad[{'x'.join(f'{a}_{b}' + (f'_{c}' if c else '') for a, b, c in parts)}]"


@dataclass(frozen=True, slots=True)
class Slice(Step):
    """Elements `start`, `start + stride`, ... below `limit` of every dimension; the others are dropped."""

    opcode: ClassVar[str] = "slice"
    drops_elements: ClassVar[bool] = True

    start: tuple[int, ...]
    limit: tuple[int, ...]
    stride: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if all(step == 1 for step in self.stride):
            object.__setattr__(self, "stride", ())

    @property
    def strides(self) -> tuple[int, ...]:
        """Returns `stride` with one entry for every dimension."""
        return self.stride or (1,) * len(self.start)

    def result(self, element_type: ElementType, dimensions: tuple[int, ...]) -> Stage:
        """Returns the number of elements of each dimension that are kept."""
        if not len(self.start) == len(self.limit) == len(self.strides) == len(dimensions):
            raise ValueError(f"{self} does not fit rank {len(dimensions)}")
        for start, limit, stride, size in zip(self.start, self.limit, self.strides, dimensions, strict=True):
            if not 0 <= start <= limit <= size or stride < 1:
                raise ValueError(f"{self} leaves the bounds of {list(dimensions)}")
        return element_type, self._counts()

    def _counts(self) -> tuple[int, ...]:
        return tuple(-(-(b - a) // c) for a, b, c in zip(self.start, self.limit, self.strides, strict=True))

    def inverse(self, element_type: ElementType, dimensions: tuple[int, ...]) -> Pad:
        """Returns the pad that returns the kept elements to their positions."""
        gaps = tuple(stride - 1 for stride in self.strides)
        spans = Pad(self.start, self.start, gaps).spans(self._counts())
        high = tuple(size - a - span for size, a, span in zip(dimensions, self.start, spans, strict=True))
        return Pad(self.start, high, gaps)

    def then(self, other: Step, element_type: ElementType, dimensions: tuple[int, ...]) -> Step | None:
        """Returns None: no step restores dropped elements."""
        return None

    def permuted(self, order: Sequence[int]) -> Slice:
        """Returns the slice of the same dimensions in another order."""
        return Slice(_picked(self.start, order), _picked(self.limit, order), _picked(self.stride, order))

    def with_minor_dimension(self, size: int) -> Slice:
        """Returns the slice that keeps all of one more, most minor dimension."""
        return Slice((*self.start, 0), (*self.limit, size), (*self.strides, 1))

    def try_with_leading(self, own: tuple[int, ...], sizes: tuple[int, ...]) -> Slice | None:
        """Returns the slice that keeps all of other first dimensions."""
        count, strides = len(own), (1,) * len(sizes)
        if any(self.start[:count]) or self.limit[:count] != own or {*self.strides[:count]} - {1}:
            return None
        start, limit = (0,) * len(sizes), sizes
        return Slice((*start, *self.start[count:]), (*limit, *self.limit[count:]), (*strides, *self.strides[count:]))

    def __str__(self) -> str:
        parts = zip(self.start, self.limit, self.strides, strict=True)
        return f"slice[{_joined(f'{a}:{b}' + (f':{c}' if c != 1 else '') for a, b, c in parts)}]"


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
        """Returns the inverse bitcast-convert."""
        return BitcastConvert(element_type)

    def then(self, other: Step, element_type: ElementType, dimensions: tuple[int, ...]) -> Step | None:
        """Returns the last of two bitcast-converts if two of the three types are equally wide, else None."""
        if not isinstance(other, BitcastConvert):
            return None
        widths = {element_type.bits, self.element_type.bits, other.element_type.bits}
        return other if len(widths) < 3 else None

    def __str__(self) -> str:
        return f"bitcast-convert[{self.element_type}]"


def inverse_permutation(permutation: Sequence[int]) -> tuple[int, ...]:
    """Returns the inverse of a permutation: entry `permutation[i]` of the result is i."""
    return tuple(sorted(range(len(permutation)), key=permutation.__getitem__))


def _picked(values: tuple[int, ...], order: Sequence[int]) -> tuple[int, ...]:
    return tuple(values[i] for i in order) if values else ()


def _joined(values: Iterable[object]) -> str:
    return ",".join(map(str, values))
