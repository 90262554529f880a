"""Gives tuples the layouts of their elements."""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.ir import Function, Module, Operation, Value
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from passes.tiling.markers import LAYOUT, marked_shape, tuple_carrier


def restore_tuple_layouts(module: Module) -> None:
    """Gives every tuple the tiled layouts that its elements have where they are put in or taken out.

    Ops that say so in a mark get the marked shape. Layouts spread through calls, loops and
    branches until nothing changes; only untiled leaves change.
    """
    for value in module.values():
        _restore_marked(value)
    changed = True
    while changed:
        changed = False
        for operation in module.operations():
            changed |= any(_agree(join.values) for join in operation.control_flow())
            changed |= _restore_around(operation)
    for function in module.functions:
        if function.is_entry:
            _give_back_tuples(function)


def _restore_marked(value: Value) -> None:
    carrier = tuple_carrier(value) if isinstance(value.shape, TupleShape) else None
    # A tuple op with a mark is a copy of another tuple.
    shape = None if carrier is None or carrier.opcode == "tuple" else marked_shape(carrier)
    if carrier is not None and shape is not None and value.shape.without_layout == shape.without_layout:
        value.set_shape(shape)
        carrier.set_frontend_attribute(LAYOUT, None)


def _restore_around(operation: Operation) -> bool:
    if operation.opcode == "tuple":
        value = operation.results[0]
        operands = TupleShape(tuple(operand.shape for operand in operation.operands))
        # What a loop or branch passes may be tiled where an operand says nothing: that stays, or this never ends.
        return _set(value, _merged(operands, value.shape))
    if operation.opcode == "get-tuple-element":
        index = operation.ints("index")
        value = operation.operands[0]
        if index is None or not isinstance(value.shape, TupleShape):
            return False
        elements = list(value.shape.elements)
        elements[index[0]] = _merged(elements[index[0]], operation.results[0].shape)
        part = operation.results[0]
        is_nested = isinstance(part.shape, TupleShape)
        return _set(value, TupleShape(tuple(elements))) | (is_nested and _set(part, elements[index[0]]))
    return False


def _agree(values: Sequence[Value]) -> bool:
    shape = values[0].shape
    if not isinstance(shape, TupleShape):
        return False
    for value in values:
        shape = _merged(shape, value.shape)
    return any(_set(value, _merged(value.shape, shape)) for value in values)


def _merged(shape: Shape, other: Shape) -> Shape:
    """Returns a shape with its untiled leaves in the other's tiled layouts, where the types are the same."""
    if isinstance(shape, TupleShape) and isinstance(other, TupleShape) and len(shape.elements) == len(other.elements):
        return TupleShape(tuple(map(_merged, shape.elements, other.elements)))
    if not isinstance(shape, ArrayShape) or not isinstance(other, ArrayShape):
        return shape
    same = shape.type_and_dimensions == other.type_and_dimensions
    return other if same and other.is_tiled and not shape.is_tiled else shape


def _set(value: Value, shape: Shape) -> bool:
    if value.shape == shape:
        return False
    value.set_shape(shape)
    return True


def _give_back_tuples(entry: Function) -> None:
    """Puts tuples in place of their copies, which are marked: their elements are the same again."""
    for operation in entry.operations:
        if operation.opcode == "tuple" and marked_shape(operation) is not None:
            _give_back_tuple(entry, operation)


def _give_back_tuple(entry: Function, copy: Operation) -> None:
    earlier = _whole(copy) or next(
        (o.results[0] for o in entry.operations if o.opcode == "tuple" and o != copy and o.operands == copy.operands),
        None,
    )
    if earlier is None:
        copy.set_frontend_attribute(LAYOUT, None)
        return
    copy.results[0].replace_uses(earlier)
    operands = list(copy.operands)
    copy.erase()
    for operand in operands:
        if operand.operation is not None and operand.operation.opcode == "get-tuple-element" and not operand.users:
            operand.operation.erase()


def _whole(root: Operation) -> Value | None:
    """Returns the tuple whose elements an op puts together again in order, or None."""
    parts = [operand.operation for operand in root.operands]
    if not parts or any(part is None or part.opcode != "get-tuple-element" for part in parts):
        return None
    taken = [(part.operands[0], part.ints("index")) for part in parts if part is not None]
    whole = taken[0][0]
    if taken != [(whole, (index,)) for index in range(len(taken))]:
        return None
    shape = whole.shape
    return whole if isinstance(shape, TupleShape) and len(shape.elements) == len(taken) else None
