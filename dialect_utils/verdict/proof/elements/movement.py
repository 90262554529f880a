"""The elements of data movement."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from dialect_utils.layout import ArrayShape, BitcastConvert, ElementType, Pad
from dialect_utils.ops.positions import pad_into, stepped
from dialect_utils.verdict.proof.elements.arrays import Elements, array_of, filled, mapped
from dialect_utils.verdict.proof.elements.known import KnownElements
from dialect_utils.verdict.proof.terms import Term, Terms

# The type of what has none: padding that nobody promises, and arrays without elements.
NOTHING = ElementType("unspecified", 0)


def moved(known: KnownElements, term: Term) -> Elements:
    """Returns the elements of a term that moves those of another one."""
    chain = known.terms.chain(term)
    array = known.of(chain.base)
    stages = chain.plan.stages
    steps = zip(chain.plan.steps, chain.plan.paddings, stages, stages[1:], strict=False)
    for number, (step, padding, (element_type, _), (_, dimensions)) in enumerate(steps):
        if isinstance(step, Pad):
            array = pad_into(array, step, _padding(known, padding, dimensions, (term, number)))
        elif isinstance(step, BitcastConvert):
            array = _regrouped(known.terms, array, element_type, step.element_type, dimensions)
        else:
            array = stepped(step, array)
    return array


def _padding(known: KnownElements, written: Any, dimensions: tuple[int, ...], where: tuple[Term, int]) -> Elements:
    known.spend(prod(dimensions))
    if isinstance(written, Term) and written.is_specified:
        return filled(dimensions, known.of(written)[()])
    # What nobody promises is another thing at every place.
    scalar, outer = ArrayShape(NOTHING, ()), (known.terms.unspecified,)
    items = [known.terms.make("element", (*where, i), scalar, outer) for i in range(prod(dimensions))]
    return array_of(items, dimensions)


def _regrouped(
    terms: Terms, array: Elements, old: ElementType, new: ElementType, dimensions: tuple[int, ...]
) -> Elements:
    if old.bits == new.bits:
        return mapped(lambda item: terms.reread(item, new), [array], dimensions)
    if old.bits > new.bits:
        count = old.bits // new.bits
        parts = [mapped(partial(_part, terms, i, new), [array], array.shape) for i in range(count)]
        return np.stack(parts, axis=-1)
    rows = array.reshape(-1, new.bits // old.bits)
    return array_of([_joined(terms, new, list(row)) for row in rows], dimensions)


def _part(terms: Terms, position: int, element_type: ElementType, item: Term) -> Term:
    if item.label == "joined" and item.operands[0].array.element_type == element_type:
        return item.operands[position]
    return terms.each_as_is(("part", position), element_type, [item])


def _joined(terms: Terms, element_type: ElementType, items: Sequence[Term]) -> Term:
    source = items[0].operands[0] if items[0].label == ("part", 0) else None
    if source is None or source.array.element_type != element_type:
        return terms.each_as_is("joined", element_type, items)
    if all(item.label == ("part", i) and item.operands == (source,) for i, item in enumerate(items)):
        return source
    return terms.each_as_is("joined", element_type, items)
