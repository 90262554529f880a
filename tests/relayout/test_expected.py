"""Diagnostics that files expect, in both dialects."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialect_utils.text import Diagnostic, Location, Source, Span
from relayout.cli import main
from relayout.comments import expectations, unmet

HLO = """HloModule m

ENTRY e {
  p = f32[3,5] parameter(0)
  // expected-error@+1 {{transpose}}
  ROOT t = f32[3,5] transpose(p), dimensions={1,0}
}
"""
STABLEHLO = """func.func public @main(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  // expected-error@+2 {{failed to infer returned types}} both errors of MLIR
  // expected-error@below {{inferred type(s)}}
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
"""


def run(tmp_path: Path, text: str, *options: str) -> int:
    file = tmp_path / "m.txt"
    file.write_text(text)
    return main(["opt", str(file), "--verify-diagnostics", *options])


@pytest.mark.parametrize("text", [HLO, STABLEHLO], ids=["hlo", "stablehlo"])
def test_a_file_that_gives_what_it_expects_succeeds(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, text) == 0, capsys.readouterr().err
    assert run(tmp_path, text.replace("expected-error", "expected-warning")) == 1
    assert run(tmp_path, text.replace("@+", "@+1")) == 1
    assert run(tmp_path, text.replace("-error@", "-err@")) == 1


def test_a_missing_diagnostic_is_reported_at_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, HLO.replace("transpose}}", "elephants}}")) == 1
    shown = capsys.readouterr().err
    assert "m.txt:5:6: error: the expected error elephants was not produced" in shown
    assert "m.txt:6:" in shown
    assert "unexpected error: " in shown


def test_every_part_of_a_split_file_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = "HloModule n\n\nENTRY e {\n  ROOT p = f32[3] parameter(0)\n}\n"
    assert run(tmp_path, f"{HLO}// -----\n{good}// -----\n{HLO}", "--split-input-file") == 0
    assert run(tmp_path, f"{HLO}// -----\n{good}// expected-error {{{{x}}}}\n", "--split-input-file") == 1
    assert "m.txt:14:4: error" in capsys.readouterr().err


def test_notes_of_passes_may_be_expected(tmp_path: Path) -> None:
    text = "HloModule m\n\nENTRY e {\n  p = f32[3] parameter(0)\n  ROOT b = f32[3] bitcast(p)NOTE\n}\n"
    options = ("-p", "annotate-layouts{target=tpu-v5e}")
    assert run(tmp_path, text.replace("NOTE", "  // expected-note {{left alone}}"), *options) == 0
    assert run(tmp_path, text.replace("NOTE", ""), *options) == 0
    assert run(tmp_path, text.replace("NOTE", "  // expected-note {{gone}}"), *options) == 1


SOURCE = """a
// expected-error@-1 {{one}}
b // expected-error 2 {{two}}
// expected-error@above {{two}}
// expected-error-re@below {{t{{h|H}}ree}}
c
// expected-warning@1 {{four}}
// expected-error@unknown {{five}}
"""


def diagnostic(message: str, line: int | None, severity: str = "error") -> Diagnostic:
    source = Source("f", SOURCE)
    start = sum(len(each) + 1 for each in SOURCE.split("\n")[: (line or 1) - 1])
    location = None if line is None else Location(source, Span(start, start + 1))
    return Diagnostic(message, location, severity)  # type: ignore[arg-type]  # one of three


COME = [
    diagnostic("number one", 1),
    *[diagnostic("two", 3)] * 3,
    diagnostic("tHree", 6),
    diagnostic("four", 1, "warning"),
    diagnostic("five", None),
]


def test_all_forms_of_lines_are_read() -> None:
    assert unmet(expectations(Source("f", SOURCE)), COME) == []


@pytest.mark.parametrize("index", range(len(COME)))
def test_each_missing_diagnostic_is_reported(index: int) -> None:
    (missing,) = unmet(expectations(Source("f", SOURCE)), COME[:index] + COME[index + 1 :])
    assert missing.message.endswith("was not produced")


def test_an_additional_diagnostic_is_unexpected() -> None:
    (more,) = unmet(expectations(Source("f", SOURCE)), [*COME, diagnostic("two", 3)])
    assert more.message == "unexpected error: two"
    assert unmet(expectations(Source("f", SOURCE)), [*COME, diagnostic("said", 3, "note")]) == []
