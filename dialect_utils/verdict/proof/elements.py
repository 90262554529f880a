"""Arrays element by element: what is left where two terms are not one.

Every element is a scalar term, so data movement of any kind is plain indexing, and the algebra of scalars decides.
Arrays of different origin are equal where all their elements are the same terms. Nothing here depends on what
data the parameters hold; sizes are limited, because each element is one term.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial, singledispatch
from itertools import product
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dialect_utils.hlo.windows import WindowDimension
from dialect_utils.layout import ArrayShape, BitcastConvert, ElementType, Pad, Reshape, Slice, Step, Transpose
from dialect_utils.verdict.proof.algebra import ring
from dialect_utils.verdict.proof.algebra.numbers import float_bits, value_of
from dialect_utils.verdict.proof.algebra.rule import Rule
from dialect_utils.verdict.proof.array_ops.reductions import is_exact, neutral_bits
from dialect_utils.verdict.proof.cases import Cases
from dialect_utils.verdict.proof.contents import bits_of
from dialect_utils.verdict.proof.gathers import gathered_indices
from dialect_utils.verdict.proof.terms import GaveUpError, Term, Terms
from dialect_utils.verdict.proof.windows import window_indices

# Scalar terms that a proof makes before it gives up: about two seconds.
_MOST_ELEMENTS = 150_000

ELEMENTS = Rule("elements", "Two arrays are equal where every element is computed alike from the same elements.")
ONE_SUM = Rule(
    "one-sum", "One reduction by a commutative operation may take its terms in any order (the engine's choice)."
)
PICK = Rule("pick", "A slice at a computed place is one of finitely many: the start index is clamped into range.")

# Element terms in an array of objects, or (for functions, tuples and tokens) one term.
Value = Any
# Arrays of terms, for which numpy has no type; their rows are arrays, too, their items terms.
Elements = Any


class ElementProof:
    """The elements of all terms that were asked for."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self._values: dict[Term, Value] = {}
        self._sources: dict[tuple[Term, int], tuple[Term, list[int]] | None] = {}
        self._count = 0
        self._cases = Cases(terms, lambda first, second: first is second)

    def same(self, first: Term, second: Term) -> bool:
        """Is true where two terms of one shape have the same elements; false where that is not known."""
        if first.shape != second.shape:
            return False
        try:
            values = self.value(first), self.value(second)
        except GaveUpError:
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
            if part not in found and part not in self._values:
                found.add(part)
                pending += part.operands
        for part in sorted(found, key=lambda part: part.number):
            self.terms.place = self.terms.origins[0].get(part) or self.terms.origins[1].get(part)
            self._values[part] = self._value(part)
        return self._values[term]

    def _spend(self, count: int) -> None:
        self._count += count
        if self._count > _MOST_ELEMENTS:
            raise GaveUpError("the arrays are too large to be compared element by element")

    def _value(self, term: Term) -> Value:
        if not isinstance(term.shape, ArrayShape) or not term.shape.is_static:
            return self._opaque(term)
        self._spend(prod(term.shape.dimensions))
        match term.kind:
            case "leaf" | "element":
                return self._of_leaf(term)
            case "constant":
                return self._constant(term)
            case "splat":
                return _filled(term.shape.dimensions, self._values[term.operands[0]][()])
            case "each" | "choice":
                return self._each(term)
            case "moved":
                return self._moved(term)
            case "array":
                return _array(term.operands, term.shape.dimensions)
            case "out":
                made = self._values[term.operands[0]]
                if isinstance(made, list):
                    assert isinstance(term.label, int)  # the number of a result
                    return made[term.label]
                return self._of_leaf(self.terms.make("out", term.label, term.shape, (made,)))
        return self._operation(term)

    # Terms that have no parts, as far as is known

    def _of_leaf(self, term: Term) -> Elements:
        dimensions = term.array.dimensions
        if not dimensions:
            return _array([term], ())
        scalar = ArrayShape(term.array.element_type, ())
        items = [self.terms.make("element", i, scalar, (term,)) for i in range(prod(dimensions))]
        return _array(items, dimensions)

    def _opaque(self, term: Term) -> Value:
        """Returns an operation on operands that are told element by element."""
        if isinstance(term.label, tuple) and term.label[:2] == ("reduce", None):
            return self._reduce_in_general(term)
        operands = [self.whole(self._values[operand]) for operand in term.operands]
        if term.kind == "leaf":
            return term
        return self.terms.make(term.kind, term.label, term.shape, operands)

    def whole(self, value: Value) -> Term:
        """Returns one term for an array of elements: the one whose elements they are, where there is one."""
        if isinstance(value, Term):
            return value
        if isinstance(value, list):
            shape = ArrayShape(value[0].flat[0].array.element_type, (len(value),))
            return self.terms.make("array", "results", shape, [self.whole(each) for each in value])
        if not value.shape:
            scalar: Term = value[()]
            return scalar
        items: list[Term] = list(value.flat)
        if not items:
            return self.terms.make("array", value.shape, ArrayShape(_NOTHING, value.shape))
        shape = ArrayShape(items[0].array.element_type, value.shape)
        first = items[0]
        if first.kind == "element" and first.operands[0].shape == shape:
            source = first.operands[0]
            if all(
                each.kind == "element" and each.operands[0] is source and each.label == i
                for i, each in enumerate(items)
            ):
                return source
        if all(each is first for each in items) and first.is_specified:
            return self.terms.splat(first, value.shape)
        return self.terms.make("array", None, shape, items)

    def _constant(self, term: Term) -> Elements:
        dimensions = term.array.dimensions
        if isinstance(term.label, int):
            return _array([term], ())
        assert isinstance(term.label, bytes)  # so constants are made
        kind = term.array.element_type
        return _array([self.terms.literal(kind, bits, ()) for bits in bits_of(term.label, kind)], dimensions)

    # Elementwise operations and movement

    def _each(self, term: Term) -> Elements:
        arrays = [self._values[operand] for operand in term.operands]
        element_type = term.array.element_type
        if term.kind == "choice":
            selector, *branches = arrays
            chosen = [self.terms.choice(term.label, selector[()], items) for items in _rows(branches)]
            return _array(chosen, term.array.dimensions)
        make = partial(self._applied, term.label, element_type)
        return _mapped(make, arrays, term.array.dimensions)

    def _applied(self, label: Hashable, element_type: ElementType, *items: Term) -> Term:
        """Returns an elementwise operation on elements; of an element that an index picks it is a pick, too."""
        picks = [item for item in items if _is_pick(item)]
        if not picks:
            return self.terms.each(label, element_type, items)
        first = min(picks, key=lambda item: item.operands[0].number)
        index, count = first.operands[0], len(first.operands) - 1
        self._spend(count)
        choices = [[self._taken(item, index, i) for item in items] for i in range(count)]
        return self._pick(index, [self._applied(label, element_type, *choice) for choice in choices])

    def _taken(self, item: Term, index: Term, position: int) -> Term:
        """Returns what an element is where an index has a value."""
        return item.operands[position + 1] if _is_pick(item) and item.operands[0] is index else item

    def _moved(self, term: Term) -> Elements:
        chain = self.terms.chain(term)
        array = self._values[chain.base]
        stages = chain.plan.stages
        steps = zip(chain.plan.steps, chain.plan.paddings, stages, stages[1:], strict=False)
        for number, (step, padding, (element_type, _), (_, dimensions)) in enumerate(steps):
            if isinstance(step, Pad):
                array = self._padded(array, step, padding, dimensions, (term, number))
            elif isinstance(step, BitcastConvert):
                array = self._regrouped(array, element_type, step.element_type, dimensions)
            else:
                array = stepped(step, array)
        return array

    def _padded(
        self, array: Elements, step: Pad, written: Any, dimensions: tuple[int, ...], where: tuple[Term, int]
    ) -> Elements:
        self._spend(prod(dimensions))
        if isinstance(written, Term) and written.is_specified:
            padding = _filled(dimensions, self._values[written][()])
        else:
            # What nobody promises is another thing at every place.
            scalar, outer = ArrayShape(_NOTHING, ()), (self.terms.unspecified,)
            items = [self.terms.make("element", (*where, i), scalar, outer) for i in range(prod(dimensions))]
            padding = _array(items, dimensions)
        return pad_into(array, step, padding)

    def _regrouped(self, array: Elements, old: ElementType, new: ElementType, dimensions: tuple[int, ...]) -> Elements:
        if old.bits == new.bits:
            return _mapped(lambda item: self.terms.reread(item, new), [array], dimensions)
        if old.bits > new.bits:
            count = old.bits // new.bits
            parts = [_mapped(partial(self._part, i, new), [array], array.shape) for i in range(count)]
            return np.stack(parts, axis=-1)
        rows = array.reshape(-1, new.bits // old.bits)
        return _array([self._joined(new, list(row)) for row in rows], dimensions)

    def _part(self, position: int, element_type: ElementType, item: Term) -> Term:
        if item.label == "joined" and item.operands[0].array.element_type == element_type:
            return item.operands[position]
        return self.terms.each_as_is(("part", position), element_type, [item])

    def _joined(self, element_type: ElementType, items: Sequence[Term]) -> Term:
        source = items[0].operands[0] if items[0].label == ("part", 0) else None
        if source is None or source.array.element_type != element_type:
            return self.terms.each_as_is("joined", element_type, items)
        if all(item.label == ("part", i) and item.operands == (source,) for i, item in enumerate(items)):
            return source
        return self.terms.each_as_is("joined", element_type, items)

    # Operations on whole arrays

    def _operation(self, term: Term) -> Value:
        label = term.label
        name = label[0] if isinstance(label, tuple) else None
        rule = self._rules.get(name) if isinstance(name, str) else None
        if rule is None or (not term.operands and name != "iota"):
            return self._of_leaf(self._opaque(term))
        found = rule(self, term, label, *(self._values[operand] for operand in term.operands))
        return self._of_leaf(self._opaque(term)) if found is None else found

    def _broadcast(self, term: Term, label: Any, array: Elements) -> Elements:
        sizes = [1] * len(term.array.dimensions)
        for size, to in zip(array.shape, label[1], strict=True):
            sizes[to] = size
        return np.broadcast_to(array.reshape(sizes), term.array.dimensions)

    def _reverse(self, _: Term, label: Any, array: Elements) -> Elements:
        return np.flip(array, tuple(label[1]))

    def _concatenate(self, _: Term, label: Any, *arrays: Elements) -> Elements:
        return np.concatenate(arrays, axis=label[1])

    def _iota(self, term: Term, _: Any) -> Elements | None:
        element_type, (size,) = term.array.element_type, term.array.dimensions
        bits = [number_bits(element_type, i) for i in range(size)]
        if None in bits:
            return None
        return _array([self.terms.literal(element_type, b or 0, ()) for b in bits], (size,))

    def _dot(self, term: Term, label: Any, left: Elements, right: Elements) -> Elements:
        batch, rows, columns = term.array.dimensions
        count = left.shape[2]
        self._spend(batch * rows * columns * count)
        items = [
            self._sum_of_products(term.array.element_type, label[1], zip(left[b, i], right[b, j], strict=True))
            for b, i, j in product(range(batch), range(rows), range(columns))
        ]
        return _array(items, term.array.dimensions)

    def _sum_of_products(self, kind: ElementType, texts: Any, pairs: Iterable[tuple[Term, Term]]) -> Term:
        """Returns a sum of products, each rounded or not as the engine likes: of integers one number, else a set."""
        products = [self._product(kind, a, b) for a, b in pairs]
        if not products:
            return self.terms.literal(kind, 0, ())
        if kind.is_integral:
            return ring.sum_of(self.terms, products)
        if len(products) == 1 and products[0].label != "product" and not texts:
            return self._sum("add", products, self.terms.literal(kind, 0, ()))
        products.sort(key=lambda item: item.number)
        return self.terms.each_as_is(("sum-of-products", texts), kind, products)

    def _product(self, kind: ElementType, left: Term, right: Term) -> Term:
        types = {left.array.element_type, right.array.element_type}
        if types == {kind}:
            return self.terms.each("multiply", kind, (left, right))
        if kind.is_integral and all(each.is_integral for each in types):
            converted = [self.terms.each("convert", kind, [item]) for item in (left, right)]
            return self.terms.each("multiply", kind, converted)
        pair = sorted((left, right), key=lambda item: item.number)
        return self.terms.each_as_is("product", kind, pair)

    def _convolution(self, term: Term, label: Any, lhs: Elements, rhs: Elements) -> Elements | None:
        window, (features, batches), texts = label[1:]
        if batches != 1:
            return None
        kind, (batch, outputs, *sizes) = term.array.element_type, term.array.dimensions
        per_group, out_per_group = rhs.shape[1], outputs // features
        kernels = list(product(*map(range, rhs.shape[2:])))
        self._spend(batch * outputs * prod(sizes) * len(kernels) * per_group)
        places = window_indices(window, lhs.shape[2:], sizes)
        zero = self.terms.literal(term.operands[0].array.element_type, 0, ())
        padded = [[[*channel.reshape(-1), zero] for channel in image] for image in lhs]
        items = []
        for b, o, place in product(range(batch), range(outputs), places):
            group = o // out_per_group
            pairs = [
                (padded[b][group * per_group + i][at], rhs[(o, i, *kernel)])
                for kernel, at in zip(_kernel_order(window, kernels), place, strict=True)
                for i in range(per_group)
            ]
            items.append(self._sum_of_products(kind, texts, pairs))
        return _array(items, term.array.dimensions)

    # Reductions

    def _reduce(self, term: Term, label: Any, array: Elements, initial: Elements) -> Elements | None:
        items = [self._reduced(label[1], list(row), initial[()]) for row in array]
        return _array(items, term.array.dimensions)

    def _reduced(self, opcode: str, items: list[Term], initial: Term) -> Term:
        kind = initial.array.element_type
        if not is_exact(opcode, kind):
            return self._sum(opcode, items, initial)
        if not items:
            return initial
        if opcode == "add" and kind.is_integral:
            return ring.sum_of(self.terms, [initial, *items])
        if opcode == "multiply" and kind.is_integral:
            for item in items:
                initial = self.terms.each("multiply", kind, (initial, item))
            return initial
        return self.terms.each(opcode, kind, [initial, *items])

    def _sum(self, opcode: str, items: list[Term], initial: Term) -> Term:
        """Returns a float sum or product whose terms the engine takes in an order of its own."""
        kind = initial.array.element_type
        if not items:
            return initial
        if len(items) == 1 and self.terms.constant_bits(initial) == neutral_bits(opcode, kind):
            return items[0]
        self.terms.note(ONE_SUM)
        items.sort(key=lambda item: item.number)
        return self.terms.each_as_is(("sum", opcode), kind, (initial, *items))

    def _reduce_in_general(self, term: Term) -> list[Elements]:
        *operands, function = (self._values[operand] for operand in term.operands)
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
        return [_array(items, (len(items),)) for items in found]

    def _reduce_window(self, term: Term, label: Any, array: Elements, initial: Elements) -> Elements | None:
        _, opcode, window = label
        if opcode is None:
            return None
        self._spend(prod(term.array.dimensions) * prod(dimension.size for dimension in window))
        start = initial[()]
        padded = [*array.reshape(-1), start]
        places = window_indices(window, array.shape, term.array.dimensions)
        items = [self._reduced(opcode, [padded[at] for at in place], start) for place in places]
        return _array(items, term.array.dimensions)

    # Slices at computed places

    def _dynamic_slice(self, term: Term, _: Any, array: Elements, *indices: Elements) -> Elements:
        sizes = term.array.dimensions

        def at(starts: tuple[int, ...]) -> Elements:
            return array[tuple(slice(a, a + size) for a, size in zip(starts, sizes, strict=True))]

        return self._picked(
            at, [index[()] for index in indices], [a - b for a, b in zip(array.shape, sizes, strict=True)], sizes
        )

    def _dynamic_update_slice(
        self, _: Term, __: Any, array: Elements, update: Elements, *indices: Elements
    ) -> Elements:
        def at(starts: tuple[int, ...]) -> Elements:
            written = array.copy()
            written[tuple(slice(a, a + size) for a, size in zip(starts, update.shape, strict=True))] = update
            return written

        lasts = [a - b for a, b in zip(array.shape, update.shape, strict=True)]
        return self._picked(at, [index[()] for index in indices], lasts, array.shape)

    def _picked(
        self,
        at: Callable[[tuple[int, ...]], Elements],
        indices: Sequence[Term],
        lasts: Sequence[int],
        sizes: tuple[int, ...],
    ) -> Elements:
        """Returns one of the arrays `at` gives, by indices that are clamped to 0 ... last."""
        choices: list[Sequence[int]] = []
        for index, last in zip(indices, lasts, strict=True):
            bits = self.terms.constant_bits(index)
            if bits is None:
                choices.append(range(last + 1))
            else:
                value = value_of(index.array.element_type, bits)
                assert isinstance(value, int)  # indices are integers
                choices.append([max(0, min(value, last))])
        self._spend(prod(map(len, choices)) * prod(sizes))
        open_ = sorted(
            (i for i, choice in enumerate(choices) if len(choice) > 1),
            key=lambda i: self._clamped(indices[i], lasts[i]).number,
        )
        starts = [choice[0] for choice in choices]
        return self._pick_next(at, indices, lasts, choices, open_, starts)

    def _pick_next(
        self, at: Any, indices: Any, lasts: Any, choices: Any, open_: list[int], starts: list[int]
    ) -> Elements:
        if not open_:
            return at(tuple(starts))
        dimension, *rest = open_
        found = []
        for start in choices[dimension]:
            starts[dimension] = start
            found.append(self._pick_next(at, indices, lasts, choices, rest, starts))
        index = self._clamped(indices[dimension], lasts[dimension])
        return _mapped(lambda *items: self._pick(index, items), found, found[0].shape)

    def _clamped(self, index: Term, last: int) -> Term:
        kind = index.array.element_type
        zero = self.terms.literal(kind, 0, ())
        bound = number_bits(kind, last)
        raised = self.terms.each("maximum", kind, (index, zero))
        # An index type that cannot reach the end needs no clamping there.
        return (
            raised if bound is None else self.terms.each("minimum", kind, (raised, self.terms.literal(kind, bound, ())))
        )

    def _pick(self, index: Term, items: Sequence[Term]) -> Term:
        """Returns the element that an index between 0 and their number, clamped already, picks."""
        self.terms.note(PICK)
        source = self._bounded_source(index, len(items))
        if source is not None:
            atom, positions = source
            return self._pick(atom, [items[position] for position in positions])
        taken = [self._taken(item, index, i) for i, item in enumerate(items)]
        if all(item is taken[0] for item in taken):
            return taken[0]
        kind = taken[0].array.element_type
        counted = [self.terms.constant_bits(item) for item in taken]
        if kind.is_integral and counted == [number_bits(kind, i) for i in range(len(taken))]:
            return self.terms.each("convert", kind, [index])
        return self.terms.each_as_is(("pick", len(items)), kind, (index, *taken))

    def _bounded_source(self, index: Term, count: int) -> tuple[Term, list[int]] | None:
        """Returns a clamped term that an index is computed from, and the index for each of its values; or None."""
        if (index, count) not in self._sources:
            self._sources[index, count] = self._find_source(index, count)
        return self._sources[index, count]

    def _find_source(self, index: Term, count: int) -> tuple[Term, list[int]] | None:
        pending = list(index.operands)
        while pending:
            part = pending.pop()
            last = _last_value(self.terms, part)
            if last is None:
                pending += part.operands if part.kind == "each" else ()
                continue
            kind = part.array.element_type
            values = [number_bits(kind, i) for i in range(last + 1)]
            results = [self._with_value(index, part, self.terms.literal(kind, bits or 0, ())) for bits in values]
            found = [self.terms.constant_bits(result) for result in results]
            if all(bits is not None and bits < count for bits in found):
                return part, [bits or 0 for bits in found]
        return None

    def _with_value(self, term: Term, part: Term, value: Term) -> Term:
        """Returns a term in which a part has a value."""
        if term is part:
            return value
        if term.kind != "each":
            return term
        operands = [self._with_value(operand, part, value) for operand in term.operands]
        return self.terms.each(term.label, term.array.element_type, operands)

    def _gather(self, term: Term, label: Any, array: Elements, starts: Elements) -> Elements | None:
        constants = [self.terms.constant_bits(each) for each in starts.flat]
        if None in constants or not starts.size:
            return None
        kind = starts.flat[0].array.element_type
        values = np.array([value_of(kind, bits or 0) for bits in constants], np.int64).reshape(starts.shape)
        indices = gathered_indices(dict(label[1][1]), array.shape, values, term.array.dimensions)
        return None if indices is None else array[indices]

    _rules: ClassVar[Mapping[str, Callable[..., Value]]] = {
        "broadcast": _broadcast,
        "concatenate": _concatenate,
        "convolution": _convolution,
        "dot": _dot,
        "dynamic-slice": _dynamic_slice,
        "dynamic-update-slice": _dynamic_update_slice,
        "gather": _gather,
        "iota": _iota,
        "reduce": _reduce,
        "reduce-window": _reduce_window,
        "reverse": _reverse,
    }


def _kernel_order(window: Sequence[WindowDimension], kernels: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Returns the kernel's places in the order of a window's: reversed where the window says so."""
    return [
        tuple(
            dimension.size - 1 - k if dimension.is_reversed else k for dimension, k in zip(window, kernel, strict=True)
        )
        for kernel in kernels
    ]


def _is_pick(term: Term) -> bool:
    return isinstance(term.label, tuple) and term.label[0] == "pick"


# A clamped index with more values than this stays as it is.
_MOST_VALUES = 64


def _last_value(terms: Terms, term: Term) -> int | None:
    """Returns n for a term that is clamped between 0 and n, small enough to be tried; else None."""
    if term.kind != "each" or term.label != "minimum" or not term.array.element_type.is_integral:
        return None
    bounds = [value for value in map(terms.constant_bits, term.operands) if value is not None]
    inner = [part for part in term.operands if terms.constant_bits(part) is None]
    if len(bounds) != 1 or len(inner) != 1 or not 0 <= bounds[0] < _MOST_VALUES:
        return None
    if term.array.element_type.is_unsigned:
        return bounds[0]
    is_raised = inner[0].label == "maximum" and any(terms.constant_bits(part) == 0 for part in inner[0].operands)
    return bounds[0] if is_raised and inner[0].kind == "each" else None


def number_bits(element_type: ElementType, value: int) -> int | None:
    """Returns the bits of a whole number in a type that has it, else None."""
    if element_type.is_integral:
        low = -(1 << (element_type.bits - 1)) if element_type.is_signed else 0
        return value % (1 << element_type.bits) if low <= value < low + (1 << element_type.bits) else None
    return float_bits(element_type, float(value)) if element_type.is_floating else None


def _array(items: Sequence[Term], dimensions: tuple[int, ...]) -> Elements:
    array = np.empty(len(items), object)
    array[:] = list(items)
    return array.reshape(dimensions)


def _filled(dimensions: tuple[int, ...], item: Term) -> Elements:
    array = np.empty((), object)
    array[()] = item
    return np.broadcast_to(array, dimensions)


def _rows(arrays: Sequence[Elements]) -> Iterable[tuple[Term, ...]]:
    return zip(*(array.flat for array in arrays), strict=True)


def _mapped(make: Callable[..., Term], arrays: Sequence[Elements], dimensions: tuple[int, ...]) -> Elements:
    return _array([make(*items) for items in _rows(arrays)], dimensions)


@singledispatch
def stepped(step: Step, array: NDArray[Any]) -> NDArray[Any]:
    """Returns what a transpose, reshape or slice makes of an array of anything."""
    raise TypeError(f"{step} is no mere indexing: pads and bitcast-converts are treated by their own")


@stepped.register
def _transposed(step: Transpose, array: NDArray[Any]) -> NDArray[Any]:
    return array.transpose(step.permutation)


@stepped.register
def _reshaped(step: Reshape, array: NDArray[Any]) -> NDArray[Any]:
    return array.reshape(step.dimensions)


@stepped.register
def _sliced(step: Slice, array: NDArray[Any]) -> NDArray[Any]:
    return array[tuple(map(slice, step.start, step.limit, step.strides))]


def pad_into(array: NDArray[Any], step: Pad, padding: NDArray[Any]) -> NDArray[Any]:
    """Returns an array of paddings with the elements of another written where a pad puts them."""
    result = padding.copy()
    places, sources = [], []
    gaps = step.interior or (0,) * array.ndim
    for size, low, gap, limit in zip(array.shape, step.low, gaps, result.shape, strict=True):
        kept = [(low + i * (gap + 1), i) for i in range(size) if 0 <= low + i * (gap + 1) < limit]
        places.append([to for to, _ in kept])
        sources.append([i for _, i in kept])
    result[np.ix_(*places)] = array[np.ix_(*sources)] if array.ndim else array
    return result


_NOTHING = ElementType("unspecified", 0)
