"""The terms of a proof in the field: random numbers for the inputs, and the primitives on them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.ops import Trait, has, is_opcode
from dialect_utils.ops.arrays import Patches
from dialect_utils.ops.domain import UndefinedError
from dialect_utils.verdict.field import functions, integers
from dialect_utils.verdict.field.arithmetic import Moduli, Words
from dialect_utils.verdict.field.constants import Heights, constant
from dialect_utils.verdict.field.conventions import Convention, is_extreme, is_forwarding
from dialect_utils.verdict.field.derived import Formula, Known
from dialect_utils.verdict.field.draw import Draw
from dialect_utils.verdict.field.elementwise import choice, each, logic
from dialect_utils.verdict.field.values import (
    Real,
    UnliftedError,
    Value,
    Whole,
    is_real,
    merged,
    random_reals,
    types_over_reals,
    types_text,
    unknown,
    whole_reals,
    words_of,
)
from dialect_utils.verdict.proof.terms import OPTIONAL_ZERO, Term, Terms
from dialect_utils.verdict.terms.interpretation import Interpretation
from dialect_utils.verdict.terms.primitives import reachable

# Elements in all arrays of one evaluation, and products in all sums: some seconds.
_MOST_ELEMENTS = 1 << 26
_MOST_PRODUCTS = 1 << 32


@dataclass(frozen=True, slots=True)
class Meaning:
    """How terms are read as numbers: with `has_fractions` a constant is the simplest fraction that rounds to it.

    An operation that needs a convention of `without` is a random function instead. With `expands` the logarithm of a
    product is a sum, and a constant of `derived` is the number of its formula.
    """

    has_fractions: bool = False
    without: frozenset[Convention] = frozenset()
    expands: bool = False
    derived: tuple[tuple[Known, Formula], ...] = ()


EXACT = Meaning()


class Lift(Interpretation[Term, Value]):
    """The values of terms in the field; the inputs are random numbers."""

    def __init__(self, terms: Terms, draw: Draw, meaning: Meaning = EXACT) -> None:
        super().__init__()
        self.terms = terms
        self.draw = draw
        self.has_fractions, self.expands = meaning.has_fractions, meaning.expands
        self.derived = dict(meaning.derived)
        self.heights = Heights()
        # Constants with an infinity or NaN, and terms that forward such an element, with the conventions needed.
        self.special: dict[Term, frozenset[Convention]] = {}
        self._without = meaning.without
        self._assumed: dict[Term, set[Convention]] = {}
        # Terms computed from an infinite or NaN constant: such a term need not be finite.
        self._unbounded: set[Term] = set()
        self._constants: set[Term] = set()
        self._with_bits: set[Term] = set()
        self._term: Term | None = None
        # Whether the current term or one of its operands is complex.
        self.is_complex = False
        self.element_count = 0
        self._products = 0

    def assumes(self, *conventions: Convention) -> bool:
        """Records that the current term needs conventions; returns false if one of them is excluded."""
        if not self._without.isdisjoint(conventions):
            return False
        if self._term is not None and conventions:
            self._assumed.setdefault(self._term, set()).update(conventions)
        return True

    def assumed(self, terms: Iterable[Term]) -> frozenset[Convention]:
        """Returns the conventions that terms and all terms below them need."""
        return frozenset(each for term in reachable(terms) for each in self._assumed.get(term, ()))

    def are_numbers(self, terms: Iterable[Term], *conventions: Convention) -> bool:
        """Records that terms are finite by conventions; false if a convention is excluded or a term may be infinite."""
        return self._unbounded.isdisjoint(terms) and self.assumes(*conventions)

    def is_constant(self, term: Term) -> bool:
        """Is true for a term that depends neither on an input nor on an unknown function."""
        return term in self._constants

    def have_known_bits(self, terms: Iterable[Term]) -> bool:
        """Is true where equal numbers in terms have equal bits: for moved inputs, but not for sums, which round."""
        return self._with_bits.issuperset(terms)

    def array(self, term: Term) -> Value:
        """Returns the value of an operand that is an array."""
        found: Value | int = self.values[term]
        assert not isinstance(found, int)  # only tuples and functions are hashes
        return found

    def different(self, term: Term) -> int:
        """Returns how many different elements a term has."""
        found = self.values[term]
        return 1 if isinstance(found, int) else int(np.unique(words_of(found)).size)

    def interpreted(self, term: Term) -> Value | int:
        """Returns the value of an array, or a hash of a tuple or function; raises UnliftedError."""
        if not term.is_specified:
            raise UnliftedError("padding of a physical array is read")
        if not isinstance(term.shape, ArrayShape):
            return self.hash(term)
        self._hold(term.shape)
        self._term = term
        self.is_complex = any(
            each.element_type.is_complex for part in (term, *term.operands) for each in part.shape.arrays()
        )
        is_made = term.kind in ("splat", "moved", "each") and self._constants.issuperset(term.operands)
        if term.kind == "constant" or is_made:
            self._constants.add(term)
        identities = {each for each in term.operands if is_extreme(term) and self.is_constant(each)}
        others = {*term.operands} - identities
        if not (self.special.keys().isdisjoint(others) and self._unbounded.isdisjoint(others)):
            self._unbounded.add(term)
        has_laws = self._assumes_special(term)
        found = self._of_array(term) if has_laws else self.random(term.array, self.hash(term))
        if isinstance(found, Whole) or self._has_bits(term):
            self._with_bits.add(term)
        return found

    def _of_array(self, term: Term) -> Value:
        """Returns the value of an array by the kind of its term."""
        match term.kind:
            case "leaf":
                if term.label == OPTIONAL_ZERO:
                    return whole_reals(self.draw, np.zeros((), np.uint64))
                return self.random(term.array, self.draw.hashes.word_of(repr(term.label)))
            case "constant":
                return constant(self, term)
            case "splat":
                return self.array(term.operands[0]).moved(lambda a: np.broadcast_to(a, term.array.dimensions))
            case "each":
                return each(self, term)
            case "choice":
                return choice(self, term)
            case "moved":
                return self.moved(term)
        try:
            return self.computed(term)
        except UndefinedError:
            return self.random(term.array, self.hash(term))

    def _has_bits(self, term: Term) -> bool:
        """Is true for inputs and moved inputs. Constants are excluded: 0 and -0 are one number."""
        is_moved = is_forwarding(term) and term.label != "convert"
        return term.kind == "leaf" or (is_moved and self.have_known_bits(term.operands))

    def _assumes_special(self, term: Term) -> bool:
        """Records that a term computes with an infinity or NaN; returns false if that convention is excluded."""
        found = frozenset(each for operand in term.operands for each in self.special.get(operand, ()))
        if is_extreme(term):
            found -= {Convention.INFINITY}
        if found and is_forwarding(term):
            self.special[term] = found
            return True
        return self.assumes(*found)

    def _hold(self, shape: ArrayShape) -> None:
        """Counts the elements of arrays; raises UnliftedError at too many, and for other types."""
        if not shape.is_static:
            raise UnliftedError("sizes that depend on data are not lifted")
        self.element_count += prod(shape.dimensions)
        if self.element_count > _MOST_ELEMENTS:
            raise UnliftedError("the arrays are too large")

    def spend(self, count: int) -> None:
        """Counts products in sums; raises UnliftedError at too many."""
        self._products += count
        if self._products > _MOST_PRODUCTS:
            raise UnliftedError("the sums are too long")

    def random(self, shape: ArrayShape, word: int) -> Value:
        """Returns an array of random numbers of a shape's type."""
        words = self.draw.hashes.sequence(word, prod(shape.dimensions)).reshape(shape.dimensions)
        if is_real(shape.element_type):
            return Real(self.draw, *self.draw.residues_of_inputs(words[None]))
        return unknown(self.draw, words)

    def hash(self, term: Term) -> int:
        """Returns a hash of an operation, equal only for equal operations on equal operands."""
        shapes = [shape for each in (term, *term.operands) for shape in each.shape.arrays()]
        sizes = [shape.dimensions for shape in shapes]
        types = [shape.element_type for shape in shapes]
        names = types_over_reals(types) if _is_of_reals(term.label) else types_text(types)
        hashes = self.draw.hashes
        words: list[int] = [hashes.word_of(repr((term.kind, term.label, sizes, names)))]
        for operand in term.operands:
            value = self.values[operand]
            words.append(value if isinstance(value, int) else hashes.digest(words_of(value)))
        return int(hashes.mixed(*words))

    # Movement

    def select(self, make: Callable[..., NDArray[Any]], *arrays: Value) -> Value:
        return arrays[0].moved(make) if len(arrays) == 1 else merged(list(arrays), lambda parts: make(*parts))

    def dimensions(self, array: Value) -> tuple[int, ...]:
        return array.dimensions

    def index(self, term: Term) -> Value:
        """Returns start indices; known ones as words of 64 bits, whatever their type."""
        value = self.array(term)
        return self.index_at(term) if isinstance(value, Whole) and value.is_known else value

    def index_at(self, term: Term) -> Value:
        """Returns the indices of elements, each known one as a word of 64 bits."""
        value = self.array(term)
        return integers.positions(value, term.array.element_type) if isinstance(value, Whole) else value

    def integers(self, array: Value) -> NDArray[np.int64]:
        if not isinstance(array, Whole) or not array.is_known or not array.words.size:
            raise UndefinedError("an index is not known")
        return array.words.astype(np.int64)

    def iota(self, element_type: ElementType, size: int) -> Value:
        numbers = np.arange(size, dtype=np.int64)
        if element_type.is_integral:
            return integers.known(self.draw, numbers, element_type)
        if not element_type.is_floating:
            raise UndefinedError(f"{element_type} does not count")
        return whole_reals(self.draw, numbers)

    def padding(self, written: Any, sizes: tuple[int, ...], position: tuple[Term, int]) -> Value:
        """Returns a padding value; undefined padding is not lifted."""
        assert isinstance(written, Term)  # undefined padding is not specified
        return self.array(written)

    def skipped(self, opcode: str, element_type: ElementType, initial: Value) -> Value:
        """Returns the padding of a window, as a random function of the initial value."""
        hashes = self.draw.hashes
        name = hashes.word_of(f"padding {opcode} {types_over_reals([element_type])}")
        word = hashes.mixed(name, words_of(initial))
        return random_reals(self.draw, word) if is_real(element_type) else unknown(self.draw, word)

    def reread(self, array: Value, old: ElementType, new: ElementType, sizes: tuple[int, ...]) -> Value:
        """Returns bits read as another type, as a random function of the elements that hold the bits."""
        hashes, text = self.draw.hashes, f"{old} {new}"
        if self._term is not None and not self.have_known_bits(self._term.operands):
            text = f"{text} {self._term.number}"
        words, name = words_of(array), hashes.word_of(text)
        if old.bits > new.bits:
            places = np.broadcast_to(np.arange(old.bits // new.bits, dtype=np.uint64), sizes)
            made = hashes.mixed(name, words[..., None], places)
        else:
            rows = words.reshape(-1, new.bits // old.bits)
            made = hashes.mixed(name, *(rows[:, i] for i in range(rows.shape[1]))).reshape(sizes)
        return random_reals(self.draw, made) if is_real(new) else unknown(self.draw, made)

    # Sums, products and extremes

    def contract(self, operation: Term, left: Value, right: Value, present: NDArray[np.bool_] | None = None) -> Value:
        """Returns sums of products of reals; padding is 0. Integers wrap around, and a sum of truth values is an or."""
        return self._summed(operation, left, right, Moduli.matmul)

    def convolved(self, operation: Term, lhs: Value, rhs: Value, patches: Patches) -> Value:
        """Returns a convolution, with the patches of one residue at a time in memory."""

        def summed(moduli: Moduli, a: Words, b: Words) -> Words:
            rounds = zip(moduli.alone(), a, b, strict=True)
            return np.stack(
                [patches.result(one.matmul(patches.left(x)[None], patches.right(y)[None])[0]) for one, x, y in rounds]
            )

        return self._summed(operation, lhs, rhs, summed)

    def _summed(self, operation: Term, left: Value, right: Value, summed: Callable[..., Words]) -> Real:
        if not isinstance(left, Real) or not isinstance(right, Real) or not operation.array.element_type.is_inexact:
            raise UndefinedError("only products of reals are summed")
        first = summed(self.draw.first, left.first, right.first)
        return Real(self.draw, first, summed(self.draw.second, left.second, right.second))

    def combine(self, opcode: str, element_type: ElementType, array: Value, initial: Value) -> Value:
        if isinstance(array, Real) and isinstance(initial, Real):
            start = initial.moved(lambda a: np.broadcast_to(a, array.dimensions[:1]))
            found = _combined_reals(opcode, element_type, array, start)
            if found is not None:
                return found
        is_known = not isinstance(array, Whole) or not isinstance(initial, Whole) or array.is_known
        if is_known or opcode not in integers.SORTED:
            raise UndefinedError(f"{opcode} does not combine {element_type} in the field")
        # A sum of hashes does not depend on their order.
        with np.errstate(over="ignore"):
            hashes = self.draw.hashes
            hashed = hashes.mixed(hashes.word_of(f"{opcode} {element_type}"), words_of(array))
            total = hashed.sum(axis=1, dtype=np.uint64)
        return unknown(self.draw, hashes.mixed(total, words_of(initial)))


def _combined_reals(opcode: str, element_type: ElementType, array: Real, start: Real) -> Real | None:
    """Returns [rows, reduced] combined along the second dimension; None for unknown operations."""
    if element_type.name == "pred":
        if opcode not in ("and", "or"):
            return None
        columns = [array.moved(partial(np.take, indices=i, axis=1)) for i in range(array.dimensions[1])]
        return logic(opcode, [start, *columns])
    # Sums, products and extremes of reals.
    match opcode:
        case "add":
            return functions.add(functions.total(array, 1), start)
        case "multiply":
            return functions.multiply(functions.product(array, 1), start)
        case "maximum" | "minimum":
            inner = functions.reduced_extreme(opcode, array, 1)
            return functions.extreme(opcode, [inner, start])
    return None


def _is_of_reals(label: Hashable) -> bool:
    """Is true for operations whose real value does not depend on the float type: not for a custom call or `rng`."""
    while isinstance(label, tuple) and label:
        label = label[0]
    return not isinstance(label, str) or not is_opcode(label) or has(label, Trait.PURE)
