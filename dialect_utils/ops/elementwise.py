"""Operations that compute every element of the result from the operands' elements at the same index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType, Shape, TupleShape, parse_element_type
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
    Opcode,
    Trait,
    choice,
    integers,
    op,
    ops,
)
from dialect_utils.ops.domain import DIRECTIONS, Domain, UndefinedError, V
from dialect_utils.ops.inference import (
    Instance,
    ShapeError,
    check_same_kind,
    first_operand,
    of_type,
    same,
    same_dimensions,
    same_sizes,
    wider,
)
from dialect_utils.ops.structured import last_word

if TYPE_CHECKING:
    from dialect_utils.ir import Operation

_PRED = parse_element_type("pred")
_WHOLE = {kind.part: kind for kind in ELEMENT_TYPES.values() if kind.is_complex}
# Layout::kHostMemorySpace
HOST_MEMORY = 5
_FLOAT_COMPARISONS, _ACCURACY_MODES = ("FLOAT", "TOTALORDER"), ("mode=default", "mode=highest")


# Results (ShapeInference::InferUnaryOpShape, InferBinaryOpShape, InferTernaryOpShape)


def predicate(instance: Instance) -> Shape:
    """Returns truth values for the elements of the operands."""
    return of_type(same(instance), _PRED)


def part(instance: Instance) -> ArrayShape:
    """Returns the shape of real or imaginary parts; parts of real numbers have the operand's type."""
    only = instance.array(0)
    return of_type(only, only.element_type.part)


def whole(instance: Instance) -> ArrayShape:
    """Returns the complex numbers of arrays of parts."""
    only = same(instance)
    if only.element_type not in _WHOLE:
        raise ShapeError(f"complex of {only.element_type} numbers", "operands")
    return of_type(only, _WHOLE[only.element_type])


def clamp(instance: Instance) -> Shape:
    """Returns the shape of the value; the bounds may be scalars."""
    low, value, high = instance.arrays()
    for bound in (low, high):
        if bound.rank and not same_sizes(bound.dimensions, value.dimensions):
            raise ShapeError(f"clamp of {value} to {bound}: the dimensions differ", "operands")
        check_same_kind(instance, value, bound)
    return value


def select(instance: Instance) -> Shape:
    """Returns the shape of the two choices; the predicate may be a scalar."""
    condition, first, second = instance.arrays()
    if not same_sizes(first.dimensions, second.dimensions):
        raise ShapeError(f"select of {first} or {second}: the dimensions differ", "operands")
    check_same_kind(instance, first, second)
    if condition.element_type != _PRED and not instance.is_lenient:
        raise ShapeError(f"select chooses by truth values, found {condition.element_type}", "operand 0")
    if condition.rank and not same_sizes(condition.dimensions, first.dimensions):
        raise ShapeError(f"select of {first} by {condition}: the dimensions differ", "operands")
    found = of_type(condition if condition.rank else first, wider(first.element_type, second.element_type))
    size = first.effective_layout.element_size_in_bits
    return found.with_layout(replace(found.effective_layout, element_size_in_bits=size)) if size else found


def converted(instance: Instance) -> Shape:
    """Returns the operand in the written element type."""
    return of_type(same_dimensions(instance), instance.result_array().element_type)


def copy_started(instance: Instance) -> Shape:
    """Returns the destination, the source and a context."""
    return TupleShape((instance.operands[0], instance.operands[0], ArrayShape(parse_element_type("u32"), ())))


def check_copied(instance: Instance) -> None:
    """Raises ShapeError where a copy-start reorders dimensions, which a transfer between memories cannot."""
    parts = instance.shape.elements[:2] if isinstance(instance.shape, TupleShape) else ()
    orders = [[array.layout for array in part.arrays() if array.layout is not None] for part in parts]
    for one, other in zip(*orders, strict=False) if instance.is_layout_sensitive and len(orders) > 1 else ():
        if one.minor_to_major != other.minor_to_major:
            message = f"copy-start gives its operand, but the shape {instance.shape} has it in another layout"
            raise ShapeError(message, "shape")


