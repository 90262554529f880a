"""Decides by proof whether two modules compute the same.

Longer than other files: all stages of a comparison, from whole arrays to elements to the reals.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Literal

from dialect_utils.ir import Module, Operation
from dialect_utils.layout import ArrayShape, ElementType, Shape
from dialect_utils.layout.moves.physical import physical_plan
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.proof.deadline import DeadlineError, check_deadline, deadline, now, seconds_left
from dialect_utils.layout.proof.reads import origin_of, try_prove_same_reads
from dialect_utils.ops import Trait, has
from dialect_utils.ops.device_counts import written_counts
from dialect_utils.ops.domain import UndefinedError
from dialect_utils.ops.sharding import Partition
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.certificate import Certificate, Reading, Step, place_of, without_chlo
from dialect_utils.verdict.differences import MovedElement, Place
from dialect_utils.verdict.entry import EntryInterface, entry_interface
from dialect_utils.verdict.outcome import OutputProof, RuleUse
from dialect_utils.verdict.proof.algebra.numbers import are_nan, is_rounded_function
from dialect_utils.verdict.proof.cases import Cases
from dialect_utils.verdict.proof.combining import Combining
from dialect_utils.verdict.proof.describe import where_apart
from dialect_utils.verdict.proof.masks import Masks
from dialect_utils.verdict.proof.normal_forms import Numbers, numbered
from dialect_utils.verdict.proof.pieces import Pieces
from dialect_utils.verdict.proof.rewriter import Rewriter
from dialect_utils.verdict.proof.strategies import SECONDS_OF_ELEMENTS, SECONDS_OF_STRATEGY, Strategy
from dialect_utils.verdict.proof.terms import MOVED, GaveUpError, Moved, Term, Terms
from dialect_utils.verdict.rules import Definition
from dialect_utils.verdict.rules.arrays import SAME_CONSTANTS
from dialect_utils.verdict.rules.conditional import EXCLUDED
from dialect_utils.verdict.terms.constants import ConstantArrays
from dialect_utils.verdict.terms.devices import run_both
from dialect_utils.verdict.terms.loops import UNROLLED
from dialect_utils.verdict.terms.orders import order_of

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.elements import ElementProof


_PARAMETER = "parameter"


@dataclass(frozen=True, slots=True)
class ProofResult:
    """The result of a proof: `equal`, `different` with the element that moved, or `unknown` and why.

    `outputs` holds the result for each output, `rules` the rules that were applied.
    """

    answer: Literal["equal", "different", "unknown"]
    reason: str = ""
    moved: MovedElement | None = None
    seconds: float = 0.0
    outputs: tuple[OutputProof, ...] = ()
    rules: tuple[RuleUse, ...] = ()
    has_equal_effects: bool = True
    certificate: Certificate | None = None

    @property
    def is_equal_over_reals(self) -> bool:
        """Is true where every output is equal in bits or over the reals, and side effects are equal."""
        return (
            self.has_equal_effects
            and bool(self.outputs)
            and all(
                each.is_equal or (each.over_reals is not None and bool(each.over_reals.is_equal))
                for each in self.outputs
            )
        )


def try_prove(
    stages: Sequence[Module],
    *,
    over_reals: bool = False,
    field_seed: int | None = None,
    keeps_bits: bool = False,
    partition: Partition | None = None,
    strategy: Strategy | None = None,
) -> ProofResult:
    """Decides whether the first and the last of several forms of a module are equal, without executing any.

    With `over_reals` outputs that are not proved equal are compared as functions of real numbers, too, by the draw of
    `field_seed` (None: a new one). Only the padding of packed entry arrays is unspecified. The answer is `different`
    only where results differ for some inputs. With `keeps_bits` no rule about floats is applied, so that the proof
    holds for the bits of NaN, too. With a partition the last module computes on the parts of several devices.
    With a strategy there is no other attempt, and it compares whole arrays only, for seconds.
    Raises DiagnosticError where the entries of the modules do not fit.
    """
    started = time.perf_counter()
    interface = entry_interface(stages, partition)
    try:
        if strategy is None:
            found = _decided(stages, interface, over_reals, field_seed, keeps_bits)
        else:
            attempts = _by_other_strategies(stages, interface, [strategy])
            equal = (each.result() for each in attempts if each.is_equal_as_arrays())
            found = next(equal, ProofResult("unknown"))
    except (GaveUpError, UndefinedError) as reason:
        found = ProofResult("unknown", str(reason))
    except DiagnosticError as error:
        found = ProofResult("unknown", error.diagnostics[0].message)
    except ValueError as error:
        # A step or a layout does not fit, which happens only for modules that were not verified.
        found = ProofResult("unknown", str(error))
    except RecursionError:
        found = ProofResult("unknown", "the modules are nested too deeply")
    if found.certificate is not None and partition is not None:
        found = replace(found, certificate=replace(found.certificate, partition=partition))
    return replace(found, seconds=time.perf_counter() - started)


def quick_strategies(stages: Sequence[Module], *, rounds_operands: bool) -> Iterator[Strategy]:
    """Yields the strategies that are tried before all others, as they mostly find a proof at once.

    Loops of both modules are compared as loops, and with `rounds_operands` products as a TPU rounds their operands.
    """
    first, last = stages[0], stages[-1]
    has_loops = all(any(each.opcode == "while" for each in module.operations()) for module in (first, last))
    if has_loops:
        yield Strategy(iterations=0)
    if rounds_operands and _types_of_dots(first) != _types_of_dots(last):
        yield from Strategy(rounds_operands=True).choosing(could_choose=True, has_reductions=True)


def conditional_proofs(stages: Sequence[Module]) -> Iterator[ProofResult]:
    """Yields proofs that modules are equal for data without some values, from the weakest condition to the strongest.

    Yields none where even the strongest condition leads to no proof within seconds.
    """
    interface = entry_interface(stages)
    for number, excluded in enumerate((EXCLUDED[-1], *EXCLUDED)):
        try:
            with deadline(SECONDS_OF_STRATEGY):
                found = _Comparison(stages, interface, Strategy(excluded=frozenset(excluded)))
                is_equal = found.is_equal()
        except (GaveUpError, UndefinedError, DeadlineError, DiagnosticError, ValueError, RecursionError):
            check_deadline()
            return
        if number and is_equal:
            yield found.result()
        elif not number and not is_equal:
            return


def is_soon_equal(stages: Sequence[Module], partition: Partition) -> bool:
    """Is true where whole arrays prove within seconds that a program computes on the parts of a partition."""
    try:
        with deadline(SECONDS_OF_STRATEGY):
            return _Comparison(stages, entry_interface(stages, partition), Strategy()).is_equal_as_arrays()
    except (GaveUpError, UndefinedError, DeadlineError):
        check_deadline()
        return False


def _decided(
    stages: Sequence[Module], interface: EntryInterface, over_reals: bool, field_seed: int | None, keeps_bits: bool
) -> ProofResult:
    strategy = Strategy(keeps_bits)
    # Elements of all devices are many, and few proofs need them. The comparison over the reals has the other half.
    most = SECONDS_OF_ELEMENTS if interface.shardings is None else SECONDS_OF_STRATEGY
    seconds = _Seconds(min(most, seconds_left() / 2))
    comparison = _Comparison(stages, interface, strategy, seconds)
    is_equal = comparison.is_equal_as_arrays()
    decomposed = stages if is_equal else without_chlo(stages)
    again = None if decomposed is stages else _Comparison(decomposed, interface, strategy, seconds)
    if again is not None and again.is_equal_as_arrays():
        return _of_chlo(again.result())
    others = [] if is_equal else [*_by_other_strategies(stages, interface, comparison.other_strategies(), seconds)]
    if others and others[-1].is_equal_as_arrays():
        return others[-1].result()
    if interface.shardings is not None and comparison.terms.could_choose and not is_equal:
        chosen = _Comparison(stages, interface, replace(strategy, chooses=True))
        if chosen.is_equal_as_arrays():
            return chosen.result()
    # The slow comparisons come last: element by element, and over the reals.
    comparison = _by_choices(stages, interface, comparison, seconds)
    found = comparison.result()
    for other in (
        each
        for each in others
        if (comparison.has_loops and not each.has_loops) or not (each.strategy.expands and each.strategy.keeps_orders)
    ):
        as_elements = found if found.answer != "unknown" else other.result()
        found = as_elements if as_elements.answer == "equal" else found
    if found.answer == "unknown" and interface.shardings is None and _exchange(stages[0], stages[-1]):
        with suppress(GaveUpError, UndefinedError):
            on_each = _Comparison(stages, interface, strategy, on_each=True).result()
            found = on_each if on_each.answer == "equal" else found
    if over_reals and found.answer == "unknown":
        found = comparison.over_reals(found, field_seed)
    if again is None or found.answer != "unknown":
        return found
    other_result = again.result()
    if over_reals and other_result.answer == "unknown":
        other_result = again.over_reals(other_result, field_seed)
    is_more = other_result.answer == "equal" or (other_result.is_equal_over_reals and not found.is_equal_over_reals)
    return _of_chlo(other_result) if is_more else found


def _by_choices(
    stages: Sequence[Module], interface: EntryInterface, comparison: _Comparison, seconds: _Seconds
) -> _Comparison:
    """Returns a comparison that finds the modules equal up to choices of the engine, else the given one."""
    terms = comparison.terms
    for strategy in comparison.strategy.choosing(
        could_choose=terms.could_choose, has_reductions=terms.has_reductions and interface.shardings is None
    ):
        if comparison.is_equal():
            break
        chosen = _Comparison(stages, interface, strategy, seconds)
        comparison = chosen if chosen.is_equal() else comparison
    return comparison


def _by_other_strategies(
    stages: Sequence[Module], interface: EntryInterface, strategies: Iterable[Strategy], seconds: _Seconds | None = None
) -> Iterator[_Comparison]:
    """Yields comparisons by other strategies, up to the first that finds the modules equal."""
    for strategy in strategies:
        try:
            with deadline(SECONDS_OF_STRATEGY):
                found = _Comparison(stages, interface, strategy, seconds)
                is_equal = found.is_equal_as_arrays()
        except (GaveUpError, UndefinedError, DeadlineError):
            check_deadline()
            continue
        yield found
        if is_equal:
            break


def _of_chlo(found: ProofResult) -> ProofResult:
    certificate = None if found.certificate is None else replace(found.certificate, is_decomposed=True)
    rules = (RuleUse(CHLO.name, ()), *found.rules)
    return replace(found, rules=rules, certificate=certificate)


@dataclass(slots=True)
class _Seconds:
    """The CPU seconds that are left for comparing elements, by all strategies of a proof together."""

    left: float = SECONDS_OF_ELEMENTS


class _Comparison:
    """The terms of the first and the last module under one strategy."""

    def __init__(
        self,
        stages: Sequence[Module],
        interface: EntryInterface,
        strategy: Strategy,
        seconds: _Seconds | None = None,
        *,
        on_each: bool = False,
    ) -> None:
        self.on_each = on_each
        self.strategy, self.terms = strategy, Terms(strategy)
        self.terms.combining = Combining(self.terms) if strategy.regroups else None
        self.same: dict[tuple[Term, Term], bool] = {}
        self.elements: ElementProof | None = None
        self._seconds = seconds or _Seconds()
        self.cases = Cases(self.terms, self._same)
        self.pieces: Pieces | None = None
        self.constants = ConstantArrays()
        self.modules = first, last = stages[0], stages[-1]
        self.terms.skips_padding = any(stage.dialect == "hlo" for stage in (first, last))
        types, other_types = map(_types_of_dots, (first, last))
        self.terms.widens_dots = types != other_types
        self.terms.expands_dots = strategy.expands and types.total() != other_types.total()
        orders, other_orders = map(_orders, (first, last))
        if strategy.keeps_orders:
            self.terms.orders = frozenset(each for each in orders if orders[each] == other_orders[each])
        before = after = Rewriter(self.terms)
        is_parted = on_each or interface.shardings is not None
        if is_parted:
            self.terms.orders, self.terms.masks = frozenset(), Masks(before.sliced)

        def last_maker() -> Rewriter:
            nonlocal after
            self.terms.place, self.terms.side = None, 1
            after = Rewriter(self.terms, before.loops, _plans(stages) if before.loops and not is_parted else {})
            if is_parted:
                self.terms.masks = Masks(after.sliced)
            return after

        found = run_both(before, last_maker, self.modules, interface, strategy.iterations, on_each=on_each)
        self.effects, self.other_effects = ([*map(self.terms.term, e)] for e in (found.effects, found.other_effects))
        sides = (map(self.terms.term, each) for each in (found.expected, found.found))
        self.pairs = list(zip(*sides, strict=True))
        self.has_loops = bool(before.loops or after.loops)
        if not is_parted:
            self.pieces = Pieces(self.terms, after.sliced, self._same)

    def is_equal_as_arrays(self) -> bool:
        """Is true where all results and effects are equal as whole arrays."""
        pairs = [*self.pairs, *zip(self.effects, self.other_effects, strict=False)]
        return len(self.effects) == len(self.other_effects) and all(self._same(*pair) for pair in pairs)

    def is_equal(self) -> bool:
        """Is true where all results and effects are equal, as whole arrays or element by element."""
        pairs = [*self.pairs, *zip(self.effects, self.other_effects, strict=False)]
        return len(self.effects) == len(self.other_effects) and all(self._proved(*pair) for pair in pairs)

    def other_strategies(self) -> Iterator[Strategy]:
        """Yields other strategies that may make the modules equal."""
        has_unrolled = any(rule == UNROLLED.name for rule, _ in self.terms.applied)
        orders = bool(self.terms.orders)
        return self.strategy.others(
            self.terms.has_reductions, orders, has_unrolled, self.has_loops, self.terms.expands_dots
        )

    def result(self) -> ProofResult:
        """Returns the result for all outputs."""
        unequal = [i for i, pair in enumerate(self.pairs) if not self._proved(*pair)]
        for output in unequal:
            moved = self._moved(output, *self.pairs[output])
            if moved is not None:
                return ProofResult("different", "the results are different elements of the inputs", moved)
        outputs = tuple(
            OutputProof(i, False, self._apart(*pair)) if i in unequal else OutputProof(i, True)
            for i, pair in enumerate(self.pairs)
        )
        apart = self._effects_apart()
        reason = f"output {unequal[0]}: {outputs[unequal[0]].reason}" if unequal else apart
        answer: Literal["equal", "unknown"] = "unknown" if reason else "equal"
        reason = reason or _told(self.terms.methods)
        rules = _used(self.terms.applied)
        return ProofResult(
            answer, reason, outputs=outputs, rules=rules, has_equal_effects=not apart, certificate=self.certificate()
        )

    def certificate(self) -> Certificate:
        """Returns the certificate with all steps so far."""
        steps = (Step(rule, place, *terms) for (rule, *terms), place in self.terms.steps.items())
        readings = tuple(map(_numbered, self.modules, self.terms.readings))
        certificate = Certificate(tuple(steps), readings, iterations=self.strategy.iterations, is_on_each=self.on_each)
        return replace(certificate, conditions=tuple(self.terms.given))

    def over_reals(self, found: ProofResult, seed: int | None) -> ProofResult:
        """Returns a result of these terms whose unequal outputs are compared as functions of real numbers."""
        from dialect_utils.verdict.field import decide_over_reals

        unequal = [each.output for each in found.outputs if not each.is_equal]
        decided = iter(decide_over_reals(self.terms, [self.pairs[i] for i in unequal], self.elements, seed))
        outputs = [each if each.is_equal else replace(each, over_reals=next(decided)) for each in found.outputs]
        return replace(found, outputs=tuple(outputs))

    def _effects_apart(self) -> str:
        """Returns a sentence about the side effects that differ, or an empty text."""
        if len(self.effects) != len(self.other_effects):
            return f"{len(self.effects)} side effects in one module, {len(self.other_effects)} in the other"
        for pair in zip(self.effects, self.other_effects, strict=True):
            if not self._proved(*pair):
                return f"a side effect: {self._apart(*pair)}"
        return ""

    def _proved(self, a: Term, b: Term) -> bool:
        """Is true where two results are equal: as whole arrays, or element by element."""
        if self._same(a, b) or self._same_pieces(a, b):
            return True
        # Elements take seconds, which few programs need that no rule under a condition is about.
        if self.strategy.excluded and not self.terms.given:
            return False
        if self.elements is None:
            from dialect_utils.verdict.proof.elements import ElementProof

            self.elements = ElementProof(self.terms)
        if self._same_elements(self.elements, a, b):
            return True
        if self.elements.enumerates_indices or not self.elements.has_open_starts:
            return False
        # Elements at dynamic indices are enumerated last, and a proof over the reals uses these elements.
        self.elements = ElementProof(self.terms, enumerates_indices=True)
        return self._same_elements(self.elements, a, b)

    def _same_pieces(self, a: Term, b: Term) -> bool:
        """Is true where two results are proved equal piece by piece within seconds."""
        is_array = self.pieces is not None and a.shape == b.shape and isinstance(a.shape, ArrayShape)
        if self.pieces is None or not is_array or not (a.is_specified and b.is_specified):
            return False
        try:
            with deadline(SECONDS_OF_STRATEGY):
                return self.pieces.same(a, b)
        except DeadlineError:
            check_deadline()
            return False

    def _same_elements(self, elements: ElementProof, a: Term, b: Term) -> bool:
        """Is true where two results are proved equal element by element in the time that is left for elements."""
        start = now()
        try:
            with deadline(self._seconds.left):
                return elements.same(a, b)
        except DeadlineError:
            check_deadline()
            return False
        finally:
            self._seconds.left -= now() - start

    def _same(self, a: Term, b: Term) -> bool:
        """Is true for one and the same term, and for terms that differ only in movement proved to read the same."""
        if a is b and a.is_specified:
            return True
        if a.shape != b.shape:
            return False
        if (a, b) not in self.same:
            self.same[a, b] = self._same_parts(a, b)
        return self.same[a, b]

    def _same_parts(self, a: Term, b: Term) -> bool:
        if are_nan(self.terms, a, b) or self._same_constants(a, b) or is_rounded_function(self.terms, a, b):
            return True
        combining = self.terms.combining
        if "moved" in (a.kind, b.kind) and self._same_reads(self.terms.chain(a), self.terms.chain(b)):
            return True
        if combining is not None and "each" in (a.kind, b.kind) and combining.same(a, b):
            return True
        if "moved" in (a.kind, b.kind):
            return False
        is_alike = (a.kind, a.label, len(a.operands)) == (b.kind, b.label, len(b.operands))
        if is_alike and a.operands and all(map(self._same, a.operands, b.operands)):
            return True
        return self.cases.same(a, b)

    def _same_constants(self, a: Term, b: Term) -> bool:
        """Is true for two arrays of the same integers or truth values that depend on no input."""
        first = self.constants.value(a)
        second = None if first is None else self.constants.value(b)
        if second is None or not (first == second).all():
            return False
        self.terms.step(SAME_CONSTANTS, a, b)
        return True

    def _same_reads(self, a: Moved, b: Moved) -> bool:
        if self.terms.unspecified in a.plan.paddings or not self._same(a.base, b.base):
            return False
        numbers: Numbers = {}
        proof = try_prove_same_reads(numbered(a.plan, numbers), numbered(b.plan, numbers))
        if proof is None or not proof.holds:
            return False
        self.terms.methods[proof.method] += 1
        self.terms.certify(MOVED, self.terms.moved_as_is(a.base, a.plan), self.terms.moved_as_is(a.base, b.plan))
        return True

    def _moved(self, output: int, a: Term, b: Term) -> MovedElement | None:
        """Returns an element that two results take from different input positions, or None if none is known."""
        first, second = self.terms.chain(a), self.terms.chain(b)
        index = _differing_index(first, second)
        if index is None:
            return None
        place, other = _place(first, index), _place(second, index)
        if place is None or other is None or place == other or place.index is other.index is None:
            return None
        return MovedElement(output, index, (place, other))

    def _apart(self, a: Term, b: Term) -> str:
        return where_apart(self.terms, a, b, self._same)


def _numbered(module: Module, readings: Mapping[Operation, Reading]) -> dict[int, Reading]:
    """Returns the readings of a module's loops by the number of each loop's operation in the module."""
    return {number: readings[loop] for number, loop in enumerate(module.operations()) if loop in readings}


def _used(applied: Iterable[tuple[str, Operation | None]]) -> tuple[RuleUse, ...]:
    """Returns the rules in the order of their first use, each with the operations where it was used."""
    found: dict[str, dict[str, None]] = {}
    for rule, operation in applied:
        places = found.setdefault(rule, {})
        if operation is not None:
            places[place_of(operation)] = None
    return tuple(RuleUse(rule, tuple(places)) for rule, places in found.items())


def _exchange(first: Module, last: Module) -> bool:
    """Is true where both modules are for the same devices, and one exchanges data among them."""
    # Without a count in the header, the numbers in groups may be those of replicas or of partitions.
    counts = {written_counts(each) for each in (first, last)}
    operations = (each for module in (first, last) for each in module.operations())
    return len(counts) == 1 and (1, 1) not in counts and any(has(each.opcode, Trait.COLLECTIVE) for each in operations)


def _types_of_dots(module: Module) -> Counter[tuple[ElementType, ...]]:
    """Counts a module's dots and convolutions by the types of their results and operands."""
    dots = (each for each in module.operations() if has(each.opcode, Trait.CONTRACTS))
    arrays = ([*each.results, *each.operands] for each in dots)
    return Counter(tuple(a.element_type for value in values for a in value.shape.arrays()) for values in arrays)


