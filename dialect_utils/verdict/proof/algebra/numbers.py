"""Constants: the exact numbers of bits, operations on them, and the neutral elements of reductions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from dialect_utils.hlo.text.literals import FLOAT_FORMATS
from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.ops import Trait, by_opcode, has, named, with_trait
from dialect_utils.verdict.rules.arrays import FOLDED
from dialect_utils.verdict.rules.formats import (
    float_bits,
    has as has_property,
    highest_bits,
    is_nan,
    lowest_bits,
    number_bits,
    sign_bit,
    value_of,
)
from dialect_utils.verdict.terms.constants import folded as by_definition

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

__all__ = [
    "are_nan",
    "folded",
    "highest_bits",
    "is_exact",
    "is_idempotent",
    "is_rounded",
    "negative",
    "neutral_bits",
    "number_bits",
    "value_of",
]

# Maximum and minimum.
_EXTREMES = with_trait(Trait.IDEMPOTENT | Trait.BOUNDED)
# The neutral elements of integers and truth values; -1 has only ones.
_NEUTRAL = by_opcode({"add": 0, "or": 0, "xor": 0, "and": -1, "multiply": 1})


def neutral_bits(opcode: str, element_type: ElementType) -> int | None:
    """Returns the bits that a reduction by an operation may take any number of times, or None."""
    if opcode in _EXTREMES:
        return lowest_bits(element_type) if opcode == "maximum" else highest_bits(element_type)
    if element_type.is_floating:
        return sign_bit(element_type) if opcode == "add" else float_bits(element_type, 1.0)
    if element_type.is_complex:
        return None
    return _NEUTRAL[opcode] % (1 << element_type.bits)


def is_idempotent(opcode: str, element_type: ElementType, bits: int | None) -> bool:
    """Is true where a reduction that takes an initial value once may take it again: +0 in a sum, any in a maximum."""
    if has(opcode, Trait.IDEMPOTENT) or (bits is not None and bits == neutral_bits(opcode, element_type)):
        return True
    if bits is None or opcode != "add":
        return False
    return bits == 0 if element_type.is_complex else value_of(element_type, bits) == 0


def is_exact(opcode: str, element_type: ElementType) -> bool:
    """Is true where a reduction does not depend on how its elements are grouped."""
    if opcode in _EXTREMES:
        return not element_type.is_complex
    return element_type.is_integral or element_type.name == "pred"


def are_nan(terms: Terms, first: Term, second: Term) -> bool:
    """Is true for two constants all of whose elements are NaN, which are equal up to their bits."""
    shape, bits = first.shape, [terms.constant_bits(each) for each in (first, second)]
    if terms.keeps_bits or None in bits or not isinstance(shape, ArrayShape) or shape != second.shape:
        return False
    if not all(is_nan(shape.element_type, each or 0) for each in bits):
        return False
    terms.step(FOLDED, first, second)
    return True


def negative(terms: Terms, term: Term) -> Term | None:
    """Returns the number -c for a constant negative number c, or -0; None for others, infinities included."""
    bits, kind = terms.constant_bits(term), term.array.element_type
    value = None if bits is None or not has_property(kind, "opposites") else value_of(kind, bits)
    is_negative = (isinstance(value, Fraction) and value < 0) or str(value) == "-0.0"
    opposite = by_definition("negate", kind, ((kind, bits),)) if bits is not None and is_negative else None
    return None if opposite is None else terms.literal(kind, opposite, term.array.dimensions)


@lru_cache(maxsize=4096)
def folded(opcode: str, result: ElementType, element_type: ElementType, operands: tuple[int, ...]) -> int | None:
    """Returns the bits of an operation's result on constants of one type, or None where it is not folded."""
    if opcode == "convert":
        return _converted(element_type, result, operands[0])
    if element_type.is_integral and element_type == result:
        return _folded_integers(opcode, element_type, operands)
    if element_type.name in FLOAT_FORMATS and element_type == result:
        return _folded_floats(opcode, element_type, operands)
    return None


# Operations whose result is the number nearest to the exact one.
_ROUNDED = named("add subtract multiply divide sqrt convert")


