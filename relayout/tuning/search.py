"""The search: the unchanged program, AUTO layouts, the best of the model, then changes of the best program so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf
from statistics import StatisticsError, correlation
from typing import Protocol, Self

from dialect_utils.execution.compilers import Figures
from dialect_utils.layout import parse_layout
from dialect_utils.stablehlo.module import StableHloModule
from dialect_utils.text import format_bytes
from dialect_utils.text.html import html_table, html_text
from relayout.tuning.candidates import Candidates, proved_equal
from relayout.tuning.changes import AUTO, Change, change_of, mode_of
from relayout.tuning.model import Prediction
from relayout.tuning.trials import NOTABLE, Measured, Objective, Score, Trial, figure, relative, score

DEFAULT_BUDGET = 20
# The number of changes that are chosen at once, whatever the number of parallel compilations.
_BATCH = 6


@dataclass(frozen=True, slots=True)
class Tuning:
    """The trials of a search in their order, and the best of them, whose program is `program`.

    The first trial is the unchanged program, the second has AUTO layouts. `proof` says why the best program is equal,
    empty where that is the unchanged program, also where no change makes the objective notably smaller. `unproved` are
    changes that would be better, each with the reason for which it has no proof. `correlation` is that of the ranks of
    the model and of the compiler's figure, over all trials.
    """

    target: str
    version: str
    objective: Objective
    trials: tuple[Trial, ...]
    best: Trial
    proof: str
    program: StableHloModule
    unproved: tuple[tuple[Change, str], ...]
    correlation: float | None

    @property
    def start(self) -> Trial:
        """Returns the trial of the unchanged program."""
        return self.trials[0]

    def _repr_html_(self) -> str:
        """Returns the HTML for notebooks: the best change with its proof, and a table of all trials."""
        said = f"{self.target}, {self.version}: {self.best.change.described(self.start.change)}"
        rows = [
            ("best" if each == self.best else "", each.change.described(self.start.change), *_cells(each.figures))
            for each in self.trials
        ]
        table = html_table(("", "change", "arguments", "temporaries", "accessed"), rows)
        return f"<p><b>{html_text(said)}</b></p><p>{html_text(self.proof)}</p>{table}"


def _cells(figures: Figures) -> Sequence[str]:
    if figures.error:
        return figures.error, "", ""
    return [format_bytes(size) for size in (figures.argument, figures.temp, figures.accessed)]


class Inner(Protocol):
    """A module inside of the compiler, which passes change."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *error: object) -> None: ...

    def after(self, passes: str) -> Sequence[str]:
        """Returns passes to add to passes, the most promising ones first."""

    def figures(self, passes: str) -> Figures:
        """Returns the compiler's figures with passes inside; `error` says why there are none."""


