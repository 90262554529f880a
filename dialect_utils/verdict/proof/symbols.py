"""Whole arrays as terms: each primitive of a definition makes a term in normal form, and notes its rule.

Definitions join dimensions with the same role. So an operation on a transposed or reshaped operand becomes the same
term after another plan.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dialect_utils.ir import Function, Operation, Value
from dialect_utils.ir.elementwise import is_elementwise
from dialect_utils.layout import ArrayShape, ElementType, Step, TupleShape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops import Trait, with_trait
from dialect_utils.ops.contractions import summed_in
from dialect_utils.ops.domain import UndefinedError, reshaped, static_array, transposed
from dialect_utils.ops.window import WindowDimension
from dialect_utils.verdict.proof.algebra.numbers import is_exact, is_idempotent, neutral_bits, value_of
from dialect_utils.verdict.proof.algebra.originals import converted
from dialect_utils.verdict.proof.algebra.widening import narrowed, of_extreme, of_factors, originals
from dialect_utils.verdict.proof.contractions import (
    AS_SUM,
    DOT,
    DOT_ORDER,
    INITIAL_ZERO,
    REDUCTION_ORDER,
    WIDER,
    anchor,
    dot_order,
    reduction_order,
)
from dialect_utils.verdict.proof.slices import Slices
from dialect_utils.verdict.proof.terms import Array, Term, Terms
from dialect_utils.verdict.rules import Rule
from dialect_utils.verdict.rules.arrays import CONVERTED_EXTREME, CONVERTED_FUNCTION
from dialect_utils.verdict.written.labels import elementwise_label
from dialect_utils.verdict.written.terms import swapped_texts, texts_of

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.evaluation import Evaluation

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
_SUM = "add"


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
        """Returns a dot, with the operand first whose term was made first, and its dimensions in their order there."""
        self.terms.note(DOT)
        dot = self.written.contract(operation, self.terms.term(left), self.terms.term(right))
        if self.terms.keeps_bits:
            return dot
        # One product is not rounded twice, so it needs no wider type.
        has_one_product = dot.operands[0].array.dimensions[2] == 1
        return (self._as_sum(dot) if has_one_product else None) or self._widened(dot)

    def _widened(self, dot: Term) -> Array:
        """Returns a dot of operands that are converted to the type of its sum; that of a vector is a sum."""
        terms, result = self.terms, dot.array.element_type
        kind = summed_in(result, *(each.array.element_type for each in dot.operands))
        is_wide = kind is None or all(kind == each.array.element_type for each in (dot, *dot.operands))
        if kind is None or is_wide or not terms.widens_dots:
            return self._as_sum(dot) or self._swapped(dot)
        shape = ArrayShape(kind, dot.array.dimensions)
        plain = terms.make("op", dot.label, shape, [_converted(terms.each_as_is, each, kind) for each in dot.operands])
        terms.step(WIDER, dot, _converted(terms.each_as_is, plain, result))
        wide = terms.make("op", dot.label, shape, [_converted(terms.each, each, kind) for each in dot.operands])
        made = self._as_sum(wide) or self._swapped(wide)
        return made if kind == result else terms.each("convert", result, [terms.term(made)])

    def _as_sum(self, dot: Term) -> Array | None:
        """Returns a dot of one product, or of a vector, as the sum of products that it is; None for another one."""
        terms, (left, right), kind = self.terms, dot.operands, dot.array.element_type
        (batch, rows, summed), columns = left.array.dimensions, right.array.dimensions[1]
        is_known = summed_in(kind) == kind or (summed == 1 and kind.is_floating)
        # Formats without a zero have another number of its bits.
        is_known &= value_of(kind, 0) == 0 and {kind} == {left.array.element_type, right.array.element_type}
        is_plain = swapped_texts(texts_of(dot.label)) is not None
        if not terms.expands_dots or 1 not in (rows, columns, summed) or not is_known or not is_plain:
            return None
        sizes, targets = (batch, rows, columns, summed), ((0, 1, 3), (0, 2, 3))
        flat, zero = (batch * rows * columns, summed), terms.literal(kind, 0, ())
        plain = [self.written.broadcast(each, to, sizes) for each, to in zip(dot.operands, targets, strict=True)]
        product = terms.as_written(reshaped(self, terms.each_as_is("multiply", kind, plain), flat))
        total = reshaped(self, self.written.combine("add", product, zero), dot.array.dimensions)
        terms.step(AS_SUM, dot, terms.as_written(total))
        wide = [self.broadcast(each, to, sizes) for each, to in zip(dot.operands, targets, strict=True)]
        found = self.combine("add", reshaped(self, self.each("multiply", kind, wide), flat), zero)
        return reshaped(self, found, dot.array.dimensions)

    def _swapped(self, dot: Term) -> Array:
        """Returns a dot with the operand first whose term was made first."""
        left, right = dot.operands
        swapped = swapped_texts(texts_of(dot.label))
        if swapped is None or anchor(self.terms, left) <= anchor(self.terms, right):
            return self._ordered(dot)
        batch, rows, columns = dot.array.dimensions
        shape = ArrayShape(dot.array.element_type, (batch, columns, rows))
        inner = self._made(("dot", swapped), shape, [right, left])
        self.terms.certify(DOT.name, dot, self.terms.as_written(transposed(self, inner, (0, 2, 1))))
        return transposed(self, self._ordered(inner), (0, 2, 1))

    def _ordered(self, dot: Term, *, is_sum: bool = False) -> Array:
        """Returns a dot with its dimensions in the order of its operands; what is summed comes last."""
        order, terms = dot_order(self.terms, *dot.operands, is_sum=is_sum), self.terms
        made = dot
        if order.left or order.right:
            moved = [_after(terms, *each) for each in zip(dot.operands, (order.left, order.right), strict=True)]
            shape = ArrayShape(dot.array.element_type, dot.array.dimensions)
            as_is = terms.make("op", dot.label, shape, [terms.as_written(each) for each in moved])
            terms.certify(DOT_ORDER, dot, terms.as_written(_after(terms, as_is, order.result)))
            made = terms.make("op", dot.label, shape, [terms.term(each) for each in moved])
        return made if is_sum else _after(terms, terms.term(self._ordered(made, is_sum=True)), order.result)

    def convolve(
        self,
        operation: Operation,
        lhs: Array,
        rhs: Array,
        window: tuple[WindowDimension, ...],
        groups: int,
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
        return of_factors(self.terms, made)

    # Reductions

    def combine(self, opcode: str, array: Array, initial: Array) -> Term:
        """Returns a reduction; one that is exact takes its initial value last."""
        term, first = self.terms.term(array), self.terms.term(initial)
        self.terms.has_reductions = True
        written = self.written.combine(opcode, term, first)
        if self.terms.keeps_bits:
            return written
        narrow = of_extreme(self.terms, opcode, (term, first))
        if narrow is not None:
            wide = term.array.element_type
            before = self.written.combine(opcode, *(converted(self.terms, wide, each) for each in narrow))
            plain = self.written.combine(opcode, *narrow)
            self.terms.step(CONVERTED_EXTREME, before, converted(self.terms, wide, plain))
            return self.terms.each("convert", wide, [self.combine(opcode, *narrow)])
        found = self._in_order(opcode, term, first)
        combining = self.terms.combining
        return found if combining is None else combining.replaced(written, found)

    def _in_order(self, opcode: str, term: Term, first: Term, *, is_sum: bool = False) -> Term:
        """Returns a reduction with its dimensions in the order of its array; what is reduced comes last."""
        steps, undone = reduction_order(self.terms, term, is_sum=is_sum)
        array = self.terms.term(_after(self.terms, term, steps))
        if steps:
            as_is = self.written.combine(opcode, self.terms.as_written(_after(self.terms, term, steps)), first)
            whole = self.terms.as_written(_after(self.terms, as_is, undone))
            self.terms.certify(REDUCTION_ORDER, self.written.combine(opcode, term, first), whole)
        if is_sum:
            return self._combined(opcode, array, first)
        return self.terms.term(_after(self.terms, self._in_order(opcode, array, first, is_sum=True), undone))

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
        is_sum_from_zero = opcode == _SUM and terms.constant_bits(first) == 0 and value_of(element_type, 0) == 0
        if count == 1 and is_sum_from_zero and element_type.is_floating:
            bare = reshaped(self, array, (rows,))
            terms.step(INITIAL_ZERO, self.written.combine(opcode, array, first), terms.as_written(bare))
            return terms.term(bare)
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
        self.terms.note(REDUCE)
        operands = [self.terms.term(each) for each in (*arrays, *initial)]
        leaves = [static_array(leaf).element_type for value in operation.results for leaf in value.shape.leaves()]
        return self._reduced(leaves, self._applied(function), operands, is_wide=True)

    def _reduced(
        self, kinds: Sequence[ElementType], applied: Term, operands: Sequence[Term], *, is_wide: bool
    ) -> list[Array]:
        """Returns a reduction; one that `is_wide` may be that of narrower types."""
        count, rows = len(operands) // 2, operands[0].array.dimensions[:1]
        opcode = self._reducer(applied, operands[:count], operands[count:])
        written = self._by_function(("reduce", None), kinds, rows, (*operands, applied))
        if opcode is not None:
            self.terms.certify(REDUCE.name, written[0], self.written.combine(opcode, *operands))
            return [self.combine(opcode, *operands)]
        narrow = self._narrowed(kinds, operands, applied) if is_wide else None
        if narrow is None:
            return [*written]
        (types, body, plain) = narrow
        found = self._reduced(types, body, plain, is_wide=False)
        before = self._by_function(("reduce", None), kinds, rows, (*self._as_wide_as(operands, plain), applied))
        after_ = self._by_function(("reduce", None), types, rows, (*plain, body))
        return self._converted(kinds, found, before, after_)

    def _by_function(
        self,
        label: tuple[Hashable, ...],
        kinds: Sequence[ElementType],
        sizes: tuple[int, ...],
        operands: Sequence[Term],
    ) -> list[Term]:
        """Returns the results of a reduction by a function, the last of the operands, as it is written."""
        shapes = tuple(ArrayShape(kind, sizes) for kind in kinds)
        made = self.terms.make("op", label, TupleShape(shapes), operands)
        return [self.terms.make("out", i, shape, (made,)) for i, shape in enumerate(shapes)]

    def _as_wide_as(self, wide: Sequence[Term], narrow: Sequence[Term]) -> list[Term]:
        """Returns narrow operands converted to the types of the wide ones, as it is written."""
        kinds = [(each.array.element_type, other.array.element_type) for each, other in zip(narrow, wide, strict=True)]
        return [
            each if kind == other else converted(self.terms, other, each)
            for each, (kind, other) in zip(narrow, kinds, strict=True)
        ]

    def _converted(
        self, kinds: Sequence[ElementType], found: Sequence[Array], before: Sequence[Term], after_: Sequence[Term]
    ) -> list[Array]:
        """Returns the results of a narrower reduction in the types of the wide one."""
        results: list[Array] = []
        for kind, result, first, second in zip(kinds, map(self.terms.term, found), before, after_, strict=True):
            is_same = result.array.element_type == kind
            self.terms.step(CONVERTED_FUNCTION, first, second if is_same else converted(self.terms, kind, second))
            results.append(result if is_same else self.terms.each("convert", kind, [result]))
        return results

    def _narrowed(
        self, kinds: Sequence[ElementType], operands: Sequence[Term], applied: Term
    ) -> tuple[list[ElementType], Term, list[Term]] | None:
        """Returns the types, the function and the operands of a reduction whose values are converted, else None."""
        count, plain, types = len(kinds), [*operands], [*kinds]
        if [each.array.element_type for each in operands] != [*kinds, *kinds]:
            return None
        for i in range(count):
            narrow = originals(self.terms, (operands[i], operands[count + i]))
            if narrow is not None:
                plain[i], plain[count + i] = narrow
                types[i] = narrow[0].array.element_type
        body = None if types == [*kinds] else narrowed(self.terms, applied, (*types, *types), types)
        return None if body is None else (types, body, plain)

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
        self.terms.note(WINDOW)
        operands = [self.terms.term(each) for each in (*arrays, *initial)]
        leaves = [static_array(leaf).element_type for value in operation.results for leaf in value.shape.leaves()]
        label = ("reduce-window", None, window, has_padding)
        return self._windows(label, leaves, sizes, (*operands, self._applied(function)), is_wide=True)

    def _windows(
        self,
        label: tuple[Any, ...],
        kinds: Sequence[ElementType],
        sizes: tuple[int, ...],
        operands: Sequence[Term],
        *,
        is_wide: bool,
    ) -> list[Array]:
        """Returns a reduction of windows; one that `is_wide` may be that of narrower types."""
        (*arrays, applied), count = operands, len(operands) // 2
        opcode = self._reducer(applied, arrays[:count], arrays[count:])
        written = self._by_function(label, kinds, sizes, operands)
        if opcode is not None:
            made = self._window(label, opcode, sizes, arrays)
            self.terms.certify(WINDOW.name, written[0], made)
            return [self._narrow_window(made, opcode)]
        narrow = self._narrowed(kinds, arrays, applied) if is_wide else None
        if narrow is None:
            return [*written]
        (types, body, plain) = narrow
        found = self._windows(label, types, sizes, (*plain, body), is_wide=False)
        before = self._by_function(label, kinds, sizes, (*self._as_wide_as(arrays, plain), applied))
        return self._converted(kinds, found, before, self._by_function(label, types, sizes, (*plain, body)))

    def _window(self, label: tuple[Any, ...], opcode: str, sizes: tuple[int, ...], operands: Sequence[Term]) -> Term:
        """Returns a reduction of windows by an operation."""
        _, _, window, has_padding = label
        kind, bits = operands[0].array.element_type, self.terms.constant_bits(operands[1])
        is_padded = any(dimension.has_padding for dimension in window)
        is_multiplied = has_padding or not is_padded or is_idempotent(opcode, kind, bits)
        self.terms.has_reductions = True
        return self._made(("reduce-window", opcode, window, is_multiplied), ArrayShape(kind, sizes), operands)

    def _narrow_window(self, made: Term, opcode: str) -> Term:
        """Returns an exact reduction of windows of converted elements as the conversion of a narrower one."""
        narrow, combining = of_extreme(self.terms, opcode, made.operands), self.terms.combining
        if narrow is None:
            return made if combining is None else combining.replaced(made, made)
        wide, sizes, label = made.array.element_type, made.array.dimensions, made.label
        before = self.terms.make("op", label, made.shape, [converted(self.terms, wide, each) for each in narrow])
        found = self.terms.make("op", label, ArrayShape(narrow[0].array.element_type, sizes), narrow)
        self.terms.step(CONVERTED_EXTREME, before, converted(self.terms, wide, found))
        return self.terms.each("convert", wide, [found if combining is None else combining.replaced(found, found)])

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


def _converted(each: Callable[..., Term], term: Term, kind: ElementType) -> Term:
    """Returns a term in an element type, as `each` makes a conversion."""
    return term if term.array.element_type == kind else each("convert", kind, [term])


def _after(terms: Terms, term: Term, steps: Sequence[Step]) -> Array:
    """Returns a term after steps of movement."""
    plan = Plan(term.array.element_type, term.array.dimensions, tuple(steps))
    return terms.chain(term).then(plan) if steps else term
