"""Reads the data-movement step of an instruction, and writes steps as attributes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache, singledispatch
from types import MappingProxyType
from typing import Protocol

from dialect_utils.hlo.text.tokens import without_comments
from dialect_utils.layout import ArrayShape, BitcastConvert, Pad, Reshape, Shape, Slice, Step, Transpose

# As many digits as an int64 has.
_SLICE = re.compile(r"\[\s*(\d{1,19})\s*:\s*(\d{1,19})\s*(?::\s*(\d{1,19})\s*)?\]", re.ASCII)
_PADDING = re.compile(r"(?<!\d)(-?\d{1,19})_(-?\d{1,19})(?:_(\d{1,19}))?(?![\d_])", re.ASCII)


class Attributes(Protocol):
    """The opcode and attributes that a step is read from."""

    @property
    def opcode(self) -> str:
        """Returns the opcode."""

    def ints(self, name: str) -> tuple[int, ...] | None:
        """Returns an attribute as integers, or None."""

    def attribute(self, name: str) -> str | None:
        """Returns the text of an attribute, or None."""


class Instruction(Attributes, Protocol):
    """What a step is read from: an instruction of the graph, which itself asks for its step."""

    shape: Shape


def parse_step(instruction: Instruction) -> Step | None:
    """Returns the step an instruction makes, or None where it makes none (or one with dynamic sizes)."""
    parse = _PARSERS.get(instruction.opcode)
    shape = instruction.shape
    if parse is None or not isinstance(shape, ArrayShape) or shape.dynamic:
        return None
    return parse(instruction, shape)


def step_of_attributes(what: Attributes) -> Step | None:
    """Returns the step of a transpose, slice or pad, whose attributes say all of it, or None where they do not."""
    parse = {"transpose": _parse_transpose, "slice": _parse_slice, "pad": _parse_pad}.get(what.opcode)
    return None if parse is None else parse(what)


def _parse_reshape(instruction: Instruction, shape: ArrayShape) -> Reshape:
    return Reshape(shape.dimensions)


def _parse_bitcast_convert(instruction: Instruction, shape: ArrayShape) -> BitcastConvert:
    return BitcastConvert(shape.element_type)


def _parse_transpose(instruction: Attributes, shape: ArrayShape | None = None) -> Transpose | None:
    permutation = instruction.ints("dimensions")
    return None if permutation is None else Transpose(permutation)


def _parse_slice(instruction: Attributes, shape: ArrayShape | None = None) -> Slice | None:
    text = instruction.attribute("slice")
    if text is None:
        return None
    found = _SLICE.findall(without_comments(text))
    return Slice(
        tuple(int(start) for start, _, _ in found),
        tuple(int(limit) for _, limit, _ in found),
        tuple(int(stride or 1) for _, _, stride in found),
    )


def _parse_pad(instruction: Attributes, shape: ArrayShape | None = None) -> Pad | None:
    text = instruction.attribute("padding")
    if text is None:
        return None
    found = _PADDING.findall(text)
    return Pad(
        tuple(int(low) for low, _, _ in found),
        tuple(int(high) for _, high, _ in found),
        tuple(int(gap or 0) for _, _, gap in found),
    )


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
