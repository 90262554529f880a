"""Integer programs for HiGHS, written row by row."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec

from dialect_utils.text import DiagnosticError

# One thread and a limit of nodes, not of time: the result is the same on each machine.
_OPTIONS = {"output_flag": False, "threads": 1, "mip_rel_gap": 1e-4, "mip_max_nodes": 1000, "random_seed": 0}


def check_installed() -> None:
    """Raises DiagnosticError without HiGHS."""
    if find_spec("highspy") is None:
        message = "HiGHS, which solves the model of layouts, is not installed"
        raise DiagnosticError(message, hint="pip install 'relayout[tpu]'")


@contextmanager
def _silenced() -> Iterator[None]:
    """Discards standard output: HiGHS prints its version as it starts, before an option is read."""
    sys.stdout.flush()
    # A sandboxed process opens no file. The pipe's buffer holds the two lines, which are never read.
    kept, (ours, theirs) = os.dup(1), os.pipe()
    os.dup2(theirs, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        for each in (kept, ours, theirs):
            os.close(each)


class IntegerProgram:
    """Variables that are at least 0, with costs, and linear constraints; the sum of the costs is minimized."""

    def __init__(self) -> None:
        # Imported here: it is an extra.
        import highspy

        with _silenced():
            self._solver = highspy.Highs()  # type: ignore[no-untyped-call]  # its types are incomplete
        self._integer = highspy.HighsVarType.kInteger
        self._count = self._rows = 0
        for name, value in _OPTIONS.items():
            self._solver.setOptionValue(name, value)

    def binary(self, cost: float = 0.0) -> int:
        """Adds a variable that is 0 or 1; returns its number."""
        number = self._added(1.0, cost)
        self._solver.changeColIntegrality(number, self._integer)
        return number

    def positive(self, cost: float = 0.0) -> int:
        """Adds a variable that is at least 0; returns its number."""
        return self._added(self._solver.inf, cost)

    def _added(self, upper: float, cost: float) -> int:
        self._solver.addVar(0.0, upper)
        self._solver.changeColCost(self._count, cost)
        self._count += 1
        return self._count - 1

    def at_least(self, least: float, terms: Mapping[int, float]) -> int:
        """Adds the constraint that a sum of variables with coefficients is at least a number; returns its number."""
        return self._constrained(least, self._solver.inf, terms)

    def equal(self, value: float, terms: Mapping[int, float]) -> None:
        """Adds the constraint that a sum of variables with coefficients is a number."""
        self._constrained(value, value, terms)

    def _constrained(self, lower: float, upper: float, terms: Mapping[int, float]) -> int:
        self._solver.addRow(lower, upper, len(terms), [*terms], [*terms.values()])
        self._rows += 1
        return self._rows - 1

    def drop(self, constraint: int) -> None:
        """Relaxes a constraint, which then holds for all values."""
        self._solver.changeRowBounds(constraint, -self._solver.inf, self._solver.inf)

    def choose(self, variable: int, value: bool | None) -> None:
        """Fixes a binary variable; None releases it again."""
        self._solver.changeColBounds(variable, float(value is True), float(value is not False))

    def solve(self) -> tuple[float, ...] | None:
        """Returns the values with the smallest sum of costs; None where no values meet the constraints."""
        self._solver.run()
        solution = self._solver.getSolution()
        return tuple(solution.col_value) if solution.value_valid else None
