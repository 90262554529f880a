"""Slices, updates, gathers and scatters at computed positions, as terms in normal form."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import prod

from dialect_utils.ir import Operation
from dialect_utils.layout import ELEMENT_TYPES, Reshape, Slice
from dialect_utils.layout.moves.plan import Plan, try_with_leading
from dialect_utils.layout.moves.steps import inverse_permutation
from dialect_utils.ops.domain import Scatter, reshaped, section, transposed
from dialect_utils.verdict.proof.algebra.widening import lifted
from dialect_utils.verdict.proof.contractions import Order, in_last_order, last_order, out_of_last_order
from dialect_utils.verdict.proof.movement import Movement, after
from dialect_utils.verdict.proof.normal_forms import split
from dialect_utils.verdict.proof.sources import array_order
from dialect_utils.verdict.proof.terms import MOVED, Array, Term
from dialect_utils.verdict.rules import Rule
from dialect_utils.verdict.rules.formats import is_lossless, value_of
from dialect_utils.verdict.terms.primitives import promise_of

DYNAMIC_SLICE = Rule(
    "dynamic-slice", "Start indices are clamped into range; constant indices make a slice, a slice of all is the array."
)
INDEXED = Rule(
    "indexed-dimensions",
    "The indexed dimensions of a gather may be in any order, and conversions that keep each index do not count.",
)
PADDED = Rule("gather-of-padding", "Padding of the dimensions that a gather does not index may come after the gather.")
COLUMNS = Rule(
    "columns", "A gather or scatter of short rows is one for each element of the rows, in which no index moves."
)
# A step that reorders the window dimensions of a gather or scatter.
WINDOW_ORDER = "window-order"
# The most elements of a row that is split into columns.
MOST_COLUMNS = 16
_S32 = ELEMENT_TYPES["s32"]


class Slices(Movement):
    """The primitives that select or write elements at computed positions, on terms."""

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
        """Returns a dynamic-slice in the normal arrangement of dimensions."""
        form = _Arrangement.of(indices, sizes, operand.array.dimensions, array_order(self.terms, [operand]))
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
        decides = new if whole.kind == "splat" else whole
        form = _Arrangement.of(indices, part, sizes, array_order(self.terms, [decides]))
        source, window = form.arranged(self, whole), form.arranged(self, new)
        at = form.starts(indices, self.dimensions(window))

        as_is = self.written.update_at(self.terms.as_written(source), self.terms.as_written(window), at)
        self.terms.certify(DYNAMIC_SLICE.name, plain, self.terms.as_written(form.restored(self, as_is, sizes)))
        updated = self.written.update_at(self.terms.term(source), self.terms.term(window), at)
        return form.restored(self, lifted(self.terms, updated), sizes)

    def _starts(self, starts: Sequence[Term], sizes: Sequence[int], whole: Sequence[int]) -> list[Term]:
        """Returns start indices: known indices clamped, and 0 for a slice of the whole dimension."""
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
        """Returns a gather in normal form; the gather of f(x) becomes f of the gather of x for elementwise f."""
        given = [*map(self.terms.term, columns)]
        self.terms.note(INDEXED)
        return self._gather(self.terms.term(array), given, windows, promise_of(operation, order))

    def _gather(self, array: Term, columns: Sequence[Term], windows: tuple[int, ...], promise: Hashable) -> Term:
        def written(part: Term) -> Term:
            return self.written.gathered(part, columns, windows, promise)

        def made(part: Term) -> Term:
            if part.kind == "splat":
                found = self.terms.splat(part.operands[0], written(part).array.dimensions)
                self.terms.certify(INDEXED.name, written(part), found)
                return found
            padded = self._gathered_before(part, columns, windows, promise)
            if padded is not None:
                return padded
            if (order := last_order(self.terms, part)) is not None:
                return self._gathered_in_order(part, columns, windows, promise, order)
            if _is_row(part):
                return self._gathered_columns(part, columns, windows, promise)
            return self._gathered(part, columns, windows, promise)

        return self.terms.mapped(array, made, written, ("gather", windows, promise, *columns))

    def _gathered_in_order(
        self, array: Term, columns: Sequence[Term], windows: tuple[int, ...], promise: Hashable, order: Order
    ) -> Term:
        """Returns a gather whose window dimensions have the order of the source array."""
        turned = after(self.terms, array, in_last_order(array.array.dimensions, order))
        plain = self.written.gathered(self.terms.as_written(turned), columns, windows, promise)
        undone = out_of_last_order(plain.array.dimensions, order)
        before = self.written.gathered(array, columns, windows, promise)
        self.terms.certify(WINDOW_ORDER, before, self.terms.as_written(after(self.terms, plain, undone)))
        found = self._gather(self.terms.term(turned), columns, windows, promise)
        return self.terms.term(after(self.terms, found, undone))

    def _gathered_columns(
        self, array: Term, columns: Sequence[Term], windows: tuple[int, ...], promise: Hashable
    ) -> Term:
        """Returns a gather of short rows as the concatenation of one gather per column."""
        parts, last = self._columns(array), len(windows) + 1
        plain = [self.written.gathered(self.terms.as_written(part), columns, windows, promise) for part in parts]
        before = self.written.gathered(array, columns, windows, promise)
        self.terms.step(COLUMNS, before, self.written.concatenate(plain, last))
        return self.concatenate(
            [self._gather(self.terms.term(part), columns, windows, promise) for part in parts], last
        )

    def _columns(self, array: Term) -> list[Array]:
        """Returns the columns of an array: slices of size 1 of the last dimension."""
        sizes = array.array.dimensions
        return [section(self, array, len(sizes) - 1, 1, k) for k in range(sizes[-1])]

    def _gathered_before(
        self, array: Term, columns: Sequence[Term], windows: tuple[int, ...], promise: Hashable
    ) -> Term | None:
        """Returns gather(pad(x)) as pad(gather(x)) for padding of unindexed dimensions; None without such padding."""
        chain, count = self.terms.chain(array), len(windows)
        before, after = split(chain.plan) if chain.plan.adds_elements else (chain.plan, chain.plan.part(0, 0))
        sizes = (*columns[0].array.dimensions, *windows)
        moved = try_with_leading(after, count, sizes)
        if not after.adds_elements or moved is None:
            return None
        whole = self.terms.moved_as_is(self.terms.moved_as_is(chain.base, before), after)
        self.terms.certify(MOVED, array, whole)
        lead = after.dimensions[:count]
        flat = reshaped(self, self.terms.chain(chain.base).then(before), (*lead, prod(after.dimensions[count:])))
        plain = self.written.gathered(self.terms.as_written(flat), columns, windows, promise)
        back = Plan(after.element_type, plain.array.dimensions, (Reshape(moved.dimensions),)).then(moved)
        written = self.written.gathered(whole, columns, windows, promise)
        self.terms.step(PADDED, written, self.terms.moved_as_is(plain, back))
        found = self._gather(self.terms.term(flat), columns, windows, promise)
        return self.terms.term(self.terms.chain(found).then(back))

    def ordered(self, columns: Sequence[Term], promise: Hashable) -> tuple[list[Term], list[int]]:
        """Returns index columns without conversions, sorted by the age of their terms, and the permutation."""
        bare, count = [*map(_unconverted, columns)], len(columns)
        order = [*range(count)] if promise else sorted(range(count), key=lambda i: bare[i].number)
        return [bare[i] for i in order], order

    def _gathered(self, array: Term, columns: Sequence[Term], windows: tuple[int, ...], promise: Hashable) -> Term:
        """Returns a gather with unconverted index columns in the order of `ordered`."""
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

    def scatter_at(
        self, scatter: Scatter, arrays: Sequence[Array], columns: Sequence[Array], updates: Sequence[Array]
    ) -> list[Array]:
        """Returns a scatter; a scatter of short rows becomes one scatter per column."""
        wholes, given, news = ([*map(self.terms.term, each)] for each in (arrays, columns, updates))
        (whole, *others), new = wholes, news[0]
        if (windows := last_order(self.terms, new if whole.kind == "splat" else whole)) is not None:
            return self._scattered_in_order(scatter, wholes, given, news, windows)
        if others or not _is_row(whole):
            return self._scattered(scatter, wholes, given, news)
        last = len(columns)
        pairs = [*zip(self._columns(whole), self._columns(new), strict=True)]

        def written(array: Term, update: Term) -> Term:
            [made] = self.written.scatter_at(scatter, [array], given, [update])
            return made

        plain = [written(*map(self.terms.as_written, pair)) for pair in pairs]
        self.terms.step(COLUMNS, written(whole, new), self.written.concatenate(plain, last))
        found = [
            self._scattered(scatter, [self.terms.term(part)], given, [self.terms.term(row)]) for part, row in pairs
        ]
        return [self.concatenate([each for [each] in found], last)]

    def _scattered_in_order(
        self, scatter: Scatter, arrays: Sequence[Term], columns: Sequence[Term], updates: Sequence[Term], windows: Order
    ) -> list[Array]:
        """Returns a scatter whose window dimensions have the order of the source array."""
        turned, moved = (
            [after(self.terms, each, in_last_order(each.array.dimensions, windows)) for each in part]
            for part in (arrays, updates)
        )

        def undone(array: Term) -> Array:
            return after(self.terms, array, out_of_last_order(array.array.dimensions, windows))

        written = self.written.scatter_at(scatter, arrays, columns, updates)
        plain = [*map(self.terms.as_written, turned)], columns, [*map(self.terms.as_written, moved)]
        for old, new in zip(written, self.written.scatter_at(scatter, *plain), strict=True):
            self.terms.certify(WINDOW_ORDER, old, self.terms.as_written(undone(new)))
        return [undone(self.terms.term(each)) for each in self.scatter_at(scatter, turned, columns, moved)]

    def _scattered(
        self, scatter: Scatter, arrays: Sequence[Term], columns: Sequence[Term], updates: Sequence[Term]
    ) -> list[Array]:
        """Returns a scatter with unconverted index columns in the order of `ordered`."""
        bare, places = self.ordered(columns, promise_of(scatter.operation, scatter.order))
        count = len(bare)
        turned = [transposed(self, each, (*places, count)) for each in arrays]
        windows = [transposed(self, each, (0, *(1 + i for i in places), count + 1)) for each in updates]
        back = [*sorted(range(count), key=places.__getitem__), count]

        def made(change: Callable[[Array], Term]) -> list[Array]:
            found = self.written.scatter_at(scatter, [*map(change, turned)], bare, [*map(change, windows)])
            return [each if back == sorted(back) else transposed(self, each, back) for each in found]

        self.terms.note(INDEXED)
        written = self.written.scatter_at(scatter, arrays, columns, updates)
        for old, new in zip(written, made(self.terms.as_written), strict=True):
            self.terms.certify(INDEXED.name, old, self.terms.as_written(new))
        return made(self.terms.term)


@dataclass(frozen=True, slots=True)
class _Arrangement:
    """The normal arrangement of dimensions for slices and updates at computed positions.

    The first `count` dimensions of `order` are sliced, sorted by the age of their start indices. All other dimensions
    are joined into one, which is dropped if its size is 1.
    """

    order: tuple[int, ...]
    count: int

    @classmethod
    def of(
        cls, indices: Sequence[Term], sizes: Sequence[int], whole: Sequence[int], order: Sequence[int]
    ) -> _Arrangement:
        """Returns the arrangement for a slice of an array of the sizes `whole`; the other dimensions have an order."""
        parts = [i for i, size in enumerate(sizes) if size != whole[i]]
        parts.sort(key=lambda i: indices[i].number)
        return cls((*parts, *(i for i in order if i not in parts)), len(parts))

    @property
    def _is_plain(self) -> bool:
        return self.order == (*range(len(self.order)),)

    def sizes(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """Returns the sizes of an array in the arrangement."""
        own = [sizes[i] for i in self.order]
        rest = prod(own[self.count :])
        return (*own[: self.count], *([rest] if rest != 1 else []))

    def starts(self, indices: Sequence[Term], window: Sequence[int]) -> list[Term]:
        """Returns the start indices of a slice of the sizes `window`, with 0 for the joined dimension."""
        order = self.order if len(window) > self.count else self.order[: self.count]
        return [indices[i] for i in order[: len(window)]]

    def arranged(self, movement: Movement, array: Term) -> Array:
        """Returns an array in the arrangement."""
        turned = array if self._is_plain else transposed(movement, array, self.order)
        sizes = self.sizes(array.array.dimensions)
        return turned if movement.dimensions(turned) == sizes else reshaped(movement, turned, sizes)

    def restored(self, movement: Movement, array: Term, sizes: Sequence[int]) -> Array:
        """Returns an arranged array with the original order of dimensions and the sizes `sizes`."""
        own = tuple(sizes[i] for i in self.order)
        found = array if array.array.dimensions == own else reshaped(movement, array, own)
        inverse = inverse_permutation(self.order)
        return found if self._is_plain else transposed(movement, found, inverse)


def _is_row(array: Term) -> bool:
    """Is true for an array with several, but few, elements in its last dimension."""
    sizes = array.array.dimensions
    return 1 < sizes[-1] <= MOST_COLUMNS and 0 not in sizes


def _unconverted(index: Term) -> Term:
    """Returns an array of indices without lossless integer conversions."""
    while index.label == "convert":
        (operand,) = index.operands
        kind = operand.array.element_type
        if not kind.is_integral or not is_lossless(kind, index.array.element_type):
            break
        index = operand
    return index
