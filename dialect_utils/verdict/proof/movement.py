"""Broadcasts, reversals and concatenations as terms in normal form; each primitive records its rule."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import prod

from dialect_utils.ir import Function
from dialect_utils.layout import ArrayShape, ElementType, Step
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.steps import inverse_permutation
from dialect_utils.ops.domain import reshaped, static_array, transposed
from dialect_utils.verdict.proof.sources import CONCATENATE, array_order, concatenated
from dialect_utils.verdict.proof.terms import BROADCAST, Array, Moved, Term, Terms
from dialect_utils.verdict.rules import Rule
from dialect_utils.verdict.terms.maker import Maker
from dialect_utils.verdict.terms.primitives import Primitives

REVERSE = Rule(
    "reverse", "Two reversals of a dimension cancel each other, and elementwise operations commute with a reversal."
)

# A step that moves a broadcast before a plan.
PADDED = "broadcast-moved"


class Movement(Maker[Array]):
    """The primitives that select elements, on terms."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.written: Primitives[Term] = Primitives(terms, self.function)

    def function(self, function: Function) -> Term:
        """Returns the function that an operation applies; raises UndefinedError where it has effects."""
        return self.terms.term(self.applied(function))

    def _made(self, label: tuple[object, ...], shape: ArrayShape, operands: Sequence[Array]) -> Term:
        return self.terms.make("op", label, shape, [self.terms.term(each) for each in operands])

    def dimensions(self, array: Array) -> tuple[int, ...]:
        return array.plan.result[1] if isinstance(array, Moved) else static_array(array.shape).dimensions

    def element_type(self, array: Array) -> ElementType:
        return array.plan.result[0] if isinstance(array, Moved) else static_array(array.shape).element_type

    def contents(self, array: Array) -> int | bytes | None:
        term = self.terms.term(array)
        data = term.label if term.kind == "constant" and isinstance(term.label, bytes) else None
        return self.terms.constant_bits(term) if data is None else data

    def each(self, label: Hashable, element_type: ElementType, operands: Sequence[Array]) -> Term:
        return self.terms.each(label, element_type, [self.terms.term(each) for each in operands])

    def moved(self, array: Array, step: Step, padding: Array | None) -> Array:
        return self.terms.chain(array).append(step, None if padding is None else self.terms.term(padding))

    def reread(self, array: Array, element_type: ElementType) -> Term:
        return self.terms.reread(self.terms.term(array), element_type)

    def broadcast(self, array: Array, dimensions: Sequence[int], sizes: Sequence[int]) -> Term:
        """Returns a broadcast after dropping dimensions of size 1 and sorting the rest by their targets."""
        own = self.dimensions(array)
        order = sorted(range(len(own)), key=lambda i: (own[i] == 1, dimensions[i] if own[i] != 1 else i))
        kept = [i for i in order if own[i] != 1]
        term = self.terms.term(array)
        moved = reshaped(self, transposed(self, term, order), [own[i] for i in kept])
        targets, large = tuple(dimensions[i] for i in kept), tuple(sizes)
        plain = self.written.broadcast(self.terms.as_written(moved), targets, large)
        self.terms.certify(BROADCAST.name, self.written.broadcast(term, dimensions, sizes), plain)
        return self._broadcast(self.terms.term(moved), targets, large)

    def _broadcast(self, term: Term, targets: tuple[int, ...], sizes: tuple[int, ...]) -> Term:
        terms = self.terms

        def written(part: Term) -> Term:
            return self.written.broadcast(part, targets, sizes)

        def made(part: Term) -> Term:
            if part.kind == "splat" or not part.array.dimensions:
                found = terms.splat(part.operands[0] if part.kind == "splat" else part, sizes)
                terms.certify(BROADCAST.name, written(part), found)
                return found
            if len(targets) == sum(size != 1 for size in sizes):
                return done(part, reshaped(self, part, sizes))
            if isinstance(part.label, Plan) and part.is_specified and _moves(part.label):
                return self._padded(part, part.label, targets, sizes)
            if part.kind == "op" and isinstance(part.label, tuple) and part.label[0] == "broadcast":
                inner = tuple(targets[i] for i in part.label[1])
                terms.certify(BROADCAST.name, written(part), self.written.broadcast(part.operands[0], inner, sizes))
                return self._broadcast(part.operands[0], inner, sizes)
            # Add all dimensions as one most minor dimension, then reshape and transpose.
            own = part.array.dimensions
            added, permutation = _apart(targets, sizes)
            shape = ArrayShape(part.array.element_type, (*own, prod(added)))
            apart = reshaped(self, self._made(("broadcast", tuple(range(len(own)))), shape, [part]), (*own, *added))
            return done(part, transposed(self, apart, permutation))

        def done(part: Term, moved: Array) -> Term:
            terms.certify(BROADCAST.name, written(part), terms.as_written(moved))
            return terms.term(moved)

        if 0 in sizes:
            return self._made(("broadcast", targets), ArrayShape(term.array.element_type, sizes), [term])
        terms.note(BROADCAST)
        return terms.mapped(term, made, written, ("broadcast", targets, sizes))

    def _padded(self, part: Term, plan: Plan, targets: tuple[int, ...], sizes: tuple[int, ...]) -> Term:
        """Returns broadcast(plan(x)) as plan(broadcast(x)), transposed."""
        terms, own = self.terms, part.array.dimensions
        added, permutation = _apart(targets, sizes)
        base, *scalars = part.operands
        inner = base.array.dimensions
        wide = plan.with_minor_dimensions(added)
        last = self.written.broadcast(part, range(len(own)), (*own, *added))
        turned = terms.as_written(transposed(self, last, permutation))
        terms.certify(BROADCAST.name, self.written.broadcast(part, targets, sizes), turned)
        first = self.written.broadcast(base, range(len(inner)), (*inner, *added))
        terms.certify(PADDED, last, terms.make("moved", wide, last.shape, (first, *scalars)))
        rest = iter(scalars)
        value = terms.chain(self.broadcast(base, range(len(inner)), (*inner, *added)))
        for step, padding in zip(wide.steps, wide.paddings, strict=True):
            value = value.append(step, None if padding is None else next(rest))
        return terms.term(transposed(self, value, permutation))

    def reverse(self, array: Array, dimensions: Sequence[int]) -> Term:
        """Returns a reversal; two nested reversals become one of the dimensions that are reversed once."""
        term, sizes = self.terms.term(array), self.dimensions(array)
        reversed_ = frozenset(i for i in dimensions if sizes[i] > 1)

        def made(part: Term) -> Term:
            if part.kind == "splat":
                self.terms.certify(REVERSE.name, written(part), part)
                return part
            inner: frozenset[int] = frozenset()
            source = part
            if part.kind == "op" and isinstance(part.label, tuple) and part.label[0] == "reverse":
                inner, source = part.label[1], part.operands[0]
            rest = reversed_ ^ inner
            self.terms.certify(
                REVERSE.name, written(part), self.written.reverse(source, tuple(rest)) if rest else source
            )
            return self._reversed(source, rest) if rest else source

        def written(part: Term) -> Term:
            return self.written.reverse(part, tuple(reversed_))

        plain = written(term) if reversed_ and 0 not in sizes else term
        self.terms.certify(REVERSE.name, self.written.reverse(term, dimensions), plain)
        if plain is term:
            return term
        self.terms.note(REVERSE)
        return self.terms.mapped(term, made, written, ("reverse", reversed_))

    def _reversed(self, part: Term, dimensions: frozenset[int]) -> Term:
        """Returns a reversal with the dimensions in the order of the source array."""
        order = array_order(self.terms, [part])
        turned, places = transposed(self, part, order), frozenset(map(order.index, dimensions))
        if order == (*range(len(order)),):
            return self._made(("reverse", places), part.array, [part])
        plain = self.written.reverse(self.terms.as_written(turned), tuple(places))
        back = inverse_permutation(order)
        self.terms.certify(
            REVERSE.name,
            self.written.reverse(part, tuple(dimensions)),
            self.terms.as_written(transposed(self, plain, back)),
        )
        inner = self.reverse(turned, tuple(places))
        return self.terms.term(transposed(self, inner, back))

    def concatenate(self, arrays: Sequence[Array], dimension: int) -> Term:
        """Returns a flat concatenation without empty arrays."""
        self.terms.note(CONCATENATE)
        return concatenated(self.terms, [*map(self.terms.term, arrays)], dimension)

    def iota(self, element_type: ElementType, size: int) -> Term:
        return self.written.iota(element_type, size)


def after(terms: Terms, term: Term, steps: Sequence[Step]) -> Array:
    """Returns a term after steps of movement."""
    plan = Plan(term.array.element_type, term.array.dimensions, tuple(steps))
    return terms.chain(term).then(plan) if steps else term


def _apart(targets: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[tuple[int, ...], list[int]]:
    """Returns the added sizes of a broadcast, and the permutation that moves them from the minor end to their place."""
    others = [i for i in range(len(sizes)) if i not in targets]
    order = [*targets, *others]
    return tuple(sizes[i] for i in others), [order.index(i) for i in range(len(sizes))]


def _moves(plan: Plan) -> bool:
    """Is true for a plan that moves elements (more than adding or dropping size 1) and regroups no bits."""
    large = [[size for size in dims if size != 1] for dims in (plan.dimensions, plan.result[1])]
    is_dropped = large[0] == large[1] and all(step.opcode == "reshape" for step in plan.steps)
    return not is_dropped and not plan.regroups_bits
