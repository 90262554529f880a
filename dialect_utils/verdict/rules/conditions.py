"""Conditions of equations: properties of formats, relations between two formats, and properties of constants.

`types` gives each type name of an equation (T, U, V) its type; `constants` gives c, d and e their bits.
The constants of a condition are numbers of T.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Final, Protocol

from dialect_utils.layout import ELEMENT_TYPES, ElementType
from dialect_utils.ops.contractions import summed_in
from dialect_utils.verdict.rules.formats import (
    PROPERTIES,
    exact_log2,
    float_bits,
    has,
    has_whole_ends,
    highest_bits,
    is_lossless,
    is_nan,
    mantissa_digits,
    sort_key,
    value_of,
)

# Formats of so many bits are rounded to a narrower one after each operation; solvers decide these equations.
_WIDEST_DOUBLED = 32
# The largest power of two that a double has.
_LARGEST_POWER = 1023

Types = Mapping[str, ElementType]
Constants = Mapping[str, int]


class Condition(Protocol):
    """A condition on the formats and the constants of one use of an equation."""

    def holds(self, types: Types, constants: Constants) -> bool:
        """Is true where the equation may be used."""
        ...


@dataclass(frozen=True, slots=True)
class Has:
    """The condition that a format has a property (see `formats.has`)."""

    property: str
    type: str = "T"

    def __post_init__(self) -> None:
        if self.property not in PROPERTIES:
            raise ValueError(f"{self.property} is no property of formats")

    def holds(self, types: Types, constants: Constants) -> bool:
        """Is true where the format has the property."""
        return has(types[self.type], self.property)


@dataclass(frozen=True, slots=True)
class Lacks(Has):
    """The condition that a format does not have a property."""

    def holds(self, types: Types, constants: Constants) -> bool:
        return not Has.holds(self, types, constants)


@dataclass(frozen=True, slots=True)
class OfFormats:
    """The condition that a function is true for the formats of some names."""

    test: Callable[..., bool]
    names: tuple[str, ...]

    def holds(self, types: Types, constants: Constants) -> bool:
        """Is true where the function is true for the formats."""
        return self.test(*(types[name] if name in types else ELEMENT_TYPES[name] for name in self.names))


def lossless(source: str = "T", target: str = "U") -> OfFormats:
    """Returns the condition that a conversion between two formats keeps each value, and a NaN stays a NaN."""
    return OfFormats(is_lossless, (source, target))


def doubled(narrow: str = "T", wide: str = "U") -> OfFormats:
    """Returns the condition that a float format of at most 32 bits contains one of d digits in 2d + 2 digits.

    An operation that is rounded to the wider format and then to the narrow one is then rounded once.
    """
    return OfFormats(_is_doubled, (narrow, wide))


def _is_doubled(narrow: ElementType, wide: ElementType) -> bool:
    digits = [mantissa_digits(kind) for kind in (narrow, wide)]
    is_known = digits[0] > 0 and wide.bits <= _WIDEST_DOUBLED
    return is_known and is_lossless(narrow, wide) and digits[1] >= 2 * digits[0] + 2


def no_wider(kind: str = "U", other: str = "T") -> OfFormats:
    """Returns the condition that a format has at most as many bits as another format."""
    return OfFormats(lambda first, second: first.bits <= second.bits, (kind, other))


def same_width(kind: str = "T", other: str = "U") -> OfFormats:
    """Returns the condition that two formats have the same number of bits."""
    return OfFormats(lambda first, second: first.bits == second.bits, (kind, other))


def part_of(part: str = "T", whole: str = "U") -> OfFormats:
    """Returns the condition that a float format is the format of a complex format's parts (f32 of c64)."""
    return OfFormats(lambda part, whole: whole.is_complex and part.name == f"f{whole.bits // 2}", (part, whole))


@dataclass(frozen=True, slots=True)
class PowerOfTwo:
    """The condition that an unsigned integer is a power of two."""

    constant: str = "c"

    def holds(self, types: Types, constants: Constants) -> bool:
        """Is true for 1, 2, 4, 8 and so on."""
        bits = constants[self.constant]
        return types["T"].is_unsigned and bits > 0 and not bits & (bits - 1)


@dataclass(frozen=True, slots=True)
class Scale:
    """The condition that a float is a power of two whose inverse is normal, in an IEEE format."""

    constant: str = "c"

    def holds(self, types: Types, constants: Constants) -> bool:
        """Is true where the constant and its inverse are normal powers of two."""
        return exact_log2(types["T"], constants[self.constant]) is not None


