"""Results and constraints of random numbers."""

from __future__ import annotations

from dialect_utils.layout import Shape, TupleShape, parse_shape
from dialect_utils.ops.declaration import (
    FLOATS,
    REAL_NUMBERS,
)
from dialect_utils.ops.inference import Instance, ShapeError, is_compatible, is_same_kind

_STATE = parse_shape("u64[2]")


def check_distribution(instance: Instance) -> None:
    """Raises ShapeError where the bounds of a rng are not two scalars of one type that has the distribution."""
    shapes = instance.operands
    if len(shapes) != len(("from", "to")) or any(instance.array(index).rank for index in range(len(shapes))):
        raise ShapeError("rng takes two scalars", "operands")
    if instance.is_lenient:
        return
    kind, given = instance.array(0).element_type, instance.result_array().element_type
    other = instance.array(1).element_type
    if kind != other or not is_same_kind(kind, given):
        raise ShapeError(f"rng of {kind} and {other} cannot give {given}", "operands")
    name = instance.attribute("distribution")
    taken = FLOATS if name == "rng_normal" else REAL_NUMBERS
    if not taken.includes(kind):
        raise ShapeError(f"rng of {kind} has no distribution {name}", "distribution")


def check_bits(instance: Instance) -> None:
    """Raises ShapeError where a generator does not return its state and numbers."""
    state, shape = instance.operands[0], instance.shape
    if shape is None or not isinstance(shape, TupleShape):
        return
    if len(shape.elements) != len(("state", "bits")) or not is_compatible(shape.elements[0], state):
        message = f"rng-bit-generator of the state {state} gives it and numbers, but the shape is {shape}"
        raise ShapeError(message, "shape")
    if not instance.is_lenient and not all(REAL_NUMBERS.includes(leaf.element_type) for leaf in shape.arrays()):
        raise ShapeError(f"rng-bit-generator gives real numbers, but the shape is {shape}", "shape")


def state(instance: Instance) -> Shape:
    """Returns u64[2]."""
    return _STATE
