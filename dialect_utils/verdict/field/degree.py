"""Bounds on the probability of a wrong answer: the degrees and coefficients of the rational functions that terms are.

An element is a numerator over powers of the divisors that occur in it. Over the product of all elements of a divisor,
a sum has the denominator that its terms have, however many these are.

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
from dialect_utils.verdict.field.conventions import EXTREMES
from dialect_utils.verdict.field.draw import LEAST_Q_BITS, ROUNDS, SAFE_PRIMES
from dialect_utils.verdict.field.lift import reachable
from dialect_utils.verdict.proof.terms import Term

# A random residue is one number with so high a probability: a random word of 64 bits modulo a prime.
_LARGEST_CHANCE = (1 + 2.0**-4) / (1 << LEAST_Q_BITS)
# Values are compared by hashes of 64 bits.
_HASH_DIGITS = log10(2) * 64
# Bounds beyond these are useless.
_MOST, _MOST_DIVISORS = 1 << 64, 512

# Operations with the largest degree of their operands.
_SUMS = named("add subtract maximum minimum")
# Operations with the sum of their operands' degrees; those of truth values are products, too.
_PRODUCTS = named("multiply and or xor")
_UNCHANGED = named("negate convert not")
_HYPERBOLIC = named("tanh logistic")
_ROOTS = named("sqrt rsqrt")


@dataclass(frozen=True, slots=True)
class Degree:
    """The size of a numerator and its denominator.

    `excess` bounds by how much the numerator's degree is above the denominator's, `divisors` are the powers of the
    divisors in the denominator. `terms` is the binary logarithm of how many terms the numerator has, less those of the
    denominator, where each variable and constant counts as 1.
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
        """Returns the bits of a coefficient, where each constant has so many."""
        return self.degree * of_constants + self.terms


_ATOM = Degree(1)


class Degrees:
    """Bounds for the degrees of terms, and the number of elements that are random functions of others."""

    def __init__(self, terms: Iterable[Term], count: Callable[[Term], int]) -> None:
        """Looks at terms; `count` returns how many different elements one has."""
        self._count = count
        self._known: dict[Term, Degree] = {}
        # The product of the numerators of all elements, for each divisor.
        self._sizes: dict[Term, Size] = {}
        self.functions = 0
        # Those whose arguments are known by 64 bits alone.
        self._hashed = 0
        # Integers of inputs are known by 64 bits, too; floats have residues by keys of their own.
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
        """Returns the decimal logarithm of the probability that terms are wrongly told equal to others.

        Any two arguments of random functions may agree, too, of which each pair counts. `constant_bits` are those of
        the largest constant.
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
        """Returns a bound for numerator and denominator together."""
        below = self._denominator(degree)
        return Size(max(1, degree.excess + 2 * below.degree), max(0, degree.terms) + 2 * below.terms)

    def _denominator(self, degree: Degree) -> Size:
        powers = [(power, self._sizes[divisor]) for divisor, power in degree.divisors.items()]
        return Size(
            sum(power * size.degree for power, size in powers), sum(power * size.terms for power, size in powers)
        )

    def _degree(self, term: Term) -> Degree:
        degrees = [self._known[operand] for operand in term.operands]
        if term.kind == "each":
            return self._each(term, degrees)
        if term.kind in ("splat", "moved") or not degrees:
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
        """Returns the degree of a function of one number: what it is made of, or a variable's."""
        made = self._function(term)
        if term.label in _HYPERBOLIC:
            # (y - 1) / (y + 1) and 1 / (1 + y), where y is the square of a variable or one.
            count = self._count(term)
            self._sizes[term] = Size(2 * count, count)
            return Degree(2, {term: 1}, 1)
        if term.label in ("sinh", "cosh"):
            count = self._count(term)
            self._sizes[term] = Size(count, count)
            return Degree(1, {term: 1}, 1)
        if term.label in _ROOTS:
            # A multiple of a root: two of them are their argument, or 1 over it.
            (operand,) = term.operands
            argument = self._known[operand] if term.label == "sqrt" else self._inverse(operand)
            return _product([made, argument])
        # Of exp(x) - 1.
        return _summed([made], 2)

    def _inverse(self, term: Term) -> Degree:
        """Returns the degree of 1 over a term."""
        degree, count = self._known[term], self._count(term)
        below = self._denominator(degree)
        numerator = Size(max(0, degree.excess) + below.degree, max(0, degree.terms) + below.terms)
        self._sizes[term] = Size(numerator.degree * count, numerator.terms * count)
        return Degree(below.degree, {term: 1}, below.terms)

    def _function(self, term: Term) -> Degree:
        """Counts the elements of a function that is random, and returns the degree of a variable."""
        count = self._count(term)
        self.functions += count
        self._hashed += 0 if _is_of_one_number(term) else count
        arguments = [self.total(self._known[operand]) for operand in term.operands]
        if _is_compare(term):
            # A function of the difference.
            arguments = [Size(sum(each.degree for each in arguments), sum(each.terms for each in arguments) + 1)]
        self._largest_argument = _largest([self._largest_argument, *arguments])
        return _ATOM

    def _count_hash(self, term: Term) -> None:
        """Counts the elements of an array of integers, which hashes distinguish."""
        if _is_of_integers(term):
            self._hashed += self._count(term)


_BEYOND = Degree(_MOST, terms=_MOST)


def _terms_of_a_factor(term: Term) -> int:
    """Returns how many terms each operand of a product adds: an or is 1 - (1 - a)(1 - b), an xor a + b - 2ab."""
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
    """Is true for functions of a float: of the one operand, or of the difference that a comparison looks at."""
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
    """Returns the degree of any one of several."""
    powers = _merged(degrees, max)
    return Degree(max(each.excess for each in degrees), powers, max(each.terms for each in degrees))


def _summed(degrees: Sequence[Degree], count: int) -> Degree:
    """Returns the degree of a sum of so many."""
    joined = _joined(degrees)
    return Degree(joined.excess, joined.divisors, joined.terms + max(0, count - 1).bit_length())


def _chosen(degrees: Sequence[Degree]) -> Degree:
    """Returns the degree of p * a + (1 - p) * b, for any number of numbers: the first is that of p."""
    others = _joined(degrees[1:])
    return _summed([_product([_joined([degrees[0], _ATOM]), others])], 3 * len(degrees))
