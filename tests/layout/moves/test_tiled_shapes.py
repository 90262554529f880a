"""Shapes without their tiles, leaf by leaf."""

from __future__ import annotations

import pytest

from dialect_utils.layout import parse_shape
from dialect_utils.layout.moves.tiled_shapes import has_tiles, physical_leaves, untiled


@pytest.mark.parametrize(
    ("text", "plain", "physical"),
    [
        ("f32[3,5]{0,1:T(2,2)}", "f32[3,5]{1,0}", "f32[3,2,2,2]{3,2,1,0}"),
        (
            "(f32[3]{0:T(2)}, f32[2]{0}, token[])",
            "(f32[3]{0}, f32[2]{0}, token[])",
            "(f32[2,2]{1,0}, f32[2]{0}, token[])",
        ),
        ("s4[4]{0:E(4)}", "s4[4]{0}", "u8[2]{0}"),
    ],
)
def test_tiles_are_taken_off(text: str, plain: str, physical: str) -> None:
    shape = parse_shape(text)
    assert has_tiles(shape)
    assert (str(untiled(shape)), str(physical_leaves(shape))) == (plain, physical)


@pytest.mark.parametrize("text", ["f32[3,5]{0,1}", "f32[<=3]{0:T(2)}", "()", "token[]"])
def test_what_has_no_tiles_or_no_fixed_size_stays(text: str) -> None:
    shape = parse_shape(text)
    assert not has_tiles(shape)
    assert untiled(shape) == physical_leaves(shape) == shape
