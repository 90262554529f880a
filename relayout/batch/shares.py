"""How many processes share a batch, and what each of them may take."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from relayout.batch.unit import Unit

# A process of its own pays for its start with so many modules, or so many bytes of them.
_UNITS_PER_PROCESS = 8
_BYTES_PER_PROCESS = 4_000_000
_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def job_count(arguments: Namespace, units: Sequence[Unit]) -> int:
    """Returns how many processes work: those asked for, else one a core as far as they pay for their start.

    Where --memory says what each may take, no more than have that.
    """
    asked: int | None = arguments.jobs
    wanted = min(len(units), asked if asked is not None else _worthwhile(units))
    memory: int | None = getattr(arguments, "memory", None)
    if memory is not None:
        wanted = min(wanted, machine_memory() // memory)
    return max(1, wanted)


def _worthwhile(units: Sequence[Unit]) -> int:
    if len(units) == 1:
        return 1
    size = sum(each.size for unit in units for each in unit.inputs)
    return min(_cores(), max(len(units) // _UNITS_PER_PROCESS, size // _BYTES_PER_PROCESS))


def _cores() -> int:
    # Of those that this process may use, where the system says so.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def with_share(arguments: Namespace, share: int | None) -> Namespace:
    """Returns the arguments for one of several processes: without the FILEs, and with no more memory than its share.

    `share` is in bytes; what --memory says comes first.
    """
    shared = Namespace(**{**vars(arguments), "files": []})
    if getattr(arguments, "memory", 0) is None and share is not None:
        # Imported here: only what executes modules has such a limit.
        from dialect_utils.execution import DEFAULT_MEMORY_BYTES

        shared.memory = min(DEFAULT_MEMORY_BYTES, share)
    return shared


def machine_memory() -> int:
    """Returns the memory of this machine, or of the container that this process is in, in bytes."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        limit = _CGROUP_LIMIT.read_text().strip()
    except OSError:
        return whole
    return min(whole, int(limit)) if limit.isdecimal() else whole
