"""Runs a command on all its inputs and shows what came of each, in their order."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial

from relayout.arguments import Parser, count, usage_error
from relayout.batch.capture import captured, kept, show
from relayout.batch.shares import job_count, machine_memory, with_share
from relayout.batch.unit import Job, Result, Unit, Work
from relayout.console import Console


def add_batch_options(parser: Parser) -> None:
    """Adds how several inputs are worked on."""
    parser.option(
        "--jobs", metavar="N", type=count, help="processes that share the FILEs (default: all cores, where it pays)"
    )
    parser.option(
        "--cluster", metavar="ADDRESS", help="a Dask scheduler whose workers share the FILEs: tcp://HOST:8786"
    )
    parser.option("--results", metavar="FILE", help="write a row a module: .jsonl or .parquet, also a URL")
    parser.option("--resume", action="store_true", help="with --results: leave out modules that have a row already")


def run_batch(job: Job, units: Sequence[Unit], work: Work, console: Console) -> Iterator[int]:
    """Works on all units, prints or records what each gives, and yields their exit codes in the units' order.

    `work` is what the job does in this process. Raises UsageError for options that do not fit.
    """
    if job.arguments.cluster is not None and job.arguments.jobs is not None:
        raise usage_error("--jobs is of this machine, and --cluster works on others", "leave one of them out")
    if job.arguments.resume and job.arguments.results is None:
        raise usage_error("--resume goes on with a file of results, and there is none", "--results FILE names it")
    if job.arguments.results is not None:
        # Imported here, as below: no other command needs it.
        from relayout.batch.recording import record_batch

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
    """Yields the results of all units in their order; memory is shared out among those that work on them."""
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