def check_copy(instance: Instance) -> None:
    """Raises ShapeError where a copy between host and device converts, or from the host reorders dimensions."""
    source, result = instance.operands[0], instance.shape
    if not (instance.is_layout_sensitive and isinstance(source, ArrayShape) and isinstance(result, ArrayShape)):
        return
    if source.layout is None or result.layout is None:
        return
    spaces = source.layout.memory_space, result.layout.memory_space
    if spaces[0] == spaces[1] or HOST_MEMORY not in spaces:
        return
    is_reordered = spaces[0] == HOST_MEMORY and source.layout.minor_to_major != result.layout.minor_to_major
    if is_reordered or source.element_type != result.element_type:
        raise ShapeError(f"copy between host and device of {source} cannot give {result}", "shape")


def copy_finished(instance: Instance) -> Shape:
    """Returns the destination, element 0 of the started copy."""
    started = instance.operands[0]
    if not isinstance(started, TupleShape) or len(started.elements) < len(("destination", "source")):
        raise ShapeError(f"copy-done of {started}, which no copy-start gives", "operand 0")
    return started.elements[0]


# Constraints


def check_accuracy(instance: Instance) -> None:
    """Raises ShapeError for an unknown mode of result_accuracy."""
    text = instance.attribute("result_accuracy")
    if text is not None and "=-" in text.replace(" ", ""):
        raise ShapeError(f"the tolerance in the result_accuracy {text} is negative", "result_accuracy")
    if text is not None and "mode=" in text and not any(mode in text.lower() for mode in _ACCURACY_MODES):
        mode = text[text.index("mode=") + len("mode=") :].strip("}")
        raise ShapeError(f"the mode of result_accuracy is {mode}, but has to be default or highest", "result_accuracy")


def check_comparison(instance: Instance) -> None:
    """Raises ShapeError where the type of a comparison is not that of its operands."""
    kind, written = instance.array(0).element_type, instance.attribute("type")
    if kind != instance.array(1).element_type and not instance.is_lenient:
        raise ShapeError(f"compare of {kind} and {instance.array(1).element_type}", "operands")
    known = _comparisons(kind)
    if written is not None and written not in known and not instance.is_lenient:
        raise ShapeError(f"compare of {kind} has the type {' or '.join(known)}, found {written}", "type")


def _comparisons(kind: ElementType) -> tuple[str, ...]:
    if kind.is_integral or kind == _PRED:
        return ("SIGNED" if kind.is_signed else "UNSIGNED",)
    return ("FLOAT",) if kind.is_complex else _FLOAT_COMPARISONS


def check_precision(instance: Instance) -> None:
    """Raises ShapeError where reduce-precision keeps no exponent or fewer than 0 bits."""
    if instance.number("exponent_bits", 0) < 1:
        raise ShapeError("reduce-precision keeps no bit of the exponent", "exponent_bits")
    if instance.number("mantissa_bits", 0) < 0:
        raise ShapeError("reduce-precision keeps fewer than 0 bits of the mantissa", "mantissa_bits")


def check_stochastic(instance: Instance) -> None:
    """Raises ShapeError where random bits or the result of a stochastic-convert have another type."""
    operand, random = (each.element_type for each in instance.arrays())
    given = instance.result_array().element_type
    if not random.is_unsigned:
        raise ShapeError(f"stochastic-convert takes random bits that are unsigned, found {random}", "operand 1")
    if random.bits != operand.bits:
        raise ShapeError(
            f"stochastic-convert of {operand} takes {operand.bits} random bits, found {random}", "operand 1"
        )
    if not given.is_signed:
        raise ShapeError(f"stochastic-convert gives signed integers, but the result is {given}", "shape")


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
    direction = last_word(operation.attribute("direction") or operation.attribute("comparison_direction"))
    kinds = (operation.attribute(name) for name in ("type", "compare_type", "order"))
    is_total = any(last_word(kind) in _TOTAL for kind in kinds)
    return [domain.compare(direction, *repeated(domain, operands), is_total=is_total)]


