"""Child processes of tests: their signals, whatever the tests were started by, and forks."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

# A shell has its background jobs ignore SIGINT and SIGQUIT, and nohup SIGHUP; children inherit that.
_ENDING = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def default_signals() -> Iterator[None]:
    """Gives processes that are started in a `with` block the default action of each signal that ends a process."""
    ignored = [number for number in _ENDING if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        # A handler, not SIG_DFL: this process goes on ignoring the signal, and exec gives its child the default.
        signal.signal(number, lambda *_: None)
    try:
        yield
    finally:
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)


def fork() -> int:
    """Forks as `os.fork` does, also where other tests have made this process load JAX.

    JAX warns of its threads; they hold no lock that the child needs.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return os.fork()
