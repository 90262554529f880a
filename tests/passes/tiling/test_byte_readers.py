"""Operations that read the bytes of tiled arrays are errors before tiles are expanded."""

from __future__ import annotations

import pytest

from dialect_utils.hlo import parse_module
from passes.tiling.byte_readers import find_byte_readers

TILED, PLAIN = "f32[4,4]{1,0:T(2,2)}", "f32[4,4]{1,0}"


def messages(line: str) -> list[str]:
    text = f"""HloModule m
ENTRY e {{
  p = {TILED} parameter(0)
  q = {PLAIN} parameter(1)
  t = ({TILED}, {PLAIN}) tuple(p, q)
  {line}
}}
"""
    return [diagnostic.message for diagnostic in find_byte_readers(parse_module(text, "m"))]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"b = ({PLAIN}, {PLAIN}) bitcast(t)", "bitcast b reads elements of a tuple under other layouts"),
        (f'c = {TILED} custom-call(p), custom_call_target="ConcatBitcast"', "joins the bytes of its operands"),
        (
            f'c = {PLAIN} custom-call(q), custom_call_target="f", operand_layout_constraints={{{TILED}}}',
            "custom call f prescribes tiled layouts",
        ),
    ],
)
def test_readers_of_bytes_are_named(line: str, message: str) -> None:
    (found,) = messages(line)
    assert message in found


@pytest.mark.parametrize(
    "line",
    [
        f"b = {PLAIN} bitcast(p)",
        f"b = ({TILED}, {PLAIN}) bitcast(t)",
        f"b = ({TILED.replace(')}', ')S(1)}')}, {PLAIN}) bitcast(t)",
        f'c = {PLAIN} custom-call(q), custom_call_target="ConcatBitcast"',
        f'c = {PLAIN} custom-call(q), custom_call_target="f", operand_layout_constraints={{{PLAIN}}}',
        f'c = {TILED} custom-call(p), custom_call_target="AssumeGatherIndicesInBound", '
        f"operand_layout_constraints={{{TILED}}}",
    ],
)
def test_readers_of_elements_are_accepted(line: str) -> None:
    assert messages(line) == []
