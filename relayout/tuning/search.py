"""The search: the program as it is, with AUTO and with passes, then one argument or result after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from dialect_utils.stablehlo.module import StableHloModule
from dialect_utils.verdict import Options, compare_modules
from passes.framework.base import load_pass
from relayout.tuning.changes import (
    AUTO,
    Change,
    EntryArray,
    as_stablehlo,
    change_of,
    changed_module,
    entry_shape,
    laid_out,
    mode_of,
    orders,
    padded_bytes,
)
from relayout.tuning.model import Model, rank_correlation
from relayout.tuning.objective import Objective, Score, score
from relayout.tuning.trials import Measured, Trial

DEFAULT_BUDGET = 20
# The passes that are tried, one after the other on the best program so far.
PASSES = ("split-minor",)
# At first only the orders of each array with the fewest modelled bytes are tried.
_ORDERS = 4
# Arrays below this part of all bytes of the entry are not worth a compilation.
_LEAST_PART = 1e-3
_PROOF_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Tuning:
    """The trials of a search in their order, and the best of them, whose program is `program`.

    The first trial is the program as it is, the second has AUTO layouts. `proof` says why the best one is equal, empty
    where it is the program as it is. `unproved` are changes that would be better, without a proof that they are equal.
    `correlation` is that of the ranks of the model and of the bytes accessed, over all trials.
    """

    target: str
    version: str
    objective: Objective
    trials: tuple[Trial, ...]
    best: Trial
    proof: str
    program: StableHloModule
    unproved: frozenset[Change]
    correlation: float | None

    @property
    def start(self) -> Trial:
        """Returns the trial of the program as it is."""
        return self.trials[0]


@dataclass(slots=True)
class Search:
    """A search for the best change of a program, which is proved equal to it.

    `told` is told every trial, and whether it is the best so far.
    """

    module: StableHloModule
    measured: Measured
    objective: Objective = "peak"
    budget: int = DEFAULT_BUDGET
    told: Callable[[Trial, bool], None] = lambda trial, is_best: None
    trials: list[Trial] = field(default_factory=list)
    best: Trial | None = None
    # The evidence for each change that was better than all before.
    _proofs: dict[Change, str | None] = field(default_factory=dict)
    # The program after passes.
    _programs: dict[str, StableHloModule] = field(default_factory=dict)
    _models: dict[str, Model] = field(default_factory=dict)

    def run(self) -> Tuning:
        """Tries changes within the budget and returns the best one, which is proved equal."""
        start = change_of(self.module)
        self._try(start)
        self._try(start.with_modes(AUTO))
        for name in PASSES:
            self._try_pass(name)
        for most in (_ORDERS, None):
            while self._descend(most):
                continue
        best = self.best
        assert best is not None  # the program as it is
        return Tuning(
            self.measured.target,
            self.measured.version,
            self.objective,
            tuple(self.trials),
            best,
            "" if best.change == start else self._proof(best.change) or "",
            self.program(best),
            frozenset(change for change, proof in self._proofs.items() if proof is None),
            self._correlation(),
        )

    def _correlation(self) -> float | None:
        """Returns the rank correlation of the model and the compiler's bytes accessed over all trials that compile."""
        done = [trial for trial in self.trials if not trial.figures.error]
        modelled = [self._model(trial.change.passes).cost(trial.change) for trial in done]
        return rank_correlation(modelled, [trial.figures.accessed for trial in done])

    def program(self, trial: Trial) -> StableHloModule:
        """Returns the changed program of a trial."""
        return self._changed(trial.change)

    def _try_pass(self, name: str) -> None:
        """Tries a pass after those of the best program, unless it changes nothing."""
        assert self.best is not None  # the program as it is
        before = self.best.change.passes
        passes = f"{before},{name}" if before else name
        result = load_pass(name).run(self._programs.get(before, self.module))
        if result.modified:
            self._programs[passes] = as_stablehlo(result.module)
            self._try(replace(self.best.change, passes=passes))

    def _changed(self, change: Change) -> StableHloModule:
        return changed_module(self._programs.get(change.passes, self.module), change)

    def _try(self, change: Change) -> bool:
        """Measures a change unless it was tried already; returns whether it is the best so far."""
        if len(self.trials) >= self.budget or any(each.change == change for each in self.trials):
            return False
        trial = Trial(change, self.measured.figures(self._changed(change).text()))
        self.trials.append(trial)
        is_best = self.best is None or (self._score(trial) < self._score(self.best) and self._proof(change) is not None)
        if is_best:
            self.best = trial
        self.told(trial, is_best)
        return is_best

    def _proof(self, change: Change) -> str | None:
        """Returns the evidence that a changed program is equal to the program as it is; None without a proof."""
        if change not in self._proofs:
            self._proofs[change] = proved_equal(self.module, self._changed(change))
        return self._proofs[change]

    def _score(self, trial: Trial) -> Score:
        return score(trial.figures, self.objective)

    def _descend(self, most: int | None) -> bool:
        """Changes one array after the other, the largest first; returns whether anything became better.

        `most` is the number of orders that are tried of each array, None for all.
        """
        assert self.best is not None  # the program as it is
        is_better = False
        for entry in self._entry_arrays():
            for mode in self._modes(entry)[:most]:
                is_better |= self._try(self.best.change.with_mode(entry, mode))
        return is_better and len(self.trials) < self.budget

    def _entry_arrays(self) -> list[EntryArray]:
        """Returns the arrays of the entry with several orders of dimensions, those with most bytes first."""
        assert self.best is not None  # the program as it is
        change, sizes = self.best.change, {}
        for entry in change.entry_arrays:
            shape = entry_shape(self.module, entry)
            if shape is not None and any(orders(shape)):
                sizes[entry] = padded_bytes(shape, change.mode(entry), self.measured.target)
        least = _LEAST_PART * sum(sizes.values())
        return sorted((entry for entry, size in sizes.items() if size >= least), key=lambda entry: -sizes[entry])

    def _modes(self, entry: EntryArray) -> list[str]:
        """Returns other layouts of an array, those with the fewest modelled bytes first."""
        shape, best = entry_shape(self.module, entry), self.best
        assert best is not None  # the program as it is
        assert shape is not None  # an array with several orders
        now = laid_out(shape, best.change.mode(entry), self.measured.target)
        modes = [mode_of(order) for order in orders(shape) if now.layout and order != now.layout.minor_to_major]
        model = self._model(best.change.passes)
        return sorted(modes, key=lambda mode: model.cost(best.change.with_mode(entry, mode)))

    def _model(self, passes: str) -> Model:
        if passes not in self._models:
            self._models[passes] = Model(self._programs.get(passes, self.module), self.measured.target)
        return self._models[passes]


def proved_equal(module: StableHloModule, changed: StableHloModule) -> str | None:
    """Returns the evidence that a changed program is equal to a program; None where there is no proof."""
    verdict = compare_modules(module, changed, Options(engines=("proof",), proof_seconds=_PROOF_SECONDS))
    return ": ".join(line.strip() for line in str(verdict).splitlines()) if verdict.verdict == "equal" else None
