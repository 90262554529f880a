"""Reads the data-movement step of an instruction, and writes steps as attributes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dialect_utils.hlo.tokens import without_comments
from dialect_utils.layout import ArrayShape, BitcastConvert, Pad, Reshape, Slice, Step, Transpose

if TYPE_CHECKING:
    from dialect_utils.hlo.instruction import Instruction

# As many digits as an int64 has.
_SLICE = re.compile(r"\[\s*(\d{1,19})\s*:\s*(\d{1,19})\s*(?::\s*(\d{1,19})\s*)?\]", re.ASCII)
_PADDING = re.compile(r"(?<!\d)(-?\d{1,19})_(-?\d{1,19})(?:_(\d{1,19}))?(?![\d_])", re.ASCII)

OPCODES: dict[type, str] = {
    Transpose: "transpose",
    Reshape: "reshape",
    Pad: "pad",
    Slice: "slice",
    BitcastConvert: "bitcast-convert",
}
_STEP_OPCODES = frozenset(OPCODES.values())


def parse_step(instruction: Instruction) -> Step | None:
    """Returns the step an instruction makes, or None where it makes none (or one with dynamic sizes)."""
    opcode, shape = instruction.opcode, instruction.shape
    if opcode not in _STEP_OPCODES or not isinstance(shape, ArrayShape) or shape.dynamic:
        return None
    if opcode == "reshape":
        return Reshape(shape.dimensions)
    if opcode == "bitcast-convert":
        return BitcastConvert(shape.element_type)
    if opcode == "transpose":
        permutation = instruction.ints("dimensions")
        return None if permutation is None else Transpose(permutation)
    return _parse_slice(instruction) if opcode == "slice" else _parse_pad(instruction)


def _parse_slice(instruction: Instruction) -> Slice | None:
    text = instruction.attribute("slice")
    if text is None:
        return None
    found = _SLICE.findall(without_comments(text))
    return Slice(
        tuple(int(start) for start, _, _ in found),
        tuple(int(limit) for _, limit, _ in found),
        tuple(int(stride or 1) for _, _, stride in found),
    )


def _parse_pad(instruction: Instruction) -> Pad | None:
    text = instruction.attribute("padding")
    if text is None:
        return None
    found = _PADDING.findall(text)
    return Pad(
        tuple(int(low) for low, _, _ in found),
        tuple(int(high) for _, high, _ in found),
        tuple(int(gap or 0) for _, _, gap in found),
    )


def format_step(step: Step) -> dict[str, str]:
    """Returns the attributes of the instruction that makes a step."""
    if isinstance(step, Transpose):
        return {"dimensions": "{" + ",".join(map(str, step.permutation)) + "}"}
    if isinstance(step, Slice):
        return {"slice": "{" + ", ".join(_format_slice(step)) + "}"}
    if isinstance(step, Pad):
        interior = step.interior or (0,) * len(step.low)
        parts = [f"{a}_{b}" + (f"_{c}" if c else "") for a, b, c in zip(step.low, step.high, interior, strict=True)]
        return {"padding": "x".join(parts)}
    return {}


def _format_slice(step: Slice) -> list[str]:
    strides = step.stride or (1,) * len(step.start)
    return [
        f"[{start}:{limit}]" if stride == 1 else f"[{start}:{limit}:{stride}]"
        for start, limit, stride in zip(step.start, step.limit, strides, strict=True)
    ]
