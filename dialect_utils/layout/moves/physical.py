"""The plan that a tiled layout stands for: from an array to its physical array.

Meaning of tiles: docs/layouts.md section "Meaning" (XLA: docs/tiled_layout.md, xla/layout_util.cc
LinearIndexForNestedTiling).
"""

from __future__ import annotations

from functools import lru_cache
from math import prod

from dialect_utils.layout.element_type import ELEMENT_TYPES
from dialect_utils.layout.layout import Layout
from dialect_utils.layout.moves.digits import LATE_PADS, Digits, LatePads
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import BitcastConvert, Pad, Reshape, Step
from dialect_utils.layout.shape import ArrayShape

_BYTE = 8


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


@lru_cache(maxsize=4096)
def logical_plan(shape: ArrayShape) -> Plan:
    """Returns the inverse of `physical_plan`: from the physical array back to the array."""
    return physical_plan(shape).inverse()


@lru_cache(maxsize=4096)
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
    return pad.then(physical_plan(rest)).simplified()


def _plan_for(shape: ArrayShape, layout: Layout, late: LatePads) -> Plan:
    bits = layout.element_size_in_bits
    digits = Digits(shape.dimensions, layout.major_to_minor, late)
    for tile in layout.tiles:
        digits.tile(tile)
    start = Plan(shape.element_type, shape.dimensions)
    if bits in (0, shape.element_type.storage_bits):
        return start.with_steps(digits.finish()).simplified()
    if bits != shape.element_type.bits or _BYTE % bits:
        width = f"whose values have {shape.element_type.bits} bits"
        raise ValueError(f"E({bits}) does not pack {shape.element_type}, {width}")
    if digits.split_minor(_BYTE // bits):
        return start.with_steps((*digits.finish(), BitcastConvert(ELEMENT_TYPES["u8"]))).simplified()
    return _pack_tail(start.with_steps(digits.finish()), _BYTE // bits).simplified()


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


def dense_bitcast_plan(source: ArrayShape, target: ArrayShape) -> Plan | None:
    """Returns the plan that reads the bytes of one row-major array as another, or None where no steps say it.

    Both are physical arrays; the total number of bits must agree, and one element must hold
    whole elements of the other.
    """
    old, new = source.element_type, target.element_type
    if source.element_count * old.bits != target.element_count * new.bits:
        return None
    plan = Plan(old, source.dimensions)
    if old != new:
        if "pred" in (old.name, new.name) or max(old.bits, new.bits) % min(old.bits, new.bits):
            return None
        if old.bits < new.bits:
            count = new.bits // old.bits
            plan = plan.append(Reshape((source.element_count // count, count)))
        plan = plan.append(BitcastConvert(new))
    return plan.append(Reshape(target.dimensions))
