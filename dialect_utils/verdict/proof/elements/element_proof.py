"""The elements of terms, and whether those of two terms are the same."""

from __future__ import annotations

from functools import partial
from math import prod

from dialect_utils.execution.constants import bits_of
from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.ops.domain import UndefinedError
from dialect_utils.verdict.proof.algebra.rule import Rule
from dialect_utils.verdict.proof.cases import Cases
from dialect_utils.verdict.proof.elements.arrays import Elements, Value, array_of, filled, mapped, rows
from dialect_utils.verdict.proof.elements.known import KnownElements
from dialect_utils.verdict.proof.elements.movement import moved
from dialect_utils.verdict.proof.elements.operations import OPERATIONS
from dialect_utils.verdict.proof.terms import Term, Terms

ELEMENTS = Rule("elements", "Two arrays are equal where every element is computed alike from the same elements.")


class ElementProof:
    """The elements of all terms that were asked for."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._known = KnownElements(terms)
        self._cases = Cases(terms, lambda first, second: first is second)

    def same(self, first: Term, second: Term) -> bool:
        """Is true where two terms of one shape have the same elements; false where that is not known."""
        if first.shape != second.shape:
            return False
        try:
            values = self.value(first), self.value(second)
        except UndefinedError:
            return False
        self.terms.place = None
        self.terms.note(ELEMENTS)
        if isinstance(values[0], Term) or isinstance(values[1], Term):
            return values[0] is values[1] and values[0].is_specified
        pairs = zip(values[0].flat, values[1].flat, strict=True)
        return all((a is b and a.is_specified) or self._cases.same(a, b) for a, b in pairs)

    def value(self, term: Term) -> Value:
        """Returns the elements of a term; raises GaveUpError where there are too many."""
        found: set[Term] = set()
        pending = [term]
        while pending:
            part = pending.pop()
            if part not in found and part not in self._known.values:
                found.add(part)
                pending += part.operands
        for part in sorted(found, key=lambda part: part.number):
            self.terms.place = self.terms.origins[0].get(part) or self.terms.origins[1].get(part)
            self._known.values[part] = self._value(part)
        return self._known.values[term]

    def _value(self, term: Term) -> Value:
        if not isinstance(term.shape, ArrayShape) or not term.shape.is_static:
            return self._opaque(term)
        self._known.spend(prod(term.shape.dimensions))
        match term.kind:
            case "leaf" | "element":
                return self._of_leaf(term)
            case "constant":
                return self._constant(term)
            case "splat":
                return filled(term.shape.dimensions, self._known.values[term.operands[0]][()])
            case "each" | "choice":
                return self._each(term)
            case "moved":
                return moved(self._known, term)
            case "array":
                return array_of(term.operands, term.shape.dimensions)
            case "out":
                made = self._known.values[term.operands[0]]
                if isinstance(made, list):
                    assert isinstance(term.label, int)  # the number of a result
                    return made[term.label]
                return self._of_leaf(self.terms.make("out", term.label, term.shape, (made,)))
        return self._operation(term)

    # Terms that have no parts, as far as is known

    def _of_leaf(self, term: Term) -> Elements:
        dimensions = term.array.dimensions
        if not dimensions:
            return array_of([term], ())
        scalar = ArrayShape(term.array.element_type, ())
        items = [self.terms.make("element", i, scalar, (term,)) for i in range(prod(dimensions))]
        return array_of(items, dimensions)

    def _opaque(self, term: Term) -> Value:
        """Returns an operation on operands that are told element by element."""
        if isinstance(term.label, tuple) and term.label[:2] == ("reduce", None):
            return self._reduce_in_general(term)
        operands = [self._whole(self._known.values[operand], operand.shape) for operand in term.operands]
        if term.kind == "leaf":
            return term
        return self.terms.make(term.kind, term.label, term.shape, operands)

    def _whole(self, value: Value, shape: Shape) -> Term:
        """Returns one term for an array of elements: the one whose elements they are, where there is one."""
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
        if source is not None and source.shape == shape and _are_all_of(items, source):
            return source
        if all(each is first for each in items) and first.is_specified:
            return self.terms.splat(first, value.shape)
        return self.terms.make("array", None, shape, items)

    def _constant(self, term: Term) -> Elements:
        dimensions = term.array.dimensions
        if isinstance(term.label, int):
            return array_of([term], ())
        assert isinstance(term.label, bytes)  # so constants are made
        kind = term.array.element_type
        return array_of([self.terms.literal(kind, bits, ()) for bits in bits_of(term.label, kind)], dimensions)

    # Operations

    def _each(self, term: Term) -> Elements:
        arrays = [self._known.values[operand] for operand in term.operands]
        if term.kind == "choice":
            selector, *branches = arrays
            chosen = [self.terms.choice(term.label, selector[()], items) for items in rows(branches)]
            return array_of(chosen, term.array.dimensions)
        make = partial(self._known.picks.applied, term.label, term.array.element_type)
        return mapped(make, arrays, term.array.dimensions)

    def _operation(self, term: Term) -> Value:
        label = term.label
        name = label[0] if isinstance(label, tuple) else None
        rule = OPERATIONS.get(name) if isinstance(name, str) else None
        if rule is None or (not term.operands and name != "iota"):
            return self._of_leaf(self._opaque(term))
        found = rule(self._known, term, label, *(self._known.values[operand] for operand in term.operands))
        return self._of_leaf(self._opaque(term)) if found is None else found

    def _reduce_in_general(self, term: Term) -> list[Elements]:
        *operands, function = (self._known.values[operand] for operand in term.operands)
        count = len(operands) // 2
        arrays, initial = operands[:count], [each[()] for each in operands[count:]]
        shapes = term.shape.elements  # type: ignore[union-attr]  # it is a tuple
        scalars = [ArrayShape(shape.element_type, ()) for shape in shapes if isinstance(shape, ArrayShape)]
        found: list[list[Term]] = [[] for _ in shapes]
        for row in range(arrays[0].shape[0]):
            items = [each for array in arrays for each in array[row]]
            made = self.terms.make("op", ("reduce-row", count), term.shape, (*items, *initial, function))
            for i, scalar in enumerate(scalars):
                found[i].append(self.terms.make("out", i, scalar, (made,)))
        return [array_of(items, (len(items),)) for items in found]


def _are_all_of(items: list[Term], source: Term) -> bool:
    """Is true where elements are those of one term, in order."""
    return all(
        each.kind == "element" and each.operands[0] is source and each.label == i for i, each in enumerate(items)
    )
