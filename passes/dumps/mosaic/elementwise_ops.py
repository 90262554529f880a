"""Ops of arith, math and tpu that compute element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from dialect_utils.layout import ELEMENT_TYPES, ElementType
from dialect_utils.mosaic.kernel import Dense, KernelOp, try_element_type
from passes.dumps.emitter import arrays
from passes.dumps.emitter.code import PRED, S32, U32, Code, Number, Val, constant
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
# arith.cmpf's predicates: the direction, and the result for NaN (`ord` and `uno` test only for NaN).
_FLOAT_COMPARISONS: dict[int, tuple[str, bool]] = {
    1: ("EQ", False),
    2: ("GT", False),
    3: ("GE", False),
    4: ("LT", False),
    5: ("LE", False),
    9: ("GT", True),
    10: ("GE", True),
    11: ("LT", True),
    12: ("LE", True),
}
_FALSE, _ONE, _ORDERED, _UEQ, _UNE, _UNORDERED, _TRUE = 0, 6, 7, 8, 13, 14, 15
# The logarithm of 2, for exp2 and log2.
_LN2 = 0.6931471805599453
_TO_NEAREST = "to_nearest_even"


def _pairs(table: str) -> list[tuple[str, str]]:
    found = [tuple(entry.split()) for entry in table.replace("\n", " ").split(";")]
    return [(name, opcode) for name, opcode in found]


def _binary(opcode: str, frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    a, b = frame.vals(op.operands, op)
    return [arrays.binary(frame.code, opcode, a, b)]


def _unsigned(opcode: str, frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    a, b = (arrays.as_unsigned(frame.code, value) for value in frame.vals(op.operands, op))
    made = arrays.binary(frame.code, opcode, a, b)
    return [arrays.bitcast_convert(frame.code, made, frame.kind(op.results[0], op))]


def _shift(opcode: str, frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    a, b = frame.vals(op.operands, op)
    if a.known is not None and b.known is not None and 0 <= int(b.known) < a.kind.bits:
        number, count = int(a.known), int(b.known)
        if opcode == "shift-right-logical":
            number &= (1 << a.kind.bits) - 1
        return [constant(a.kind, number << count if opcode == "shift-left" else number >> count, a.dims)]
    return [frame.code.emit(opcode, a.kind, a.dims, [a, b])]


def _unary(opcode: str, frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    (a,) = frame.vals(op.operands, op)
    return [arrays.unary(frame.code, opcode, a)]


def _constant(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    (result,) = op.results
    kind, value = frame.kind(result, op), op.attributes.get("value")
    if isinstance(value, Dense):
        return [dense(kind, value, result.type.dimensions, frame.code)]
    if not isinstance(value, int | float):
        raise frame.refused(op, f"has the value {value}, which is not a number")
    return [constant(kind, value, result.type.dimensions)]


def _compare_integers(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    a, b = frame.vals(op.operands, op)
    predicate = int(op.attributes["predicate"])
    if predicate >= _FIRST_UNSIGNED:
        a, b = arrays.as_unsigned(frame.code, a), arrays.as_unsigned(frame.code, b)
        predicate -= _FIRST_UNSIGNED - _SIGNED_COMPARISONS.index("LT")
    return [arrays.compare(frame.code, _SIGNED_COMPARISONS[predicate], a, b)]


def _compare_floats(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    a, b = frame.vals(op.operands, op)
    return [_float_comparison(frame.code, int(op.attributes["predicate"]), a, b)]


def _float_comparison(code: Code, predicate: int, a: Val, b: Val) -> Val:
    if predicate in (_FALSE, _TRUE):
        return constant(PRED, predicate == _TRUE, a.dims)
    if predicate == _UNE:
        return arrays.compare(code, "NE", a, b)
    if predicate in (_ORDERED, _UNORDERED):
        is_nan = arrays.binary(code, "or", arrays.compare(code, "NE", a, a), arrays.compare(code, "NE", b, b))
        return is_nan if predicate == _UNORDERED else arrays.unary(code, "not", is_nan)
    if predicate in (_ONE, _UEQ):
        differs = arrays.binary(code, "or", arrays.compare(code, "LT", a, b), arrays.compare(code, "GT", a, b))
        return differs if predicate == _ONE else arrays.unary(code, "not", differs)
    direction, with_nan = _FLOAT_COMPARISONS[predicate]
    if not with_nan:
        return arrays.compare(code, direction, a, b)
    opposite = {"GT": "LE", "GE": "LT", "LT": "GE", "LE": "GT"}[direction]
    return arrays.unary(code, "not", arrays.compare(code, opposite, a, b))


def _number_select(opcode: str, frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    """Makes arith.maxnumf and minnumf, which return the number if the other operand is NaN."""
    code = frame.code
    a, b = frame.vals(op.operands, op)
    both = arrays.binary(code, opcode, a, b)
    without_a = arrays.select(code, arrays.compare(code, "NE", a, a), b, both)
    return [arrays.select(code, arrays.compare(code, "NE", b, b), a, without_a)]


def _convert(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    (a,) = frame.vals(op.operands, op)
    kind = frame.kind(op.results[0], op)
    rounding = str(op.attributes.get("rounding_mode", op.attributes.get("roundingmode", "")))
    if not a.kind.is_integral and kind.is_integral and _TO_NEAREST in rounding:
        a = arrays.unary(frame.code, "round-nearest-even", a)
    elif "towards_zero" in rounding and kind.is_floating and kind.bits < a.kind.bits:
        raise frame.refused(op, f"rounds by {rounding}, which is not known here")
    return [arrays.convert(frame.code, a, kind)]


def _extend_signed(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    (a,) = frame.vals(op.operands, op)
    kind = frame.kind(op.results[0], op)
    wide = arrays.convert(frame.code, a, kind)
    return [arrays.binary(frame.code, "subtract", constant(kind, 0, a.dims), wide) if a.kind == PRED else wide]


def _from_unsigned(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    (a,) = frame.vals(op.operands, op)
    kind = frame.kind(op.results[0], op)
    return [arrays.convert(frame.code, a if a.kind == PRED else arrays.as_unsigned(frame.code, a), kind)]


def _to_unsigned(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    (a,) = frame.vals(op.operands, op)
    kind = frame.kind(op.results[0], op)
    made = arrays.convert(frame.code, a, ELEMENT_TYPES[f"u{kind.bits}"])
    return [arrays.bitcast_convert(frame.code, made, kind)]


def _truncate(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    (a,) = frame.vals(op.operands, op)
    kind = frame.kind(op.results[0], op)
    if kind != PRED:
        return [arrays.convert(frame.code, a, kind)]
    low = arrays.binary(frame.code, "and", a, constant(a.kind, 1, a.dims))
    return [arrays.compare(frame.code, "NE", low, constant(a.kind, 0, a.dims))]


def _bitcast(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    (a,) = frame.vals(op.operands, op)
    return [arrays.bitcast_convert(frame.code, a, frame.kind(op.results[0], op))]


def _floor_divide(up: bool, frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    """Makes a quotient rounded down or (`up`) up."""
    code = frame.code
    a, b = frame.vals(op.operands, op)
    if a.known is not None and b.known:
        number = -(-int(a.known) // int(b.known)) if up else int(a.known) // int(b.known)
        return [constant(a.kind, number, a.dims)]
    zero = constant(a.kind, 0, a.dims)
    quotient, rest = arrays.binary(code, "divide", a, b), arrays.binary(code, "remainder", a, b)
    differ = arrays.compare(code, "NE", arrays.compare(code, "LT", a, zero), arrays.compare(code, "LT", b, zero))
    wanted = arrays.unary(code, "not", differ) if up else differ
    inexact = arrays.binary(code, "and", arrays.compare(code, "NE", rest, zero), wanted)
    step = constant(a.kind, 1 if up else -1, a.dims)
    return [arrays.binary(code, "add", quotient, arrays.select(code, inexact, step, zero))]


def _scaled(opcode: str, factor: float, is_before: bool, frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    """Makes exp2 as exp(factor x), log2 as factor log(x)."""
    (a,) = frame.vals(op.operands, op)
    if is_before:
        a = arrays.binary(frame.code, "multiply", a, constant(a.kind, factor, a.dims))
        return [arrays.unary(frame.code, opcode, a)]
    made = arrays.unary(frame.code, opcode, a)
    return [arrays.binary(frame.code, "multiply", made, constant(a.kind, factor, a.dims))]


def _reciprocal(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    (a,) = frame.vals(op.operands, op)
    return [arrays.binary(frame.code, "divide", constant(a.kind, 1.0, a.dims), a)]


def _fused(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    a, b, c = frame.vals(op.operands, op)
    return [arrays.binary(frame.code, "add", arrays.binary(frame.code, "multiply", a, b), c)]


def _copy_sign(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    code = frame.code
    a, sign = frame.vals(op.operands, op)
    word = ELEMENT_TYPES[f"u{a.kind.bits}"]
    top = constant(word, 1 << (a.kind.bits - 1), a.dims)
    rest = constant(word, (1 << (a.kind.bits - 1)) - 1, a.dims)
    parts = [
        arrays.binary(code, "and", arrays.bitcast_convert(code, value, word), mask)
        for value, mask in ((a, rest), (sign, top))
    ]
    return [arrays.bitcast_convert(code, arrays.binary(code, "or", *parts), a.kind)]


def _is_finite(wanted: bool, frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    (a,) = frame.vals(op.operands, op)
    finite = frame.code.emit("is-finite", PRED, a.dims, [a])
    return [finite if wanted else arrays.unary(frame.code, "not", finite)]


def _is_nan(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    (a,) = frame.vals(op.operands, op)
    return [arrays.compare(frame.code, "NE", a, a)]


def _integer_power(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    a, b = frame.vals(op.operands, op)
    return [frame.code.emit("power", a.kind, a.dims, [a, arrays.convert(frame.code, b, a.kind)])]


def _pack(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    """Makes words that hold the sources, rounded to the narrow type, from the lowest bits on."""
    code, kind = frame.code, _narrow_type(frame, op, "target_type")
    word = ELEMENT_TYPES[f"u{kind.bits}"]
    packed: Val | None = None
    for position, source in enumerate(frame.vals(op.operands, op)):
        bits = arrays.convert(code, arrays.bitcast_convert(code, arrays.convert(code, source, kind), word), U32)
        distance = constant(U32, position * kind.bits, bits.dims)
        moved = code.emit("shift-left", U32, bits.dims, [bits, distance]) if position else bits
        packed = moved if packed is None else arrays.binary(code, "or", packed, moved)
    if packed is None:
        raise frame.refused(op, "packs nothing")
    return [arrays.bitcast_convert(code, packed, frame.kind(op.results[0], op))]


def _unpack(frame: Frame, op: KernelOp) -> Sequence[Meaning]:
    """Makes part number `index` of each word, converted to the wide type."""
    code, kind = frame.code, _narrow_type(frame, op, "source_type")
    (a,) = frame.vals(op.operands, op)
    (position,) = integers(op, "index") or (0,)
    bits = arrays.bitcast_convert(code, a, U32)
    if position:
        bits = code.emit("shift-right-logical", U32, a.dims, [bits, constant(U32, position * kind.bits, a.dims)])
    narrow = arrays.convert(code, bits, ELEMENT_TYPES[f"u{kind.bits}"])
    part = arrays.bitcast_convert(code, narrow, kind)
    return [arrays.convert(code, part, frame.kind(op.results[0], op))]


def _narrow_type(frame: Frame, op: KernelOp, name: str) -> ElementType:
    found = try_element_type(str(op.attributes.get(name)))
    if found is None or found.bits >= S32.bits:
        raise frame.refused(op, f"has the {name} {op.attributes.get(name)}, which is not known here")
    return found


def _row(name: str, operands: str, becomes: str, lower: Callable[[Frame, KernelOp], Sequence[Meaning]]) -> Lowering:
    return Lowering(name, operands, becomes, lower)


ROWS: tuple[Lowering, ...] = (
    *(_row(name, "a, b", opcode, partial(_binary, opcode)) for name, opcode in _pairs(_BINARY)),
    *(_row(name, "a, b", f"{opcode} of unsigned", partial(_unsigned, opcode)) for name, opcode in _pairs(_UNSIGNED)),
    *(_row(name, "a, count", opcode, partial(_shift, opcode)) for name, opcode in _pairs(_SHIFTS)),
    *(_row(name, "a", opcode, partial(_unary, opcode)) for name, opcode in _pairs(_UNARY)),
    _row("arith.constant", "", "constant, broadcast", _constant),
    _row("arith.cmpi", "a, b", "compare", _compare_integers),
    _row("arith.cmpf", "a, b", "compare, or, not", _compare_floats),
    _row(
        "arith.select",
        "condition, a, b",
        "select",
        lambda frame, op: [arrays.select(frame.code, *frame.vals(op.operands, op))],
    ),
    _row("arith.maxnumf", "a, b", "maximum, compare, select", partial(_number_select, "maximum")),
    _row("arith.minnumf", "a, b", "minimum, compare, select", partial(_number_select, "minimum")),
    *(
        _row(name, "a", "convert", _convert)
        for name in ("arith.extf", "arith.truncf", "arith.sitofp", "arith.fptosi", "arith.index_cast")
    ),
    *(
        _row(name, "a", "round-nearest-even, convert", _convert)
        for name in ("tpu.extf", "tpu.truncf", "tpu.sitofp", "tpu.fptosi")
    ),
    _row("arith.extsi", "a", "convert", _extend_signed),
    _row("arith.trunci", "a", "convert; and, compare for i1", _truncate),
    *(
        _row(name, "a", "bitcast-convert, convert", _from_unsigned)
        for name in ("arith.extui", "arith.uitofp", "tpu.uitofp", "arith.index_castui")
    ),
    *(_row(name, "a", "convert, bitcast-convert", _to_unsigned) for name in ("arith.fptoui", "tpu.fptoui")),
    _row("arith.bitcast", "a", "bitcast-convert", _bitcast),
    _row("arith.floordivsi", "a, b", "divide, remainder, compare, select, add", partial(_floor_divide, False)),
    _row("arith.ceildivsi", "a, b", "divide, remainder, compare, select, add", partial(_floor_divide, True)),
    _row("math.exp2", "a", "multiply, exponential", partial(_scaled, "exponential", _LN2, True)),
    _row("math.log2", "a", "log, multiply", partial(_scaled, "log", 1 / _LN2, False)),
    _row("math.fma", "a, b, c", "multiply, add", _fused),
    _row("math.fpowi", "a, b", "convert, power", _integer_power),
    _row("math.copysign", "a, sign", "bitcast-convert, and, or", _copy_sign),
    _row("math.isnan", "a", "compare", _is_nan),
    _row("math.isfinite", "a", "is-finite", partial(_is_finite, True)),
    _row("tpu.weird", "a", "is-finite, not", partial(_is_finite, False)),
    _row("tpu.reciprocal", "a", "divide", _reciprocal),
    _row("tpu.pack_elementwise", "sources", "convert, bitcast-convert, shift-left, or", _pack),
    _row("tpu.unpack_elementwise", "words", "shift-right-logical, convert, bitcast-convert", _unpack),
    *(
        _row(name, "a", "its operand", lambda frame, op: [frame.values[op.operands[0].number]])
        for name in ("tpu.assume_multiple", "tpu.assume_layout", "tpu.relayout", "tpu.mask_cast", "tpu.trace_value")
    ),
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
    low = 0 if kind.is_unsigned else -(1 << (kind.bits - 1))
    return low if opcode == "maximum" else low + (1 << kind.bits) - 1
