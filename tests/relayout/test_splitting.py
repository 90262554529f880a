"""Several modules in one file: their texts, and the locations of their errors."""

from __future__ import annotations

import pytest

from dialect_utils.io.files import decode, parse_bytes
from dialect_utils.text import DiagnosticError, Source
from relayout.comments import relocate, split_input

GOOD = "HloModule a\nENTRY e {\n  p = f32[3] parameter(0)\n}\n"
WRONG = "HloModule b\nENTRY e {\n  p = f23[3] parameter(0)\n}\n"


@pytest.mark.parametrize("data", ["", "a", "a\n// -----\nb\n", "// -----\n\n// ----- c\nb", f"{GOOD}// -----\n{WRONG}"])
def test_the_pieces_are_the_text(data: str) -> None:
    chunks = split_input(data.encode())
    assert b"".join(chunk.data + chunk.separator for chunk in chunks) == data.encode()
    assert [chunk.start for chunk in chunks] == [data.encode().index(chunk.data, chunk.start) for chunk in chunks]
    assert len(chunks) == 1 + data.count("// -----")


def test_errors_move_to_their_place_in_the_file() -> None:
    text = f"{GOOD}// -----\n{WRONG}"
    chunk = split_input(text.encode())[1]
    with pytest.raises(DiagnosticError) as caught:
        parse_bytes(chunk.data, "f")
    (moved,) = relocate(caught.value, Source("f", text), chunk).diagnostics
    assert moved.location is not None
    assert text[moved.location.span.start : moved.location.span.end] == "f23"
    assert moved.location.source.text == text
    assert decode(chunk.data) == WRONG
