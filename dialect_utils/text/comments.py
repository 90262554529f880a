"""Comments in HLO and MLIR text."""

from __future__ import annotations

import re

# Comments, among them XLA's `/*index=5*/` in long lists.
_COMMENT = re.compile(r"/\*.*?\*/|//[^\r\n]*", re.DOTALL)


def without_comments(text: str) -> str:
    """Returns a text of the same length with blanks for comments; the text must not contain strings."""
    return _COMMENT.sub(lambda match: " " * len(match[0]), text) if "/" in text else text
