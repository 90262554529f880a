"""Bounds on the probability of a wrong answer, from degrees and coefficients of terms as rational functions.

An element is a numerator over powers of the divisors that occur in it. The product of all elements of a divisor is a
common denominator, so a sum of any number of terms keeps the denominator of its terms.

Two polynomials that differ agree in one round for two reasons. A prime divides all coefficients of the difference:
a coefficient of b bits has b / 59 such divisors at most, of the 10^14 or more primes that may be drawn. Or a random
point is a root: with a probability of its degree over the prime at most. Each exponential counts as a variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log10, prod

from dialect_utils.layout import ArrayShape
from dialect_utils.ops import Trait, has, named
from dialect_utils.verdict.field.constants import exponent_of
from dialect_utils.verdict.field.conventions import EXTREMES
from dialect_utils.verdict.field.draw import LEAST_Q_BITS, ROUNDS, SAFE_PRIMES
from dialect_utils.verdict.field.elementwise import MOST_FACTORS
from dialect_utils.verdict.proof.terms import Term
from dialect_utils.verdict.terms.primitives import is_ordered, reachable

# The largest probability of any one residue, because residues are random words of 64 bits modulo a prime.
_LARGEST_CHANCE = (1 + 2.0**-4) / (1 << LEAST_Q_BITS)
# Values are compared by hashes of 64 bits.
_HASH_DIGITS = log10(2) * 64
# Bounds beyond these are useless.
_MOST, _MOST_DIVISORS = 1 << 64, 512

# Operations whose degree is the largest degree of their operands.
_SUMS = named("add subtract maximum minimum")
# Operations whose degree is the sum of their operands' degrees; `a or b` is 1 - (1 - a)(1 - b).
_PRODUCTS = named("multiply and or xor")
_UNCHANGED = named("negate convert not")
_HYPERBOLIC = named("tanh logistic")
_ROOTS = named("sqrt rsqrt")


@dataclass(frozen=True, slots=True)
class Degree:
    """Bounds on the numerator and the denominator of an element.

    `excess` bounds the degree of the numerator minus that of the denominator. `divisors` holds the power of each
    divisor in the denominator. `terms` is the binary logarithm of the number of terms of the numerator, minus that of
    the denominator.
    """

    excess: int = 0
    divisors: Mapping[Term, int] = field(default_factory=dict)
    terms: int = 0


@dataclass(frozen=True, slots=True)
class Size:
    """The degree of a polynomial, and the binary logarithm of the number of its terms."""

    degree: int
    terms: int

    def bits(self, of_constants: int) -> int:
        """Returns the bits of a coefficient, if each constant has `of_constants` bits."""
        return self.degree * of_constants + self.terms


_ATOM = Degree(1)


class Degrees:
    """Bounds on the degrees of terms, and the number of elements that are values of random functions."""

    def __init__(self, terms: Iterable[Term], count: Callable[[Term], int]) -> None:
        """Bounds the degrees of terms and their operands; `count` returns the number of distinct elements of a term."""
        self._count = count
        self._known: dict[Term, Degree] = {}
        # The product of the numerators of all elements, for each divisor.
        self._sizes: dict[Term, Size] = {}
        self.functions = 0
        # Elements of random functions whose arguments are compared by 64-bit hashes alone.
        self._hashed = 0
        # Integers of inputs, which 64-bit hashes represent. Floats of inputs have residues instead.
        self._integers = 0
        # The largest argument of a random function.
        self._largest_argument = Size(1, 0)
        for term in sorted(reachable(terms), key=lambda term: term.number):
            degree = self._degree(term)
            is_useful = len(degree.divisors) <= _MOST_DIVISORS and degree.excess <= _MOST
            self._known[term] = degree if is_useful else _BEYOND
            if term.kind == "leaf" and _is_of_integers(term):
                self._integers += _elements(term)

    def log_error(self, terms: Sequence[Term], constant_bits: int) -> float:
        """Returns the decimal logarithm of the probability that different terms are called equal.

        Every pair of arguments of random functions may collide, too, and counts. `constant_bits` is the number of bits
        of the largest constant.
        """
        elements = sum(_elements(term) for term in terms)
        largest = _largest([self.total(self._known[term]) for term in terms])
        counts = [(_pairs(self.functions), self._largest_argument), (elements, largest)]
        chances = [
            log10(max(count, 1)) + ROUNDS * log10(chance_of_a_round(size, constant_bits)) for count, size in counts
        ]
        hashed = 1 + _pairs(self._hashed) + self._hashed * self._integers
        chances.append(log10(hashed) - _HASH_DIGITS)
        greatest = max(chances)
        return greatest + log10(sum(10 ** (each - greatest) for each in chances))

    def total(self, degree: Degree) -> Size:
        """Returns a bound on numerator and denominator over a common denominator."""
        below = self._denominator(degree)
        return Size(max(1, degree.excess + 2 * below.degree), max(0, degree.terms) + 2 * below.terms)

    def _denominator(self, degree: Degree) -> Size:
        powers = [(power, self._sizes[divisor]) for divisor, power in degree.divisors.items()]
        return Size(
            sum(power * size.degree for power, size in powers), sum(power * size.terms for power, size in powers)
        )

    def _degree(self, term: Term) -> Degree:
        degrees = [self._known[operand] for operand in term.operands]
        is_rearranged = term.kind in ("splat", "moved") or is_ordered(term.label)
        if term.kind == "each" and not is_rearranged:
            return self._each(term, degrees)
        if is_rearranged or not degrees:
            return _joined(degrees) if degrees else _ATOM
        if term.kind == "choice":
            return _chosen(degrees)
        name = term.label[0] if isinstance(term.label, tuple) else None
        if not isinstance(name, str):
            return self._function(term)
        if has(name, Trait.MOVES_DATA):
            return _joined(degrees)
        if has(name, Trait.CONTRACTS):
            return _summed([_product(degrees)], prod(term.operands[1].array.dimensions))
        if has(name, Trait.COMBINES) and isinstance(term.shape, ArrayShape):
            return self._reduced(term, degrees)
        return self._function(term)

    def _reduced(self, term: Term, degrees: list[Degree]) -> Degree:
        opcode = term.label[1] if isinstance(term.label, tuple) else None
        count = 1 + prod(term.operands[0].array.dimensions)
        if opcode in EXTREMES:
            self._function(term)
        if opcode in _SUMS:
            return _summed([*degrees, _ATOM], count)
        if opcode in _PRODUCTS:
            factor = _summed([_joined(degrees)], _terms_of_a_factor(term))
            return _product([factor] * count) if count < _MOST_DIVISORS else _BEYOND
        return self._function(term)

    def _each(self, term: Term, degrees: list[Degree]) -> Degree:
        label = term.label
        if label in _SUMS:
            if label in EXTREMES:
                self._function(term)
            return _summed([*degrees, _ATOM], len(degrees))
        if label in _PRODUCTS:
            return _product([_summed([each], _terms_of_a_factor(term)) for each in degrees])
        if label == "divide":
            return _product([degrees[0], self._inverse(term.operands[1])])
        if label == "select":
            self._count_hash(term)
            return _chosen(degrees)
        if label in _UNCHANGED:
            self._count_hash(term)
            return _summed([degrees[0], _ATOM], 2)
        if label == "product" or label == ("sum", "multiply"):
            return _product(degrees)
        if isinstance(label, tuple) and label[0] in ("sum", "sum-of-products"):
            return _summed([*degrees, _ATOM], len(degrees))
        if isinstance(label, tuple) and label[0] == "pick":
            self._count_hash(term)
            return _chosen([_ATOM, *degrees[1:]])
        return self._defined(term)

    def _defined(self, term: Term) -> Degree:
        """Returns the degree of a function that others define, such as tanh by exp and sqrt by a random root."""
        if term.label == "power":
            return self._power(term)
        made = self._function(term)
        if term.label in _HYPERBOLIC:
            # tanh is (y - 1) / (y + 1) with y = exp(x)^2; logistic is 1 / (1 + y) with y = exp(-x).
            count = self._count(term)
            self._sizes[term] = Size(2 * count, count)
            return Degree(2, {term: 1}, 1)
        if term.label in ("sinh", "cosh"):
            count = self._count(term)
            self._sizes[term] = Size(count, count)
            return Degree(1, {term: 1}, 1)
        if term.label in _ROOTS:
            # The product of two sqrt(x) is x, that of two rsqrt(x) is 1/x, so the degree includes this argument.
            (operand,) = term.operands
            argument = self._known[operand] if term.label == "sqrt" else self._inverse(operand)
            return _product([made, argument])
        if term.label == "log":
            # A sum of logarithms, one for each factor.
            self.functions += MOST_FACTORS * self._count(term)
        # exp(x) - 1 has two terms.
        return _summed([made], MOST_FACTORS if term.label == "log" else 2)

    def _power(self, term: Term) -> Degree:
        """Returns the degree of a power: of a product of equal factors, of a root, or of a random function."""
        made, number = self._function(term), exponent_of(term.operands[1])
        if number is None or abs(number) > MOST_FACTORS:
            return made
        factor = self._known[term.operands[0]] if number >= 0 else self._inverse(term.operands[0])
        return _product([factor] * int(abs(number)) if number.denominator == 1 else [made, factor])

    def _inverse(self, term: Term) -> Degree:
        """Returns the degree of 1 over a term."""
        degree, count = self._known[term], self._count(term)
        below = self._denominator(degree)
        numerator = Size(max(0, degree.excess) + below.degree, max(0, degree.terms) + below.terms)
        self._sizes[term] = Size(numerator.degree * count, numerator.terms * count)
        return Degree(below.degree, {term: 1}, below.terms)

    def _function(self, term: Term) -> Degree:
        """Counts the elements of a random function, each a new variable, and returns a variable's degree."""
        count = self._count(term)
        self.functions += count
        self._hashed += 0 if _is_of_one_number(term) else count
        arguments = [self.total(self._known[operand]) for operand in term.operands]
        if _is_compare(term):
            # A comparison is a random function of the difference of its operands.
            arguments = [Size(sum(each.degree for each in arguments), sum(each.terms for each in arguments) + 1)]
        self._largest_argument = _largest([self._largest_argument, *arguments])
        return _ATOM

    def _count_hash(self, term: Term) -> None:
        """Counts the elements of an array of integers, because hashes represent integers."""
        if _is_of_integers(term):
            self._hashed += self._count(term)


