"""The results of a batch as files that CI systems read: JUnit XML, and SARIF for annotations at lines of files."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from io import BytesIO
from typing import Any

from dialect_utils.text import Diagnostic
from relayout import __version__
from relayout.batch.unit import Unit
from relayout.command import Execute, Job, Result
from relayout.console import DONE, FAILED, UsageError
from relayout.output import write_output

# The form of `dialect_utils.text.render`: `file:line:column: error: message`, without a place where there is none.
_DIAGNOSTIC = re.compile(
    r"(?:(?P<file>\S[^\n]*?):(?P<line>\d+):(?P<column>\d+): )?(?P<level>error|warning|note|hint): (?P<message>.*)"
)
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
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
    for line in _text(result.diagnostics).split("\n"):
        match = _DIAGNOSTIC.fullmatch(line)
        if match is None:
            continue
        if match["level"] == "hint":
            if found:
                last = found[-1]
                found[-1] = replace(last, message=f"{last.message} ({match['message']})")
            continue
        place = (match["file"], int(match["line"]), int(match["column"])) if match["file"] else (own,)
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
            raise UsageError(Diagnostic(message, hint="pip install 'relayout[ci]'")) from None

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
            case = TestCase(unit.name, f"relayout.{self.job.command.name}", round(result.seconds, 3))
            message = next((each.message for each in found if each.level == "error"), "")
            if result.is_known:
                case.result = [Skipped("--results has its row")]
            elif result.status != DONE:
                # A difference or a wrong module is a failure; what could not be decided or read is an error.
                kind = Failure if result.status == FAILED else Error
                case.result = [kind(message)]
                case.result[0].text = _text(result.diagnostics)
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
                message=Message(text=each.message),
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
        physical_location=PhysicalLocation(artifact_location=ArtifactLocation(uri=found.file), region=region)
    )


def _text(printed: bytes) -> str:
    return _COLOURS.sub("", printed.decode(errors="backslashreplace"))
