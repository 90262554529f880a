"""Changes of a program that remove a copy; a layout of an argument or result is checked by the formula of layouts."""

from __future__ import annotations

from math import prod

import pytest

from dialect_utils.history.removal import Removal, removal
from dialect_utils.history.tracing import Introduced
from dialect_utils.layout import ArrayShape, Layout, parse_array_shape
from dialect_utils.layout.index.index_map import linear_index
from dialect_utils.memory.allocation import guess_compiler
from tests.history.texts import entry, graph, value

TILES = ":T(8,128)"


def removed(*lines: str, name: str = "c") -> Removal | None:
    found = entry(*lines)
    return removal(Introduced(0, found, value(found, name)), guess_compiler(found.module))


def indices(sizes: tuple[int, ...]) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for size in sizes:
        found = [(*index, i) for index in found for i in range(size)]
    return found


X = f"x = f32[16,256]{{1,0{TILES}}} parameter(0)"
COPY = f"c = f32[16,256]{{0,1{TILES}}} copy(x)"
READ = f"ROOT s = f32[16,256]{{0,1{TILES}}} sine(c)"


def test_an_argument_that_is_only_copied_is_passed_in_the_layout_of_the_copy() -> None:
    result = "ROOT d = f32[16,16]{1,0:T(8,128)} dot(c, c), lhs_contracting_dims={1}, rhs_contracting_dims={1}"
    found = removed(X, COPY, result)
    assert found is not None
    assert (found.action, found.number, found.major_to_minor) == ("argument layout", 0, (1, 0))
    assert str(found).startswith("pass argument 0 in the layout of the copy: Format(Layout(major_to_minor=(1, 0))")


@pytest.mark.parametrize(
    "other",
    [
        f"n = f32[16,256]{{1,0{TILES}}} negate(x)",
        f"n = f32[16,256]{{1,0{TILES}}} copy(x)",
    ],
)
def test_an_argument_that_others_read_in_its_layout_keeps_it(other: str) -> None:
    dot = "d = f32[16,16]{1,0:T(8,128)} dot(c, c), lhs_contracting_dims={1}, rhs_contracting_dims={1}"
    tuple_ = f"ROOT t = (f32[16,16]{{1,0{TILES}}}, f32[16,256]{{1,0{TILES}}}) tuple(d, n)"
    assert removed(X, COPY, other, dot, tuple_) is None
    again = "n = f32[16,256]{0,1:T(8,128)} copy(x)"
    found = removed(X, COPY, again, dot, "ROOT q = f32[16,16]{1,0} negate(d)")
    assert found is not None


def test_a_copy_without_tiles_is_copied_once_more() -> None:
    lines = [line.replace(TILES, "") for line in (X, COPY)]
    dot = "ROOT d = f32[16,16]{1,0} dot(c, c), lhs_contracting_dims={1}, rhs_contracting_dims={1}"
    assert removed(*lines, dot) is None


TRANSPOSED = (
    "x = f32[8,16,128]{2,1,0:T(8,128)} parameter(0)",
    "n = f32[8,16,128]{2,1,0:T(8,128)} exponential(x)",
)


