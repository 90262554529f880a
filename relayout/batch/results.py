"""The results of a batch in files: rows that are read again to resume, and reports for CI systems.

A row stands for a module, and is written as it comes. JUnit XML and SARIF, for annotations at lines of files, are
written in the end.

Longer than most: all files of a batch are made of the same results, names and diagnostics.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dialect_utils.io.files import encode, is_url
from dialect_utils.io.remote import existing_urls, read_url, remove_url
from dialect_utils.text import Diagnostic, DiagnosticError, printable
from relayout import __version__
from relayout.batch.unit import Unit
from relayout.command import Execute, Job, Result, show
from relayout.console import DONE, FAILED, Console, UsageError
from relayout.options import parsed, usage_error, values_of
from relayout.output import write_output

# The form of `dialect_utils.text.render`: `file:line:column: error: message`, without a place where there is none.
_DIAGNOSTIC = re.compile(
    r"(?:(?P<file>\S[^\n]*?):(?P<line>\d+):(?P<column>\d+): )?(?P<level>error|warning|note|hint): (?P<message>.*)"
)
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
# XML 1.0 has no other control characters and no surrogates.
_FOREIGN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# The characters of a path that a URI holds unchanged (RFC 3986).
_PLAIN = "/-._~!$&'()*+,;=:@"
_COLOURS = re.compile(r"\033\[[\d;]*m")


@dataclass(frozen=True, slots=True)
class Finding:
    """A diagnostic that was printed: its level, its message with the hint, and its place (line and column from 1)."""

    level: str
    message: str
    file: str
    line: int | None = None
    column: int | None = None


def findings(unit: Unit, result: Result) -> list[Finding]:
    """Returns the diagnostics of a unit; one without a place belongs to the unit's first file."""
    found: list[Finding] = []
    own = unit.inputs[0].path if unit.inputs else ""
    # Names as they are printed; of a name with line breaks a line has the last part.
    printed = {_text(encode(printable(each.path))).split("\n")[-1]: each.path for each in unit.inputs}
    for line in _text(result.diagnostics).split("\n"):
        match = _DIAGNOSTIC.fullmatch(line)
        if match is None:
            continue
        if match["level"] == "hint":
            if found:
                last = found[-1]
                found[-1] = replace(last, message=f"{last.message} ({match['message']})")
            continue
        place = (
            (printed.get(match["file"], match["file"]), int(match["line"]), int(match["column"]))
            if match["file"]
            else (own,)
        )
        found.append(Finding(match["level"], match["message"], *place))
    if result.status != DONE and not any(each.level == "error" for each in found):
        # A check prints its verdict.
        found.append(Finding("error", _text(result.output).strip() or f"exit code {result.status}", own))
    return found


def with_files(execute: Execute) -> Execute:
    """Returns `execute` with the files for CI systems, which are written after the last unit."""

    def run(job: Job, units: Sequence[Unit]) -> Generator[Result]:
        files = _Files(job)
        with closing(execute(job, units)) as results:
            for number, (unit, result) in enumerate(zip(units, results, strict=True), 1):
                files.add(unit, result)
                # After the last result this generator is not resumed, so the files are written before it.
                if number == len(units):
                    files.write()
                yield result

    return run


