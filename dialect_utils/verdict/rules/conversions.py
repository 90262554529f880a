"""Rules of conversions."""

from __future__ import annotations

from collections.abc import Mapping

from dialect_utils.ops import BITWISE, EXTREMES, MODULAR, Trait, named, opcode_of, with_trait
from dialect_utils.ops.choices import USES, Choice
from dialect_utils.verdict.rules.conditions import (
    FLOAT,
    INTEGER,
    OPPOSITES,
    REAL,
    SIGN,
    SIGNED,
    UNSIGNED,
    WHOLE_ENDS,
    Condition,
    Has,
    Lacks,
    doubled,
    lossless,
    no_wider,
    same_width,
)
from dialect_utils.verdict.rules.rule import Equation, Rule, bits, nan, order

_FLOAT_U, _INTEGER_U, _INTEGER_V = Has("float", "U"), Has("integer", "U"), Has("integer", "V")

LOSSLESS = Rule(
    "convert-lossless",
    "A conversion into a type that holds every value of its operand's may be left out before another conversion; "
    "but not of integers by way of a float into integers that do not hold them: floats saturate, integers wrap around.",
    (
        nan("convert[T](x) -> x"),
        nan("convert[T](convert[U](x)) -> x", lossless()),
        # A float, and no truth value: true as a float saturates to 0 in s1, and as an integer wraps around to -1.
        nan("convert[V](convert[U](x)) -> convert[V](x)", lossless(), FLOAT),
        nan("convert[V](convert[U](x)) -> convert[V](x)", lossless(), Lacks("float", "U")),
        nan("convert[V](convert[U](x)) -> convert[V](x)", lossless(), Lacks("integer", "V")),
        nan("convert[V](convert[U](x)) -> convert[V](x)", lossless(), lossless("T", "V")),
    ),
    wrong=(
        "convert[T](convert[s4](x)) = x",
        "convert[s8](convert[f64](convert[s32](x))) = convert[s8](convert[s32](x))",
    ),
    examples=("convert[f32](convert[f64](x)) = convert[f32](x)",),
    domain=(lossless("T", "f64"),),
)
# The low bits of a result are computed from the low bits of the operands; sums and products are polynomials.
_OF_BITS, _POLYNOMIALS = sorted(BITWISE), sorted(MODULAR - BITWISE)
NARROWED = Rule(
    "convert-narrower",
    "The low bits of an integer are those of its wider forms; those of sums, products and bitwise operations are what "
    "these make of low bits.",
    (
        bits("convert[V](convert[U](x)) -> convert[V](x)", INTEGER, _INTEGER_U, _INTEGER_V, no_wider("V", "U")),
        *(
            bits(
                f"convert[U]({each}(x, y)) {sign} {each}(convert[U](x), convert[U](y))", INTEGER, _INTEGER_U, no_wider()
            )
            for sign, opcodes in (("->", _OF_BITS), ("=", _POLYNOMIALS))
            for each in opcodes
        ),
    ),
    wrong=("convert[s8](maximum(x, y)) = maximum(convert[s8](x), convert[s8](y))",),
    examples=(
        "convert[s8](convert[s16](x)) = convert[s8](x)",
        "convert[s8](add(x, y)) = add(convert[s8](x), convert[s8](y))",
    ),
    domain=(INTEGER,),
)


_SIGN_U = Has("sign", "U")
# Converted and plain operands, by the number of operands.
_OPERANDS: Mapping[int | None, tuple[str, str]] = {
    1: ("convert[U](x)", "x"),
    2: ("convert[U](x), convert[U](y)", "x, y"),
}
# Functions whose result is in the operand's type without rounding, such as `abs` and `ceil`.
_WHOLE = sorted(with_trait(Trait.WHOLE))
# Operations that may be computed in a type of twice the digits and rounded once.
_COMPUTED = sorted(named("add subtract multiply divide remainder"))
# Integer operations that commute with lossless conversions.
_JOINED = sorted(EXTREMES | BITWISE)


# A rounding to floats with infinities keeps the order of numbers.
_ROUNDED = (_FLOAT_U, Has("infinities", "U"), lossless("U", "T"))


def _exact(text: str, *guard: Condition) -> Equation:
    return nan(text, *guard, lossless())


