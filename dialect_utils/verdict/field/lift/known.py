"""What is known of an evaluation in the field: the numbers of terms so far, and what they may still cost."""

from __future__ import annotations

from collections.abc import Hashable
from math import prod

import numpy as np

from dialect_utils.layout import ArrayShape
from dialect_utils.ops import Trait, has, is_opcode
from dialect_utils.verdict.field.arithmetic import digest, mixed, word_of
from dialect_utils.verdict.field.values import (
    UnliftedError,
    Value,
    is_real,
    random_reals,
    types_over_reals,
    types_text,
    unknown,
    words_of,
)
from dialect_utils.verdict.proof.terms import Term, Terms

# Elements in all arrays of one evaluation, and products in all sums: some seconds.
_MOST_ELEMENTS = 1 << 26
_MOST_PRODUCTS = 1 << 32


class KnownNumbers:
    """The numbers of the terms that were evaluated: random ones for the inputs, by a seed."""

    def __init__(self, terms: Terms, seed: int, has_fractions: bool) -> None:
        self.terms = terms
        self.seed = seed
        self.has_fractions = has_fractions
        self.values: dict[Term, Value | int] = {}
        self._elements = 0
        self._products = 0

    def array(self, term: Term) -> Value:
        """Returns the numbers of an operand that is an array."""
        found = self.values[term]
        assert not isinstance(found, int)  # arrays have numbers
        return found

    def hold(self, shape: ArrayShape) -> None:
        """Counts elements of arrays; raises UnliftedError at too many."""
        self._elements += prod(shape.dimensions)
        if self._elements > _MOST_ELEMENTS:
            raise UnliftedError("the arrays are too large")

    def spend(self, count: int) -> None:
        """Counts products in sums; raises UnliftedError at too many."""
        self._products += count
        if self._products > _MOST_PRODUCTS:
            raise UnliftedError("the sums are too long")

    def random(self, shape: ArrayShape, word: int) -> Value:
        """Returns an array of random numbers of a shape's type."""
        places = np.arange(prod(shape.dimensions), dtype=np.uint64).reshape(shape.dimensions)
        if is_real(shape.element_type):
            return random_reals(self.seed, word, places)
        return unknown(mixed(self.seed, word, places))

    def hash(self, term: Term) -> int:
        """Returns what stands for an operation of which only that equal ones are equal is known."""
        shapes = [shape for each in (term, *term.operands) for shape in each.shape.leaves()]
        arrays = [shape for shape in shapes if isinstance(shape, ArrayShape)]
        sizes = [shape.dimensions for shape in arrays]
        types = [shape.element_type for shape in arrays]
        names = types_over_reals(types) if _is_of_reals(term.label) else types_text(types)
        words: list[int] = [word_of(repr((term.kind, term.label, sizes, names)))]
        for operand in term.operands:
            value = self.values[operand]
            words.append(value if isinstance(value, int) else digest(words_of(value)))
        return int(mixed(*words))


def _is_of_reals(label: Hashable) -> bool:
    """Is true for operations that mean the same of all floats, as reals: not for a custom call, nor a random number."""
    while isinstance(label, tuple) and label:
        label = label[0]
    return not isinstance(label, str) or not is_opcode(label) or has(label, Trait.PURE)
