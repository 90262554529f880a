"""Plans: immutable lists of data-movement steps, and the plan that a tiled layout stands for.

A plan knows nothing of any IR; passes turn its steps into ops, `pack` runs them on numpy.
Meaning of tiles: docs/layouts.md section "Meaning" (XLA: docs/tiled_layout.md, xla/layout_util.cc
LinearIndexForNestedTiling).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod

from dialect_utils.layout.digits import LATE_PADS, Digits, LatePads
from dialect_utils.layout.element_type import ELEMENT_TYPES, ElementType
from dialect_utils.layout.layout import Layout
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

    def with_steps(self, steps: tuple[Step, ...]) -> Plan:
        """Returns a plan with other steps from the same start; raises ValueError where one does not fit."""
        return Plan(self.element_type, self.dimensions, steps)

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
    return min((_plan_for(shape, layout, late) for late in LATE_PADS), key=lambda plan: len(plan.steps))


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
    return simplify(pad.then(physical_plan(rest)))


def _plan_for(shape: ArrayShape, layout: Layout, late: LatePads) -> Plan:
    bits = layout.element_size_in_bits
    digits = Digits(shape.dimensions, layout.major_to_minor, late)
    for tile in layout.tiles:
        digits.tile(tile)
    start = Plan(shape.element_type, shape.dimensions)
    if bits in (0, shape.element_type.storage_bits):
        return simplify(start.with_steps(digits.finish()))
    if bits != shape.element_type.bits or _BYTE % bits:
        width = f"whose values have {shape.element_type.bits} bits"
        raise ValueError(f"E({bits}) does not pack {shape.element_type}, {width}")
    if digits.split_minor(_BYTE // bits):
        return simplify(start.with_steps((*digits.finish(), BitcastConvert(ELEMENT_TYPES["u8"]))))
    return simplify(_pack_tail(start.with_steps(digits.finish()), _BYTE // bits))


def _pack_tail(plan: Plan, per_byte: int) -> Plan:
    """Appends the packing of elements into bytes where no single dimension fills them."""
    _, dimensions = plan.result
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
    return plan.with_steps((*plan.steps, *steps))


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
    if isinstance(first, Pad) and isinstance(second, Pad):
        return _merge_pads(first, second)
    return None


def _merge_pads(first: Pad, second: Pad) -> Pad | None:
    # A negative edge of the second pad may cut off what the first one added, or elements.
    edges = (*first.low, *first.high, *second.low, *second.high)
    if first.interior or second.interior or min(edges, default=0) < 0:
        return None
    low = tuple(a + b for a, b in zip(first.low, second.low, strict=True))
    high = tuple(a + b for a, b in zip(first.high, second.high, strict=True))
    return Pad(low, high)


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