def is_rounded(opcode: Hashable, result: ElementType, kind: ElementType, bits: Sequence[int]) -> bool:
    """Is true for an operation on finite floats that may round; the bits are those of the operands and the result."""
    if opcode not in _ROUNDED or not (kind.is_floating or result.is_floating):
        return False
    values = [*(value_of(kind, each) for each in bits[:-1]), value_of(result, bits[-1])]
    return all(isinstance(value, Fraction | int) for value in values)


def _folded_integers(opcode: str, element_type: ElementType, operands: tuple[int, ...]) -> int | None:
    found = _INTEGERS.get(opcode)
    if found is None:
        return None
    width = element_type.bits
    values = [int(value_of(element_type, bits) or 0) for bits in operands]
    number = found(width, *(values if opcode in _BY_VALUE else operands))
    return None if number is None else number % (1 << width)


def _divided(_: int, left: int, right: int) -> int | None:
    if right == 0:
        return None
    magnitude = abs(left) // abs(right)
    return magnitude if (left < 0) == (right < 0) else -magnitude


def _remainder(width: int, left: int, right: int) -> int | None:
    found = _divided(width, left, right)
    return None if found is None else left - found * right


def _shifted_with_sign(width: int, bits: int, count: int) -> int:
    """Returns bits shifted to the right, the topmost one repeated, of unsigned integers, too."""
    return (bits - (bits >> (width - 1) << width)) >> min(count, width - 1)


# Operations on numbers; the others are on bits.
_BY_VALUE = named("divide remainder abs sign")
# The operations of integers that the ring does not know, of (width, operands).
_INTEGERS: Mapping[str, Callable[..., int | None]] = by_opcode(
    {
        "divide": _divided,
        "remainder": _remainder,
        "abs": lambda _, x: abs(x),
        "sign": lambda _, x: (x > 0) - (x < 0),
        "shift-left": lambda width, x, k: x << k if k < width else 0,
        "shift-right-logical": lambda width, x, k: x >> k if k < width else 0,
        "shift-right-arithmetic": _shifted_with_sign,
        "popcnt": lambda _, x: x.bit_count(),
        "count-leading-zeros": lambda width, x: width - x.bit_length(),
    }
)


def _folded_floats(opcode: str, element_type: ElementType, operands: Sequence[int]) -> int | None:
    """Returns the bits of a result that needs no rounding; of zeros only the positive one, which sums always are."""
    found = _FLOATS.get(opcode)
    values = [value_of(element_type, bits) for bits in operands]
    if found is None or not all(isinstance(value, Fraction) for value in values):
        return None
    try:
        result = found(*values)
        rounded = float(result)
    except (ZeroDivisionError, OverflowError):
        return None
    if result == 0 and not _is_positive_zero(opcode, [value for value in values if isinstance(value, Fraction)]):
        return None
    return float_bits(element_type, rounded) if Fraction(rounded) == result else None


def _is_positive_zero(opcode: str, values: Sequence[Fraction]) -> bool:
    """Is true where a result of 0 is 0.0, not -0.0; of operands there are no -0.0."""
    return opcode == "add" or (opcode != "negate" and all(value >= 0 for value in values))


# The operations whose exact result is a fraction where the operands are.
_FLOATS: Mapping[str, Callable[..., Fraction]] = by_opcode(
    {
        "add": lambda x, y: x + y,
        "multiply": lambda x, y: x * y,
        "divide": lambda x, y: x / y,
        "abs": abs,
        "negate": lambda x: -x,
        "floor": lambda x: Fraction(x.__floor__()),
        "ceil": lambda x: Fraction(x.__ceil__()),
    }
)


def _converted(source: ElementType, result: ElementType, bits: int) -> int | None:
    """Returns a converted constant where the result has its exact value."""
    value = value_of(source, bits)
    if value is None or value != value or result.is_complex or isinstance(value, float):
        return None
    if result.name == "pred":
        return int(value != 0)
    if result.is_integral:
        whole = int(value)
        low = -(1 << (result.bits - 1)) if result.is_signed else 0
        fits = low <= whole < low + (1 << result.bits)
        return whole % (1 << result.bits) if fits and whole == value else None
    if result.name not in FLOAT_FORMATS:
        return None
    return float_bits(result, float(value)) if value == float(value) else None
