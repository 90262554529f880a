"""Faults that data may miss, and correct forms that look different: each case once found a weakness of the check."""

from __future__ import annotations

import pytest

from dialect_utils.execution import Worker
from dialect_utils.io.files import parse_bytes
from dialect_utils.verdict import Options, compare_modules

HEAD = """HloModule m
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] maximum(a, b) }
condition { p = (f32[], f32[]) parameter(0)
  v = f32[] get-tuple-element(p), index=0
  l = f32[] constant(0.001)
  ROOT c = pred[] compare(v, l), direction=GT }
body { p = (f32[], f32[]) parameter(0)
  v = f32[] get-tuple-element(p), index=0
  h = f32[] constant(0.5)
  w = f32[] multiply(v, h)
  ROOT t = (f32[], f32[]) tuple(w, v) }
more { p = (s32[], f32[], f32[40]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(40)
  ROOT c = pred[] compare(i, n), direction=LT }
step { p = (s32[], f32[], f32[40]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  s = f32[] get-tuple-element(p), index=1
  y = f32[40] get-tuple-element(p), index=2
  d = f32[1] dynamic-slice(y, i), dynamic_slice_sizes={1}
  e = f32[] reshape(d)
  t = f32[] add(s, e)
  o = s32[] constant(1)
  j = s32[] add(i, o)
  ROOT q = (s32[], f32[], f32[40]) tuple(j, t, y) }
ENTRY e {
  z = f32[] constant(0)
  k = s32[] constant(0)
  i = f32[] constant(-inf)
"""
VECTOR = "x = f32[40] parameter(0)\n"
GREATEST = "ROOT m = f32[] reduce(x, i), dimensions={0}, to_apply=max"
HALVES = "x = f32[] parameter(0)\n p = (f32[], f32[]) tuple(x, z)\n"
HALVED = "w = (f32[], f32[]) while(p), condition=condition, body=body\n ROOT r = f32[] get-tuple-element(w), index=0"
ABSOLUTE = "x = s32[40] parameter(0)\n a = s32[40] abs(x)\n"
SQUARES = "x = f32[6,8] parameter(0)\n n = f32[] constant(8)\n nb = f32[6] broadcast(n), dimensions={}\n"
MEAN = " s = f32[6] reduce(x, z), dimensions={1}, to_apply=add\n u = f32[6] divide(s, nb)\n"
OF_DEVIATIONS = (
    " ub = f32[6,8] broadcast(u), dimensions={0}\n d = f32[6,8] subtract(x, ub)\n q = f32[6,8] multiply(d, d)\n"
    " t = f32[6] reduce(q, z), dimensions={1}, to_apply=add\n ROOT v = f32[6] divide(t, nb)"
)
# Three times the rounding error: a variance of inputs one unit in the last place off.
OF_THREE_TIMES_AS_MUCH = (
    " f = f32[] constant(3)\n fb = f32[6,8] broadcast(f), dimensions={}\n y = f32[6,8] multiply(x, fb)\n"
    " s = f32[6] reduce(y, z), dimensions={1}, to_apply=add\n u = f32[6] divide(s, nb)\n"
    + OF_DEVIATIONS.replace("subtract(x,", "subtract(y,").replace("ROOT ", "")
    + "\n g = f32[] constant(9)\n gb = f32[6] broadcast(g), dimensions={}\n ROOT r = f32[6] divide(v, gb)"
)
OF_SQUARES = MEAN + (
    " q = f32[6,8] multiply(x, x)\n t = f32[6] reduce(q, z), dimensions={1}, to_apply=add\n w = f32[6] divide(t, nb)\n"
    " uu = f32[6] multiply(u, u)\n ROOT v = f32[6] subtract(w, uu)"
)
FOLDED = "x = f32[7,7] parameter(0)\n y = f32[7,7] parameter(1)\n f = f32[] constant(1.7)\n"
FOLDED += "fb = f32[7,7] broadcast(f), dimensions={}\n"
PRODUCT = "f32[7,7] dot(x, %s), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
LOOP = (
    "t = (s32[], f32[], f32[40]) tuple(k, z, x)\n w = (s32[], f32[], f32[40]) while(t), condition=more, body=step\n"
    " ROOT r = f32[] get-tuple-element(w), index=1"
)

DIFFERENT = {
    "the last of many is left out": (
        VECTOR + GREATEST,
        VECTOR + "y = f32[39] slice(x), slice={[0:39]}\n" + GREATEST.replace("(x,", "(y,"),
    ),
    "the smallest integer": (
        ABSOLUTE + "ROOT b = s32[40] copy(a)",
        ABSOLUTE
        + "o = s32[] constant(2147483647)\n ob = s32[40] broadcast(o), dimensions={}\n zb = s32[40] broadcast(k),"
        " dimensions={}\n p = pred[40] compare(a, zb), direction=LT\n ROOT b = s32[40] select(p, ob, a)",
    ),
    "a loop to a threshold": (HALVES + HALVED, HALVES + HALVED.replace("=condition", "=others")),
    "a variance of large numbers": (SQUARES + MEAN + OF_DEVIATIONS, SQUARES + OF_SQUARES),
    "a loop that begins later": (VECTOR + LOOP, VECTOR + "l = s32[] constant(1)\n " + LOOP.replace("(k,", "(l,")),
}
SAME = {
    "a variance of three times as much": (SQUARES + MEAN + OF_DEVIATIONS, SQUARES + OF_THREE_TIMES_AS_MUCH),
    "a factor folded into the weights": (
        FOLDED + f"d = {PRODUCT % 'y'} ROOT r = f32[7,7] multiply(d, fb)",
        FOLDED + f"w = f32[7,7] multiply(y, fb)\n ROOT r = {PRODUCT % 'w'}",
    ),
    "a sum for a loop": (VECTOR + LOOP, VECTOR + "ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add"),
}


def found(worker: Worker, bodies: tuple[str, str]) -> str:
    start, _, rest = HEAD.partition("condition {")
    inner = "condition {" + rest.partition("body {")[0]
    others = inner.replace("condition {", "others {").replace("=GT", "=GE")
    a, b = (parse_bytes(f"{start}{others}condition {{{rest}  {body}\n}}\n".encode(), "m") for body in bodies)
    return compare_modules(a, b, Options(engines=("xla",), power=0), worker).verdict


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_mistake_that_little_data_shows(worker: Worker, name: str) -> None:
    assert found(worker, DIFFERENT[name]) == "different"


@pytest.mark.parametrize("name", SAME)
def test_a_right_form_is_not_different(worker: Worker, name: str) -> None:
    assert found(worker, SAME[name]) == "agrees"
