"""Changes of a program in the sequence in which the model finds them promising."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from dialect_utils.stablehlo.module import StableHloModule
from relayout.tuning.changes import (
    AUTO,
    Change,
    EntryArray,
    change_of,
    entry_shape,
    in_mode,
    mode_of,
    orders,
    padded_bytes,
)
from relayout.tuning.learning import Errors
from relayout.tuning.objective import Objective
from relayout.tuning.programs import Programs
from relayout.tuning.trials import Trial

# The layouts of the whole entry that the model finds best for a program.
_MODELLED = 3
# Arrays below this part of all bytes of the entry are not worth a compilation, nor more arrays than these.
_LEAST_PART, _MOST_ARRAYS = 1e-3, 16
# Passes without this gain in the model come after some layouts of each array.
_BETTER, _LATER = 0.999, 4


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
        """Returns untried changes of a change, and `more`: by the model the best one of each list, then the second."""
        ranks: dict[Change, tuple[int, float]] = {}
        for first, changes in [*self._lists(best), (0, more)]:
            modelled = {change: self._predicted(change) for change in changes if change not in tried}
            for place, change in enumerate(sorted(modelled, key=lambda change: modelled[change])):
                ranks.setdefault(change, (first + place, modelled[change]))
        return sorted(ranks, key=lambda change: ranks[change])

    def _lists(self, best: Change) -> Iterator[tuple[int, Iterable[Change]]]:
        """Yields lists of changes, each with the place of its first one among the first ones of other lists.

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
        sizes = {}
        for entry in best.entry_arrays:
            shape = entry_shape(self.module, entry)
            if shape is not None and any(orders(shape)):
                sizes[entry] = padded_bytes(shape, best.mode(entry), self.target)
        least = _LEAST_PART * sum(sizes.values())
        large = [entry for entry, size in sizes.items() if size >= least]
        return sorted(large, key=lambda entry: -sizes[entry])[:_MOST_ARRAYS]

    def _modes(self, best: Change, entry: EntryArray) -> list[str]:
        """Returns other layouts of an array."""
        shape = entry_shape(self.module, entry)
        assert shape is not None  # an array with several orders
        now = in_mode(shape, best.mode(entry), self.target)
        return [mode_of(order) for order in orders(shape) if now.layout and order != now.layout.minor_to_major]
