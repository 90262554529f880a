"""The results of a batch in a file: one row per module, written as rows come, and read again to resume."""

from __future__ import annotations

import json
import os
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dialect_utils.io.files import is_url, write_file
from dialect_utils.io.remote import existing_urls, read_url, remove_url, write_url
from dialect_utils.text import Diagnostic, DiagnosticError
from relayout import __version__
from relayout.arguments import usage_error
from relayout.batch.unit import Job, Result, Unit, show
from relayout.console import DONE, Console, UsageError

# What decides neither what is computed nor what comes out.
_INCIDENTAL = (
    *("files", "pairs", "stage", "module", "jobs", "cluster", "results", "resume"),
    *("color", "traceback", "json", "has_several", "timing"),
)
_TEXTS = ("name", "sha256", "command", "options", "version", "output", "diagnostics", "figures")

Row = dict[str, Any]
PARQUET = ".parquet"
_LINES = (".jsonl", ".ndjson", ".json")
ENDINGS = (*_LINES, PARQUET)
# What a run that is stopped loses at most.
_ROWS_PER_PART = 1000
_SECONDS_PER_PART = 20.0
Execute = Callable[[Job, Sequence[Unit]], Generator[Result]]


@dataclass(frozen=True, slots=True)
class Identity:
    """What a row must share with a run that would make it again, beside the content of its module."""

    command: str
    options: str
    version: str

    @staticmethod
    def of(job: Job) -> Identity:
        """Returns what the rows of a job have."""
        return Identity(job.command, options_text(job.arguments), __version__)

    def is_of(self, row: Mapping[str, Any]) -> bool:
        """Is true for a row that such a run made."""
        return all(row.get(key) == getattr(self, key) for key in self.__slots__)


def options_text(arguments: Namespace) -> str:
    """Returns the options that matter for results, as one canonical JSON text."""
    kept = {name: value for name, value in vars(arguments).items() if name not in _INCIDENTAL}
    return json.dumps(kept, sort_keys=True, default=str)


def row_of(identity: Identity, unit: Unit, result: Result) -> Row:
    """Returns the row of a unit.

    What it printed as JSON is `figures`, without the module's text, which is `output`; exit codes are those of the
    command on the one module.
    """
    figures: dict[str, Any] = {}
    for line in result.output.splitlines():
        figures |= json.loads(line)
    return {
        "name": unit.name,
        "sha256": result.content,
        "command": identity.command,
        "options": identity.options,
        "version": identity.version,
        "exit_code": result.status,
        "seconds": round(result.seconds, 6),
        "output": figures.pop("module", ""),
        "diagnostics": result.diagnostics.decode(errors="backslashreplace"),
        "figures": figures,
    }


def to_lines(rows: Iterable[Row]) -> bytes:
    """Returns rows as JSON lines."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def from_lines(data: bytes) -> list[Row]:
    """Returns the rows of JSON lines; a last line that was cut off is none."""
    return [json.loads(line) for line in data.splitlines(keepends=True) if line.endswith(b"\n")]


def to_parquet(rows: Sequence[Row]) -> bytes:
    """Returns rows as a Parquet file; figures are JSON."""
    import io

    import pyarrow
    from pyarrow import parquet

    columns = [(name, pyarrow.string()) for name in _TEXTS]
    columns[5:5] = [("exit_code", pyarrow.int32()), ("seconds", pyarrow.float64())]
    plain = [{**row, "output": _unicode(row["output"]), "figures": json.dumps(row["figures"])} for row in rows]
    sink = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(plain, schema=pyarrow.schema(columns)), sink)
    return sink.getvalue()


def _unicode(text: str) -> str:
    """Returns a text without the lone surrogates that bytes became which are no UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()


def from_parquet(data: bytes) -> list[Row]:
    """Returns the rows of a Parquet file."""
    import io

    from pyarrow import parquet

    rows: list[Row] = parquet.read_table(io.BytesIO(data)).to_pylist()
    return [{**row, "figures": json.loads(row["figures"])} for row in rows]


@dataclass(slots=True)
class ResultsFile:
    """A file or URL of rows; until it is complete, parts beside it (`NAME.part-000001.jsonl`) hold what there is."""

    path: str
    _part: list[Row] = field(default_factory=list, init=False)
    _count: int = field(default=0, init=False)
    _written: float = field(default_factory=time.monotonic, init=False)

    def __post_init__(self) -> None:
        """Raises DiagnosticError for a file that could not be written at the end."""
        if not self.path.endswith(ENDINGS):
            raise DiagnosticError(Diagnostic(f"{self.path} has no known ending", hint=f"one of {', '.join(ENDINGS)}"))
        if self.path.endswith(PARQUET):
            try:
                import pyarrow  # noqa: F401 (before hours of work)
            except ImportError:
                message = "a Parquet file needs pyarrow, which is not installed"
                raise DiagnosticError(Diagnostic(message, hint="pip install 'relayout[report]'")) from None
        self._count = len(self._parts())

    def exists(self) -> bool:
        """Is true where a run has left rows."""
        return bool(self._parts()) or _exists(self.path)

    def rows(self) -> list[Row]:
        """Returns the rows that there are, the later one where a module has two."""
        read = from_parquet if self.path.endswith(PARQUET) else from_lines
        rows = read(_read(self.path)) if _exists(self.path) else []
        rows += [row for part in self._parts() for row in from_lines(_read(part))]
        return list({row["name"]: row for row in rows}.values())

    def add(self, row: Row) -> None:
        """Adds a row; it is kept within seconds."""
        self._part.append(row)
        if len(self._part) >= _ROWS_PER_PART or time.monotonic() - self._written > _SECONDS_PER_PART:
            self.close()

    def close(self) -> None:
        """Writes what was added to a part of its own."""
        if self._part:
            self._count += 1
            _write(f"{self.path}.part-{self._count:06}.jsonl", to_lines(self._part))
            self._part.clear()
        self._written = time.monotonic()

    def complete(self, names: Sequence[str]) -> None:
        """Writes all rows of these modules, in this order, to the file, and removes the parts."""
        self.close()
        by_name = {row["name"]: row for row in self.rows()}
        rows = [by_name[name] for name in names if name in by_name]
        _write(self.path, to_parquet(rows) if self.path.endswith(PARQUET) else to_lines(rows))
        for part in self._parts():
            (remove_url if is_url(part) else os.unlink)(part)

    def _parts(self) -> list[str]:
        pattern = f"{self.path}.part-*.jsonl"
        if is_url(self.path):
            return existing_urls(pattern)
        path = Path(pattern)
        return sorted(map(str, path.parent.glob(path.name)))


def _exists(path: str) -> bool:
    return bool(existing_urls(path)) if is_url(path) else os.path.exists(path)


def _read(path: str) -> bytes:
    return read_url(path) if is_url(path) else Path(path).read_bytes()


def _write(path: str, data: bytes) -> None:
    if is_url(path):
        write_url(path, data)
    else:
        write_file(Path(path), data)


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
