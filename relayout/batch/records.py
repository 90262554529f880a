"""The rows of a results file: what is kept of each unit, and which run made them."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from relayout import __version__
from relayout.batch.unit import Job, Result, Unit

# What decides neither what is computed nor what comes out.
_INCIDENTAL = (
    *("files", "pairs", "stage", "module", "jobs", "cluster", "results", "resume"),
    *("color", "traceback", "json", "has_several", "timing"),
)
_TEXTS = ("name", "sha256", "command", "options", "version", "output", "diagnostics", "figures")

Row = dict[str, Any]


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
