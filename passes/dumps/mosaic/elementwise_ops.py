"""Ops of arith, math and tpu that compute element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import methodcaller

from dialect_utils.layout import ELEMENT_TYPES, ElementType
from dialect_utils.mosaic.kernel import Dense, KernelOp, try_element_type
from passes.dumps.emitter import arrays
from passes.dumps.emitter.code import PRED, S32, U32, Number, constant
from passes.dumps.emitter.expressions import Expr
from passes.dumps.mosaic.frame import Frame, Lowering, Meaning, dense, integers

# Ops that become one HLO op on the same operands.
_BINARY = """
arith.addf add; arith.addi add; arith.subf subtract; arith.subi subtract; arith.mulf multiply; arith.muli multiply;
arith.divf divide; arith.divsi divide; arith.remf remainder; arith.remsi remainder; arith.maximumf maximum;
arith.minimumf minimum; arith.maxsi maximum; arith.minsi minimum; arith.andi and; arith.ori or; arith.xori xor;
math.powf power; math.atan2 atan2
"""
# Ops that become one HLO op on unsigned integers.
_UNSIGNED = "arith.divui divide; arith.remui remainder; arith.maxui maximum; arith.minui minimum"
_SHIFTS = "arith.shli shift-left; arith.shrsi shift-right-arithmetic; arith.shrui shift-right-logical"
_UNARY = """
arith.negf negate; math.absf abs; math.absi abs; math.exp exponential; math.expm1 exponential-minus-one; math.log log;
math.log1p log-plus-one; math.sqrt sqrt; math.rsqrt rsqrt; math.cbrt cbrt; math.tanh tanh; math.sin sine;
math.cos cosine; math.tan tan; math.erf erf; math.ceil ceil; math.floor floor; math.round round-nearest-afz;
math.roundeven round-nearest-even; math.ctlz count-leading-zeros; math.ctpop popcnt; tpu.logistic logistic
"""
_SIGNED_COMPARISONS = ("EQ", "NE", "LT", "LE", "GT", "GE")
_FIRST_UNSIGNED = 6
# arith.cmpf's predicates that are false for NaN; the opposite of number i, which is true for NaN, is 14 - i. The next
# line has the others, of which `ord` and `uno` test only for NaN.
_FLOAT_COMPARISONS = {1: "EQ", 2: "GT", 3: "GE", 4: "LT", 5: "LE"}
_FALSE, _ONE, _ORDERED, _UEQ, _UNE, _UNORDERED, _TRUE = 0, 6, 7, 8, 13, 14, 15
# The logarithm of 2, for exp2 and log2.
_LN2 = 0.6931471805599453
_TO_NEAREST = "to_nearest_even"
_QUOTIENT = "divide, remainder, compare, select, add"


def _pairs(table: str) -> list[tuple[str, str]]:
    found = [tuple(entry.split()) for entry in table.replace("\n", " ").split(";")]
    return [(name, opcode) for name, opcode in found]


def _binary(opcode: str, a: Expr, b: Expr) -> Expr:
    return a.binary(opcode, b)


def _unsigned(opcode: str, kind: ElementType, a: Expr, b: Expr) -> Expr:
    return a.unsigned().binary(opcode, b.unsigned()).bitcast(kind)


def _shift(opcode: str, a: Expr, b: Expr) -> Expr:
    return Expr(a.code, arrays.shift(a.code, opcode, a.value, b.value))


def _constant(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    (result,) = op.results
    kind, value = frame.kind(result, op), op.attributes.get("value")
    if isinstance(value, Dense):
        return [dense(kind, value, result.type.dimensions, frame.code)]
    if not isinstance(value, int | float):
        raise frame.refused(op, f"has the value {value}, which is not a number")
    return [constant(kind, value, result.type.dimensions)]


def _compare_integers(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    a, b = frame.exprs(op.operands, op)
    predicate = int(op.attributes["predicate"])
    if predicate >= _FIRST_UNSIGNED:
        a, b = a.unsigned(), b.unsigned()
        predicate -= _FIRST_UNSIGNED - _SIGNED_COMPARISONS.index("LT")
    return [a.compare(_SIGNED_COMPARISONS[predicate], b).value]


def _compare_floats(predicate: int, a: Expr, b: Expr) -> Expr:
    if predicate in (_FALSE, _TRUE):
        return Expr(a.code, constant(PRED, predicate == _TRUE, a.dims))
    if predicate == _UNE:
        return a.compare("NE", b)
    if predicate in (_ORDERED, _UNORDERED):
        is_nan = a.compare("NE", a) | b.compare("NE", b)
        return is_nan if predicate == _UNORDERED else ~is_nan
    if predicate in (_ONE, _UEQ):
        differs = a.compare("LT", b) | a.compare("GT", b)
        return differs if predicate == _ONE else ~differs
    if predicate in _FLOAT_COMPARISONS:
        return a.compare(_FLOAT_COMPARISONS[predicate], b)
    return ~a.compare(_FLOAT_COMPARISONS[14 - predicate], b)


def _number_select(opcode: str, a: Expr, b: Expr) -> Expr:
    """Builds arith.maxnumf and minnumf, which return the number if the other operand is NaN."""
    without_a = a.binary(opcode, b)
    without_a = a.compare("NE", a).where(b, without_a)
    return b.compare("NE", b).where(a, without_a)


def _convert(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    (a,) = frame.exprs(op.operands, op)
    kind = frame.kind(op.results[0], op)
    rounding = str(op.attributes.get("rounding_mode", op.attributes.get("roundingmode", "")))
    if not a.kind.is_integral and kind.is_integral and _TO_NEAREST in rounding:
        a = a.unary("round-nearest-even")
    elif "towards_zero" in rounding and kind.is_floating and kind.bits < a.kind.bits:
        raise frame.refused(op, f"rounds by {rounding}, which is not known here")
    return [a.convert(kind).value]


def _floor_divide(up: bool, a: Expr, b: Expr) -> Expr:
    """Builds a quotient rounded down or (`up`) up."""
    quotient, rest = a / b, a.binary("remainder", b)
    differ = a.compare("LT", 0).compare("NE", b.compare("LT", 0))
    wanted = ~differ if up else differ
    inexact = rest.compare("NE", 0) & wanted
    return quotient + inexact.where(a.number(1 if up else -1), 0)


def _copy_sign(a: Expr, sign: Expr) -> Expr:
    word = ELEMENT_TYPES[f"u{a.kind.bits}"]
    top = 1 << (a.kind.bits - 1)
    return ((a.bitcast(word) & (top - 1)) | (sign.bitcast(word) & top)).bitcast(a.kind)


def _pack(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    """Builds words that hold the sources, rounded to the narrow type, from the lowest bits on."""
    kind = _narrow_type(frame, op, "target_type")
    word = ELEMENT_TYPES[f"u{kind.bits}"]
    packed: Expr | None = None
    for position, source in enumerate(frame.exprs(op.operands, op)):
        bits = source.convert(kind).bitcast(word).convert(U32)
        moved = bits.binary("shift-left", position * kind.bits) if position else bits
        packed = moved if packed is None else packed | moved
    if packed is None:
        raise frame.refused(op, "packs nothing")
    return [packed.bitcast(frame.kind(op.results[0], op)).value]


def _unpack(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    """Builds part number `index` of each word, converted to the wide type."""
    kind = _narrow_type(frame, op, "source_type")
    (a,) = frame.exprs(op.operands, op)
    (position,) = integers(op, "index") or (0,)
    bits = a.bitcast(U32)
    if position:
        bits = bits.binary("shift-right-logical", position * kind.bits)
    part = bits.convert(ELEMENT_TYPES[f"u{kind.bits}"]).bitcast(kind)
    return [part.convert(frame.kind(op.results[0], op)).value]


def _narrow_type(frame: Frame, op: KernelOp, name: str) -> ElementType:
    found = try_element_type(str(op.attributes.get(name)))
    if found is None or found.bits >= S32.bits:
        raise frame.refused(op, f"has the {name} {op.attributes.get(name)}, which is not known here")
    return found


def _of_operands(names: str, operands: str, becomes: str, make: Callable[..., Expr]) -> Lowering:
    """Returns the row of ops whose result is a function of their operands."""
    return Lowering(names, operands, becomes, lambda frame, op: [make(*frame.exprs(op.operands, op)).value])


def _to_type(names: str, becomes: str, make: Callable[..., Expr], operands: str = "a") -> Lowering:
    """Returns the row of ops whose result is a function of its element type and their operands."""

    def lower(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
        return [make(frame.kind(op.results[0], op), *frame.exprs(op.operands, op)).value]

    return Lowering(names, operands, becomes, lower)


_SAME = "tpu.assume_multiple tpu.assume_layout tpu.relayout tpu.mask_cast tpu.trace_value"
ROWS: tuple[Lowering, ...] = (
    *(_of_operands(name, "a, b", opcode, partial(_binary, opcode)) for name, opcode in _pairs(_BINARY)),
    *(
        _to_type(name, f"{opcode} of unsigned", partial(_unsigned, opcode), "a, b")
        for name, opcode in _pairs(_UNSIGNED)
    ),
    *(_of_operands(name, "a, count", opcode, partial(_shift, opcode)) for name, opcode in _pairs(_SHIFTS)),
    *(_of_operands(name, "a", opcode, methodcaller("unary", opcode)) for name, opcode in _pairs(_UNARY)),
    Lowering("arith.constant", "", "constant, broadcast", _constant),
    Lowering("arith.cmpi", "a, b", "compare", _compare_integers),
    Lowering(
        "arith.cmpf",
        "a, b",
        "compare, or, not",
        lambda frame, op: [_compare_floats(int(op.attributes["predicate"]), *frame.exprs(op.operands, op)).value],
    ),
    _of_operands("arith.select", "condition, a, b", "select", lambda condition, a, b: condition.where(a, b)),
    _of_operands("arith.maxnumf", "a, b", "maximum, compare, select", partial(_number_select, "maximum")),
    _of_operands("arith.minnumf", "a, b", "minimum, compare, select", partial(_number_select, "minimum")),
    Lowering("arith.extf arith.truncf arith.sitofp arith.fptosi arith.index_cast", "a", "convert", _convert),
    Lowering("tpu.extf tpu.truncf tpu.sitofp tpu.fptosi", "a", "round-nearest-even, convert", _convert),
    _to_type("arith.extsi", "convert", lambda kind, a: 0 - a.convert(kind) if a.kind == PRED else a.convert(kind)),
    _to_type(
        "arith.trunci",
        "convert; and, compare for i1",
        lambda kind, a: (a & 1).compare("NE", 0) if kind == PRED else a.convert(kind),
    ),
    _to_type(
        "arith.extui arith.uitofp tpu.uitofp arith.index_castui",
        "bitcast-convert, convert",
        lambda kind, a: (a if a.kind == PRED else a.unsigned()).convert(kind),
    ),
    _to_type(
        "arith.fptoui tpu.fptoui",
        "convert, bitcast-convert",
        lambda kind, a: a.convert(ELEMENT_TYPES[f"u{kind.bits}"]).bitcast(kind),
    ),
    _to_type("arith.bitcast", "bitcast-convert", lambda kind, a: a.bitcast(kind)),
    _of_operands("arith.floordivsi", "a, b", _QUOTIENT, partial(_floor_divide, False)),
    _of_operands("arith.ceildivsi", "a, b", _QUOTIENT, partial(_floor_divide, True)),
    _of_operands("math.exp2", "a", "multiply, exponential", lambda a: (a * _LN2).unary("exponential")),
    _of_operands("math.log2", "a", "log, multiply", lambda a: a.unary("log") * (1 / _LN2)),
    _of_operands("math.fma", "a, b, c", "multiply, add", lambda a, b, c: a * b + c),
    _of_operands("math.fpowi", "a, b", "convert, power", lambda a, b: a.binary("power", b.convert(a.kind))),
    _of_operands("math.copysign", "a, sign", "bitcast-convert, and, or", _copy_sign),
    _of_operands("math.isnan", "a", "compare", lambda a: a.compare("NE", a)),
    _of_operands("math.isfinite", "a", "is-finite", lambda a: a.unary("is-finite", PRED)),
    _of_operands("tpu.weird", "a", "is-finite, not", lambda a: ~a.unary("is-finite", PRED)),
    _of_operands("tpu.reciprocal", "a", "divide", lambda a: 1.0 / a),
    Lowering("tpu.pack_elementwise", "sources", "convert, bitcast-convert, shift-left, or", _pack),
    Lowering("tpu.unpack_elementwise", "words", "shift-right-logical, convert, bitcast-convert", _unpack),
    Lowering(_SAME, "a", "its operand", lambda frame, op: [frame.values[op.operands[0].number]]),
)


def identity_of(kind: ElementType, opcode: str) -> Number:
    """Returns the neutral element of a reduction."""
    if opcode == "add":
        return 0
    if opcode == "multiply":
        return 1
    if kind == PRED:
        return opcode == "and"
    if opcode in ("and", "or", "xor"):
        return -1 if opcode == "and" else 0
    if kind.is_floating:
        return float("-inf") if opcode == "maximum" else float("inf")
    low, high = kind.integer_range
    return low if opcode == "maximum" else high
