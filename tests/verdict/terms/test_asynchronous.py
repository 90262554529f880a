"""Asynchronous calls as terms: the operands come with the start, or later with its updates."""

from __future__ import annotations

import pytest

from dialect_utils.verdict.certified import prove
from dialect_utils.verdict.proof import try_prove
from tests.verdict.proof.dialects import parse

CALLS = {
    "whole": """
  s = ((f32[8], f32[8]), f32[8], s32[]) async-start({}, {}), calls=body
  ROOT d = f32[8] async-done(s), calls=body""",
    "nothing at the start": """
  s = ((), (), s32[]) async-start(), calls=body
  u = ((f32[8]), (), s32[]) async-update(s, {}), calls=body
  v = ((f32[8], f32[8]), (), s32[]) async-update(u, {}), calls=body
  ROOT d = f32[8] async-done(v), calls=body""",
    "one operand at the start": """
  s = ((f32[8]), f32[8], s32[]) async-start({}), calls=body
  u = ((f32[8], f32[8]), f32[8], s32[]) async-update(s, {}), calls=body
  v = ((f32[8], f32[8]), f32[8], s32[]) async-update(u), calls=body
  ROOT d = f32[8] async-done(v), calls=body""",
}
PROGRAM = """HloModule m
body {{
  p = f32[8] parameter(0)
  q = f32[8] parameter(1)
  ROOT r = f32[8] divide(p, q)
}}
ENTRY e {{
  a = f32[8] parameter(0)
  b = f32[8] parameter(1){call}
}}
"""
QUOTIENT = PROGRAM.format(call="\n  ROOT r = f32[8] divide(a, b)")


@pytest.mark.parametrize("call", CALLS)
def test_operands_of_updates_are_those_of_the_call(call: str) -> None:
    first, swapped = (parse(PROGRAM.format(call=CALLS[call].format(*order))) for order in (("a", "b"), ("b", "a")))
    assert prove([first, parse(QUOTIENT)]).answer == "equal"
    assert try_prove([swapped, parse(QUOTIENT)]).answer == "unknown"


def test_a_call_that_lacks_an_operand_is_unknown() -> None:
    lacking = PROGRAM.format(call=CALLS["one operand at the start"].format("a", "b").replace("(s, b)", "(s)"))
    assert try_prove([parse(lacking), parse(QUOTIENT)]).answer == "unknown"
