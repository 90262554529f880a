"""The changes that the model finds best, without the compiler."""

from __future__ import annotations

from dataclasses import dataclass

from dialect_utils.stablehlo.module import StableHloModule
from relayout.tuning.candidates import Candidates
from relayout.tuning.changes import Change, change_of
from relayout.tuning.model import Prediction
from relayout.tuning.objective import Objective
from relayout.tuning.proving import proved_equal


@dataclass(frozen=True, slots=True)
class Modelled:
    """The modelled figures of changes, the smallest first, and the best change with a proof.

    The best change is the program as it is where the model finds none smaller; then `proof` is empty. `program` is the
    changed program.
    """

    target: str
    objective: Objective
    start: Change
    figures: tuple[tuple[Change, Prediction], ...]
    best: Change
    proof: str
    program: StableHloModule


def model_changes(module: StableHloModule, target: str, objective: Objective, count: int) -> Modelled:
    """Returns the modelled figures of a program and of so many changes of it."""
    candidates, start = Candidates.of(module, target, objective), change_of(module)
    ranked = [start, *candidates.ranked(start, {start})]
    ranked = sorted(ranked, key=candidates.modelled)[:count]
    best, proof = start, ""
    for change in (each for each in ranked if candidates.modelled(each) < candidates.modelled(start)):
        found = proved_equal(module, candidates.programs.module(change))
        if found is not None:
            best, proof = change, found
            break
    figures = tuple((change, candidates.programs.predict(change)) for change in dict.fromkeys((start, *ranked)))
    return Modelled(target, objective, start, figures, best, proof, candidates.programs.module(best))