_BEYOND = Degree(_MOST, terms=_MOST)


def _terms_of_a_factor(term: Term) -> int:
    """Returns the number of terms per operand of a product: `or` is 1 - (1 - a)(1 - b), `xor` is a + b - 2ab."""
    return 4 if term.array.element_type.name == "pred" else 1


def chance_of_a_round(size: Size, constant_bits: int) -> float:
    """Returns the probability that two functions that differ agree in one round."""
    both = Size(min(2 * size.degree, _MOST**2), min(2 * size.terms + 1, _MOST**2))
    by_primes = both.bits(constant_bits) / LEAST_Q_BITS / SAFE_PRIMES
    return both.degree * _LARGEST_CHANCE + by_primes


def _largest(sizes: Sequence[Size]) -> Size:
    degree = max((size.degree for size in sizes), default=1)
    return Size(degree, max((size.terms for size in sizes), default=0))


def _is_of_integers(term: Term) -> bool:
    return isinstance(term.shape, ArrayShape) and term.shape.element_type.is_integral


def _elements(term: Term) -> int:
    return prod(getattr(term.shape, "dimensions", ()))


def _pairs(count: int) -> float:
    return count * (count - 1) / 2


def _is_compare(term: Term) -> bool:
    return isinstance(term.label, tuple) and term.label[0] == "compare"


