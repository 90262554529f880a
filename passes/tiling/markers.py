"""Marker attributes: frontend attributes by which `expand-tiling` records what its ops do not determine.

A marker attribute is a hint, never evidence: the reader checks that the ops agree with it.
"""

from __future__ import annotations

from dataclasses import dataclass

from dialect_utils.ir import Operation, Value
from dialect_utils.layout import Shape, TupleShape, parse_shape
from dialect_utils.ops import Trait, with_trait
from dialect_utils.text import DiagnosticError

_PREFIX = "relayout."
LAYOUT = f"{_PREFIX}layout"
BITCAST = f"{_PREFIX}bitcast"

# Attributes that any instruction may carry and that do not affect its result.
_OWN = ("sharding", "backend_config", "statistics")

# Ops for which the layouts of a tuple follow from operands, called functions or users.
_IMPLYING = with_trait(Trait.TUPLES) | with_trait(Trait.CALLS) - {"async", "custom-call"} | {"opt-barrier"}


@dataclass(frozen=True, slots=True)
class BitcastMarker:
    """A marker: the last `count` ops are the bitcast `name` of the value `operand` to `shape`."""

    name: str
    operand: str
    count: int
    shape: Shape

    def __str__(self) -> str:
        return f"{self.name} {self.operand} {self.count} {self.shape}"


def mark_layout(value: Value, shape: Shape) -> None:
    """Marks the last packing or unpacking op with the tiled shape."""
    assert value.operation is not None  # that op
    value.operation.set_frontend_attribute(LAYOUT, str(shape))


def mark_tuple(value: Value, shape: Shape) -> None:
    """Marks an op or a parameter of the entry with the tiled shape of its tuple, unless other ops imply it."""
    carrier = tuple_carrier(value)
    if carrier is not None and carrier.opcode not in _IMPLYING:
        carrier.set_frontend_attribute(LAYOUT, str(shape))


def tuple_carrier(value: Value) -> Operation | None:
    """Returns the operation, or HLO's parameter instruction of the entry, that carries the mark of a tuple, or None."""
    if value.operation is None and value.function.is_entry and isinstance(value, Operation):
        return value
    return value.operation


def mark_packed(value: Value, shape: Shape) -> None:
    """Marks the ops that made a copy of a nested tuple, innermost first."""
    if isinstance(shape, TupleShape):
        assert value.operation is not None  # the tuple op
        for operand, element in zip(value.operation.operands, shape.elements, strict=True):
            mark_packed(operand, element)
        mark_layout(value, shape)


def mark_bitcast(value: Value, bitcast: Operation, mark: BitcastMarker) -> None:
    """Marks the last op that replaces a bitcast, and gives it the bitcast's own attributes."""
    assert value.operation is not None  # that op
    for name, text in own_attributes(bitcast).items():
        value.operation.set_attribute(name, text)
    for name, text in bitcast.frontend_attributes.items():
        value.operation.set_frontend_attribute(name, text)
    value.operation.set_frontend_attribute(BITCAST, str(mark))


def own_attributes(operation: Operation) -> dict[str, str]:
    """Returns the attributes that do not affect the result, without metadata and frontend attributes."""
    return {name: text for name, text in operation.attributes.items() if name in _OWN}


def unmarked_attributes(operation: Operation) -> dict[str, str]:
    """Returns the frontend attributes of an op, without markers."""
    return {name: text for name, text in operation.frontend_attributes.items() if not name.startswith(_PREFIX)}


def marked_shape(operation: Operation) -> Shape | None:
    """Returns the tiled shape in an op's marker, or None."""
    text = operation.frontend_attributes.get(LAYOUT)
    return None if text is None else _shape(text)


def marked_bitcast(operation: Operation) -> BitcastMarker | None:
    """Returns the bitcast in an op's marker, or None."""
    parts = operation.frontend_attributes.get(BITCAST, "").split(" ", 3)
    if len(parts) != len(BitcastMarker.__slots__) or not parts[2].isdigit():
        return None
    shape = _shape(parts[3])
    return None if shape is None else BitcastMarker(parts[0], parts[1], int(parts[2]), shape)


def _shape(text: str) -> Shape | None:
    try:
        return parse_shape(text)
    except DiagnosticError:
        return None
