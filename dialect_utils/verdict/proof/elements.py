"""Arrays element by element: the fallback for terms that differ as whole arrays.

Every element is a scalar term. Data movement is then indexing, and scalar algebra decides. Arrays are equal where all
their elements are the same terms, whatever data the parameters hold. The number of elements is limited, because each
one is a term.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.execution.constants import bits_of
from dialect_utils.layout import ArrayShape, ElementType, Shape
from dialect_utils.ops.arrays import Patches
from dialect_utils.ops.domain import UndefinedError
from dialect_utils.verdict.proof.algebra.numbers import are_nan, is_rounded_function
from dialect_utils.verdict.proof.algebra.sums import reduced, sum_of_products
from dialect_utils.verdict.proof.cases import Cases
from dialect_utils.verdict.proof.dynamic_indices import DynamicIndices, Elements, array_of, mapped
from dialect_utils.verdict.proof.terms import OPTIONAL_ZERO, GaveUpError, Term, Terms
from dialect_utils.verdict.rules import Rule
from dialect_utils.verdict.rules.formats import number_bits, value_of
from dialect_utils.verdict.terms.bits import PARTS_OF_BITS, joined_bits, part_of_bits
from dialect_utils.verdict.terms.interpretation import Interpretation
from dialect_utils.verdict.terms.primitives import reachable

ELEMENTS = Rule(
    "elements", "Two arrays are equal where each element of one and of the other is the same expression of elements."
)

# Elements, or (for functions, tuples and tokens) one term.
Value = Any

# The most scalar terms of a proof, made in about two seconds.
_MOST_ELEMENTS = 150_000
_TOO_MANY = "the arrays are too large to be compared element by element"
# The type of elements without one: undefined padding, and arrays without elements.
_NOTHING = ElementType("unspecified", 0)


class ElementProof(Interpretation[Term, Elements]):
    """The elements of terms as scalar terms.

    With `enumerates_indices` a slice at an unknown start index becomes `pick`s over all values of the index; without
    it, an opaque operation. `has_open_starts` tells whether such a slice occurred.
    """

    def __init__(self, terms: Terms, *, enumerates_indices: bool = False) -> None:
        super().__init__()
        self.terms = terms
        self.enumerates_indices, self.has_open_starts = enumerates_indices, False
        self._cases = Cases(terms, lambda first, second: first is second)
        self._dynamic = DynamicIndices(terms, self.spend)
        # For an element joined by a bitcast its narrow parts; for a part of an element the wide element and the
        # position.
        self._joins: dict[Term, tuple[Term, ...]] = {}
        self._sources_of_parts: dict[Term, tuple[Term, int]] = {}
        self._count = 0

    def same(self, first: Term, second: Term) -> bool:
        """Is true where two terms of one shape are proved equal element by element."""
        if first.shape != second.shape:
            return False
        try:
            values = self.value(first), self.value(second)
        except (GaveUpError, UndefinedError):
            return False
        self.terms.place = None
        self.terms.note(ELEMENTS)
        for term, value in zip((first, second), values, strict=True):
            if not isinstance(value, Term) and not isinstance(value, list):
                self.terms.certify(ELEMENTS.name, term, self.terms.make("array", None, term.shape, [*value.flat]))
        if isinstance(values[0], Term) or isinstance(values[1], Term):
            return values[0] is values[1] and values[0].is_specified
        pairs = zip(values[0].flat, values[1].flat, strict=True)
        return all((a is b and a.is_specified) or self._same_scalars(a, b) for a, b in pairs)

    def _same_scalars(self, a: Term, b: Term) -> bool:
        return are_nan(self.terms, a, b) or is_rounded_function(self.terms, a, b) or self._cases.same(a, b)

    def value(self, term: Term) -> Value:
        """Returns the elements of a term; raises GaveUpError, before any is made, where there are too many."""
        if self._count + self._least_count(term) > _MOST_ELEMENTS:
            raise GaveUpError(_TOO_MANY)
        return super().value(term)

    def _least_count(self, term: Term) -> int:
        """Returns how many elements of a term and of its operands are not made yet, those of dynamic indices apart."""
        count, nothing = 0, tuple[Term]()
        for part in reachable([term], lambda part: nothing if part in self.values else part.operands):
            if part not in self.values and isinstance(part.shape, ArrayShape) and part.shape.is_static:
                is_dot = isinstance(part.label, tuple) and part.label[0] == "dot"
                products = part.operands[0].array.dimensions[-1] if is_dot else 0
                count += prod(part.shape.dimensions) * (1 + products)
        return count

    def interpreted(self, term: Term) -> Value:
        """Returns the elements of a term; raises GaveUpError where there are too many."""
        self.terms.place = self.terms.origins[0].get(term) or self.terms.origins[1].get(term)
        if not isinstance(term.shape, ArrayShape) or not term.shape.is_static:
            return self._opaque(term)
        self.spend(prod(term.shape.dimensions))
        match term.kind:
            case "leaf" | "element":
                return self._of_leaf(term)
            case "constant":
                return self._constant(term)
            case "splat":
                return np.broadcast_to(self.values[term.operands[0]], term.shape.dimensions)
            case "each" | "choice":
                return self._each(term)
            case "moved":
                return self.moved(term)
            case "array":
                return array_of(term.operands, term.shape.dimensions)
            case "out":
                return self._out(term)
        try:
            return self.computed(term)
        except UndefinedError:
            return self._of_leaf(self._opaque(term))

    def spend(self, count: int) -> None:
        """Counts scalar terms that are made; raises GaveUpError where there are too many."""
        self._count += count
        if self._count > _MOST_ELEMENTS:
            raise GaveUpError(_TOO_MANY)

    # Terms without known parts

    def _of_leaf(self, term: Term) -> Elements:
        dimensions = term.array.dimensions
        if not dimensions:
            return array_of([term], ())
        scalar = ArrayShape(term.array.element_type, ())
        return array_of([self.terms.make("element", i, scalar, (term,)) for i in range(prod(dimensions))], dimensions)

    def _out(self, term: Term) -> Elements:
        made = self.values[term.operands[0]]
        if isinstance(made, list):
            assert isinstance(term.label, int)  # the label is the number of a result
            return made[term.label]
        return self._of_leaf(self.terms.make("out", term.label, term.shape, (made,)))

    def _opaque(self, term: Term) -> Value:
        """Returns an operation without definition, its operands rebuilt from their elements."""
        if isinstance(term.label, tuple) and term.label[:2] == ("reduce", None):
            return self._reduced_in_general(term)
        if isinstance(term.label, tuple) and term.label[0] == "scatter":
            with suppress(UndefinedError):
                return self.scattered(term, self._applied)
        if term.kind == "leaf":
            return term
        operands = [self._whole(self.values[operand], operand.shape) for operand in term.operands]
        for operand, whole in zip(term.operands, operands, strict=True):
            self.terms.certify(ELEMENTS.name, operand, whole)
            self.terms.certify(ELEMENTS.name, whole, operand)
        return self.terms.make(term.kind, term.label, term.shape, operands)

    def _applied(self, function: Term, arrays: Sequence[Elements]) -> list[Elements]:
        """Applies a function of scalars to elements; raises UndefinedError for one that is not elementwise."""
        assert isinstance(function.label, tuple)  # (function, level, shapes, count)
        _, level, shapes, count = function.label
        variables = [self.terms.make("leaf", ("bound", level, i), shape) for i, shape in enumerate(shapes)]
        self.spend(count * len(arrays[0]))

        def applied(result: Term, *items: Term) -> Term:
            found = dict(zip(variables, items, strict=True))
            for part in _terms_within(result, variables):
                if part not in found:
                    operands = [found.get(each, each) for each in part.operands]
                    found[part] = self.terms.each(part.label, part.array.element_type, operands)
            return found.get(result, result)

        return [mapped(partial(applied, result), arrays) for result in function.operands[:count]]

    def _whole(self, value: Value, shape: Shape) -> Term:
        """Returns one term for an array of elements: the array whose elements all are, or a new `array` term."""
        if isinstance(value, Term):
            return value
        if isinstance(value, list):
            parts = [self._whole(each, part) for each, part in zip(value, shape.leaves(), strict=True)]
            return self.terms.make("array", "results", shape, parts)
        if not value.shape:
            scalar: Term = value[()]
            return scalar
        items: list[Term] = list(value.flat)
        if not items:
            return self.terms.make("array", None, shape)
        first = items[0]
        source = first.operands[0] if first.kind == "element" else None
        numbers = [each.label for each in items if each.kind == "element" and each.operands[0] is source]
        if source is not None and source.shape == shape and numbers == [*range(len(items))]:
            return source
        if all(each is first for each in items) and first.is_specified:
            return self.terms.splat(first, value.shape)
        return self.terms.make("array", None, shape, items)

    def _constant(self, term: Term) -> Elements:
        if isinstance(term.label, int):
            return array_of([term], ())
        assert isinstance(term.label, bytes)  # constants hold bits or bytes
        kind = term.array.element_type
        items = [self.terms.literal(kind, bits, ()) for bits in bits_of(term.label, kind)]
        return array_of(items, term.array.dimensions)

    # Operations

    def _each(self, term: Term) -> Elements:
        arrays = [self.values[operand] for operand in term.operands]
        if term.kind == "choice":
            selector, *branches = arrays
            return mapped(lambda *items: self.terms.choice(term.label, selector[()], items), branches)
        return mapped(partial(self._dynamic.applied, term.label, term.array.element_type), arrays)

    def select(self, make: Callable[..., NDArray[Any]], *arrays: Elements) -> Elements:
        return make(*arrays)

    def dimensions(self, array: Elements) -> tuple[int, ...]:
        sizes: tuple[int, ...] = array.shape
        return sizes

    def integers(self, array: Elements) -> NDArray[np.int64]:
        """Returns the values of constants, at most the largest signed one; raises UndefinedError for other elements."""
        constants = [self.terms.constant_bits(each) for each in array.flat]
        if None in constants or not array.size:
            raise UndefinedError("an index is not known")
        kind = array.flat[0].array.element_type
        values = [min(int(value_of(kind, bits or 0) or 0), np.iinfo(np.int64).max) for bits in constants]
        return np.array(values, np.int64).reshape(array.shape)

    def iota(self, element_type: ElementType, size: int) -> Elements:
        bits = [number_bits(element_type, i) for i in range(size)]
        if None in bits:
            raise UndefinedError(f"{element_type} does not hold each number below {size}")
        return array_of([self.terms.literal(element_type, b or 0, ()) for b in bits], (size,))

    def slice_at(self, array: Elements, starts: Sequence[Elements], sizes: Sequence[int]) -> Elements:
        lasts = [a - b for a, b in zip(array.shape, sizes, strict=True)]
        indices = self._indices(starts)
        return self._dynamic.picked(lambda at: self.sliced(array, at, sizes), indices, lasts, tuple(sizes))

    def update_at(self, array: Elements, update: Elements, starts: Sequence[Elements]) -> Elements:
        lasts = [a - b for a, b in zip(array.shape, update.shape, strict=True)]
        indices = self._indices(starts)
        return self._dynamic.picked(lambda at: self.updated(array, update, at), indices, lasts, array.shape)

    def _indices(self, starts: Sequence[Elements]) -> list[Term]:
        """Returns start indices; raises UndefinedError for unknown indices without `enumerates_indices`."""
        indices: list[Term] = [start[()] for start in starts]
        if any(self.terms.constant_bits(index) is None for index in indices):
            self.has_open_starts = True
            if not self.enumerates_indices:
                raise UndefinedError("an index is not known")
        return indices

    def contract(self, operation: Term, left: Elements, right: Elements, present: object = None) -> Elements:
        assert isinstance(operation.label, tuple)  # the label ends with the attributes
        kind, texts = operation.array.element_type, operation.label[-1]
        sizes = (*left.shape[:2], right.shape[1])
        items = []
        for b, i, j in product(*map(range, sizes)):
            items.append(sum_of_products(self.terms, kind, texts, zip(left[b, i], right[b, j], strict=True)))
        return array_of(items, sizes)

    def convolved(self, operation: Term, lhs: Elements, rhs: Elements, patches: Patches) -> Elements:
        """Returns a convolution; HLO's float padding is a distinct unknown, because engines multiply or skip it."""
        kind = operation.operands[0].array.element_type
        zero = self.terms.literal(kind, 0, ())
        is_zero = patches.has_padding or kind.is_integral
        left = patches.left(lhs)
        left[:, ~patches.present] = zero if is_zero else self.terms.make("leaf", OPTIONAL_ZERO, zero.shape)
        return patches.result(self.contract(operation, left, patches.right(rhs)))

    def combine(self, opcode: str, element_type: ElementType, array: Elements, initial: Elements) -> Elements:
        return array_of([reduced(self.terms, opcode, list(row), initial[()]) for row in array], array.shape[:1])

    def skipped(self, opcode: str, element_type: ElementType, initial: Elements) -> Elements:
        """Returns an unknown function of the initial value, for padding that is combined or skipped."""
        return mapped(lambda item: self.terms.each_as_is(("padding", opcode), element_type, [item]), [initial])

    def _reduced_in_general(self, term: Term) -> list[Elements]:
        *operands, function = (self.values[operand] for operand in term.operands)
        count = len(operands) // 2
        arrays, initial = operands[:count], [each[()] for each in operands[count:]]
        scalars = [ArrayShape(each.element_type, ()) for each in term.shape.arrays()]
        found: list[list[Term]] = [[] for _ in scalars]
        for row in range(arrays[0].shape[0]):
            items = [each for array in arrays for each in array[row]]
            made = self.terms.make("op", ("reduce-row", count), term.shape, (*items, *initial, function))
            for i, scalar in enumerate(scalars):
                found[i].append(self.terms.make("out", i, scalar, (made,)))
        return [array_of(items, (len(items),)) for items in found]

    # Padding and bitcasts

    def padding(self, written: Any, sizes: tuple[int, ...], position: tuple[Term, int]) -> Elements:
        """Returns the padding scalar; undefined padding is a distinct element at each index."""
        self.spend(prod(sizes))
        if isinstance(written, Term) and written.is_specified:
            return self.values[written]
        scalar, outer = ArrayShape(_NOTHING, ()), (self.terms.unspecified,)
        items = [self.terms.make("element", (*position, i), scalar, outer) for i in range(prod(sizes))]
        return array_of(items, sizes)

    def reread(self, array: Elements, old: ElementType, new: ElementType, sizes: tuple[int, ...]) -> Elements:
        if old.bits == new.bits:
            return mapped(lambda item: self.terms.reread(item, new), [array])
        if old.bits > new.bits:
            parts = [mapped(partial(self._part, i, new), [array]) for i in range(old.bits // new.bits)]
            return np.stack(parts, axis=-1)
        rows = array.reshape(-1, new.bits // old.bits)
        return array_of([self._joined(new, list(row)) for row in rows], sizes)

    def _part(self, position: int, element_type: ElementType, item: Term) -> Term:
        items = self._joins.get(item, ())
        if items and items[0].array.element_type == element_type:
            return items[position]
        self.terms.note(PARTS_OF_BITS)
        found = part_of_bits(self.terms, item, item.array.element_type, element_type, position)
        self._sources_of_parts.setdefault(found, (item, position))
        return found

    def _joined(self, element_type: ElementType, items: Sequence[Term]) -> Term:
        source, _ = self._sources_of_parts.get(items[0], (None, 0))
        is_whole = all(self._sources_of_parts.get(item) == (source, i) for i, item in enumerate(items))
        if source is not None and is_whole and source.array.element_type == element_type:
            return source
        self.terms.note(PARTS_OF_BITS)
        found = joined_bits(self.terms, items, items[0].array.element_type, element_type)
        self._joins[found] = tuple(items)
        return found


def _terms_within(result: Term, variables: Sequence[Term]) -> list[Term]:
    """Returns the parts of a function's result that depend on its variables, operands first.

    Raises UndefinedError where one of them is not elementwise.
    """
    found: dict[Term, None] = {}
    for part in sorted(reachable([result]), key=lambda part: part.number):
        if part in variables or any(each in found for each in part.operands):
            if part not in variables and part.kind != "each":
                raise UndefinedError("the function is not elementwise")
            found[part] = None
    return [*found]
