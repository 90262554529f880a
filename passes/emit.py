"""Turns plans into ops: what every pass that moves data shares."""

from __future__ import annotations

from math import prod
from typing import Literal

from dialect_utils.ir import Builder, Value
from dialect_utils.layout import (
    ArrayShape,
    BitcastConvert,
    Pad,
    Plan,
    Reshape,
    Slice,
    Step,
    Transpose,
    simplify,
)

Padding = Literal["zero", "poison"]

STEP_NAMES: dict[type, str] = {
    Transpose: "transpose",
    Reshape: "reshape",
    Pad: "pad",
    Slice: "slice",
    BitcastConvert: "bitcast-convert",
}


def emit_plan(
    builder: Builder, plan: Plan, value: Value, *, base: str, last: str, like: Value, padding: Padding = "zero"
) -> list[Value]:
    """Makes the ops of a plan and returns their values in order (none for an empty plan).

    Ops are named `<base>.<step>`, the last one `<base>.<last>`; metadata and location come from `like`.
    """
    chain: list[Value] = []
    for position, step in enumerate(plan.steps):
        is_last = position == len(plan.steps) - 1
        name = f"{base}.{last if is_last else STEP_NAMES[type(step)]}"
        fill = _padding_constant(builder, step, value, base, like, padding)
        value = builder.apply(step, value, name=name, like=like, padding=fill)
        chain.append(value)
    return chain


def _padding_constant(
    builder: Builder, step: Step, value: Value, base: str, like: Value, padding: Padding
) -> Value | None:
    if not isinstance(step, Pad):
        return None
    assert isinstance(value.shape, ArrayShape)
    element_type = value.shape.element_type
    bits = element_type.poison_bits if padding == "poison" else 0
    return builder.constant(element_type, bits, name=f"{base}.padding", like=like)


def reinterpret(source: ArrayShape, target: ArrayShape) -> Plan | None:
    """Returns the plan that reads the bytes of one row-major array as another, or None where it cannot be said.

    Both are physical arrays; the total number of bits must agree, and one element must hold
    whole elements of the other.
    """
    old, new = source.element_type, target.element_type
    if source.element_count * old.bits != target.element_count * new.bits:
        return None
    if old == new:
        return simplify(Plan(old, source.dimensions, (Reshape(target.dimensions),)))
    if "pred" in (old.name, new.name) or max(old.bits, new.bits) % min(old.bits, new.bits):
        return None
    steps: list[Step] = []
    if old.bits < new.bits:
        count = new.bits // old.bits
        steps.append(Reshape((prod(source.dimensions) // count, count)))
    steps += [BitcastConvert(new), Reshape(target.dimensions)]
    return simplify(Plan(old, source.dimensions, tuple(steps)))
