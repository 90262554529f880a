"""Tokens of shape texts: kinds, spans, comments, and numbers that are too long."""

from __future__ import annotations

import pytest

from dialect_utils.layout.text.scanner import Scanner
from dialect_utils.text import DiagnosticError, Source
from tests.profiling import least_seconds


class Reader(Scanner):
    """The scanner with its protected methods public, as parsers use them."""

    def next(self) -> str:
        return self._next()

    def following(self) -> str:
        return self._following()

    def integer(self) -> int:
        return self._integer("a size")


def reader(text: str) -> Reader:
    return Reader(Source("t", text))


def tokens(text: str) -> list[tuple[str, str]]:
    scanner = Reader(Source("t", text))
    found = []
    while scanner.kind != "end":
        span = scanner.span
        found.append((scanner.kind, scanner.value))
        assert text[span.start : span.end] == scanner.next() == found[-1][1]
        assert scanner.position == span.end
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "f32[3,<=5]",
            [
                ("name", "f32"),
                *[("mark", "[")],
                ("int", "3"),
                ("mark", ","),
                ("mark", "<="),
                ("int", "5"),
                ("mark", "]"),
            ],
        ),
        (" a /* x */ -7 // rest\n b_1", [("name", "a"), ("int", "-7"), ("name", "b_1")]),
        ("< = <=", [("mark", "<"), ("mark", "="), ("mark", "<=")]),
        ("3a", [("int", "3"), ("name", "a")]),
        ("٣é", [("mark", "٣"), ("mark", "é")]),
        ("", []),
        ("/*/**/*/", [("mark", "*"), ("mark", "/")]),
    ],
)
def test_tokens(text: str, expected: list[tuple[str, str]]) -> None:
    assert tokens(text) == expected


def test_the_token_after_the_next_one() -> None:
    scanner = reader("T ( 8 )")
    assert (scanner.value, scanner.following()) == ("T", "(")
    scanner.next()
    assert scanner.following() == "int"


def test_a_comment_without_end_is_an_error() -> None:
    scanner = reader("a /* b")
    with pytest.raises(DiagnosticError, match="this comment does not end"):
        scanner.next()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("9223372036854775808", "a size 9223372036854775808 does not fit 64 bits"),
        ("x", "expected a size, found 'x'"),
        ("", "expected a size, found the end of the text"),
    ],
)
def test_a_missing_number_is_an_error(text: str, message: str) -> None:
    with pytest.raises(DiagnosticError, match=message):
        reader(text).integer()


def test_the_largest_numbers_are_read() -> None:
    assert reader("9223372036854775807").integer() == 2**63 - 1
    assert reader("-9223372036854775807").integer() == 1 - 2**63


def test_a_number_of_a_million_digits_costs_nothing() -> None:
    def read() -> None:
        with pytest.raises(DiagnosticError, match="does not fit"):
            reader("9" * 1_000_000).integer()

    assert least_seconds(read) < 1