@dataclass(frozen=True, slots=True)
class Doublings:
    """The condition that two floats are powers of two above 1, and so is their product, with normal inverses."""

    first: str = "c"
    second: str = "d"

    def holds(self, types: Types, constants: Constants) -> bool:
        """Is true where neither factor nor their product rounds or overflows."""
        kind = types["T"]
        powers = [exact_log2(kind, constants[name]) or 0 for name in (self.first, self.second)]
        if min(powers) <= 0:
            return False
        bits = float_bits(kind, 2.0 ** sum(powers)) if sum(powers) <= _LARGEST_POWER else None
        return bits is not None and exact_log2(kind, bits) == sum(powers)


@dataclass(frozen=True, slots=True)
class BelowWidth:
    """The condition that the sum of integers, read without sign, is below the width of their format."""

    constants: tuple[str, ...] = ("c",)

    def holds(self, types: Types, constants: Constants) -> bool:
        """Is true where shifting by the sum of the amounts leaves at least one bit."""
        return types["T"].is_integral and sum(constants[name] for name in self.constants) < types["T"].bits


@dataclass(frozen=True, slots=True)
class AtMost:
    """The condition c <= d of two constants, neither of them a NaN."""

    low: str = "c"
    high: str = "d"

    def holds(self, types: Types, constants: Constants) -> bool:
        """Is true where both are numbers, the first of them not above the second; -0 and +0 are equal."""
        low, high = (value_of(types["T"], constants[name]) for name in (self.low, self.high))
        return low is not None and high is not None and low <= high


@dataclass(frozen=True, slots=True)
class Ordered:
    """The condition c <= d of two constants in the order of maximum, where -0 is below +0."""

    low: str = "c"
    high: str = "d"

    def holds(self, types: Types, constants: Constants) -> bool:
        """Is true where neither is a NaN, and the maximum of both is the second one."""
        kind = types["T"]
        if kind.is_complex or any(is_nan(kind, constants[name]) for name in (self.low, self.high)):
            return False
        return sort_key(kind, constants[self.low]) <= sort_key(kind, constants[self.high])


@dataclass(frozen=True, slots=True)
class NotHighest:
    """The condition that an integer is not the highest number of its format."""

    constant: str = "c"

    def holds(self, types: Types, constants: Constants) -> bool:
        """Is true where the next integer is one of the format, too."""
        return types["T"].is_integral and constants[self.constant] != highest_bits(types["T"])


# Values that data may lack, by the word of a verdict; a zero of either sign is 0.
NAN, INFINITE, ZERO, NEGATIVE_ZERO = VALUES = ("NaN", "infinite", "0", "-0")
# Both sides of an equation, as the names of values.
LEFT: Final = "left"
RIGHT: Final = "right"


@dataclass(frozen=True, slots=True)
class Never:
    """The condition on data that no element of a variable, or of the `left` or `right` side, is one of some values.

    An equation with it holds for other data only, so a step by it needs the condition in its certificate.
    """

    name: str
    values: tuple[str, ...]

    def holds(self, types: Types, constants: Constants) -> bool:
        """Is true for all formats and constants."""
        return True

    def __str__(self) -> str:
        return f"{self.name} is never {' or '.join(self.values)}"


def is_value(element_type: ElementType, bits: int, value: str) -> bool:
    """Is true for the bits of a value of `VALUES`."""
    found = value_of(element_type, bits)
    if value == NAN:
        return is_nan(element_type, bits)
    if value == INFINITE:
        return isinstance(found, float) and found in (inf, -inf)
    return found == 0 and (value == ZERO or str(found) == "-0.0")


FLOAT, INTEGER, SIGNED, UNSIGNED = Has("float"), Has("integer"), Has("signed"), Has("unsigned")
OPPOSITES, SIGN, NEVER_NAN = Has("opposites"), Has("sign"), Lacks("nan")
# Formats with bitwise operations, and formats with an order: not complex numbers.
LOGICAL = OfFormats(lambda kind: has(kind, "integer") or has(kind, "pred"), ("T",))
REAL = OfFormats(lambda kind: any(has(kind, name) for name in ("integer", "float", "pred")), ("T",))
# The largest numbers of the float format are whole, and it has infinities: no rounding to whole numbers leaves it.
WHOLE_ENDS = OfFormats(has_whole_ends, ("T",))
# A dot of A and B with the result T is summed in U, by the definition.
SUMMED = OfFormats(lambda result, left, right, kind: summed_in(result, left, right) == kind, ("T", "A", "B", "U"))
