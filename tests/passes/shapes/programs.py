"""Modules around one operation that reads an array `v`."""

from __future__ import annotations

import re


def program(operation: str, v: str, y: str) -> str:
    """Returns HLO that computes `w` by an operation on `v`, of shape `v`, and on parameters and applied functions."""
    *_, result = re.findall(r"w = (\S+)", operation)
    return f"""HloModule m

add {{
  l = f32[] parameter(0)
  r = f32[] parameter(1)
  ROOT s = f32[] add(l, r)
}}

max {{
  l = f32[] parameter(0)
  r = f32[] parameter(1)
  ROOT s = f32[] maximum(l, r)
}}

less {{
  l = f32[] parameter(0)
  r = f32[] parameter(1)
  ROOT s = pred[] compare(l, r), direction=LT
}}

ENTRY e {{
  x = {v} parameter(0)
  y = {y} parameter(1)
  i = s32[7,1] parameter(2)
  k = s32[] parameter(3)
  zero = f32[] constant(0)
  v = {v} tanh(x)
  {operation}
  ROOT result = {result} copy(w)
}}
"""
