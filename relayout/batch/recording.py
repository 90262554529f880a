"""A batch whose results go to a file, and which goes on where an earlier one was stopped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace

from dialect_utils.text import Diagnostic, DiagnosticError
from relayout.arguments import usage_error
from relayout.batch.capture import show
from relayout.batch.records import Identity, Row, row_of
from relayout.batch.results import ResultsFile
from relayout.batch.unit import Job, Result, Unit
from relayout.console import DONE, Console, UsageError

Execute = Callable[[Job, Sequence[Unit]], Generator[Result]]


def record_batch(job: Job, units: Sequence[Unit], execute: Execute, console: Console) -> Iterator[int]:
    """Writes a row for each unit, says at the end how many there are, and yields their exit codes.

    What a run has left is read first with --resume; a unit with a row of the same command, options and version is left
    alone where its content is still the same. Raises UsageError for a file that is no place for results.
    """
    # What --json prints is what is kept; `work` reads the same arguments.
    job.arguments.json = True
    job = replace(job, keeps_results=True)
    file, identity = _results_file(job), Identity.of(job)
    _check_names(units)
    old = {row["name"]: row for row in (file.rows() if job.arguments.resume else ()) if identity.is_of(row)}
    units = [replace(unit, known=old[unit.name]["sha256"] if unit.name in old else "") for unit in units]
    codes: Counter[int] = Counter()
    with closing(execute(job, units)) as results, closing(file):
        for unit, result in zip(units, console.track(results, job.command, len(units)), strict=False):
            if result.ends_batch:
                show(result)
                yield result.status
                return
            code = _keep(file, identity, unit, result, old)
            codes[code] += 1
            yield code
        file.complete([unit.name for unit in units])
    console.diagnose([Diagnostic(_summary(codes, file.path), severity="note")])


def _results_file(job: Job) -> ResultsFile:
    try:
        file = ResultsFile(job.arguments.results)
    except DiagnosticError as error:
        raise UsageError(error.diagnostics) from error
    if file.exists() and not job.arguments.resume:
        raise usage_error(f"--results {file.path} exists", "--resume goes on with it; else remove it")
    return file


def _check_names(units: Sequence[Unit]) -> None:
    """Raises UsageError where rows could not be told apart."""
    repeated = next((name for name, count in Counter(unit.name for unit in units).items() if count > 1), None)
    if repeated is not None:
        raise usage_error(f"{repeated} is named twice, but --results has one row a module")


def _keep(file: ResultsFile, identity: Identity, unit: Unit, result: Result, old: dict[str, Row]) -> int:
    if result.is_known:
        code: int = old[unit.name]["exit_code"]
        return code
    file.add(row_of(identity, unit, result))
    return result.status


def _summary(codes: Counter[int], path: str) -> str:
    parts = [f"{count} with exit code {code}" for code, count in sorted(codes.items()) if code != DONE]
    rows = "1 row" if codes.total() == 1 else f"{codes.total()} rows"
    return ", ".join([f"{path}: {rows}", *parts])
