"""Pages as one HTML file that works without a network: a template with its style, its script and its parts."""

from __future__ import annotations

import base64
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path

from dialect_utils.text.html import html_text

_ASSETS = Path(__file__).parent / "assets"
_COMMON = "common.css"
_DOCUMENT = "document.html"


def filled_page(name: str, parts: Mapping[str, str], scripts: Sequence[str] = ()) -> str:
    """Returns the page whose body is `assets/NAME.html`, with its style, its scripts as one, and `parts` of HTML."""
    code = "\n".join((_ASSETS / each).read_text("utf-8") for each in scripts)
    own = {
        "policy": escape(_policy(code)),
        "style": (_ASSETS / _COMMON).read_text("utf-8") + (_ASSETS / f"{name}.css").read_text("utf-8"),
        "script": code,
    }
    document, page = ((_ASSETS / each).read_text("utf-8") for each in (_DOCUMENT, f"{name}.html"))
    page = document.replace("{{page}}", page)
    # In one pass: a module may be named `{{data}}`.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: {**own, **parts}[found[1]], page)


def _policy(script: str) -> str:
    """Returns a Content-Security-Policy under which a browser runs this script only, and loads nothing."""
    digest = base64.b64encode(sha256(script.encode()).digest()).decode()
    scripts = f"script-src 'sha256-{digest}'; " if script else ""
    return f"default-src 'none'; {scripts}style-src 'unsafe-inline'"


def plain_page(title: str, body: str) -> str:
    """Returns a page without a script; `body` is HTML."""
    return filled_page("plain", {"title": html_text(title), "body": body})


def page_table(header: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[str] = ()) -> str:
    """Returns a table of a plain page; cells are HTML, and those of `numbers` are aligned to the right."""

    def cell(name: str, text: str) -> str:
        return f'<td{_class(name, numbers)} data-name="{name}">{text}</td>'

    head = "".join(f'<th scope="col"{_class(name, numbers)}>{name}</th>' for name in header)
    body = ("".join(cell(name, text) for name, text in zip(header, row, strict=True)) for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(f'<tr>{each}</tr>' for each in body)}</tbody></table>"


def _class(name: str, numbers: Collection[str]) -> str:
    return ' class="number"' if name in numbers else ""
