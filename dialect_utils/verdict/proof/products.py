"""Dots and convolutions as terms, with operands and dimensions in a normal order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dialect_utils.ir import Operation
from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.ops.contractions import summed_in
from dialect_utils.ops.domain import reshaped, section, transposed
from dialect_utils.ops.window import Windows
from dialect_utils.verdict.proof.algebra.widening import of_factors, of_operands
from dialect_utils.verdict.proof.contractions import AS_SUM, DOT, DOT_ORDER, dot_order
from dialect_utils.verdict.proof.movement import after
from dialect_utils.verdict.proof.slices import Slices
from dialect_utils.verdict.proof.sources import anchor
from dialect_utils.verdict.proof.terms import Array, Term
from dialect_utils.verdict.rules import Rule
from dialect_utils.verdict.rules.arrays import CONVOLUTION_PADDING, WIDER_DOT
from dialect_utils.verdict.rules.formats import value_of
from dialect_utils.verdict.terms.constants import positions_of
from dialect_utils.verdict.terms.primitives import swapped_texts, texts_of

PADDED_DOT = Rule("padded-dot", "Products of two zeros that pad both operands of a dot add nothing to a sum.")
WINDOW = Rule(
    "window", "The dimensions of a convolution may be in any order, and both dialects describe the same windows."
)


class Products(Slices):
    """The primitives that multiply and add, on terms."""

    def contract(self, operation: Operation, left: Array, right: Array) -> Array:
        """Returns a dot with the earlier term as left operand, and dimensions sorted as in the source arrays."""
        self.terms.note(DOT)
        return self.contracted(self.written.contract(operation, self.terms.term(left), self.terms.term(right)))

    def contracted(self, dot: Term) -> Array:
        """Returns the normal form of a dot."""
        if self.terms.strategy.keeps_bits:
            return dot
        dot = of_operands(self.terms, dot)
        if self.terms.masks is not None and (part := self._unpadded(dot)) is not None:
            return self.contracted(part)
        # One product is not rounded twice, so it needs no wider type.
        has_one_product = dot.operands[0].array.dimensions[2] == 1
        return (self._as_sum(dot) if has_one_product else None) or self._widened(dot)

    def _unpadded(self, dot: Term) -> Term | None:
        """Returns a dot without the products of two zeros that pad both operands; None where there are none."""
        terms, chains = self.terms, [*map(self.terms.chain, dot.operands)]
        size = dot.operands[0].array.dimensions[2]
        if not all(chain.plan.adds_elements for chain in chains) or not dot.is_specified:
            return None
        places = [positions_of(chain.plan) for chain in chains]
        paddings = [each for chain in chains for each in chain.plan.paddings if isinstance(each, Term)]
        if any(each is None for each in places) or any(terms.constant_bits(each) != 0 for each in paddings):
            return None
        used = sum((each >= 0).any(axis=(0, 1)) for each in places).nonzero()[0]
        if not len(used) or used[-1] - used[0] + 1 in (size, 0):
            return None
        moved = [section(self, chain, 2, int(used[-1] - used[0]) + 1, int(used[0])) for chain in chains]
        as_is, made = (
            terms.make("op", dot.label, dot.shape, [*map(of, moved)]) for of in (terms.as_written, terms.term)
        )
        terms.step(PADDED_DOT, dot, as_is)
        return made

    def _widened(self, dot: Term) -> Array:
        """Returns a dot on operands converted to the type of its sum, or the sum that equals a dot of a vector."""
        terms, result = self.terms, dot.array.element_type
        kind = summed_in(result, *(each.array.element_type for each in dot.operands))
        is_wide = kind is None or all(kind == each.array.element_type for each in (dot, *dot.operands))
        if kind is None or is_wide or not terms.widens_dots:
            return self._as_sum(dot) or self._swapped(dot)
        shape = ArrayShape(kind, dot.array.dimensions)
        plain = terms.make("op", dot.label, shape, [_converted(terms.each_as_is, each, kind) for each in dot.operands])
        terms.step(WIDER_DOT, dot, _converted(terms.each_as_is, plain, result))
        wide = terms.make("op", dot.label, shape, [_converted(terms.each, each, kind) for each in dot.operands])
        made = self._as_sum(wide) or self._swapped(wide)
        return made if kind == result else terms.each("convert", result, [terms.term(made)])

    def _as_sum(self, dot: Term) -> Array | None:
        """Returns a dot of a vector, or with one product per element, as reduce(multiply); None for other dots."""
        terms, (left, right), kind = self.terms, dot.operands, dot.array.element_type
        (batch, rows, summed), columns = left.array.dimensions, right.array.dimensions[1]
        is_known = summed_in(kind) == kind or (summed == 1 and kind.is_floating)
        # Bits 0 are not zero in a format without zero (f8e8m0fnu).
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
        """Returns a dot with the earlier term as left operand."""
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
        """Returns a dot with its dimensions sorted as in the operands; the summed dimension is sorted last."""
        terms, made = self.terms, dot
        *steps, back = dot_order(terms, *dot.operands, is_sum=is_sum)
        if any(steps):
            moved = [after(terms, *each) for each in zip(dot.operands, steps, strict=True)]
            shape = ArrayShape(dot.array.element_type, dot.array.dimensions)
            as_is = terms.make("op", dot.label, shape, [terms.as_written(each) for each in moved])
            terms.certify(DOT_ORDER, dot, terms.as_written(after(terms, as_is, back)))
            made = terms.make("op", dot.label, shape, [terms.term(each) for each in moved])
        return made if is_sum else after(terms, terms.term(self._ordered(made, is_sum=True)), back)

    def convolve(self, windows: Windows, lhs: Array, rhs: Array, groups: int) -> Term:
        self.terms.note(WINDOW)
        operands = self.terms.term(lhs), self.terms.term(rhs)
        is_multiplied = windows.has_padding and not self.terms.skips_padding
        made = self.written.convolve(replace(windows, has_padding=is_multiplied), *operands, groups)
        self.terms.step(CONVOLUTION_PADDING, self.written.convolve(windows, *operands, groups), made)
        return of_factors(self.terms, of_operands(self.terms, made))


def _converted(each: Callable[..., Term], term: Term, kind: ElementType) -> Term:
    """Returns a term in an element type, as `each` makes a conversion."""
    return term if term.array.element_type == kind else each("convert", kind, [term])
