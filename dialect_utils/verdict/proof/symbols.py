"""Whole arrays as terms: each primitive of a definition makes a term in normal form, and records its rule.

Definitions join dimensions with the same role, such as all reduced ones. So an operation on a transposed or reshaped
operand becomes the same term, and only the plan after it differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dialect_utils.ir import Function, Operation
from dialect_utils.layout import ArrayShape, ElementType, Reshape, Transpose
from dialect_utils.ops.contractions import summed_in
from dialect_utils.ops.domain import reshaped, section
from dialect_utils.ops.window import Windows
from dialect_utils.verdict.proof.algebra.matching import converted
from dialect_utils.verdict.proof.algebra.widening import all_unconverted, narrowed, of_extreme
from dialect_utils.verdict.proof.combining import REGROUPED
from dialect_utils.verdict.proof.contractions import BATCH_SUM, REDUCTION_ORDER, batch_sum, reduction_order
from dialect_utils.verdict.proof.movement import after
from dialect_utils.verdict.proof.products import WINDOW, Products
from dialect_utils.verdict.proof.terms import MOVED, Array, Term
from dialect_utils.verdict.rules import Rule
from dialect_utils.verdict.rules.arrays import COMMUTATIVE, CONVERTED_FUNCTION, INITIAL, INITIAL_ZERO
from dialect_utils.verdict.rules.formats import value_of
from dialect_utils.verdict.terms.combinations import absorbs, is_exact, neutral, try_combination
from dialect_utils.verdict.terms.constants import positions_of
from dialect_utils.verdict.terms.primitives import result_types
from dialect_utils.verdict.terms.relations import try_prove_same_combination

REDUCE = Rule("reduce", "The dimensions that a reduction keeps, and those that it reduces, may be in any order.")

_SUM = "add"


class Symbols(Products):
    """The primitives on terms."""

    # Reductions

    def combine(self, opcode: str, array: Array, initial: Array) -> Term:
        """Returns a reduction in normal form; an exact reduction combines its initial value last."""
        term, first = self.terms.term(array), self.terms.term(initial)
        self.terms.has_reductions = True
        written = self.written.combine(opcode, term, first)
        if self.terms.strategy.keeps_bits:
            return written
        if self.terms.masks is not None:
            kind, bits = term.array.element_type, self.terms.constant_bits(first)
            is_negative = opcode == _SUM and kind.is_floating and bits != 0 and absorbs(opcode, kind, bits)
            if is_negative and self.terms.may_choose():
                zero = self.terms.literal(kind, 0, ())
                self.terms.step(INITIAL_ZERO, written, self.written.combine(opcode, term, zero))
                return self.combine(opcode, term, zero)
            joined, start = self._joined(opcode, term, first)
            if joined is not term and self._is_regrouped(opcode, written, self.terms.as_written(joined), start):
                return self.combine(opcode, joined, start)
        if self.terms.combining is not None and self._begins_with_zero(opcode, term, first):
            unit = self.terms.literal(term.array.element_type, neutral(opcode, term.array.element_type) or 0, ())
            self.terms.step(INITIAL_ZERO, written, self.written.combine(opcode, term, unit))
            return self.combine(opcode, term, unit)
        narrow = of_extreme(self.terms, opcode, written)
        if narrow is not None:
            return self.terms.each("convert", term.array.element_type, [self.combine(opcode, *narrow.operands)])
        found = self._in_order(opcode, term, first)
        combining = self.terms.combining
        return found if combining is None else combining.replaced(written, found)

    def _begins_with_zero(self, opcode: str, array: Term, first: Term) -> bool:
        """Is true for a sum of floats from +0, which an engine may begin with the first element."""
        kind = array.array.element_type
        is_zero = opcode == _SUM and kind.is_floating and self.terms.constant_bits(first) == 0
        return is_zero and neutral(opcode, kind) not in (None, 0) and self.terms.may_choose()

    def _is_regrouped(self, opcode: str, before: Term, array: Term, first: Term) -> bool:
        """Is true where a reduction of another array is proved to combine the same elements; adds the step."""
        after_ = self.written.combine(opcode, array, first)
        if not all(try_combination(each, opcode) for each in (before, after_)):
            return False
        if not try_prove_same_combination(before, after_, opcode):
            return False
        self.terms.step(REGROUPED, before, after_)
        return True

    def _joined(self, opcode: str, array: Term, first: Term) -> tuple[Array, Term]:
        """Returns an array [kept, reduced] without reductions inside, and without padding that changes nothing.

        Also returns the initial value of its reduction.
        """
        terms, chain, kind = self.terms, self.terms.chain(array), array.array.element_type
        inner, (rows, count) = chain.base, array.array.dimensions
        paddings = [each for each in chain.plan.paddings if each is not None]
        if chain.plan.regroups_bits or not all(
            isinstance(each, Term) and absorbs(opcode, kind, terms.constant_bits(each)) for each in paddings
        ):
            return array, first
        if inner.kind == "op" and inner.label == ("reduce", opcode):
            source, start = inner.operands
            if absorbs(opcode, kind, terms.constant_bits(start)):
                size = source.array.dimensions[1]
                wide = chain.plan.with_minor_dimensions([size])
                is_neutral = terms.constant_bits(first) == neutral(opcode, kind)
                joined = reshaped(self, terms.chain(source).then(wide), (rows, count * size))
                return joined, start if is_neutral else first
        places = positions_of(chain.plan) if paddings and rows and count else None
        if places is None:
            return array, first
        used = (places >= 0).any(axis=0).nonzero()[0]
        if not len(used) or len(used) == count or used[-1] - used[0] + 1 != len(used):
            return array, first
        return section(self, terms.chain(array), 1, len(used), int(used[0])), first

    def _in_order(self, opcode: str, term: Term, first: Term, *, is_sum: bool = False) -> Term:
        """Returns a reduction with its dimensions sorted as in the source array; the reduced one is sorted last."""
        steps, undone = reduction_order(self.terms, term, is_sum=is_sum)
        array = self.terms.term(after(self.terms, term, steps))
        if steps:
            as_is = self.written.combine(opcode, self.terms.as_written(after(self.terms, term, steps)), first)
            whole = self.terms.as_written(after(self.terms, as_is, undone))
            self.terms.certify(REDUCTION_ORDER, self.written.combine(opcode, term, first), whole)
        if is_sum:
            return self._combined(opcode, array, first)
        return self.terms.term(after(self.terms, self._in_order(opcode, array, first, is_sum=True), undone))

    def _combined(self, opcode: str, array: Term, first: Term) -> Term:
        terms = self.terms
        rows, count = array.array.dimensions
        element_type = array.array.element_type
        unit = neutral(opcode, element_type)
        is_neutral = unit is not None and terms.constant_bits(first) == unit
        last = terms.splat(first, (rows,))
        if opcode == _SUM and terms.masks is not None and (is_neutral or terms.constant_bits(first) == 0):
            joined = self._batch_sum(array, first)
            if joined is not None:
                return joined
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
        start = terms.literal(element_type, unit or 0, ())
        return self._after(opcode, array, first, self.written.combine(opcode, array, start), last)

    def _batch_sum(self, array: Term, first: Term) -> Term | None:
        """Returns a sum over a part of a dot's batch as the dot that sums these products, too; None for others."""
        terms, chain = self.terms, self.terms.chain(array)
        dot, kind = chain.base, array.array.element_type
        if dot.kind != "op" or not isinstance(dot.label, tuple) or dot.label[0] != "dot":
            return None
        factors, kinds = batch_sum(chain.plan), [each.array.element_type for each in dot.operands]
        if factors is None or summed_in(kind, *kinds) not in (None, kind) or value_of(kind, 0) != 0:
            return None
        outer, size, inner = factors
        (_, rows, summed), columns = dot.operands[0].array.dimensions, dot.operands[1].array.dimensions[1]
        moved = [
            after(
                terms,
                each,
                (
                    Reshape((outer, size, inner, lines, summed)),
                    Transpose((0, 2, 3, 1, 4)),
                    Reshape((outer * inner, lines, size * summed)),
                ),
            )
            for each, lines in zip(dot.operands, (rows, columns), strict=True)
        ]
        shape = ArrayShape(kind, (outer * inner, rows, columns))
        flat = outer * inner * rows * columns
        steps = Reshape((outer, size, inner, rows, columns)), Transpose((0, 2, 3, 4, 1)), Reshape((flat, size))
        plain = terms.as_written(after(terms, dot, steps))
        terms.certify(MOVED, array, plain)
        as_is = terms.make("op", dot.label, shape, [*map(terms.as_written, moved)])
        before = self.written.combine(_SUM, plain, first)
        terms.step(BATCH_SUM, before, terms.as_written(reshaped(self, as_is, (flat,))))
        made = terms.make("op", dot.label, shape, [*map(terms.term, moved)])
        return terms.term(reshaped(self, self.contracted(made), (flat,)))

    def _is_last(self, opcode: str, element_type: ElementType) -> bool:
        return neutral(opcode, element_type) is not None and is_exact(opcode, element_type)

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
        """Returns a reduction by a commutative opcode if the function is one, else by the function."""
        self.terms.note(REDUCE)
        operands = (*map(self.terms.term, (*arrays, *initial)), self.function(function))
        return self._reduced(("reduce", None), result_types(operation), self.dimensions(arrays[0])[:1], operands)

    def _reduced(
        self,
        label: tuple[Any, ...],
        kinds: Sequence[ElementType],
        sizes: tuple[int, ...],
        operands: Sequence[Term],
        *,
        is_wide: bool = True,
    ) -> list[Array]:
        """Returns a reduction; with `is_wide` a reduction of converted operands may become a converted reduction."""
        (*arrays, applied), count = operands, len(operands) // 2
        opcode = self._reducer(applied, arrays[:count], arrays[count:])
        written = self.written.in_general(label, kinds, operands, sizes)
        if opcode is not None and label[0] == "reduce":
            self.terms.certify(REDUCE.name, written[0], self.written.combine(opcode, *arrays))
            return [self.combine(opcode, *arrays)]
        if opcode is not None:
            made = self._window(label, opcode, sizes, arrays)
            self.terms.certify(WINDOW.name, written[0], made)
            return [self._narrow_window(made, opcode)]
        narrow = self._narrowed(kinds, arrays, applied) if is_wide else None
        if narrow is None:
            return [*written]
        (types, body, plain) = narrow
        found = self._reduced(label, types, sizes, (*plain, body), is_wide=False)
        before = self.written.in_general(label, kinds, (*self._as_wide_as(arrays, plain), applied), sizes)
        return self._converted(kinds, found, before, self.written.in_general(label, types, (*plain, body), sizes))

    def _as_wide_as(self, wide: Sequence[Term], narrow: Sequence[Term]) -> list[Term]:
        """Returns narrow operands converted to the types of the wide operands, not in normal form."""
        kinds = [(each.array.element_type, other.array.element_type) for each, other in zip(narrow, wide, strict=True)]
        return [
            each if kind == other else converted(self.terms, other, each)
            for each, (kind, other) in zip(narrow, kinds, strict=True)
        ]

    def _converted(
        self, kinds: Sequence[ElementType], found: Sequence[Array], before: Sequence[Term], after_: Sequence[Term]
    ) -> list[Array]:
        """Returns the results of a narrower reduction, converted to the types of the wide one."""
        results: list[Array] = []
        for kind, result, first, second in zip(kinds, map(self.terms.term, found), before, after_, strict=True):
            is_same = result.array.element_type == kind
            self.terms.step(CONVERTED_FUNCTION, first, second if is_same else converted(self.terms, kind, second))
            results.append(result if is_same else self.terms.each("convert", kind, [result]))
        return results

    def _narrowed(
        self, kinds: Sequence[ElementType], operands: Sequence[Term], applied: Term
    ) -> tuple[list[ElementType], Term, list[Term]] | None:
        """Returns the narrower types, function and operands of a reduction of converted operands, else None."""
        count, plain, types = len(kinds), [*operands], [*kinds]
        if [each.array.element_type for each in operands] != [*kinds, *kinds]:
            return None
        for i in range(count):
            narrow = all_unconverted(self.terms, (operands[i], operands[count + i]))
            if narrow is not None:
                plain[i], plain[count + i] = narrow
                types[i] = narrow[0].array.element_type
        body = None if types == [*kinds] else narrowed(self.terms, applied, (*types, *types), types)
        return None if body is None else (types, body, plain)

    def reduce_window(
        self, windows: Windows, function: Function, arrays: Sequence[Array], initial: Sequence[Array]
    ) -> list[Array]:
        """Returns a reduction of windows by a commutative opcode if the function is one, else by the function."""
        self.terms.note(WINDOW)
        operands = (*map(self.terms.term, (*arrays, *initial)), self.function(function))
        label = ("reduce-window", None, windows.window, windows.has_padding)
        return self._reduced(label, result_types(windows.operation), windows.sizes, operands)

    def _window(self, label: tuple[Any, ...], opcode: str, sizes: tuple[int, ...], operands: Sequence[Term]) -> Term:
        """Returns a reduction of windows by an operation."""
        _, _, window, has_padding = label
        kind, bits = operands[0].array.element_type, self.terms.constant_bits(operands[1])
        is_padded = any(dimension.has_padding for dimension in window)
        is_multiplied = has_padding or not is_padded or absorbs(opcode, kind, bits)
        self.terms.has_reductions = True
        return self._made(("reduce-window", opcode, window, is_multiplied), ArrayShape(kind, sizes), operands)

    def _narrow_window(self, made: Term, opcode: str) -> Term:
        """Returns max over windows of convert(x) as convert(max over windows of x); other reductions unchanged."""
        narrow, combining = of_extreme(self.terms, opcode, made), self.terms.combining
        plain = narrow or made
        found = plain if combining is None else combining.replaced(plain, plain)
        return found if narrow is None else self.terms.each("convert", made.array.element_type, [found])

    def _reducer(self, applied: Term, arrays: Sequence[Array], initial: Sequence[Array]) -> str | None:
        """Returns the commutative opcode that a reduction's function applies to its two parameters, or None."""
        kind = self.element_type(arrays[0])
        is_single = len(arrays) == 1 and self.element_type(initial[0]) == kind
        return self.combiner(applied, kind) if is_single else None

    def combiner(self, applied: Term, kind: ElementType) -> str | None:
        """Returns the commutative opcode that a function of two scalars applies to its parameters, or None."""
        assert isinstance(applied.label, tuple)  # a function's label is (function, level, shapes, count)
        level, shapes, count = applied.label[1:]
        scalar = ArrayShape(kind, ())
        if len(applied.operands) != 1 or count != 1 or shapes != (scalar, scalar):
            return None
        variables = [self.terms.make("leaf", ("bound", level, i), scalar) for i in range(2)]
        found = (each for each in sorted(COMMUTATIVE) if self.terms.each(each, kind, variables) is applied.operands[0])
        return next(found, None)
