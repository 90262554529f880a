"""Asks other engines about a difference that one engine shows: it may be wrong, or make a choice that is its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dialect_utils.engine_names import ENGINE_TITLES, ENGINES, Engine
from dialect_utils.execution import ExecutionError
from dialect_utils.verdict.comparator import FLUSHED, Comparator, Finding
from dialect_utils.verdict.rounding.floats import without_subnormals
from dialect_utils.verdict.runs import Runs
from dialect_utils.verdict.sampling import DataSet
from dialect_utils.verdict.work import ELEMENTS_PER_SECOND, work_of

if TYPE_CHECKING:
    from dialect_utils.verdict.examination import Examination

# 64 units in the last place of the largest number of an output in f32: an expansion has about ten roundings.
_OF_EXPANSION = f"of-largest:{2.0**-17}"
_ORDINARY = ("whole", "random", "own", "given")


def second_opinion(examination: Examination, runs: Runs, found: Finding) -> tuple[Runs, Finding]:
    """Returns runs and a finding `different`, or others where no other engine shows a difference on the same data.

    Where XLA finds no difference without subnormal numbers, only its choice to flush these makes one. An output in
    which an engine differs from two others is not compared. Against one other, the answer is `unknown`, except in a
    small difference of an output that depends on operations which engines expand.
    """
    comparator, example, data = examination.judge.comparator, found.counterexample, found.data
    # Engines round sums in their own ways.
    if data is None or example is None or not _is_heard(examination, example.output, data):
        return runs, found
    output, opinions = example.output, dict(_opinions(examination, runs.engine, data))
    if not opinions or any(answer != "agrees" for answer in opinions.values()):
        return runs, found
    if runs.engine == "xla" and (flushed := _without_subnormals(examination)) is not None:
        return flushed[0], _remarked(flushed[1], output, f"{example} on {data}, because of {FLUSHED}")
    remark = f"{example} on {data}, by {ENGINE_TITLES[runs.engine]} alone: no difference by "
    remark += " and ".join(ENGINE_TITLES[engine] for engine in opinions)
    if len(opinions) == 1 and not _is_expansion(examination, runs.engine, output):
        return runs, replace(found, answer="unknown", reason=remark)
    rest = replace(comparator, excused=comparator.excused | {output})
    if len(rest.excused) == len(comparator.element_types):
        return runs, _remarked(Finding("unknown"), output, remark)
    others = _by(examination, rest)
    runs, again = others.confirmed(*others.on_engine(runs.engine))
    return runs, _remarked(again, output, remark)


def _is_heard(examination: Examination, output: int, data: DataSet) -> bool:
    return examination.judge.comparator.is_guaranteed(output, data) or output in examination.expanded


def _by(examination: Examination, comparator: Comparator) -> Examination:
    return replace(examination, judge=replace(examination.judge, comparator=comparator))


def _on(examination: Examination, data: Sequence[DataSet], engine: Engine) -> tuple[Runs, Finding]:
    return replace(examination, runs=replace(examination.runs, data=data)).on_engine(engine)


def _opinions(examination: Examination, own: Engine, data: DataSet) -> Iterator[tuple[Engine, str]]:
    """Yields the other engines that execute both modules in a short time, until one does not agree."""
    if work_of(examination.original) + work_of(examination.last) > ELEMENTS_PER_SECOND:
        return
    for engine in ENGINES:
        with suppress(ExecutionError):
            if engine != own:
                answer = _on(examination, [data], engine)[1].answer
                yield engine, answer
                if answer != "agrees":
                    return


def _is_expansion(examination: Examination, engine: Engine, output: int) -> bool:
    """Is true where the expansion of an operation explains the differences of an output.

    On ordinary data these are a few units of the output's largest number. On other data expansions may cancel,
    overflow, or multiply an infinity by 0.
    """
    comparator, data = examination.judge.comparator, [each for each in examination.runs.data if each.kind in _ORDINARY]
    if output not in examination.expanded or not data:
        return False
    rest = frozenset(range(len(comparator.element_types))) - {output}
    alone = _by(examination, replace(comparator, compare=_OF_EXPANSION, excused=rest))
    return _on(alone, data, engine)[1].answer == "agrees"


def _without_subnormals(examination: Examination) -> tuple[Runs, Finding] | None:
    """Returns XLA's runs and finding on data with zeros for subnormal numbers; None if both programs still differ."""
    old = examination.runs.data
    sets = [replace(each, arrays=[*map(without_subnormals, each.arrays)]) for each in old]
    if all(
        np.array_equal(x, y) for a, b in zip(sets, old, strict=True) for x, y in zip(a.arrays, b.arrays, strict=True)
    ):
        return None
    runs, found = _on(examination, sets, "xla")
    return (runs, found) if found.answer == "agrees" else None


def _remarked(found: Finding, output: int, remark: str) -> Finding:
    return replace(found, remarks={**found.remarks, (output, "alone"): remark})
