"""Draws a picture as SVG, and as PNG with Pillow: the same rectangles, lines and texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape

from dialect_utils.layout.picture.model import Cell, Panel, Picture

# Light fills on which black text reads, told apart by people with any colour vision (after Paul Tol's "light").
# Seven: rows of eight or sixteen tiles, which are common, must not put one colour below the same.
FILLS = ("#BBCCEE", "#EEEEBB", "#CCDDAA", "#FFCCCC", "#CCEEFF", "#E8D8F0", "#FFDDAA")
_CELL_HEIGHT = 32
_CHARACTER = 9
_MARGIN = 16
_TITLE = 24
_FONT = 15
_DOTS = "\N{HORIZONTAL ELLIPSIS}"


@dataclass(frozen=True, slots=True)
class Rectangle:
    """Is a filled cell; `hatched` marks padding."""

    x: int
    y: int
    width: int
    height: int
    fill: str
    hatched: bool


@dataclass(frozen=True, slots=True)
class Line:
    """Is a line of some width in pixels."""

    x1: int
    y1: int
    x2: int
    y2: int
    width: int


@dataclass(frozen=True, slots=True)
class Label:
    """Is a text; `centred` about (x, y), else starting there."""

    x: int
    y: int
    text: str
    centred: bool
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Scene:
    """Is all marks of a drawing and its size in pixels."""

    width: int
    height: int
    marks: tuple[Rectangle | Line | Label, ...]


def lay_out(picture: Picture) -> Scene:
    """Returns where every mark of a picture stands."""
    digits = max((len(str(c.linear)) for p in picture.panels for row in p.rows for c in row), default=1)
    cell_width = max(_CELL_HEIGHT, _CHARACTER * digits + 14)
    marks: list[Rectangle | Line | Label] = [Label(_MARGIN, _MARGIN + _FONT, str(picture.shape), False, True)]
    top = _MARGIN + _TITLE + 8
    right = 2 * _MARGIN + (_CHARACTER + 1) * len(str(picture.shape))
    for panel in picture.panels:
        if panel.title:
            marks.append(Label(_MARGIN, top + _FONT, panel.title, False))
            top += _TITLE
        marks += _panel_marks(panel, _MARGIN, top, cell_width)
        right = max(right, 2 * _MARGIN + len(panel.rows[0]) * cell_width + panel.has_more_columns * _MARGIN)
        top += len(panel.rows) * _CELL_HEIGHT + _MARGIN + panel.has_more_rows * _MARGIN
    for mark in _legend(picture, _MARGIN, top):
        marks.append(mark)
        if isinstance(mark, Label):
            top = max(top, mark.y + _FONT)
            right = max(right, mark.x + _MARGIN + _CHARACTER * len(mark.text))
    return Scene(right, top + _MARGIN, tuple(marks))


def _panel_marks(panel: Panel, left: int, top: int, width: int) -> Iterator[Rectangle | Line | Label]:
    for r, row in enumerate(panel.rows):
        for c, cell in enumerate(row):
            x, y = left + c * width, top + r * _CELL_HEIGHT
            yield Rectangle(x, y, width, _CELL_HEIGHT, FILLS[cell.tile % len(FILLS)], cell.is_padding)
            text = str(cell.linear)
            yield Label(x + width // 2, y + _CELL_HEIGHT // 2, text, True)
    yield from _borders(panel, left, top, width)


def _borders(panel: Panel, left: int, top: int, width: int) -> Iterator[Line | Label]:
    rows = panel.rows
    for r in range(len(rows)):
        for c in range(len(rows[r])):
            x, y = left + c * width, top + r * _CELL_HEIGHT
            weight = _weight(rows[r][c - 1] if c else None, rows[r][c])
            yield Line(x, y, x, y + _CELL_HEIGHT, weight)
            weight = _weight(rows[r - 1][c] if r else None, rows[r][c])
            yield Line(x, y, x + width, y, weight)
    yield from _far_edges(panel, left, top, left + len(rows[0]) * width, top + len(rows) * _CELL_HEIGHT)


def _far_edges(panel: Panel, left: int, top: int, right: int, bottom: int) -> Iterator[Line | Label]:
    """Yields the right and the lower border; dots where the array goes on."""
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


def _weight(before: Cell | None, cell: Cell) -> int:
    """Returns 3 pixels between tiles, 2 between runs of the last tile, 0 (hairline) within."""
    if before is None or before.tile != cell.tile:
        return 3
    return 2 if before.run != cell.run else 0


def _legend(picture: Picture, left: int, top: int) -> Iterator[Rectangle | Label]:
    cells = [c for p in picture.panels for row in p.rows for c in row]
    entries = [("number", "linear index: position in memory, in elements")] if cells else []
    if cells and picture.shape.effective_layout.tiles:
        entries.append(("fill", "one colour and thick border: one tile"))
    if any(c.run != c.tile for c in cells):
        entries.append(("fill", "thinner border: elements the last tile keeps together"))
    if any(c.is_padding for c in cells):
        entries.append(("hatch", "padding: contents unspecified"))
    for kind, text in entries:
        fill = FILLS[0] if kind != "number" else "#FFFFFF"
        yield Rectangle(left, top, 20, 16, fill, kind == "hatch")
        if kind == "number":
            yield Label(left + 10, top + 8, "7", True)
        yield Label(left + 28, top + 13, text, False)
        top += 22
    for note in picture.notes:
        yield Label(left, top + 13, note, False)
        top += 22


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
    title = f"<title>{escape(str(picture.shape))}</title>"
    background = '<rect width="100%" height="100%" fill="#fff"/>'
    body = "\n".join(line for mark in scene.marks for line in _svg_mark(mark))
    return "\n".join([head, title, hatch, background, body, "</svg>", ""])


def _svg_mark(mark: Rectangle | Line | Label) -> Iterator[str]:
    if isinstance(mark, Rectangle):
        box = f'x="{mark.x}" y="{mark.y}" width="{mark.width}" height="{mark.height}"'
        yield f'<rect {box} fill="{mark.fill}" stroke="#999" stroke-width="0.5"/>'
        if mark.hatched:
            yield f'<rect {box} fill="url(#padding)" opacity="0.55"/>'
    elif isinstance(mark, Line):
        if mark.width:
            ends = f'x1="{mark.x1}" y1="{mark.y1}" x2="{mark.x2}" y2="{mark.y2}"'
            yield f'<line {ends} stroke="#222" stroke-width="{mark.width - 0.5}" stroke-linecap="square"/>'
    else:
        centre = ' text-anchor="middle" dominant-baseline="central"' if mark.centred else ""
        bold = ' font-weight="bold"' if mark.bold else ""
        yield f'<text x="{mark.x}" y="{mark.y}"{centre}{bold}>{escape(mark.text)}</text>'
