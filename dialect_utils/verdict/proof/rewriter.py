"""The maker of terms in normal form for the walker: each operation is rewritten as soon as it is made."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace

from dialect_utils.ir import Operation
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType, Shape, Slice, Step
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.verdict.proof.loops import Reader, readings
from dialect_utils.verdict.proof.normal_forms import try_box
from dialect_utils.verdict.proof.parts import try_movement
from dialect_utils.verdict.proof.symbols import Symbols
from dialect_utils.verdict.proof.terms import MOVED, THROUGH, Array, GaveUpError, Moved, Term, Terms, Tree
from dialect_utils.verdict.rules import Rule
from dialect_utils.verdict.rules.arrays import BRANCHES, ORDER, PROMOTED, REDUCTIONS, promotion_level
from dialect_utils.verdict.terms.constants import positions_of
from dialect_utils.verdict.terms.cuts import Cut, before_plan, operand_cuts
from dialect_utils.verdict.terms.exchanges import Exchange, function_of
from dialect_utils.verdict.terms.loops import Loop
from dialect_utils.verdict.terms.primitives import ANY_ORDER, Kind, bottom_up, leaves_of

PART = Rule(
    "part", "A part of a dot, a reduction or a broadcast is the dot, reduction or broadcast of a part of its operands."
)
# A step: adjacent slices of an array, concatenated, are the array.
JOINED = "joined-slices"

# The most terms that a concatenation is compared with, and about the most cuts of a proof.
_MOST_CANDIDATES = 8
_MOST_CUTS = 20_000
_Key = tuple[Term, Cut]


class WholeArrays(Symbols):
    """The primitives on terms, where a concatenation of parts may be a whole array of the first program.

    A program may compute the rows of an array in two parts. Each part is the cut of a term of the first program: a cut
    of a dot is a dot of a cut operand, and so on.
    """

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self._cuts: dict[_Key, Term] = {}
        self._shaped: dict[tuple[ElementType, tuple[int, ...]], list[Array]] = {}

    def concatenate(self, arrays: Sequence[Array], dimension: int) -> Term:
        """Returns a concatenation, or the movement or the term of the first program whose parts it joins."""
        if self.terms.masks is not None and (moved := self._moved_parts(arrays, dimension)) is not None:
            return moved
        if self.terms.side and not self.terms.strategy.keeps_bits and len(self._cuts) < _MOST_CUTS:
            joined = self.written.concatenate([*map(self.terms.term, arrays)], dimension)
            for whole in self._candidates(joined) if joined.is_specified else ():
                if self._is_whole(whole, joined, dimension):
                    return whole
        return super().concatenate(arrays, dimension)

    def _moved_parts(self, arrays: Sequence[Array], dimension: int) -> Term | None:
        """Returns a concatenation of parts of one array as movement of the array; None for other parts."""
        import numpy as np

        terms = self.terms
        parts = [*map(terms.term, arrays)]
        chains = [*map(terms.chain, parts)]
        base = chains[0].base
        if any(each.base is not base or each.plan.adds_elements for each in chains) or len(parts) == 1:
            return None
        places = [positions_of(each.plan) for each in chains]
        plan = (
            None
            if any(each is None for each in places)
            else try_movement(np.concatenate(places, dimension), base.array)
        )
        if plan is None:
            return None
        terms.certify(JOINED, self.written.concatenate(parts, dimension), terms.moved_as_is(base, plan))
        return terms.term(terms.chain(base).then(plan))

    def moved(self, array: Array, step: Step, padding: Array | None) -> Array:
        """Returns an array after one more step; a slice that may drop undefined padding is one of operands."""
        cuts = self.terms.strategy.cuts
        if (self.terms.masks is not None or cuts) and isinstance(step, Slice) and {*step.strides} <= {1}:
            term = self.terms.term(array)
            if (cuts or not term.is_specified) and 0 not in term.array.dimensions:
                return self.sliced(term, step)
        return super().moved(array, step, padding)

    def sliced(self, term: Term, step: Slice) -> Term:
        """Returns a slice in normal form, cut by cut."""
        source, written = term, term
        for dimension, (start, limit) in enumerate(zip(step.start, step.limit, strict=True)):
            size = term.array.dimensions[dimension]
            if limit - start < size:
                cut = Cut(dimension, 1, size, start, limit)
                written = self.terms.moved_as_is(written, cut.plan(written.array))
                term = self._cut(term, cut)
        plan = Plan(*source.array.type_and_dimensions, (step,))
        self.terms.certify(MOVED, self.terms.moved_as_is(source, plan), written)
        return term

    def _candidates(self, joined: Term) -> list[Term]:
        """Returns terms of the first program with the shape of a concatenation and the operation of its first part."""
        if not self._shaped:
            for array in self.terms.computed:
                if isinstance(array, Moved) or isinstance(array.shape, ArrayShape):
                    self._shaped.setdefault((self.element_type(array), self.dimensions(array)), []).append(array)
        shaped = self._shaped.get(joined.array.type_and_dimensions, ())
        head = _head(joined.operands[0])
        found = [term for term in dict.fromkeys(map(self.terms.term, shaped)) if _head(term) == head]
        return found[:_MOST_CANDIDATES]

    def _is_whole(self, whole: Term, joined: Term, dimension: int) -> bool:
        """Is true for a term whose cuts are the parts of a concatenation."""
        size, start, cuts = joined.array.dimensions[dimension], 0, []
        for part in joined.operands:
            limit = start + part.array.dimensions[dimension]
            cuts.append(Cut(dimension, 1, size, start, limit))
            if self._cut(whole, cuts[-1]) is not part:
                return False
            start = limit
        plain = [self.terms.moved_as_is(whole, cut.plan(whole.array)) for cut in cuts]
        self.terms.certify(JOINED, self.written.concatenate(plain, dimension), whole)
        self.terms.note(PART)
        return True

    def _cut(self, term: Term, cut: Cut) -> Term:
        """Returns the cut of a term, in normal form."""
        for key in bottom_up((term, cut), self._cuts, lambda key: self._needed(*key)):
            self._cuts[key] = self._made_cut(*key)
        return self._cuts[term, cut]

    def _needed(self, term: Term, cut: Cut) -> list[_Key]:
        """Returns the cuts of operands that the cut of a term needs: rows of a dot need rows of its left operand."""
        if term.kind == "each":
            return [(operand, cut) for operand in term.operands]
        if term.kind == "moved":
            found = self._before(term, cut)
            return [] if found is None else [(term.operands[0], found[0])]
        cuts = operand_cuts(term.kind, term.label, cut) or ()
        return [(operand, own) for operand, own in zip(term.operands, cuts, strict=False) if own is not None]

    def _before(self, term: Term, cut: Cut) -> tuple[Cut, Plan] | None:
        chain = self.terms.chain(term)
        found = before_plan(chain.plan, cut)
        if found is None or chain.base.kind == "each":
            return found
        return found if operand_cuts(chain.base.kind, chain.base.label, found[0]) is not None else None

    def _made_cut(self, term: Term, cut: Cut) -> Term:
        terms, plan = self.terms, cut.plan(term.array)
        before = terms.moved_as_is(term, plan)
        shape = ArrayShape(term.array.element_type, cut.resized(term.array.dimensions))
        if term.kind == "each":
            plain = [terms.moved_as_is(each, plan.retyped(each.array.element_type)) for each in term.operands]
            terms.certify(THROUGH, before, terms.make("each", term.label, shape, plain))
            return terms.each(term.label, shape.element_type, [self._cuts[each, cut] for each in term.operands])
        if term.kind == "moved" and (found := self._before(term, cut)) is not None:
            base = term.operands[0]
            inner = terms.moved_as_is(base, found[0].plan(base.array))
            terms.certify(MOVED, before, terms.moved_as_is(inner, found[1]))
            return terms.term(terms.chain(self._cuts[base, found[0]]).then(found[1]))
        cuts = operand_cuts(term.kind, term.label, cut)
        if cuts is None:
            return self._deeper(terms.term(terms.chain(term).then(plan)))
        operands, plain = [], []
        for operand, own in zip(term.operands, cuts, strict=True):
            operands.append(operand if own is None else self._cuts[operand, own])
            plain.append(operand if own is None else terms.moved_as_is(operand, own.plan(operand.array)))
        terms.certify(PART.name, before, terms.make("op", term.label, shape, plain))
        return self._remade(terms.make("op", term.label, shape, operands))

    def _deeper(self, term: Term) -> Term:
        """Returns a slice of a part of a concatenation as one of the operands of the part."""
        chain, terms = self.terms.chain(term), self.terms
        is_known = operand_cuts(chain.base.kind, chain.base.label, Cut(0, 1, 1, 0, 1)) is not None
        plan = try_box(chain.plan) if is_known and chain.plan.drops_elements else None
        if plan is None or not isinstance(plan.steps[0], Slice):
            return term
        rest = plan.part(1, len(plan.steps))
        terms.certify(MOVED, term, terms.moved_as_is(terms.moved_as_is(chain.base, plan.part(0, 1)), rest))
        return terms.term(terms.chain(self.sliced(chain.base, plan.steps[0])).then(rest))

    def _remade(self, term: Term) -> Term:
        """Returns the normal form of a dot, reduction or broadcast."""
        assert isinstance(term.label, tuple)  # checked by `operand_cuts`
        name, value = term.label
        if name == "dot":
            return self.terms.term(self.contracted(term))
        if name == "reduce":
            return self.combine(value, *term.operands)
        return self.broadcast(term.operands[0], value, term.array.dimensions)


def _head(term: Term) -> tuple[str, Hashable]:
    """Returns the kind and label of a term below its movement."""
    while term.kind == "moved":
        term = term.operands[0]
    return term.kind, term.label if term.kind in ("each", "op") else None


# The most operations that a proof walks through; a body counts at each call. A dump of 20,000 instructions with
# expanded tiling has 157,000 operations, which take five seconds and 300 MB.
_MOST_OPERATIONS = 160_000
_WORD_BITS = 32
_WIDE_FLOAT = ELEMENT_TYPES["f32"]


class Rewriter(WholeArrays):
    """The terms of one module.

    `loops` are the shapes of the module's loop states, `others` the shapes in the other module, `plans` the plans
    between a shape and its physical array.
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

    def after(self, array: Array, plan: Plan) -> Moved:
        return self.terms.chain(array).then(plan.with_padding(self.terms.unspecified))

    # Control flow

    def in_any_order(self, array: Array, order: Hashable) -> Term:
        result, label = self.terms.term(array), (ANY_ORDER, order)
        if order in self.terms.orders:
            return self.terms.each(label, result.array.element_type, [result])
        self.terms.step(ORDER, self.terms.each_as_is(label, result.array.element_type, [result]), result)
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
        """Returns the final state of a loop, read as a loop of the other module if possible."""
        shapes = tuple(map(self.shape, start))
        self.loops.append(shapes)
        found = (Reader(self.terms, loop, plans).final(start) for plans in readings(shapes, self.others, self.plans))
        # The last reading is the plain one, which always gives a result.
        return next(results for results in found if results is not None)

    # Collectives

    def exchange(
        self, operation: Operation, functions: Sequence[Array], part: Exchange, arrays: Sequence[Array]
    ) -> Sequence[Array]:
        """Returns the results of one exchange; a reduction of f16 becomes a converted reduction of f32."""
        # `functions` has changed the current operation.
        self.terms.place = operation
        operands, applied = [*map(self.terms.term, arrays)], [*map(self.terms.term, functions)]
        outs = [*map(self.terms.term, self.walker.exchanged(applied, part, operands))]
        if part.opcode not in REDUCTIONS or len(operands) != 1 or len(applied) != 1:
            return outs
        return [self._wide_exchange(part, operands[0], applied[0], outs[0])]

    def _wide_exchange(self, part: Exchange, operand: Term, applied: Term, narrow: Term) -> Term:
        """Returns a reduction as the converted reduction in 32 bits, or `narrow` where that is not exact."""
        kind, terms = operand.array.element_type, self.terms
        wide, opcode = _wide(kind), self.combiner(applied, kind)
        is_kept = (terms.strategy.keeps_bits and kind.is_floating) or not operand.is_specified
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
