"""Lit's tests of RUN lines, but none that would find what it asks for in the comments that HLO comes back with."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from lit import Test
from lit.formats import ShTest

# `relayout opt %s ... | FileCheck %s`, unless what is printed has no comments, or is the diagnostics.
_PRINTS_COMMENTS = re.compile(
    r"%?relayout opt (?!.*(?:--strip-comments|--json|--list-passes|-o |2>&1))[^|]*%s[^|]*\| *[Ff]ile[Cc]heck %s"
)


class RunLines(ShTest):  # type: ignore[misc]  # lit has no types
    """Tests of RUN lines, none of which may have FileCheck read its own directives."""

    def execute(self, test: Any, lit_config: Any) -> Any:
        """Runs a test as lit does, or fails it without."""
        line = finds_itself(Path(test.getSourcePath()))
        if line is None:
            return super().execute(test, lit_config)
        reason = f"FileCheck would find its own directives in the comments printed; add --strip-comments: {line}"
        return Test.Result(Test.FAIL, reason)


def finds_itself(file: Path) -> str | None:
    """Returns a RUN line that prints HLO with its comments to FileCheck, or None."""
    if file.suffix != ".hlo":
        return None
    lines = (line.partition("RUN:")[2].strip() for line in file.read_text("utf-8", "replace").splitlines())
    return next((line for line in lines if _PRINTS_COMMENTS.match(line)), None)
