"""Single rules of `convert-async-to-sync` and `inline-fusions`."""

from __future__ import annotations

import numpy as np
import pytest

from dialect_utils.hlo import parse_module
from dialect_utils.text import DiagnosticError
from passes.dumps.convert_async_to_sync import convert_async_to_sync
from passes.dumps.inline_fusions import inline_fusions
from relayout import run

A = "f32[4]{0}"


def synchronous(lines: str, before: str = "") -> list[str]:
    text = f"HloModule m\n{before}\nENTRY e {{\n  p = {A} parameter(0)\n{lines}\n}}\n"
    result = convert_async_to_sync.run(parse_module(text, "m")).module
    return [line.strip() for line in result.text().split("ENTRY e {")[1].splitlines()[2:-1]]


def test_a_start_with_its_done_is_the_plain_op() -> None:
    assert synchronous(f"s = ({A}, {A}, u32[]) copy-start(p)\nROOT d = {A} copy-done(s)") == [f"ROOT d = {A} copy(p)"]


@pytest.mark.parametrize(
    ("start", "result", "first"),
    [
        # The tuple of copy-start has the result first, other tuples the operand.
        (f"({A}, {A}, u32[]) copy-start(p)", "copy", True),
        (f"({A}, f32[8]{{0}}) all-gather-start(p), dimensions={{0}}, replica_groups={{{{0,1}}}}", "all-gather", False),
    ],
)
def test_a_start_that_is_passed_on_becomes_the_tuple_that_it_promises(start: str, result: str, first: bool) -> None:
    shape = start.partition(") ")[0] + ")"
    lines = synchronous(f"s = {start}\nt = ({shape}) tuple(s)\nROOT g = {shape} get-tuple-element(t), index=0")
    made = next(line for line in lines if f" {result}(p)" in line).partition(" = ")[0]
    (tuple_line,) = (line for line in lines if " tuple(" in line and made in line)
    operands = tuple_line.partition(" tuple(")[2].partition(")")[0].split(", ")
    assert operands[:2] == ([made, "p"] if first else ["p", made])


def test_feeds_stay_and_sends_are_refused() -> None:
    feed = f"t = token[] after-all()\nROOT i = ({A}, token[]) infeed(t)"
    assert any("infeed" in line for line in synchronous(feed))
    send = f"t = token[] after-all()\ns = ({A}, u32[], token[]) send(p, t), channel_id=1\n"
    send += "ROOT d = token[] send-done(s), channel_id=1"
    with pytest.raises(DiagnosticError, match="send s talks to another program"):
        synchronous(send)


def test_computations_of_a_sparse_core_are_ordinary_ones() -> None:
    text = f"""HloModule m, is_scheduled=true

gathered {{
  a = {A} parameter(0)
  ROOT b = {A} negate(a)
}}, execution_thread="sparsecore"

doubled {{
  a = {A} parameter(0)
  ROOT b = {A} add(a, a), backend_config={{"sparse_core_config":{{"x":"1"}}}}
}}

ENTRY e {{
  p = {A} parameter(0)
  s = (({A}), {A}, s32[]) async-start(p), async_execution_thread="sparsecore", calls=gathered
  d = {A} async-done(s), async_execution_thread="sparsecore", calls=gathered
  k = {A} call(d), to_apply=doubled, frontend_attributes={{_xla_compute_type="sparse"}}
  cs = (({A}), {A}, u32[]) call-start(k), async_execution_thread="sparsecore", to_apply=gathered
  ROOT cd = {A} call-done(cs)
}}
"""
    values = np.arange(4, dtype=np.float32)
    assert (run(text, values)[0] == 2 * values).all()


def test_the_tuple_that_a_fusion_returns_stays_where_it_is_the_root() -> None:
    text = f"""HloModule m
body {{
  q = {A} parameter(0)
  n = {A} negate(q)
  ROOT t = ({A}, {A}) tuple(n, q)
}}
ENTRY e {{
  p = {A} parameter(0)
  ROOT f = ({A}, {A}) fusion(p), kind=kLoop, calls=body
}}
"""
    result = inline_fusions.run(parse_module(text, "m")).module
    root = result.entry.results[0].operation
    assert root is not None
    assert root.opcode == "tuple"
    assert [operand.name for operand in root.operands] == ["n.1", "p"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            "q = f32[5] broadcast(z), dimensions={}\n"
            f"s = ((f32[5]), {A}, u32[]) async-start(q), calls=body\nROOT d = {A} async-done(s), calls=body",
            r"passes \(f32\[5\]\) to a computation that takes \(f32\[4\]\)",
        ),
        (
            f"q = f32[5] broadcast(z), dimensions={{}}\n"
            f"s = ((f32[5]), {A}, u32[]) call-start(q), to_apply=body\nROOT d = {A} call-done(s)",
            r"passes \(f32\[5\]\) to a computation that takes \(f32\[4\]\)",
        ),
        (f"t = ({A}, f32[5], u32[]) tuple(p, w, u)\nROOT d = {A} all-reduce-done(t)", "gives .*, but waits for"),
    ],
)
def test_parts_that_do_not_fit_are_refused(lines: str, message: str) -> None:
    body = f"body {{\n  b = {A} parameter(0)\n  ROOT n = {A} negate(b)\n}}\n"
    constants = "z = f32[] constant(0)\nw = f32[5] broadcast(z), dimensions={}\nu = u32[] constant(0)\n"
    with pytest.raises(DiagnosticError, match=message):
        synchronous(constants + lines, body)
