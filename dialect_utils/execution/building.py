"""Makes StableHLO operations at MLIR's current insertion point. Only the worker imports this module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dialect_utils.stablehlo.bindings import ir

COMPARE = "stablehlo.compare"


def make(name: str, operands: Sequence[Any], result: Any, attributes: dict[str, Any] | None = None) -> Any:
    """Returns the result of a new operation of one result."""
    return ir.Operation.create(name, results=[result], operands=list(operands), attributes=attributes or {}).results[0]


def binary(name: str, a: Any, b: Any) -> Any:
    """Returns an array of the first operand's type."""
    return make(f"stablehlo.{name}", [a, b], a.type)


def compare(direction: str, a: Any, b: Any, kind: str = "FLOAT") -> Any:
    """Returns predicates."""
    attributes = {
        "comparison_direction": ir.Attribute.parse(f"#stablehlo<comparison_direction {direction}>"),
        "compare_type": comparison_type(kind),
    }
    return make(COMPARE, [a, b], ir.RankedTensorType.get(a.type.shape, ir.IntegerType.get_signless(1)), attributes)


def comparison_type(kind: str) -> Any:
    """Returns the attribute that says how elements are compared."""
    return ir.Attribute.parse(f"#stablehlo<comparison_type {kind}>")


def splat(kind: Any, number: float) -> Any:
    """Returns a constant all of whose elements are one number."""
    element = kind.element_type
    is_float = isinstance(element, ir.FloatType)
    attribute = ir.FloatAttr.get(element, number) if is_float else ir.IntegerAttr.get(element, int(number))
    return make("stablehlo.constant", [], kind, {"value": ir.DenseElementsAttr.get_splat(kind, attribute)})


def slice_from(value: Any, start: int, count: int) -> Any:
    """Returns so many elements of an array of one dimension."""
    bounds = {
        name: ir.DenseI64ArrayAttr.get([number])
        for name, number in (("start_indices", start), ("limit_indices", start + count), ("strides", 1))
    }
    return make("stablehlo.slice", [value], ir.RankedTensorType.get([count], value.type.element_type), bounds)


def converted(value: Any, element: Any) -> Any:
    """Returns an array converted to another element type."""
    return make("stablehlo.convert", [value], ir.RankedTensorType.get(value.type.shape, element))


def total_order_rank(value: Any) -> Any:
    """Returns signed integers in the total order of floats: -NaN, -infinity, ..., -0, 0, ..., infinity, NaN."""
    width = value.type.element_type.width
    kind = ir.RankedTensorType.get(value.type.shape, ir.IntegerType.get_signless(width))
    bits = make("stablehlo.bitcast_convert", [value], kind)
    # Of a negative number all other bits are turned round.
    amount, others = (splat(kind, number) for number in (width - 1, (1 << (width - 1)) - 1))
    return binary("xor", bits, binary("and", binary("shift_right_arithmetic", bits, amount), others))
