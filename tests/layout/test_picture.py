import xml.etree.ElementTree as ElementTree
from io import BytesIO

import pytest

from dialect_utils.layout import parse_array_shape, parse_layout
from dialect_utils.layout.picture import draw_shape, format_svg, format_terminal
from dialect_utils.layout.picture.png import render_png
from dialect_utils.layout.picture.svg import lay_out

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


def test_tiles_and_runs_are_told_apart() -> None:
    (panel,) = draw_shape(parse_array_shape("bf16[4,8]{1,0:T(2,4)(2,1)}")).panels
    tiles = [[cell.tile for cell in row] for row in panel.rows]
    assert tiles == [[0] * 4 + [1] * 4] * 2 + [[2] * 4 + [3] * 4] * 2
    assert all(above.run == below.run for above, below in zip(panel.rows[0], panel.rows[1], strict=True))
    assert len({cell.run for cell in panel.rows[0]}) == 8


def test_terminal_drawing() -> None:
    assert format_terminal(draw_shape(parse_array_shape("f32[3]{0:T(2)}"))).splitlines() == [
        "┌───────┬───────┐",
        "│ 0   1 │ 2   ░ │",
        "└───────┴───────┘",
        "each cell: linear index of the element; box: tile; ░░: padding",
    ]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("bf16[30,200]{0,1:T(8,128)(2,1)}", "16 x 16 of 128 x 200 cells are drawn"),
        ("f32[9,2,2]{2,1,0:T(2,2)}", "4 of 9 parts are drawn"),
        ("f32[3,5]{1,0:T(2,2)(4,1)}", "24 more padding slots lie inside or behind the tiles and have no logical place"),
        ("f32[0,3]{1,0:T(2,2)}", "the array has no elements"),
    ],
)
def test_what_a_drawing_leaves_out_is_said(text: str, note: str) -> None:
    picture = draw_shape(parse_array_shape(text))
    assert note in picture.notes
    assert note in format_terminal(picture)
    assert note in format_svg(picture)


def test_where_a_drawing_is_cut_no_border_closes_it() -> None:
    wide, tall = "f32[4,20]{1,0:T(4,4)}", "f32[20,4]{1,0:T(4,4)}"
    drawn = format_terminal(draw_shape(parse_array_shape(wide))).splitlines()
    assert drawn[1].endswith(" …")
    assert drawn[5].endswith("───")
    drawn = format_terminal(draw_shape(parse_array_shape(tall))).splitlines()
    assert drawn[1].endswith("│")
    assert drawn[20].strip() == "…"
    for text, dots in ((wide, 4), (tall, 1), ("f32[4,4]{1,0:T(4,4)}", 0)):
        assert format_svg(draw_shape(parse_array_shape(text))).count("…") == dots


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


def test_notebooks_show_shapes_and_layouts() -> None:
    assert "<svg" in parse_array_shape("f32[3,5]{1,0:T(2,2)}")._repr_html_()
    assert "f32[&lt;=3]" in parse_array_shape("f32[<=3]")._repr_html_()
    assert "dim 0 &gt; dim 1" in parse_layout("{1,0:T(2,2)}")._repr_html_()
