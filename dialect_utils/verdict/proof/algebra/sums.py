"""Sums, products and extremes of many scalar terms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dialect_utils.layout import ElementType
from dialect_utils.verdict.proof.algebra import ring
from dialect_utils.verdict.proof.algebra.numbers import is_exact, neutral_bits
from dialect_utils.verdict.proof.algebra.rule import Rule

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

ONE_SUM = Rule(
    "one-sum", "One reduction by a commutative operation may take its terms in any order (the engine's choice)."
)


def sum_of_products(terms: Terms, kind: ElementType, texts: Any, pairs: Iterable[tuple[Term, Term]]) -> Term:
    """Returns a sum of products, each rounded or not as the engine likes: of integers one number, else a set."""
    products = [_product(terms, kind, a, b) for a, b in pairs]
    if not products:
        return terms.literal(kind, 0, ())
    if kind.is_integral:
        return ring.sum_of(terms, products)
    if len(products) == 1 and products[0].label != "product" and not texts:
        return _one_sum(terms, "add", products, terms.literal(kind, 0, ()))
    return terms.each_as_is(("sum-of-products", texts), kind, _sorted(products))


def _product(terms: Terms, kind: ElementType, left: Term, right: Term) -> Term:
    types = {left.array.element_type, right.array.element_type}
    if types == {kind}:
        return terms.each("multiply", kind, (left, right))
    if kind.is_integral and all(each.is_integral for each in types):
        converted = [terms.each("convert", kind, [item]) for item in (left, right)]
        return terms.each("multiply", kind, converted)
    return terms.each_as_is("product", kind, _sorted((left, right)))


def reduced(terms: Terms, opcode: str, items: Sequence[Term], initial: Term) -> Term:
    """Returns the reduction of scalars by a commutative operation."""
    kind = initial.array.element_type
    if not is_exact(opcode, kind):
        return _one_sum(terms, opcode, items, initial)
    if not items:
        return initial
    if opcode == "add" and kind.is_integral:
        return ring.sum_of(terms, [initial, *items])
    if opcode == "multiply" and kind.is_integral:
        for item in items:
            initial = terms.each("multiply", kind, (initial, item))
        return initial
    return terms.each(opcode, kind, [initial, *items])


def _one_sum(terms: Terms, opcode: str, items: Sequence[Term], initial: Term) -> Term:
    """Returns a float sum or product whose terms the engine takes in an order of its own."""
    kind = initial.array.element_type
    if not items:
        return initial
    if len(items) == 1 and terms.constant_bits(initial) == neutral_bits(opcode, kind):
        return items[0]
    terms.note(ONE_SUM)
    return terms.each_as_is(("sum", opcode), kind, (initial, *_sorted(items)))


def _sorted(items: Sequence[Term]) -> list[Term]:
    return sorted(items, key=lambda item: item.number)
