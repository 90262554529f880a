"""Plans: immutable lists of data-movement steps, and the plan that a tiled layout stands for.

A plan knows nothing of any IR; passes turn its steps into ops, `pack` runs them on numpy.
Meaning of tiles: docs/layouts.md section "Meaning" (XLA: docs/tiled_layout.md, xla/layout_util.cc
LinearIndexForNestedTiling).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod

from dialect_utils.layout.element_type import ELEMENT_TYPES, ElementType
from dialect_utils.layout.layout import COMBINE, MATCH, Layout, Tile
from dialect_utils.layout.shape import ArrayShape
from dialect_utils.layout.steps import BitcastConvert, Pad, Reshape, Slice, Step, Transpose, step_result

_BYTE = 8


@dataclass(frozen=True, slots=True)
class Plan:
    """Is a list of steps that start from an array of `element_type` and `dimensions`.

    Raises ValueError on construction where a step does not fit the array it meets.
    """

    element_type: ElementType
    dimensions: tuple[int, ...]
    steps: tuple[Step, ...] = ()

    def __post_init__(self) -> None:
        self.stages()

    def stages(self) -> list[tuple[ElementType, tuple[int, ...]]]:
        """Returns element type and dimensions before the first step and behind every step."""
        stages = [(self.element_type, self.dimensions)]
        for step in self.steps:
            stages.append(step_result(step, *stages[-1]))
        return stages

    @property
    def result(self) -> tuple[ElementType, tuple[int, ...]]:
        """Returns element type and dimensions behind the last step."""
        return self.stages()[-1]

    def then(self, other: Plan) -> Plan:
        """Returns the plan that does this one and then `other`; raises ValueError where they do not meet."""
        if self.result != (other.element_type, other.dimensions):
            raise ValueError(f"a plan for {other.element_type}{list(other.dimensions)} cannot follow {self}")
        return Plan(self.element_type, self.dimensions, self.steps + other.steps)

    def inverse(self) -> Plan:
        """Returns the plan that undoes this one: pads become slices, slices unspecified pads.

        Undoing a slice gives back dimensions, not the elements that were cut off.
        """
        stages = self.stages()
        steps = tuple(
            _inverse_step(step, *before)
            for step, before in zip(reversed(self.steps), reversed(stages[:-1]), strict=True)
        )
        return Plan(*stages[-1], steps)

    def __str__(self) -> str:
        start = f"{self.element_type}[{','.join(map(str, self.dimensions))}]"
        return " -> ".join([start, *map(str, self.steps)])


def _inverse_step(step: Step, element_type: ElementType, dimensions: tuple[int, ...]) -> Step:
    """Returns the step back to what stood before `step`."""
    rank = len(dimensions)
    if isinstance(step, Transpose):
        return Transpose(tuple(sorted(range(rank), key=lambda i: step.permutation[i])))
    if isinstance(step, Reshape):
        return Reshape(dimensions)
    if isinstance(step, BitcastConvert):
        return BitcastConvert(element_type)
    if isinstance(step, Pad):
        gaps = step.interior or (0,) * rank
        spans = tuple(size + max(0, size - 1) * gap for size, gap in zip(dimensions, gaps, strict=True))
        limit = tuple(low + span for low, span in zip(step.low, spans, strict=True))
        return Slice(step.low, limit, tuple(gap + 1 for gap in gaps))
    strides = step.stride or (1,) * rank
    counts = _inverse_slice_counts(step, strides)
    covered = tuple(max(0, (count - 1) * stride + 1) for count, stride in zip(counts, strides, strict=True))
    high = tuple(size - a - c for size, a, c in zip(dimensions, step.start, covered, strict=True))
    return Pad(step.start, high, tuple(stride - 1 for stride in strides))


def _inverse_slice_counts(step: Slice, strides: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(-(-(b - a) // c) for a, b, c in zip(step.start, step.limit, strides, strict=True))


@lru_cache(maxsize=4096)
def physical_plan(shape: ArrayShape) -> Plan:
    """Returns the fewest steps that put an array into its physical array.

    The physical array is row-major over the final dimensions of the tiled layout; a packed
    sub-byte type (`E(n)`, n < 8) becomes u8. Raises ValueError for dynamic dimensions and for
    an `E(n)` that is not the width of the type.
    """
    if not shape.is_static:
        raise ValueError(f"{shape} has dynamic dimensions, so its physical array has no fixed size")
    layout = shape.effective_layout
    if layout.padded_dimensions is not None:
        return _padded_plan(shape, layout)
    digits = _Digits(shape.element_type, shape.dimensions, layout.major_to_minor)
    for tile in layout.tiles:
        digits.tile(tile)
    return _pack_bits(digits.plan(), layout)


def physical_shape(shape: ArrayShape) -> ArrayShape:
    """Returns the shape of the physical array: final dimensions, descending, no tiles, memory space kept."""
    element_type, dimensions = physical_plan(shape).result
    layout = Layout.descending(len(dimensions), memory_space=shape.effective_layout.memory_space)
    return ArrayShape(element_type, dimensions, layout)


def _padded_plan(shape: ArrayShape, layout: Layout) -> Plan:
    assert layout.padded_dimensions is not None
    rank = shape.rank
    high = tuple(p - d for p, d in zip(layout.padded_dimensions, shape.dimensions, strict=True))
    pad = Plan(shape.element_type, shape.dimensions, (Pad((0,) * rank, high),) if any(high) else ())
    rest = ArrayShape(shape.element_type, layout.padded_dimensions, layout.replace(padded_dimensions=None))
    return pad.then(physical_plan(rest))


def _pack_bits(plan: Plan, layout: Layout) -> Plan:
    """Appends the packing of a sub-byte type into bytes, least significant bits first."""
    element_type, dimensions = plan.result
    bits = layout.element_size_in_bits
    if bits in (0, element_type.storage_bits):
        return plan
    if bits != element_type.bits or _BYTE % bits:
        raise ValueError(f"E({bits}) does not pack {element_type}, whose values have {element_type.bits} bits")
    per_byte = _BYTE // bits
    total = prod(dimensions)
    kept = len(dimensions)
    tail = 1
    while kept and tail % per_byte:
        kept -= 1
        tail *= dimensions[kept]
    steps: list[Step] = []
    if tail % per_byte:
        padded = -(-total // per_byte) * per_byte
        steps = [Reshape((total,)), Pad((0,), (padded - total,))]
        kept, tail = 0, padded
    steps += [Reshape((*dimensions[:kept], tail // per_byte, per_byte)), BitcastConvert(ELEMENT_TYPES["u8"])]
    return simplify(plan.then(Plan(element_type, dimensions, tuple(steps))))


def simplify(plan: Plan) -> Plan:
    """Returns the plan with identities dropped and neighbouring steps of one kind merged."""
    steps: list[Step] = []
    stages = plan.stages()
    for step in plan.steps:
        if steps:
            merged = _merge(steps[-1], step)
            if merged is not None:
                steps[-1] = merged
                continue
        steps.append(step)
    kept = _without_identities(Plan(*stages[0], tuple(steps)))
    return kept if kept.steps == plan.steps else simplify(kept)


def _merge(first: Step, second: Step) -> Step | None:
    if isinstance(first, Reshape) and isinstance(second, Reshape):
        return second
    if isinstance(first, Transpose) and isinstance(second, Transpose):
        return Transpose(tuple(first.permutation[i] for i in second.permutation))
    return None


def _without_identities(plan: Plan) -> Plan:
    steps = []
    for step, (element_type, dimensions) in zip(plan.steps, plan.stages(), strict=False):
        if not _is_identity(step, element_type, dimensions):
            steps.append(step)
    return Plan(plan.element_type, plan.dimensions, tuple(steps))


def _is_identity(step: Step, element_type: ElementType, dimensions: tuple[int, ...]) -> bool:
    if isinstance(step, Transpose):
        return step.permutation == tuple(range(len(dimensions)))
    if isinstance(step, BitcastConvert):
        return step.element_type == element_type
    if isinstance(step, Pad):
        return not any(step.low) and not any(step.high) and not step.interior
    return step_result(step, element_type, dimensions)[1] == dimensions and (
        isinstance(step, Reshape) or not step.stride
    )


@dataclass(slots=True)
class _Digit:
    """Is one digit of an array dimension: index // stride % size; the top digit is unbounded above."""

    dim: int
    stride: int
    size: int
    is_top: bool


