"""Data movement and slices as terms: each primitive makes a term in normal form, and notes its rule."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from dialect_utils.execution.constants import as_array
from dialect_utils.hlo.text.literals import parse_scalar
from dialect_utils.ir import Function, Operation
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType, Slice, Step, Transpose
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops.domain import Domain, UndefinedError, reshaped, static_array, transposed
from dialect_utils.verdict.proof.algebra.numbers import value_of
from dialect_utils.verdict.proof.terms import CONCATENATE, Array, Moved, Term, Terms
from dialect_utils.verdict.rules import Rule
from dialect_utils.verdict.rules.formats import is_lossless
from dialect_utils.verdict.written.terms import Written, promise_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


BROADCAST = Rule(
    "broadcast", "A broadcast of a broadcast is one broadcast, and elementwise operations commute with a broadcast."
)
REVERSE = Rule(
    "reverse",
    "Two reversals of a dimension cancel each other, and elementwise operations commute with a reversal.",
)
DYNAMIC_SLICE = Rule(
    "dynamic-slice", "Start indices are clamped into range; constant indices make a slice, a slice of all is the array."
)
INDEXED = Rule(
    "indexed-dimensions",
    "The indexed dimensions of a gather may be in any order, and conversions that keep each index do not count.",
)
_S32 = ELEMENT_TYPES["s32"]

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

    def compare(self, direction: str, left: Array, right: Array, *, is_total: bool) -> Term:
        """Returns a comparison."""
        operands = [self.terms.term(left), self.terms.term(right)]
        return self.terms.each(("compare", direction, is_total), ELEMENT_TYPES["pred"], operands)

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
        return made

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
        operand, given = self.terms.term(array), [*map(self.terms.term, starts)]
        indices = self._starts(given, sizes, operand.array.dimensions)
        self.terms.note(DYNAMIC_SLICE)
        known = [bits for bits in map(self.terms.constant_bits, indices) if bits is not None]

        def written(part: Term) -> Term:
            return self.written.slice_at(part, given, sizes)

        def made(part: Term) -> Term:
            if part.kind == "splat":
                found = self.terms.splat(part.operands[0], sizes)
                self.terms.certify(DYNAMIC_SLICE.name, written(part), found)
                return found
            self.terms.certify(DYNAMIC_SLICE.name, written(part), self.written.slice_at(part, indices, sizes))
            return self.terms.term(self._sliced(part, indices, sizes))

        if len(known) < len(indices):
            return self.terms.mapped(operand, made, written, ("dynamic-slice", sizes, *given))
        limit = tuple(start + size for start, size in zip(known, sizes, strict=True))
        moved = self.move(operand, Slice(tuple(known), limit))
        self.terms.certify(DYNAMIC_SLICE.name, written(operand), self.terms.as_written(moved))
        return moved

    def _sliced(self, operand: Term, indices: Sequence[Term], sizes: tuple[int, ...]) -> Array:
        """Returns a dynamic-slice, in the arrangement of dimensions that all have."""
        form = _Arrangement.of(indices, sizes, operand)
        source, window = form.arranged(self, operand), form.sizes(sizes)
        starts = form.starts(indices, window)
        plain = form.restored(self, self.written.slice_at(self.terms.as_written(source), starts, window), sizes)
        self.terms.certify(
            DYNAMIC_SLICE.name, self.written.slice_at(operand, indices, sizes), self.terms.as_written(plain)
        )
        return form.restored(self, self.written.slice_at(self.terms.term(source), starts, window), sizes)

    def update_at(self, array: Array, update: Array, starts: Sequence[Array]) -> Array:
        """Returns a dynamic-update-slice; an update of all elements is the update."""
        sizes, part = self.dimensions(array), self.dimensions(update)
        self.terms.note(DYNAMIC_SLICE)
        given = [*map(self.terms.term, starts)]
        indices = self._starts(given, part, sizes)
        whole, new = self.terms.term(array), self.terms.term(update)
        written = self.written.update_at(whole, new, given)
        if part == sizes:
            self.terms.certify(DYNAMIC_SLICE.name, written, new)
            return new
        plain = self.written.update_at(whole, new, indices)
        self.terms.certify(DYNAMIC_SLICE.name, written, plain)
        form = _Arrangement.of(indices, part, whole)
        arrays = form.arranged(self, whole), form.arranged(self, new)
        at = form.starts(indices, self.dimensions(arrays[1]))
        made = [
            form.restored(self, self.written.update_at(*map(change, arrays), at), sizes)
            for change in (self.terms.as_written, self.terms.term)
        ]
        self.terms.certify(DYNAMIC_SLICE.name, plain, self.terms.as_written(made[0]))
        return made[1]

    def _starts(self, starts: Sequence[Term], sizes: Sequence[int], whole: Sequence[int]) -> list[Term]:
        """Returns start indices: known ones clamped, and 0 where the slice has the whole size."""
        found = []
        for index, size, full in zip(starts, sizes, whole, strict=True):
            kind, bits = index.array.element_type, self.terms.constant_bits(index)
            value = 0 if size == full else None if bits is None else value_of(kind, bits)
            assert not isinstance(value, float)  # an index is an integer
            known = None if value is None else int(max(0, min(value, full - size)))
            if known is None:
                found.append(_unconverted(index))
            else:
                found.append(self.terms.literal(_S32 if known < 1 << (_S32.bits - 1) else kind, known, ()))
        return found

    def gather(
        self,
        operation: Operation,
        array: Array,
        columns: Sequence[Array],
        windows: tuple[int, ...],
        order: tuple[int, ...],
    ) -> Term:
        """Returns a gather, which elementwise operations come after."""
        given, promise = [*map(self.terms.term, columns)], promise_of(operation, order)

        def written(part: Term) -> Term:
            return self.written.gathered(part, given, windows, promise)

        def made(part: Term) -> Term:
            if part.kind == "splat":
                found = self.terms.splat(part.operands[0], written(part).array.dimensions)
                self.terms.certify(INDEXED.name, written(part), found)
                return found
            return self._gathered(part, given, windows, promise)

        self.terms.note(INDEXED)
        return self.terms.mapped(self.terms.term(array), made, written, ("gather", windows, promise, *given))

    def ordered(self, columns: Sequence[Term], promise: Hashable) -> tuple[list[Term], list[int]]:
        """Returns columns of indices that are not converted, and their order: that in which the terms were made."""
        bare, count = [*map(_unconverted, columns)], len(columns)
        order = [*range(count)] if promise else sorted(range(count), key=lambda i: bare[i].number)
        return [bare[i] for i in order], order

    def _gathered(self, array: Term, columns: Sequence[Term], windows: tuple[int, ...], promise: Hashable) -> Term:
        """Returns a gather by columns that are not converted, in the order in which their terms were made."""
        bare, order = self.ordered(columns, promise)
        count = len(columns)
        turned = transposed(self, array, (*order, count))
        back = (0, *(1 + order.index(i) for i in range(count)), count + 1)

        def made(source: Term) -> Array:
            found = self.written.gathered(source, bare, tuple(windows[i] for i in order), promise)
            return found if order == [*range(count)] else transposed(self, found, back)

        plain = made(self.terms.as_written(turned))
        before = self.written.gathered(array, columns, windows, promise)
        self.terms.certify(INDEXED.name, before, self.terms.as_written(plain))
        return self.terms.term(made(self.terms.term(turned)))


@dataclass(frozen=True, slots=True)
class _Arrangement:
    """The arrangement of dimensions that slices and updates at computed positions have.

    The first `count` dimensions of `order` are those of which a slice is a part, in the order in which the terms of
    their start indices were made. All others are one dimension, or none if that has size 1.
    """

    order: tuple[int, ...]
    count: int

    @classmethod
    def of(cls, indices: Sequence[Term], sizes: Sequence[int], array: Term) -> _Arrangement:
        """Returns the arrangement for a slice of an array; dimensions of a transposed one have the order of before."""
        parts = [i for i, size in enumerate(sizes) if size != array.array.dimensions[i]]
        parts.sort(key=lambda i: indices[i].number)
        rest = [i for i in range(len(sizes)) if i not in parts]
        last = array.label.steps[-1] if isinstance(array.label, Plan) else None
        if isinstance(last, Transpose):
            rest.sort(key=last.permutation.__getitem__)
        return cls((*parts, *rest), len(parts))

    @property
    def _is_plain(self) -> bool:
        return self.order == (*range(len(self.order)),)

    def sizes(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """Returns the sizes of an array in the arrangement."""
        own = [sizes[i] for i in self.order]
        rest = prod(own[self.count :])
        return (*own[: self.count], *([rest] if rest != 1 else []))

    def starts(self, indices: Sequence[Term], window: Sequence[int]) -> list[Term]:
        """Returns the start indices of a slice of the sizes `window`; that of the last dimension does not count."""
        order = self.order if len(window) > self.count else self.order[: self.count]
        return [indices[i] for i in order[: len(window)]]

    def arranged(self, movement: Movement, array: Term) -> Array:
        """Returns an array in the arrangement."""
        turned = array if self._is_plain else transposed(movement, array, self.order)
        sizes = self.sizes(array.array.dimensions)
        return turned if movement.dimensions(turned) == sizes else reshaped(movement, turned, sizes)

    def restored(self, movement: Movement, array: Term, sizes: Sequence[int]) -> Array:
        """Returns an array in the arrangement as one of other sizes."""
        own = tuple(sizes[i] for i in self.order)
        found = array if array.array.dimensions == own else reshaped(movement, array, own)
        inverse = sorted(range(len(own)), key=self.order.__getitem__)
        return found if self._is_plain else transposed(movement, found, inverse)


def _unconverted(index: Term) -> Term:
    """Returns an array of indices without conversions to a type that has all numbers of the type before."""
    while index.label == "convert":
        (operand,) = index.operands
        kind = operand.array.element_type
        if not kind.is_integral or not is_lossless(kind, index.array.element_type):
            break
        index = operand
    return index
