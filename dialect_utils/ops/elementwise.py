"""Operations that compute every element of the result from the operands' elements at the same index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

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
from dialect_utils.ops.domain import Domain, UndefinedError, V

if TYPE_CHECKING:
    from dialect_utils.ir import Operation

_TOTAL = ("TOTAL", "TOTALORDER")


def define_each(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the operation on the elements at each index; a scalar operand is repeated, as a clamp's bounds are."""
    element_type = next(operation.results[0].shape.arrays()).element_type
    return [domain.each(operation.opcode, element_type, repeated(domain, operands))]


def repeated(domain: Domain[V], operands: Sequence[V]) -> list[V]:
    """Returns arrays of the same dimensions, scalars repeated."""
    sizes = max(map(domain.dimensions, operands), key=len)
    return [each if domain.dimensions(each) == sizes else domain.broadcast(each, (), sizes) for each in operands]


def define_compare(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns a comparison; floats are unordered with NaN unless the type is TOTALORDER."""
    direction = _last_word(operation.attribute("direction") or operation.attribute("comparison_direction"))
    kinds = (operation.attribute(name) for name in ("type", "compare_type", "order"))
    is_total = any(_last_word(kind) in _TOTAL for kind in kinds)
    return [domain.compare(direction, *repeated(domain, operands), is_total=is_total)]


def _last_word(text: str | None) -> str:
    """Returns `LT` of `#stablehlo<comparison_direction LT>`."""
    return (text or "").rstrip(">").rpartition(" ")[2]


def define_reduce_precision(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns floats rounded to fewer bits; source: HloEvaluator's HandleReducePrecision."""
    exponent, mantissa = operation.ints("exponent_bits"), operation.ints("mantissa_bits")
    if not exponent or not mantissa:
        raise UndefinedError("reduce-precision has no exponent_bits or no mantissa_bits")
    return [domain.reduce_precision(operands[0], exponent[0], mantissa[0])]


def define_copy(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the operand, whose elements a copy writes in another layout."""
    return list(operands[:1])


def _each(names: str, operands: int, traits: Trait, *attributes: Attribute, mlir: str | None = None) -> list[Opcode]:
    """Declares operations whose operands and result have one type."""
    return [
        op(name, operands, traits, *attributes, mlir=mlir, typed=ALL_OPERANDS, define=define_each)
        for name in names.split()
    ]


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
    op("abs", 1, EACH_BOUNDED, define=define_each),
    op("compare", 2, EACH, *texts("direction type order"), define=define_compare),
    op("complex", 2, EACH, define=define_each),
    op("convert", 1, EACH_BOUNDED, define=define_each),
    op("copy", 1, EACH | DATA | Trait.FORWARDS, mlir="", typed=(0,), started=0, define=define_copy),
    op("imag", 1, EACH_BOUNDED, define=define_each),
    op("is-finite", 1, EACH, define=define_each),
    op("real", 1, EACH_BOUNDED, define=define_each),
    op(
        "reduce-precision",
        1,
        EACH,
        integers("exponent_bits"),
        integers("mantissa_bits"),
        typed=(0,),
        define=define_reduce_precision,
    ),
    op("select", 3, EACH_BOUNDED, typed=(1, 2), define=define_each),
    op("stochastic-convert", 2, EACH, mlir="", define=define_each),
)
