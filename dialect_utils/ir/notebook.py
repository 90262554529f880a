"""Modules for notebooks: the entry's parameters and results as a table, and the text."""

from __future__ import annotations

from itertools import islice

from dialect_utils.ir import Module
from dialect_utils.text import DiagnosticError
from dialect_utils.text.html import html_details, html_table, html_text

_ROWS = 20


def module_html(module: Module) -> str:
    """Returns a table of the entry's parameters and results, and the text as the module prints itself."""
    functions = len(module.functions)
    operations = sum(1 for _ in module.operations())
    summary = f"module {module.name}: {module.dialect}, functions: {functions}, operations: {operations}"
    rows = _entry_rows(module)
    more = [f"<p>... {len(rows) - _ROWS} more</p>"] if len(rows) > _ROWS else []
    table = html_table(("", "name", "shape"), islice(rows, _ROWS))
    text = html_details("text", f"<pre>{html_text(repr(module))}</pre>")
    return "".join([f"<p>{html_text(summary)}</p>", *([table] if rows else []), *more, text])


def _entry_rows(module: Module) -> list[tuple[str, str, str]]:
    try:
        entry = module.entry
    except DiagnosticError:  # a fragment
        return []
    values = [("parameter", entry.parameters), ("result", entry.results)]
    return [(role, value.name, str(value.shape)) for role, of_role in values for value in of_role]
