"""Whole arrays as terms: each primitive of a definition makes a term in normal form, and notes its rule.

Definitions join dimensions with the same role. So an operation on a transposed or reshaped operand becomes the same
term after another plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING

from dialect_utils.execution.constants import as_array
from dialect_utils.hlo.text.literals import parse_scalar
from dialect_utils.ir import Function, Operation
from dialect_utils.layout import (
    ArrayShape,
    BitcastConvert,
    ElementType,
    Slice,
    Step,
    TupleShape,
)
from dialect_utils.ops import Trait, with_trait
from dialect_utils.ops.domain import Domain, UndefinedError, reshaped, static_array, transposed
from dialect_utils.ops.window import WindowDimension
from dialect_utils.verdict.proof.algebra.numbers import is_exact, is_idempotent, neutral_bits, value_of
from dialect_utils.verdict.proof.algebra.rule import Rule
from dialect_utils.verdict.proof.attributes import key_of
from dialect_utils.verdict.proof.terms import Array, Moved, Term, Terms, tree_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dialect_utils.ops.positions import GatherNumbers
    from dialect_utils.verdict.proof.evaluation import Evaluation

BROADCAST = Rule(
    "broadcast", "A broadcast of a broadcast is one broadcast, and elementwise operations commute with a broadcast."
)
REVERSE = Rule(
    "reverse",
    "Two reversals of a dimension cancel each other, and elementwise operations commute with a reversal.",
)
CONCATENATE = Rule("concatenate", "A concatenation of concatenations along one dimension is one concatenation.")
DOT = Rule("dot", "A dot sums products of pairs: the order of its dimensions, and of its operands, is movement.")
WINDOW = Rule(
    "window", "The dimensions of a convolution may be in any order, and both dialects describe the same windows."
)
REDUCE = Rule("reduce", "The dimensions that a reduction keeps, and those that it reduces, may be in any order.")
INITIAL = Rule(
    "initial-value", "A reduction by an associative and exact operation takes its initial value once, in any position."
)
DYNAMIC_SLICE = Rule(
    "dynamic-slice", "Start indices are clamped into range; constant indices make a slice, a slice of all is the array."
)
MAP = Rule("map", "A map whose computation is elementwise computes the same on whole arrays, element by element.")

# Reductions by these may take their elements in any order.
_COMMUTATIVE = sorted(with_trait(Trait.COMMUTATIVE))
# Attributes that a convolution's windows, groups and dimension numbers are read from.
_OF_WINDOWS = frozenset({"feature_group_count", "batch_group_count", "window", "dim_labels", "dimension_numbers"})
_OF_WINDOWS |= {"window_strides", "padding", "lhs_dilation", "rhs_dilation", "window_reversal"}


class Symbols(Domain[Array]):
    """The primitives on terms; `evaluation` gives the functions that operations apply."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation
        self.terms: Terms = evaluation.terms

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

    def map(self, operation: Operation, function: Function, arrays: Sequence[Array]) -> list[Array]:
        """Returns the computation's operations on whole arrays, where all of them are elementwise."""
        evaluation = self.evaluation
        variables = evaluation.variables([parameter.shape.without_layout for parameter in function.parameters])
        leaves: Iterator[Array] = iter(variables)
        arguments = [tree_of(parameter.shape, leaves) for parameter in function.parameters]
        results, effects = evaluation.within(0, lambda: evaluation.run(function, arguments))
        if effects or len(results) != 1 or len(arrays) != len(variables):
            raise UndefinedError("the computation of a map does more than compute one value")
        terms = dict(zip(variables, map(self.terms.term, arrays), strict=True))
        made = self._on_arrays(results[0], terms, self.dimensions(arrays[0]))
        self.terms.note(MAP)
        return [made]

    def _on_arrays(self, scalar: Term, arrays: Mapping[Term, Term], sizes: tuple[int, ...]) -> Term:
        """Returns an expression of scalars with arrays instead of its variables."""
        found = dict(arrays)
        parts: set[Term] = set()
        pending = [scalar]
        while pending:
            part = pending.pop()
            if part not in parts and part not in found:
                parts.add(part)
                pending += part.operands
        for part in sorted(parts, key=lambda part: part.number):
            if part.kind == "each":
                operands = [found[operand] for operand in part.operands]
                found[part] = self.terms.each(part.label, part.array.element_type, operands)
            elif part.kind == "constant":
                found[part] = self.terms.splat(part, sizes)
            else:
                raise UndefinedError("the computation of a map is not elementwise")
        return found[scalar]

    # Movement

    def move(self, array: Array, step: Step, padding: Array | None = None) -> Array:
        """Returns an array after one more step; an equal number of bits is read as another type, element by element."""
        if isinstance(step, BitcastConvert):
            old, new = self.element_type(array), step.element_type
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
        moved = reshaped(self, transposed(self, array, order), [own[i] for i in kept])
        return self._broadcast(self.terms.term(moved), tuple(dimensions[i] for i in kept), tuple(sizes))

    def _broadcast(self, term: Term, targets: tuple[int, ...], sizes: tuple[int, ...]) -> Term:
        terms = self.terms

        def made(part: Term) -> Term:
            if part.kind == "splat" or not part.array.dimensions:
                return terms.splat(part.operands[0] if part.kind == "splat" else part, sizes)
            if len(targets) == sum(size != 1 for size in sizes):
                return terms.term(reshaped(self, part, sizes))
            if part.kind == "op" and isinstance(part.label, tuple) and part.label[0] == "broadcast":
                inner = part.label[1]
                return self._broadcast(part.operands[0], tuple(targets[i] for i in inner), sizes)
            # Dimensions of size 1 do not affect which elements are repeated.
            large = [i for i, size in enumerate(sizes) if size != 1]
            shape = ArrayShape(part.array.element_type, tuple(sizes[i] for i in large))
            label = ("broadcast", tuple(large.index(i) for i in targets))
            return terms.term(reshaped(self, self._made(label, shape, [part]), sizes))

        if 0 in sizes:
            return self._made(("broadcast", targets), ArrayShape(term.array.element_type, sizes), [term])
        terms.note(BROADCAST)
        return terms.mapped(term, made, ("broadcast", targets, sizes))

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

        if not reversed_ or 0 in sizes:
            return term
        self.terms.note(REVERSE)
        return self.terms.mapped(term, made, ("reverse", reversed_))

    def concatenate(self, arrays: Sequence[Array], dimension: int) -> Term:
        """Returns a concatenation of arrays that are not empty, and not concatenations along the dimension."""
        parts: list[Term] = []
        for part in map(self.terms.term, arrays):
            is_inner = part.kind == "op" and part.label == ("concatenate", dimension)
            parts += part.operands if is_inner else [part]
        self.terms.note(CONCATENATE)
        kept = [part for part in parts if part.array.dimensions[dimension]] or parts[:1]
        if len(kept) == 1:
            return kept[0]
        sizes = list(kept[0].array.dimensions)
        sizes[dimension] = sum(part.array.dimensions[dimension] for part in kept)
        return self._made(("concatenate", dimension), ArrayShape(kept[0].array.element_type, tuple(sizes)), kept)

    def iota(self, element_type: ElementType, size: int) -> Term:
        """Returns the vector 0, 1, ... size - 1."""
        if size <= 1 and element_type.is_integral:
            return self.terms.literal(element_type, 0, (size,))
        return self._made(("iota",), ArrayShape(element_type, (size,)), [])

    # Slices at computed positions

    def slice_at(self, array: Array, starts: Sequence[Array], sizes: tuple[int, ...]) -> Array:
        """Returns a slice where all start indices are known, else a dynamic-slice."""
        operand = self.terms.term(array)
        indices = self._starts(starts, sizes, operand.array.dimensions)
        self.terms.note(DYNAMIC_SLICE)
        known = [bits for bits in map(self.terms.constant_bits, indices) if bits is not None]
        if len(known) == len(indices):
            limit = tuple(start + size for start, size in zip(known, sizes, strict=True))
            return self.move(operand, Slice(tuple(known), limit))
        if operand.kind == "splat":
            return self.terms.splat(operand.operands[0], sizes)
        return self._made(("dynamic-slice",), ArrayShape(operand.array.element_type, sizes), [operand, *indices])

    def update_at(self, array: Array, update: Array, starts: Sequence[Array]) -> Array:
        """Returns a dynamic-update-slice; an update of all elements is the update."""
        sizes, part = self.dimensions(array), self.dimensions(update)
        self.terms.note(DYNAMIC_SLICE)
        if part == sizes:
            return update
        indices = self._starts(starts, part, sizes)
        shape = ArrayShape(self.element_type(array), sizes)
        return self._made(("dynamic-update-slice",), shape, [array, update, *indices])

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
        return self._made(label, ArrayShape(self.element_type(array), sizes), [array, starts])

    # Sums of products

    def contract(self, operation: Operation, left: Array, right: Array) -> Array:
        """Returns a dot, with the operand first whose term was made first."""
        texts = key_of(operation)[2]
        self.terms.note(DOT)
        result = static_array(operation.results[0].shape)
        return self._dot(self.terms.term(left), self.terms.term(right), result.element_type, texts)

    def _dot(self, left: Term, right: Term, element_type: ElementType, texts: tuple[tuple[str, str], ...]) -> Array:
        is_symmetric = not texts or (
            len(texts) == 1 and texts[0][0] == "precision" and len({*texts[0][1].split()}) == 1
        )
        if is_symmetric and right.number < left.number:
            return transposed(self, self._dot(right, left, element_type, texts), (0, 2, 1))
        batch, rows, _ = left.array.dimensions
        shape = ArrayShape(element_type, (batch, rows, right.array.dimensions[1]))
        return self._made(("dot", texts), shape, [left, right])

    def convolve(
        self,
        operation: Operation,
        lhs: Array,
        rhs: Array,
        window: tuple[WindowDimension, ...],
        groups: tuple[int, int],
        sizes: tuple[int, ...],
        has_padding: bool,
    ) -> Term:
        """Returns a convolution."""
        if any(dimension.has_padding for dimension in window):
            self.terms.multiplied_padding.add(has_padding)
        texts = tuple(text for text in key_of(operation)[2] if text[0] not in _OF_WINDOWS)
        shape = ArrayShape(static_array(operation.results[0].shape).element_type, sizes)
        self.terms.note(WINDOW)
        return self._made(("convolution", window, groups, texts), shape, [lhs, rhs])

    # Reductions

    def combine(self, opcode: str, array: Array, initial: Array) -> Term:
        """Returns a reduction; one that is exact takes its initial value last."""
        terms = self.terms
        rows, count = self.dimensions(array)
        first, element_type = terms.term(initial), self.element_type(array)
        neutral = neutral_bits(opcode, element_type)
        is_neutral = neutral is not None and terms.constant_bits(first) == neutral
        if count == 0:
            return terms.splat(first, (rows,))
        is_last = neutral is not None and is_exact(opcode, element_type)
        if is_last:
            terms.note(INITIAL)
        if count == 1 and (is_last or is_neutral):
            bare = terms.term(reshaped(self, array, (rows,)))
        else:
            start = terms.literal(element_type, neutral or 0, ()) if is_last else first
            bare = self._made(("reduce", opcode), ArrayShape(element_type, (rows,)), [array, start])
        if is_neutral or not is_last:
            return bare
        return terms.each(opcode, element_type, (bare, terms.splat(first, (rows,))))

    def reduce(
        self, operation: Operation, function: Function, arrays: Sequence[Array], initial: Sequence[Array]
    ) -> list[Array]:
        """Returns a reduction by an operation, where the function is one that commutes, else by the function."""
        applied = self._applied(function)
        self.terms.note(REDUCE)
        opcode = self._reducer(applied, arrays, initial)
        if opcode is not None:
            return [self.combine(opcode, arrays[0], initial[0])]
        rows, _ = self.dimensions(arrays[0])
        return self._in_general(("reduce", None), operation, [*arrays, *initial, applied], (rows,))

    def reduce_window(
        self,
        operation: Operation,
        function: Function,
        arrays: Sequence[Array],
        initial: Sequence[Array],
        window: tuple[WindowDimension, ...],
        sizes: tuple[int, ...],
        has_padding: bool,
    ) -> list[Array]:
        """Returns a reduction of windows; that of an operation has the value of padding as a third operand."""
        applied = self._applied(function)
        self.terms.note(WINDOW)
        opcode = self._reducer(applied, arrays, initial)
        first = self.terms.term(initial[0])
        has_padding |= not any(dimension.has_padding for dimension in window)
        padding = None if opcode is None else self._padding(opcode, first, has_padding)
        if padding is None:
            label = ("reduce-window", None, window, has_padding)
            return self._in_general(label, operation, [*arrays, *initial, applied], sizes)
        shape = ArrayShape(self.element_type(arrays[0]), sizes)
        return [self._made(("reduce-window", opcode, window), shape, [arrays[0], first, padding])]

    def _padding(self, opcode: str, initial: Term, has_padding: bool) -> Term | None:
        """Returns the value of padding: the initial value where that changes nothing, else a neutral one, or None."""
        kind, bits = initial.array.element_type, self.terms.constant_bits(initial)
        neutral = neutral_bits(opcode, kind)
        if has_padding or is_idempotent(opcode, kind, bits):
            return initial
        return None if neutral is None else self.terms.literal(kind, neutral, ())

    def _applied(self, function: Function) -> Term:
        applied, has_effects = self.evaluation.function(function)
        if has_effects:
            raise UndefinedError("the function of a reduction has effects")
        return applied

    def _reducer(self, applied: Term, arrays: Sequence[Array], initial: Sequence[Array]) -> str | None:
        """Returns the commutative opcode that a function of two scalars is, or None."""
        kind = self.element_type(arrays[0])
        if len(arrays) != 1 or len(applied.operands) != 1 or self.element_type(initial[0]) != kind:
            return None
        assert isinstance(applied.label, tuple)  # so functions are made
        level, shapes, count = applied.label[1:]
        scalar = ArrayShape(kind, ())
        if count != 1 or shapes != (scalar, scalar):
            return None
        variables = [self.terms.make("leaf", ("bound", level, i), scalar) for i in range(2)]
        found = (each for each in _COMMUTATIVE if self.terms.each(each, kind, variables) is applied.operands[0])
        return next(found, None)

    def _in_general(
        self, label: tuple[object, ...], operation: Operation, operands: Sequence[Array], sizes: tuple[int, ...]
    ) -> list[Array]:
        shapes = tuple(
            ArrayShape(static_array(shape).element_type, sizes) for shape in self.evaluation.result_shapes(operation)
        )
        made = self.terms.make("op", label, TupleShape(shapes), [self.terms.term(each) for each in operands])
        return [*self.evaluation.outs(made, shapes)]
