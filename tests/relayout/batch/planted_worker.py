"""A worker whose command prints, waits or crashes, as the name of the file says."""

from __future__ import annotations

import os
import signal
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from relayout.arguments import Command, usage_error
from relayout.batch import worker
from relayout.batch.unit import Unit, Work
from relayout.commands import opt
from relayout.console import DONE, FAILED, Console


@contextmanager
def _open(arguments: Namespace, console: Console) -> Iterator[Work]:
    if arguments.traceback == "wrong":
        raise usage_error("no worker can begin")
    yield _work


def _work(unit: Unit) -> int:
    name = Path(unit.name)
    if name.stem == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if name.stem == "dies-once" and not name.exists():
        name.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if name.stem == "wrong":
        raise usage_error("the command is wrong")
    if name.stem == "waits":
        name.touch()
        time.sleep(60)
    print(name.stem)
    print(f"note {name.stem} {os.getpid()}", file=sys.stderr)
    return FAILED if name.stem == "fails" else DONE


if __name__ == "__main__":
    opt.COMMAND = Command("opt", "", ("", ""), lambda parser: None, lambda arguments, console: 0, open=_open)
    worker.main()
