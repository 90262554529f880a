"""Loops as nodes of a graph: the iterations of short loops, and other loops as functions of their state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic

from dialect_utils.ir import Function, Operation
from dialect_utils.ir.control_flow import is_unrolled
from dialect_utils.layout import TupleShape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.verdict.certificate import Reading
from dialect_utils.verdict.terms.primitives import V
from dialect_utils.verdict.terms.structure import check_reading

if TYPE_CHECKING:
    from dialect_utils.verdict.terms.record import Recorder


@dataclass(frozen=True, slots=True)
class Program(Generic[V]):
    """The condition and the next state of a loop as functions of the state, tuples flattened.

    `body` is the function that decides whether an iteration is short.
    """

    tested: Callable[[Sequence[V]], list[V]]
    ends: Callable[[Sequence[V]], list[V]]
    body: Function


@dataclass(frozen=True, slots=True)
class LoopRecorder:
    """One loop of a module."""

    recorder: Recorder
    operation: Operation
    program: Program[int]

    def run(self, start: Sequence[int]) -> Sequence[int]:
        """Returns the final state: of the iterations where they are few and known, else as a function."""
        unrolled = self._unrolled(start)
        if unrolled is not None:
            return unrolled
        every = tuple(range(len(start)))
        plain = Reading(every, every, (None,) * len(start))
        return self._state(start, self.recorder.readings.get(self.operation, plain))

    def _unrolled(self, start: Sequence[int]) -> Sequence[int] | None:
        recorder, program = self.recorder, self.program
        if not is_unrolled(program.body):
            return None
        state, effects = start, len(recorder.effects)
        for _ in range(recorder.iterations + 1):
            bits = recorder.constant_bits(program.tested(state)[0])
            if bits is None or len(recorder.effects) > effects:
                break
            if not bits:
                return state
            state = program.ends(state)
        # The attempt leaves no effects.
        del recorder.effects[effects:]
        return None

    def _state(self, start: Sequence[int], reading: Reading) -> list[int]:
        """Returns the final state of a loop; claims that its reading is right."""
        recorder, graph = self.recorder, self.recorder.graph
        check_reading(reading, [graph.shape(node) for node in start])
        logical = [self._logical(node, plan) for node, plan in zip(start, reading.plans, strict=True)]
        variables = recorder.variables([graph.shape(node) for node in logical])
        _, ends, _ = self._iteration(variables, reading)
        fixed = [i for i in range(len(start)) if i not in reading.changed]
        recorder.claims += [(ends[i], variables[i]) for i in fixed]
        numbered = [*reading.order, *(i for i in reading.changed if i not in reading.order)]
        state = list(logical)
        names = recorder.variables([graph.shape(logical[i]) for i in numbered])
        for i, variable in zip(numbered, names, strict=True):
            state[i] = variable
        tested, ends, effects = self._iteration(state, reading)
        final = list(logical)
        for i, out in zip(reading.order, self._outs(logical, reading.order, tested, ends, effects), strict=True):
            final[i] = out
        dropped = names[len(reading.order) :]
        if dropped:
            used = [*tested, *(ends[i] for i in reading.order), *effects[0], *effects[1]]
            recorder.closed += [(node, frozenset(dropped)) for node in used]
            every = tuple(range(len(start)))
            tested, ends, effects = self._iteration(variables, reading)
            outs = self._outs(logical, every, tested, ends, effects)
            for i in {*reading.changed} - {*reading.order}:
                final[i] = outs[i]
        if any(plan is not None for plan in reading.plans):
            unspecified = frozenset([recorder.unspecified()])
            recorder.closed += [(node, unspecified) for node in (*tested, *ends, *effects[0], *effects[1])]
        return [self._physical(node, plan) for node, plan in zip(final, reading.plans, strict=True)]

    def _iteration(
        self, state: Sequence[int], reading: Reading
    ) -> tuple[list[int], list[int], tuple[list[int], list[int]]]:
        recorder = self.recorder
        arrays = [self._physical(node, plan) for node, plan in zip(state, reading.plans, strict=True)]
        tested, test_effects = recorder.within(0, lambda: self.program.tested(arrays))
        ends, effects = recorder.within(1, lambda: self.program.ends(arrays))
        logical = [self._logical(end, plan) for end, plan in zip(ends, reading.plans, strict=True)]
        return tested, logical, (test_effects, effects)

    def _outs(
        self,
        start: Sequence[int],
        order: Sequence[int],
        tested: Sequence[int],
        ends: Sequence[int],
        effects: tuple[list[int], list[int]],
    ) -> list[int]:
        recorder, graph = self.recorder, self.recorder.graph
        number = (*recorder.scope, len(recorder.effects)) if any(effects) else None
        parts = [[start[i] for i in order], [ends[i] for i in order], tested, *effects]
        shapes = [graph.shape(start[i]) for i in order]
        label = ("while", recorder.level, tuple(map(len, parts)), number)
        operands = [node for part in parts for node in part]
        made = recorder.primitives.made(label, TupleShape(tuple(shapes)), operands)
        if number is not None:
            recorder.effects.append(made)
        return [graph.make("out", i, shape, (made,)) for i, shape in enumerate(shapes)]

    def _logical(self, node: int, plan: Plan | None) -> int:
        return node if plan is None else self.recorder.graph.moved(node, plan.inverse(), ())

    def _physical(self, node: int, plan: Plan | None) -> int:
        if plan is None:
            return node
        padded = plan.with_padding(True)
        paddings = [self.recorder.unspecified() for each in padded.paddings if each is not None]
        return self.recorder.graph.moved(node, padded, paddings)
