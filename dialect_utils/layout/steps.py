"""Data-movement steps: what pad, reshape, transpose, slice and bitcast-convert do to a shape.

The steps are the vocabulary that plans, passes and both text forms share.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from dialect_utils.layout.element_type import ElementType


@dataclass(frozen=True, slots=True)
class Transpose:
    """Moves dimension `permutation[i]` of the operand to dimension i of the result."""

    permutation: tuple[int, ...]

    def __str__(self) -> str:
        return f"transpose{{{','.join(map(str, self.permutation))}}}"


@dataclass(frozen=True, slots=True)
class Reshape:
    """Gives the elements, in row-major order, the dimensions `dimensions`."""

    dimensions: tuple[int, ...]

    def __str__(self) -> str:
        return f"reshape[{','.join(map(str, self.dimensions))}]"


@dataclass(frozen=True, slots=True)
class Pad:
    """Adds `low` elements before and `high` behind every dimension; negative counts remove.

    `interior` (empty: none) elements go between neighbours, as in HLO's pad.
    """

    low: tuple[int, ...]
    high: tuple[int, ...]
    interior: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not any(self.interior):
            object.__setattr__(self, "interior", ())

    def __str__(self) -> str:
        interior = self.interior or (0,) * len(self.low)
        parts = [f"{a}_{b}" + (f"_{c}" if c else "") for a, b, c in zip(self.low, self.high, interior, strict=True)]
        return f"pad[{'x'.join(parts)}]"


@dataclass(frozen=True, slots=True)
class Slice:
    """Keeps elements `start`, `start + stride`, ... below `limit` of every dimension."""

    start: tuple[int, ...]
    limit: tuple[int, ...]
    stride: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if all(step == 1 for step in self.stride):
            object.__setattr__(self, "stride", ())

    def __str__(self) -> str:
        strides = self.stride or (1,) * len(self.start)
        parts = [
            f"{a}:{b}" + (f":{c}" if c != 1 else "") for a, b, c in zip(self.start, self.limit, strides, strict=True)
        ]
        return f"slice[{','.join(parts)}]"


@dataclass(frozen=True, slots=True)
class BitcastConvert:
    """Reads the same bits as another element type, as HLO's bitcast-convert does.

    To a wider type the last dimension (wide bits / narrow bits) disappears; to a narrower
    one it appears. The least significant bits come first.
    """

    element_type: ElementType

    def __str__(self) -> str:
        return f"bitcast-convert[{self.element_type}]"


Step = Transpose | Reshape | Pad | Slice | BitcastConvert


def step_result(
    step: Step, element_type: ElementType, dimensions: tuple[int, ...]
) -> tuple[ElementType, tuple[int, ...]]:
    """Returns element type and dimensions (in elements) behind a step.

    Raises ValueError where the step does not fit the dimensions.
    """
    rank = len(dimensions)
    if isinstance(step, Transpose):
        if sorted(step.permutation) != list(range(rank)):
            raise ValueError(f"{step} does not permute {rank} dimensions")
        return element_type, tuple(dimensions[i] for i in step.permutation)
    if isinstance(step, Reshape):
        if prod(step.dimensions) != prod(dimensions):
            raise ValueError(f"{step} does not keep the {prod(dimensions)} elements of {list(dimensions)}")
        return element_type, step.dimensions
    if isinstance(step, BitcastConvert):
        return step.element_type, _bitcast_dimensions(step, element_type, dimensions)
    if isinstance(step, Pad):
        if len(step.low) != rank or len(step.high) != rank:
            raise ValueError(f"{step} does not fit rank {rank}")
        interior = step.interior or (0,) * rank
        padded = tuple(
            low + size + max(0, size - 1) * gap + high
            for low, size, gap, high in zip(step.low, dimensions, interior, step.high, strict=True)
        )
        if any(size < 0 for size in padded):
            raise ValueError(f"{step} leaves a negative size of {list(dimensions)}")
        return element_type, padded
    return element_type, _slice_dimensions(step, dimensions)


def _slice_dimensions(step: Slice, dimensions: tuple[int, ...]) -> tuple[int, ...]:
    rank = len(dimensions)
    strides = step.stride or (1,) * rank
    if not len(step.start) == len(step.limit) == len(strides) == rank:
        raise ValueError(f"{step} does not fit rank {rank}")
    for start, limit, stride, size in zip(step.start, step.limit, strides, dimensions, strict=True):
        if not 0 <= start <= limit <= size or stride < 1:
            raise ValueError(f"{step} leaves the bounds of {list(dimensions)}")
    return tuple(-(-(b - a) // c) for a, b, c in zip(step.start, step.limit, strides, strict=True))


def _bitcast_dimensions(
    step: BitcastConvert, element_type: ElementType, dimensions: tuple[int, ...]
) -> tuple[int, ...]:
    old, new = element_type.bits, step.element_type.bits
    if old == new:
        return dimensions
    if old > new:
        if old % new:
            raise ValueError(f"{element_type} does not hold whole elements of {step.element_type}")
        return (*dimensions, old // new)
    if new % old or not dimensions or dimensions[-1] != new // old:
        raise ValueError(f"{step} needs a last dimension of {new}/{old} elements, found {list(dimensions)}")
    return dimensions[:-1]
