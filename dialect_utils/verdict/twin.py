"""Runs the widened twin of the original: where its own rounding error may take each result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dialect_utils.execution import Array, Engine, Program, Worker
from dialect_utils.verdict.data import DataSet

# The runs whose spread is the scale: with eight, one element in 100,000 has less than a third of it by luck.
_RUNS = 8
_FEWER_RUNS = 4
_MANY_ELEMENTS = 1 << 20
_SEED = 20
# Sets in which no element is of a chosen value. A right form of a function, such as another formula for a variance, may
# give what the function is of inputs one unit in the last place off: half of the runs take such inputs.
_CONTINUOUS = ("random", "shifted", "magnitudes")


@dataclass(slots=True)
class Twin:
    """The widened twin of one program, made when it is first asked."""

    program: Program
    worker: Worker
    engine: Engine
    timeout: float
    options: dict[str, bool | int | str]
    _made: tuple[Program, int] | None = field(default=None, init=False)

    def runs(self, data: Sequence[DataSet]) -> list[list[list[Array]]]:
        """Returns, for each set of data, the results of several runs; raises ExecutionError."""
        program, length = self._made or self._make()
        elements = sum(array.size for each in data for array in each.arrays)
        count = _RUNS if elements <= _MANY_ELEMENTS else _FEWER_RUNS
        rng = np.random.default_rng(_SEED)
        size = (length,) if self.worker.devices == 1 else (self.worker.devices, length)
        noisy = [[*_nudged(each, rng, number), rng.uniform(-1, 1, size)] for each in data for number in range(count)]
        found = self.worker.run(
            program, noisy, engine=self.engine, options=self.options, timeout=self.timeout, with_checks=True
        )
        return [found[start : start + count] for start in range(0, len(found), count)]

    def _make(self) -> tuple[Program, int]:
        program, (length,) = self.worker.rewrite("widen", self.program)
        self._made = program, length
        return self._made


def _nudged(data: DataSet, rng: np.random.Generator, number: int) -> list[Array]:
    """Returns the inputs of a run, those of 32 and more bits one unit in the last place off, or not."""
    if number % 2 == 0 or data.kind not in _CONTINUOUS:
        return list(data.arrays)
    return [_beside(array, rng) if array.dtype in (np.float32, np.float64) else array for array in data.arrays]


def _beside(array: Array, rng: np.random.Generator) -> Array:
    ends = rng.choice(np.array([-np.inf, 0, np.inf], array.dtype), array.shape)
    with np.errstate(all="ignore"):
        moved = np.nextafter(array, ends)
    return np.where((ends == 0) | ~np.isfinite(moved), array, moved)
