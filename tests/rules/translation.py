"""Operations as SMT terms, as `dialect_utils/ops` and the domain of bits define them.

A test evaluates every operation of every format on many bits, by a solver and by its definition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dialect_utils.layout import ELEMENT_TYPES, ElementType
from tests.rules.script import Script, Value, literal, to_float

# z3 5.4 fails at roundings to whole numbers in f8e5m2. Arithmetic of so few bits needs no solver.
_NARROWEST = 16
PRED, F32 = ELEMENT_TYPES["pred"], ELEMENT_TYPES["f32"]


class UntranslatedError(Exception):
    """Raised where the theories of solvers lack an operation or a format; the message names it."""


def each(script: Script, opcode: str, operands: Sequence[Value]) -> Value:
    """Returns an elementwise operation whose result has the type of the last operand."""
    kind = operands[-1].element_type
    if opcode == "select":
        return _select(script, *operands)
    if opcode in _OF_PARTS:
        return _OF_PARTS[opcode](script, *operands)
    if opcode == "clamp":
        low, value, high = operands
        return each(script, "minimum", [each(script, "maximum", [value, low]), high])
    table = _FLOAT if kind.is_floating else _LOGICAL if kind == PRED else _INTEGER
    if opcode not in table or kind.is_complex:
        raise UntranslatedError(f"{opcode} of {kind}")
    return table[opcode](script, *operands)


def is_same(script: Script, left: Value, right: Value, level: str) -> str:
    """Returns whether two values are the same: in their bits, or but for the bits of a NaN."""
    if left.element_type.is_complex and level != "bits":
        pairs = zip(_parts(script, left), _parts(script, right), strict=True)
        return f"(and {' '.join(is_same(script, *pair, level) for pair in pairs)})"
    if left.element_type.is_floating and level != "bits":
        return f"(= {left.number()} {right.number()})"
    return f"(= {left.bits()} {right.bits()})"


def is_true(value: Value) -> str:
    """Returns the condition that a truth value holds."""
    return f"(= {value.bits()} #b1)"


# Comparisons

_OF_FLOATS = {"EQ": "fp.eq", "LT": "fp.lt", "LE": "fp.leq", "GT": "fp.gt", "GE": "fp.geq"}
_ORDER = {"LT": "lt", "LE": "le", "GT": "gt", "GE": "ge"}


def compare(script: Script, direction: str, left: Value, right: Value, *, is_total: bool = False) -> Value:
    """Returns a comparison; `is_total` orders floats from -NaN to NaN by their bits."""
    if direction == "NE":
        return _not(script, compare(script, "EQ", left, right, is_total=is_total))
    kind = left.element_type
    if kind.is_complex:
        return _compare_complex(script, direction, left, right)
    if kind.is_floating and is_total:
        left, right = _rank(script, left), _rank(script, right)
    elif kind.is_floating:
        return script.of_truth(PRED, f"({_OF_FLOATS[direction]} {left.number()} {right.number()})")
    if direction == "EQ":
        return script.of_truth(PRED, f"(= {left.bits()} {right.bits()})")
    prefix = "bvs" if left.element_type.is_signed else "bvu"
    return script.of_truth(PRED, f"({prefix}{_ORDER[direction]} {left.bits()} {right.bits()})")


def _rank(script: Script, value: Value) -> Value:
    """Returns an unsigned integer in the total order of floats: the bits, those of negative numbers reversed."""
    width, bits = value.element_type.bits, value.bits()
    top = literal(1 << (width - 1), width)
    negative = f"(= ((_ extract {width - 1} {width - 1}) {bits}) #b1)"
    return script.of_term(ELEMENT_TYPES[f"u{width}"], f"(ite {negative} (bvnot {bits}) (bvor {bits} {top}))")


def _select(script: Script, condition: Value, first: Value, second: Value) -> Value:
    kind, holds = first.element_type, is_true(condition)

    def bits() -> str:
        return script.word(kind.bits, f"(ite {holds} {first.bits()} {second.bits()})")

    if not kind.is_floating:
        return script.of_bits(kind, bits)
    return Value(kind, bits, lambda: _float(script, kind, f"(ite {holds} {first.number()} {second.number()})"))


def _float(script: Script, kind: ElementType, term: str) -> str:
    return script.of_number(kind, term).number()


# Complex numbers: the real part in the low half of the bits


def _part(kind: ElementType) -> ElementType:
    return ELEMENT_TYPES[f"f{kind.bits // 2}"]


def _parts(script: Script, value: Value) -> tuple[Value, Value]:
    """Returns the real and the imaginary part; that of a real number is 0."""
    kind = value.element_type
    if not kind.is_complex:
        return value, script.of_term(kind, literal(0, kind.bits))
    width, part = kind.bits // 2, _part(kind)
    low = script.of_term(part, f"((_ extract {width - 1} 0) {value.bits()})")
    return low, script.of_term(part, f"((_ extract {kind.bits - 1} {width}) {value.bits()})")


def _complex(script: Script, real: Value, imaginary: Value) -> Value:
    kind = ELEMENT_TYPES[f"c{2 * real.element_type.bits}"]
    return script.of_bits(kind, lambda: script.word(kind.bits, f"(concat {imaginary.bits()} {real.bits()})"))


def _compare_complex(script: Script, direction: str, left: Value, right: Value) -> Value:
    if direction != "EQ":
        raise UntranslatedError(f"compare[{direction}] of {left.element_type}")
    pairs = zip(_parts(script, left), _parts(script, right), strict=True)
    return script.of_truth(PRED, f"(and {' '.join(is_true(compare(script, 'EQ', *pair)) for pair in pairs)})")


_OF_PARTS: Mapping[str, Callable[..., Value]] = {
    "complex": _complex,
    "imag": lambda script, value: _parts(script, value)[1],
    "real": lambda script, value: _parts(script, value)[0],
}


# Conversions


def convert(script: Script, kind: ElementType, value: Value) -> Value:
    """Returns a value converted to a type: floats to integers truncate and saturate, and NaN gives 0."""
    source = value.element_type
    if source == kind:
        return value
    if kind.is_complex:
        part = _part(kind)
        return _complex(script, *(convert(script, part, each) for each in _parts(script, value)))
    if source.is_complex:
        return convert(script, kind, _parts(script, value)[0])
    if kind == PRED:
        zero = script.of_term(source, literal(0, source.bits))
        return compare(script, "NE", value, zero)
    if source.is_floating:
        return _of_float(script, kind, value)
    if kind.is_floating:
        return _integer_to_float(script, kind, value)
    return script.of_term(kind, _resized(value, kind.bits))


def _resized(value: Value, width: int) -> str:
    """Returns the low bits of an integer, or the integer extended by its sign."""
    source = value.element_type
    if width <= source.bits:
        return f"((_ extract {width - 1} 0) {value.bits()})"
    extend = "sign_extend" if source.is_signed else "zero_extend"
    return f"((_ {extend} {width - source.bits}) {value.bits()})"


def _integer_to_float(script: Script, kind: ElementType, value: Value) -> Value:
    """Returns a float; one narrower than 32 bits is rounded to f32 first, as the definition does."""
    step = F32 if kind.bits < F32.bits else kind
    function = to_float(step) if value.element_type.is_signed else to_float(step).replace("to_fp", "to_fp_unsigned")
    return _rounded(script, kind, script.of_number(step, f"({function} RNE {value.bits()})"))


def _of_float(script: Script, kind: ElementType, value: Value) -> Value:
    if not kind.is_floating:
        return _saturated(script, kind, value)
    # ml_dtypes converts f64 to its types by way of f32.
    is_twice = value.element_type.name == "f64" and kind.name not in ("f16", "f32")
    return _rounded(script, kind, _rounded(script, F32, value) if is_twice else value)


def _rounded(script: Script, kind: ElementType, value: Value) -> Value:
    if value.element_type == kind:
        return value
    return script.of_number(kind, f"({to_float(kind)} RNE {value.number()})")


def _saturated(script: Script, kind: ElementType, value: Value) -> Value:
    """Returns the integer nearest to zero, the ends of the range beyond them, and 0 for NaN."""
    low = -(1 << (kind.bits - 1)) if kind.is_signed else 0
    high = low + (1 << kind.bits) - 1
    wide = _rounded(script, ELEMENT_TYPES["f64"], value).number()
    inside = f"({'(_ fp.to_sbv' if kind.is_signed else '(_ fp.to_ubv'} {kind.bits}) RTZ {wide})"
    above = f"(fp.geq {wide} {_double(high + 1)})"
    below = f"(fp.leq {wide} {_double(low)})"
    ends = f"(ite {above} {literal(high, kind.bits)} (ite {below} {literal(low, kind.bits)} {inside}))"
    return script.of_term(kind, f"(ite (fp.isNaN {wide}) {literal(0, kind.bits)} {ends})")


def _double(value: int) -> str:
    magnitude = f"((_ to_fp 11 53) RNE {abs(value)}.0)"
    return magnitude if value >= 0 else f"(fp.neg {magnitude})"


# Floats

_Function = Callable[..., Value]


def _arithmetic(name: str) -> _Function:
    """Returns an operation that rounds once. The definition rounds f16 and bf16 twice, which gives the same."""

    def made(script: Script, *operands: Value) -> Value:
        kind = operands[0].element_type
        if kind.bits < _NARROWEST:
            raise UntranslatedError(f"arithmetic of {kind}")
        return script.of_number(kind, f"({name} {' '.join(each.number() for each in operands)})")

    return made


def _negate(script: Script, value: Value) -> Value:
    kind = value.element_type
    sign = literal(1 << (kind.bits - 1), kind.bits)
    return Value(
        kind,
        lambda: script.word(kind.bits, f"(bvxor {value.bits()} {sign})"),
        lambda: _float(script, kind, f"(fp.neg {value.number()})"),
    )


def _abs(script: Script, value: Value) -> Value:
    kind = value.element_type
    rest = literal((1 << (kind.bits - 1)) - 1, kind.bits)
    return Value(
        kind,
        lambda: script.word(kind.bits, f"(bvand {value.bits()} {rest})"),
        lambda: _float(script, kind, f"(fp.abs {value.number()})"),
    )


def _extreme(comparison: str, on_negative: Callable[[str, str], tuple[str, str]]) -> _Function:
    """Returns IEEE 754's maximum or minimum: NaN where an operand is, and -0 below +0."""

    def made(script: Script, left: Value, right: Value) -> Value:
        kind, (a, b) = left.element_type, (left.number(), right.number())
        nan = f"(_ NaN {to_float(kind).removeprefix('(_ to_fp ')}"
        first, second = on_negative(a, b)
        equal = f"(ite (fp.isNegative {a}) {first} {second})"
        chosen = f"(ite (fp.eq {a} {b}) {equal} (ite ({comparison} {a} {b}) {a} {b}))"
        return script.of_number(kind, f"(ite (or (fp.isNaN {a}) (fp.isNaN {b})) {nan} {chosen})")

    return made


