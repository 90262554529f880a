"""Runs a command on all its inputs and shows the result of each, in their order."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from relayout.arguments import Parser, count, usage_error
from relayout.batch.unit import Job, Result, Unit, Work, captured, kept, show, with_share
from relayout.console import Console

# A process pays for its start if it has this many modules, or this many bytes of them.
_UNITS_PER_PROCESS = 8
_BYTES_PER_PROCESS = 4_000_000
_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def job_count(arguments: Namespace, units: Sequence[Unit]) -> int:
    """Returns the number of processes: --jobs, or else one per core as far as they pay for their start.

    With --memory, no more than fit into this machine's memory.
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


def run_batch(job: Job, units: Sequence[Unit], work: Work, console: Console) -> Iterator[int]:
    """Works on all units, prints or records their results, and yields their exit codes in the units' order.

    `work` does the job in this process. Raises UsageError for options that exclude each other.
    """
    if job.arguments.cluster is not None and job.arguments.jobs is not None:
        raise usage_error("--jobs is of this machine, and --cluster works on others", "leave one of them out")
    if job.arguments.resume and job.arguments.results is None:
        raise usage_error("--resume goes on with a file of results, and there is none", "--results FILE names it")
    if job.arguments.results is not None:
        # Imported here, as below: most commands do not need it.
        from relayout.batch.results import record_batch

        yield from record_batch(job, units, partial(_results, work=work, console=console), console)
    elif job.arguments.cluster is None and job_count(job.arguments, units) == 1:
        for unit in console.track(units, job.command, len(units)):
            yield work(unit)
    else:
        yield from _print_batch(job, units, work, console)


def _print_batch(job: Job, units: Sequence[Unit], work: Work, console: Console) -> Iterator[int]:
    with closing(_results(job, units, work, console)) as results:
        for result in console.track(results, job.command, len(units)):
            show(result)
            yield result.status
            if result.ends_batch:
                return


def _results(job: Job, units: Sequence[Unit], work: Work, console: Console) -> Generator[Result]:
    """Yields the results of all units in their order; processes share the machine's memory."""
    if job.arguments.cluster is not None:
        from relayout.batch.cluster import run_on_cluster

        yield from run_on_cluster(job, units, job.arguments.cluster)
        return
    jobs = job_count(job.arguments, units)
    if jobs > 1:
        from relayout.batch.processes import run_in_processes

        arguments = with_share(job.arguments, machine_memory() // jobs)
        yield from run_in_processes(replace(job, arguments=arguments), units, jobs)
        return
    run = kept if job.keeps_results else captured
    yield from (run(work, unit, console) for unit in units)
