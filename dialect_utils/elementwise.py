"""Which ops compute every element from the elements at the same place: one table for both text forms."""

from __future__ import annotations

from dialect_utils.ir import Operation
from dialect_utils.layout import ArrayShape

# xla/hlo/ir/hlo_instruction.cc, HloInstruction::IsElementwiseImpl; `copy` keeps every element.
# fmt: off
ELEMENTWISE = frozenset((
    "abs", "add", "and", "atan2", "cbrt", "ceil", "clamp", "compare", "complex", "convert", "copy", "cosine",
    "count-leading-zeros", "divide", "erf", "exponential", "exponential-minus-one", "floor", "imag", "is-finite",
    "log", "log-plus-one", "logistic", "maximum", "minimum", "multiply", "negate", "not", "or", "popcnt", "power",
    "real", "reduce-precision", "remainder", "round-nearest-afz", "round-nearest-even", "rsqrt", "select",
    "shift-left", "shift-right-arithmetic", "shift-right-logical", "sign", "sine", "sqrt", "subtract", "tan", "tanh",
    "xor", "acos", "acosh", "asin", "asinh", "atanh", "cosh", "sinh", "chlo.acos", "chlo.acosh", "chlo.asin",
    "chlo.asinh", "chlo.atan", "chlo.atanh", "chlo.bessel_i1e", "chlo.conj", "chlo.cosh", "chlo.digamma", "chlo.erf",
    "chlo.erf_inv", "chlo.erfc", "chlo.is_inf", "chlo.is_neg_inf", "chlo.is_pos_inf", "chlo.lgamma",
    "chlo.next_after", "chlo.polygamma", "chlo.sinh", "chlo.square", "chlo.tan", "chlo.zeta",
))
# fmt: on

# Operands that may be scalars beside arrays of any size: the predicate of select, the bounds of clamp.
_SCALAR_OPERANDS = {"select": (0,), "clamp": (0, 2)}


def is_elementwise(operation: Operation) -> bool:
    """Is true where the result's element at a place depends on the operands' elements at that place only.

    A bitcast-convert between types of one width is elementwise too. Operands of other
    dimensions are allowed where the op takes a scalar for all places.
    """
    if operation.opcode == "bitcast-convert":
        return _keeps_width(operation)
    if operation.opcode not in ELEMENTWISE or len(operation.results) != 1:
        return False
    result = operation.results[0].shape
    if not isinstance(result, ArrayShape) or not result.is_static:
        return False
    return all(
        index in scalar_operands(operation) or _has_dimensions(operation, index, result.dimensions)
        for index in range(len(operation.operands))
    )


def scalar_operands(operation: Operation) -> tuple[int, ...]:
    """Returns the operands that are scalars used at every place."""
    result = operation.results[0].shape
    if isinstance(result, ArrayShape) and result.rank == 0:
        return ()
    allowed = _SCALAR_OPERANDS.get(operation.opcode, ())
    return tuple(index for index in allowed if _has_dimensions(operation, index, ()))


def _has_dimensions(operation: Operation, index: int, dimensions: tuple[int, ...]) -> bool:
    shape = operation.operands[index].shape
    return isinstance(shape, ArrayShape) and shape.is_static and shape.dimensions == dimensions


def _keeps_width(operation: Operation) -> bool:
    source, result = operation.operands[0].shape, operation.results[0].shape
    if not isinstance(source, ArrayShape) or not isinstance(result, ArrayShape):
        return False
    return source.element_type.bits == result.element_type.bits and result.is_static
