"""Verdicts under conditions on data, such as `equal if x is never NaN`: no data that meets them may refute one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dialect_utils.engine_names import ENGINES
from dialect_utils.execution import Array, Engine, ExecutionError, prepare
from dialect_utils.ir import Module
from dialect_utils.ir.control_flow import remove_uncalled
from dialect_utils.layout.arrays.floats import wide
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.certificate import Excluded, clauses, without_chlo
from dialect_utils.verdict.certified import choices_of
from dialect_utils.verdict.evidence import Verdict
from dialect_utils.verdict.executable_part import remove_unused
from dialect_utils.verdict.outcome import CONDITIONAL, PROOF
from dialect_utils.verdict.proof import ProofResult
from dialect_utils.verdict.sampling import DataSet
from dialect_utils.verdict.terms.given import has_value

if TYPE_CHECKING:
    from dialect_utils.verdict.examination import Examination

_REFUTED = "proved equal under conditions on data, yet an engine computes something else on data that meets them"
_NONE = "proved equal only under conditions that no data here meets"
# The kinds of data of which the absolute values are data, too: a product with 0 has the sign of the other factor.
_SIGNED = ("random", "whole")


@dataclass(frozen=True, slots=True)
class ConditionalProof:
    """A proof that modules are equal for data that meets conditions."""

    stages: tuple[Module, Module]
    proof: ProofResult
    conditions: tuple[Excluded, ...]

    def verdict(self, found: Verdict, examination: Examination | None = None) -> Verdict:
        """Returns `equal if`, or the verdict of the engines on all data where data refutes the proof, or none meets it.

        Without an examination only conditions on inputs count, which some data always meets.
        """
        data, methods, described = [], found.methods, found.data
        if examination is not None:
            data = self._meeting(examination, next((each for each in ENGINES if each in methods), "xla"))
        elif any(each.side >= 0 for each in self.conditions):
            return found
        if examination is not None and not data:
            reason = f"{_NONE}: {' and '.join(clauses(self.conditions))}"
            return replace(found, reason="; ".join(filter(None, [found.reason, reason])))
        if examination is not None and found.counterexample is not None and found.verdict != "close":
            again = replace(examination, runs=replace(examination.runs, data=data)).run(is_proved=True)
            if again.counterexample is not None and again.verdict != "close":
                return replace(again, verdict="unknown", reason=f"{_REFUTED}: {again.reason}")
            methods, described = again.methods, again.data
        beyond = f"other data: {found.counterexample}" if found.counterexample is not None else ""
        return replace(
            found,
            verdict=CONDITIONAL,
            methods=(PROOF, *(each for each in methods if each != PROOF)),
            counterexample=None,
            closeness=None,
            data=described,
            reason=beyond,
            conditions=clauses(self.conditions),
            choices=choices_of(self.proof.outputs),
            proved=self.proof.outputs,
            rules=self.proof.rules,
            certificate=self.proof.certificate,
        )

    def _meeting(self, examination: Examination, engine: Engine) -> list[DataSet]:
        """Returns the sets of data that meet all conditions."""
        runs = examination.runs
        if any(each.layouts or each.sharding for each in runs.parameters) or runs.devices > 1:
            return []
        sets = [*runs.data, *(_without_signs(each) for each in runs.data if each.kind in _SIGNED)]
        try:
            for condition in self.conditions:
                values = [each.arrays[condition.number] for each in sets] if condition.side < 0 else []
                if condition.side >= 0 and sets:
                    program = prepare(
                        _with_result(without_chlo(self.stages)[condition.side], condition.number), "values"
                    )
                    inner = replace(runs, programs=(program, program), data=sets, engine=engine, code="plain")
                    values = [results[0] for results in inner.original()]
                sets = [each for each, array in zip(sets, values, strict=True) if not _has_any(array, condition.values)]
        except (DiagnosticError, ExecutionError):
            return []
        return sets


def _without_signs(data: DataSet) -> DataSet:
    arrays = [np.abs(each) if np.issubdtype(wide(each).dtype, np.floating) else each for each in data.arrays]
    return replace(data, arrays=arrays)


def _has_any(array: Array, values: Sequence[str]) -> bool:
    return any(has_value(wide(array), value) for value in values)


def _with_result(module: Module, number: int) -> Module:
    """Returns a copy whose only result is that of an operation of the entry."""
    copy = module.clone()
    (value,) = copy.entry.operations[number].results
    parameters, _ = copy.entry_layout
    copy.entry.set_results([value])
    remove_unused(copy.entry)
    remove_uncalled(copy)
    copy.set_entry_layout(parameters, [value.shape])
    return copy