def define_reduce_precision(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns floats rounded to fewer bits; source: HloEvaluator's HandleReducePrecision."""
    exponent, mantissa = operation.ints("exponent_bits"), operation.ints("mantissa_bits")
    if not exponent or not mantissa:
        raise UndefinedError("reduce-precision has no exponent_bits or no mantissa_bits")
    return [domain.reduce_precision(operands[0], exponent[0], mantissa[0])]


# XLA and StableHLO print the default in these two ways.
_ACCURACIES = ("{mode=default}", "#stablehlo.result_accuracy<mode=#stablehlo.result_accuracy_mode<DEFAULT>>")
_ACCURACY = (Attribute("result_accuracy", default=_ACCURACIES),)
_FUNCTION = EACH_ROUNDED | Trait.TRANSCENDENTAL
_SHIFT = EACH | Trait.ORDERED | Trait.SHIFTS

# Operations whose operands and result have one type; the rounding of some may be chosen.
_each = partial(ops, typed=ALL_OPERANDS, result=same, define=define_each)
_rounded = partial(_each, check=check_accuracy)


def implied_comparison(operation: Operation) -> str:
    """Returns the type of a comparison that names none: its operands have it."""
    shape = operation.operands[0].shape
    return _comparisons(shape.element_type)[0] if isinstance(shape, ArrayShape) else ""


_TYPES = ("FLOAT", "SIGNED", "TOTALORDER", "UNSIGNED")
COMPARISON = (
    choice("direction", " ".join(DIRECTIONS), "comparison_direction", needed=True),
    Attribute("type", "comparison", "compare_type", values=_TYPES, default=implied_comparison),
)

OPERATIONS: tuple[Opcode, ...] = (
    *_each("ceil floor round-nearest-afz round-nearest-even", 1, EACH | Trait.WHOLE | Trait.JUMPS, takes=FLOATS),
    *_each("count-leading-zeros popcnt", 1, EACH, takes=INTEGERS),
    *_each("not", 1, EACH | Trait.BITWISE, takes=LOGICAL),
    *_each("sign", 1, EACH | Trait.WHOLE | Trait.JUMPS | Trait.ODD, takes=SIGNED),
    *_each("negate", 1, EACH_BOUNDED, takes=NUMBERS),
    *_rounded("exponential exponential-minus-one logistic", 1, _FUNCTION, *_ACCURACY, takes=INEXACT),
    *_rounded("sine tan tanh", 1, _FUNCTION | Trait.ODD, *_ACCURACY, takes=INEXACT),
    *_rounded("cosine", 1, _FUNCTION | Trait.EVEN, *_ACCURACY, takes=INEXACT),
    *_rounded("log log-plus-one rsqrt sqrt", 1, _FUNCTION | Trait.CUT, *_ACCURACY, takes=INEXACT),
    *_rounded("cbrt", 1, _FUNCTION | Trait.CUT | Trait.ODD, *_ACCURACY, takes=FLOATS),
    *_rounded("acos acosh", 1, _FUNCTION | Trait.CUT, *_ACCURACY, takes=INEXACT, mlir=""),
    *_rounded("asin asinh atanh", 1, _FUNCTION | Trait.CUT | Trait.ODD, *_ACCURACY, takes=INEXACT, mlir=""),
    *_rounded("cosh", 1, _FUNCTION | Trait.EVEN, *_ACCURACY, takes=INEXACT, mlir=""),
    *_rounded("sinh", 1, _FUNCTION | Trait.ODD, *_ACCURACY, takes=INEXACT, mlir=""),
    *_rounded("erf", 1, _FUNCTION | Trait.ODD, *_ACCURACY, takes=FLOATS, mlir=""),
    *_each("add multiply", 2, EACH_ROUNDED | Trait.COMMUTATIVE),
    *_each("atan2", 2, _FUNCTION | Trait.ORDERED | Trait.JUMPS, takes=INEXACT),
    *_each("divide", 2, EACH_ROUNDED | Trait.ORDERED | Trait.DIVIDES, takes=NUMBERS),
    *_each("power", 2, _FUNCTION | Trait.ORDERED | Trait.CUT, takes=NUMBERS),
    *_each("subtract", 2, EACH_ROUNDED | Trait.ORDERED, takes=NUMBERS),
    *_each("and or", 2, EACH | Trait.BITWISE | Trait.COMMUTATIVE | Trait.IDEMPOTENT, takes=LOGICAL),
    *_each("xor", 2, EACH | Trait.BITWISE | Trait.COMMUTATIVE, takes=LOGICAL),
    *_each("remainder", 2, EACH | Trait.ORDERED | Trait.DIVIDES | Trait.JUMPS, takes=REAL_NUMBERS),
    *_each("shift-left shift-right-arithmetic shift-right-logical", 2, _SHIFT, takes=INTEGERS),
    *_each("mulhi", 2, EACH, takes=INTEGERS, mlir=""),
    *_each("maximum minimum", 2, EACH_BOUNDED | Trait.COMMUTATIVE | Trait.IDEMPOTENT),
    op("clamp", 3, EACH_BOUNDED, typed=ALL_OPERANDS, result=clamp, define=define_each),
    op("abs", 1, EACH_BOUNDED | Trait.EVEN, takes=SIGNED, result=part, define=define_each),
    op(
        "compare",
        2,
        EACH | Trait.ORDERED | Trait.JUMPS,
        *COMPARISON,
        Attribute("order", "comparison", default=implied_comparison),
        result=predicate,
        check=check_comparison,
        define=define_compare,
    ),
    op("complex", 2, EACH | Trait.ORDERED, takes=COMPLEX_PARTS, result=whole, define=define_each),
    op("convert", 1, EACH_BOUNDED, result=converted, define=define_each),
    op(
        "copy",
        1,
        EACH | DATA | Trait.FORWARDS | Trait.MAY_BE_BITCAST,
        mlir="",
        typed=(0,),
        started=0,
        result=first_operand,
        check=check_copy,
        check_start=check_copied,
        on_start=copy_started,
        on_done=copy_finished,
        define=lambda domain, operation, operands: list(operands[:1]),
    ),
    op("imag", 1, EACH_BOUNDED, takes=INEXACT, result=part, define=define_each),
    op("is-finite", 1, EACH | Trait.JUMPS, takes=FLOATS, result=predicate, define=define_each),
    op("real", 1, EACH_BOUNDED, takes=INEXACT, result=part, define=define_each),
    op(
        "reduce-precision",
        1,
        EACH,
        integers("exponent_bits", needed=True),
        integers("mantissa_bits", needed=True),
        typed=(0,),
        takes=FLOATS,
        result=same,
        check=check_precision,
        define=define_reduce_precision,
    ),
    op("select", 3, EACH_BOUNDED, typed=(1, 2), result=select, define=define_each),
    op(
        "stochastic-convert",
        2,
        EACH,
        mlir="",
        takes=FLOATS,
        result=converted,
        check=check_stochastic,
        define=define_each,
    ),
)
# CHLO's elementwise operations: those that are exact, that jump, that round, and that do both.
CHLO_EACH = "conj next_after"
CHLO_JUMPS = "is_inf is_neg_inf is_pos_inf"
CHLO_ROUNDED = "bessel_i1e cosh digamma erf erf_inv erfc lgamma sinh square tan"
CHLO_CUT = "acos acosh asin asinh atan atanh"
# NaN where an operand is not a whole number, or a number below 0 is none.
CHLO_PARTIAL = "polygamma zeta"


_CHOICES = ("clamp", "select")


def widest(types: Sequence[ElementType]) -> ElementType:
    """Returns the type of the widest values: complex before floating-point before integers, then by width.

    Two different floating-point types of one width, such as bf16 and f16, give f32.
    """
    found = [t for t in types if t.is_complex] or [t for t in types if t.is_floating]
    found = found or [t for t in types if t.is_integral] or list(types)
    best = max(found, key=lambda t: t.bits)
    rivals = {t for t in found if t.bits == best.bits}
    return ELEMENT_TYPES["f32"] if len(rivals) > 1 and best.is_floating else best


def computing_type(opcode: Opcode, result: ElementType, operands: Sequence[ElementType]) -> ElementType:
    """Returns the type to which a typed operation of mixed precision converts its operands, as XLA's fusions do.

    An operation that moves or chooses elements takes the type of its result; another one the widest type of all.
    """
    is_move = opcode.has(Trait.MOVES_DATA) or opcode.name in _CHOICES
    return result if is_move else widest([result, *operands])
