"""What rules of shape inference share: how an operation is asked, and the errors they raise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from dialect_utils.layout import ArrayShape, ElementType, Shape


class Written(Protocol):
    """The opcode and the attributes of an instruction."""

    @property
    def opcode(self) -> str:
        """Returns the opcode."""

    def attribute(self, name: str) -> str | None:
        """Returns the text of an attribute, or None where it is absent."""

    def ints(self, name: str) -> tuple[int, ...] | None:
        """Returns an attribute as integers, or None where it is absent or something else."""


# Takes the instruction, the operands' shapes, and what the computations that it calls return.
Rule = Callable[[Written, Sequence[Shape], Sequence[Shape]], Shape]


class ShapeError(ValueError):
    """Operands or attributes that give no shape; the message says which and why."""


def array(shape: Shape, what: Written) -> ArrayShape:
    """Returns a shape that is an array; raises ShapeError for others."""
    if not isinstance(shape, ArrayShape):
        raise ShapeError(f"{what.opcode} of {shape} needs an array")
    return shape


def arrays(shapes: Sequence[Shape], what: Written) -> list[ArrayShape]:
    """Returns shapes that are arrays; raises ShapeError for others."""
    return [array(shape, what) for shape in shapes]


def dims_of(what: Written, name: str, rank: int) -> tuple[int, ...]:
    """Returns an attribute that numbers dimensions of an array of this rank, () where it is absent."""
    found = what.ints(name) or ()
    if len(set(found)) != len(found) or any(not 0 <= dim < rank for dim in found):
        raise ShapeError(f"{what.opcode} has {name}={{{','.join(map(str, found))}}}, but the rank is {rank}")
    return found


def made(element_type: ElementType, dimensions: Sequence[int]) -> ArrayShape:
    """Returns an array without a layout."""
    return ArrayShape(element_type, tuple(dimensions))


def of_type(shape: ArrayShape, element_type: ElementType) -> ArrayShape:
    """Returns an array of the same dimensions and layout with another element type."""
    return ArrayShape(element_type, shape.dimensions, shape.layout, shape.dynamic)


def wider(first: ElementType, second: ElementType) -> ElementType:
    """Returns the type that an operation of two types has (ShapeUtil::HigherPrecisionElementType)."""
    if first.is_complex != second.is_complex:
        return first if first.is_complex else second
    if first.is_floating != second.is_floating:
        return first if first.is_floating else second
    return first if first.bits >= second.bits else second


def element_of(shapes: Sequence[Shape], index: int, default: ElementType) -> ElementType:
    """Returns the element type of one of the arrays that called computations return."""
    leaves = [leaf for shape in shapes for leaf in shape.leaves()]
    found = leaves[index] if index < len(leaves) else None
    return found.element_type if isinstance(found, ArrayShape) else default
