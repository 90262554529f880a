"""Calls of functions on the host: printing ones are dropped; others need a given function, else they are errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialect_utils.hlo import parse_module
from dialect_utils.text import DiagnosticError
from passes.dumps.host_callbacks import host_callbacks, replace_host_callbacks
from passes.dumps.make_portable import drop_entry_tokens
from passes.framework.base import Report
from passes.framework.pipeline import verify

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
    with pytest.raises(DiagnosticError, match="callback double is not of the form NAME=module:function"):
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
