"""Pads and slices: the steps that act on each dimension separately."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from dialect_utils.layout.element_type import ElementType
from dialect_utils.layout.moves.steps import Reshape, SharedDimension, Stage, Step, joined

# Low, high and gap of a dimension that is padded; start, limit and stride of one that is sliced.
Bounds = tuple[int, int, int]


class _DimensionwiseStep(Step):
    """A pad or slice, which acts on each dimension separately, by three numbers."""

    __slots__ = ()

    @property
    @abstractmethod
    def bounds(self) -> tuple[Bounds, ...]:
        """Returns the numbers of every dimension."""

    @staticmethod
    @abstractmethod
    def keeping(size: int) -> Bounds:
        """Returns the numbers of a dimension of `size` elements that does not change."""

    def _with(self, bounds: Iterable[Bounds]) -> Self:
        columns = tuple(zip(*bounds, strict=True)) or ((), (), ())
        return type(self)(*columns)

    def permuted(self, order: Sequence[int]) -> Self:
        bounds = self.bounds
        return self._with(bounds[i] for i in order)

    def with_minor_dimension(self, size: int) -> Self:
        return self._with((*self.bounds, self.keeping(size)))

    def try_with_leading(self, own: tuple[int, ...], sizes: tuple[int, ...]) -> Self | None:
        bounds, count = self.bounds, len(own)
        if bounds[:count] != tuple(map(self.keeping, own)):
            return None
        return self._with((*map(self.keeping, sizes), *bounds[count:]))

    def try_resized(self, dimensions: tuple[int, ...], dimension: int, size: int) -> Self | None:
        bounds = self.bounds
        if bounds[dimension] != self.keeping(dimensions[dimension]):
            return None
        return self._with((*bounds[:dimension], self.keeping(size), *bounds[dimension + 1 :]))

    def shared_dimensions(self, dimensions: tuple[int, ...]) -> Iterator[SharedDimension]:
        for dimension, (own, size) in enumerate(zip(self.bounds, dimensions, strict=True)):
            kept = self.keeping(size)
            if own[-1] == kept[-1]:
                yield SharedDimension(dimension, dimension, is_whole=own == kept)

    def try_merged(self, dimensions: tuple[int, ...], dimension: int, result: tuple[int, ...]) -> Self | None:
        """Returns the step with the numbers of the first dimension as elements of the merged one."""
        bounds, size = self.bounds, dimensions[dimension + 1]
        (low, high, between), kept = bounds[dimension], self.keeping(size)
        if between != kept[-1] or bounds[dimension + 1] != kept:
            return None
        return self._with((*bounds[:dimension], (low * size, high * size, between), *bounds[dimension + 2 :]))


@dataclass(frozen=True, slots=True)
class Pad(_DimensionwiseStep):
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

    @property
    def bounds(self) -> tuple[Bounds, ...]:
        return tuple(zip(self.low, self.high, self.gaps, strict=True))

    @staticmethod
    def keeping(size: int) -> Bounds:
        return 0, 0, 0

    def __str__(self) -> str:
        parts = (f"{low}_{high}" + (f"_{gap}" if gap else "") for low, high, gap in self.bounds)
        return f"pad[{'x'.join(parts)}]"


@dataclass(frozen=True, slots=True)
class Slice(_DimensionwiseStep):
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
        if not len(self.start) == len(self.limit) == len(self.strides) == len(dimensions):
            raise ValueError(f"{self} does not fit rank {len(dimensions)}")
        for start, limit, stride, size in zip(self.start, self.limit, self.strides, dimensions, strict=True):
            if not 0 <= start <= limit <= size or stride < 1:
                raise ValueError(f"{self} leaves the bounds of {list(dimensions)}")
        return element_type, self._counts()

    def _counts(self) -> tuple[int, ...]:
        return tuple(-(-(b - a) // c) for a, b, c in zip(self.start, self.limit, self.strides, strict=True))

    def inverse(self, element_type: ElementType, dimensions: tuple[int, ...]) -> Pad:
        gaps = tuple(stride - 1 for stride in self.strides)
        spans = Pad(self.start, self.start, gaps).spans(self._counts())
        high = tuple(size - a - span for size, a, span in zip(dimensions, self.start, spans, strict=True))
        return Pad(self.start, high, gaps)

    def then(self, other: Step, element_type: ElementType, dimensions: tuple[int, ...]) -> Step | None:
        """Returns None: no step restores dropped elements."""
        return None

    @property
    def bounds(self) -> tuple[Bounds, ...]:
        return tuple(zip(self.start, self.limit, self.strides, strict=True))

    @staticmethod
    def keeping(size: int) -> Bounds:
        return 0, size, 1

    def __str__(self) -> str:
        parts = (f"{start}:{limit}" + (f":{stride}" if stride != 1 else "") for start, limit, stride in self.bounds)
        return f"slice[{joined(parts)}]"
