"""Changes to try: the programs after passes and their model, the learned error of the model, and the candidates."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from dialect_utils.stablehlo.module import StableHloModule
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict import Options, compare_modules
from passes.framework.pipeline import Pipeline
from passes.shapes import merge_dimensions, narrow_padding, permute_dimensions, split_minor
from relayout.tuning.changes import (
    AUTO,
    Change,
    EntryArray,
    as_stablehlo,
    change_of,
    changed_module,
    entry_shapes,
    in_mode,
    mode_of,
    orders,
    padded_bytes,
)
from relayout.tuning.model import Model, Prediction
from relayout.tuning.trials import Objective, Trial

# The layouts of the whole entry that the model finds best for a program.
_MODELLED = 3
# The least part of the entry's bytes at which an array is worth compilations, and the most such arrays.
_LEAST_PART, _MOST_ARRAYS = 1e-3, 16
# Passes without this gain in the model come after some layouts of each array.
_BETTER, _LATER = 0.999, 4
# A layout of an array of the entry, or passes.
Part = tuple[EntryArray, str] | str
# Each names texts of its pass for a module, the most promising ones first.
_CANDIDATES = (
    split_minor.candidates,
    merge_dimensions.candidates,
    narrow_padding.candidates,
    permute_dimensions.candidates,
)
# The most texts of each pass that are modelled.
_MOST_TEXTS = 8
_PROOF_SECONDS = 60.0


class Programs:
    """A module after passes, by their text."""

    def __init__(self, module: StableHloModule, target: str, objective: Objective) -> None:
        self._target, self._objective = target, objective
        self._modules: dict[str, StableHloModule] = {"": module}
        self._models: dict[str, Model] = {}
        self._predictions: dict[Change, Prediction] = {}

    def module(self, change: Change) -> StableHloModule:
        """Returns a changed program; its passes must be of `after`."""
        return changed_module(self._modules[change.passes], change)

    def after(self, passes: str) -> Iterator[str]:
        """Yields longer sequences of passes that change the program after a sequence."""
        module = self._modules[passes]
        for candidates in _CANDIDATES:
            for text in islice(candidates(module, self._target), _MOST_TEXTS):
                longer = f"{passes},{text}" if passes else text
                if longer not in self._modules and (changed := _after(module, text)) is not None:
                    self._modules[longer] = changed
                if longer in self._modules:
                    yield longer

    def model(self, passes: str) -> Model:
        """Returns the model of the program after passes."""
        if passes not in self._models:
            self._models[passes] = Model(self._modules[passes], self._target, self._objective)
        return self._models[passes]

    def predict(self, change: Change) -> Prediction:
        """Returns the modelled figures of a change."""
        if change not in self._predictions:
            self._predictions[change] = self.model(change.passes).predict(change)
        return self._predictions[change]


def _after(module: StableHloModule, text: str) -> StableHloModule | None:
    """Returns a module after a pass; None where the pass changes nothing."""
    try:
        changed = Pipeline.parse(text).run(module).module
    except DiagnosticError:
        return None
    return None if changed.text() == module.text() else as_stablehlo(changed)


@dataclass(slots=True)
class Errors:
    """The errors of the model for each part of a change of the unchanged program `start`; errors add up."""

    start: Change
    _base: float = 0.0
    _known: dict[Part, float] = field(default_factory=dict)

    def of(self, change: Change) -> float:
        """Returns the error to expect for a change: 0 for layouts and passes that were not compiled."""
        return sum(self._known.get(part, 0.0) for part in self._parts(change))

    def learn(self, change: Change, modelled: float, compiled: float) -> None:
        """Adds the error of a compiled program; it is that of new parts, or else that of all parts."""
        if change == self.start:
            self._base = compiled - modelled
            return
        parts = [*self._parts(change)]
        error = compiled - modelled - self._base - self.of(change)
        new = [part for part in parts if part not in self._known] or parts
        for part in new:
            self._known[part] = self._known.get(part, 0.0) + error / len(new)

    def _parts(self, change: Change) -> Iterator[Part]:
        """Yields the passes, and the layouts that differ from those of the unchanged program."""
        if change.passes:
            yield change.passes
        for entry in change.entry_arrays:
            if change.mode(entry) != self.start.mode(entry):
                yield entry, change.mode(entry)


@dataclass(frozen=True, slots=True)
class Candidates:
    """Lists of changes of a program, and the model that ranks them, with the errors that were seen so far."""

    module: StableHloModule
    target: str
    objective: Objective
    programs: Programs
    errors: Errors

    @classmethod
    def of(cls, module: StableHloModule, target: str, objective: Objective) -> Candidates:
        """Returns the changes of a program for a target."""
        return cls(module, target, objective, Programs(module, target, objective), Errors(change_of(module)))

    def modelled(self, change: Change) -> float:
        """Returns the modelled figure of a change, the bytes accessed for the estimated time."""
        predicted = self.programs.predict(change)
        return predicted.peak if self.objective == "peak" else predicted.accessed

    def learn(self, trial: Trial) -> None:
        """Compares the model with the compiler, unless that chose layouts or rejected the program."""
        change, figures = trial.change, trial.figures
        if not figures.error and AUTO not in (*change.parameters, *change.results):
            compiled = figures.peak if self.objective == "peak" else figures.accessed
            self.errors.learn(change, self.modelled(change), compiled)

    def _predicted(self, change: Change) -> float:
        return self.modelled(change) + self.errors.of(change)

    def ranked(self, best: Change, tried: Collection[Change], more: Iterable[Change] = ()) -> list[Change]:
        """Returns untried changes of a change, and `more`: the model's best of each list, then the second best, ..."""
        ranks: dict[Change, tuple[int, float]] = {}
        for first, changes in [*self._lists(best), (0, more)]:
            modelled = {change: self._predicted(change) for change in changes if change not in tried}
            for place, change in enumerate(sorted(modelled, key=lambda change: modelled[change])):
                ranks.setdefault(change, (first + place, modelled[change]))
        return sorted(ranks, key=lambda change: ranks[change])

    def _lists(self, best: Change) -> Iterator[tuple[int, Iterable[Change]]]:
        """Yields lists of changes, each with the rank of its first change among the first changes of all lists.

        They are the model's best layouts, programs after passes, and layouts of one array.
        """
        now = self._predicted(best)
        programs = [replace(best, passes=passes) for passes in self.programs.after(best.passes)]
        for change in dict.fromkeys((best, min(programs, key=self._predicted, default=best))):
            modelled = self.programs.model(change.passes).best(change, _MODELLED)
            yield 0, [each for each in modelled if self._predicted(each) < now]
        better = [each for each in programs if self._predicted(each) < _BETTER * now]
        yield 0, better
        yield _LATER, [each for each in programs if each not in better]
        for entry in self._entry_arrays(best):
            yield 0, [best.with_mode(entry, mode) for mode in self._modes(best, entry)]

    def _entry_arrays(self, best: Change) -> list[EntryArray]:
        """Returns the arrays of the entry with several orders of dimensions, those with most bytes first."""
        sizes = {
            entry: padded_bytes(shape, best.mode(entry), self.target)
            for entry, shape in entry_shapes(self.module).items()
            if any(orders(shape))
        }
        least = _LEAST_PART * sum(sizes.values())
        large = [entry for entry, size in sizes.items() if size >= least]
        return sorted(large, key=lambda entry: -sizes[entry])[:_MOST_ARRAYS]

    def _modes(self, best: Change, entry: EntryArray) -> list[str]:
        """Returns other layouts of an array."""
        shape = entry_shapes(self.module)[entry]
        now = in_mode(shape, best.mode(entry), self.target)
        return [mode_of(order) for order in orders(shape) if now.layout and order != now.layout.minor_to_major]


def proved_equal(module: StableHloModule, changed: StableHloModule) -> tuple[bool, str]:
    """Returns whether a changed program is proved equal to a program, and the evidence, or the reason for none."""
    verdict = compare_modules(module, changed, Options(engines=("proof",), proof_seconds=_PROOF_SECONDS))
    if verdict.verdict != "equal":
        return False, verdict.proof
    return True, ": ".join(line.strip() for line in str(verdict).splitlines())
