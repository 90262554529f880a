"""Whole arrays as terms: each primitive of a definition makes a term in normal form, and notes its rule.

Definitions join dimensions with the same role. So an operation on a transposed or reshaped operand becomes the same
term after another plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from dialect_utils.ir import Function, Operation
from dialect_utils.layout import ArrayShape, ElementType, TupleShape
from dialect_utils.ops import Trait, with_trait
from dialect_utils.ops.domain import UndefinedError, reshaped, static_array, transposed
from dialect_utils.ops.window import WindowDimension
from dialect_utils.verdict.proof.algebra.numbers import is_exact, is_idempotent, neutral_bits
from dialect_utils.verdict.proof.algebra.rule import Rule
from dialect_utils.verdict.proof.attributes import key_of
from dialect_utils.verdict.proof.movement import Movement
from dialect_utils.verdict.proof.terms import Array, Term, tree_of

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.evaluation import Evaluation

DOT = Rule("dot", "A dot sums products of pairs: the order of its dimensions, and of its operands, is movement.")
WINDOW = Rule(
    "window", "The dimensions of a convolution may be in any order, and both dialects describe the same windows."
)
REDUCE = Rule("reduce", "The dimensions that a reduction keeps, and those that it reduces, may be in any order.")
INITIAL = Rule(
    "initial-value", "A reduction by an associative and exact operation takes its initial value once, in any position."
)
MAP = Rule("map", "A map whose computation is elementwise computes the same on whole arrays, element by element.")

# Reductions by these may take their elements in any order.
_COMMUTATIVE = sorted(with_trait(Trait.COMMUTATIVE))
# Attributes that a convolution's windows, groups and dimension numbers are read from.
_OF_WINDOWS = frozenset({"feature_group_count", "batch_group_count", "window", "dim_labels", "dimension_numbers"})
_OF_WINDOWS |= {"window_strides", "padding", "lhs_dilation", "rhs_dilation", "window_reversal"}


class Symbols(Movement):
    """The primitives on terms; `evaluation` gives the functions that operations apply."""

    def __init__(self, evaluation: Evaluation) -> None:
        super().__init__(evaluation.terms)
        self.evaluation = evaluation

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
        if opcode is None:
            label = ("reduce-window", None, window, has_padding)
            return self._in_general(label, operation, [*arrays, *initial, applied], sizes)
        padding = self._padding(opcode, first, has_padding)
        shape = ArrayShape(self.element_type(arrays[0]), sizes)
        return [self._made(("reduce-window", opcode, window), shape, [arrays[0], first, padding])]

    def _padding(self, opcode: str, initial: Term, has_padding: bool) -> Term:
        """Returns the value of padding: the initial value, or where HLO skips that an unknown function of it.

        The function stands for both meanings, because StableHLO's interpreter does not skip the padding of HLO.
        """
        kind = initial.array.element_type
        if has_padding or is_idempotent(opcode, kind, self.terms.constant_bits(initial)):
            return initial
        return self.terms.each_as_is(("padding", opcode), kind, [initial])

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
