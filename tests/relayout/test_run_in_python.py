"""`relayout.run`: inputs by names, whole arrays for several devices, functions on the host, data of other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import relayout
from dialect_utils.text import DiagnosticError
from tests.execution.test_named import SHARDED

NAMED = """HloModule m

ENTRY e {
  w = f32[2,3] parameter(0), metadata={op_name="params['layers'][1]['w']"}
  m = f32[2] parameter(1), metadata={op_name="state.mu['b']"}
  p = (f32[2], (s32[1])) parameter(2)
  x = f32[3] parameter(3), metadata={op_name="x"}
  a = f32[2] get-tuple-element(p), index=0
  d = f32[2] dot(w, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  s = f32[2] add(a, d)
  ROOT r = f32[2] subtract(s, m)
}
"""


class State(NamedTuple):
    step: int
    mu: dict[str, Any]


W, X = np.array([[1, 2, 3], [4, 5, 6]], np.float32), np.array([1, 0, 0], np.float32)
TREE = {
    "params": {"layers": [None, {"w": W, "b": X}]},
    "state": State(3, {"b": [1.0, 2.0]}),
    "p": (np.array([10, 20], np.float32), (np.array([7], np.int32),)),
    "x": X,
    "unused": "text",
}
FLAT = {"params/layers/1/w": W, "state.mu": {"b": [1, 2]}, "p[0]": [10, 20], "p[1]": [[7]], "x": X}


@pytest.mark.parametrize("tree", [TREE, FLAT], ids=["nested", "flat"])
def test_inputs_are_found_in_a_tree(tree: dict[str, Any]) -> None:
    (result,) = relayout.run(NAMED, named=tree)
    assert result.tolist() == [10.0, 22.0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"params": {"layers": [{"w": W}]}}, r"hold nothing for params\['layers'\]\[1\]\['w'\] f32\[2,3\]\n"),
        ({"x": None, "state": 1}, r"hold nothing for state.mu\['b'\] f32\[2\], x f32\[3\]\n"),
        ({"x": {"a": X}}, r"expected an array or numbers for f32\[3\], found a dict"),
        ({"x": [1, 2]}, "in4 has the dimensions"),
    ],
)
def test_wrong_trees_are_errors(change: dict[str, Any], message: str) -> None:
    with pytest.raises(DiagnosticError, match=message) as error:
        relayout.run(NAMED, named={**TREE, **change})
    hint = error.value.diagnostics[0].hint
    assert "hold nothing" not in message or (
        hint is not None and hint.startswith("the inputs: params['layers'][1]['w'] f32")
    )


def test_inputs_are_given_in_one_way() -> None:
    with pytest.raises(TypeError, match="in their order or by names, not both"):
        relayout.run(NAMED, X, named={"x": X})
    with pytest.raises(TypeError, match="named inputs are a dict, not a list"):
        relayout.run(NAMED, named=[X])  # type: ignore[arg-type]  # the mistake


def test_devices_share_whole_arrays() -> None:
    whole = np.array([1, 2, 30, 40], np.float32)
    for options in ({"named": {"x": whole}, "sharded": True}, {"named": {"x": whole.reshape(2, 2)}}):
        (result,) = relayout.run(SHARDED, **options)
        assert result.tolist() == [[31, 42], [31, 42]]
    assert relayout.run(SHARDED, whole, sharded=True)[0].tolist() == [[31, 42], [31, 42]]
    with pytest.raises(DiagnosticError, match=r"f32\[2,2\] is needed"):
        relayout.run(SHARDED, whole)
    with pytest.raises(DiagnosticError, match="this program runs on one"):
        relayout.run(NAMED, named=TREE, sharded=True)


CALLED = """HloModule m, is_scheduled=true

f {
  q = f32[2] parameter(0)
  t = token[] after-all()
  s = (f32[2], u32[], token[]) send(q, t), channel_id=1, is_host_transfer=true, metadata={op_type="pure_callback"}
  d = token[] send-done(s), channel_id=1, is_host_transfer=true
  v = (f32[2], u32[], token[]) recv(d), channel_id=2, is_host_transfer=true
  e = (f32[2], token[]) recv-done(v), channel_id=2, is_host_transfer=true
  ROOT r = f32[2] get-tuple-element(e), index=0
}

g {
  ROOT q = f32[2] parameter(0)
}

ENTRY e {
  c = pred[] parameter(0)
  p = f32[2] parameter(1)
  ROOT r = f32[2] conditional(c, p, p), true_computation=f, false_computation=g
}
"""


def test_a_call_of_the_host_is_an_error_only_if_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.array([1, 2], np.float32)
    results = relayout.run(CALLED, np.bool_(False), values)
    assert [each.tolist() for each in results] == [[1, 2]]
    with pytest.raises(DiagnosticError, match="pure_callback s ran, and what it returns is unknown"):
        relayout.run(CALLED, np.bool_(True), values)
    (tmp_path / "on_the_host.py").write_text("def tripled(x):\n    return 3 * x\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    (result,) = relayout.run(CALLED, np.bool_(True), values, callbacks={"pure_callback": "on_the_host:tripled"})
    assert result.tolist() == [3, 6]
    with pytest.raises(DiagnosticError, match="--callback other: the module has no such call"):
        relayout.run(CALLED, np.bool_(True), values, callbacks={"other": "undefined"})


def test_custom_calls_are_given_by_files(tmp_path: Path) -> None:
    text = 'ENTRY e { p = f32[2] parameter(0)\n ROOT c = f32[2] custom-call(p), custom_call_target="mine" }'
    (tmp_path / "mine.hlo").write_text("ENTRY e { p = f32[2] parameter(0)\n ROOT n = f32[2] negate(p) }")
    (result,) = relayout.run(text, [1, 2], custom_calls={"mine": tmp_path / "mine.hlo"})
    assert result.tolist() == [-1, -2]
    with pytest.raises(DiagnosticError, match="custom calls and constants are given for HLO"):
        relayout.run("examples/attention.mlir", custom_calls={"mine": "x"})


def test_data_of_other_programs_are_inputs_and_results() -> None:
    lines = [
        "t = token[] after-all()",
        "i = (f32[2], token[]) infeed(t)",
        "x = f32[2] get-tuple-element(i), index=0",
        "o = token[] outfeed(x, t)",
        "ROOT n = f32[2] negate(x)",
    ]
    text = "ENTRY e {\n" + "\n".join(lines) + "\n}"
    assert [each.tolist() for each in relayout.run(text, named={"i": [1, 2]})] == [[-1, -2], [1, 2]]
    assert [each.tolist() for each in relayout.run(text, [1, 2])] == [[-1, -2], [1, 2]]


def test_random_inputs_are_said_unless_a_seed_asks_for_them(caplog: pytest.LogCaptureFixture) -> None:
    (first,) = relayout.run("examples/negate.hlo")
    assert [(each.name, each.levelname) for each in caplog.records] == [("relayout", "WARNING")]
    assert "the inputs are random numbers" in caplog.text
    caplog.clear()
    (second,) = relayout.run("examples/negate.hlo", seed=0)
    relayout.run("examples/negate.hlo", np.ones((3, 5), np.float32))
    assert caplog.records == []
    assert first.tobytes() == second.tobytes()
