"""A memory report in the formats of other programs."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from dialect_utils.io.files import encode
from dialect_utils.text import DiagnosticError, format_bytes

if TYPE_CHECKING:
    from dialect_utils.memory import MemoryReport

# Graphviz's colour scheme `blues5`, from few bytes to those of the largest buffer.
_SHADES = 5


def format_graphviz(report: MemoryReport) -> str:
    """Returns the entry's operations as a Graphviz graph; darker nodes hold more bytes, red edges are relayouts."""
    module, entry = report.module, report.module.entry
    held = {buffer.value: buffer for buffer in report.usage.buffers}
    largest = max((buffer.bytes_held for buffer in held.values()), default=1) or 1
    relayouts = {move.operation for move in report.moves if move.row.changes_layout}
    lines = [f"digraph {_quoted(module.name or 'module')} {{", "  node [shape=box, style=filled, colorscheme=blues5];"]
    for value in (*entry.parameters, *(result for operation in entry.operations for result in operation.results)):
        buffer = held.get(value)
        size = buffer.bytes_held if buffer is not None else 0
        shade = 1 + min(_SHADES - 1, size * _SHADES // largest)
        opcode = value.operation.opcode if value.operation is not None else "parameter"
        label = "\n".join([f"{value.name} = {opcode}", str(value.shape), *([format_bytes(size)] if size else [])])
        lines.append(f"  {_quoted(value.name)} [label={_quoted(label)}, fillcolor={shade}];")
    for operation in entry.operations:
        colour = " [color=red, penwidth=2]" if operation in relayouts else ""
        for operand in operation.operands:
            for result in operation.results[:1]:
                lines.append(f"  {_quoted(operand.name)} -> {_quoted(result.name)}{colour};")
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    """Returns a quoted string of Graphviz, in which a backslash escapes itself and quotes, as in JSON."""
    return json.dumps(text, ensure_ascii=False)


def format_model_explorer(report: MemoryReport) -> list[dict[str, Any]]:
    """Returns node data for Model Explorer's graph of the module, by node names: bytes, padding and layout.

    Format: https://github.com/google-ai-edge/model-explorer/wiki/4.-API-Guide (custom node data).
    """
    columns: dict[str, dict[str, int | str]] = {
        "bytes held": {row.name: row.bytes_held for row in report.buffers},
        "padding bytes": {row.name: row.padding_bytes for row in report.buffers},
        "layout": {row.name: row.shape for row in report.buffers},
    }
    gradient = [{"stop": 0, "bgColor": "#eef3fb"}, {"stop": 1, "bgColor": "#2456c7"}]
    return [
        {
            "name": title,
            "results": {name: {"value": value} for name, value in values.items()},
            "gradient": gradient if title != "layout" else [],
        }
        for title, values in columns.items()
    ]


def _html(report: MemoryReport) -> bytes:
    from relayout.reporting.html import html_page

    return encode(html_page(report))


def _json(report: MemoryReport) -> dict[str, Any]:
    from relayout.reporting.first_screen import report_json

    return report_json(report)


def _parquet(report: MemoryReport) -> bytes:
    """Returns the rows of the buffers, with the report's totals in the file's metadata."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        message = "a Parquet file needs pyarrow, which is not installed"
        raise DiagnosticError(message, hint="pip install 'relayout[report]'") from error
    rows = [{name: _storable(value) for name, value in row.items()} for row in report.as_json()["buffers"]]
    table = pyarrow.Table.from_pylist(rows)
    totals = {"module": report.module.name, "target": report.usage.target, **report.totals()}
    table = table.replace_schema_metadata({"relayout": json.dumps(totals)})
    sink = io.BytesIO()
    parquet.write_table(table, sink)
    return sink.getvalue()


def _storable(value: object) -> object:
    """Returns a cell of Parquet, in which escapes stand for bytes that are not UTF-8; names are data, not formulas."""
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


# The formats by the endings of files.
FORMATS: Mapping[str, Callable[[MemoryReport], bytes]] = {
    ".html": _html,
    ".json": lambda report: encode(json.dumps(_json(report), indent=1) + "\n"),
    ".parquet": _parquet,
    ".dot": lambda report: encode(format_graphviz(report)),
    ".nodes": lambda report: encode(json.dumps(format_model_explorer(report)) + "\n"),
}
