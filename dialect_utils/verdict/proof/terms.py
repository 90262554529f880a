"""Terms: values as a graph in which equal terms are one object.

Data movement is a plan in normal form over a base term. Elementwise operations come after the movement of their
operands, unless the movement pads. An array that repeats one scalar is a splat.

Longer than other files: one class makes all terms, so that equal terms are one object.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from dialect_utils.ir import Operation
from dialect_utils.layout import ArrayShape, ElementType, Reshape, Shape, Step
from dialect_utils.layout.moves.plan import PaddingValue, Plan
from dialect_utils.layout.proof.deadline import check_deadline
from dialect_utils.layout.proof.reads import origin_of, reads_only_padding
from dialect_utils.verdict.certificate import Reading
from dialect_utils.verdict.proof.algebra import build
from dialect_utils.verdict.proof.algebra.ring import Polynomial
from dialect_utils.verdict.proof.algebra.widening import lifted
from dialect_utils.verdict.proof.combining import Combining
from dialect_utils.verdict.proof.normal_forms import (
    normalized,
    split,
    try_move_parts,
    try_read_one_part,
    try_read_update,
)
from dialect_utils.verdict.proof.parts import only_permutes, try_repeat_in_order
from dialect_utils.verdict.proof.sources import CONCATENATE, concatenated
from dialect_utils.verdict.proof.strategies import Strategy
from dialect_utils.verdict.rules import Rule
from dialect_utils.verdict.rules.arrays import SPLAT
from dialect_utils.verdict.rules.conversions import REREAD
from dialect_utils.verdict.rules.matching import constant_bits
from dialect_utils.verdict.terms.given import Sources
from dialect_utils.verdict.terms.primitives import Kind, TreeOf, bottom_up

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.masks import Masks

# The most terms of a proof, made in some seconds.
_MOST_TERMS = 1_000_000
# Longer chains are normalized at once, because normalizing a long chain is slow.
_LONGEST_CHAIN = 7

# The label of convolution padding, which an engine multiplies as 0 or skips (0 * inf is NaN).
OPTIONAL_ZERO = "optional zero"

# Names of steps that are not rules of algebra. Two chains of movement that read the same elements are equal.
MOVED = "moved"
# A choice between equal values is that value.
ONE_BRANCH = "one-branch"
# An elementwise operation commutes with movement that pads nothing.
THROUGH = "through"


BROADCAST = Rule(
    "broadcast", "A broadcast of a broadcast is one broadcast, and elementwise operations commute with a broadcast."
)


class GaveUpError(Exception):
    """Raised where a proof walks too many operations, or makes too many terms or elements."""


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """One node; equal terms of one graph are the same object.

    `label` holds all that distinguishes the term besides its operands. A term is specified unless it reads undefined
    padding of a physical array. `number` is the age of the term: operands are made first and have lower numbers.
    """

    kind: Kind
    label: Hashable
    shape: Shape
    operands: tuple[Term, ...]
    is_specified: bool
    number: int

    @property
    def array(self) -> ArrayShape:
        """Returns the shape of a term that is an array."""
        assert isinstance(self.shape, ArrayShape)  # only arrays move and have elements
        return self.shape


@dataclass(frozen=True, slots=True)
class Moved:
    """A base term after a plan that is not yet in normal form, built by a chain of data-movement operations.

    `source` is the term that the chain of operations began with, `written` the steps and padding values since then.
    """

    base: Term
    plan: Plan
    source: Term
    written: tuple[tuple[Step, PaddingValue], ...] = ()

    def append(self, step: Step, padding: Term | None) -> Moved:
        """Returns the value with one more step of movement."""
        plan = self.plan.append(step, padding)
        plan = normalized(plan)[0] if len(plan.steps) > _LONGEST_CHAIN else plan
        return Moved(self.base, plan, self.source, (*self.written, (step, padding)))

    def then(self, plan: Plan) -> Moved:
        """Returns the value with a plan applied after its movement."""
        written = (*self.written, *zip(plan.steps, plan.paddings, strict=True))
        return Moved(self.base, self.plan.followed_by(plan), self.source, written)


Array = Term | Moved


class Terms:
    """The terms of a proof, each once, and counts of how the normal forms of their plans were proved."""

    constant_bits = staticmethod(constant_bits)

    def __init__(self, strategy: Strategy | None = None) -> None:
        self.strategy = strategy or Strategy()
        self._known: dict[tuple[Hashable, ...], Term] = {}
        self._pushed: dict[tuple[Term, Plan], Term] = {}
        self._mapped: dict[tuple[Hashable, Term], Term] = {}
        self._built: dict[tuple[Hashable, ...], tuple[Term, tuple[str, ...]]] = {}
        self.methods: Counter[str] = Counter()
        # Ages of terms and of elementwise expressions, without movement (`sources.anchor`).
        self.anchors: dict[Term, int] = {}
        self.expressions: dict[tuple[Hashable, ...], int] = {}
        # The polynomials of integer sums and products.
        self.polynomials: dict[Term, Polynomial] = {}
        # For a term and a narrower type, the term whose lossless conversion it is, or None.
        self.unconverted: dict[tuple[Term, ElementType], Term | None] = {}
        # Convolutions skip padding (HLO) unless both programs multiply it (StableHLO).
        self.skips_padding = True
        # If the modules have different dots, dots are computed in the type of their sums, and small dots as sums.
        self.widens_dots = False
        self.expands_dots = False
        # The orders of sums that stay, because both modules have equally many such sums.
        self.orders: frozenset[Hashable] = frozenset()
        # Merges combinations of the same elements, if requested; `has_reductions`: a reduction occurred.
        self.combining: Combining | None = None
        self.has_reductions = False
        # Makes movement of selects by a constant mask, if requested.
        self.masks: Masks | None = None
        # Whether a step was possible that the strategy allows only if it `chooses`.
        self.could_choose = False
        # The conditions on data of the steps so far.
        self.given: dict[tuple[str, Term], None] = {}
        self._sources = Sources[Term]()
        # The steps of the certificate, and the operation at which each was made.
        self.steps: dict[tuple[Any, ...], Operation | None] = {}
        # How loops are read, for each module.
        self.readings: tuple[dict[Operation, Reading], ...] = ({}, {})
        # The rules that were applied, and at which operation, in order.
        self.applied: dict[tuple[str, Operation | None], None] = {}
        self.place: Operation | None = None
        # The operations that made each term first, in the first and in the last module.
        self.origins: tuple[dict[Term, Operation | None], ...] = ({}, {})
        self.side = 0
        # The values of the first module, in order.
        self.computed: list[Array] = []
        self.unspecified = Term("leaf", "unspecified", ArrayShape(_NO_TYPE, ()), (), False, -1)

    def may_choose(self) -> bool:
        """Is true where a step may use a choice of the engine; records that such a step exists."""
        self.could_choose = True
        return self.strategy.chooses

    def may_assume(self, conditions: Sequence[tuple[str, Term]]) -> bool:
        """Is true where terms lack some values by conditions on data, which it records."""
        if not self.strategy.excluded.issuperset(value for value, _ in conditions):
            return False
        sources = [(value, self._sources.of(term, value)) for value, term in conditions]
        if any(terms is None for _, terms in sources):
            return False
        self.given.update({(value, term): None for value, terms in sources for term in terms or ()})
        return True

    def note(self, rule: Rule) -> None:
        """Records that a rule was applied at the current operation."""
        self.applied[rule.name, self.place] = None

    def step(self, rule: Rule, before: Term, after: Term) -> None:
        """Adds a step to the certificate, and to the list of applied rules: the rule makes two terms equal."""
        if before is not after:
            self.note(rule)
            self.certify(rule.name, before, after)

    def certify(self, rule: str, before: Term, after: Term, *predicate: Term) -> None:
        """Adds a step to the certificate; `predicate` is what a proof by cases decides."""
        if before is not after:
            self.steps.setdefault((rule, before, after, *predicate), self.place)

    def shape(self, term: Term) -> Shape:
        """Returns the shape of a term."""
        return term.shape

    def make(self, kind: Kind, label: Hashable, shape: Shape, operands: Sequence[Term] = ()) -> Term:
        """Returns the term; raises GaveUpError where there are too many."""
        key = (kind, label, shape, *operands)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= _MOST_TERMS:
                raise GaveUpError(f"the modules have more than {_MOST_TERMS} different terms")
            check_deadline()
            specified = all(operand.is_specified for operand in operands)
            found = self._known[key] = Term(kind, label, shape, tuple(operands), specified, len(self._known))
        self.origins[self.side].setdefault(found, self.place)
        return found

    def literal(self, element_type: ElementType, bits: int, dimensions: tuple[int, ...]) -> Term:
        """Returns an array all of whose elements have these bits."""
        return self.splat(self.make("constant", bits, ArrayShape(element_type, ())), dimensions)

    def splat(self, scalar: Term, dimensions: tuple[int, ...]) -> Term:
        """Returns an array all of whose elements are one scalar."""
        shape = ArrayShape(scalar.array.element_type, dimensions)
        return self.make("splat", None, shape, (scalar,)) if dimensions else scalar

    def each(self, label: Hashable, element_type: ElementType, operands: Sequence[Term]) -> Term:
        """Returns an elementwise op on arrays of the same dimensions, in normal form."""
        key = (label, element_type, *operands)
        known = self._built.get(key)
        if known is None:
            outer, self.applied = self.applied, {}
            made = self._each(label, element_type, operands)
            known = self._built[key] = made, tuple({rule: None for rule, _ in self.applied})
            self.applied = outer
        for rule in known[1]:
            self.applied[rule, self.place] = None
        self.origins[self.side].setdefault(known[0], self.place)
        return known[0]

    def _each(self, label: Hashable, element_type: ElementType, operands: Sequence[Term]) -> Term:
        if operands[0].array.dimensions and all(operand.kind == "splat" for operand in operands):
            return self.of_splats(label, element_type, operands)
        if self.masks is not None and label == "select":
            part = self.masks.try_part(self, operands)
            if part is not None:
                return part
        # Each undefined padding value is distinct: no rule may merge two of them.
        is_known = all(operand.is_specified for operand in operands)
        types = (element_type, *(operand.array.element_type for operand in operands))
        is_kept = self.strategy.keeps_bits and any(each.is_inexact for each in types)
        made = (build if is_known and not is_kept else Terms.each_as_is)(self, label, element_type, operands)
        if self.combining is None or not is_known:
            return made
        return self.combining.replaced(self.each_as_is(label, element_type, operands), made)

    def substituted(self, expression: Term, found: dict[Term, Term]) -> Term:
        """Returns an elementwise expression in normal form after the substitution `found`, which is extended."""
        for part in bottom_up(expression, found, lambda part: part.operands if part.kind == "each" else ()):
            new = tuple(found[each] for each in part.operands) if part.kind == "each" else part.operands
            found[part] = part if new == part.operands else self.each(part.label, part.array.element_type, new)
        return found[expression]

    def of_splats(self, label: Hashable, element_type: ElementType, operands: Sequence[Term]) -> Term:
        """Returns an elementwise operation on arrays that each repeat one scalar."""
        scalars = [operand.operands[0] for operand in operands]
        dimensions = operands[0].array.dimensions
        as_is = self.splat(self.each_as_is(label, element_type, scalars), dimensions)
        self.certify(SPLAT, self.each_as_is(label, element_type, operands), as_is)
        return self.splat(self.each(label, element_type, scalars), dimensions)

    def each_as_is(self, label: Hashable, element_type: ElementType, operands: Sequence[Term]) -> Term:
        """Returns an elementwise op that is not in normal form."""
        return self.make("each", label, ArrayShape(element_type, operands[0].array.dimensions), operands)

    def mapped(self, term: Term, make: Callable[[Term], Term], written: Callable[[Term], Term], key: Hashable) -> Term:
        """Returns an array after a movement: `make` moves terms that are not elementwise, `key` names the movement.

        Equal keys must mean equal functions; `written` makes the movement without normal form. Elementwise operations
        are applied after the movement.
        """
        order = [term]
        found: set[Term] = set()
        while order:
            part = order.pop()
            if part in found or (key, part) in self._mapped:
                continue
            found.add(part)
            if part.kind == "each" and part.is_specified:
                order += part.operands
        for part in sorted(found, key=lambda part: part.number):
            if part.kind == "each" and part.is_specified:
                operands = [self._mapped[key, operand] for operand in part.operands]
                done = self.each(part.label, part.array.element_type, operands)
                moved = written(part)
                self.certify(THROUGH, moved, self.make("each", part.label, moved.shape, [*map(written, part.operands)]))
            else:
                done = make(part)
            self._mapped[key, part] = done
        return self._mapped[key, term]

    def reread(self, operand: Term, element_type: ElementType) -> Term:
        """Returns an array whose bits are read as another element type of the same width."""
        label = ("bitcast-convert", element_type)
        while operand.kind == "each" and isinstance(operand.label, tuple) and operand.label[:1] == label[:1]:
            before, operand = self.each_as_is(label, element_type, [operand]), operand.operands[0]
            self.step(REREAD, before, self.each_as_is(label, element_type, [operand]))
        if operand.array.element_type == element_type:
            self.step(REREAD, self.each_as_is(label, element_type, [operand]), operand)
            return operand
        return self.each(label, element_type, [operand])

    def choice(self, label: Hashable, selector: Term, branches: Sequence[Term]) -> Term:
        """Returns the branch that a scalar selector chooses; equal branches need no choice."""
        made = self.make("choice", label, branches[0].shape, (selector, *branches))
        if any(branch is not branches[0] for branch in branches):
            return made
        self.certify(ONE_BRANCH, made, branches[0])
        return branches[0]

    # Movement

    def chain(self, value: Array) -> Moved:
        """Returns a value as a base term and a plan."""
        if isinstance(value, Moved):
            return value
        if value.kind == "moved":
            assert isinstance(value.label, Plan)  # moved terms have plans as labels
            scalars = iter(value.operands[1:])
            terms = tuple(None if padding is None else next(scalars) for padding in value.label.paddings)
            return Moved(value.operands[0], replace(value.label, paddings=terms), value)
        return Moved(value, Plan(value.array.element_type, value.array.dimensions), value)

    def term(self, value: Array) -> Term:
        """Returns the term of a value, its movement in normal form and through elementwise ops."""
        if isinstance(value, Term):
            return value
        start = self._normal(value.base, value.plan)
        self.certify(MOVED, self.as_written(value), self.moved_as_is(*start))
        for key in bottom_up(start, self._pushed, lambda key: self._needed(*key)):
            self._pushed[key] = self._push(*key)
        return self._pushed[start]

    def as_written(self, value: Array) -> Term:
        """Returns a value with the movement steps of the program, not in normal form."""
        if isinstance(value, Term):
            return value
        source = value.source.array
        steps = tuple(step for step, _ in value.written)
        paddings = tuple(padding for _, padding in value.written)
        return self.moved_as_is(value.source, Plan(source.element_type, source.dimensions, steps, paddings))

    def moved_as_is(self, base: Term, plan: Plan) -> Term:
        """Returns a term after a plan that is not normalized."""
        if not plan.steps:
            return base
        element_type, dimensions = plan.result
        scalars = [padding for padding in plan.paddings if isinstance(padding, Term)]
        label = replace(plan, paddings=tuple(None if padding is None else True for padding in plan.paddings))
        return self.make("moved", label, ArrayShape(element_type, dimensions), (base, *scalars))

    def _normal(self, base: Term, plan: Plan) -> tuple[Term, Plan]:
        form, method = normalized(plan)
        self.methods[method] += bool(plan.steps)
        return base, form

    def _parts(self, base: Term, plan: Plan) -> tuple[Plan, Plan]:
        """Returns the part of a plan that can be moved before its elementwise base, and the rest."""
        nothing = plan.part(0, 0)
        if base.kind not in ("each", "choice", "splat"):
            return nothing, plan
        before, after = split(plan) if plan.adds_elements else (plan, Plan(*plan.result))
        return (nothing, plan) if before.regroups_bits else (before, after)

    def _arrays(self, base: Term, plan: Plan) -> list[tuple[Term, Plan]]:
        """Returns the operands of an elementwise base, or the branches of a choice, after its plan."""
        chains = [self.chain(operand) for operand in base.operands[base.kind == "choice" :]]
        return [self._normal(chain.base, chain.then(plan.retyped(chain.plan.result[0])).plan) for chain in chains]

    def _of_part(self, base: Term, plan: Plan) -> tuple[Term, Plan] | None:
        """Returns the part of a concatenation or update that alone a plan reads, and the plan on it; else None."""
        label = base.label if isinstance(base.label, tuple) else (None,)
        if label[0] == "concatenate":
            found = try_read_one_part(plan, label[1], [part.array.dimensions for part in base.operands])
        elif label == ("dynamic-update-slice",):
            starts = [bits for bits in map(self.constant_bits, base.operands[2:]) if bits is not None]
            is_known = len(starts) == len(base.operands) - 2
            found = try_read_update(plan, starts, base.operands[1].array.dimensions) if is_known else None
        else:
            return None
        return None if found is None else (base.operands[found[0]], found[1])

    def _of_padding(self, base: Term, plan: Plan) -> Term | None:
        """Returns the splat of the padding value where a plan reads nothing else; else None."""
        values = {*plan.paddings} - {None}
        if len(values) != 1 or not plan.drops_elements or plan.regroups_bits:
            return None
        (scalar,), sizes = values, plan.result[1]
        assert isinstance(scalar, Term)  # plans over terms are padded with terms
        is_read = scalar.is_specified and (0 in sizes or origin_of(plan, (0,) * len(sizes)).index is not None)
        return self.splat(scalar, sizes) if scalar.is_specified and not is_read and reads_only_padding(plan) else None

    def _of_parts(self, base: Term, plan: Plan) -> tuple[int, list[tuple[Term, Plan]]] | None:
        """Returns the new dimension of a concatenation of gathers after a plan, and the plan of each gather.

        Returns None for a base that does not join gathers, and for a plan that changes the dimension.
        """
        label = base.label
        if not isinstance(label, tuple) or label[:1] != ("concatenate",):
            return None
        # `concatenated` chooses the order of the dimensions.
        if only_permutes(plan):
            return None
        labels = [self.chain(part).base.label for part in base.operands]
        if not all(isinstance(part, tuple) and part[:1] == ("gather",) for part in labels):
            return None
        found = try_move_parts(plan, label[1], [part.array.dimensions for part in base.operands])
        return None if found is None else (found[0], [*zip(base.operands, found[1], strict=True)])

    def _without_ones(self, base: Term, plan: Plan) -> Plan | None:
        """Returns the plan that drops dimensions of size 1 of joined gathers before another plan; None without any."""
        sizes = base.array.dimensions
        dropped = Plan(base.array.element_type, sizes, (Reshape(tuple(size for size in sizes if size != 1)),))
        if 1 not in sizes or plan == dropped or self._of_parts(base, dropped) is None:
            return None
        return dropped

    def _needed(self, base: Term, plan: Plan) -> list[tuple[Term, Plan]]:
        if (found := self._of_part(base, plan)) is not None:
            return [self._after(*found)]
        if (joined := self._of_parts(base, plan)) is not None:
            return [self._after(*part) for part in joined[1]]
        if (dropped := self._without_ones(base, plan)) is not None:
            return [(base, dropped)]
        before, _ = self._parts(base, plan)
        return self._arrays(base, before) if before.steps and base.kind != "splat" else []

    def _after(self, term: Term, plan: Plan) -> tuple[Term, Plan]:
        """Returns the base of a term, and the normal form of the term's movement followed by a plan."""
        chain = self.chain(term)
        return self._normal(chain.base, chain.then(plan).plan)

    def _joined(self, base: Term, plan: Plan, to: int, parts: Sequence[tuple[Term, Plan]]) -> Term:
        """Returns the concatenation of parts after their plans."""
        label, shape = ("concatenate", to), ArrayShape(*plan.result)
        for part in parts:
            self.certify(MOVED, self.moved_as_is(*part), self.moved_as_is(*self._after(*part)))
        plain = self.make("op", label, shape, [self.moved_as_is(*part) for part in parts])
        self.step(CONCATENATE, self.moved_as_is(base, plan), plain)
        return concatenated(self, [self._pushed[self._after(*part)] for part in parts], to)

    def _push(self, base: Term, plan: Plan) -> Term:
        if plan.adds_elements and (padding := self._of_padding(base, plan)) is not None:
            self.certify(MOVED, self.moved_as_is(base, plan), padding)
            return padding
        if self._of_part(base, plan) is None and (joined := self._of_parts(base, plan)) is not None:
            return self._joined(base, plan, *joined)
        if (found := self._of_part(base, plan)) is not None:
            (key,) = self._needed(base, plan)
            rule = CONCATENATE.name if base.label != ("dynamic-update-slice",) else "dynamic-slice"
            self.certify(rule, self.moved_as_is(base, plan), self.moved_as_is(*found))
            self.certify(MOVED, self.moved_as_is(*found), self.moved_as_is(*key))
            return self._pushed[key]
        if plan.steps and (dropped := self._without_ones(base, plan)) is not None:
            rest = Plan(*dropped.result, (Reshape(plan.dimensions),)).then(plan)
            self.certify(MOVED, self.moved_as_is(base, plan), self.moved_as_is(self.moved_as_is(base, dropped), rest))
            return self.term(self.chain(self._pushed[base, dropped]).then(rest))
        before, after = self._parts(base, plan)
        if before.steps:
            whole = self.moved_as_is(base, plan)
            first = self.moved_as_is(base, before)
            self.certify(MOVED, whole, self.moved_as_is(first, after))
            if base.kind == "splat":
                base = self.splat(base.operands[0], before.result[1])
                self.certify(MOVED, first, base)
            else:
                base = self._through(first, base, before)
        form = self._normal(base, after)
        made = self._moved(*form)
        self.certify(MOVED, self.moved_as_is(base, after), made)
        made = self._repeated(made, *form)
        return lifted(self, made) if made.is_specified else made

    def _through(self, whole: Term, base: Term, plan: Plan) -> Term:
        """Returns plan(f(x, y)) as f(plan(x), plan(y)), for an elementwise operation or a choice."""
        selector = base.operands[: base.kind == "choice"]
        written = []
        for operand, key in zip(base.operands[len(selector) :], self._arrays(base, plan), strict=True):
            written.append(self.moved_as_is(operand, plan.retyped(operand.array.element_type)))
            self.certify(MOVED, written[-1], self.moved_as_is(*key))
        arrays = [self._pushed[key] for key in self._arrays(base, plan)]
        shape = ArrayShape(*plan.result)
        self.certify(THROUGH, whole, self.make(base.kind, base.label, shape, (*selector, *written)))
        if selector:
            return self.choice(base.label, selector[0], arrays)
        return self.each(base.label, plan.result[0], arrays)

    def _repeated(self, made: Term, base: Term, plan: Plan) -> Term:
        """Returns a broadcast after a plan, with the added dimensions in the order of the result."""
        is_broadcast = base.kind == "op" and isinstance(base.label, tuple) and base.label[0] == "broadcast"
        found = try_repeat_in_order(plan) if is_broadcast and len(plan.steps) > 1 else None
        if found is None or found == plan:
            return made
        self.step(BROADCAST, made, self.moved_as_is(base, found))
        return self.moved_as_is(base, found)

    def _moved(self, base: Term, plan: Plan) -> Term:
        is_plain = base.kind == "splat" and not plan.regroups_bits
        if plan.steps and is_plain and {*plan.paddings} <= {None, base.operands[0]}:
            return self.splat(base.operands[0], plan.result[1])
        return self.moved_as_is(base, plan)


_NO_TYPE = ElementType("unspecified", 0)


# An array (or token), or a tuple.
Tree: TypeAlias = TreeOf[Array]
