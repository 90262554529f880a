"""Runs the command line: `python -m relayout`."""

from __future__ import annotations

import contextlib
import os
import sys

# What a shell reports for a program ended by a signal is more than this; 2 is Ctrl-C's.
_SIGNALLED = 128
_INTERRUPTED = _SIGNALLED + 2


def run() -> int:
    """Runs the command line of this process and returns its exit code."""
    try:
        # Imported here: Ctrl-C may come while the program is being loaded, too.
        from relayout.startup import prepare_process

        prepare_process()
        from relayout.cli import main

        status = main()
    except KeyboardInterrupt:
        status = _INTERRUPTED
    if status > _SIGNALLED:
        _leave(status)
    return status


def _leave(status: int) -> None:
    """Ends at once: all is cleaned up, and libraries that were being loaded may not survive their own destructors."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, AttributeError):
            stream.flush()
    os._exit(status)


if __name__ == "__main__":
    sys.exit(run())
