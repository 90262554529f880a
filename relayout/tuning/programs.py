"""The programs of a search: the program after each sequence of passes, and its model."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from dialect_utils.stablehlo.module import StableHloModule
from dialect_utils.text import DiagnosticError
from passes.framework.pipeline import Pipeline
from passes.shapes import merge_dimensions, narrow_padding, permute_dimensions, split_minor
from relayout.tuning.changes import Change, as_stablehlo, changed_module
from relayout.tuning.model import Model, Prediction
from relayout.tuning.objective import Objective

# Each names texts of its pass for a module, the most promising ones first.
_CANDIDATES = (
    split_minor.candidates,
    merge_dimensions.candidates,
    narrow_padding.candidates,
    permute_dimensions.candidates,
)
# So many texts of each pass are modelled.
_MOST_TEXTS = 8


class Programs:
    """A module after passes, by their text."""

    def __init__(self, module: StableHloModule, target: str, objective: Objective) -> None:
        self._target, self._objective = target, objective
        self._modules: dict[str, StableHloModule | None] = {"": module}
        self._models: dict[str, Model] = {}
        self._predictions: dict[Change, Prediction] = {}

    def module(self, change: Change) -> StableHloModule:
        """Returns a changed program; its passes must be of `after`."""
        found = self._modules[change.passes]
        assert found is not None  # of `after`
        return changed_module(found, change)

    def after(self, passes: str) -> Iterator[str]:
        """Yields longer sequences of passes that change the program after a sequence."""
        module = self._modules[passes]
        assert module is not None  # of this function
        for candidates in _CANDIDATES:
            for text in islice(candidates(module, self._target), _MOST_TEXTS):
                longer = f"{passes},{text}" if passes else text
                if longer not in self._modules:
                    self._modules[longer] = _after(module, text)
                if self._modules[longer] is not None:
                    yield longer

    def model(self, passes: str) -> Model:
        """Returns the model of the program after passes."""
        module = self._modules[passes]
        assert module is not None  # of `after`
        if passes not in self._models:
            self._models[passes] = Model(module, self._target, self._objective)
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
