"""Bounds on the probability of a wrong answer: the degrees of the rational functions that terms are.

An element is a numerator over powers of the divisors that occur in it. Over the product of all elements of a divisor,
a sum has the denominator that its terms have, however many these are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log10, prod

from dialect_utils.layout import ArrayShape
from dialect_utils.ops import Trait, has, named, with_trait
from dialect_utils.verdict.field.arithmetic import Q
from dialect_utils.verdict.field.values import ROUNDS
from dialect_utils.verdict.proof.terms import Term

# Values are compared by hashes of 64 bits.
_HASH_DIGITS = log10(2) * 64
# Bounds beyond these are useless.
_MOST, _MOST_DIVISORS = 1 << 64, 512

# Operations with the largest degree of their operands.
_SUMS = named("add subtract maximum minimum")
# Maximum and minimum.
_EXTREMES = with_trait(Trait.IDEMPOTENT | Trait.BOUNDED)
# Operations with the sum of their operands' degrees; those of truth values are products, too.
_PRODUCTS = named("multiply and or xor")
_UNCHANGED = named("negate convert not")
_HYPERBOLIC = named("tanh logistic")
_ROOTS = named("sqrt rsqrt")


@dataclass(frozen=True, slots=True)
class Degree:
    """By how much a numerator's degree is above its denominator's at most, and the powers of the divisors."""

    excess: int = 0
    divisors: Mapping[Term, int] = field(default_factory=dict)


_ATOM = Degree(1)


class Degrees:
    """Bounds for the degrees of terms, and the number of elements that are random functions of others."""

    def __init__(self, terms: Iterable[Term], count: Callable[[Term], int]) -> None:
        """Looks at terms; `count` returns how many different elements one has."""
        self._count = count
        self._known: dict[Term, Degree] = {}
        # The degree of one element's numerator times the number of elements, for each divisor.
        self._sizes: dict[Term, int] = {}
        self.functions = 0
        # Those whose arguments are known by 64 bits alone.
        self._hashed = 0
        # The largest degree of an argument of a random function.
        self._largest_argument = 1
        pending, found = list(terms), set[Term]()
        while pending:
            term = pending.pop()
            if term not in found:
                found.add(term)
                pending += term.operands
        for term in sorted(found, key=lambda term: term.number):
            self._known[term] = self._capped(self._degree(term))

    def log_error(self, terms: Sequence[Term]) -> float:
        """Returns the decimal logarithm of the probability that terms are wrongly told equal to others.

        Two functions of degree d agree in one round with a probability of d / Q at most, and so may any two
        arguments of random functions, of which each pair counts.
        """
        elements = sum(prod(getattr(term.shape, "dimensions", ())) for term in terms)
        largest = max((self.total(self._known[term]) for term in terms), default=1)
        chances = [(_pairs(self.functions), self._largest_argument), (elements, largest)]
        by_degree = [log10(max(count, 1)) + ROUNDS * (log10(2 * degree) - log10(Q)) for count, degree in chances]
        by_hash = log10(max(_pairs(self._hashed) + elements, 1)) - _HASH_DIGITS
        greatest = max(*by_degree, by_hash)
        return greatest + log10(sum(10 ** (each - greatest) for each in (*by_degree, by_hash)))

    def total(self, degree: Degree) -> int:
        """Returns a bound for the degrees of numerator and denominator together."""
        return max(1, degree.excess + 2 * self._denominator(degree))

    def _denominator(self, degree: Degree) -> int:
        return sum(power * self._sizes[divisor] for divisor, power in degree.divisors.items())

    def _degree(self, term: Term) -> Degree:
        degrees = [self._known[operand] for operand in term.operands]
        if term.kind == "each":
            return self._each(term, degrees)
        if term.kind in ("splat", "moved") or not degrees:
            return _joined(degrees) if degrees else _ATOM
        if term.kind == "choice":
            return _product([_ATOM, _joined(degrees[1:])])
        name = term.label[0] if isinstance(term.label, tuple) else None
        if not isinstance(name, str):
            return self._function(term)
        if has(name, Trait.MOVES_DATA):
            return _joined(degrees)
        if has(name, Trait.CONTRACTS):
            return _product(degrees)
        if has(name, Trait.COMBINES) and isinstance(term.shape, ArrayShape):
            return self._reduced(term, degrees)
        return self._function(term)

    def _reduced(self, term: Term, degrees: list[Degree]) -> Degree:
        opcode = term.label[1] if isinstance(term.label, tuple) else None
        if opcode in _EXTREMES:
            self._function(term)
        if opcode in _SUMS:
            return _joined([*degrees, _ATOM])
        if opcode in _PRODUCTS:
            count = 1 + prod(term.operands[0].array.dimensions)
            return _product([_joined(degrees)] * min(count, _MOST_DIVISORS)) if count < _MOST_DIVISORS else _BEYOND
        return self._function(term)

    def _each(self, term: Term, degrees: list[Degree]) -> Degree:
        label = term.label
        if label in _SUMS:
            if label in _EXTREMES:
                self._function(term)
            return _joined([*degrees, _ATOM])
        if label in _PRODUCTS:
            return _product(degrees)
        if label == "divide":
            return _product([degrees[0], self._inverse(term.operands[1])])
        if label == "select":
            return _product([degrees[0], _joined(degrees[1:])])
        if label in _UNCHANGED:
            return degrees[0]
        if isinstance(label, tuple) and label[0] in ("sum", "sum-of-products", "pick"):
            joined = _product([_ATOM, _joined(degrees)])
            return joined if label != ("sum", "multiply") else _product(degrees)
        if label == "product":
            return _product(degrees)
        return self._defined(term)

    def _defined(self, term: Term) -> Degree:
        """Returns the degree of a function of one number: what it is made of, or a variable's."""
        made = self._function(term)
        if term.label in _HYPERBOLIC:
            # (y - 1) / (y + 1) and 1 / (1 + y), where y is the square of a variable or one.
            self._sizes[term] = 2 * self._count(term)
            return Degree(2, {term: 1})
        if term.label in ("sinh", "cosh"):
            self._sizes[term] = self._count(term)
            return Degree(1, {term: 1})
        if term.label in _ROOTS:
            # A multiple of a root: two of them are their argument, or 1 over it.
            (operand,) = term.operands
            argument = self._known[operand] if term.label in named("sqrt") else self._inverse(operand)
            return _product([made, argument])
        return made

    def _inverse(self, term: Term) -> Degree:
        """Returns the degree of 1 over a term."""
        degree = self._known[term]
        denominator = self._denominator(degree)
        self._sizes[term] = (max(0, degree.excess) + denominator) * self._count(term)
        return Degree(denominator, {term: 1})

    def _function(self, term: Term) -> Degree:
        """Counts the elements of a function that is random, and returns the degree of a variable."""
        count = self._count(term)
        self.functions += count
        self._hashed += 0 if _is_of_one_number(term) else count
        self._largest_argument = max([self._largest_argument, *(self.total(self._known[o]) for o in term.operands)])
        return _ATOM

    def _capped(self, degree: Degree) -> Degree:
        return degree if len(degree.divisors) <= _MOST_DIVISORS and degree.excess <= _MOST else _BEYOND


_BEYOND = Degree(_MOST)


def _pairs(count: int) -> float:
    return count * (count - 1) / 2


def _is_of_one_number(term: Term) -> bool:
    """Is true for functions of a float: of the one operand, or of the difference that a comparison looks at."""
    is_compare = isinstance(term.label, tuple) and term.label[0] == "compare"
    is_each = term.kind == "each" and (len(term.operands) == 1 or is_compare)
    return is_each and term.operands[0].array.element_type.is_floating


def _merged(degrees: Sequence[Degree], join: Callable[[int, int], int]) -> dict[Term, int]:
    powers: dict[Term, int] = {}
    for degree in degrees:
        for divisor, power in degree.divisors.items():
            powers[divisor] = join(powers.get(divisor, 0), power)
    return powers


def _product(degrees: Sequence[Degree]) -> Degree:
    return Degree(sum(degree.excess for degree in degrees), _merged(degrees, lambda a, b: a + b))


def _joined(degrees: Sequence[Degree]) -> Degree:
    """Returns the degree of a sum, or of any one of several."""
    return Degree(max(degree.excess for degree in degrees), _merged(degrees, max))
