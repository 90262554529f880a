"""One evaluation of a proof's terms in the field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dialect_utils.layout import ArrayShape
from dialect_utils.ops import by_opcode
from dialect_utils.verdict.field.arithmetic import word_of
from dialect_utils.verdict.field.lift import movement, slices, sums
from dialect_utils.verdict.field.lift.constants import constant
from dialect_utils.verdict.field.lift.elementwise import choice, each
from dialect_utils.verdict.field.lift.known import KnownNumbers
from dialect_utils.verdict.field.lift.movement import moved
from dialect_utils.verdict.field.values import UnliftedError, Value, words_of
from dialect_utils.verdict.proof.terms import Term, Terms


class Lift:
    """The numbers of all terms that were asked for: random ones for the inputs, by a seed.

    With `has_fractions` constants are the simplest numbers that round to them, else what their bits are.
    """

    def __init__(self, terms: Terms, seed: int, *, has_fractions: bool = False) -> None:
        self._known = KnownNumbers(terms, seed, has_fractions)

    def value(self, term: Term) -> Value | int:
        """Returns the numbers of a term (a hash for what is no array); raises UnliftedError."""
        values = self._known.values
        found: set[Term] = set()
        pending = [term]
        while pending:
            part = pending.pop()
            if part not in found and part not in values:
                found.add(part)
                pending += part.operands
        for part in sorted(found, key=lambda part: part.number):
            values[part] = _value(self._known, part)
        return values[term]

    def different(self, term: Term) -> int:
        """Returns how many different elements a term has that was evaluated."""
        found = self._known.values[term]
        return 1 if isinstance(found, int) else int(np.unique(words_of(found)).size)


def _value(known: KnownNumbers, term: Term) -> Value | int:
    """Returns the numbers of a term whose operands are known."""
    if not term.is_specified:
        raise UnliftedError("padding of a physical array is read")
    if not isinstance(term.shape, ArrayShape):
        return known.hash(term)
    _check(term.shape)
    known.hold(term.shape)
    match term.kind:
        case "leaf":
            return known.random(term.shape, word_of(repr(term.label)))
        case "constant":
            return constant(known, term)
        case "splat":
            return known.array(term.operands[0]).moved(lambda a: np.broadcast_to(a, term.array.dimensions))
        case "each":
            return each(known, term)
        case "choice":
            return choice(known, term)
        case "moved":
            return moved(known, term)
    return _operation(known, term)


def _check(shape: ArrayShape) -> None:
    if shape.element_type.is_complex:
        raise UnliftedError("complex numbers are not lifted")
    if not shape.is_static:
        raise UnliftedError("sizes that depend on data are not lifted")


def _operation(known: KnownNumbers, term: Term) -> Value:
    label = term.label
    name = label[0] if isinstance(label, tuple) else None
    rule = _OPERATIONS.get(name) if isinstance(name, str) else None
    found = rule(known, term, label) if rule is not None else None
    return known.random(term.array, known.hash(term)) if found is None else found


# By the first word of a term's label; None is returned for what is told by its operands only.
_OPERATIONS: Mapping[str, Callable[[KnownNumbers, Term, Any], Value | None]] = by_opcode(
    {
        "broadcast": movement.broadcast,
        "concatenate": movement.concatenate,
        "convolution": sums.convolution,
        "dot": sums.dot,
        "dynamic-slice": slices.dynamic_slice,
        "dynamic-update-slice": slices.dynamic_update_slice,
        "gather": slices.gather,
        "iota": movement.iota,
        "reduce": sums.reduce,
        "reduce-window": sums.reduce_window,
        "reverse": movement.reverse,
    }
)
