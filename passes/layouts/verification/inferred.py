"""Compares the shape of an instruction with the one that shape inference gives.

Only dimensions count, and only static ones: the TPU compiler mixes element types where other
backends do not. Source: xla/service/shape_inference.cc.
"""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.hlo import Instruction
from dialect_utils.hlo.inference import ShapeError, infer_shape
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from dialect_utils.ops import Trait, has


def dimension_problem(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    """Returns how the dimensions differ from those that operands and attributes give, or None."""
    try:
        wanted = infer_shape(instruction, operands, [callee.root.shape for callee in instruction.called])
    except ShapeError as error:
        return str(error)
    if wanted is None:
        return None
    given, found = list(wanted.leaves()), list(shape.leaves())
    if len(given) != len(found):
        return f"{instruction.opcode} gives {wanted.without_layout}, but the shape is {shape}"
    for leaf, other in zip(given, found, strict=True):
        if _dimensions(leaf) != _dimensions(other):
            sizes = list(_dimensions(leaf) or ())
            return f"{instruction.opcode} gives dimensions {sizes}, but the shape is {other}"
    return None


def type_problem(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    """Returns how the type differs from the one that operands and attributes give, or None."""
    try:
        wanted = infer_shape(instruction, operands, [callee.root.shape for callee in instruction.called])
    except ShapeError as error:
        return str(error)
    found = shape.without_layout
    if has(instruction.opcode, Trait.COMBINES) and isinstance(found, TupleShape) and len(found.elements) == 1:
        # XLA reads the tuple of one as the form of several.
        found = found.elements[0]
    if wanted is None or wanted.without_layout == found:
        return None
    return f"{instruction.opcode} gives {wanted.without_layout}, but the shape is {shape}"


def _dimensions(shape: Shape) -> tuple[int, ...] | None:
    return shape.dimensions if isinstance(shape, ArrayShape) else None
