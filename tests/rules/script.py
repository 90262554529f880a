"""SMT-LIB scripts: equal terms are defined once, and a float is kept as its bits and as its number.

The theory of floating point has one NaN. So the bits of a float that arithmetic makes are a constant of which only the
number is known: every NaN is possible. Bits that are moved, negated or selected stay exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from dialect_utils.hlo.text.literals import FLOAT_FORMATS
from dialect_utils.layout import ElementType

# The bits of exponent and of significand (the hidden bit counts) of the formats that IEEE 754 describes.
IEEE = {
    name: (form.exponent_bits, form.mantissa_bits + 1)
    for name, form in FLOAT_FORMATS.items()
    if form.specials == "ieee"
}


@dataclass(frozen=True, slots=True)
class Value:
    """A value of an element type: SMT terms for its bits and, of a float, for its number, made when asked for."""

    element_type: ElementType
    bits: Callable[[], str]
    number: Callable[[], str]


def float_sort(element_type: ElementType) -> str:
    """Returns the sort of the numbers of a format."""
    exponent, significand = IEEE[element_type.name]
    return f"(_ FloatingPoint {exponent} {significand})"


def to_float(element_type: ElementType) -> str:
    """Returns the function that makes numbers of a format of bits or, after a rounding mode, of other numbers."""
    exponent, significand = IEEE[element_type.name]
    return f"(_ to_fp {exponent} {significand})"


def literal(value: int, width: int) -> str:
    """Returns an integer modulo 2^width as a bit-vector."""
    return f"(_ bv{value % (1 << width)} {width})"


@dataclass
class Script:
    """The lines of a script; `names` has the name of each defined term, `variables` the declared words and widths,
    `formats` the floats that occur."""

    lines: list[str] = field(default_factory=list)
    names: dict[tuple[str, str], str] = field(default_factory=dict)
    variables: dict[str, int] = field(default_factory=dict)
    formats: set[str] = field(default_factory=set)

    def define(self, sort: str, term: str) -> str:
        """Returns the name of a term; equal terms have one name."""
        if (sort, term) not in self.names:
            name = self.names[sort, term] = f"t{len(self.names)}"
            self.lines.append(f"(define-fun {name} () {sort} {term})")
        return self.names[sort, term]

    def word(self, width: int, term: str) -> str:
        """Returns the name of a bit-vector."""
        return self.define(f"(_ BitVec {width})", term)

    def truth(self, term: str) -> str:
        """Returns the name of a truth value."""
        return self.define("Bool", term)

    def require(self, condition: str) -> None:
        """Adds a condition that every assignment fulfils."""
        self.lines.append(f"(assert {condition})")

    def variable(self, name: str, element_type: ElementType) -> Value:
        """Declares a variable, which is any bits of its type."""
        self.variables[name] = element_type.bits
        self.lines.append(f"(declare-const {name} (_ BitVec {element_type.bits}))")
        return self.of_bits(element_type, lambda: name)

    def of_bits(self, element_type: ElementType, bits: Callable[[], str]) -> Value:
        """Returns the value with these bits."""
        return Value(element_type, bits, lambda: self._number(element_type, bits()))

    def of_term(self, element_type: ElementType, term: str) -> Value:
        """Returns the value whose bits are a term."""
        name = self.word(element_type.bits, term)
        return self.of_bits(element_type, lambda: name)

    def of_truth(self, element_type: ElementType, condition: str) -> Value:
        """Returns a truth value as one bit."""
        return self.of_term(element_type, f"(ite {condition} #b1 #b0)")

    def of_number(self, element_type: ElementType, term: str) -> Value:
        """Returns the float that is a number; its bits, where they are asked for, are any with this number."""
        self.formats.add(element_type.name)
        name = self.define(float_sort(element_type), term)
        return Value(element_type, lambda: self._some_bits(element_type, name), lambda: name)

    def _number(self, element_type: ElementType, bits: str) -> str:
        self.formats.add(element_type.name)
        return self.define(float_sort(element_type), f"({to_float(element_type)} {bits})")

    def _some_bits(self, element_type: ElementType, number: str) -> str:
        """Returns a constant with the number; the same term of a number has the same bits."""
        key = ("bits of", number)
        if key not in self.names:
            self.names[key] = name = f"b{len(self.names)}"
            self.lines.append(f"(declare-const {name} (_ BitVec {element_type.bits}))")
            self.require(f"(= ({to_float(element_type)} {name}) {number})")
        return self.names[key]

    def text(self) -> str:
        """Returns the script without a command to solve it."""
        return "\n".join(self.lines)
