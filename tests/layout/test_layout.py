"""Tiles and layouts: values they reject, texts, properties."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from dialect_utils.layout import Layout, Tile, parse_element_type, parse_layout
from dialect_utils.layout.layout import COMBINE, INT64_MAX, MATCH, LayoutFieldError, SplitConfig

U32, S32 = parse_element_type("u32"), parse_element_type("s32")

WRONG: list[tuple[dict[str, Any], str, int | None]] = [
    ({"minor_to_major": (0, 2)}, "minor_to_major", 1),
    ({"minor_to_major": (1, 1)}, "minor_to_major", 1),
    ({"minor_to_major": (-1, 0)}, "minor_to_major", 0),
    ({"tail_padding_alignment_in_elements": 0}, "tail_padding_alignment_in_elements", 0),
    ({"tail_padding_alignment_in_elements": INT64_MAX + 1}, "tail_padding_alignment_in_elements", 0),
    ({"index_primitive_type": S32}, "index_primitive_type", 0),
    ({"pointer_primitive_type": S32}, "pointer_primitive_type", 0),
    ({"element_size_in_bits": -4}, "element_size_in_bits", 0),
    ({"memory_space": 128}, "memory_space", 0),
    ({"dynamic_shape_metadata_prefix_bytes": -1}, "dynamic_shape_metadata_prefix_bytes", 0),
    ({"split_configs": (SplitConfig(2, (1,)),)}, "split_configs", 0),
    ({"split_configs": (SplitConfig(0, (1,)), SplitConfig(0, (2,)))}, "split_configs", 1),
    ({"split_configs": (SplitConfig(0, (2, 2)),)}, "split_configs", 0),
    ({"split_configs": (SplitConfig(0, (-1, 2)),)}, "split_configs", 0),
    ({"padded_dimensions": (1, 2, 3)}, "padded_dimensions", None),
]


@pytest.mark.parametrize(("fields", "field", "index"), WRONG, ids=lambda value: str(value)[:50])
def test_errors_name_the_field_and_the_position(fields: dict[str, Any], field: str, index: int | None) -> None:
    with pytest.raises(LayoutFieldError) as caught:
        Layout(**{"minor_to_major": (1, 0)} | fields)
    assert (caught.value.field, caught.value.index) == (field, index)


@pytest.mark.parametrize(
    ("dimensions", "index"), [((), None), ((0,), 0), ((2, -1), 1), ((2, INT64_MAX + 1), 1), ((2, COMBINE), 1)]
)
def test_tiles_that_mean_nothing(dimensions: tuple[int, ...], index: int | None) -> None:
    with pytest.raises(LayoutFieldError) as caught:
        Tile(dimensions)
    assert (caught.value.field, caught.value.index) == ("tiles", index)


def test_every_order_is_its_text_and_back() -> None:
    for order in permutations(range(3)):
        layout = Layout(order)
        assert parse_layout(str(layout)) == layout
        assert layout.major_to_minor == tuple(reversed(order))
        assert layout.is_descending == layout.is_default == (order == (2, 1, 0))


def test_every_field_is_its_text_and_back() -> None:
    fields: dict[str, Any] = {
        "tiles": (Tile((COMBINE, 8, MATCH)), Tile((2, 1))),
        "tail_padding_alignment_in_elements": 16,
        "index_primitive_type": U32,
        "pointer_primitive_type": U32,
        "element_size_in_bits": 4,
        "memory_space": 5,
        "split_configs": (SplitConfig(0, (1, 3)),),
        "dynamic_shape_metadata_prefix_bytes": 8,
    }
    assert str(Layout((1, 0), **fields)) == "{1,0:T(*,8,d)(2,1)L(16)#(u32)*(u32)E(4)S(5)SC(0:1,3)M(8)}"
    for given in ({name: value} for name, value in fields.items()):
        layout = Layout((1, 0), **given)
        assert parse_layout(str(layout)) == layout
        assert layout.is_descending
        assert not layout.is_default
        assert layout.replace(**dict.fromkeys(given, getattr(Layout((1, 0)), *given))).is_default


def test_replacing_a_field_checks_it() -> None:
    with pytest.raises(LayoutFieldError, match="repeats dimension"):
        Layout((1, 0)).replace(minor_to_major=(0, 0))
