"""Side effects as terms: each happens by itself, also in loops."""

from __future__ import annotations

from dialect_utils.verdict.certified import prove
from dialect_utils.verdict.proof import try_prove
from tests.verdict.proof.dialects import parse

RANDOM = """HloModule m
ENTRY e {{
  a = f32[] constant(0)
  b = f32[] constant(1)
  x = f32[4] rng(a, b), distribution=rng_uniform
  y = f32[4] rng(a, b), distribution=rng_uniform
  ROOT r = f32[4] subtract(x, {second})
}}
"""
LOOPS = """HloModule m
more {{ p = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(70)
  ROOT c = pred[] compare(i, n), direction=LT }}
step {{ p = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  s = f32[] get-tuple-element(p), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  a = f32[] constant(0)
  b = f32[] constant(1)
  x = f32[] rng(a, b), distribution=rng_uniform
  t = f32[] add(s, x)
  ROOT q = (s32[], f32[]) tuple(j, t) }}
ENTRY e {{ s = f32[] parameter(0)
  i = s32[] constant(0)
  p = (s32[], f32[]) tuple(i, s)
  v = (s32[], f32[]) while(p), condition=more, body=step
  w = (s32[], f32[]) while(p), condition=more, body=step
  x = f32[] get-tuple-element(v), index=1
  y = f32[] get-tuple-element(w), index=1
  ROOT r = f32[] subtract(x, {second}) }}
"""


def test_two_random_numbers_are_not_one() -> None:
    pair = [parse(RANDOM.format(second=second)) for second in ("y", "x")]
    assert prove([pair[0], pair[0]]).answer == "equal"
    assert try_prove(pair).answer == "unknown"


def test_two_loops_with_effects_are_not_one() -> None:
    pair = [parse(LOOPS.format(second=second)) for second in ("y", "x")]
    assert prove([pair[0], pair[0]]).answer == "equal"
    assert try_prove(pair).answer == "unknown"
