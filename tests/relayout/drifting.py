"""Pairs of programs that differ in one way, and that a careless reduction turns into a pair that differs in another."""

from __future__ import annotations

_ADD = "HloModule m\nadd {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT s = f32[] add(p, q)\n}\n"
_VARIANCE = (
    _ADD
    + """ENTRY e {
  x = f32[4,32] parameter(0)
  zero = f32[] constant(0)
  sum = f32[4] reduce(x, zero), dimensions={1}, to_apply=add
  n = f32[] constant(32)
  ns = f32[4] broadcast(n), dimensions={}
  mean = f32[4] divide(sum, ns)
  means = f32[4,32] broadcast(mean), dimensions={0}
  centered = f32[4,32] subtract(x, means)
  square = f32[4,32] multiply(OF_SQUARE)
  sums = f32[4] reduce(square, zero), dimensions={1}, to_apply=add
  raw = f32[4] divide(sums, ns)
  OTHER
  e = f32[] constant(0.00001)
  es = f32[4] broadcast(e), dimensions={}
  shifted = f32[4] add(var, es)
  root = f32[4] sqrt(shifted)
  roots = f32[4,32] broadcast(root), dimensions={0}
  ROOT out = f32[4,32] divide(centered, roots)
}
"""
)
# E[(x - m)(x - m)] against E[x x] - m m, which cancels where the mean is large.
VARIANCE = (
    _VARIANCE.replace("OF_SQUARE", "centered, centered").replace("OTHER", "var = f32[4] copy(raw)"),
    _VARIANCE.replace("OF_SQUARE", "x, x").replace(
        "OTHER", "squared = f32[4] multiply(mean, mean)\n  var = f32[4] subtract(raw, squared)"
    ),
)
_EPSILON = (
    _ADD
    + """ENTRY e {
  x = f32[4,16] parameter(0)
  w = f32[4,16] parameter(1)
  square = f32[4,16] multiply(x, x)
  zero = f32[] constant(0)
  sum = f32[4] reduce(square, zero), dimensions={1}, to_apply=add
  e = f32[] constant(EPSILON)
  es = f32[4] broadcast(e), dimensions={}
  shifted = f32[4] add(sum, es)
  root = f32[4] rsqrt(shifted)
  roots = f32[4,16] broadcast(root), dimensions={0}
  normal = f32[4,16] multiply(x, roots)
  ROOT out = f32[4,16] multiply(normal, w)
}
"""
)
EPSILON = (_EPSILON.replace("EPSILON", "0.01"), _EPSILON.replace("EPSILON", "0.02"))
_AXIS = (
    _ADD
    + """ENTRY e {
  x = f32[6,6] parameter(0)
  c = f32[] constant(CONSTANT)
  cs = f32[6,6] broadcast(c), dimensions={}
  third = f32[6,6] OPERATION(x, cs)
  n = f32[6,6] negate(third)
  zero = f32[] constant(0)
  sum = f32[6] reduce(n, zero), dimensions={AXIS}, to_apply=add
  ROOT out = f32[6] negate(sum)
}
"""
)
# Sums over another dimension, after a division that is a multiplication in the second.
AXIS = (
    _AXIS.replace("CONSTANT", "3").replace("OPERATION", "divide").replace("AXIS", "1"),
    _AXIS.replace("CONSTANT", "0.333333343").replace("OPERATION", "multiply").replace("AXIS", "0"),
)
_NAN = """HloModule m
ENTRY e {
  x = f32[8] parameter(0)
  l = f32[8] log(x)
  c = f32[] constant(0.5)
  low = f32[8] broadcast(c), dimensions={}
  CLAMPED
  ROOT out = f32[8] negate(m)
}
"""
# The logarithm of a negative number is NaN, which a maximum keeps and a comparison drops.
NAN = (
    _NAN.replace("CLAMPED", "m = f32[8] maximum(l, low)"),
    _NAN.replace("CLAMPED", "is = pred[8] compare(l, low), direction=GT\n  m = f32[8] select(is, l, low)"),
)
_INTEGER = """HloModule m
ENTRY e {
  x = f32[64] parameter(0)
  c = f32[] constant(CONSTANT)
  cs = f32[64] broadcast(c), dimensions={}
  scaled = f32[64] OPERATION(x, cs)
  n = f32[64] negate(scaled)
  floor = f32[64] floor(n)
  ROOT out = s32[64] convert(floor)
}
"""
# Another constant before a floor: the whole numbers differ by a hundredth of their size.
INTEGER = (
    _INTEGER.replace("CONSTANT", "99").replace("OPERATION", "multiply"),
    _INTEGER.replace("CONSTANT", "100").replace("OPERATION", "multiply"),
)
_SECOND = """HloModule m
ENTRY e {
  x = f32[4,6] parameter(0)
  y = f32[4,6] parameter(1)
  c = f32[] constant(0)
  zero = f32[4,6] broadcast(c), dimensions={}
  POSITIVE
  d = f32[4,6] DIFFERENT(x, y)
  n = f32[4,6] negate(d)
  ROOT out = (f32[4,6], f32[4,6]) tuple(p, n)
}
"""
# The first output differs only for NaN, the second one for most numbers.
SECOND = (
    _SECOND.replace("POSITIVE", "p = f32[4,6] maximum(x, zero)").replace("DIFFERENT", "add"),
    _SECOND.replace(
        "POSITIVE", "is = pred[4,6] compare(x, zero), direction=GT\n  p = f32[4,6] select(is, x, zero)"
    ).replace("DIFFERENT", "subtract"),
)
PAIRS = {
    "variance": VARIANCE,
    "epsilon": EPSILON,
    "axis": AXIS,
    "nan": NAN,
    "integer": INTEGER,
    "second output": SECOND,
}
