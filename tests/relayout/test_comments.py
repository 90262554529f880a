import pytest

from relayout.comments import strip_comments


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        ("a // b\nc", "a\nc"),
        ("// whole line\nc\n", "c\n"),
        ("  // indented\n  c\n", "  c\n"),
        ('s = "http://x" // y\n', 's = "http://x"\n'),
        ('s = "a\\"//b"\n', 's = "a\\"//b"\n'),
        ("(a, /*index=5*/b) /* // inside */\n", "(a, /*index=5*/b) /* // inside */\n"),
        ("a\n// last", "a\n"),
        ("no comment", "no comment"),
    ],
)
def test_strip_comments(text: str, stripped: str) -> None:
    assert strip_comments(text) == stripped
