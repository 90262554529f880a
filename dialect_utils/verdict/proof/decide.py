"""Decides by proof whether two modules compute the same."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import prod
from typing import Literal

from dialect_utils.ir import Function, Module
from dialect_utils.layout import ArrayShape, Plan, Shape, array_leaves, physical_plan
from dialect_utils.layout.reads import origin_of, try_prove_same_reads
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.ports import Port
from dialect_utils.verdict.proof.evaluation import Evaluation
from dialect_utils.verdict.proof.motion import Motion
from dialect_utils.verdict.proof.terms import Array, GaveUpError, Moved, Term, Terms
from dialect_utils.verdict.proof.trees import plain, tree_of
from dialect_utils.verdict.result import MovedElement, Place

_DEVICES = ("replica_count", "num_partitions", "mhlo.num_replicas", "mhlo.num_partitions")
_PARAMETER = "parameter"


@dataclass(frozen=True, slots=True)
class ProofResult:
    """Is what a proof found: `equal`, `different` with the element that moved, or `unknown` and why."""

    answer: Literal["equal", "different", "unknown"]
    reason: str = ""
    moved: MovedElement | None = None
    seconds: float = 0.0


def try_prove(stages: Sequence[Module], parameters: Sequence[Port], results: Sequence[Port]) -> ProofResult:
    """Decides whether the first and the last of several forms of a module are equal, without executing any.

    `parameters` and `results` say how the last one's arrays lie. Nothing is unspecified but the
    padding of arrays that are packed there. `different` is said only where results differ for some inputs.
    """
    started = time.perf_counter()
    try:
        found = _Comparison(Terms()).run(stages, parameters, results)
    except GaveUpError as reason:
        found = ProofResult("unknown", str(reason))
    except DiagnosticError as error:
        found = ProofResult("unknown", error.diagnostics[0].message)
    except ValueError as error:
        # A step or a layout that does not fit: only modules that were not verified have one.
        found = ProofResult("unknown", str(error))
    except RecursionError:
        found = ProofResult("unknown", "the modules are nested too deeply")
    return replace(found, seconds=time.perf_counter() - started)


class _Comparison:
    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.same: dict[tuple[Term, Term], bool] = {}

    def run(self, stages: Sequence[Module], parameters: Sequence[Port], results: Sequence[Port]) -> ProofResult:
        first, last = stages[0], stages[-1]
        inputs = [
            self.terms.make("leaf", (_PARAMETER, number), plain(port.shape)) for number, port in enumerate(parameters)
        ]
        before = Evaluation(self.terms, _devices(first))
        expected = _run(before, first.entry, inputs)
        packed = [self._packed(term, port) for term, port in zip(inputs, parameters, strict=True)]
        after = Evaluation(self.terms, _devices(last), _plans(stages) if before.loops else {}, before.loops)
        found = _run(after, last.entry, packed)
        found = [self._unpacked(term, port) for term, port in zip(found, results, strict=True)]
        return self._compared(expected, found, before.effects, after.effects)

    def _packed(self, term: Term, port: Port) -> Array:
        value: Array = term
        for layout in port.layouts:
            value = self.terms.chain(value).then(Motion.of(physical_plan(layout), self.terms.unspecified))
        return value

    def _unpacked(self, term: Term, port: Port) -> Term:
        value: Array = term
        for layout in reversed(port.layouts):
            value = self.terms.chain(value).then(Motion.of(physical_plan(layout).inverse(), None))
        return self.terms.term(value)

    def _compared(
        self, expected: list[Term], found: list[Term], effects: list[Term], other_effects: list[Term]
    ) -> ProofResult:
        unequal = [i for i, pair in enumerate(zip(expected, found, strict=True)) if not self._same(*pair)]
        for output in unequal:
            moved = self._moved(output, expected[output], found[output])
            if moved is not None:
                return ProofResult("different", "the results are different elements of the inputs", moved)
        if unequal:
            pair = expected[unequal[0]], found[unequal[0]]
            return ProofResult("unknown", f"output {unequal[0]}: {self._apart(*pair)}")
        if len(effects) != len(other_effects):
            return ProofResult(
                "unknown", f"{len(effects)} side effects in one module, {len(other_effects)} in the other"
            )
        for pair in zip(effects, other_effects, strict=True):
            if not self._same(*pair):
                return ProofResult("unknown", f"a side effect: {self._apart(*pair)}")
        return ProofResult("equal", _told(self.terms.methods))

    def _same(self, a: Term, b: Term) -> bool:
        """Is true where two terms are equal: one term, or alike but for movement that is proved to read the same."""
        if a is b and a.is_specified:
            return True
        if a.shape != b.shape:
            return False
        if (a, b) not in self.same:
            self.same[a, b] = self._same_parts(a, b)
        return self.same[a, b]

    def _same_parts(self, a: Term, b: Term) -> bool:
        if "moved" in (a.kind, b.kind):
            return self._same_reads(self.terms.chain(a), self.terms.chain(b))
        is_alike = (a.kind, a.label, len(a.operands)) == (b.kind, b.label, len(b.operands))
        return is_alike and bool(a.operands) and all(map(self._same, a.operands, b.operands))

    def _same_reads(self, a: Moved, b: Moved) -> bool:
        if self.terms.unspecified in a.motion.fills or not self._same(a.base, b.base):
            return False
        numbers: dict[Hashable, int] = {}
        proof = try_prove_same_reads(a.motion.movement(numbers), b.motion.movement(numbers))
        if proof is None or not proof.holds:
            return False
        self.terms.methods[proof.method] += 1
        return True

    def _moved(self, output: int, a: Term, b: Term) -> MovedElement | None:
        """Returns an element that two results take from different places of the inputs, or None where none is sure."""
        first, second = self.terms.chain(a), self.terms.chain(b)
        index = _differing_index(first, second)
        if index is None:
            return None
        place, other = _place(first, index), _place(second, index)
        if place is None or other is None or place == other or place.index is other.index is None:
            return None
        return MovedElement(output, index, (place, other))

    def _apart(self, a: Term, b: Term) -> str:
        """Says where two terms are told apart: the first operands, all the way down, that are not alike."""
        while True:
            is_alike = (a.kind, a.label, len(a.operands)) == (b.kind, b.label, len(b.operands))
            pairs = [pair for pair in zip(a.operands, b.operands, strict=False) if not self._same(*pair)]
            if not is_alike or not pairs:
                if a.is_specified and not b.is_specified:
                    return f"{_described(b)} reads what a physical array has as padding"
                return f"{_described(a)} and {_described(b)} are not known to be equal"
            a, b = pairs[0]


def _run(evaluation: Evaluation, entry: Function, arrays: Sequence[Array]) -> list[Term]:
    leaves = iter(arrays)
    arguments = [tree_of(parameter.shape, leaves) for parameter in entry.parameters]
    return [term for tree in evaluation.run(entry, arguments) for term in evaluation.flat(tree)]


def _devices(module: Module) -> Hashable:
    counts = [module.attributes.get(name, "1").split(" ")[0] for name in _DEVICES]
    return tuple(max(int(a), int(b)) for a, b in zip(counts[:2], counts[2:], strict=True))


def _plans(stages: Sequence[Module]) -> Mapping[tuple[Shape, Shape], Sequence[Plan]]:
    """Returns the plans of all tiled layouts in the stages, by the shapes they lead from and to."""
    shapes = {shape for stage in stages for shape in _tiled_shapes(stage)}
    plans: dict[tuple[Shape, Shape], list[Plan]] = {}
    for shape in sorted(shapes, key=str):
        # Some layouts have no plan; nothing is read by those.
        with suppress(ValueError):
            plan = physical_plan(shape)
            plans.setdefault((plain(shape), ArrayShape(*plan.result)), []).append(plan)
    return plans


def _tiled_shapes(module: Module) -> Iterator[ArrayShape]:
    for function in module.functions:
        operations = [value for operation in function.operations for value in operation.results]
        for value in (*function.parameters, *operations):
            yield from (array for array in array_leaves(value.shape) if array.is_tiled and array.is_static)


def _told(methods: Counter[str]) -> str:
    used = [f"{count} by {method}" for method, count in sorted(methods.items()) if count]
    return f"movements: {', '.join(used)}" if used else ""


def _differing_index(a: Moved, b: Moved) -> tuple[int, ...] | None:
    """Returns an index at which two runs of movement read different places, or None."""
    dimensions = a.motion.result[1]
    if prod(dimensions) == 0 or a.motion.result != b.motion.result:
        return None
    if a.base is not b.base:
        return (0,) * len(dimensions)
    numbers: dict[Hashable, int] = {}
    proof = try_prove_same_reads(a.motion.movement(numbers), b.motion.movement(numbers))
    return proof.counterexample if proof is not None else None


def _place(value: Moved, index: tuple[int, ...]) -> Place | None:
    """Returns the element of an input, or the padding, that stands at an index; None for anything else."""
    numbers: dict[Hashable, int] = {}
    origin = origin_of(value.motion.movement(numbers), index)
    if origin.index is not None:
        label = value.base.label
        is_input = value.base.kind == "leaf" and isinstance(label, tuple) and label[0] == _PARAMETER
        return Place(f"{label[0]} {label[1]}", origin.index) if is_input and isinstance(label, tuple) else None
    fill = next(fill for fill, number in numbers.items() if number == origin.fill)
    assert isinstance(fill, Term)  # so motions are made
    if not fill.is_specified:
        return Place("unspecified padding", None)
    return Place("the padding value", None) if fill.kind == "constant" else None


def _described(term: Term) -> str:
    if term.kind == "leaf" and isinstance(term.label, tuple):
        return f"{term.label[0]} {term.label[-1]}"
    if term.kind == "out":
        return _described(term.operands[0])
    if term.kind == "moved":
        return f"movement of {_described(term.operands[0])}"
    label: object = term.label
    while isinstance(label, tuple) and label:
        label = label[0]
    return str(label) if isinstance(label, str) else term.kind
