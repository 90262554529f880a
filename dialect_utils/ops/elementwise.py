"""Operations that compute every element of the result from the operands' elements at the same index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.ops.declaration import (
    ALL_OPERANDS,
    COMPLEX_PARTS,
    DATA,
    EACH,
    EACH_BOUNDED,
    EACH_ROUNDED,
    FLOATS,
    INEXACT,
    INTEGERS,
    LOGICAL,
    NUMBERS,
    REAL_NUMBERS,
    SIGNED,
    Attribute,
    ElementTypes,
    Opcode,
    Trait,
    choice,
    integers,
    op,
    texts,
)
from dialect_utils.ops.domain import Domain, UndefinedError, V
from dialect_utils.ops.inference import first_operand
from dialect_utils.ops.shapes import elementwise as rules

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


# Whether one operation is elementwise, given its shapes


def is_elementwise(operation: Operation) -> bool:
    """Is true where the result's element at an index depends on the operands' elements at that index only.

    A bitcast-convert between types of one width is elementwise too. Operands of other
    dimensions are allowed where the op takes a scalar for all indices.
    """
    if operation.opcode == "bitcast-convert":
        return _keeps_width(operation)
    if operation.opcode not in ELEMENTWISE or len(operation.results) != 1:
        return False
    result = operation.results[0].shape
    if not isinstance(result, ArrayShape) or not result.is_static:
        return False
    dimensions, scalar = result.dimensions, _SCALAR_OPERANDS.get(operation.opcode, ())
    for index, operand in enumerate(operation.operands):
        shape = operand.shape
        if not isinstance(shape, ArrayShape) or shape.dynamic:
            return False
        if shape.dimensions != dimensions and (shape.dimensions or index not in scalar):
            return False
    return True


def scalar_operands(operation: Operation) -> tuple[int, ...]:
    """Returns the operands that are scalars used at every index."""
    allowed = _SCALAR_OPERANDS.get(operation.opcode, ())
    if not allowed:
        return ()
    result = operation.results[0].shape
    if isinstance(result, ArrayShape) and result.rank == 0:
        return ()
    return tuple(index for index in allowed if _is_scalar(operation.operands[index].shape))


def _is_scalar(shape: Shape) -> bool:
    return isinstance(shape, ArrayShape) and not shape.dimensions


def _keeps_width(operation: Operation) -> bool:
    source, result = operation.operands[0].shape, operation.results[0].shape
    if not isinstance(source, ArrayShape) or not isinstance(result, ArrayShape):
        return False
    return source.element_type.bits == result.element_type.bits and result.is_static


# Operands that may be scalars beside arrays of any size: the predicate of select, the bounds of clamp.
_SCALAR_OPERANDS = {"select": (0,), "clamp": (0, 2)}


def _each(
    names: str,
    operands: int,
    traits: Trait,
    *attributes: Attribute,
    takes: ElementTypes | None = None,
    mlir: str | None = None,
) -> list[Opcode]:
    """Declares operations whose operands and result have one type."""
    check = rules.check_accuracy if attributes else None
    return [
        op(
            name,
            operands,
            traits,
            *attributes,
            mlir=mlir,
            typed=ALL_OPERANDS,
            takes=takes,
            result=rules.same,
            check=check,
            define=define_each,
        )
        for name in names.split()
    ]


_ACCURACY = texts("result_accuracy")
_FUNCTIONS = "cbrt cosine exponential exponential-minus-one log log-plus-one logistic rsqrt sine sqrt tan tanh"
_DIRECTIONS = "EQ GE GT LE LT NE"

OPERATIONS: tuple[Opcode, ...] = (
    *_each("ceil floor round-nearest-afz round-nearest-even", 1, EACH, takes=FLOATS),
    *_each("count-leading-zeros popcnt", 1, EACH, takes=INTEGERS),
    *_each("not", 1, EACH, takes=LOGICAL),
    *_each("sign", 1, EACH, takes=SIGNED),
    *_each("negate", 1, EACH_BOUNDED, takes=NUMBERS),
    *_each(_FUNCTIONS, 1, EACH_ROUNDED, *_ACCURACY, takes=INEXACT),
    *_each("acos acosh asin asinh atanh cosh sinh", 1, EACH_ROUNDED, *_ACCURACY, takes=INEXACT, mlir=""),
    *_each("erf", 1, EACH_ROUNDED, *_ACCURACY, takes=FLOATS, mlir=""),
    *_each("add multiply", 2, EACH_ROUNDED | Trait.COMMUTATIVE),
    *_each("atan2", 2, EACH_ROUNDED, takes=INEXACT),
    *_each("divide power subtract", 2, EACH_ROUNDED, takes=NUMBERS),
    *_each("and or", 2, EACH | Trait.COMMUTATIVE | Trait.IDEMPOTENT, takes=LOGICAL),
    *_each("xor", 2, EACH | Trait.COMMUTATIVE, takes=LOGICAL),
    *_each("remainder", 2, EACH, takes=REAL_NUMBERS),
    *_each("shift-left shift-right-arithmetic shift-right-logical", 2, EACH, takes=INTEGERS),
    *_each("mulhi", 2, EACH, takes=INTEGERS, mlir=""),
    *_each("maximum minimum", 2, EACH_BOUNDED | Trait.COMMUTATIVE | Trait.IDEMPOTENT),
    op("clamp", 3, EACH_BOUNDED, typed=ALL_OPERANDS, result=rules.clamp, define=define_each),
    op("abs", 1, EACH_BOUNDED, takes=SIGNED, result=rules.part, define=define_each),
    op(
        "compare",
        2,
        EACH,
        choice("direction", _DIRECTIONS, needed=True),
        choice("type", "FLOAT SIGNED TOTALORDER UNSIGNED"),
        *texts("order"),
        result=rules.predicate,
        check=rules.check_comparison,
        define=define_compare,
    ),
    op("complex", 2, EACH, takes=COMPLEX_PARTS, result=rules.whole, define=define_each),
    op("convert", 1, EACH_BOUNDED, result=rules.converted, define=define_each),
    op(
        "copy",
        1,
        EACH | DATA | Trait.FORWARDS,
        mlir="",
        typed=(0,),
        started=0,
        result=first_operand,
        check=rules.check_copy,
        check_start=rules.check_copied,
        on_start=rules.copy_started,
        on_done=rules.copy_finished,
        define=define_copy,
    ),
    op("imag", 1, EACH_BOUNDED, takes=INEXACT, result=rules.part, define=define_each),
    op("is-finite", 1, EACH, takes=FLOATS, result=rules.predicate, define=define_each),
    op("real", 1, EACH_BOUNDED, takes=INEXACT, result=rules.part, define=define_each),
    op(
        "reduce-precision",
        1,
        EACH,
        integers("exponent_bits", needed=True),
        integers("mantissa_bits", needed=True),
        typed=(0,),
        takes=FLOATS,
        result=rules.same,
        check=rules.check_precision,
        define=define_reduce_precision,
    ),
    op("select", 3, EACH_BOUNDED, typed=(1, 2), result=rules.select, define=define_each),
    op(
        "stochastic-convert",
        2,
        EACH,
        mlir="",
        takes=FLOATS,
        result=rules.converted,
        check=rules.check_stochastic,
        define=define_each,
    ),
)
# CHLO's elementwise operations; those that round come second.
CHLO_EACH = "conj is_inf is_neg_inf is_pos_inf next_after"
CHLO_ROUNDED = (
    "acos acosh asin asinh atan atanh bessel_i1e cosh digamma erf erf_inv erfc lgamma polygamma sinh square tan zeta"
)
ELEMENTWISE = frozenset(each.name for each in OPERATIONS if each.has(Trait.ELEMENTWISE)).union(
    f"chlo.{name}" for name in f"{CHLO_EACH} {CHLO_ROUNDED}".split()
)
