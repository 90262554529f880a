from __future__ import annotations

from typing import Any

import pytest

from dialect_utils.layout import ArrayShape, parse_shape
from dialect_utils.layout.picture.drawing import shape_html
from tests.markup import problems


def test_an_array_has_a_row_and_a_drawing() -> None:
    shown = shape_html(parse_shape("f32[3,5]{1,0:T(2,2)}"))
    for cell in ("f32[3,5]{1,0:T(2,2)}", "2 x 3 x 2 x 2", "96 B", "37.5%"):
        assert f">{cell}</td>" in shown
    assert shown.count("<svg") == 1


@pytest.mark.parametrize(
    ("text", "rows", "drawings"),
    [
        ("(f32[3]{0}, (s32[], token[]), f32[<=3])", 3, 2),
        ("(f32[1], f32[2], f32[3], f32[4], f32[5])", 5, 4),
        ("f32[?,3]", 1, 0),
        ("f32[<=3]", 1, 0),
        ("b(f32[4]{0})", 1, 1),
        ("token[]", 0, 0),
        ("()", 0, 0),
    ],
)
def test_every_kind_of_shape_is_shown(text: str, rows: int, drawings: int) -> None:
    shape = parse_shape(text)
    shown = shape_html(shape)
    assert problems(shown) == []
    assert shown.count("<tr>") == rows + (rows > 0)
    assert shown.count("<svg") == drawings
    assert text.replace("<", "&lt;") in shown
    notebook: Any = shape
    assert notebook._repr_html_() == shown  # the method that notebooks call


def test_only_arrays_have_a_layout() -> None:
    array, shapes = parse_shape("f32[3]{0}"), parse_shape("(f32[3]{0}, token[])")
    assert isinstance(array, ArrayShape)
    assert str(array.layout) == "{0}"
    assert not hasattr(shapes, "layout")
    with pytest.raises(AttributeError, match=r"no layout of its own; .*shape\.arrays\(\) yields f32\[3\]\{0\}"):
        _ = shapes.layout
    with pytest.raises(AttributeError, match=r"token\[\] has no layout of its own; only arrays have one"):
        _ = parse_shape("token[]").layout
