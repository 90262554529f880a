"""A module that XLA rejects is `unknown`, never `equal`; one that only this machine cannot execute may be proved."""

from __future__ import annotations

import pytest

from dialect_utils.execution import ExecutionError, RefusedError, Worker
from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Module
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict import Options, compare_modules
from tests.jaxlib import DIES_OF_DIVISION_BY_ZERO


def module(body: str) -> Module:
    text = body if "func.func" in body else f"HloModule m\n\nENTRY e {{\n  {body}\n}}\n"
    return parse_bytes(text.encode(), "m")


# Modules that are invalid, or abort XLA, on any machine.
REFUSED = {
    "p = f32[4294967296,4294967296,4] parameter(0)\n  ROOT q = f32[4294967296,4294967296,4] negate(p)": "2\\^63 bytes",
    f"p = f32[{'1,' * 64}1] parameter(0)\n  ROOT q = f32[{'1,' * 64}1] negate(p)": "65 dimensions",
    """func.func private @g(tensor<f32>) -> tensor<f32>
    func.func @main(%p: tensor<f32>) -> tensor<f32> {
      %0 = call @g(%p) : (tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    }""": "which has no body",
    """func.func @main(%p: tensor<f32>) -> tensor<f32> {
      stablehlo.custom_call @check.expect_serialized_eq(%p) {probe_id = "x"} : (tensor<f32>) -> ()
      return %p : tensor<f32>
    }""": "check.expect_serialized_eq must not run here",
}
# Valid modules that this machine, its memory or its engines cannot execute.
NOT_EXECUTED = {
    "p = f32[] parameter(0)\n  b = f32[1000000000000] broadcast(p), dimensions={}\n"
    "  ROOT s = f32[4] slice(b), slice={[0:4]}": "not executed: b takes 4 TB",
    "t = token[] after-all()\n  i = (f32[4], token[]) infeed(t)\n"
    "  ROOT r = f32[4] get-tuple-element(i), index=0": "not executed: infeed waits for another program",
    "p = f32[4,3]{1,0} parameter(0)\n  ROOT q = f32[12]{0} bitcast(p)": "not executed: a bitcast reads bytes",
}


@pytest.mark.parametrize("body", REFUSED, ids=REFUSED.values())
def test_nothing_is_proved_of_what_every_engine_refuses(worker: Worker, body: str) -> None:
    with pytest.raises(RefusedError, match=REFUSED[body]):
        compare_modules(module(body), module(body), worker=worker)


@pytest.mark.parametrize("body", list(REFUSED)[:2], ids=list(REFUSED.values())[:2])
def test_shapes_that_no_array_can_have_are_refused_without_engines(body: str) -> None:
    with pytest.raises(RefusedError, match=REFUSED[body]):
        compare_modules(module(body), module(body), Options(engines=("proof",)))


@pytest.mark.parametrize("body", NOT_EXECUTED, ids=NOT_EXECUTED.values())
def test_a_proof_says_that_nothing_was_executed(worker: Worker, body: str) -> None:
    verdict = compare_modules(module(body), module(body), worker=worker)
    assert (verdict.verdict, verdict.methods) == ("equal", ("proof",))
    assert verdict.reason.startswith(NOT_EXECUTED[body])
    with pytest.raises(DiagnosticError):
        compare_modules(module(body), module(body), Options(engines=("xla",)), worker)


@pytest.mark.skipif(not DIES_OF_DIVISION_BY_ZERO, reason="this jaxlib divides integers by 0 without ending")
def test_nothing_is_proved_of_what_ends_xla() -> None:
    divided = module("a = s32[] constant(1)\n  z = s32[] constant(0)\n  ROOT d = s32[] divide(a, z)")
    with Worker() as own, pytest.raises(ExecutionError, match="an integer was divided by 0") as caught:
        compare_modules(divided, divided, worker=own)
    assert caught.value.is_refusal


def test_what_waits_is_different_where_it_waits_for_something_else(worker: Worker) -> None:
    body = next(body for body in NOT_EXECUTED if "infeed" in body)
    once = module(body)
    twice = module(
        "t = token[] after-all()\n  i = (f32[4], token[]) infeed(t)\n  u = token[] get-tuple-element(i), index=1\n"
        "  j = (f32[4], token[]) infeed(u)\n  ROOT r = f32[4] get-tuple-element(i), index=0"
    )
    assert not _is_equal(once, twice, worker)


def _is_equal(a: Module, b: Module, worker: Worker) -> bool:
    try:
        return compare_modules(a, b, worker=worker).found_no_difference
    except DiagnosticError:
        return False