EXACT = Rule(
    "convert-exact",
    "Extremes and choices round nothing, nor do signs of floats (-128 has none in s8): the narrower type will do.",
    (
        _exact("convert[T](negate(convert[U](x))) = negate(x)", OPPOSITES, _FLOAT_U),
        _exact("convert[T](abs(convert[U](x))) = abs(x)", OPPOSITES, _FLOAT_U),
        _exact("convert[T](maximum(convert[U](x), convert[U](y))) = maximum(x, y)", REAL, _FLOAT_U),
        _exact("convert[T](minimum(convert[U](x), convert[U](y))) = minimum(x, y)", REAL, _FLOAT_U),
        _exact("convert[U](maximum(x, y)) = maximum(convert[U](x), convert[U](y))", REAL, _FLOAT_U),
        _exact("convert[U](minimum(x, y)) = minimum(convert[U](x), convert[U](y))", REAL, _FLOAT_U),
        _exact("convert[T](select(p, convert[U](x), convert[U](y))) = select(p, x, y)"),
        nan("convert[U](negate(x)) -> negate(convert[U](x))", SIGN, _SIGN_U),
        nan("convert[U](abs(x)) = abs(convert[U](x))", SIGN, _SIGN_U, lossless()),
        nan("convert[U](select(p, x, y)) = select(p, convert[U](x), convert[U](y))"),
        nan("convert[U](select(p, x, y)) -> select(p, convert[U](x), convert[U](y))", FLOAT, *_ROUNDED),
        *(
            nan(f"convert[U]({each}(x, y)) -> {each}(convert[U](x), convert[U](y))", FLOAT, *_ROUNDED)
            for each in sorted(EXTREMES)
        ),
        *(_exact(f"convert[U]({each}(x)) = {each}(convert[U](x))", WHOLE_ENDS, _FLOAT_U) for each in _WHOLE),
        bits("is-finite(convert[U](x)) -> is-finite(x)", FLOAT, _FLOAT_U, lossless()),
        *(
            _exact(f"convert[U]({each}(x, y)) = {each}(convert[U](x), convert[U](y))", INTEGER, _INTEGER_U)
            for each in _JOINED
        ),
    ),
    wrong=(
        "convert[T](minimum(convert[f64](x), convert[f64](y))) = maximum(x, y)",
        "convert[s8](negate(convert[f32](convert[s8](x)))) = negate(convert[s8](x))",
    ),
    domain=(FLOAT, lossless("T", "f64")),
)
WIDER = Rule(
    "convert-computed-wider",
    "An operation rounded to a type of at least twice the digits, and two more, and then to its own type is as if it "
    "were rounded once.",
    (
        *(
            nan(f"convert[T]({each}(convert[U](x), convert[U](y))) -> {each}(x, y)", FLOAT, doubled())
            for each in _COMPUTED
        ),
        nan("convert[T](sqrt(convert[U](x))) -> sqrt(x)", FLOAT, doubled()),
    ),
    wrong=(
        "convert[T](add(add(convert[f32](x), convert[f32](y)), convert[f32](z))) = add(add(x, y), z)",
        "convert[T](divide(convert[f32](x), convert[f32](y))) = divide(y, x)",
    ),
    domain=(FLOAT, doubled("T", "f32")),
)
WIDER_INTEGERS = Rule(
    "convert-divided-wider",
    "Quotients, remainders and shifts to the right of integers are those of wider types that hold the integers.",
    (
        *(
            bits(f"convert[T]({each}(convert[U](x), convert[U](y))) -> {each}(x, y)", INTEGER, _INTEGER_U, lossless())
            for each in ("divide", "remainder")
        ),
        *(
            bits(f"convert[T]({each}(convert[U](x), convert[U](y))) -> {each}(x, y)", kind, _INTEGER_U, lossless())
            for each, kind in (("shift-right-logical", UNSIGNED), ("shift-right-arithmetic", SIGNED))
        ),
    ),
    wrong=(
        "convert[T](divide(convert[s64](x), convert[s64](3))) = remainder(x, 3)",
        "convert[T](shift-right-logical(convert[s64](x), convert[s64](3))) = shift-right-logical(x, 3)",
    ),
    domain=(SIGNED, lossless("T", "s32")),
)
FUNCTION_ROUNDING = Rule(
    "function-rounding",
    "The engine chooses how exactly a function such as a sine is rounded.",
    tuple(
        order(f"convert[T]({each}({wide})) -> {each}({narrow})", FLOAT, _FLOAT_U, lossless())
        for each in sorted(USES[Choice.FUNCTION_ROUNDING])
        for wide, narrow in (_OPERANDS[opcode_of(each).operand_count],)
    ),
    wrong=("convert[T](sine(convert[f64](x))) = cosine(x)",),
    domain=(FLOAT, lossless("T", "f64")),
)
REREAD = Rule(
    "bits-read-again",
    "Bits that are read as one type and then as another one are read as the second type.",
    (
        bits("bitcast-convert[T](x) -> x"),
        bits(
            "bitcast-convert[V](bitcast-convert[U](x)) -> bitcast-convert[V](x)",
            same_width("T", "U"),
            same_width("U", "V"),
        ),
    ),
    wrong=("bitcast-convert[s32](x) = convert[s32](x)",),
    domain=(FLOAT,),
)
