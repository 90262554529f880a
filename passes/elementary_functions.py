"""Elementwise functions that HLO has and StableHLO has not, as formulas.

The formulas are those of XLA's own expansions (xla/hlo/builder/lib/math.cc).
"""

from __future__ import annotations

from string import Template

from dialect_utils.hlo import HloModule, parse_module
from dialect_utils.layout import ELEMENT_TYPES
from passes.hlo_ops import Ops, array_shape, instructions
from passes.splicing import splice

_F32, _F64 = ELEMENT_TYPES["f32"], ELEMENT_TYPES["f64"]


def expand_elementary_functions(module: HloModule) -> None:
    """Replaces acos, acosh, asin, asinh, atanh, cosh and sinh of real arrays, in place.

    Types narrower than f32 are computed in f32.
    """
    for item in instructions(module, *_FORMULAS):
        kind = array_shape(item).element_type
        if not kind.is_floating:
            continue
        ops = Ops(item)
        wide = _F64 if kind == _F64 else _F32
        operand = ops.convert(item.operands[0], wide)
        dims = ",".join(map(str, array_shape(item).dimensions))
        text = Template(_MODULE + _FORMULAS[item.opcode]).substitute(A=f"{wide}[{dims}]", P=f"pred[{dims}]", T=wide)
        ops.finish(ops.convert(splice(ops, parse_module(text + "}\n", item.opcode), [operand]), kind))


_MODULE = """HloModule formula
ENTRY formula {
  x = $A parameter(0)
  one0 = $T[] constant(1)
  one = $A broadcast(one0), dimensions={}
  half0 = $T[] constant(0.5)
  half = $A broadcast(half0), dimensions={}
  two0 = $T[] constant(2)
  two = $A broadcast(two0), dimensions={}
  log_two0 = $T[] constant(0.693147180559945309)
  log_two = $A broadcast(log_two0), dimensions={}
  magnitude = $A abs(x)
"""

_SINH = """  minus_x = $A negate(x)
  up = $A subtract(x, log_two)
  down = $A subtract(minus_x, log_two)
  half_exp = $A exponential(up)
  half_exp_minus = $A exponential(down)
"""

# From 1e19 (f32: the square root of the largest number) on, x * x would overflow.
_LARGE = """  large0 = $T[] constant(1e18)
  large = $A broadcast(large0), dimensions={}
  is_large = $P compare(magnitude, large), direction=GE
  log_magnitude = $A log(magnitude)
  log_large = $A add(log_magnitude, log_two)
"""

_FORMULAS = {
    "sinh": _SINH
    + """  far = $A subtract(half_exp, half_exp_minus)
  m = $A exponential-minus-one(x)
  m_one = $A add(m, one)
  quotient = $A divide(m, m_one)
  sum = $A add(m, quotient)
  near = $A multiply(half, sum)
  is_near = $P compare(magnitude, one), direction=LT
  ROOT r = $A select(is_near, near, far)
""",
    "cosh": _SINH
    + """  sum = $A add(half_exp, half_exp_minus)
  ROOT r = $A maximum(sum, one)
""",
    "asinh": _LARGE
    + """  square = $A multiply(magnitude, magnitude)
  square_one = $A add(square, one)
  root = $A sqrt(square_one)
  root_one = $A add(root, one)
  part = $A divide(square, root_one)
  small_sum = $A add(magnitude, part)
  small = $A log-plus-one(small_sum)
  found = $A select(is_large, log_large, small)
  s = $A sign(x)
  ROOT r = $A multiply(s, found)
""",
    "acosh": _LARGE
    + """  above = $A add(x, one)
  below = $A subtract(x, one)
  root_above = $A sqrt(above)
  root_below = $A sqrt(below)
  root = $A multiply(root_above, root_below)
  sum = $A add(x, root)
  small = $A log(sum)
  nan0 = $T[] constant(nan)
  nan_x = $A broadcast(nan0), dimensions={}
  found = $A select(is_large, log_large, small)
  is_outside = $P compare(x, one), direction=LT
  ROOT r = $A select(is_outside, nan_x, found)
""",
    "atanh": """  minus_x = $A negate(x)
  up = $A log-plus-one(x)
  down = $A log-plus-one(minus_x)
  difference = $A subtract(up, down)
  ROOT r = $A multiply(half, difference)
""",
    "asin": """  above = $A add(one, x)
  below = $A subtract(one, x)
  product = $A multiply(above, below)
  root = $A sqrt(product)
  denominator = $A add(one, root)
  angle = $A atan2(x, denominator)
  ROOT r = $A multiply(two, angle)
""",
    "acos": """  above = $A add(one, x)
  below = $A subtract(one, x)
  product = $A multiply(above, below)
  root = $A sqrt(product)
  ROOT r = $A atan2(root, x)
""",
}
