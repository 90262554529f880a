"""Operations made again on arrays of other dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.ir import Builder, Operation, Value, array_shape
from dialect_utils.ir.chains import erase_dead, is_relayout
from dialect_utils.layout import ArrayShape, Layout, Step


def resized(shape: ArrayShape, dimensions: Sequence[int]) -> ArrayShape:
    """Returns a shape with other dimensions, whose layout is descending if the shape has one."""
    layout = None if shape.layout is None else Layout.descending(len(dimensions))
    return ArrayShape(shape.element_type, tuple(dimensions), layout)


def remade(
    builder: Builder,
    operation: Operation,
    operands: Sequence[Value],
    shapes: Sequence[ArrayShape],
    *,
    name: str,
    step: Step | None,
) -> Sequence[Value]:
    """Makes an operation again; returns the results.

    `step` is the step of data movement that the new operation has. A constant of equal elements becomes a broadcast.
    """
    like = operation.results[0]
    if operation.opcode == "constant":
        bits = operation.splat_bits
        assert bits is not None  # checked by the caller
        scalar = builder.constant(shapes[0].element_type, bits, name=f"{like.name}.scalar", like=like)
        return [builder.broadcast(scalar, shapes[0].dimensions, name=name, like=like)]
    if step is not None:
        padding = operands[1] if step.adds_elements else None
        return [builder.apply(step, operands[0], name=name, like=like, padding=padding)]
    return builder.clone(operation, operands, shapes, name=name)


def bypass(value: Value, source: Value) -> None:
    """Makes reshapes of a value read `source` instead, which has the same elements in the same order."""
    for user in value.users:
        if user.opcode == "reshape" and is_relayout(user):
            made = user.results[0]
            user.set_operand(0, source)
            if array_shape(made).dimensions == array_shape(source).dimensions:
                made.replace_uses(source)
                erase_dead([made], keep=source)