def _sign(script: Script, value: Value) -> Value:
    kind, a = value.element_type, value.number()
    one = f"({to_float(kind)} RNE 1.0)"
    signed = f"(ite (fp.isNegative {a}) (fp.neg {one}) {one})"
    return script.of_number(kind, f"(ite (or (fp.isNaN {a}) (fp.isZero {a})) {a} {signed})")


def _is_finite(script: Script, value: Value) -> Value:
    return script.of_truth(PRED, f"(not (or (fp.isNaN {value.number()}) (fp.isInfinite {value.number()})))")


_FLOAT: Mapping[str, _Function] = {
    "abs": _abs,
    "add": _arithmetic("fp.add RNE"),
    "ceil": _arithmetic("fp.roundToIntegral RTP"),
    "copy": lambda script, value: value,
    "divide": _arithmetic("fp.div RNE"),
    "floor": _arithmetic("fp.roundToIntegral RTN"),
    "is-finite": _is_finite,
    "maximum": _extreme("fp.gt", lambda a, b: (b, a)),
    "minimum": _extreme("fp.lt", lambda a, b: (a, b)),
    "multiply": _arithmetic("fp.mul RNE"),
    "negate": _negate,
    "round-nearest-afz": _arithmetic("fp.roundToIntegral RNA"),
    "round-nearest-even": _arithmetic("fp.roundToIntegral RNE"),
    "sign": _sign,
    "sqrt": _arithmetic("fp.sqrt RNE"),
    "subtract": _arithmetic("fp.sub RNE"),
}


