"""Data movement and slices as terms: each primitive makes a term in normal form, and notes its rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING

from dialect_utils.execution.constants import as_array
from dialect_utils.hlo.text.literals import parse_scalar
from dialect_utils.ir import Function, Operation
from dialect_utils.layout import ArrayShape, ElementType, Slice, Step
from dialect_utils.ops.domain import Domain, UndefinedError, reshaped, static_array, transposed
from dialect_utils.verdict.proof.algebra.numbers import value_of
from dialect_utils.verdict.proof.algebra.widening import lifted
from dialect_utils.verdict.proof.terms import Array, Moved, Term, Terms
from dialect_utils.verdict.rules import Rule
from dialect_utils.verdict.written.labels import key_of
from dialect_utils.verdict.written.terms import Written

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dialect_utils.ops.positions import GatherNumbers


BROADCAST = Rule(
    "broadcast", "A broadcast of a broadcast is one broadcast, and elementwise operations commute with a broadcast."
)
REVERSE = Rule(
    "reverse",
    "Two reversals of a dimension cancel each other, and elementwise operations commute with a reversal.",
)
CONCATENATE = Rule("concatenate", "A concatenation of concatenations along one dimension is one concatenation.")
DYNAMIC_SLICE = Rule(
    "dynamic-slice", "Start indices are clamped into range; constant indices make a slice, a slice of all is the array."
)


# The only number of a vector of one element is 0.
IOTA = "iota"


class Movement(Domain[Array]):
    """The primitives that select elements, on terms."""

    def __init__(self, terms: Terms, applied: Callable[[Function], Term]) -> None:
        self.terms = terms
        self.written: Written[Term] = Written(terms, applied)

    def _made(self, label: tuple[object, ...], shape: ArrayShape, operands: Sequence[Array]) -> Term:
        return self.terms.make("op", label, shape, [self.terms.term(each) for each in operands])

    def dimensions(self, array: Array) -> tuple[int, ...]:
        """Returns the sizes of an array."""
        return array.plan.result[1] if isinstance(array, Moved) else static_array(array.shape).dimensions

    def element_type(self, array: Array) -> ElementType:
        """Returns the element type of an array."""
        return array.plan.result[0] if isinstance(array, Moved) else static_array(array.shape).element_type

    def integers(self, array: Array) -> NDArray[np.int64]:
        """Returns the values of a constant; raises UndefinedError for others."""
        term = self.terms.term(array)
        bits, kind = self.terms.constant_bits(term), term.array.element_type
        data = term.label if term.kind == "constant" else None
        if bits is not None:
            data = bits.to_bytes(kind.storage_bytes, "little") * prod(term.array.dimensions)
        if not isinstance(data, bytes):
            raise UndefinedError("integers that are not constant")
        return as_array(data, kind, term.array.dimensions).astype("int64")

    # Elementwise operations

    def number(self, element_type: ElementType, value: float, dimensions: tuple[int, ...]) -> Term:
        """Returns an array all of whose elements are one number."""
        return self.terms.literal(element_type, parse_scalar(element_type, repr(value)), dimensions)

    def each(self, opcode: str, element_type: ElementType, operands: Sequence[Array]) -> Term:
        """Returns an elementwise operation."""
        return self.terms.each(opcode, element_type, [self.terms.term(each) for each in operands])

    # Movement

    def move(self, array: Array, step: Step, padding: Array | None = None) -> Array:
        """Returns an array after one more step; an equal number of bits is read as another type, element by element."""
        if step.regroups_bits:
            old = self.element_type(array)
            new, _ = step.result(old, self.dimensions(array))
            if old.bits == new.bits:
                return self.terms.reread(self.terms.term(array), new)
            if "pred" in (old.name, new.name):
                raise UndefinedError("truth values are not regrouped")
        return self.terms.chain(array).append(step, None if padding is None else self.terms.term(padding))

    def broadcast(self, array: Array, dimensions: Sequence[int], sizes: Sequence[int]) -> Term:
        """Returns a broadcast of an array without dimensions of size 1, whose dimensions keep their order."""
        own = self.dimensions(array)
        order = sorted(range(len(own)), key=lambda i: (own[i] == 1, dimensions[i] if own[i] != 1 else i))
        kept = [i for i in order if own[i] != 1]
        term = self.terms.term(array)
        moved = reshaped(self, transposed(self, term, order), [own[i] for i in kept])
        targets, large = tuple(dimensions[i] for i in kept), tuple(sizes)
        plain = self.written.broadcast(self.terms.as_written(moved), targets, large)
        self.terms.certify(BROADCAST.name, self.written.broadcast(term, dimensions, sizes), plain)
        return self._broadcast(self.terms.term(moved), targets, large)

    def _broadcast(self, term: Term, targets: tuple[int, ...], sizes: tuple[int, ...]) -> Term:
        terms = self.terms

        def written(part: Term) -> Term:
            return self.written.broadcast(part, targets, sizes)

        def made(part: Term) -> Term:
            if part.kind == "splat" or not part.array.dimensions:
                found = terms.splat(part.operands[0] if part.kind == "splat" else part, sizes)
                terms.certify(BROADCAST.name, written(part), found)
                return found
            if len(targets) == sum(size != 1 for size in sizes):
                return done(part, reshaped(self, part, sizes))
            if part.kind == "op" and isinstance(part.label, tuple) and part.label[0] == "broadcast":
                inner = tuple(targets[i] for i in part.label[1])
                terms.certify(BROADCAST.name, written(part), self.written.broadcast(part.operands[0], inner, sizes))
                return self._broadcast(part.operands[0], inner, sizes)
            # Dimensions of size 1 do not affect which elements are repeated.
            large = [i for i, size in enumerate(sizes) if size != 1]
            shape = ArrayShape(part.array.element_type, tuple(sizes[i] for i in large))
            label = ("broadcast", tuple(large.index(i) for i in targets))
            return done(part, reshaped(self, self._made(label, shape, [part]), sizes))

        def done(part: Term, moved: Array) -> Term:
            terms.certify(BROADCAST.name, written(part), terms.as_written(moved))
            return terms.term(moved)

        if 0 in sizes:
            return self._made(("broadcast", targets), ArrayShape(term.array.element_type, sizes), [term])
        terms.note(BROADCAST)
        return terms.mapped(term, made, written, ("broadcast", targets, sizes))

    def reverse(self, array: Array, dimensions: Sequence[int]) -> Term:
        """Returns a reversal; of a reversal the dimensions that are reversed once."""
        term, sizes = self.terms.term(array), self.dimensions(array)
        reversed_ = frozenset(i for i in dimensions if sizes[i] > 1)

        def made(part: Term) -> Term:
            if part.kind == "splat":
                return part
            inner: frozenset[int] = frozenset()
            if part.kind == "op" and isinstance(part.label, tuple) and part.label[0] == "reverse":
                inner, part = part.label[1], part.operands[0]
            rest = reversed_ ^ inner
            return self._made(("reverse", rest), part.array, [part]) if rest else part

        def written(part: Term) -> Term:
            return self.written.reverse(part, tuple(reversed_))

        def noted(part: Term) -> Term:
            found = made(part)
            self.terms.certify(REVERSE.name, written(part), found)
            return found

        plain = written(term) if reversed_ and 0 not in sizes else term
        self.terms.certify(REVERSE.name, self.written.reverse(term, dimensions), plain)
        if plain is term:
            return term
        self.terms.note(REVERSE)
        return self.terms.mapped(term, noted, written, ("reverse", reversed_))

    def concatenate(self, arrays: Sequence[Array], dimension: int) -> Term:
        """Returns a concatenation of arrays that are not empty, and not concatenations along the dimension."""
        terms = [*map(self.terms.term, arrays)]
        made = self._concatenated(terms, dimension)
        self.terms.note(CONCATENATE)
        self.terms.certify(CONCATENATE.name, self.written.concatenate(terms, dimension), made)
        return lifted(self.terms, made)

    def _concatenated(self, terms: Sequence[Term], dimension: int) -> Term:
        parts: list[Term] = []
        for part in terms:
            is_inner = part.kind == "op" and part.label == ("concatenate", dimension)
            parts += part.operands if is_inner else [part]
        kept = [part for part in parts if part.array.dimensions[dimension]] or parts[:1]
        if len(kept) == 1:
            return kept[0]
        sizes = list(kept[0].array.dimensions)
        sizes[dimension] = sum(part.array.dimensions[dimension] for part in kept)
        return self._made(("concatenate", dimension), ArrayShape(kept[0].array.element_type, tuple(sizes)), kept)

    def iota(self, element_type: ElementType, size: int) -> Term:
        """Returns the vector 0, 1, ... size - 1."""
        if size <= 1 and element_type.is_integral:
            literal = self.terms.literal(element_type, 0, (size,))
            self.terms.certify(IOTA, self.written.iota(element_type, size), literal)
            return literal
        return self._made(("iota",), ArrayShape(element_type, (size,)), [])

    # Slices at computed positions

    def slice_at(self, array: Array, starts: Sequence[Array], sizes: tuple[int, ...]) -> Array:
        """Returns a slice where all start indices are known, else a dynamic-slice."""
        operand = self.terms.term(array)
        indices = self._starts(starts, sizes, operand.array.dimensions)
        self.terms.note(DYNAMIC_SLICE)
        known = [bits for bits in map(self.terms.constant_bits, indices) if bits is not None]
        made: Array
        if len(known) == len(indices):
            limit = tuple(start + size for start, size in zip(known, sizes, strict=True))
            made = self.move(operand, Slice(tuple(known), limit))
        elif operand.kind == "splat":
            made = self.terms.splat(operand.operands[0], sizes)
        else:
            made = self._made(("dynamic-slice",), ArrayShape(operand.array.element_type, sizes), [operand, *indices])
        written = self.written.slice_at(operand, [*map(self.terms.term, starts)], sizes)
        self.terms.certify(DYNAMIC_SLICE.name, written, self.terms.as_written(made))
        return lifted(self.terms, made) if isinstance(made, Term) else made

    def update_at(self, array: Array, update: Array, starts: Sequence[Array]) -> Array:
        """Returns a dynamic-update-slice; an update of all elements is the update."""
        sizes, part = self.dimensions(array), self.dimensions(update)
        self.terms.note(DYNAMIC_SLICE)
        indices = self._starts(starts, part, sizes)
        whole, new = self.terms.term(array), self.terms.term(update)
        shape = ArrayShape(self.element_type(array), sizes)
        made = new if part == sizes else self._made(("dynamic-update-slice",), shape, [whole, new, *indices])
        written = self.written.update_at(whole, new, [*map(self.terms.term, starts)])
        self.terms.certify(DYNAMIC_SLICE.name, written, made)
        return lifted(self.terms, made)

    def _starts(self, starts: Sequence[Array], sizes: Sequence[int], whole: Sequence[int]) -> list[Term]:
        """Returns start indices: known ones clamped, and 0 where the slice has the whole size."""
        found = []
        for index, size, full in zip(map(self.terms.term, starts), sizes, whole, strict=True):
            kind, bits = index.array.element_type, self.terms.constant_bits(index)
            value = 0 if size == full else None if bits is None else value_of(kind, bits)
            assert not isinstance(value, float)  # an index is an integer
            known = None if value is None else int(max(0, min(value, full - size)))
            found.append(index if known is None else self.terms.literal(kind, known, ()))
        return found

    def gather(
        self, operation: Operation, array: Array, starts: Array, numbers: GatherNumbers, sizes: tuple[int, ...]
    ) -> Term:
        """Returns a gather."""
        label = ("gather", numbers, key_of(operation)[2])
        return lifted(self.terms, self._made(label, ArrayShape(self.element_type(array), sizes), [array, starts]))
