import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from io import BytesIO

import pytest

from dialect_utils.layout import parse_array_shape
from dialect_utils.layout.index.index_map import linear_index
from dialect_utils.layout.picture import draw_shape, format_svg, format_terminal, parse_window
from dialect_utils.layout.picture.drawing import render_png
from dialect_utils.layout.picture.svg import Rectangle, lay_out, overview_marks

# The linear indices of XLA's documentation, "Tiled layout", Figure 1; padding is None.
FIGURE_1 = [
    [0, 1, 4, 5, 8, None],
    [2, 3, 6, 7, 10, None],
    [12, 13, 16, 17, 20, None],
    [None] * 6,
]
# The same page, Figure 2.
FIGURE_2 = [
    [0, 2, 4, 6, 8, 10, 12, 14],
    [1, 3, 5, 7, 9, 11, 13, 15],
    [16, 18, 20, 22, 24, 26, 28, 30],
    [17, 19, 21, 23, 25, 27, 29, 31],
]


@pytest.mark.parametrize(
    ("text", "figure"), [("f32[3,5]{1,0:T(2,2)}", FIGURE_1), ("bf16[4,8]{1,0:T(2,4)(2,1)}", FIGURE_2)]
)
def test_figures_of_the_documentation(text: str, figure: list[list[int | None]]) -> None:
    (panel,) = draw_shape(parse_array_shape(text)).panels
    assert [[None if c.is_padding else c.linear for c in row] for row in panel.rows] == figure


def test_tiles_and_runs_are_distinguished() -> None:
    (panel,) = draw_shape(parse_array_shape("bf16[4,8]{1,0:T(2,4)(2,1)}")).panels
    tiles = [[cell.tile for cell in row] for row in panel.rows]
    assert tiles == [[0] * 4 + [1] * 4] * 2 + [[2] * 4 + [3] * 4] * 2
    assert all(above.run == below.run for above, below in zip(panel.rows[0], panel.rows[1], strict=True))
    assert len({cell.run for cell in panel.rows[0]}) == 8


def test_terminal_drawing() -> None:
    assert format_terminal(draw_shape(parse_array_shape("f32[3]{0:T(2)}"))).splitlines() == [
        "    0   1   2   3",
        "  ┌───────┬───────┐",
        "0 │ 0   1 │ 2   ░ │",
        "  └───────┴───────┘",
        "each cell: linear index of the element; box: tile; ░░: padding",
    ]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("bf16[30,200]{0,1:T(8,128)(2,1)}", "16 x 16 of 128 x 200 cells are drawn"),
        ("f32[9,2,2]{2,1,0:T(2,2)}", "4 of 9 parts are drawn"),
        ("f32[3,5]{1,0:T(2,2)(4,1)}", "24 more padding slots are inside or after the tiles and have no logical index"),
        ("f32[0,3]{1,0:T(2,2)}", "the array has no elements"),
    ],
)
def test_notes_name_the_omitted_parts(text: str, note: str) -> None:
    picture = draw_shape(parse_array_shape(text))
    assert note in picture.notes
    assert note in format_terminal(picture)
    assert note in format_svg(picture)


@pytest.mark.parametrize(
    "text",
    ["f32[]", "f32[5]{0:T(2)}", "f32[300]{0:T(128)}", "f32[9,20,300]{2,1,0:T(8,128)}", "f32[3,2,2]{2,1,0:T(2,2)}"],
)
def test_a_picture_without_panels_has_the_same_notes_and_overview(text: str) -> None:
    shape = parse_array_shape(text)
    assert draw_shape(shape, with_panels=False) == replace(draw_shape(shape), panels=())


def test_the_first_panels_are_those_of_the_first_outer_indices() -> None:
    titles = [panel.title for panel in draw_shape(parse_array_shape("f32[7,3,2,2]{3,2,1,0:T(2,2)}")).panels]
    assert titles == ["[0, 0, :, :]", "[0, 1, :, :]", "[0, 2, :, :]", "[1, 0, :, :]"]


def test_a_cut_drawing_has_no_border_at_the_cut() -> None:
    wide, tall = "f32[4,20]{1,0:T(4,4)}", "f32[20,4]{1,0:T(4,4)}"
    drawn = format_terminal(draw_shape(parse_array_shape(wide))).splitlines()
    first = drawn.index(next(line for line in drawn if line.startswith("0 │")))
    assert drawn[first].endswith(" …")
    assert drawn[first + 4].endswith("───")
    drawn = format_terminal(draw_shape(parse_array_shape(tall))).splitlines()
    assert next(line for line in drawn if line.startswith(" 0 │")).endswith("│")
    assert any(line.strip() == "…" for line in drawn)
    for text, dots in ((wide, 4), (tall, 1), ("f32[4,4]{1,0:T(4,4)}", 0)):
        assert format_svg(draw_shape(parse_array_shape(text))).count("…") == dots


