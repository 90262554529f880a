"""Runs the command line: `python -m relayout`."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import signal
import sys
from typing import NoReturn

# A shell reports 128 plus the number of the signal that ended a program; Ctrl-C's is 2.
_INTERRUPTED = 128 + 2
# Python's default of 700 makes it walk all live objects again and again while a module is read.
_OBJECTS_BETWEEN_COLLECTIONS = 100_000


def run() -> NoReturn:
    """Runs the command line of this process and ends the process with its exit code."""
    try:
        prepare_process()
        # Imported here: Ctrl-C may come while the program is being loaded, too.
        from relayout.cli import main

        status = main()
    except KeyboardInterrupt:
        status = _INTERRUPTED
    _leave(status)


def prepare_process() -> None:
    """Sets how this process collects garbage, lets threads of OpenBLAS sleep, and makes the system report children."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    # Their default is to spin for 2 ** 26 cycles, even where nothing is ever multiplied; 4 is the least.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    # Where a caller ignores the signal, the system forgets how a child ended, and reuses its number.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _leave(status: int) -> NoReturn:
    """Exits after cleanup, but without destructors: they take time, and those of libraries half loaded may crash."""
    atexit._run_exitfuncs()  # noqa: SLF001 (os._exit, below, does not)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, AttributeError):
            stream.flush()
    os._exit(status)


if __name__ == "__main__":
    run()
