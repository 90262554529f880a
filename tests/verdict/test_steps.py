"""Outputs that rounding decides: whole numbers of floats, in programs that are equal over the real numbers."""

from __future__ import annotations

import pytest

from dialect_utils.execution import Worker
from dialect_utils.hlo import parse_module
from dialect_utils.verdict import Options, compare_modules

# 41 times the reciprocal of 41 in f32 is below 1.
COUNTED = """HloModule m
ENTRY e {
  x = f32[64] parameter(0)
  c = f32[] constant(CONSTANT)
  cs = f32[64] broadcast(c), dimensions={}
  q = f32[64] OPCODE(x, cs)
  below = f32[64] floor(q)
  ROOT y = s32[64] convert(below)
}
"""
DIVIDED = COUNTED.replace("OPCODE", "divide").replace("CONSTANT", "41")
RECIPROCAL = COUNTED.replace("OPCODE", "multiply").replace("CONSTANT", "0.0243902430")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (RECIPROCAL, "unknown"),
        (RECIPROCAL.replace("0.0243902430", "0.02440"), "different"),
        (RECIPROCAL.replace("floor", "ceil"), "different"),
    ],
)
def test_rounding_decides_whole_numbers(text: str, answer: str, worker: Worker) -> None:
    found = compare_modules(parse_module(DIVIDED), parse_module(text), Options(power=0), worker)
    assert found.verdict == answer
    assert ("rounding may decide" in found.reason) == (answer == "unknown")


@pytest.mark.parametrize("constant", [0.1, 1.7, 1.14960444, 3.0, 1e-5, 12345.678])
def test_a_division_by_a_constant_is_close_to_a_multiplication(constant: float, worker: Worker) -> None:
    text = """HloModule m
ENTRY e {
  x = f32[8,128] parameter(0)
  c = f32[] constant(CONSTANT)
  b = f32[8,128] broadcast(c), dimensions={}
  ROOT y = f32[8,128] OPCODE(x, b)
}"""
    pair = [("divide", constant), ("multiply", 1 / constant)]
    first, last = (parse_module(text.replace("OPCODE", each).replace("CONSTANT", f"{c:.9g}")) for each, c in pair)
    assert compare_modules(first, last, Options(power=0), worker).verdict == "close"