def test_a_result_is_returned_in_the_layout_before_the_copy() -> None:
    found = removed(
        *TRANSPOSED,
        "c = f32[8,16,128]{1,0,2:T(8,128)} copy(n)",
        "ROOT t = f32[128,8,16]{2,1,0:T(8,128)} transpose(c), dimensions={2,0,1}",
    )
    assert found is not None
    assert (found.action, found.number, str(found.shape)) == ("result layout", 0, "f32[128,8,16]{2,1,0:T(8,128)}")
    shape = ArrayShape(found.shape.element_type, (128, 8, 16), Layout(found.major_to_minor[::-1]))
    source = parse_array_shape("f32[8,16,128]{2,1,0}")
    sample = indices((8, 16, 128))[:: prod((8, 16, 128)) // 50]
    assert [linear_index(shape, (k, i, j)) for i, j, k in sample] == [linear_index(source, each) for each in sample]


def test_an_argument_that_is_a_result_is_copied_in_any_layout() -> None:
    assert removed(X, f"ROOT {COPY}") is None


def test_a_copy_of_two_results_has_no_change() -> None:
    lines = (
        *TRANSPOSED,
        "c = f32[8,16,128]{1,0,2:T(8,128)} copy(n)",
        "ROOT t = (f32[8,16,128]{1,0,2:T(8,128)}, f32[8,16,128]{1,0,2:T(8,128)}) tuple(c, c)",
    )
    assert removed(*lines) is None


ROWS = "x = f32[16,256]{1,0} parameter(0)"
SAME = "c = f32[16,256]{1,0} copy(x)"
UPDATE = "u = f32[1,256]{1,0} parameter(1)"
ZERO = "z = s32[] constant(0)"
WRITTEN = "ROOT w = f32[16,256]{1,0} dynamic-update-slice(c, u, z, z)"


def test_an_argument_that_is_copied_to_be_updated_is_donated() -> None:
    found = removed(ROWS, UPDATE, ZERO, SAME, WRITTEN)
    assert found is not None
    assert (found.action, found.number) == ("donation", 0)
    assert str(found) == "donate argument 0 if it is not used afterwards: jax.jit(..., donate_argnums=...)"


@pytest.mark.parametrize(("results", "is_first"), [("w, y", True), ("y, w", False)])
def test_a_donated_argument_gives_its_memory_to_the_first_result_of_its_type(results: str, is_first: bool) -> None:
    other = 'y = f32[16,256]{1,0} custom-call(u), custom_call_target="f"'
    out = f"ROOT t = (f32[16,256]{{1,0}}, f32[16,256]{{1,0}}) tuple({results})"
    found = removed(ROWS, UPDATE, ZERO, SAME, WRITTEN.removeprefix("ROOT "), other, out)
    assert (found is not None) is is_first


@pytest.mark.parametrize(
    "lines",
    [
        # Nothing writes into the copy; the copy is the update; no result has the shape; the array is computed.
        (ROWS, SAME, "ROOT n = f32[16,256]{1,0} negate(c)"),
        (
            "y = f32[32,256]{1,0} parameter(0)",
            "x = f32[16,256]{1,0} parameter(1)",
            ZERO,
            SAME,
            "w = f32[32,256]{1,0} dynamic-update-slice(y, c, z, z)",
            "n = f32[16,256]{1,0} negate(x)",
            "ROOT t = (f32[32,256]{1,0}, f32[16,256]{1,0}) tuple(w, n)",
        ),
        (
            ROWS,
            UPDATE,
            ZERO,
            SAME,
            WRITTEN.replace("ROOT ", ""),
            "ROOT r = f32[1,256]{1,0} slice(w), slice={[0:1], [0:256]}",
        ),
        (ROWS.replace("x", "y"), "x = f32[16,256]{1,0} negate(y)", UPDATE, ZERO, SAME, WRITTEN),
    ],
)
def test_other_copies_are_not_donated(lines: tuple[str, ...]) -> None:
    assert removed(*lines) is None


def test_a_donated_argument_is_not_donated_again() -> None:
    body = "\n  ".join((ROWS, UPDATE, ZERO, SAME, WRITTEN))
    found = graph(f"HloModule m, input_output_alias={{ {{}}: (0, {{}}, may-alias) }}\n\nENTRY e {{\n  {body}\n}}\n")
    assert removal(Introduced(0, found, value(found, "c")), None) is None


def test_what_is_not_a_copy_has_no_change() -> None:
    found = removed(X, COPY, READ, name="s")
    assert found is None


def test_a_layout_is_followed_through_a_bitcast_that_transposes() -> None:
    found = removed(
        "x = f32[8,16]{1,0:T(8,128)} parameter(0)",
        "b = f32[16,8]{0,1:T(8,128)} bitcast(x)",
        "c = f32[16,8]{1,0:T(8,128)} copy(b)",
        "ROOT d = f32[16,16]{1,0:T(8,128)} dot(c, c), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
    )
    assert found is not None
    # The copy has the 16 dimension first, which is the second one of the argument.
    assert (found.action, found.number, found.major_to_minor) == ("argument layout", 0, (1, 0))
    assert str(found.shape) == "f32[8,16]{1,0:T(8,128)}"


@pytest.mark.parametrize("copied", ["f32[2048]{0:T(512)}", "f32[2048]{0:T(1024)S(1)}"])
def test_an_array_keeps_the_order_that_it_has(copied: str) -> None:
    lines = ("x = f32[2048]{0:T(1024)} parameter(0)", f"c = {copied} copy(x)", f"ROOT s = {copied} sine(c)")
    assert removed(*lines) is None