def _is_of_one_number(term: Term) -> bool:
    """Is true for a function of one float: of its only operand, or of the difference of compared operands."""
    is_each = term.kind == "each" and (len(term.operands) == 1 or _is_compare(term))
    return is_each and term.operands[0].array.element_type.is_floating


def _merged(degrees: Sequence[Degree], join: Callable[[int, int], int]) -> dict[Term, int]:
    powers: dict[Term, int] = {}
    for degree in degrees:
        for divisor, power in degree.divisors.items():
            powers[divisor] = join(powers.get(divisor, 0), power)
    return powers


def _product(degrees: Sequence[Degree]) -> Degree:
    powers = _merged(degrees, lambda a, b: a + b)
    return Degree(sum(each.excess for each in degrees), powers, sum(each.terms for each in degrees))


def _joined(degrees: Sequence[Degree]) -> Degree:
    """Returns the largest of several degrees, by each field."""
    powers = _merged(degrees, max)
    return Degree(max(each.excess for each in degrees), powers, max(each.terms for each in degrees))


def _summed(degrees: Sequence[Degree], count: int) -> Degree:
    """Returns the degree of a sum of `count` numbers of these degrees."""
    joined = _joined(degrees)
    return Degree(joined.excess, joined.divisors, joined.terms + max(0, count - 1).bit_length())


def _chosen(degrees: Sequence[Degree]) -> Degree:
    """Returns the degree of p * a + (1 - p) * b, also with more branches; the first degree is that of p."""
    others = _joined(degrees[1:])
    return _summed([_product([_joined([degrees[0], _ATOM]), others])], 3 * len(degrees))
