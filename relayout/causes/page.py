"""The causes of moved and padded arrays as a part of a page."""

from __future__ import annotations

from urllib.parse import quote

from dialect_utils.text.html import html_details, html_text
from relayout.causes.result import Cause, Why

_HINT = (
    "The most expensive arrays that the compiled program moves or pads, each with the pass of the compiler that "
    "introduced it. Open a line for the layouts on both sides, the line of the source and what removes the move."
)


def causes_section(why: Why) -> str:
    """Returns a section of a page with one part for each cause; names are links to the buffers of the page."""
    if not why.causes:
        return ""
    parts = "".join(map(_part, why.causes))
    shown = f" ({len(why.causes)} of {why.arrays})" if len(why.causes) < why.arrays else ""
    return (
        f'<section id="why"><h2>Why arrays are moved or padded{shown}</h2><p class="hint">{_HINT}</p>{parts}</section>'
    )


def _part(cause: Cause) -> str:
    headline, *facts = cause.lines
    address = html_text(quote(cause.fusion or cause.name))
    text = html_text("\n".join(line.removeprefix("  ") for line in facts))
    link = f'<p><a href="#{address}">the buffer of {html_text(cause.fusion or cause.name)}</a></p>'
    return html_details(f"{headline}, by {cause.introduced_by}", f"<pre>{text}</pre>{link}")
