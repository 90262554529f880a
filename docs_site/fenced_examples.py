"""Examples of docstrings (`>>>`) as fenced code; Markdown alone would render them as quotations."""

from __future__ import annotations

from typing import Any

import griffe

from docs_site.pages import fenced


class FencedExamples(griffe.Extension):
    """An extension of mkdocstrings' reader of Python."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Fences the examples of every docstring: called once for each object."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value + "\n").rstrip()
