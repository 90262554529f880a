"""The operations that arrays depend on, through tuples, calls, loops and selections."""

from __future__ import annotations

import pytest

from dialect_utils.hlo import parse_module
from dialect_utils.verdict.dataflow import Dependence
from dialect_utils.verdict.judge import compared_arrays

PROGRAM = """HloModule m
half {
  x = f32[] parameter(0)
  ROOT r = f32[] negate(x)
}
less {
  p = (s32[], f32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}
step {
  p = (s32[], f32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  a = f32[] get-tuple-element(p), index=1
  b = f32[] get-tuple-element(p), index=2
  s = f32[] sine(b)
  ROOT r = (s32[], f32[], f32[]) tuple(j, s, b)
}
ENTRY e {
  x = f32[] parameter(0)
  p = pred[] parameter(1)
  zero = s32[] constant(0)
  y = f32[] exponential(x)
  start = (s32[], f32[], f32[]) tuple(zero, x, y)
  w = (s32[], f32[], f32[]) while(start), condition=less, body=step
  k = s32[] get-tuple-element(w), index=0
  l = f32[] get-tuple-element(w), index=1
  m = f32[] get-tuple-element(w), index=2
  h = f32[] call(x), to_apply=half
  q = pred[] not(p)
  t = f32[] select(q, x, h)
  ROOT r = (s32[], f32[], f32[], f32[], f32[], f32[]) tuple(k, l, m, h, t, x)
}
"""


@pytest.mark.parametrize(
    ("opcode", "steered", "others"),
    [
        ("add", {0}, {0}),
        ("sine", {1}, {1}),
        ("exponential", {1, 2}, {1, 2}),
        ("negate", {3, 4}, {3, 4}),
        ("not", {4}, set()),
        ("compare", set(), set()),
        ("cosine", set(), set()),
    ],
)
def test_arrays_depend_on_what_their_elements_are_computed_from(
    opcode: str, steered: set[int], others: set[int]
) -> None:
    arrays = compared_arrays(parse_module(PROGRAM, "m"))
    for is_steered, expected in ((True, steered), (False, others)):
        found = Dependence(arrays, steered=is_steered).on(lambda each: each.opcode == opcode)
        assert found == expected
