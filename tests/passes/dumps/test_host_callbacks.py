"""Calls of functions on the host: printing ones are dropped; others need a given function, else they are errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dialect_utils.hlo import parse_module
from dialect_utils.text import DiagnosticError
from passes.dumps.host_callbacks import Callbacks, host_callbacks, replace_host_callbacks
from passes.dumps.make_portable import drop_entry_tokens, make_portable
from passes.framework.base import Report
from passes.framework.pipeline import verify
from relayout.cli import main

ATTRIBUTES = 'is_host_transfer=true, metadata={op_type="%s"}'


def transfers(number: int, kind: str, token: str, operands: list[str], results: int) -> str:
    """Returns the lines of one call on f32[4], whose last token is t<number>."""
    lines, tail = [], ATTRIBUTES % kind
    for i, operand in enumerate(operands):
        lines += [
            f"  s{number}{i} = (f32[4], u32[], token[]) send({operand}, {token}), channel_id={i + 1}, {tail}",
            f"  sd{number}{i} = token[] send-done(s{number}{i}), channel_id={i + 1}, {tail}",
        ]
        token = f"sd{number}{i}"
    for i in range(results):
        lines += [
            f"  r{number}{i} = (f32[4], u32[], token[]) recv({token}), channel_id={i + 7}, {tail}",
            f"  rd{number}{i} = (f32[4], token[]) recv-done(r{number}{i}), channel_id={i + 7}, {tail}",
            f"  t{number}{i} = token[] get-tuple-element(rd{number}{i}), index=1",
        ]
        token = f"t{number}{i}"
    return "\n".join(lines) + "\n"


def program(body: str, root: str) -> str:
    start = "  p = f32[4] parameter(0)\n  q = f32[4] parameter(1)\n  start = token[] after-all()\n"
    return f"HloModule m\nENTRY e {{\n{start}{body}  ROOT r = {root}\n}}\n"


PRINTED = program(transfers(1, "debug_print", "start", ["p", "q"], 1), "f32[4] add(p, q)")
VALUE = "  v = f32[4] get-tuple-element(rd20), index=0\n  w = f32[4] get-tuple-element(rd21), index=0\n"
CALLED = program(
    transfers(1, "debug_print", "start", ["p"], 1) + transfers(2, "pure_callback", "t10", ["p", "q"], 2) + VALUE,
    "f32[4] subtract(v, w)",
)


def test_transfers_that_a_token_joins_are_one_call() -> None:
    calls = host_callbacks(parse_module(CALLED))
    assert [(len(call.sends), len(call.receives), call.is_used) for call in calls] == [(1, 1, False), (2, 2, True)]
    assert calls[1].names == ("s20", "s21", "r20", "r21", "pure_callback")


def test_printing_callbacks_are_dropped_with_a_note() -> None:
    module, report = parse_module(PRINTED), Report()
    replace_host_callbacks(module, report)
    verify(module)
    assert [item.opcode for item in module.entry.instructions] == ["parameter", "parameter", "after-all", "add"]
    assert [note.message.split(" (")[0] for note in report.diagnostics] == ["debug_print s10"]


def test_computing_callbacks_are_rejected_by_name() -> None:
    with pytest.raises(DiagnosticError, match=r"pure_callback s20 .* is a function of the host's Python") as error:
        replace_host_callbacks(parse_module(CALLED), Report())
    assert len(error.value.diagnostics) == 1
    assert "--callback pure_callback=module:function" in str(error.value)


@pytest.mark.parametrize("name", ["pure_callback", "s20", "r21"])
def test_a_callback_is_what_the_user_says(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "callback_of_a_user.py").write_text("def swapped(a, b):\n    return b * 2, a\n")
    module = parse_module(CALLED)
    replace_host_callbacks(module, Report(), (f"{name}=callback_of_a_user:swapped",))
    verify(module)
    root = module.entry.root
    assert [operand.opcode for operand in root.operands] == ["multiply", "parameter"]
    assert root.operands[1].name == "p"
    assert "send" not in module.text()


def test_options_of_another_form_are_refused() -> None:
    with pytest.raises(
        DiagnosticError, match="callback double is not of the form NAME=module:function or NAME=undefined"
    ):
        replace_host_callbacks(parse_module(PRINTED), Report(), ("double",))


ORDERED = """HloModule m, entry_computation_layout={(token[], f32[4]{0}, token[], s32[])->(token[], f32[4]{0}, s32[])}
ENTRY e {
  n = s32[] parameter(3)
  t = token[] parameter(0)
  p = f32[4] parameter(1)
  u = token[] parameter(2)
  both = (token[], f32[4]) tuple(t, p)
  back = token[] get-tuple-element(both), index=0
  ROOT r = (token[], f32[4], s32[]) tuple(back, p, n)
}
"""


def test_the_tokens_of_ordered_calls_are_no_inputs_and_no_results() -> None:
    module = parse_module(ORDERED)
    drop_entry_tokens(module)
    assert [(p.name, p.contents) for p in module.entry.parameters] == [("p", "0"), ("n", "1")]
    again = parse_module(module.text())
    verify(again)
    assert "entry_computation_layout={(f32[4]{0}, s32[])->(f32[4]{0}, s32[])}" in module.text()
    assert [str(operand.shape) for operand in again.entry.root.operands] == ["f32[4]", "s32[]"]
    drop_entry_tokens(again)
    assert again.text() == module.text()
    with pytest.raises(ValueError, match="still used"):
        again.entry.drop_parameter(again.entry.parameters[0])


BRANCHES = """HloModule m, is_scheduled=true