def test_an_overview_has_tiles_as_cells_and_the_share_that_is_padding() -> None:
    picture = draw_shape(parse_array_shape("f32[20,300]{1,0:T(8,128)}"))
    assert picture.overview is not None
    assert picture.overview.tiles == (3, 3)
    lines = format_terminal(picture).splitlines()
    # 20 rows fill half of the third row of tiles, 300 columns a third of the third column.
    assert lines[:4] == ["3 x 3 tiles of 8 x 128", "[████][████][██░░]", "[████][████][██░░]", "[██░░][██░░][█░░░]"]
    marks = [mark for mark in overview_marks(picture.overview, 0, 0) if isinstance(mark, Rectangle)]
    hatched = sum(mark.width * mark.height for mark in marks if mark.hatched)
    area = sum(mark.width * mark.height for mark in marks)
    assert hatched / area == pytest.approx(1 - 20 * 300 / (24 * 384), abs=0.03)


@pytest.mark.parametrize("text", ["f32[3,5]{1,0:T(2,2)}", "f32[100,100]{1,0}", "f32[16,16]{1,0:T(8,128)}"])
def test_no_overview_where_the_array_fits_or_has_no_tile(text: str) -> None:
    has = draw_shape(parse_array_shape(text)).overview is not None
    assert has == (text == "f32[16,16]{1,0:T(8,128)}")  # the padding does not fit


def test_a_window_is_drawn_with_its_indices() -> None:
    shape = parse_array_shape("bf16[30,200]{0,1:T(8,128)(2,1)}")
    (panel,) = draw_shape(shape, parse_window("28:33,6:10")).panels
    assert (panel.first_row, panel.first_column, len(panel.rows), len(panel.rows[0])) == (28, 6, 5, 4)
    for r, row in enumerate(panel.rows, 28):
        for c, cell in enumerate(row, 6):
            assert cell.is_padding == (r >= 30)
            if r < 30:
                assert cell.linear == linear_index(shape, (r, c))
    assert format_terminal(draw_shape(shape, ((28, 33), (6, 10)))).splitlines()[2].startswith("28 │  824    825 │")


@pytest.mark.parametrize(
    ("window", "message"),
    [("0:4", "1 ranges"), ("0:4,0:999", "ends after 200"), ("0:128,0:200", "cells; at most")],
)
def test_windows_that_cannot_be_drawn(window: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw_shape(parse_array_shape("bf16[30,200]{0,1:T(8,128)(2,1)}"), parse_window(window))


@pytest.mark.parametrize("text", ["", "3", "4:3", "a:b", "0:4,,1:2", "-1:3"])
def test_texts_that_are_no_window(text: str) -> None:
    with pytest.raises(ValueError, match="not a range"):
        parse_window(text)


@pytest.mark.parametrize("columns", [40, 60, 100])
def test_a_drawing_fits_its_terminal(columns: int) -> None:
    for text in ("f32[4,200]{1,0:T(4,4)}", "f32[3,4,4]{2,1,0:T(2,2)}"):
        lines = format_terminal(draw_shape(parse_array_shape(text)), columns=columns).splitlines()
        assert max(len(line) for line in lines if "│" in line) <= columns
    beside = format_terminal(draw_shape(parse_array_shape("f32[3,2,2]{2,1,0:T(2,2)}")), columns=columns)
    assert ("[0, :, :]" in beside.splitlines()[0] and "[1, :, :]" in beside.splitlines()[0]) == (columns >= 30)


def test_svg_needs_no_baseline_of_the_renderer() -> None:
    assert "dominant-baseline" not in format_svg(draw_shape(parse_array_shape("f32[3,5]{1,0:T(2,2)}")))


def test_a_drawing_says_which_way_dimensions_run() -> None:
    for text, words in (
        ("f32[2,3,5]{0,1,2}", "down: dim 1, across: dim 2; dim 0 is minor, dim 1 is next, dim 2 is major"),
        ("f32[3,5]{1,0:T(2,2)}", "down: dim 0, across: dim 1; dim 1 is minor, dim 0 is major (the default order)"),
    ):
        assert words in draw_shape(parse_array_shape(text)).notes
    assert draw_shape(parse_array_shape("f32[5]{0:T(2)}")).notes == ()


def test_every_form_can_be_drawn() -> None:
    texts = ["f32[]", "f32[]{:T(128)}", "f32[5]{0:T(2,4)}", "f32[3,4]{0,1}", "f32[2,3,5]{2,1,0:T(*,2,4)}"]
    texts += ["f32[3,5]{1,0:T(d,2)}", "s4[8,128]{1,0:T(8,128)(8,1)E(4)}"]
    for text in texts:
        picture = draw_shape(parse_array_shape(text))
        root = ElementTree.fromstring(format_svg(picture))
        assert root.tag.endswith("svg")
        drawn = render_png(lay_out(picture))
        assert drawn.startswith(b"\x89PNG")
        assert len(BytesIO(drawn).getvalue()) > 500


def test_dynamic_shapes_have_no_picture() -> None:
    with pytest.raises(ValueError, match="dynamic dimensions"):
        draw_shape(parse_array_shape("f32[<=3]{0:T(2)}"))
