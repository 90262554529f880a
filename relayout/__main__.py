"""Runs the command line: `python -m relayout`."""

from __future__ import annotations

import contextlib
import gc
import os
import sys

# A shell reports 128 plus the number of the signal that ended a program; Ctrl-C's is 2.
_SIGNALLED = 128
_INTERRUPTED = _SIGNALLED + 2
# Python's default of 700 makes it walk all live objects again and again while a module is read.
_OBJECTS_BETWEEN_COLLECTIONS = 100_000


def run() -> int:
    """Runs the command line of this process and returns its exit code."""
    try:
        prepare_process()
        # Imported here: Ctrl-C may come while the program is being loaded, too.
        from relayout.cli import main

        status = main()
    except KeyboardInterrupt:
        status = _INTERRUPTED
    if status > _SIGNALLED:
        _leave(status)
    return status


def prepare_process() -> None:
    """Sets a threshold for garbage collection, and lets the threads of OpenBLAS sleep between products."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    # Their default is to spin for 2 ** 26 cycles, even where nothing is ever multiplied; 4 is the least.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")


def _leave(status: int) -> None:
    """Exits after cleanup, but without destructors: those of libraries that are half loaded may crash."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, AttributeError):
            stream.flush()
    os._exit(status)


if __name__ == "__main__":
    sys.exit(run())
