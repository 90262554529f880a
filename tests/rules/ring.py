"""Equations between polynomials: equal coefficients prove them modulo every power of two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import product

from dialect_utils.verdict.rules.pattern import Pattern
from dialect_utils.verdict.rules.rule import Equation

# The coefficients of monomials, which are sorted names of variables.
Polynomial = Counter[tuple[str, ...]]


def is_equation_of_polynomials(equation: Equation) -> bool:
    """Is true where both sides are the same polynomial with integer coefficients.

    An absolute value is its operand or the opposite of that: both have to give equal polynomials.
    """
    parts = [part for side in (equation.left, equation.right) for part in side.parts()]
    absolute = sorted({str(part) for part in parts if part.name == "abs"})
    return all(
        _is_same_polynomial(equation, dict(zip(absolute, signs, strict=True)))
        for signs in product((1, -1), repeat=len(absolute))
    )


def _is_same_polynomial(equation: Equation, signs: Mapping[str, int]) -> bool:
    left, right = _polynomial(equation.left, signs), _polynomial(equation.right, signs)
    return left is not None and left == right


def _polynomial(pattern: Pattern, signs: Mapping[str, int]) -> Polynomial | None:
    """Returns the polynomial of a pattern; None where it has another operation or number."""
    if pattern.kind == "variable":
        return Counter({(pattern.name,): 1})
    if pattern.kind == "number":
        return _number(pattern.name)
    operands = [_polynomial(operand, signs) for operand in pattern.operands]
    found = [operand for operand in operands if operand is not None]
    if pattern.type != "T" or pattern.name not in (*_OPERATIONS, "abs") or len(found) < len(operands):
        return None
    if pattern.name == "abs":
        return _multiplied(Counter({(): signs[str(pattern)]}), *found)
    return _OPERATIONS[pattern.name](*found)


def _number(word: str) -> Polynomial | None:
    value = {"ones": -1, "zeros": 0}.get(word)
    if value is None and not word.lstrip("-").isdigit():
        return None
    return _without_zeros(Counter({(): int(word) if value is None else value}))


def _without_zeros(polynomial: Polynomial) -> Polynomial:
    return Counter({monomial: count for monomial, count in polynomial.items() if count})


def _added(left: Polynomial, right: Polynomial) -> Polynomial:
    total = Counter(left)
    for monomial, count in right.items():
        total[monomial] += count
    return _without_zeros(total)


def _multiplied(left: Polynomial, right: Polynomial) -> Polynomial:
    total: Polynomial = Counter()
    for first, count in left.items():
        for second, other in right.items():
            total[tuple(sorted(first + second))] += count * other
    return _without_zeros(total)


def _negated(polynomial: Polynomial) -> Polynomial:
    return Counter({monomial: -count for monomial, count in polynomial.items()})


_OPERATIONS: dict[str, Callable[..., Polynomial]] = {
    "add": _added,
    "multiply": _multiplied,
    "negate": _negated,
    "subtract": lambda left, right: _added(left, _negated(right)),
}
