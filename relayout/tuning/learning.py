"""The error of the model for each layout and each sequence of passes, learned from the programs that were compiled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from relayout.tuning.changes import Change, EntryArray

# A layout of an array of the entry, or passes.
Part = tuple[EntryArray, str] | str


@dataclass(slots=True)
class Errors:
    """The errors of the model by the parts of changes of a program as it is, `start`; they add up."""

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
        """Yields the passes, and the layouts that are not those of the program as it is."""
        if change.passes:
            yield change.passes
        for entry in change.entry_arrays:
            if change.mode(entry) != self.start.mode(entry):
                yield entry, change.mode(entry)