@dataclass(slots=True)
class _Files:
    """The results of a job so far."""

    job: Job
    _rows: list[tuple[Unit, Result, list[Finding]]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        """Raises UsageError without the packages, before hours of work."""
        try:
            import junitparser  # noqa: F401
            import sarif_pydantic  # noqa: F401
        except ImportError as error:
            message = f"--junit and --sarif need {error.name}, which is not installed"
            raise UsageError(message, hint="pip install 'relayout[ci]'") from None

    def add(self, unit: Unit, result: Result) -> None:
        self._rows.append((unit, result, findings(unit, result)))

    def write(self) -> None:
        named = self.job.command.ci
        if named.junit is not None:
            write_output(named.junit, self._junit())
        if named.sarif is not None:
            write_output(named.sarif, self._sarif().encode())

    def _junit(self) -> bytes:
        from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite

        suite = TestSuite(f"relayout {self.job.command.name}")
        for unit, result, found in self._rows:
            case = TestCase(_well_formed(unit.name), f"relayout.{self.job.command.name}", round(result.seconds, 3))
            message = _well_formed(next((each.message for each in found if each.level == "error"), ""))
            if result.is_known:
                case.result = [Skipped("--results has its row")]
            elif result.status != DONE:
                # A difference or a wrong module is a failure; what could not be decided or read is an error.
                kind = Failure if result.status == FAILED else Error
                case.result = [kind(message)]
                case.result[0].text = _well_formed(_text(result.diagnostics))
            suite.add_testcase(case)
        document = JUnitXml()
        document.add_testsuite(suite)
        document.write(written := BytesIO())
        return written.getvalue()

    def _sarif(self) -> str:
        from sarif_pydantic import Message, Result as SarifResult, Run, Sarif, Tool, ToolDriver

        driver = ToolDriver(name=f"relayout {self.job.command.name}", version=__version__)
        results = [
            SarifResult(
                rule_id=f"relayout/{self.job.command.name}",
                level=each.level,
                message=Message(text=_well_formed(each.message)),
                locations=[_location(each)],
            )
            for _, _, found in self._rows
            for each in found
        ]
        made = Sarif(schema_uri=_SCHEMA, runs=[Run(tool=Tool(driver=driver), results=results)])
        return str(made.model_dump_json(by_alias=True, exclude_none=True, indent=2))


def _location(found: Finding) -> Any:
    from sarif_pydantic import ArtifactLocation, Location, PhysicalLocation, Region

    region = None if found.line is None else Region(start_line=found.line, start_column=found.column)
    return Location(
        physical_location=PhysicalLocation(
            artifact_location=ArtifactLocation(uri=quote(os.fsencode(found.file), _PLAIN)), region=region
        )
    )


def _well_formed(text: str) -> str:
    """Returns a text with escapes for characters that XML cannot hold, and for bytes that are not UTF-8."""
    return _FOREIGN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def _text(printed: bytes) -> str:
    return _COLOURS.sub("", printed.decode(errors="backslashreplace"))


# Arguments that affect neither the computation nor the output.
_INCIDENTAL = (
    *("files", "pairs", "stage", "module", "jobs", "cluster", "results", "resume"),
    *("color", "traceback", "json", "timing", "junit", "sarif"),
)
# The columns of every row and their types; figures are JSON.
_COLUMNS = {
    **dict.fromkeys(("name", "sha256", "command", "options", "version"), "str"),
    **{"exit_code": "int", "seconds": "float"},
    **dict.fromkeys(("output", "diagnostics", "figures"), "str"),
}
_PLAIN_KINDS = ("str", "int", "float", "bool")
# Parquet has integers of 64 bits.
_LARGEST_BITS = 63
# The fields of a row on which --resume relies.
_NEEDED = {
    "name": str,
    "sha256": str,
    "command": str,
    "options": str,
    "version": str,
    "exit_code": int,
    "figures": dict,
}

Row = dict[str, Any]
PARQUET = ".parquet"
_LINES = (".jsonl", ".ndjson", ".json")
ENDINGS = (*_LINES, PARQUET)
# A stopped run loses at most this many rows, or this many seconds.
_ROWS_PER_PART = 1000
_SECONDS_PER_PART = 20.0


def identity_of(job: Job) -> Mapping[str, str]:
    """Returns the fields that all rows of a job have: the command, its options as canonical JSON, and the version."""
    kept = {name: value for name, value in values_of(job.command).items() if name not in _INCIDENTAL}
    options = json.dumps(kept, sort_keys=True, default=str)
    return {"command": job.command.name, "options": options, "version": __version__}


def row_of(identity: Mapping[str, str], unit: Unit, result: Result) -> Row:
    """Returns the row of a unit.

    `figures` is the JSON that the unit printed, without the module's text, which is `output`; the exit code is that of
    the command on this one module.
    """
    figures: dict[str, Any] = {}
    for line in result.output.splitlines():
        figures |= json.loads(line)
    return {
        "name": unit.name,
        "sha256": result.content,
        **identity,
        "exit_code": result.status,
        "seconds": round(result.seconds, 6),
        "output": figures.pop("module", ""),
        "diagnostics": result.diagnostics.decode(errors="backslashreplace"),
        "figures": figures,
    }


def to_lines(rows: Iterable[Row]) -> bytes:
    """Returns rows as JSON lines."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def from_lines(data: bytes, name: str = "<results>") -> list[Row]:
    """Returns the rows of JSON lines; raises DiagnosticError for other lines."""
    return [_row(line, f"{name}:{number}") for number, line in enumerate(data.splitlines(keepends=True), 1)]


def _row(line: bytes, place: str) -> Row:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    return _checked(row, place)


def _checked(row: Any, place: str) -> Row:
    if not isinstance(row, dict) or not all(isinstance(row.get(key), kind) for key, kind in _NEEDED.items()):
        raise DiagnosticError(f"{place}: no row of results")
    return row


def to_parquet(rows: Sequence[Row]) -> bytes:
    """Returns rows as a Parquet file; figures are JSON, and a column each where they are numbers or texts."""
    import pyarrow
    from pyarrow import parquet

    kinds = {"str": pyarrow.string(), "int": pyarrow.int64(), "float": pyarrow.float64(), "bool": pyarrow.bool_()}
    columns = [(name, kinds[kind]) for name, kind in (_COLUMNS | _figure_columns(rows) | _COLUMNS).items()]
    plain = [{name: _storable(value) for name, value in {**row["figures"], **row}.items()} for row in rows]
    parquet.write_table(pyarrow.Table.from_pylist(plain, schema=pyarrow.schema(columns)), sink := BytesIO())
    return sink.getvalue()


def _figure_columns(rows: Sequence[Row]) -> dict[str, str]:
    """Returns the figures with values of one plain type in all rows, and the type."""
    found: dict[str, set[str]] = {}
    for name, value in (each for row in rows for each in row["figures"].items() if each[1] is not None):
        is_large = isinstance(value, int) and value.bit_length() > _LARGEST_BITS
        found.setdefault(name, set()).add("float" if is_large else type(value).__name__)
    return {name: kind for name, (kind, *others) in found.items() if not others and kind in _PLAIN_KINDS}


def _storable(value: object) -> object:
    """Returns a cell of Parquet: figures as JSON, texts with escapes for bytes that are not UTF-8."""
    if isinstance(value, dict):
        return json.dumps(value)
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def from_parquet(data: bytes, name: str = "<results>") -> list[Row]:
    """Returns the rows of a Parquet file; raises DiagnosticError for another file."""
    from pyarrow import ArrowException, parquet

    try:
        rows: list[Row] = parquet.read_table(BytesIO(data), columns=[*_COLUMNS]).to_pylist()
        return [_checked({**row, "figures": json.loads(row["figures"])}, name) for row in rows]
    except (ValueError, TypeError, KeyError, OSError, RecursionError, ArrowException) as error:
        raise DiagnosticError(f"{name}: no Parquet file of results: {error}") from None


@dataclass(slots=True)
class ResultsFile:
    """A file or URL of rows; until it is complete, parts beside it (`NAME.part-000001.jsonl`) hold the rows."""

    path: str
    _part: list[Row] = field(default_factory=list, init=False)
    _count: int = field(default=0, init=False)
    _written: float = field(default_factory=time.monotonic, init=False)

    def __post_init__(self) -> None:
        """Raises DiagnosticError for a file that could not be written at the end."""
        if not self.path.endswith(ENDINGS):
            raise DiagnosticError(f"{self.path} has no known ending", hint=f"one of {', '.join(ENDINGS)}")
        if self.path.endswith(PARQUET):
            try:
                import pyarrow  # noqa: F401 (before hours of work)
            except ImportError:
                message = "a Parquet file needs pyarrow, which is not installed"
                raise DiagnosticError(message, hint="pip install 'relayout[report]'") from None
        self._count = len(self._parts())

    def exists(self) -> bool:
        """Is true where an earlier run has left rows."""
        return bool(self._parts()) or _exists(self.path)

    def rows(self) -> list[Row]:
        """Returns the rows of an earlier run; the later one where a module has two."""
        read = from_parquet if self.path.endswith(PARQUET) else from_lines
        rows = read(_read(self.path), self.path) if _exists(self.path) else []
        rows += [row for part in self._parts() for row in from_lines(_read(part), part)]
        return list({row["name"]: row for row in rows}.values())

    def add(self, row: Row) -> None:
        """Adds a row, and writes a part of the file once enough rows or seconds have passed."""
        self._part.append(row)
        if len(self._part) >= _ROWS_PER_PART or time.monotonic() - self._written > _SECONDS_PER_PART:
            self.close()

    def close(self) -> None:
        """Writes the rows added since the last part to a new part."""
        if self._part:
            self._count += 1
            write_output(f"{self.path}.part-{self._count:06}.jsonl", to_lines(self._part))
            self._part.clear()
        self._written = time.monotonic()

    def complete(self, names: Sequence[str]) -> None:
        """Writes all rows of these modules, in this order, to the file, and removes the parts."""
        self.close()
        by_name = {row["name"]: row for row in self.rows()}
        rows = [by_name[name] for name in names if name in by_name]
        write_output(self.path, to_parquet(rows) if self.path.endswith(PARQUET) else to_lines(rows))
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


def record_batch(job: Job, units: Sequence[Unit], execute: Execute, console: Console) -> Iterator[int]:
    """Writes a row for each unit, prints their number at the end, and yields their exit codes.

    With --resume the rows of an earlier run are read first: a unit with a row of the same command, options, version and
    content is skipped. Raises UsageError for a file that cannot hold results.
    """
    file, identity = parsed(ResultsFile, job.command.batch.results or ""), identity_of(job)
    if file.exists() and not job.command.batch.resume:
        raise usage_error(f"--results {file.path} exists", "--resume goes on with it; else remove it")
    repeated = next((name for name, count in Counter(unit.name for unit in units).items() if count > 1), None)
    if repeated is not None:
        raise usage_error(f"{repeated} is named twice, but --results has one row a module")
    rows = file.rows() if job.command.batch.resume else []
    old = {row["name"]: row for row in rows if all(row.get(key) == value for key, value in identity.items())}
    units = [_recorded(unit, old[unit.name]) if unit.name in old else unit for unit in units]
    codes: Counter[int] = Counter()
    said: set[int] = set()
    with _explained_interrupt(job, len(units), codes, console), closing(execute(job, units)) as results, closing(file):
        for unit, result in zip(units, console.track(results, job.command.name, len(units)), strict=False):
            if result.ends_batch:
                show(result)
                yield result.status
                return
            if not result.is_known:
                # A note about every module is printed once: each row holds its diagnostics.
                is_new = hash(result.diagnostics) not in said
                said.add(hash(result.diagnostics))
                show(replace(result, output=b"", diagnostics=result.diagnostics if is_new else b""))
                file.add(row_of(identity, unit, result))
            code = old[unit.name]["exit_code"] if result.is_known else result.status
            codes[code] += 1
            yield code
        file.complete([unit.name for unit in units])
    console.diagnose([Diagnostic(_summary(codes, file.path), severity="note")])


@contextmanager
def _explained_interrupt(job: Job, total: int, codes: Counter[int], console: Console) -> Iterator[None]:
    """Says how many rows a signal leaves, and how the batch goes on."""
    try:
        yield
    except KeyboardInterrupt:
        message = f"interrupted: {job.command.batch.results} has {codes.total()} of {total} rows"
        # The next run of a command that compiles makes other files.
        hint = "the same command with --resume goes on" if job.command.compiled is None else None
        console.diagnose([Diagnostic(message, severity="note", hint=hint)])
        raise


def _recorded(unit: Unit, row: Row) -> Unit:
    return replace(unit, known=row["sha256"], recorded=json.dumps(row["figures"]).encode())


def _summary(codes: Counter[int], path: str) -> str:
    parts = [f"{count} with exit code {code}" for code, count in sorted(codes.items()) if code != DONE]
    rows = "1 row" if codes.total() == 1 else f"{codes.total()} rows"
    return ", ".join([f"{path}: {rows}", *parts])
