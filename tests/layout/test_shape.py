"""Shapes: leaves, layouts removed and added in every array of a tuple, texts."""

from __future__ import annotations

import pytest

from dialect_utils.layout import ArrayShape, Layout, parse_array_shape, parse_element_type, parse_shape
from dialect_utils.layout.layout import LayoutFieldError, SplitConfig
from dialect_utils.layout.shape import UNBOUNDED, BufferShape, OpaqueShape, TokenShape, TupleShape

F32 = parse_element_type("f32")
TILED = parse_array_shape("f32[3,5]{0,1:T(2,2)S(1)}")
NESTED = TupleShape((TILED, TupleShape((TokenShape(), BufferShape(TILED))), TupleShape(()), OpaqueShape()))


def test_leaves_are_in_order_and_no_tuples() -> None:
    assert list(NESTED.leaves()) == [TILED, TokenShape(), BufferShape(TILED), OpaqueShape()]
    assert list(NESTED.arrays()) == [TILED, TILED]
    assert list(TILED.leaves()) == list(TILED.arrays()) == [TILED]


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("without_layout", "f32[3,5]"),
        ("with_effective_layout", "f32[3,5]{0,1:T(2,2)S(1)}"),
        ("in_default_memory", "f32[3,5]{0,1:T(2,2)}"),
    ],
)
def test_a_change_reaches_every_array_and_nothing_else(name: str, array: str) -> None:
    assert str(getattr(TILED, name)) == array
    changed = getattr(NESTED, name)
    assert str(changed) == str(NESTED).replace(str(TILED), array)
    assert getattr(changed, name) == changed


def test_a_layout_that_is_not_written_is_the_descending_one() -> None:
    bare = parse_array_shape("f32[3,5]")
    assert bare.layout is None
    assert bare.effective_layout == Layout((1, 0))
    assert str(bare.with_effective_layout) == "f32[3,5]{1,0}"
    assert not bare.is_tiled


@pytest.mark.parametrize(
    ("text", "is_tiled"),
    [("f32[3]{0:T(2)}", True), ("s4[3]{0:E(4)}", True), ("s4[3]{0:E(8)}", False), ("f32[3]{0:S(1)}", False)],
)
def test_layouts_that_count_as_tiled(text: str, is_tiled: bool) -> None:
    assert parse_array_shape(text).is_tiled == is_tiled


def test_padded_dimensions_count_as_tiles() -> None:
    assert ArrayShape(F32, (2, 3), Layout((1, 0), padded_dimensions=(2, 4))).is_tiled


@pytest.mark.parametrize(
    ("dimensions", "layout", "dynamic", "field"),
    [
        ((-1,), None, (), "dimensions"),
        ((UNBOUNDED, 2), None, (False, True), "dimensions"),
        ((2, 3), None, (True,), "dynamic"),
        ((2, 3), Layout((0,)), (), "minor_to_major"),
        ((2, 3), Layout((1, 0), padded_dimensions=(2, 2)), (), "padded_dimensions"),
        ((2, 3), Layout((1, 0), split_configs=(SplitConfig(0, (2,)),)), (), "split_configs"),
    ],
)
def test_layouts_that_do_not_fit_are_rejected(
    dimensions: tuple[int, ...], layout: Layout | None, dynamic: tuple[bool, ...], field: str
) -> None:
    with pytest.raises(LayoutFieldError) as caught:
        ArrayShape(F32, dimensions, layout, dynamic)
    assert caught.value.field == field


def test_sizes_and_ranks() -> None:
    shape = parse_array_shape("f32[1,<=3,1,5]")
    assert (shape.rank, shape.true_rank, shape.element_count, shape.is_static) == (4, 2, 15, False)
    assert [shape.is_dynamic_dimension(i) for i in range(4)] == [False, True, False, False]
    assert parse_array_shape("f32[]").element_count == 1


@pytest.mark.parametrize(
    "text",
    ["f32[<=3,?]", "(f32[], token[], (), opaque[])", "b(f32[4]{0})", "(s4[3]{0:E(4)}, (pred[2,2]{0,1:T(2,2)}))"],
)
def test_texts_are_read_back(text: str) -> None:
    shape = parse_shape(text)
    assert (str(shape), repr(shape)) == (text, text)
    assert parse_shape(str(shape)) == shape
    assert hash(parse_shape(text)) == hash(shape)


def test_every_fifth_element_of_a_tuple_is_counted_for_readers() -> None:
    assert str(TupleShape((TokenShape(),) * 6)).count("/*index=5*/") == 1
