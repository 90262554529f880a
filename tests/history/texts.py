"""Small modules before and after passes, and the values in them."""

from __future__ import annotations

from collections.abc import Iterable

from dialect_utils.history.flat import FlatGraph
from dialect_utils.hlo import parse_module
from dialect_utils.ir import Value

# A fusion that moves, a call, a tuple, and a loop whose state holds an argument.
PROGRAM = """HloModule m

fused {
  a = f32[4,8]{1,0} parameter(0)
  e = f32[4,8]{1,0} exponential(a)
  ROOT c = f32[4,8]{0,1} copy(e)
}

called {
  b = f32[4,8]{0,1} parameter(0)
  ROOT n = f32[4,8]{0,1} negate(b)
}

condition {
  s = (s32[], f32[4,8]{0,1}) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  limit = s32[] constant(5)
  ROOT less = pred[] compare(i, limit), direction=LT
}

body {
  t = (s32[], f32[4,8]{0,1}) parameter(0)
  j = s32[] get-tuple-element(t), index=0
  one = s32[] constant(1)
  next = s32[] add(j, one)
  v = f32[4,8]{0,1} get-tuple-element(t), index=1
  w = f32[4,8]{0,1} sine(v)
  ROOT u = (s32[], f32[4,8]{0,1}) tuple(next, w)
}

ENTRY e {
  x = f32[4,8]{1,0} parameter(0)
  f = f32[4,8]{0,1} fusion(x), kind=kLoop, calls=fused
  k = f32[4,8]{0,1} call(f), to_apply=called
  zero = s32[] constant(0)
  state = (s32[], f32[4,8]{0,1}) tuple(zero, k)
  loop = (s32[], f32[4,8]{0,1}) while(state), condition=condition, body=body
  r = f32[4,8]{0,1} get-tuple-element(loop), index=1
  y = f32[4,8]{1,0} copy(r)
  ROOT out = (f32[4,8]{1,0}, f32[4,8]{0,1}) tuple(y, k)
}
"""


def graph(text: str) -> FlatGraph:
    return FlatGraph(parse_module(text))


def entry(*lines: str) -> FlatGraph:
    """Returns the graph of a module whose entry has these lines."""
    return graph("HloModule m\n\nENTRY e {\n  " + "\n  ".join(lines) + "\n}\n")


def value(of: FlatGraph, name: str) -> Value:
    """Returns the value of a name."""
    [found] = [each for function in of.module.functions for each in function.values() if each.name == name]
    return found


def names(values: Iterable[Value]) -> list[str]:
    return [each.name for each in values]
