"""Reads the data-movement step of an instruction, and writes steps as attributes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, singledispatch
from types import MappingProxyType
from typing import Protocol

from dialect_utils.layout import ArrayShape, BitcastConvert, Pad, Reshape, Shape, Slice, Step, Transpose
from dialect_utils.ops.inference import Written
from dialect_utils.ops.shapes.movement import pad_step, slice_step, transpose_step


class Instruction(Written, Protocol):
    """What a step is read from: an instruction of the graph, which itself asks for its step."""

    shape: Shape


def parse_step(instruction: Instruction) -> Step | None:
    """Returns the step an instruction makes, or None where it makes none (or one with dynamic sizes)."""
    parse = _PARSERS.get(instruction.opcode)
    shape = instruction.shape
    if parse is None or not isinstance(shape, ArrayShape) or shape.dynamic:
        return None
    return parse(instruction, shape)


def _parse_reshape(instruction: Instruction, shape: ArrayShape) -> Reshape:
    return Reshape(shape.dimensions)


def _parse_bitcast_convert(instruction: Instruction, shape: ArrayShape) -> BitcastConvert:
    return BitcastConvert(shape.element_type)


def _parse_transpose(instruction: Instruction, shape: ArrayShape) -> Step | None:
    return transpose_step(instruction)


def _parse_slice(instruction: Instruction, shape: ArrayShape) -> Step | None:
    return slice_step(instruction)


def _parse_pad(instruction: Instruction, shape: ArrayShape) -> Step | None:
    return pad_step(instruction)


_PARSERS: dict[str, Callable[[Instruction, ArrayShape], Step | None]] = {
    Transpose.opcode: _parse_transpose,
    Reshape.opcode: _parse_reshape,
    Pad.opcode: _parse_pad,
    Slice.opcode: _parse_slice,
    BitcastConvert.opcode: _parse_bitcast_convert,
}


@lru_cache(maxsize=1 << 12)
def format_step(step: Step) -> Mapping[str, str]:
    """Returns the attributes of the instruction that makes a step; for most its shape says all."""
    return MappingProxyType(_format_step(step))


@singledispatch
def _format_step(step: Step) -> dict[str, str]:
    return {}


@_format_step.register
def _format_transpose(step: Transpose) -> dict[str, str]:
    return {"dimensions": "{" + ",".join(map(str, step.permutation)) + "}"}


@_format_step.register
def _format_slice(step: Slice) -> dict[str, str]:
    parts = [
        f"[{start}:{limit}]" if stride == 1 else f"[{start}:{limit}:{stride}]"
        for start, limit, stride in zip(step.start, step.limit, step.strides, strict=True)
    ]
    return {"slice": "{" + ", ".join(parts) + "}"}


@_format_step.register
def _format_pad(step: Pad) -> dict[str, str]:
    parts = [f"{a}_{b}" + (f"_{c}" if c else "") for a, b, c in zip(step.low, step.high, step.gaps, strict=True)]
    return {"padding": "x".join(parts)}
