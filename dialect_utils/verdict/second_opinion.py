"""Asks other engines about a difference that one engine shows: it may be wrong, or make a choice that is its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dialect_utils.engine_names import ENGINE_TITLES, ENGINES, Engine
from dialect_utils.execution import ExecutionError
from dialect_utils.verdict.comparator import FLUSHED, Finding
from dialect_utils.verdict.rounding.floats import without_subnormals

if TYPE_CHECKING:
    from dialect_utils.verdict.examination import Examination
    from dialect_utils.verdict.runs import Runs

# 64 units in the last place of the largest number of an output in f32: an expansion has about ten roundings.
_ORDINARY = ("whole", "random", "own", "given")
_OF_EXPANSION = f"of-largest:{2.0**-17}"


def confirmed(examination: Examination, engine: Engine, runs: Runs, found: Finding) -> tuple[Runs, Finding]:
    """Returns runs and a finding, or others where no other engine shows a difference on the same data.

    Where XLA finds no difference without subnormal numbers, only its choice to flush these makes one. An output in
    which an engine stands alone against two others is not compared. Against one other, the answer is `unknown`, except
    in a small difference of an output that depends on operations which engines expand.
    """
    comparator, example = examination.judge.comparator, found.counterexample
    if found.answer != "different" or found.data is None or example is None:
        return runs, found
    output = example.output
    if not (comparator.is_guaranteed(output, found.data) or output in examination.expanded):
        # Engines round sums in their own ways.
        return runs, found
    one = replace(examination, runs=replace(examination.runs, data=[found.data]))
    opinions = list(_opinions(one, engine))
    against = [ENGINE_TITLES[other] for other, answer in opinions if answer == "agrees"]
    if not against or len(against) < len(opinions):
        return runs, found
    if engine == "xla" and (flushed := _without_subnormals(examination)) is not None:
        remark = f"{example} on {found.data}, because of {FLUSHED}"
        return flushed[0], _remarked(flushed[1], remark, found)
    remark = f"{example} on {found.data}, by {ENGINE_TITLES[engine]} alone: "
    remark += f"{' and '.join(against)} compute{'s' if len(against) == 1 else ''} no difference there"
    if len(against) == 1 and not _is_expansion(examination, output):
        return runs, replace(found, answer="unknown", reason=remark)
    rest = replace(comparator, excused=comparator.excused | {output})
    if len(rest.excused) == len(comparator.element_types):
        return runs, _remarked(Finding("unknown"), remark, found)
    others = replace(examination, judge=replace(examination.judge, comparator=rest))
    runs, again = confirmed(others, engine, *others.on_engine(engine))
    return runs, _remarked(again, remark, found)


def _is_expansion(examination: Examination, output: int) -> bool:
    """Is true where the expansion of an operation explains the differences of an output.

    On ordinary data these are a few units of the output's largest number. On other data expansions may cancel,
    overflow, or multiply an infinity by 0.
    """
    comparator, runs = examination.judge.comparator, examination.runs
    others = frozenset(range(len(comparator.element_types))) - {output}
    comparator = replace(comparator, compare=_OF_EXPANSION, excused=others)
    judge, data = (
        replace(examination.judge, comparator=comparator),
        [each for each in runs.data if each.kind in _ORDINARY],
    )
    ordinary = replace(examination, judge=judge, runs=replace(runs, data=data))
    return bool(data) and output in examination.expanded and ordinary.on_engine("xla")[1].answer == "agrees"


def _opinions(one: Examination, engine: Engine) -> Iterator[tuple[Engine, str]]:
    """Yields the answers of the other engines that execute both modules, if one set of data takes a short time."""
    for other in ENGINES if one.is_quick else ():
        with suppress(ExecutionError):
            if other != engine:
                yield other, one.on_engine(other)[1].answer


def _without_subnormals(examination: Examination) -> tuple[Runs, Finding] | None:
    """Returns the runs and the finding of XLA on data with zeros for subnormal numbers; None if both still differ."""
    sets = [replace(each, arrays=[*map(without_subnormals, each.arrays)]) for each in examination.runs.data]
    pairs = zip(sets, examination.runs.data, strict=True)
    if all(np.array_equal(x, y) for new, old in pairs for x, y in zip(new.arrays, old.arrays, strict=True)):
        return None
    runs, found = replace(examination, runs=replace(examination.runs, data=sets)).on_engine("xla")
    return (runs, found) if found.answer == "agrees" else None


def _remarked(found: Finding, remark: str, difference: Finding) -> Finding:
    assert difference.counterexample is not None  # checked by the caller
    return replace(found, remarks={**found.remarks, (difference.counterexample.output, "alone"): remark})
