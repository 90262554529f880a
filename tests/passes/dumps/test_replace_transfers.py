"""Data from and to other programs as inputs and outputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dialect_utils.hlo import parse_module
from passes.dumps.replace_transfers import replace_transfers
from relayout.cli import main

LOOP = """body {
  s = (s32[], f32[2]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  v = f32[2] get-tuple-element(s), index=1
  bt = token[] after-all()
  bo = token[] outfeed(v, bt), outfeed_shape=f32[2]
  one = s32[] constant(1)
  m = s32[] add(n, one)
  w = f32[2] add(v, v)
  ROOT r = (s32[], f32[2]) tuple(m, w)
}

cond {
  s = (s32[], f32[2]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  k = s32[] constant(2)
  ROOT c = pred[] compare(n, k), direction=LT
}
"""
HLO = f"""HloModule m

{LOOP}
ENTRY e {{
  p = f32[2] parameter(0), metadata={{op_name="x"}}
  t = token[] after-all()
  i = ((f32[2], s32[]), token[]) infeed(t), infeed_config="abc"
  d = (f32[2], s32[]) get-tuple-element(i), index=0
  x = f32[2] get-tuple-element(d), index=0
  k = s32[] get-tuple-element(d), index=1
  u = token[] get-tuple-element(i), index=1
  n = f32[2] negate(x)
  o = token[] outfeed(n, u), outfeed_shape=f32[2]
  rs = (f32[3], u32[], token[]) recv(o), channel_id=1
  rd = (f32[3], token[]) recv-done(rs), channel_id=1
  rv = f32[3] get-tuple-element(rd), index=0
  rt = token[] get-tuple-element(rd), index=1
  ss = (f32[3], u32[], token[]) send(rv, rt), channel_id=2
  sd = token[] send-done(ss), channel_id=2
  st = (s32[], f32[2]) tuple(k, p)
  wh = (s32[], f32[2]) while(st), condition=cond, body=body
  wv = f32[2] get-tuple-element(wh), index=1
  ROOT r = f32[2] add(wv, n)
}}
"""
X, DATA, RECEIVED = np.array([1, 2], np.float32), np.array([3, 5], np.float32), np.array([7, 8, 9], np.float32)


@pytest.mark.parametrize("names", [("x", "i[0]", "i/1", "rs"), ("in0", "in1", "in2", "in3")])
def test_a_program_runs_on_given_data(
    names: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.hlo").write_text(HLO)
    # The loop runs once: its state begins with the number of the infeed.
    values = dict(zip(names, (X, DATA, np.int32(1), RECEIVED), strict=True))
    np.savez(tmp_path / "in.npz", **values)  # type: ignore[arg-type]  # numpy declares its keyword options only
    np.savez(tmp_path / "out.npz", out0=2 * X - DATA, out1=-DATA, out2=RECEIVED)
    command = ["run", str(tmp_path / "m.hlo"), "--inputs", str(tmp_path / "in.npz")]
    assert main([*command, "--expect", str(tmp_path / "out.npz"), "--compare", "bits"]) == 0
    out, err = capsys.readouterr()
    assert [f"out{number}: equal bits" in out for number in range(3)] == [True] * 3
    for note in (
        "outfeed o gives the output out1 f32[2]",
        "send ss gives the output out2 f32[3]",
        "infeed i is an input: i (f32[2], s32[])",
        "recv rs is an input: rs f32[3]",
        "outfeed bo in body is left out",
    ):
        assert f"note: {note}\n" in err


def test_a_call_of_the_host_is_no_transfer_between_programs() -> None:
    lines = [
        "x = f32[4] parameter(0)",
        "t = token[] after-all()",
        "s = (f32[4], u32[], token[]) send(x, t), channel_id=1, is_host_transfer=true",
        "d = token[] send-done(s), channel_id=1, is_host_transfer=true",
        "ROOT n = f32[4] negate(x)",
    ]
    module = parse_module("HloModule m\n\nENTRY e {\n  " + "\n  ".join(lines) + "\n}\n")
    assert not replace_transfers.run(module).modified
    other = parse_module(module.text().replace(", is_host_transfer=true", ""))
    assert replace_transfers.run(other).modified


def test_missing_data_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.hlo").write_text(HLO)
    np.savez(tmp_path / "in.npz", x=X)
    assert main(["run", str(tmp_path / "m.hlo"), "--inputs", str(tmp_path / "in.npz")]) == 1
    assert "holds nothing for i[0] f32[2], i[1] s32[], rs f32[3]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("root", "results"),
    [
        ("ROOT o = token[] outfeed(p, t)", "(f32[2])"),
        ("o = token[] outfeed(p, t)\n  ROOT r = (f32[2], token[], f32[2]) tuple(p, o, p)", "(f32[2], f32[2], f32[2])"),
        ("o = token[] outfeed(p, t)\n  ROOT r = () tuple()", "(f32[2])"),
        ("ROOT i = (f32[3], token[]) infeed(t)", "(f32[3])"),
        ("i = (f32[3], token[]) infeed(t)\n  ROOT r = f32[2] negate(p)", "f32[2]"),
        (
            "q = (s32[], f32[2]) tuple(p, p)\n  o = token[] outfeed(q, t)\n  ROOT r = f32[2] negate(p)",
            "(f32[2], (f32[2], f32[2]))",
        ),
    ],
)
def test_the_entry_returns_data_and_no_tokens(root: str, results: str) -> None:
    root = root.replace("(s32[], f32[2]) tuple(p, p)", "(f32[2], f32[2]) tuple(p, p)")
    module = parse_module(
        f"HloModule m\n\nENTRY e {{\n  p = f32[2] parameter(0)\n  t = token[] after-all()\n  {root}\n}}\n"
    )
    result = replace_transfers.run(module)
    assert str(result.module.entry.results[0].shape.without_layout) == results
    text = result.module.text()
    assert "feed(" not in text
    assert parse_module(text).text() == text


def test_the_layout_of_the_entry_has_the_new_parameters_and_results() -> None:
    header = "entry_computation_layout={(f32[2,2]{0,1})->(f32[2,2]{0,1}, token[])}"
    lines = [
        "p = f32[2,2]{1,0} parameter(0)",
        "t = token[] after-all()",
        "i = (f32[3]{0:T(128)}, token[]) infeed(t)",
        "o = token[] outfeed(p, t)",
        "ROOT r = (f32[2,2]{1,0}, token[]) tuple(p, o)",
    ]
    module = parse_module(f"HloModule m, {header}\n\nENTRY e {{\n  " + "\n  ".join(lines) + "\n}\n")
    text = replace_transfers.run(module).module.text()
    assert "entry_computation_layout={(f32[2,2]{0,1}, f32[3]{0:T(128)})->(f32[2,2]{0,1}, f32[2,2]{1,0})}" in text