@dataclass(slots=True)
class Search:
    """A search for the best change of a program, which is proved equal to it.

    `inside` is the number of programs that are compiled with passes inside of the compiler, after the others; `enter`
    returns the module inside.
    `told` is called with every trial, and whether it is the best so far; `waits` with what takes time next.
    """

    module: StableHloModule
    measured: Measured
    objective: Objective = "peak"
    budget: int = DEFAULT_BUDGET
    inside: int = 0
    enter: Callable[[StableHloModule], Inner] | None = None
    told: Callable[[Trial, bool], None] = lambda trial, is_best: None
    waits: Callable[[str], None] = lambda text: None
    trials: list[Trial] = field(default_factory=list)
    _candidates: Candidates = field(init=False)
    # The evidence for each change that was better than all before.
    _proofs: dict[Change, tuple[bool, str]] = field(default_factory=dict)
    _best: Trial | None = None

    def __post_init__(self) -> None:
        self._candidates = Candidates.of(self.module, self.measured.target, self.objective)

    def run(self) -> Tuning:
        """Tries changes within the budget and returns the best one, which is proved equal."""
        start = change_of(self.module)
        self._try([start, start.with_modes(AUTO)])
        while batch := self._batch():
            self._try(batch)
        if self.inside and self.enter is not None:
            self._go_inside(self.enter)
        best = self.best if self._is_offered(self.best) else self.trials[0]
        found = [
            (self._candidates.modelled(known_layouts(each)), figure(each.figures, self.objective))
            for each in self.trials
            if not each.change.inside
        ]
        known = [(modelled, compiled) for modelled, compiled in found if 0 < compiled < inf]
        return Tuning(
            self.measured.target,
            self.measured.version,
            self.objective,
            tuple(self.trials),
            best,
            "" if best.change == start else self._proof(best.change)[1],
            self.program(best),
            tuple(self._unproved(best)),
            rank_correlation([modelled for modelled, _ in known], [compiled for _, compiled in known]),
        )

    @property
    def best(self) -> Trial:
        """Returns the best trial so far."""
        assert self._best is not None  # the unchanged program
        return self._best

    def program(self, trial: Trial) -> StableHloModule:
        """Returns the changed program of a trial."""
        return self._candidates.programs.module(trial.change)

    def _try(self, changes: Sequence[Change]) -> None:
        """Measures changes in their order, as far as the budget goes."""
        tried = changes[: self.budget - len(self.trials)]
        self.waits(f"compiling {len(tried)} program{'s' * (len(tried) > 1)}")
        texts = [self._candidates.programs.module(change).text() for change in tried]
        for change, figures in zip(tried, self.measured.figures(texts), strict=True):
            trial = Trial(change, figures)
            self._candidates.learn(trial)
            self._add(trial)

    def _add(self, trial: Trial) -> None:
        self.trials.append(trial)
        is_best = self._best is None or self._is_better(trial, self._best)
        if is_best:
            self._best = trial
        self.told(trial, is_best and self._is_offered(trial))

    def _go_inside(self, enter: Callable[[StableHloModule], Inner]) -> None:
        """Goes inside of the best program, and of the unchanged one, with half of the compilations for each."""
        starts = [*dict.fromkeys((self.best, self.trials[0]))]
        for start in starts:
            self.waits(f"compiling {start.change.described(self.trials[0].change)}, to change the module inside")
            with enter(self.program(start)) as inner:
                self._try_inside(start, inner, self.inside // len(starts))

    def _try_inside(self, base: Trial, inner: Inner, budget: int) -> None:
        """Adds passes inside of the compiler to a program, one after the other, while they make it better."""
        text, tried, steps = self.program(base).text(), set[str](), inner.after("")
        for _ in range(budget):
            step = next((each for each in steps if each not in tried), None)
            if step is None:
                return
            tried.add(step)
            passes = f"{base.change.inside},{step}" if base.change.inside else step
            self.waits(f"compiling with {passes} inside")
            figures = self.measured.figures_inside(text, passes, inner.figures)
            trial = Trial(replace(base.change, inside=passes), figures)
            self._add(trial)
            if self._is_better(trial, base):
                base, steps = trial, inner.after(passes)

    def _is_better(self, trial: Trial, best: Trial) -> bool:
        """Is true for a trial with better figures than the best one, and with a proof."""
        return self._score(trial) < self._score(best) and self._proof(trial.change)[0]

    def _is_offered(self, trial: Trial) -> bool:
        """Is true for the unchanged program, and for one with a notably smaller figure of the objective."""
        start = self.trials[0]
        part = relative(start.figures, trial.figures, self.objective)
        return trial is start or (part <= -NOTABLE if part is not None else self._score(trial) < self._score(start))

    def _unproved(self, best: Trial) -> Iterator[tuple[Change, str]]:
        """Yields the changes without a proof that would be offered in place of the best one, the best of them first."""
        for trial in sorted(self.trials, key=self._score):
            is_equal, reason = self._proofs.get(replace(trial.change, inside=""), (True, ""))
            if not is_equal and self._is_offered(trial) and self._score(trial) < self._score(best):
                yield trial.change, reason

    def _proof(self, change: Change) -> tuple[bool, str]:
        """Returns whether a changed program is proved equal to the unchanged one, and the evidence or the reason."""
        change = replace(change, inside="")  # the module inside is proved equal before it is compiled
        if change not in self._proofs:
            self.waits(f"proving {change.described(self.trials[0].change)}")
            self._proofs[change] = proved_equal(self.module, self._candidates.programs.module(change))
        return self._proofs[change]

    def _score(self, trial: Trial) -> Score:
        return score(trial.figures, self.objective)

    def _batch(self) -> list[Change]:
        """Returns the next changes, empty where none are left or the budget is spent."""
        if len(self.trials) >= self.budget:
            return []
        self.waits("ranking changes by the model")
        tried = {trial.change for trial in self.trials}
        return self._candidates.ranked(self.best.change, tried, [self._joined()])[:_BATCH]

    def _joined(self) -> Change:
        """Returns the best change, combined with every change of one layout that improved the unchanged program."""
        joined, start = self.best.change, self.trials[0]
        for trial in self.trials:
            change = trial.change
            changed = [each for each in change.entry_arrays if change.mode(each) != start.change.mode(each)]
            if len(changed) == 1 and not change.passes and self._score(trial) < self._score(start):
                joined = joined.with_mode(changed[0], change.mode(changed[0]))
        return joined


def known_layouts(trial: Trial) -> Change:
    """Returns the change of a trial with the layouts that the compiler chose in place of AUTO."""
    change = trial.change
    for entry in change.entry_arrays:
        found = trial.figures.results if entry.is_result else trial.figures.parameters
        if change.mode(entry) == AUTO and entry.number < len(found):
            change = change.with_mode(entry, mode_of(parse_layout(found[entry.number]).minor_to_major))
    return change


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Returns Spearman's rank correlation of two lists; None for fewer than three pairs, and for a constant list."""
    if len(first) < 3:
        return None
    with suppress(StatisticsError):  # a constant list
        return correlation(_ranks(first), _ranks(second))
    return None


def _ranks(values: Sequence[float]) -> list[float]:
    """Returns the rank of each value, equal ones sharing the mean of theirs."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]


@dataclass(frozen=True, slots=True)
class Modelled:
    """The modelled figures of changes, the smallest first, and the best change with a proof.

    The best change is the unchanged program where the model finds no smaller one; then `proof` is empty. `program` is
    the changed program.
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
        is_equal, found = proved_equal(module, candidates.programs.module(change))
        if is_equal:
            best, proof = change, found
            break
    figures = tuple((change, candidates.programs.predict(change)) for change in dict.fromkeys((start, *ranked)))
    return Modelled(target, objective, start, figures, best, proof, candidates.programs.module(best))
