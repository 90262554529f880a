"""Comments become blanks, so that offsets in a text stay valid and words stay apart."""

from __future__ import annotations

import pytest

from dialect_utils.text import without_comments


@pytest.mark.parametrize(
    ("text", "blanked"),
    [
        ("1/*x*/2", "1     2"),
        ("a, /*index=5*/b", "a,            b"),
        ("a /* b\n * c */ d", "a              d"),
        ("a // b\nc", "a     \nc"),
        ("a // b /* c\nd */", "a          \nd */"),
        ("a/b", "a/b"),
        ("no comment", "no comment"),
    ],
)
def test_comments_become_blanks(text: str, blanked: str) -> None:
    assert without_comments(text) == blanked
    assert len(without_comments(text)) == len(text)
