"""The model of layout changes, and the layout modes that a program writes."""

from __future__ import annotations

import math

import pytest

from dialect_utils.io.files import parse_bytes
from dialect_utils.layout import ArrayShape, parse_shape
from relayout.tuning.changes import as_stablehlo, change_of, mode_of, orders, padded_bytes
from relayout.tuning.model import Model, rank_correlation
from tests.relayout.tuning.compilers import PROGRAM

# 40 x 300 elements of 4 bytes in tiles of 8 x 128, in both orders.
ROWS, COLUMNS = 40 * 384 * 4, 304 * 128 * 4


def array(text: str) -> ArrayShape:
    shape = parse_shape(text)
    assert isinstance(shape, ArrayShape)
    return shape


def test_orders_differ_in_the_two_most_minor_dimensions() -> None:
    assert [*orders(array("f32[4,5]"))] == [(0, 1), (1, 0)]
    assert len([*orders(array("f32[4,5,6,7]"))]) == 12
    assert [*orders(array("f32[4,1,6]"))] == [(0, 2, 1), (2, 0, 1)]
    assert [*orders(array("f32[4]"))] == []


def test_bytes_have_the_padding_of_the_tiles() -> None:
    assert padded_bytes(array("f32[40,300]"), "{1,0}", "tpu-v5e") == ROWS
    assert padded_bytes(array("f32[40,300]"), "{0,1}", "tpu-v5e") == COLUMNS
    assert padded_bytes(array("f32[40,300]"), "auto", "tpu-v5e") == ROWS
    assert mode_of((2, 0, 1)) == "{2,0,1}"


def test_one_order_everywhere_needs_no_copy_and_two_orders_need_one() -> None:
    module = as_stablehlo(parse_bytes(PROGRAM.encode(), "m.mlir"))
    start, model = change_of(module), Model(module, "tpu-v5e")
    argument, result = start.entry_arrays[0], start.entry_arrays[2]
    turned = start.with_mode(argument, "{0,1}").with_mode(result, "{0,1}")
    # x, the broadcast, the sum, and both ports of the entry are arrays of 40 x 300.
    vectors = model.cost(start) - 5 * ROWS
    assert model.cost(turned) == vectors + 5 * COLUMNS
    mixed = model.cost(start.with_mode(argument, "{0,1}"))
    # The argument and its port have columns, all others rows, and the sum is read and written once more.
    assert mixed == vectors + 2 * COLUMNS + 3 * ROWS + 2 * ROWS


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([1, 2, 3], [10, 20, 40], 1),
        ([1, 2, 3], [3, 2, 1], -1),
        ([1, 2, 3, 4], [1, 3, 2, 4], 0.8),
        ([1, 1, 2], [5, 6, 7], math.sqrt(3) / 2),
    ],
)
def test_ranks_correlate(first: list[float], second: list[float], expected: float) -> None:
    assert rank_correlation(first, second) == pytest.approx(expected)


def test_nothing_correlates_with_a_constant() -> None:
    assert rank_correlation([1, 1, 1], [1, 2, 3]) is None
    assert rank_correlation([1, 2], [1, 2]) is None


def test_layout_modes_are_written_and_read_also_the_descending_order() -> None:
    module = as_stablehlo(parse_bytes(PROGRAM.encode(), "m.mlir"))
    assert module.layout_modes == (("default", "default"), ("default",))
    module.set_layout_modes(("{1,0}", "auto"), ("{0,1}",))
    again = as_stablehlo(parse_bytes(module.text().encode(), "m.mlir"))
    assert again.layout_modes == (("{1,0}", "auto"), ("{0,1}",))
    assert str(again.entry_layout[1][0]) == "f32[40,300]{0,1}"
    again.set_layout_modes(("default", "default"), ("default",))
    assert "layout_mode" not in again.text()
