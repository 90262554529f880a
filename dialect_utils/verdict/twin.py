"""Runs the widened twin of the original: where its own rounding error may take each result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dialect_utils.execution import Array, Engine, Program, Worker

# The runs whose spread is the scale: with eight, one element in 100,000 has less than a third of it by luck.
_RUNS = 8
_FEWER_RUNS = 4
_MANY_ELEMENTS = 1 << 20
_SEED = 20


@dataclass(slots=True)
class Twin:
    """The widened twin of one program, made when it is first asked."""

    program: Program
    worker: Worker
    engine: Engine
    timeout: float
    options: dict[str, bool | int | str]
    _made: tuple[Program, int] | None = field(default=None, init=False)

    def runs(self, inputs: Sequence[Sequence[Array]]) -> list[list[list[Array]]]:
        """Returns, for each set of inputs, the results of several runs; raises ExecutionError."""
        program, length = self._made or self._make()
        elements = sum(array.size for arrays in inputs for array in arrays)
        count = _RUNS if elements <= _MANY_ELEMENTS else _FEWER_RUNS
        rng = np.random.default_rng(_SEED)
        size = (length,) if self.worker.devices == 1 else (self.worker.devices, length)
        noisy = [[*arrays, rng.uniform(-1, 1, size)] for arrays in inputs for _ in range(count)]
        found = self.worker.run(
            program, noisy, engine=self.engine, options=self.options, timeout=self.timeout, with_checks=True
        )
        return [found[start : start + count] for start in range(0, len(found), count)]

    def _make(self) -> tuple[Program, int]:
        program, (length,) = self.worker.rewrite("widen", self.program)
        self._made = program, length
        return self._made
