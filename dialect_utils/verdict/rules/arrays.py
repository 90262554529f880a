"""Rules about whole arrays and constants; those without an equation are checked by a procedure of the replay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dialect_utils.layout import ElementType
from dialect_utils.ops import BITWISE, EXTREMES, MODULAR, Trait, with_trait
from dialect_utils.verdict.rules.conditions import (
    FLOAT,
    INTEGER,
    LOGICAL,
    REAL,
    SUMMED,
    Condition,
    Has,
    Lacks,
    lossless,
)
from dialect_utils.verdict.rules.formats import is_lossless
from dialect_utils.verdict.rules.rule import Level, Rule, bits, nan, order

# Reductions by these take their elements in any order; those that round may be kept in a wider type.
COMMUTATIVE, ROUNDED = with_trait(Trait.COMMUTATIVE), with_trait(Trait.COMMUTATIVE | Trait.ROUNDS)

FOLDED = Rule(
    "constants",
    "An operation on constants has one result, rounded once, where the definition leaves nothing to the engine.",
    wrong=("add(2, 3) = 6",),
    examples=(
        "add(2, 3) = 5",
        "divide(7, 2) = divide(7, 2)",
        "multiply(maximum(2, 3), 2) = 6",
        "multiply(0, 3) = 0",
        "subtract(3, 3) = 0",
        "compare[LT](2, 3) = true",
        "select(compare[LT](2, 3), x, y) = x",
    ),
    domain=(REAL,),
)
SAME_CONSTANTS = Rule(
    "constant-arrays", "Arrays of integers and truth values that depend on no input are equal where their values are."
)
ROUNDED_CONSTANT = Rule(
    "constant-function",
    "The engine chooses how exactly a function of a constant is rounded, so that a constant may be its result.",
)
# The name of the step f(splat(a), splat(b)) = splat(f(a, b)).
SPLAT = "splat"
ONE_SUM = Rule(
    "one-sum", "The engine chooses the order in which one reduction by a commutative operation takes its elements."
)
PROMOTED = Rule(
    "promoted-reduction",
    "A reduction among devices may be computed in a wider type: exactly for integers, maxima and minima, and for sums "
    "and products of floats where the engine chooses that precision.",
)
CONVERTED_MOVEMENT = Rule("converted", "A movement of converted arrays is the converted movement of the arrays.")
CONVERTED_FUNCTION = Rule(
    "converted-function",
    "A reduction by a function that commutes with a conversion computes, step by step, the conversions of the values.",
)
_FLOATS = tuple(Has("float", name) for name in "TAB")
_INTEGERS = tuple(Has("integer", name) for name in "AB")
_FLOAT_U, _INTEGER_U = Has("float", "U"), Has("integer", "U")
# Reductions of arrays in the form [kept, reduced], and of windows.
_REDUCTIONS = ("reduce[{}]", "reduce-window[{} *]")


def _of_reductions(opcodes: Iterable[str], text: str) -> Iterator[str]:
    """Yields an equation for each operation and kind of reduction, written as `{}` in the text."""
    return (text.replace("{}", each.format(opcode)) for opcode in sorted(opcodes) for each in _REDUCTIONS)


_NARROWED = "{}(convert[U](x), convert[U](y)) = convert[U]({}(x, y))"
CONVERTED_EXTREME = Rule(
    "converted-extreme",
    "An extreme, or a bitwise reduction, of numbers of a wider type is that of the narrower numbers.",
    (
        *(nan(text, FLOAT, _FLOAT_U, lossless()) for text in _of_reductions(EXTREMES, _NARROWED)),
        *(bits(text, INTEGER, _INTEGER_U, lossless()) for text in _of_reductions(EXTREMES | BITWISE, _NARROWED)),
    ),
    wrong=(
        "reduce[minimum](convert[f64](x), convert[f64](y)) = convert[f64](reduce[maximum](x, y))",
        "reduce[maximum](x, y) = convert[T](reduce[maximum](convert[s8](x), convert[s8](y)))",
    ),
    domain=(REAL,),
)
EXCESS_PRECISION = Rule(
    "excess-precision",
    "The engine may keep the sums of a reduction in a wider type.",
    tuple(
        order(text, FLOAT, _FLOAT_U, lossless())
        for text in _of_reductions(ROUNDED, "convert[T]({}(convert[U](x), convert[U](y))) = {}(x, y)")
    ),
    wrong=("convert[T](reduce[add](convert[f64](x), convert[f64](y))) = reduce[multiply](x, y)",),
    domain=(FLOAT, lossless("T", "f64")),
)
CONVOLUTION_PRECISION = Rule(
    "convolution-precision",
    "The engine chooses the precision of a convolution at DEFAULT precision.",
    (
        order("convolution[T W G D DEFAULT](a, b) = convert[T](convolution[U W G D DEFAULT](a, b))",
              *_FLOATS, _FLOAT_U, lossless()),
        order("convolution[T W G D DEFAULT](a, b) = convolution[T W G D DEFAULT](as[U](a), as[V](b))",
              *_FLOATS, lossless("A", "U"), lossless("B", "V")),
    ),
    wrong=("convolution[T W G D DEFAULT](a, b) = convert[T](convolution[f64 W G D DEFAULT](a, add(b, b)))",),
    domain=(FLOAT,),
)  # fmt: skip
_IN_BF16 = tuple(lossless(*names) for name in "AB" for names in (("bf16", name), (name, "f32")))
OPERAND_PRECISION = Rule(
    "operand-precision",
    "A TPU may round the operands of a product of f32 at DEFAULT precision to bf16.",
    tuple(
        order(f"{name}(a, b) = {name}(as[bf16](a), as[bf16](b))", FLOAT, *_IN_BF16)
        for name in ("dot[T DEFAULT]", "convolution[T W G D DEFAULT]")
    ),
    wrong=("dot[T DEFAULT](a, b) = dot[T DEFAULT](as[bf16](a), as[bf16](a))",),
    domain=(FLOAT,),
)
CONVOLUTION_PADDING = Rule(
    "convolution-padding",
    "The engine multiplies the padding of a convolution, as 0, or skips it: finite weights hide it.",
    (
        bits("convolution[T W G padded P](a, b) = convolution[T W G skipped P](a, b)", *_INTEGERS),
        order("convolution[T W G padded P](a, b) = convolution[T W G skipped P](a, b)"),
    ),
    wrong=("convolution[T W G padded P](a, b) = convolution[T W G skipped P](a, add(b, b))",),
)
WIDER_DOT = Rule(
    "wider-dot",
    "The engine chooses the precision of a dot: that of its operands converted to the type of its sum.",
    (
        bits("dot[T P](a, b) = as[T](dot[U P](as[U](a), as[U](b)))", SUMMED, Lacks("float", "U")),
        order("dot[T P](a, b) = as[T](dot[U P](as[U](a), as[U](b)))", SUMMED, _FLOAT_U),
    ),
    wrong=("dot[T P](a, b) = as[T](dot[f32 P](as[f32](a), as[f32](a)))",),
)
# The words of neutral elements, by operation, and the types whose reductions are exact.
_NEUTRAL: tuple[tuple[str, str, Condition], ...] = (
    ("add", "zeros", LOGICAL),
    ("multiply", "1", INTEGER),
    *((opcode, word, REAL) for opcode, word in (("maximum", "lowest"), ("minimum", "highest"))),
    *((opcode, word, LOGICAL) for opcode, word in (("and", "ones"), ("or", "zeros"), ("xor", "zeros"))),
)
INITIAL = Rule(
    "initial-value",
    "A reduction by an associative and exact operation takes its initial value once, in any position.",
    (
        bits("reduce[*](empty, y) = repeat(y)"),
        *(
            nan(f"reduce[{each}](x, y) = {each}(reshape(x), repeat(y))", *[LOGICAL] * (each in BITWISE))
            for each in sorted(COMMUTATIVE)
        ),
        *(
            nan(f"reduce[{each}](x, y) = {each}(reduce[{each}](x, {word}), repeat(y))", kind)
            for each, word, kind in _NEUTRAL
        ),
        bits("reduce[multiply](p, q) = multiply(reduce[multiply](p, true), repeat(q))"),
    ),
    wrong=("reduce[add](x, y) = add(reduce[add](x, y), repeat(y))", "reduce[maximum](x, y) = repeat(y)"),
)
INITIAL_ZERO = Rule(
    "initial-zero",
    "The engine chooses whether a sum begins with 0 or with its first element, which differ in the sign of a zero.",
    (
        order("reduce[add](x, 0) = reshape(x)", FLOAT),
        order("reduce[add](x, -0.0) = reduce[add](x, 0)", FLOAT),
    ),
    wrong=("reduce[add](x, 1) = reshape(x)", "reduce[add](x, 1) = reduce[add](x, 0)"),
    domain=(FLOAT,),
)
BRANCHES = Rule(
    "branches",
    "A conditional whose branches have no side effects is a select of their results.",
    (bits("select(repeat(p), x, y) = choice(p, x, y)"),),
    wrong=("select(repeat(p), x, y) = choice(p, y, x)",),
)
ORDER = Rule(
    "any-order",
    "The engine chooses the order of a sum, and of a scan whose function the program calls associative.",
    (order("any-order[*](x) = x"),),
    wrong=("any-order[*](x) = negate(x)",),
)
# Operations that combine the arrays of several devices.
REDUCTIONS = with_trait(Trait.COLLECTIVE | Trait.COMBINES)


def promotion_level(opcode: str, narrow: ElementType, wide: ElementType) -> Level | None:
    """Returns the equality in which a reduction may be computed in a wider type; None for none.

    Integers are computed modulo a power of two, so the conversion to more bits may extend them by zeros or by signs.
    """
    if narrow.is_integral and wide.is_integral:
        is_kept = opcode in EXTREMES and is_lossless(narrow, wide)
        return "bits" if is_kept or (opcode in MODULAR and narrow.bits <= wide.bits) else None
    if not (narrow.is_floating and wide.is_floating and is_lossless(narrow, wide)):
        return None
    return "nan" if opcode in EXTREMES else "order" if opcode in ROUNDED else None
