"""Runs a command on all its inputs and shows the result of each, in their order."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from dialect_utils.io.files import is_url
from dialect_utils.text import Diagnostic
from relayout.batch.unit import Unit
from relayout.batch.written import Outputs
from relayout.command import CiOptions, Command, Execute, Gatherer, Job, Result, show, with_conclusion
from relayout.console import Console
from relayout.options import usage_error, values_of
from relayout.supervisor.child import Limits
from relayout.supervisor.pool import Pool

if TYPE_CHECKING:
    from relayout.supervisor.cache import Cache

# The options that name one file to write.
_FILES = ("outputs", "certificate", "results", "junit", "sarif")
# A process pays for its start if it has this many modules, or this many bytes of them.
_UNITS_PER_PROCESS = 8
_BYTES_PER_PROCESS = 4_000_000
_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def job_count(command: Command, units: Sequence[Unit]) -> int:
    """Returns the number of processes: --jobs, or else one per core as far as they pay for their start.

    With --memory, no more than fit into this machine's memory.
    """
    asked, memory = command.batch.jobs, command.limits.memory
    if command.batch.cluster is not None:
        return 1
    wanted = min(len(units), asked if asked is not None else _worthwhile(units))
    if memory is not None:
        wanted = min(wanted, machine_memory() // memory)
    return max(1, wanted)


def _worthwhile(units: Sequence[Unit]) -> int:
    if len(units) == 1:
        return 1
    size = sum(each.size for unit in units for each in unit.inputs)
    return min(_cores(), max(len(units) // _UNITS_PER_PROCESS, size // _BYTES_PER_PROCESS))


def _cores() -> int:
    # Only the cores that this process may use, on systems that have this function.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def machine_memory() -> int:
    """Returns the memory of this machine, or of the container of this process, in bytes."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        limit = _CGROUP_LIMIT.read_text().strip()
    except OSError:
        return whole
    return min(whole, int(limit)) if limit.isdecimal() else whole


def supervise(command: Command, console: Console) -> int:
    """Runs a command in sandboxed children and returns its exit code; raises UsageError for a wrong one."""
    command.batch.check()
    try:
        os.getcwd()
    except FileNotFoundError:
        raise usage_error("the working directory does not exist any more") from None
    # Rows of results hold the output of --json.
    records = command.batch.results is not None
    if records:
        command = replace(command, json=True)
    limits = Limits.of(command)
    if command.shared:
        from relayout.supervisor.programs import import_shared

        import_shared(command.shared)
    with ExitStack() as stack:
        outputs = Outputs.of(command)
        outputs.check_named()
        stack.enter_context(outputs.claimed())
        command = stack.enter_context(command.prepared())
        job = Job(command, console.colour_of_errors(), keeps_results=records)
        conclusion = command.conclusion()
        is_direct = not (records or conclusion or command.ci != CiOptions())
        pool = stack.enter_context(Pool(job, limits, is_direct=is_direct, cache=_cache(command, console)))
        return _work(pool, limits, outputs, conclusion, console)


def _work(pool: Pool, limits: Limits, outputs: Outputs, conclusion: Gatherer[Any] | None, console: Console) -> int:
    """Plans the units of a command and works on them; returns the exit code of the command."""
    units = pool.plan()
    if isinstance(units, int):
        return units
    job, command = pool.job, pool.job.command
    _check_folders(command)
    outputs.check_units(units)
    count = job_count(command, units)
    needed = limits.enough_for(units, may_be_online=command.pairs is not None)
    if count > 1:
        job = replace(job, command=command.with_share(machine_memory() // count))
        needed = replace(needed, memory=min(needed.memory, machine_memory() // count))
    if count > 1 or needed != limits:
        pool.restart(job, needed)
    execute: Execute = partial(_results, pool=pool, count=count)
    if conclusion is not None:
        execute = with_conclusion(execute, conclusion)
    if command.ci != CiOptions():
        from relayout.batch.results import with_files

        execute = with_files(execute)
    status = command.combine(_statuses(job, units, execute, console))
    if conclusion is not None:
        conclusion.end()
        return status or int(conclusion.has_failed)
    return status


def _cache(command: Command, console: Console) -> Cache | None:
    """Returns the cache of a command that compiles, None without it; prints a warning if it is not safe."""
    if command.no_cache or command.batch.cluster is not None:
        return None
    from relayout.supervisor.cache import DIRECTORY_VARIABLE, Cache

    try:
        return Cache.of_user()
    except PermissionError as error:
        hint = f"remove that directory, or name another one in {DIRECTORY_VARIABLE}"
        console.diagnose([Diagnostic(f"nothing is cached: {error}", severity="warning", hint=hint)])
        return None


def _check_folders(command: Command) -> None:
    """Raises UsageError for a file that could not be written in the end: its directory does not exist.

    A name that ends in `/`, and -o for several FILEs, are directories, which are made; so are those of several files.
    """
    makes_folders = command.has_several or len(command.endings) > 1
    values = values_of(command)
    for name in ("output", *_FILES):
        path: str = values.get(name) or ""
        is_directory = path.endswith(os.sep) or (name == "output" and makes_folders)
        folder = "" if is_directory or is_url(path) else os.path.dirname(path)
        if name in _FILES and os.path.isdir(path):
            raise usage_error(f"--{name} {path} is a directory, not a file")
        if folder and not os.path.isdir(folder):
            raise usage_error(f"{path}: there is no directory {folder}", f"mkdir -p {quote(folder)}")
        is_file = path not in ("", "-") and not (is_directory or is_url(path))
        is_special = os.path.exists(path) and not os.path.isfile(path)
        if is_file and not is_special and not os.access(folder or os.curdir, os.W_OK):
            raise usage_error(f"{path}: nothing can be written in {folder or 'this directory'}", "name another one")
    directory = values.get("dump_dir")
    if directory is not None and directory.exists() and not directory.is_dir():
        raise usage_error(f"--dump-dir {directory} is a file, not a directory")


def _statuses(job: Job, units: Sequence[Unit], execute: Execute, console: Console) -> Iterator[int]:
    """Yields the exit codes of all units in their order; prints or records their results."""
    if job.keeps_results:
        from relayout.batch.results import record_batch

        yield from record_batch(job, units, execute, console)
        return
    with closing(execute(job, units)) as results:
        for result in console.track(results, job.command.name, len(units)):
            show(result)
            yield result.status
            if result.ends_batch:
                return


def _results(job: Job, units: Sequence[Unit], pool: Pool, count: int) -> Generator[Result]:
    """Yields the results of all units in their order."""
    address = job.command.batch.cluster
    if address is None:
        yield from pool.results(units, count)
        return
    from relayout.batch.cluster import run_on_cluster

    pool.end()
    yield from run_on_cluster(job, units, address)
