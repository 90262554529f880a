"""Sums, products and other reductions of many scalars, and sums of products."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dialect_utils.layout import ElementType
from dialect_utils.ops.contractions import summed_in
from dialect_utils.verdict.proof.algebra.joins import REGROUPED
from dialect_utils.verdict.proof.algebra.lattice import MEANT, mean
from dialect_utils.verdict.proof.algebra.ring import sum_of
from dialect_utils.verdict.rules.arrays import ONE_SUM
from dialect_utils.verdict.rules.integers import RING
from dialect_utils.verdict.terms.combinations import is_exact, neutral

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms


def sum_of_products(terms: Terms, kind: ElementType, texts: Any, pairs: Iterable[tuple[Term, Term]]) -> Term:
    """Returns a sum of products; of floats in any order, and with products rounded to the type of the sum."""
    products = [_term_of_product(terms, kind, a, b) for a, b in pairs]
    if not products:
        return terms.literal(kind, 0, ())
    before = terms.each_as_is(("sum-of-products", texts), kind, products)
    if kind.is_integral:
        return sum_of(terms, before)
    if len(products) == 1 and products[0].label != "product" and not texts:
        zero = terms.literal(kind, 0, ())
        terms.step(ONE_SUM, before, terms.each_as_is(("sum", "add"), kind, (zero, *products)))
        return _one_sum(terms, "add", products, zero)
    found = terms.each_as_is(("sum-of-products", texts), kind, _sorted(products))
    terms.step(ONE_SUM, before, found)
    return found


def _term_of_product(terms: Terms, kind: ElementType, left: Term, right: Term) -> Term:
    types = {left.array.element_type, right.array.element_type}
    if types == {kind} and (not kind.is_floating or summed_in(kind) == kind):
        return terms.each("multiply", kind, (left, right))
    if kind.is_integral and all(each.is_integral for each in types):
        converted = [terms.each("convert", kind, [item]) for item in (left, right)]
        return terms.each("multiply", kind, converted)
    found = terms.each_as_is("product", kind, _sorted((left, right)))
    terms.step(ONE_SUM, terms.each_as_is("product", kind, (left, right)), found)
    return found


def reduced(terms: Terms, opcode: str, items: Sequence[Term], initial: Term) -> Term:
    """Returns the reduction of scalars by a commutative operation."""
    kind = initial.array.element_type
    if not is_exact(opcode, kind):
        return _one_sum(terms, opcode, items, initial)
    before = terms.each_as_is(("sum", opcode), kind, (initial, *items))
    if not items:
        terms.step(ONE_SUM, before, initial)
        return initial
    if opcode == "add" and kind.is_integral:
        return sum_of(terms, before)
    if opcode == "multiply" and kind.is_integral:
        for item in items:
            initial = terms.each("multiply", kind, (initial, item))
        terms.step(RING, before, initial)
        return initial
    meant = MEANT.get(opcode, opcode) if kind.name == "pred" else opcode
    parts = [initial, *items]
    if meant != opcode:
        terms.step(ONE_SUM, before, mean(terms, opcode, parts))
    else:
        terms.step(REGROUPED[opcode], before, terms.each_as_is(opcode, kind, parts))
    return terms.each(meant, kind, parts)


def _one_sum(terms: Terms, opcode: str, items: Sequence[Term], initial: Term) -> Term:
    """Returns a float sum or product with sorted terms, because the engine chooses their order."""
    kind = initial.array.element_type
    before = terms.each_as_is(("sum", opcode), kind, (initial, *items))
    unit = neutral(opcode, kind)
    found = terms.each_as_is(("sum", opcode), kind, (initial, *_sorted(items)))
    if not items:
        found = initial
    elif len(items) == 1 and unit is not None and terms.constant_bits(initial) == unit:
        found = items[0]
    terms.note(ONE_SUM)
    terms.step(ONE_SUM, before, found)
    return found


def _sorted(items: Sequence[Term]) -> list[Term]:
    return sorted(items, key=lambda item: item.number)
