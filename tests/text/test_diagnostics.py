"""Diagnostics as people see them: location, excerpt, caret, notes, hints, and corrections of misspelt names."""

from __future__ import annotations

import pytest

from dialect_utils.text import Diagnostic, DiagnosticError, Location, Source, Span, error_at, nearest
from dialect_utils.text.diagnostics import elided, kind_of, printable, render
from tests.profiling import least_seconds


def rendered(text: str, start: int, end: int) -> list[str]:
    return render(Diagnostic("wrong", Location(Source("f", text), Span(start, end)))).split("\n")


@pytest.mark.parametrize(
    ("text", "start", "end", "lines"),
    [
        ("ab\ncde\n", 4, 6, ["f:2:2: error: wrong", "  cde", "   ^~"]),
        ("ab\ncde\n", 4, 4, ["f:2:2: error: wrong", "  cde", "   ^"]),
        # A span that continues in the next line is marked up to the end of this one.
        ("ab\ncde\n", 0, 6, ["f:1:1: error: wrong", "  ab", "  ^~"]),
        ("\tx\r\n", 1, 2, ["f:1:2: error: wrong", "  \tx", "  \t^"]),
        ("ab", 2, 2, ["f:1:3: error: wrong", "  ab", "    ^"]),
    ],
)
def test_the_caret_is_under_the_span(text: str, start: int, end: int, lines: list[str]) -> None:
    assert rendered(text, start, end) == lines


def test_long_lines_are_cut_around_the_caret() -> None:
    text = "a" * 1000 + "WRONG" + "b" * 1000
    place, line, caret = rendered(text, 1000, 1005)
    assert place == "f:1:1001: error: wrong"
    assert len(line) <= 162
    assert line[caret.index("^") : caret.rindex("~") + 1] == "WRONG"


def test_notes_and_hints_follow() -> None:
    note = Diagnostic("here", severity="note")
    text = render(Diagnostic("wrong", severity="warning", hint="write x", notes=(note,)))
    assert text == "warning: wrong\nnote: here\nhint: write x"


def test_control_characters_are_escaped() -> None:
    assert printable("a\x1b[31mb\u202ec\td\n") == "a\\x1b[31mb\\u202ec\td\n"
    assert rendered("a\x1bb", 2, 3) == ["f:1:3: error: wrong", "  a\\x1bb", "   " + " " * 4 + "^"]


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("expnd", ("expand", "fold"), "expand"),
        ("--pases", ("--passes", "--json"), "--passes"),
        ("zzz", ("expand", "fold"), None),
        # Two names are equally close, so neither is proposed.
        ("tpu-v", ("tpu-v4", "tpu-v6"), None),
    ],
)
def test_the_nearest_name(name: str, known: tuple[str, ...], meant: str | None) -> None:
    assert nearest(name, known) == meant


def test_a_long_name_is_compared_with_no_short_one() -> None:
    assert least_seconds(lambda: nearest("x" * 1_000_000, ["exponential", "x" * 400_000]), 1) < 1


def test_lines_and_columns_are_those_of_the_whole_file() -> None:
    source = Source("log", "ab\ncd", first_line=10)
    assert source.line_and_column(4) == (11, 2)
    assert source.offset(11, 2) == 4
    assert source.offset(99, 99) == len(source.text)
    assert source.line(11) == "cd"


def test_all_diagnostics_are_rendered() -> None:
    error = DiagnosticError([Diagnostic("one"), Diagnostic("two")])
    assert str(error) == "error: one\nerror: two"
    assert error_at(Source("f", "x"), Span(0, 1), "m", "h").diagnostics[0].hint == "h"


def test_long_texts_are_shown_by_their_ends() -> None:
    text = "\n".join(map(str, range(100)))
    assert elided(text, 4) == "0\n1\n... 96 more lines ...\n98\n99"
    assert elided("a\nb\n", 2) == "a\nb"


def test_a_long_message_is_shown_by_its_ends() -> None:
    text = render(Diagnostic("a" * 2000 + "b" * 9000 + "c" * 2000))
    assert text == f"error: {'a' * 2000} ... 9000 more characters ... {'c' * 2000}"
    assert render(Diagnostic("a" * 4000)) == f"error: {'a' * 4000}"


def test_offsets_are_clamped_to_the_text_of_the_source() -> None:
    source = Source("f", "ab\ncde\n", first_line=5)
    assert [source.offset(line, 2) for line in (1, 5, 6, 7, 9)] == [1, 1, 4, 7, 7]
    assert source.offset(6, 0) == 3
    assert (source.line_and_column(4), source.line(6)) == ((6, 2), "cde")


def test_a_text_of_more_than_sixty_lines_is_elided() -> None:
    lines = [str(number) for number in range(61)]
    assert elided("\n".join(lines[:60])) == "\n".join(lines[:60])
    assert elided("\n".join(lines)).split("\n") == [*lines[:30], "... 1 more lines ...", *lines[31:]]


def test_a_value_is_named_by_its_kind() -> None:
    assert [kind_of(each) for each in (None, 3, "a", Span(0, 1))] == [
        "None",
        "an int",
        "a str",
        "a dialect_utils.text.diagnostics.Span",
    ]
