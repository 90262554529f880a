"""A memory report in the formats of other programs."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping

from dialect_utils.io.files import encode
from dialect_utils.memory import MemoryReport
from dialect_utils.text import Diagnostic, DiagnosticError
from relayout.report.graphs import format_graphviz, format_model_explorer
from relayout.report.html import html_page


def export(report: MemoryReport, ending: str) -> bytes:
    """Returns a report in the format of a file ending; raises KeyError for an unknown one."""
    return FORMATS[ending](report)


def _html(report: MemoryReport) -> bytes:
    return encode(html_page(report))


def _json(report: MemoryReport) -> bytes:
    return encode(json.dumps(report.as_json(), indent=1) + "\n")


def _parquet(report: MemoryReport) -> bytes:
    """Returns the rows of the buffers, with the report's totals in the file's metadata."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        message = "a Parquet file needs pyarrow, which is not installed"
        raise DiagnosticError(Diagnostic(message, hint="pip install 'relayout[report]'")) from error
    described = report.as_json()
    table = pyarrow.Table.from_pylist(described["buffers"])
    totals = {"module": report.module.name, "target": report.usage.target, **report.totals()}
    table = table.replace_schema_metadata({"relayout": json.dumps(totals)})
    sink = io.BytesIO()
    parquet.write_table(table, sink)
    return sink.getvalue()


def _dot(report: MemoryReport) -> bytes:
    return encode(format_graphviz(report))


def _node_data(report: MemoryReport) -> bytes:
    return encode(json.dumps(format_model_explorer(report)) + "\n")


FORMATS: Mapping[str, Callable[[MemoryReport], bytes]] = {
    ".html": _html,
    ".json": _json,
    ".parquet": _parquet,
    ".dot": _dot,
    ".nodes": _node_data,
}
