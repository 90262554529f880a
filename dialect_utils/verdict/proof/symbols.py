"""Whole arrays as terms: each primitive of a definition makes a term in normal form, and notes its rule.

Definitions join dimensions with the same role. So an operation on a transposed or reshaped operand becomes the same
term after another plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dialect_utils.ir import Function, Operation, Value
from dialect_utils.ir.elementwise import is_elementwise
from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.ops import Trait, with_trait
from dialect_utils.ops.domain import UndefinedError, reshaped, static_array, transposed
from dialect_utils.ops.window import WindowDimension
from dialect_utils.verdict.proof.algebra.numbers import is_exact, is_idempotent, neutral_bits
from dialect_utils.verdict.proof.slices import Slices
from dialect_utils.verdict.proof.terms import Array, Term
from dialect_utils.verdict.rules import Rule
from dialect_utils.verdict.written.labels import elementwise_label, key_of

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
PADDING = Rule(
    "convolution-padding",
    "The engine multiplies the padding of a convolution, as 0, or skips it: finite weights hide it.",
)
MAP = Rule("map", "A map whose computation is elementwise computes the same on whole arrays, element by element.")

# Reductions by these may take their elements in any order.
_COMMUTATIVE = sorted(with_trait(Trait.COMMUTATIVE))


class Symbols(Slices):
    """The primitives on terms; `evaluation` gives the functions that operations apply."""

    def __init__(self, evaluation: Evaluation) -> None:
        super().__init__(evaluation.terms, self._applied)
        self.evaluation = evaluation

    def map(self, operation: Operation, function: Function, arrays: Sequence[Array]) -> list[Array]:
        """Returns the computation's operations on whole arrays, where all of them are elementwise."""
        if len(arrays) != len(function.parameters):
            raise UndefinedError("the computation of a map has other parameters")
        terms: dict[Value, Term] = dict(zip(function.parameters, map(self.terms.term, arrays), strict=True))
        results = list(function.results)
        if len(results) == 1 and results[0].operation is not None and results[0].operation.opcode == "tuple":
            results = list(results[0].operation.operands)
        for each in function.operations:
            if each.opcode != "tuple":
                terms[each.results[0]] = self._on_arrays(each, terms, self.dimensions(arrays[0]))
        self.terms.note(MAP)
        return [terms[result] for result in results]

    def _on_arrays(self, operation: Operation, terms: Mapping[Value, Term], sizes: tuple[int, ...]) -> Term:
        """Returns an operation of scalars on arrays."""
        bits, shape = operation.splat_bits, static_array(operation.results[0].shape)
        if bits is not None:
            return self.terms.literal(shape.element_type, bits, sizes)
        if not is_elementwise(operation):
            raise UndefinedError("the computation of a map is not elementwise")
        operands = [terms[operand] for operand in operation.operands]
        is_same = operation.opcode == "convert" and operands[0].array.element_type == shape.element_type
        if is_same or operation.opcode == "copy":
            return operands[0]
        return self.terms.each(elementwise_label(operation), shape.element_type, operands)

    # Sums of products

    def contract(self, operation: Operation, left: Array, right: Array) -> Array:
        """Returns a dot, with the operand first whose term was made first."""
        texts = key_of(operation)[2]
        self.terms.note(DOT)
        result = static_array(operation.results[0].shape)
        terms = self.terms.term(left), self.terms.term(right)
        made = self._dot(*terms, result.element_type, texts)
        self.terms.certify(DOT.name, self.written.contract(operation, *terms), self.terms.as_written(made))
        return made

    def _dot(self, left: Term, right: Term, element_type: ElementType, texts: tuple[tuple[str, str], ...]) -> Array:
        is_symmetric = not texts or (
            len(texts) == 1 and texts[0][0] == "precision" and len({*texts[0][1].split()}) == 1
        )
        if is_symmetric and not self.terms.keeps_bits and right.number < left.number:
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
        self.terms.note(WINDOW)
        operands = self.terms.term(lhs), self.terms.term(rhs)
        is_skipped = self.terms.skips_padding or not has_padding
        made = self.written.convolve(operation, *operands, window, groups, sizes, not is_skipped)
        written = self.written.convolve(operation, *operands, window, groups, sizes, has_padding)
        self.terms.step(PADDING, written, made)
        return made

    # Reductions

    def combine(self, opcode: str, array: Array, initial: Array) -> Term:
        """Returns a reduction; one that is exact takes its initial value last."""
        term, first = self.terms.term(array), self.terms.term(initial)
        self.terms.has_reductions = True
        written = self.written.combine(opcode, term, first)
        if self.terms.keeps_bits:
            return written
        found = self._combined(opcode, term, first)
        combining = self.terms.combining
        return found if combining is None else combining.replaced(written, found)

    def _combined(self, opcode: str, array: Term, first: Term) -> Term:
        terms = self.terms
        rows, count = array.array.dimensions
        element_type = array.array.element_type
        neutral = neutral_bits(opcode, element_type)
        is_neutral = neutral is not None and terms.constant_bits(first) == neutral
        last = terms.splat(first, (rows,))
        if count == 0:
            terms.certify(INITIAL.name, self.written.combine(opcode, array, first), last)
            return last
        if count == 1 and (is_neutral or self._is_last(opcode, element_type)):
            return self._after(opcode, array, first, reshaped(self, array, (rows,)), last)
        if is_neutral or not self._is_last(opcode, element_type):
            return self.written.combine(opcode, array, first)
        terms.note(INITIAL)
        start = terms.literal(element_type, neutral or 0, ())
        return self._after(opcode, array, first, self.written.combine(opcode, array, start), last)

    def _is_last(self, opcode: str, element_type: ElementType) -> bool:
        return neutral_bits(opcode, element_type) is not None and is_exact(opcode, element_type)

    def _after(self, opcode: str, array: Term, first: Term, bare: Array, last: Term) -> Term:
        """Returns a reduction whose initial value is combined at the end."""
        element_type = array.array.element_type
        operands = self.terms.as_written(bare), last
        written = self.terms.each_as_is(opcode, element_type, operands)
        self.terms.certify(INITIAL.name, self.written.combine(opcode, array, first), written)
        return self.terms.each(opcode, element_type, (self.terms.term(bare), last))

    def reduce(
        self, operation: Operation, function: Function, arrays: Sequence[Array], initial: Sequence[Array]
    ) -> list[Array]:
        """Returns a reduction by an operation, where the function is one that commutes, else by the function."""
        applied = self._applied(function)
        self.terms.note(REDUCE)
        opcode = self._reducer(applied, arrays, initial)
        operands = [self.terms.term(each) for each in (*arrays, *initial)]
        written = self.written.in_general(
            ("reduce", None), operation, [*operands, applied], self.dimensions(arrays[0])[:1]
        )
        if opcode is None:
            return [*written]
        self.terms.certify(REDUCE.name, written[0], self.written.combine(opcode, *operands))
        return [self.combine(opcode, *operands)]

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
        operands = [self.terms.term(each) for each in (*arrays, *initial)]
        written = self.written.in_general(
            ("reduce-window", None, window, has_padding), operation, [*operands, applied], sizes
        )
        if opcode is None:
            return [*written]
        kind, bits = self.element_type(arrays[0]), self.terms.constant_bits(operands[1])
        is_padded = any(dimension.has_padding for dimension in window)
        is_multiplied = has_padding or not is_padded or is_idempotent(opcode, kind, bits)
        label = ("reduce-window", opcode, window, is_multiplied)
        made = self._made(label, ArrayShape(kind, sizes), operands)
        self.terms.certify(WINDOW.name, written[0], made)
        self.terms.has_reductions = True
        combining = self.terms.combining
        return [made if combining is None else combining.replaced(made, made)]

    def _applied(self, function: Function) -> Term:
        applied, has_effects = self.evaluation.function(function)
        if has_effects:
            raise UndefinedError("the function of a reduction has effects")
        return applied

    def _reducer(self, applied: Term, arrays: Sequence[Array], initial: Sequence[Array]) -> str | None:
        """Returns the commutative opcode that a function of two scalars is, or None."""
        kind = self.element_type(arrays[0])
        is_single = len(arrays) == 1 and self.element_type(initial[0]) == kind
        return self.combiner(applied, kind) if is_single else None

    def combiner(self, applied: Term, kind: ElementType) -> str | None:
        """Returns the commutative opcode that a function of two scalars of a type is, or None."""
        assert isinstance(applied.label, tuple)  # so functions are made
        level, shapes, count = applied.label[1:]
        scalar = ArrayShape(kind, ())
        if len(applied.operands) != 1 or count != 1 or shapes != (scalar, scalar):
            return None
        variables = [self.terms.make("leaf", ("bound", level, i), scalar) for i in range(2)]
        found = (each for each in _COMMUTATIVE if self.terms.each(each, kind, variables) is applied.operands[0])
        return next(found, None)
