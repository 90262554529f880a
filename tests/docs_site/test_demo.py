"""The demo is short, and ends with an error where an answer is not the expected one."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs_site import demo
from tests.paths import ROOT

MOST_LINES = 25


def test_the_demo_prints_few_lines() -> None:
    with_planted = [*demo.STEPS, *(demo.Step("", (), "") for _ in (".mlir", ".hlo"))]
    # The first line, the last one, and of each step the question, the command and the shown lines.
    assert 2 + sum(2 + step.lines for step in with_planted) <= MOST_LINES


@pytest.mark.parametrize(
    ("shown", "exit_code", "is_expected"), [("^relayout ", 0, True), ("^absent", 0, False), ("^relayout ", 1, False)]
)
def test_an_unexpected_answer_ends_the_demo(
    shown: str, exit_code: int, is_expected: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    step = demo.Step("Which version?", ("--version",), shown, exit_code=exit_code)
    if is_expected:
        demo.run(step)
        assert capsys.readouterr().out.startswith("# Which version?\n$ relayout --version\nrelayout ")
    else:
        with pytest.raises(SystemExit):
            demo.run(step)


@pytest.mark.parametrize("suffix", [".mlir", ".hlo"])
def test_a_planted_mistake_is_a_module_of_the_same_types(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(demo, "OUTPUT", tmp_path)
    step = demo.planted(suffix)
    assert (step.command[0], step.exit_code) == ("check", 1)
    wrong = (tmp_path / f"attention_wrong{suffix}").read_text("utf-8")
    assert "transpose" in wrong


def test_a_transpose_without_two_equal_sizes_is_not_planted() -> None:
    text = "  t = f32[3,2]{1,0} transpose(x), dimensions={1,0}\n"
    with pytest.raises(ValueError, match="no transpose"):
        demo.swap_two_dimensions(text, ".hlo")
    square = text.replace("[3,2]", "[2,2]")
    assert demo.swap_two_dimensions(square, ".hlo") == (square.replace("{1,0}\n", "{0,1}\n"), 1, "{1,0}", "{0,1}")
