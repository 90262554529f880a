"""Changes of the module that the compiler hands over, after fusion and layout assignment, for the best program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from dialect_utils.engine_names import STAGES, UP_TO
from dialect_utils.execution.compilers import Figures
from dialect_utils.hlo import HloModule
from dialect_utils.memory import MemoryReport
from dialect_utils.memory.trips import trip_counts
from dialect_utils.stablehlo.module import StableHloModule
from dialect_utils.text import DiagnosticError
from passes.framework.pipeline import Pipeline
from passes.fusions import copy_once, fuse_into_users, fuse_with_user, reroute_relayout
from relayout.insertion import Compilation
from relayout.tuning.trials import Objective, counted_figures

# Each names texts of its pass for a module, those at the largest arrays first.
_CANDIDATES: Sequence[Callable[[HloModule, str], Iterator[str]]] = (
    fuse_into_users.candidates,
    fuse_with_user.candidates,
    copy_once.candidates,
    reroute_relayout.candidates,
)
_PROOF_SECONDS = 60.0


class Inner:
    """The module that the TPU compiler hands over for a program, changed by passes. A context manager.

    Raises DiagnosticError where jax calls no passes for the target, and for a program of several modules.
    """

    def __init__(self, module: StableHloModule, target: str, objective: Objective) -> None:
        self._target, self._objective = target, objective
        self._compilation = Compilation(module, target, STAGES[0])
        handed = [each.module for each in self._compilation.handed]
        if len(handed) != 1:
            raise DiagnosticError(f"the compiler hands over {len(handed)} modules, and a search changes one")
        [self._handed] = handed

    def __enter__(self) -> Inner:
        return self

    def __exit__(self, *error: object) -> None:
        self._compilation.__exit__()

    def after(self, passes: str) -> list[str]:
        """Returns further passes: of each kind the one with the smallest figure first, then the second, ...

        The figure is that of the changed module before the compiler goes on: all arrays are in main memory there.
        """
        module, ranks = self._after(self._handed, passes) if passes else self._handed, dict[str, tuple[int, float]]()
        uncounted = _uncounted(module)
        for candidates in _CANDIDATES:
            figures = {}
            for step in candidates(module, self._target):
                with suppress(DiagnosticError):
                    changed = self._after(module, step)
                    if _uncounted(changed) <= uncounted:
                        figures[step] = self._figure(changed)
            for place, step in enumerate(sorted(figures, key=lambda each: figures[each])):
                ranks[step] = place, figures[step]
        return sorted(ranks, key=lambda each: ranks[each])

    def figures(self, passes: str) -> Figures:
        """Returns the compiler's figures with passes inside; `error` says why they are not proved, or not compiled."""
        try:
            found = self._compilation.insert(Pipeline.parse(passes), UP_TO, _PROOF_SECONDS)
        except DiagnosticError as error:
            return Figures(error=error.diagnostics[0].message)
        if _uncounted(found.after.module) > _uncounted(found.before.module):
            return Figures(error="the number of iterations of a loop is no longer known: its bytes cannot be compared")
        compiled = found.after.compiled
        return counted_figures(compiled.figures, compiled.dump)

    def _after(self, module: HloModule, passes: str) -> HloModule:
        changed = Pipeline.parse(passes).run(module).module
        assert isinstance(changed, HloModule)  # as the one handed over
        return changed

    def _figure(self, module: HloModule) -> float:
        report = MemoryReport(module)
        return report.usage.main_memory_peak_bytes if self._objective == "peak" else report.cost.bytes_accessed


def _uncounted(module: HloModule) -> int:
    """Returns the number of functions whose executions are unknown; the bytes that they access count once."""
    return [*trip_counts(MemoryReport(module).usage.schedule).values()].count(None)
