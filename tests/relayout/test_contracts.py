"""Disagreements of programs about the arrays that they share, planted in pairs of programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialect_utils.hlo import parse_module
from relayout.cli import main
from relayout.reporting.contracts import arrays_of_entry, find_contracts

PREFILL = """HloModule prefill, input_output_alias={{ {{1}}: (1, {{}}, may-alias) }},
  entry_computation_layout={{({weight}, {cache})->({made}, {cache})}}
ENTRY e {{
  w = {weight} parameter(0), metadata={{op_name="{named}"}}{sharding}
  c = {cache} parameter(1), metadata={{op_name="cache"}}
  m = {made} custom-call(w), custom_call_target="make"
  ROOT r = ({made}, {cache}) tuple(m, c)
}}
"""
DECODE = """HloModule decode, entry_computation_layout={{({cache}, {weight}, {made})->f32[]}}
ENTRY e {{
  c = {cache} parameter(0), metadata={{op_name="cache"}}
  w = {weight} parameter(1), metadata={{op_name="{named}"}}{sharding}
  m = {made} parameter(2)
  ROOT r = f32[] custom-call(c, w, m), custom_call_target="use"
}}
"""
SAME = {
    "weight": "f32[64,128]{1,0:T(8,128)}",
    "cache": "bf16[16,256]{1,0:T(8,128)(2,1)}",
    "made": "f32[8,128]{1,0:T(8,128)}",
    "named": "params['w']",
    "sharding": "",
}


def program(text: str, **changed: str) -> str:
    return text.format(**{**SAME, **changed})


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, []),
        ({"weight": "f32[64,128]{0,1:T(8,128)}"}, [("params['w']", ("layout",), False)]),
        ({"weight": "f32[64,128]{1,0:T(4,128)}"}, [("params['w']", ("layout",), False)]),
        ({"weight": "bf16[64,128]{1,0:T(8,128)(2,1)}"}, [("params['w']", ("element type", "layout"), False)]),
        ({"weight": "f32[64,128]{1,0:T(8,128)S(1)}"}, [("params['w']", ("memory space",), False)]),
        # The cache is an argument of both and a result of the first, which takes the argument's buffer.
        ({"cache": "bf16[16,256]{0,1:T(8,128)(2,1)}"}, [("cache", ("layout",), False)]),
        ({"made": "f32[8,128]{0,1:T(8,128)}"}, [("prefill result 0", ("layout",), True)]),
        ({"made": "bf16[8,128]{1,0:T(8,128)}"}, [("prefill result 0", ("element type",), True)]),
        # Other arrays: other names, other dimensions, or two that have the result's dimensions.
        ({"weight": "f32[64,128]{0,1:T(8,128)}", "named": "other"}, []),
        ({"weight": "f32[128,64]{1,0:T(8,128)}"}, []),
        ({"weight": "f32[8,128]{0,1:T(8,128)}", "made": "f32[8,128]{0,1:T(8,128)}", "named": "other"}, []),
        (
            {"weight": "f32[64,128]{0,1:T(8,128)}", "cache": "bf16[16,256]{0,1:T(8,128)(2,1)}"},
            [("params['w']", ("layout",), False), ("cache", ("layout",), False)],
        ),
    ],
)
def test_planted_disagreements_are_found(
    changed: dict[str, str], found: list[tuple[str, tuple[str, ...], bool]]
) -> None:
    texts = (program(PREFILL), program(DECODE, **changed))
    arrays = [each for text in texts for each in arrays_of_entry(parse_module(text), text.split()[1].strip(","))]
    contracts = find_contracts(arrays)
    assert [(each.name, each.differing, each.is_guess) for each in contracts] == found


def test_shardings_that_are_written_are_compared() -> None:
    one, two = ", sharding={devices=[2,1]<=[2]}", ", sharding={devices=[1,2]<=[2]}"
    for first, second, differing in ((one, two, [("sharding",)]), (one, one, []), (one, "", [])):
        texts = (program(PREFILL, sharding=first), program(DECODE, sharding=second))
        arrays = [each for text in texts for each in arrays_of_entry(parse_module(text), text.split()[1])]
        assert [each.differing for each in find_contracts(arrays)] == differing


def test_the_layout_of_most_programs_moves_least() -> None:
    """Two of three programs have a weight in rows, so the third one copies it in each of its steps."""
    columns = program(DECODE, weight="f32[64,128]{0,1:T(8,128)}")
    texts = {"one": program(PREFILL), "two": program(DECODE), "three": columns}
    [found] = find_contracts(
        [each for name, text in texts.items() for each in arrays_of_entry(parse_module(text), name)]
    )
    assert (found.best, found.bytes_moved) == (SAME["weight"], (64 + 128) * 128 * 4)
    assert [*found.lines()][1:] == [
        "  f32[64,128]{1,0:T(8,128)} (moves least): one argument 0 params['w'], two argument 1 params['w']",
        "  f32[64,128]{0,1:T(8,128)}: three argument 1 params['w']",
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "prefill.hlo").write_text(program(PREFILL))
    (tmp_path / "decode.hlo").write_text(program(DECODE, weight="f32[64,128]{0,1:T(8,128)}"))
    return tmp_path


def test_a_report_of_a_directory_lists_them(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(folder)]) == 0
    text = capsys.readouterr().out
    assert "1 array on which programs disagree\n  params['w']: layout differs, 96 KiB moved in a step of each" in text
    assert main(["report", str(folder), "-o", f"{folder}/pages/"]) == 0
    assert "1 array on which programs disagree" in (folder / "pages/index.html").read_text()
    capsys.readouterr()
    assert main(["report", str(folder), "--json"]) == 0
    *_, last = capsys.readouterr().out.splitlines()
    assert [each["differing"] for each in json.loads(last)["contracts"]] == [["layout"]]


@pytest.mark.parametrize(("condition", "status"), [("contracts > 0", 1), ("contracts > 1", 0), ("peak > 1 GiB", 0)])
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_condition_on_them_is_a_gate(
    condition: str, status: int, options: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(folder), "--fail-if", condition, *options]) == status
    assert ("contracts > 0: contracts are 1" in capsys.readouterr().err) == bool(status)


def test_one_program_has_no_contracts(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(folder / "prefill.hlo"), "--fail-if", "contracts > 0"]) == 2
    assert "contracts are those of several programs" in capsys.readouterr().err
