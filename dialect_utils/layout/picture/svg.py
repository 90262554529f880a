"""Draws a picture as rectangles, lines and labels, and these as SVG."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from dialect_utils.layout.picture.model import Overview, Panel, Picture, edge_between, shown

# Light fills for black text, distinct for people with any colour vision (after Paul Tol's "light"). Seven of
# them, so that rows of eight or sixteen tiles, which are common, do not repeat a colour in a column.
FILLS = ("#BBCCEE", "#EEEEBB", "#CCDDAA", "#FFCCCC", "#CCEEFF", "#E8D8F0", "#FFDDAA")
# The width of a line between cells in pixels; 0 is a hairline.
_WEIGHTS = {"heavy": 3, "thin": 2, "": 0}
_CELL_HEIGHT = 32
_CHARACTER = 9
_MARGIN = 16
_TITLE = 24
_FONT = 15
_DOTS = "\N{HORIZONTAL ELLIPSIS}"
_HATCHED = "hatched"
_PANELS_ABREAST = 2
# The size of an overview tile in pixels, and the most rows and columns of tiles drawn.
_TILE_WIDTH, _TILE_HEIGHT = 44, 26
# Few columns of tiles are drawn wider, so that 3 of 128 lanes are visible.
_WIDE_TILE, _WIDE_COLUMNS = 176, 4
# A part of a tile that holds elements is at least so large: the border covers one pixel.
_LEAST_PART = 4
_OVERVIEW_ROWS, _OVERVIEW_COLUMNS = 8, 16


class Rectangle(NamedTuple):
    """A filled cell; `hatched` marks padding."""

    x: int
    y: int
    width: int
    height: int
    fill: str
    hatched: bool

    @property
    def right(self) -> int:
        """Returns the x of the right side."""
        return self.x + self.width

    @property
    def bottom(self) -> int:
        """Returns the y of the lower side."""
        return self.y + self.height


class Line(NamedTuple):
    """A line of some width in pixels, from its left or upper end."""

    x: int
    y: int
    right: int
    bottom: int
    width: int


class Label(NamedTuple):
    """A text; `centred` about (x, y), else starting at (x, y)."""

    x: int
    y: int
    text: str
    centred: bool
    bold: bool = False
    faint: bool = False

    @property
    def right(self) -> int:
        """Returns about the x at which the text ends."""
        return self.x + (_CHARACTER + self.bold) * len(self.text) // (1 + self.centred)

    @property
    def bottom(self) -> int:
        """Returns about the y at which the text ends."""
        return self.y + 6


Mark = Rectangle | Line | Label


@dataclass(frozen=True, slots=True)
class Scene:
    """All marks of a drawing and its size in pixels."""

    width: int
    height: int
    marks: tuple[Mark, ...]


def lay_out(picture: Picture) -> Scene:
    """Returns the position of every mark of a picture: the overview, the panels in a grid, the legend, the notes."""
    marks: list[Mark] = [Label(_MARGIN, _MARGIN + _FONT, str(picture.shape), False, True)]
    top = _MARGIN + _TITLE + 8
    if picture.overview is not None:
        marks += overview_marks(picture.overview, _MARGIN, top)
        top = max(mark.bottom for mark in marks) + _MARGIN
    top = _lay_out_panels(picture, top, marks)
    marks += _legend(picture, _MARGIN, top)
    right, bottom = max(mark.right for mark in marks), max(mark.bottom for mark in marks)
    return Scene(right + _MARGIN, bottom + _MARGIN, tuple(marks))


def _lay_out_panels(picture: Picture, top: int, marks: list[Mark]) -> int:
    """Adds the marks of the panels, two beside each other; returns the y at which the next mark may begin."""
    digits = max((len(str(c.linear)) for p in picture.panels for row in p.rows for c in row), default=1)
    cell_width = max(_CELL_HEIGHT, _CHARACTER * digits + 14)
    for start in range(0, len(picture.panels), _PANELS_ABREAST):
        left, bottom = _MARGIN, top
        for panel in picture.panels[start : start + _PANELS_ABREAST]:
            edge = _CHARACTER * len(str(panel.first_row + len(panel.rows) - 1)) + 8
            below = top + _TITLE * (1 + bool(panel.title))
            if panel.title:
                marks.append(Label(left + edge, top + _FONT, panel.title, False))
            marks += _indices(panel, left + edge, below, cell_width)
            marks += _panel_marks(panel, left + edge, below, cell_width)
            left += edge + len(panel.rows[0]) * cell_width + 2 * _MARGIN
            bottom = max(bottom, below + len(panel.rows) * _CELL_HEIGHT + _MARGIN + panel.has_more_rows * _MARGIN)
        top = bottom
    return top


def _indices(panel: Panel, left: int, top: int, width: int) -> Iterator[Label]:
    """Yields the row and column indices at a panel's edges."""
    for c in range(len(panel.rows[0])):
        yield Label(left + c * width + width // 2, top - 9, str(panel.first_column + c), True, faint=True)
    for r in range(len(panel.rows)):
        text = str(panel.first_row + r)
        x = left - 6 - _CHARACTER * len(text) // 2
        yield Label(x, top + r * _CELL_HEIGHT + _CELL_HEIGHT // 2, text, True, faint=True)


def _panel_marks(panel: Panel, left: int, top: int, width: int) -> Iterator[Mark]:
    for r, row in enumerate(panel.rows):
        for c, cell in enumerate(row):
            x, y = left + c * width, top + r * _CELL_HEIGHT
            yield Rectangle(x, y, width, _CELL_HEIGHT, FILLS[cell.tile % len(FILLS)], cell.is_padding)
            yield Label(x + width // 2, y + _CELL_HEIGHT // 2, str(cell.linear), True)
    yield from _borders(panel, left, top, width)


def _borders(panel: Panel, left: int, top: int, width: int) -> Iterator[Line | Label]:
    rows = panel.rows
    for r in range(len(rows)):
        for c in range(len(rows[r])):
            x, y = left + c * width, top + r * _CELL_HEIGHT
            edge = edge_between(rows[r][c - 1] if c else None, rows[r][c])
            yield Line(x, y, x, y + _CELL_HEIGHT, _WEIGHTS[edge])
            edge = edge_between(rows[r - 1][c] if r else None, rows[r][c])
            yield Line(x, y, x + width, y, _WEIGHTS[edge])
    yield from _far_edges(panel, left, top, left + len(rows[0]) * width, top + len(rows) * _CELL_HEIGHT)


def _far_edges(panel: Panel, left: int, top: int, right: int, bottom: int) -> Iterator[Line | Label]:
    """Yields the right and the lower border, or dots where the array continues."""
    if panel.has_more_columns:
        yield from (
            Label(right + _MARGIN, y, _DOTS, True) for y in range(top + _CELL_HEIGHT // 2, bottom, _CELL_HEIGHT)
        )
    else:
        yield Line(right, top, right, bottom, 3)
    if panel.has_more_rows:
        yield Label((left + right) // 2, bottom + _MARGIN, _DOTS, True)
    else:
        yield Line(left, bottom, right, bottom, 3)


def _legend(picture: Picture, left: int, top: int) -> Iterator[Mark]:
    """Yields a sample of each kind of mark in the picture, with its meaning, and the notes."""
    cells = [c for p in picture.panels for row in p.rows for c in row]
    entries: list[tuple[str, int, str]] = []
    if cells:
        entries.append(("7", 0, "linear index: position in memory, in elements"))
    if cells and picture.shape.effective_layout.tiles:
        entries.append(("", 3, "one colour and thick border: one tile"))
    if any(c.run != c.tile for c in cells):
        entries.append(("", 2, "thinner border: elements the last tile keeps together"))
    if any(c.is_padding for c in cells) or picture.overview is not None:
        entries.append((_HATCHED, 0, "padding: contents unspecified"))
    for sample, border, text in entries:
        yield Rectangle(left, top, 22, 16, "#FFFFFF" if sample == "7" else FILLS[0], sample == _HATCHED)
        if border:
            yield from _box(left, top, 22, 16, border)
        if sample == "7":
            yield Label(left + 11, top + 8, sample, True)
        yield Label(left + 30, top + 13, text, False)
        top += 22
    for note in picture.notes:
        yield Label(left, top + 13, note, False)
        top += 22


def _box(left: int, top: int, width: int, height: int, weight: int) -> Iterator[Line]:
    right, bottom = left + width, top + height
    yield Line(left, top, right, top, weight)
    yield Line(right, top, right, bottom, weight)
    yield Line(left, bottom, right, bottom, weight)
    yield Line(left, top, left, bottom, weight)


def overview_marks(overview: Overview, left: int, top: int) -> Iterator[Mark]:
    """Yields the marks of an overview: tiles as cells, padding hatched, dots for omitted tiles."""
    down, across = overview.tiles
    rows, columns = shown(down, _OVERVIEW_ROWS), shown(across, _OVERVIEW_COLUMNS)
    yield Label(left, top + _FONT, f"{down} x {across} tiles of {overview.tile_rows} x {overview.tile_columns}", False)
    left, top = left + _MARGIN + _CHARACTER * len(str(overview.rows)), top + 2 * _TITLE
    tile = _WIDE_TILE if len(columns) <= _WIDE_COLUMNS else _TILE_WIDTH
    for y, row in enumerate(rows):
        for x, column in enumerate(columns):
            corner = left + x * tile, top + y * _TILE_HEIGHT
            if row is None or column is None:
                yield Label(corner[0] + tile // 2, corner[1] + _TILE_HEIGHT // 2, _DOTS, True)
            else:
                yield from _tile_marks(overview, row, column, corner, tile)
    width, height = len(columns) * tile, len(rows) * _TILE_HEIGHT
    yield Label(left + width // 2, top - 9, f"{overview.columns}", True, faint=True)
    yield Label(
        left - 8 - _CHARACTER * len(str(overview.rows)) // 2, top + height // 2, f"{overview.rows}", True, faint=True
    )


def _tile_marks(overview: Overview, row: int, column: int, corner: tuple[int, int], full: int) -> Iterator[Mark]:
    """Yields one tile of an overview, `full` pixels wide; its padding is hatched."""
    x, y = corner
    used_rows, used_columns = overview.used(row, column)
    width = max(_LEAST_PART, full * used_columns // overview.tile_columns)
    height = max(_LEAST_PART, _TILE_HEIGHT * used_rows // overview.tile_rows)
    fill = FILLS[(row + column) % 2]
    yield Rectangle(x, y, width, height, fill, False)
    if width < full:
        yield Rectangle(x + width, y, full - width, height, fill, True)
    if height < _TILE_HEIGHT:
        yield Rectangle(x, y + height, full, _TILE_HEIGHT - height, fill, True)
    yield from _box(x, y, full, _TILE_HEIGHT, 2)


def format_svg(picture: Picture) -> str:
    """Returns the picture as a self-contained SVG document."""
    scene = lay_out(picture)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{scene.width}" height="{scene.height}" '
        f'viewBox="0 0 {scene.width} {scene.height}" font-family="monospace" font-size="{_FONT}">'
    )
    hatch = (
        '<defs><pattern id="padding" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        '<line x1="0" y1="0" x2="0" y2="6" stroke="#666" stroke-width="2"/></pattern></defs>'
    )
    title = f"<title>{escape(str(picture.shape), quote=False)}</title>"
    background = '<rect width="100%" height="100%" fill="#fff"/>'
    body = "\n".join(filter(None, map(_svg_mark, scene.marks)))
    return "\n".join([head, title, hatch, background, body, "</svg>", ""])


def _svg_mark(mark: Mark) -> str:
    """Returns the lines of a mark, none for a line without width."""
    if isinstance(mark, Line):
        if not mark.width:
            return ""
        ends = f'x1="{mark.x}" y1="{mark.y}" x2="{mark.right}" y2="{mark.bottom}"'
        return f'<line {ends} stroke="#222" stroke-width="{mark.width - 0.5}" stroke-linecap="square"/>'
    if isinstance(mark, Rectangle):
        box = f'<rect x="{mark.x}" y="{mark.y}" width="{mark.width}" height="{mark.height}"'
        filled = f'{box} fill="{mark.fill}" stroke="#999" stroke-width="0.5"/>'
        return f'{filled}\n{box} fill="url(#padding)" opacity="0.55"/>' if mark.hatched else filled
    # Renderers support different baselines; a third of the font's size below the middle suits all.
    y = mark.y + _FONT // 3 if mark.centred else mark.y
    centre = ' text-anchor="middle"' if mark.centred else ""
    bold = ' font-weight="bold"' if mark.bold else ""
    faint = ' fill="#666"' if mark.faint else ""
    return f'<text x="{mark.x}" y="{y}"{centre}{bold}{faint}>{escape(mark.text, quote=False)}</text>'
