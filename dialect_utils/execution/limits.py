"""What the worker process may use and do; set by the worker itself, once everything it needs is loaded.

Only the worker imports this module. docs/security.md says what each of these is for.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import os
import resource
import tempfile
import time

# The worker needs its three pipes and what libraries hold open; a client has about a dozen.
_OPEN_FILES = 128
_PR_SET_NO_NEW_PRIVS = 38
# Added to a request's own limit: what is done for it before and after it is timed.
_CPU_MARGIN_SECONDS = 10
_PAGES_OF_DATA = 5


def enter_empty_directory() -> None:
    """Makes the working directory one that is empty, and that nothing can be created in: it is deleted already."""
    directory = tempfile.mkdtemp(prefix="relayout-")
    os.chdir(directory)
    os.rmdir(directory)


def limit_resources(memory_bytes: int) -> None:
    """Limits memory to so much more than is used now, forbids files and core dumps, and new privileges."""
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, 0)
    _lower(resource.RLIMIT_NOFILE, _OPEN_FILES)
    # Not the address space: on machines of many cores stacks and arenas reserve more than is ever used.
    with contextlib.suppress(OSError):
        _lower(resource.RLIMIT_DATA, _data_bytes() + memory_bytes)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def limit_cpu_seconds(seconds: float) -> None:
    """Lets the system end this process once it has computed for so long on all cores, from now on."""
    cores = os.cpu_count() or 1
    end = math.ceil(time.process_time() + seconds * cores) + _CPU_MARGIN_SECONDS
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (end if hard == resource.RLIM_INFINITY else min(end, hard), hard))


def _lower(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def _data_bytes() -> int:
    """Returns what RLIMIT_DATA counts of this process (proc(5): statm); 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="utf-8") as file:
            return int(file.read().split()[_PAGES_OF_DATA]) * resource.getpagesize()
    except OSError:
        return 0
