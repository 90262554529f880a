"""Undefined elements are followed through data movement to their readers."""

from __future__ import annotations

import numpy as np
import pytest

from dialect_utils.hlo import parse_module
from passes.bitcasts.padding_reads import first_reader

P = "f32[2,3]{1,0}"
# Element (1,2) of p is undefined.
MASK = np.array([[False] * 3, [False, False, True]])


def reader(lines: str) -> str | None:
    text = f"HloModule m\nENTRY e {{\n  p = {P} parameter(0)\n  z = f32[] constant(0)\n{lines}\n}}\n"
    module = parse_module(text, "m")
    value = module.entry.find("p")
    assert value is not None
    found = first_reader(value, MASK)
    return None if found is None else found.name


ALL = "ROOT r = f32[1,1]{1,0} slice(a), slice="


@pytest.mark.parametrize(
    ("lines", "name"),
    [
        (f"a = {P} negate(p)\n{ALL}{{[1:2], [2:3]}}", "r"),
        (f"a = {P} negate(p)\n{ALL}{{[1:2], [1:2]}}", None),
        (f"a = {P} reverse(p), dimensions={{1}}\n{ALL}{{[1:2], [0:1]}}", "r"),
        (f"a = {P} reverse(p), dimensions={{1}}\n{ALL}{{[1:2], [2:3]}}", None),
        (f"a = {P} reverse(p), dimensions={{0}}\n{ALL}{{[0:1], [2:3]}}", "r"),
        ("t = f32[3,2]{1,0} transpose(p), dimensions={1,0}\n" + ALL.replace("(a)", "(t)") + "{[2:3], [1:2]}", "r"),
        ("a = f32[4,3]{1,0} concatenate(p, p), dimensions={0}\n" + ALL + "{[1:2], [2:3]}", "r"),
        (f"q = {P} negate(p)\na = f32[2,6]{{1,0}} concatenate(q, p), dimensions={{1}}\n{ALL}{{[1:2], [3:4]}}", None),
        ("a = f32[2,3,2]{2,1,0} broadcast(p), dimensions={0,1}\nROOT r = f32[1,2,2]{2,1,0} slice(a), "
         "slice={[1:2], [0:2], [0:2]}", None),
        (f"d = f32[2,2]{{1,0}} dot(p, p), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}\nROOT r = {P} copy(p)",
         "d"),
    ],
)  # fmt: skip
def test_the_reader_of_padding_is_found(lines: str, name: str | None) -> None:
    assert reader(lines) == name
