"""Runs the command line: `python -m relayout`."""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
from typing import NoReturn

# A shell reports 128 plus the number of the signal that ended a program; Ctrl-C's is 2.
_INTERRUPTED = 128 + 2


def run() -> NoReturn:
    """Runs the command line of this process and ends the process with its exit code."""
    try:
        # Imported here: Ctrl-C may come while the program is being loaded, too.
        from relayout.process import prepare_process

        prepare_process()
        from relayout.cli import main

        status = main()
    except KeyboardInterrupt:
        status = _INTERRUPTED
    except (MemoryError, OSError) as error:
        # While the program is being loaded: later ones are handled where they occur.
        with contextlib.suppress(OSError):
            print(f"error: the program cannot be loaded: {error or 'not enough memory'}", file=sys.stderr)
        status = 1
    # Without destructors: they take time, and those of libraries half loaded may crash.
    # Ctrl-C does not stop the cleanup; later it ends the process without a traceback, unless the caller ignores it.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    atexit._run_exitfuncs()  # noqa: SLF001 (os._exit, below, does not)
    if before is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, AttributeError):
            stream.flush()
    os._exit(status)


if __name__ == "__main__":
    run()
