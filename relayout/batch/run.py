"""Runs a command on all its inputs and shows the result of each, in their order."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from dialect_utils.io.files import is_url
from dialect_utils.text import Diagnostic
from relayout.arguments import Command, Parser, count, usage_error
from relayout.batch.unit import Execute, Job, Result, Unit, show, with_conclusion, with_share
from relayout.console import Console
from relayout.supervisor.child import Limits
from relayout.supervisor.pool import Pool

if TYPE_CHECKING:
    from relayout.supervisor.cache import Cache

CI_OPTIONS = ("junit", "sarif")
# The options that name one file to write.
_FILES = ("outputs", "certificate", "results", *CI_OPTIONS)
# A process pays for its start if it has this many modules, or this many bytes of them.
_UNITS_PER_PROCESS = 8
_BYTES_PER_PROCESS = 4_000_000
_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def job_count(arguments: Namespace, units: Sequence[Unit]) -> int:
    """Returns the number of processes: --jobs, or else one per core as far as they pay for their start.

    With --memory, no more than fit into this machine's memory.
    """
    asked: int | None = getattr(arguments, "jobs", 1)
    if getattr(arguments, "cluster", None) is not None:
        return 1
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


def add_batch_options(parser: Parser) -> None:
    """Adds the options for the work on several inputs."""
    parser.option(
        "--jobs", metavar="N", type=count, help="processes that share the FILEs (default: all cores, where it pays)"
    )
    parser.option(
        "--cluster", metavar="ADDRESS", help="a Dask scheduler whose workers share the FILEs: tcp://HOST:8786"
    )
    parser.option("--results", metavar="FILE", help="write a row a module: .jsonl or .parquet, also a URL")
    parser.option("--resume", action="store_true", help="with --results: leave out modules that have a row already")


def add_ci_options(parser: Parser) -> None:
    """Adds the options that name files for CI systems."""
    parser.option("--junit", metavar="FILE", help="write a test case a module, as JUnit XML")
    parser.option("--sarif", metavar="FILE", help="write each diagnostic with its place, as SARIF")


def supervise(command: Command, arguments: Namespace, console: Console) -> int:
    """Runs a command in sandboxed children and returns its exit code; raises UsageError for a wrong one."""
    _check_options(arguments)
    # Rows of results hold the output of --json.
    records = getattr(arguments, "results", None) is not None
    arguments.json = arguments.json or records
    job = Job(command.name, arguments, console.colour_of_errors(), keeps_results=records)
    limits = Limits.of(arguments)
    is_for_ci = any(getattr(arguments, name, None) is not None for name in CI_OPTIONS)
    is_direct = not (records or is_for_ci or command.conclusion)
    if command.shared:
        # Imported here: most commands execute nothing.
        from relayout.supervisor.programs import import_shared

        import_shared(command.shared)
    with ExitStack() as stack:
        conclusion = None if command.conclusion is None else stack.enter_context(command.conclusion(arguments))
        cache = _cache(command, arguments, console)
        pool = stack.enter_context(Pool(command, job, limits, is_direct=is_direct, cache=cache))
        units = pool.plan()
        if isinstance(units, int):
            return units
        arguments.has_several = len(units) > 1
        _check_folders(command, arguments)
        count = job_count(arguments, units)
        needed = limits.enough_for(units, may_be_online=getattr(arguments, "pairs", None) is not None)
        if count > 1:
            job = replace(job, arguments=with_share(arguments, machine_memory() // count))
            needed = replace(needed, memory=min(needed.memory, machine_memory() // count))
        if count > 1 or needed != limits:
            pool.restart(job, needed)
        execute: Execute = partial(_results, pool=pool, count=count)
        if conclusion is not None:
            execute = with_conclusion(execute, conclusion)
        if is_for_ci:
            # Imported here: most commands write no such file.
            from relayout.batch.ci import with_files

            execute = with_files(execute)
        status = command.combine(_statuses(job, units, execute, console))
        if conclusion is not None:
            conclusion.end()
        return status


def _cache(command: Command, arguments: Namespace, console: Console) -> Cache | None:
    """Returns the cache of a command that compiles, None without it; prints a warning if it is not safe."""
    if command.cached is None or arguments.no_cache or getattr(arguments, "cluster", None) is not None:
        return None
    # Imported here: most commands compile nothing.
    from relayout.supervisor.cache import DIRECTORY_VARIABLE, Cache

    try:
        return Cache.of_user()
    except PermissionError as error:
        hint = f"remove that directory, or name another one in {DIRECTORY_VARIABLE}"
        console.diagnose([Diagnostic(f"nothing is cached: {error}", severity="warning", hint=hint)])
        return None


def _check_options(arguments: Namespace) -> None:
    """Raises UsageError for options of a batch that exclude each other."""
    given = {name: getattr(arguments, name, None) for name in ("cluster", "jobs", "resume", "results")}
    if given["cluster"] is not None and given["jobs"] is not None:
        raise usage_error("--jobs is of this machine, and --cluster works on others", "leave one of them out")
    if given["resume"] and given["results"] is None:
        raise usage_error("--resume goes on with a file of results, and there is none", "--results FILE names it")


def _check_folders(command: Command, arguments: Namespace) -> None:
    """Raises UsageError for a file that could not be written in the end: its directory does not exist.

    A name that ends in `/`, and -o for several FILEs, are directories, which are made; so are those of several files.
    """
    makes_folders = arguments.has_several or len(command.endings) > 1
    for name in ("output", *_FILES):
        path: str = getattr(arguments, name, None) or ""
        is_directory = path.endswith(os.sep) or (name == "output" and makes_folders)
        folder = "" if is_directory or is_url(path) else os.path.dirname(path)
        if name in _FILES and os.path.isdir(path):
            raise usage_error(f"--{name} {path} is a directory, not a file")
        if folder and not os.path.isdir(folder):
            raise usage_error(f"{path}: there is no directory {folder}", f"mkdir -p {quote(folder)}")
    directory = getattr(arguments, "dump_dir", None)
    if directory is not None and directory.is_file():
        raise usage_error(f"--dump-dir {directory} is a file, not a directory")


def _statuses(job: Job, units: Sequence[Unit], execute: Execute, console: Console) -> Iterator[int]:
    """Yields the exit codes of all units in their order; prints or records their results."""
    if job.keeps_results:
        # Imported here: most commands do not need it.
        from relayout.batch.results import record_batch

        yield from record_batch(job, units, execute, console)
        return
    with closing(execute(job, units)) as results:
        for result in console.track(results, job.command, len(units)):
            show(result)
            yield result.status
            if result.ends_batch:
                return


def _results(job: Job, units: Sequence[Unit], pool: Pool, count: int) -> Generator[Result]:
    """Yields the results of all units in their order."""
    address = getattr(job.arguments, "cluster", None)
    if address is None:
        yield from pool.results(units, count)
        return
    # Imported here: most commands do not need it.
    from relayout.batch.cluster import run_on_cluster

    pool.end()
    yield from run_on_cluster(job, units, address)
