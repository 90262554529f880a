"""Tables and texts for notebooks: each text is escaped, and nothing is loaded from another place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from dialect_utils.text.diagnostics import printable


def html_text(text: str) -> str:
    """Returns a text for HTML and SVG: markup and control characters are escaped."""
    return escape(printable(text))


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table of texts."""

    def line(cells: Sequence[str], tag: str) -> str:
        inside = (f'<{tag} style="text-align: left">{html_text(cell)}</{tag}>' for cell in cells)
        return f"<tr>{''.join(inside)}</tr>"

    return f"<table>{line(header, 'th')}{''.join(line(row, 'td') for row in rows)}</table>"


def html_details(summary: str, inside: str) -> str:
    """Returns a part that opens with a click; `inside` is HTML."""
    return f"<details><summary>{html_text(summary)}</summary>{inside}</details>"
