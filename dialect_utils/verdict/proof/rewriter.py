"""Terms in normal form as nodes of the walker: each definition is rewritten as soon as it is made."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace

from dialect_utils.ir import Operation
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType, Shape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.verdict.proof.loops import Reader, readings
from dialect_utils.verdict.proof.terms import Array, GaveUpError, Moved, Term, Terms, Tree
from dialect_utils.verdict.proof.wholes import Wholes
from dialect_utils.verdict.rules import Rule
from dialect_utils.verdict.rules.arrays import PROMOTED, REDUCTIONS, promotion_level
from dialect_utils.verdict.terms.exchanges import Exchange, function_of
from dialect_utils.verdict.terms.loops import Loop
from dialect_utils.verdict.terms.primitives import ANY_ORDER, Kind, leaves_of

BRANCHES = Rule("branches", "A conditional whose branches have no side effects is a select of their results.")
ORDER = Rule(
    ANY_ORDER, "The engine chooses the order in which a scan calls a function that the program calls associative."
)

# Operations that are walked through before a proof gives up: bodies count each time they are called. 20,000
# instructions are 157,000 where tiling is expanded, which takes five seconds and 300 MB.
_MOST_OPERATIONS = 160_000
_WORD_BITS = 32
_WIDE_FLOAT = ELEMENT_TYPES["f32"]


class Rewriter(Wholes):
    """The terms of one module.

    `loops` are the states of the module's loops, `others` those of the other module's loops, `plans` the plans between
    a shape and its physical array.
    """

    def __init__(
        self,
        terms: Terms,
        others: Sequence[tuple[Shape, ...]] = (),
        plans: Mapping[tuple[Shape, Shape], Sequence[Plan]] | None = None,
    ) -> None:
        super().__init__(terms)
        self.others, self.plans = others, plans or {}
        self.loops: list[tuple[Shape, ...]] = []
        self._count = 0

    # Terms

    def make(self, kind: Kind, label: Hashable, shape: Shape, operands: Sequence[Array] = ()) -> Term:
        return self.terms.make(kind, label, shape, [*map(self.terms.term, operands)])

    def term(self, array: Array) -> Term:
        return self.terms.term(array)

    def shape(self, array: Array) -> Shape:
        return ArrayShape(*array.plan.result) if isinstance(array, Moved) else array.shape

    def literal(self, element_type: ElementType, bits: int, dimensions: tuple[int, ...]) -> Term:
        return self.terms.literal(element_type, bits, dimensions)

    def splat(self, scalar: Array, dimensions: tuple[int, ...]) -> Term:
        return self.terms.splat(self.terms.term(scalar), dimensions)

    def unspecified(self) -> Term:
        return self.terms.unspecified

    def constant_bits(self, array: Array) -> int | None:
        return self.terms.constant_bits(self.terms.term(array))

    def after(self, array: Array, plan: Plan) -> Moved:
        return self.terms.chain(array).then(plan.with_padding(self.terms.unspecified))

    # Control flow

    def in_any_order(self, array: Array) -> Term:
        result = self.terms.term(array)
        self.terms.step(ORDER, self.terms.make("op", (ANY_ORDER,), result.shape, [result]), result)
        return result

    def select(self, selector: Array, results: Sequence[Array]) -> Term:
        terms, (chosen, first, second) = self.terms, map(self.terms.term, (selector, *results))
        operands = terms.splat(chosen, first.array.dimensions), first, second
        if first.is_specified and second.is_specified:
            terms.note(BRANCHES)
            return terms.each("select", first.array.element_type, operands)
        made = terms.choice(None, chosen, (first, second))
        terms.step(BRANCHES, terms.each_as_is("select", first.array.element_type, operands), made)
        return made

    def choice(self, label: Hashable, selector: Array, results: Sequence[Array]) -> Term:
        return self.terms.choice(label, self.terms.term(selector), [*map(self.terms.term, results)])

    def final(self, loop: Loop[Array], start: Sequence[Array]) -> Sequence[Array]:
        """Returns the final state of a loop, read as a loop of the other module where it can be."""
        shapes = tuple(map(self.shape, start))
        self.loops.append(shapes)
        found = (Reader(self.terms, loop, plans).final(start) for plans in readings(shapes, self.others, self.plans))
        # The last reading is the plain one, which always gives a result.
        return next(results for results in found if results is not None)

    # Collectives

    def exchange(
        self, operation: Operation, functions: Sequence[Array], part: Exchange, arrays: Sequence[Array]
    ) -> Sequence[Array]:
        """Returns the results of one exchange; a reduction of narrow numbers in a wider type."""
        # The functions have places of their own.
        self.terms.place = operation
        operands, applied = [*map(self.terms.term, arrays)], [*map(self.terms.term, functions)]
        outs = [*map(self.terms.term, self.walker.exchanged(applied, part, operands))]
        if part.opcode not in REDUCTIONS or len(operands) != 1 or len(applied) != 1:
            return outs
        return [self._wide_exchange(part, operands[0], applied[0], outs[0])]

    def _wide_exchange(self, part: Exchange, operand: Term, applied: Term, narrow: Term) -> Term:
        """Returns a reduction in the type that represents its element type and all narrower ones."""
        kind, terms = operand.array.element_type, self.terms
        wide, opcode = _wide(kind), self.combiner(applied, kind)
        is_kept = (terms.keeps_bits and kind.is_floating) or not operand.is_specified
        if wide is None or opcode is None or is_kept or promotion_level(opcode, kind, wide) is None:
            return narrow
        of_wide = replace(part, shapes=(ArrayShape(wide, narrow.array.dimensions),))

        def reduced(each: Callable[..., Term]) -> Term:
            function = function_of(terms, each, opcode, wide)
            (made,) = self.walker.exchanged([function], of_wide, [each("convert", wide, [operand])])
            return terms.term(made)

        terms.step(PROMOTED, narrow, terms.each_as_is("convert", kind, [reduced(terms.each_as_is)]))
        return terms.each("convert", kind, [reduced(terms.each)])

    # Records of a proof

    def enter(self, operation: Operation) -> None:
        """Records that the following terms belong to an operation; raises GaveUpError where there are too many."""
        self._count += 1
        if self._count > _MOST_OPERATIONS:
            raise GaveUpError(f"there are more than {_MOST_OPERATIONS} operations where calls are inlined")
        self.terms.place = operation

    def leave(self, results: Sequence[Tree]) -> None:
        """Records the values of the first module."""
        if not self.terms.side:
            for tree in results:
                self.terms.computed.extend(leaves_of(tree))

    def note(self, rule: Rule) -> None:
        self.terms.note(rule)


def _wide(kind: ElementType) -> ElementType | None:
    """Returns the type of 32 bits that holds every value of a narrower one, or None."""
    if kind.bits >= _WORD_BITS or kind.is_complex:
        return None
    if kind.is_integral:
        return ELEMENT_TYPES["s32" if kind.is_signed else "u32"]
    return _WIDE_FLOAT if kind.is_floating else None
