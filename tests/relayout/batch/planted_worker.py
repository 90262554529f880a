"""A worker that ends, or answers, as the name of the file says."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Sequence
from pathlib import Path

from relayout.batch import worker
from relayout.batch.unit import Unit
from relayout.command import Result
from relayout.console import DONE
from relayout.supervisor.pool import Pool


class _PlantedPool(Pool):
    def results(self, units: Sequence[Unit], count: int) -> Generator[Result]:
        for unit in units:
            name = Path(unit.name)
            if name.stem == "dies":
                os.kill(os.getpid(), signal.SIGKILL)
            if name.stem == "dies-once" and not name.exists():
                name.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            yield Result(DONE, output=f"{name.stem}\n".encode())


if __name__ == "__main__":
    worker.Pool = _PlantedPool  # type: ignore[attr-defined]  # planted
    worker.main()