class _Digits:
    """Follows tiles symbolically: every physical dimension is a digit of an array dimension.

    Splitting a top digit only enlarges the pad in front of everything, so nested tiles whose
    sizes divide share one pad, one reshape and one transpose. What that cannot express (`*`
    over digits that are not neighbours, a tile that does not divide a lower digit) first
    realizes the digits so far and goes on from there.
    """

    def __init__(self, element_type: ElementType, dims: tuple[int, ...], order: tuple[int, ...]) -> None:
        self.element_type = element_type
        self.start = dims
        self.steps: list[Step] = []
        self.dims = dims
        self.axes = [_Digit(i, 1, dims[i], True) for i in order]

    def tile(self, tile: Tile) -> None:
        """Applies one tile to the most minor physical dimensions."""
        k = len(tile.dimensions)
        self._prepend_units(k - len(self.axes))
        sizes = self._combine(tile)
        kept = len(self.axes) - len(sizes)
        met = list(zip(self.axes[kept:], sizes, strict=True))
        if any(digit.dim < 0 and t not in (1, MATCH) for digit, t in met):
            self._adopt_units()
        if not all(self._splits(digit, t) for digit, t in met):
            self._realize()
        pairs = [self._split(digit, t) for digit, t in zip(self.axes[kept:], sizes, strict=True)]
        self.axes = self.axes[:kept] + [outer for outer, _ in pairs] + [inner for _, inner in pairs]

    def _prepend_units(self, count: int) -> None:
        if count <= 0:
            return
        # A unit dimension is a digit of no array dimension until a tile pads it.
        self.axes = [_Digit(-1, 1, 1, True) for _ in range(count)] + self.axes

    def _adopt_units(self) -> None:
        """Reshapes the array so that unit digits become leading dimensions, which can be padded."""
        units = [digit for digit in self.axes if digit.dim < 0]
        for digit in self.axes:
            digit.dim += len(units)
        for dim, digit in enumerate(units):
            digit.dim = dim
        self.dims = (1,) * len(units) + self.dims
        self.steps.append(Reshape(self.dims))

    def _combine(self, tile: Tile) -> list[int]:
        """Merges what `*` combines and returns the tile's remaining sizes."""
        kept = len(self.axes) - len(tile.dimensions)
        groups: list[list[_Digit]] = [[]]
        sizes = []
        for digit, t in zip(self.axes[kept:], tile.dimensions, strict=True):
            groups[-1].append(digit)
            if t != COMBINE:
                sizes.append(t)
                groups.append([])
        groups.pop()
        merged = [_merge_digits(group) for group in groups]
        if any(digit is None for digit in merged):
            self._realize(transposed=True)
            self._reshape([d.size for d in self.axes[:kept]] + [prod(d.size for d in group) for group in groups])
        else:
            self.axes = self.axes[:kept] + [digit for digit in merged if digit is not None]
        return sizes

    @staticmethod
    def _splits(digit: _Digit, t: int) -> bool:
        return digit.is_top or t == MATCH or digit.size % t == 0

    def _split(self, digit: _Digit, t: int) -> tuple[_Digit, _Digit]:
        if t == MATCH:
            t = digit.size
        outer = -(-digit.size // t) if t else 1
        return (
            _Digit(digit.dim, digit.stride * t, outer, digit.is_top),
            _Digit(digit.dim, digit.stride, t, False),
        )

    def _by_dimension(self) -> list[_Digit]:
        """Returns the digits in the array's order: by dimension, most major first."""
        position = {id(digit): i for i, digit in enumerate(self.axes)}
        return sorted(self.axes, key=lambda d: (d.dim, -d.stride, position[id(d)]))

    def _realize(self, *, transposed: bool = False) -> None:
        """Emits pad and reshape (and transpose) so that every digit becomes an array dimension."""
        digits = self._by_dimension()
        padded = [1] * len(self.dims)
        for digit in digits:
            if digit.dim >= 0:
                padded[digit.dim] *= digit.size
        high = tuple(p - d for p, d in zip(padded, self.dims, strict=True))
        self.steps += [Pad((0,) * len(high), high), Reshape(tuple(d.size for d in digits))]
        order = {id(digit): i for i, digit in enumerate(digits)}
        permutation = [order[id(digit)] for digit in self.axes]
        self.dims = tuple(d.size for d in digits)
        if transposed:
            self._transpose(permutation)
            permutation = list(range(len(self.dims)))
        self.axes = [_Digit(i, 1, self.dims[i], True) for i in permutation]

    def _transpose(self, permutation: list[int]) -> None:
        result = tuple(self.dims[i] for i in permutation)
        moved = [i for i in permutation if self.dims[i] != 1]
        # Moving only unit dimensions moves no element: a reshape says so.
        step = Reshape(result) if moved == sorted(moved) else Transpose(tuple(permutation))
        self.steps.append(step)
        self.dims = result

    def _reshape(self, dims: list[int]) -> None:
        self.steps.append(Reshape(tuple(dims)))
        self.dims = tuple(dims)
        self.axes = [_Digit(i, 1, size, True) for i, size in enumerate(dims)]

    def plan(self) -> Plan:
        """Returns the steps so far, ending in the physical array."""
        self._realize(transposed=True)
        return simplify(Plan(self.element_type, self.start, tuple(self.steps)))


def _merge_digits(group: list[_Digit]) -> _Digit | None:
    """Returns one digit equal to neighbouring digits in a row, or None where they are not neighbours."""
    merged = group[-1]
    for digit in reversed(group[:-1]):
        if digit.size == 1:
            continue
        if merged.size == 1:
            merged = digit
        elif digit.dim == merged.dim and digit.stride == merged.stride * merged.size:
            merged = _Digit(merged.dim, merged.stride, merged.size * digit.size, digit.is_top)
        else:
            return None
    return merged
