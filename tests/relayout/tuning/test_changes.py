"""Changes of a program: layout modes of its arguments and results, and their bytes on a target."""

from __future__ import annotations

import pytest

from dialect_utils.io.files import parse_bytes
from dialect_utils.layout import parse_array_shape
from relayout.tuning.changes import (
    Change,
    EntryArray,
    as_stablehlo,
    change_of,
    changed_module,
    entry_shapes,
    in_mode,
    mode_of,
    orders,
    padded_bytes,
)
from tests.relayout.tuning.compilers import PROGRAM

MODULE = as_stablehlo(parse_bytes(PROGRAM.encode(), "m.mlir"))
START = change_of(MODULE)
FIRST, SECOND, RESULT = EntryArray(False, 0), EntryArray(False, 1), EntryArray(True, 0)


def test_the_program_as_it_is_has_the_default_modes() -> None:
    assert Change(("default", "default"), ("default",)) == START
    assert START.entry_arrays == (FIRST, SECOND, RESULT)


def test_one_mode_changes_one_array() -> None:
    changed = START.with_mode(SECOND, "auto").with_mode(RESULT, "{0,1}")
    assert changed == Change(("default", "auto"), ("{0,1}",))
    assert [changed.mode(each) for each in changed.entry_arrays] == ["default", "auto", "{0,1}"]
    assert START.with_modes("auto") == Change(("auto", "auto"), ("auto",))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (START, "as it is"),
        (START.with_mode(FIRST, "{0,1}"), "argument 0 {0,1}"),
        (START.with_mode(RESULT, "auto"), "result 0 auto"),
        (START.with_modes("auto"), "AUTO"),
        (START.with_modes("auto").with_mode(SECOND, "{0}"), "AUTO, argument 1 {0}"),
        (Change(START.parameters, START.results, "split-minor"), "split-minor"),
        (Change(("{0,1}", "default"), ("default",), "split-minor"), "split-minor, argument 0 {0,1}"),
    ],
)
def test_a_change_is_told_by_what_differs(change: Change, words: str) -> None:
    assert change.described(START) == words


def test_a_changed_program_has_its_modes_and_the_original_none() -> None:
    changed = changed_module(MODULE, START.with_mode(FIRST, "{0,1}"))
    assert change_of(changed) == START.with_mode(FIRST, "{0,1}")
    assert change_of(MODULE) == START


def test_the_shape_of_an_array_has_no_layout() -> None:
    shapes = entry_shapes(MODULE)
    assert [str(shapes[each]) for each in START.entry_arrays] == ["f32[40,300]", "f32[300]", "f32[40,300]"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f32[2,3]", [(0, 1), (1, 0)]),
        ("f32[5]", []),
        ("f32[1,5]", []),
        ("f32[2,1,3]", [(0, 2, 1), (2, 0, 1)]),
        ("f32[2,3,4]", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]),
    ],
)
def test_orders_name_every_pair_of_minor_dimensions_once(text: str, expected: list[tuple[int, ...]]) -> None:
    assert sorted(orders(parse_array_shape(text))) == expected


def test_a_mode_has_the_bytes_of_its_tiles() -> None:
    shape = parse_array_shape("f32[40,3]")
    # 40 rows of 128 lanes; 3 of 8 rows of 128 lanes, where a tile may have 4 rows.
    assert padded_bytes(shape, "{1,0}", "tpu-v5e") == 40 * 128 * 4
    assert padded_bytes(shape, "{0,1}", "tpu-v5e") == 4 * 128 * 4
    assert in_mode(shape, "auto", "tpu-v5e") == in_mode(shape, "default", "tpu-v5e")
    assert in_mode(shape, "{0,1:T(8,128)}", "tpu-v5e") == in_mode(shape, "{0,1}", "tpu-v5e")
    assert mode_of((1, 0, 2)) == "{1,0,2}"