# Integers and truth values


def _words(name: str) -> _Function:
    """Returns an operation of bit-vectors, the same for signed and unsigned integers."""

    def made(script: Script, *operands: Value) -> Value:
        return script.of_term(operands[0].element_type, f"({name} {' '.join(each.bits() for each in operands)})")

    return made


def _not(script: Script, value: Value) -> Value:
    return _words("bvnot")(script, value)


def _divide(script: Script, left: Value, right: Value) -> Value:
    """Returns the quotient rounded toward zero; division by zero sets all bits."""
    kind = left.element_type
    name = "bvsdiv" if kind.is_signed else "bvudiv"
    by_zero = f"(= {right.bits()} {literal(0, kind.bits)})"
    return script.of_term(kind, f"(ite {by_zero} {literal(-1, kind.bits)} ({name} {left.bits()} {right.bits()}))")


def _remainder(script: Script, left: Value, right: Value) -> Value:
    """Returns the remainder with the sign of the dividend, which is the result for a divisor of zero."""
    return _words("bvsrem" if left.element_type.is_signed else "bvurem")(script, left, right)


def _extreme_integer(order: str) -> _Function:
    def made(script: Script, left: Value, right: Value) -> Value:
        chosen = is_true(compare(script, order, left, right))
        return script.of_term(left.element_type, f"(ite {chosen} {left.bits()} {right.bits()})")

    return made


