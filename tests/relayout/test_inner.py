"""Changes inside of a compiler whose loops keep their number of iterations."""

from __future__ import annotations

import pytest

from dialect_utils.hlo import parse_module
from relayout import inner

_LOOP = """
HloModule m, is_scheduled=true

%less {
  %s = (s32[], f32[64]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %n = s32[] constant(10)
  ROOT %l = pred[] compare(%i, %n), direction=LT
}

%step {
  %s = (s32[], f32[64]) parameter(0)
  %i = s32[] get-tuple-element(%s), index=0
  %one = s32[] constant(1)
  %j = s32[] add(%i, %one)
  %x = f32[64] get-tuple-element(%s), index=1
  %y = f32[64] negate(%x)
  ROOT %t = (s32[], f32[64]) tuple(%j, %y)
}

ENTRY %main {
  %p = f32[64] parameter(0)
  %zero = s32[] constant(0)
  %start = s32[] negate(%zero)
  %t = (s32[], f32[64]) tuple(%zero, %p)
  %w = (s32[], f32[64]) while(%t), condition=%less, body=%step
  ROOT %r = f32[64] get-tuple-element(%w), index=1
}
"""


@pytest.mark.parametrize(("start", "unknown"), [("%zero", 0), ("%start", 2)])
def test_a_loop_whose_number_of_iterations_is_unknown_is_found(start: str, unknown: int) -> None:
    module = parse_module(_LOOP.replace("tuple(%zero, %p)", f"tuple({start}, %p)"), "m.hlo")
    assert inner._uncounted(module) == unknown  # noqa: SLF001  # a compiler is not needed
