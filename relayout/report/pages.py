"""Pages as one HTML file that works without a network: a template with its style, its script and its parts."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from importlib.resources import files

_COMMON = "common.css"


def filled_page(name: str, parts: Mapping[str, str]) -> str:
    """Returns the page of `assets/NAME.html` with its style, its script if it has one, and `parts`, which are HTML."""
    assets = files("relayout.report") / "assets"
    script = assets / f"{name}.js"
    code = script.read_text("utf-8") if script.is_file() else ""
    own = {
        "policy": escape(_policy(code)),
        "style": (assets / _COMMON).read_text("utf-8") + (assets / f"{name}.css").read_text("utf-8"),
        "script": code,
    }
    # In one pass: a module may be named `{{data}}`.
    page = (assets / f"{name}.html").read_text("utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: {**own, **parts}[found[1]], page)


def _policy(script: str) -> str:
    """Returns a Content-Security-Policy under which a browser runs this script only, and loads nothing."""
    digest = base64.b64encode(sha256(script.encode()).digest()).decode()
    scripts = f"script-src 'sha256-{digest}'; " if script else ""
    return f"default-src 'none'; {scripts}style-src 'unsafe-inline'"