def _abs_integer(script: Script, value: Value) -> Value:
    kind = value.element_type
    if not kind.is_signed:
        return value
    negative = f"(bvslt {value.bits()} {literal(0, kind.bits)})"
    return script.of_term(kind, f"(ite {negative} (bvneg {value.bits()}) {value.bits()})")


def _sign_integer(script: Script, value: Value) -> Value:
    kind, bits = value.element_type, value.bits()
    zero, one, minus = (literal(number, kind.bits) for number in (0, 1, -1))
    negative = f"(bvslt {bits} {zero})" if kind.is_signed else "false"
    return script.of_term(kind, f"(ite (= {bits} {zero}) {zero} (ite {negative} {minus} {one}))")


def _population(script: Script, value: Value) -> Value:
    width, bits = value.element_type.bits, value.bits()
    ones = (f"((_ zero_extend {width - 1}) ((_ extract {i} {i}) {bits}))" for i in range(width))
    return script.of_term(value.element_type, f"(bvadd {' '.join(ones)})" if width > 1 else bits)


def _leading_zeros(script: Script, value: Value) -> Value:
    width, bits = value.element_type.bits, value.bits()
    found = literal(width, width)
    for i in range(width):
        found = script.word(
            width, f"(ite (= ((_ extract {i} {i}) {bits}) #b1) {literal(width - 1 - i, width)} {found})"
        )
    return script.of_term(value.element_type, found)


# SMT-LIB's shifts by the width or more give 0, or copies of the sign, as the definitions do.
_INTEGER: Mapping[str, _Function] = {
    "abs": _abs_integer,
    "add": _words("bvadd"),
    "and": _words("bvand"),
    "copy": lambda script, value: value,
    "count-leading-zeros": _leading_zeros,
    "divide": _divide,
    "maximum": _extreme_integer("GT"),
    "minimum": _extreme_integer("LT"),
    "multiply": _words("bvmul"),
    "negate": _words("bvneg"),
    "not": _not,
    "or": _words("bvor"),
    "popcnt": _population,
    "remainder": _remainder,
    "shift-left": _words("bvshl"),
    "shift-right-arithmetic": _words("bvashr"),
    "shift-right-logical": _words("bvlshr"),
    "sign": _sign_integer,
    "subtract": _words("bvsub"),
    "xor": _words("bvxor"),
}
_LOGICAL: Mapping[str, _Function] = {
    "add": _words("bvor"),
    "and": _words("bvand"),
    "copy": lambda script, value: value,
    "maximum": _words("bvor"),
    "minimum": _words("bvand"),
    "multiply": _words("bvand"),
    "not": _not,
    "or": _words("bvor"),
    "xor": _words("bvxor"),
}
