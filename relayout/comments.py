"""Drops `//` comments, which both text dialects have, so that FileCheck does not read its own directives."""

from __future__ import annotations

import re

# Strings and block comments come first: what looks like a comment inside them is none.
_PIECE = re.compile(
    r'(?P<kept>"(?:\\.|[^"\\\n]++)*+"|/\*.*?\*/)|^[ \t]*//[^\n]*(?:\n|\Z)|[ \t]*//[^\n]*', re.DOTALL | re.MULTILINE
)


def strip_comments(text: str) -> str:
    """Returns the text without `//` comments, and without the lines that hold nothing else."""
    return _PIECE.sub(lambda match: match.group("kept") or "", text)
