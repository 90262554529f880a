"""Operations that compute every element of the result from the operands' elements at the same index."""

from __future__ import annotations

from dialect_utils.ops.declaration import (
    ALL_OPERANDS,
    DATA,
    EACH,
    EACH_BOUNDED,
    EACH_ROUNDED,
    Attribute,
    Opcode,
    Trait,
    integers,
    op,
    texts,
)


def _each(names: str, operands: int, traits: Trait, *attributes: Attribute, mlir: str | None = None) -> list[Opcode]:
    """Declares operations whose operands and result have one type."""
    return [op(name, operands, traits, *attributes, mlir=mlir, typed=ALL_OPERANDS) for name in names.split()]


_ACCURACY = texts("result_accuracy")
_UNARY = "ceil count-leading-zeros floor not popcnt round-nearest-afz round-nearest-even sign"
_FUNCTIONS = "cbrt cosine exponential exponential-minus-one log log-plus-one logistic rsqrt sine sqrt tan tanh"

OPERATIONS: tuple[Opcode, ...] = (
    *_each(_UNARY, 1, EACH),
    *_each("negate", 1, EACH_BOUNDED),
    *_each(_FUNCTIONS, 1, EACH_ROUNDED, *_ACCURACY),
    *_each("acos acosh asin asinh atanh cosh erf sinh", 1, EACH_ROUNDED, *_ACCURACY, mlir=""),
    *_each("add multiply", 2, EACH_ROUNDED | Trait.COMMUTATIVE),
    *_each("atan2 divide power subtract", 2, EACH_ROUNDED),
    *_each("and or xor", 2, EACH | Trait.COMMUTATIVE),
    *_each("remainder shift-left shift-right-arithmetic shift-right-logical", 2, EACH),
    *_each("mulhi", 2, EACH, mlir=""),
    *_each("maximum minimum", 2, EACH_BOUNDED | Trait.COMMUTATIVE),
    *_each("clamp", 3, EACH_BOUNDED),
    op("abs", 1, EACH_BOUNDED),
    op("compare", 2, EACH, *texts("direction type order")),
    op("complex", 2, EACH),
    op("convert", 1, EACH_BOUNDED),
    op("copy", 1, EACH | DATA | Trait.FORWARDS, mlir="", typed=(0,), started=0),
    op("imag", 1, EACH_BOUNDED),
    op("is-finite", 1, EACH),
    op("real", 1, EACH_BOUNDED),
    op("reduce-precision", 1, EACH, integers("exponent_bits"), integers("mantissa_bits"), typed=(0,)),
    op("select", 3, EACH_BOUNDED, typed=(1, 2)),
    op("stochastic-convert", 2, EACH, mlir=""),
)