here {
  x = f32[4] parameter(0)
  start = token[] after-all()
%s  v = f32[4] get-tuple-element(rd10), index=0
  ROOT r = f32[4] add(v, x)
}

there {
  y = f32[4] parameter(0)
  ROOT s = f32[4] negate(y)
}

ENTRY e {
  c = %s parameter(0)
  p = f32[4] parameter(1)
%s}
"""


def branching(kind: str, entry: str, condition: str = "pred[]") -> str:
    call = transfers(1, kind, "start", ["x"], 1)
    return BRANCHES % (call, condition, entry)


IN_BRANCH = branching(
    "pure_callback",
    "  ROOT r = f32[4] conditional(c, p, p), true_computation=here, false_computation=there\n",
)
IN_NUMBERED_BRANCH = branching(
    "pure_callback",
    "  n = s32[] convert(c)\n  ROOT r = f32[4] conditional(n, p, p), branch_computations={there, here}\n",
)
IN_CALL_IN_BRANCH = branching(
    "pure_callback",
    "  r = f32[4] conditional(c, p, p), true_computation=outer, false_computation=there\n"
    "  ROOT t = (f32[4], f32[4]) tuple(p, r)\n",
).replace("there {", "outer {\n  z = f32[4] parameter(0)\n  ROOT u = f32[4] call(z), to_apply=here\n}\n\nthere {")
LOOP = """
more {
  a = (pred[], f32[4]) parameter(0)
  ROOT b = pred[] get-tuple-element(a), index=0
}

once {
  d = (pred[], f32[4]) parameter(0)
  g = f32[4] get-tuple-element(d), index=1
  h = f32[4] call(g), to_apply=here
  never = pred[] constant(false)
  ROOT i = (pred[], f32[4]) tuple(never, h)
}

ENTRY"""
IN_LOOP = branching(
    "pure_callback",
    "  k = (pred[], f32[4]) tuple(c, p)\n  l = (pred[], f32[4]) while(k), condition=more, body=once\n"
    "  ROOT r = f32[4] get-tuple-element(l), index=1\n",
).replace("\nENTRY", LOOP)


@pytest.mark.parametrize("text", [IN_BRANCH, IN_NUMBERED_BRANCH, IN_CALL_IN_BRANCH, IN_LOOP])
def test_a_call_that_may_not_run_is_an_error_where_it_does(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.hlo").write_text(text)
    for runs in (False, True):
        np.savez(tmp_path / "in.npz", in0=np.array(runs), in1=np.arange(4, dtype=np.float32))
        code = main(["run", str(tmp_path / "m.hlo"), "--inputs", str(tmp_path / "in.npz")])
        out, err = capsys.readouterr()
        assert "if it runs, that is an error" in err
        assert (code, "s10 ran, and what it returns is unknown" in err) == ((1, True) if runs else (0, False))
        assert ("3." in out) == (not runs)
        assert "out2" not in out


def test_without_watching_a_call_in_a_branch_is_refused() -> None:
    with pytest.raises(DiagnosticError, match="is a function of the host's Python"):
        make_portable(parse_module(IN_BRANCH))


def test_undefined_values_are_nan_and_zeros_with_a_note() -> None:
    module, report = parse_module(CALLED), Report()
    replace_host_callbacks(module, report, ("*=undefined",))
    verify(module)
    assert module.text().count("constant(nan)") == 2
    assert "what it returns is undefined" in report.diagnostics[1].message


def test_a_name_wins_over_its_kind_and_a_kind_over_all() -> None:
    [_, call] = host_callbacks(parse_module(CALLED))
    options = ["*=a:all", "pure_callback=a:kind", "r21=a:name"]
    found = [Callbacks.parse(options[: count + 1]).function_of(call) for count in range(3)]
    assert found == ["a:all", "a:kind", "a:name"]


def test_the_kind_is_the_last_part_of_the_name_of_the_op() -> None:
    text = CALLED.replace('op_type="pure_callback"', 'op_name="jit(f)/cond/branch_1_fun/pure_callback"')
    [_, call] = host_callbacks(parse_module(text))
    assert call.names[-1] == "pure_callback"


def test_a_name_without_a_call_is_an_error_that_lists_the_calls() -> None:
    with pytest.raises(DiagnosticError, match="--callback pure: the module has no such call") as error:
        replace_host_callbacks(parse_module(CALLED), Report(), ("pure=a:b", "debug_print=a:b"))
    assert "s20, s21, r20, r21, pure_callback: (p: f32[4], q: f32[4]) -> (f32[4], f32[4])" in str(error.value)
    with pytest.raises(DiagnosticError, match="it calls no function on the host"):
        replace_host_callbacks(
            parse_module("HloModule m\nENTRY e {\n  ROOT p = f32[4] parameter(0)\n}\n"), Report(), ("a=b:c",)
        )


def test_a_call_in_the_condition_of_a_loop_is_refused() -> None:
    text = IN_LOOP.replace(
        "  ROOT b = pred[] get-tuple-element(a), index=0",
        "  w = f32[4] get-tuple-element(a), index=1\n  h2 = f32[4] call(w), to_apply=here\n"
        "  ROOT b = pred[] get-tuple-element(a), index=0",
    )
    with pytest.raises(DiagnosticError, match="no value can tell that it ran"):
        make_portable.with_options(watch_callbacks=True)(parse_module(text))


def test_callbacks_of_stablehlo_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.mlir").write_text(
        "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n  return %a : tensor<2xf32>\n}\n"
    )
    assert main(["run", str(tmp_path / "m.mlir"), "--callback", "a=b:c"]) == 2
    assert "--callback is for HLO, and this module is StableHLO" in capsys.readouterr().err
