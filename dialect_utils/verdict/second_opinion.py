"""Asks other engines about a difference that one engine shows: it may be wrong, or make a choice that is its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from dialect_utils.engine_names import ENGINE_TITLES, ENGINES, Engine
from dialect_utils.execution import ExecutionError
from dialect_utils.layout.arrays.floats import without_subnormals
from dialect_utils.verdict.comparator import FLUSHED, Comparator, Finding
from dialect_utils.verdict.judge import Judge
from dialect_utils.verdict.runs import Runs
from dialect_utils.verdict.sampling import DataSet

# 64 units in the last place of the largest number of an output in f32: an expansion has about ten roundings.
_OF_EXPANSION = f"of-largest:{2.0**-17}"
_ORDINARY = ("whole", "random", "own", "given")


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """The comparison of two modules on one engine, which the others are asked about.

    `finds` compares both on the data and the engine of runs. `expanded`: the outputs that depend on operations which
    one of the modules expands. `is_quick`: every engine executes one set of data in a short time.
    """

    runs: Runs
    judge: Judge
    expanded: frozenset[int]
    is_quick: bool
    finds: Callable[[Runs, Judge], tuple[Runs, Finding]]

    def confirmed(self, runs: Runs, found: Finding) -> tuple[Runs, Finding]:
        """Returns runs and a finding, or others where no other engine shows a difference on the same data.

        Where XLA finds no difference without subnormal numbers, only its choice to flush these makes one. An output in
        which an engine differs from two others is not compared. Against one other, the answer is `unknown`, except in a
        small difference of an output that depends on operations which engines expand.
        """
        comparator, example, data = self.judge.comparator, found.counterexample, found.data
        if found.answer != "different" or data is None or example is None:
            return runs, found
        output = example.output
        if not (comparator.is_guaranteed(output, data) or output in self.expanded):
            # Engines round sums in their own ways.
            return runs, found
        opinions = dict(self._alone(output).opinions(data))
        if not opinions or any(answer != "agrees" for answer in opinions.values()):
            return runs, found
        if self.runs.engine == "xla" and (flushed := self._without_subnormals()) is not None:
            return flushed[0], _remarked(flushed[1], output, f"{example} on {data}, because of {FLUSHED}")
        remark = f"{example} on {data}, by {ENGINE_TITLES[self.runs.engine]} alone: no difference by "
        remark += " and ".join(ENGINE_TITLES[engine] for engine in opinions)
        if len(opinions) == 1 and not self._is_expansion(output):
            return runs, replace(found, answer="unknown", reason=remark)
        rest = replace(comparator, excused=comparator.excused | {output})
        if len(rest.excused) == len(comparator.element_types):
            return runs, _remarked(Finding("unknown"), output, remark)
        others = self._by(rest)
        runs, again = others.confirmed(*others.finds(self.runs, others.judge))
        return runs, _remarked(again, output, remark)

    def _by(self, comparator: Comparator) -> SecondOpinion:
        return replace(self, judge=replace(self.judge, comparator=comparator))

    def on(self, data: Sequence[DataSet], engine: Engine) -> tuple[Runs, Finding]:
        """Returns the runs and the finding on sets of data, on an engine."""
        return self.finds(replace(self.runs, data=data, engine=engine), self.judge)

    def opinions(self, data: DataSet) -> Iterator[tuple[Engine, str]]:
        """Yields the other engines that execute both modules in a short time, up to one that does not agree."""
        for engine in ENGINES if self.is_quick else ():
            with suppress(ExecutionError):
                if engine != self.runs.engine:
                    answer = self.on([data], engine)[1].answer
                    yield engine, answer
                    if answer != "agrees":
                        return

    def _alone(self, output: int) -> SecondOpinion:
        """Returns the comparison of an output up to roundings of an expansion; of all outputs for another one."""
        if output not in self.expanded:
            return self
        comparator = self.judge.comparator
        rest = frozenset(range(len(comparator.element_types))) - {output}
        return self._by(replace(comparator, compare=_OF_EXPANSION, excused=rest))

    def _is_expansion(self, output: int) -> bool:
        """Is true where the expansion of an operation explains the differences of an output.

        On ordinary data these are a few units of the output's largest number. On other data expansions may cancel,
        overflow, or multiply an infinity by 0.
        """
        data = [each for each in self.runs.data if each.kind in _ORDINARY]
        if output not in self.expanded or not data:
            return False
        return self._alone(output).on(data, self.runs.engine)[1].answer == "agrees"

    def _without_subnormals(self) -> tuple[Runs, Finding] | None:
        """Returns the runs and the finding on data with zeros for subnormal numbers; None if both still differ."""
        sets = [replace(each, arrays=[*map(without_subnormals, each.arrays)]) for each in self.runs.data]
        pairs = ((new.arrays, old.arrays) for new, old in zip(sets, self.runs.data, strict=True))
        if all(np.array_equal(x, y) for arrays in pairs for x, y in zip(*arrays, strict=True)):
            return None
        runs, found = self.on(sets, self.runs.engine)
        return (runs, found) if found.answer == "agrees" else None


def _remarked(found: Finding, output: int, remark: str) -> Finding:
    return replace(found, remarks={**found.remarks, (output, "alone"): remark})
