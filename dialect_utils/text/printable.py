"""Text that a terminal shows as it is: what would move its cursor, colour it or turn it around becomes escapes."""

from __future__ import annotations

import re
from typing import Any, TextIO

# C0 but for tab and line feed, DEL and C1; marks, embeddings, overrides and isolates of direction (Unicode TR 9);
# line and paragraph separators; bytes that were no UTF-8.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]"
)


def printable(text: str) -> str:
    """Returns the text with everything that is not to be shown as it is written as Python writes it."""
    return _UNPRINTABLE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


class PrintableStream:
    """A text stream whose texts come out printable, in what its encoding has; bytes go past it through `buffer`."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Writes a text and returns the number of its characters."""
        encoding = self._stream.encoding or "utf-8"
        self._stream.write(printable(text).encode(encoding, "backslashreplace").decode(encoding))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