def _orders(module: Module) -> Counter[Hashable]:
    """Counts a module's sums by what their order depends on."""
    return Counter(order for each in module.operations() if (order := order_of(each)) is not None)


def _plans(stages: Sequence[Module]) -> Mapping[tuple[Shape, Shape], Sequence[Plan]]:
    """Returns the plans of all tiled layouts in the stages, by logical and physical shape."""
    arrays = (array for stage in stages for value in stage.values() for array in value.shape.arrays())
    plans: dict[tuple[Shape, Shape], list[Plan]] = {}
    for shape in sorted({array for array in arrays if array.is_tiled and array.is_static}, key=str):
        # Some layouts have no plan, so no loop state is read by them.
        with suppress(ValueError):
            plan = physical_plan(shape)
            plans.setdefault((shape.without_layout, ArrayShape(*plan.result)), []).append(plan)
    return plans


def _told(methods: Counter[str]) -> str:
    used = [f"{count} by {method}" for method, count in sorted(methods.items()) if count]
    return f"movements: {', '.join(used)}" if used else ""


def _differing_index(a: Moved, b: Moved) -> tuple[int, ...] | None:
    """Returns an index at which two plans read different elements, or None."""
    dimensions = a.plan.result[1]
    if prod(dimensions) == 0 or a.plan.result != b.plan.result:
        return None
    if a.base is not b.base:
        return (0,) * len(dimensions)
    numbers: Numbers = {}
    proof = try_prove_same_reads(numbered(a.plan, numbers), numbered(b.plan, numbers))
    return proof.counterexample if proof is not None else None


def _place(value: Moved, index: tuple[int, ...]) -> Place | None:
    """Returns the origin of the element at an index: an input's element or padding; None for computed elements."""
    origin = origin_of(value.plan, index)
    if origin.index is not None:
        label = value.base.label
        is_input = value.base.kind == "leaf" and isinstance(label, tuple) and label[0] == _PARAMETER
        return Place(f"{label[0]} {label[1]}", origin.index) if is_input and isinstance(label, tuple) else None
    padding = origin.padding
    assert isinstance(padding, Term)  # plans over terms are padded with terms
    if not padding.is_specified:
        return Place("unspecified padding", None)
    return Place("the padding value", None) if padding.kind == "constant" else None


CHLO = Definition("chlo", "A CHLO operation is its decomposition into StableHLO by CHLO's own pass.")
