"""`explain`, `index` and `bitcast` on lines of standard input: a wrong line is reported, the others are processed."""

from __future__ import annotations

import io
import json
import sys

import pytest

from relayout.cli import main


@pytest.fixture
def typed_lines(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    lines: bytes = request.param
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(lines)))


@pytest.mark.parametrize("typed_lines", [b" \n"], indirect=True)
@pytest.mark.usefixtures("typed_lines")
def test_standard_input_without_a_line_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "-"]) == 1
    assert capsys.readouterr().err == "error: <stdin>: holds no shape\n"


INDICES = b"f32[3,5] 1,1\n\nf32[3,5]{1,1} 0,0\n  f32[3,5] 9,9\nf32[] \nf32[]\t()\r\nf32[3, 5]{1,0:T(2,2)} (2, 3)"


@pytest.mark.parametrize("typed_lines", [INDICES], indirect=True)
@pytest.mark.usefixtures("typed_lines")
def test_a_bad_line_is_named_and_the_others_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--index", "-"]) == 1
    captured = capsys.readouterr()
    assert captured.out.split() == ["6", "0", "17"]
    assert "<stdin>:3:12: error: minor_to_major {1,1} repeats dimension 1\n  f32[3,5]{1,1} 0,0\n" in captured.err
    assert "<stdin>:4:3: error: index [9, 9] is outside dimension 0" in captured.err
    assert "<stdin>:5:1: error: expected SHAPE INDEX" in captured.err


@pytest.mark.parametrize("typed_lines", [b"f32[2] -> F32[2]\nf32[2] -> f32[2\nf32[2]\n"], indirect=True)
@pytest.mark.usefixtures("typed_lines")
def test_the_destination_of_a_bitcast_is_pointed_at(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--bitcast", "-", "--json"]) == 1
    captured = capsys.readouterr()
    assert [json.loads(line).get("verdict") for line in captured.out.splitlines()] == ["relabel", None, None]
    assert "<stdin>:1:11: note: read F32" in captured.err
    assert "<stdin>:2:16: error" in captured.err
    assert "<stdin>:3:1: error: expected SRC -> DST" in captured.err


@pytest.mark.parametrize("typed_lines", [b"f32[2]\nf32[2\n(f32[2], token[])\n"], indirect=True)
@pytest.mark.usefixtures("typed_lines")
def test_every_line_that_is_explained_has_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "-", "--json"]) == 1
    first, second, third = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["byte_size"] == 8
    assert second["input"] == "f32[2"
    assert len(third["elements"]) == 2


def test_a_shape_that_cannot_be_read_has_an_object_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--index", "f32[2", "0", "1", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["input"] == "f32[2"


def test_one_argument_too_many_is_no_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--bitcast", "f32[2]", "f32[2]", "f32[3]"]) == 2
    assert "unexpected argument f32[3]" in capsys.readouterr().err


def test_linear_indices_lead_to_elements_or_to_padding(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--index", "f32[3,5]{1,0:T(2,2)}", "--linear", "17", "9"]) == 0
    assert capsys.readouterr().out == "2,3\npadding\n"


def test_a_counterexample_says_where_from_and_where_to(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--bitcast", "f32[4,4]{1,0:T(2,2)}", "f32[16]{0}", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "reorder"
    assert len(found["counterexample"]["from"]) == 2
    assert len(found["counterexample"]["to"]) == 1
