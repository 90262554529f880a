"""Draws a picture with box characters; tiles are boxes, runs of the last tile are told apart by thin lines."""

from __future__ import annotations

from dialect_utils.layout.picture.model import Cell, Panel, Picture

# Background colours of 256-colour terminals that black text reads on; seven, as in the SVG.
_BACKGROUNDS = (153, 223, 151, 225, 159, 217, 189)
_PADDING_MARK = "░"
_DOTS = "…"


def format_terminal(picture: Picture, *, colour: bool = False) -> str:
    """Returns the drawing as text: linear index in each cell, padding shaded, one box a tile."""
    width = max((len(str(c.linear)) for p in picture.panels for row in p.rows for c in row), default=1)
    lines: list[str] = []
    for panel in picture.panels:
        if panel.title:
            lines.append(panel.title)
        lines += _panel_lines(panel, width, colour)
    if picture.panels:
        lines.append(_legend(picture))
    lines += [f"({note})" for note in picture.notes]
    return "\n".join(lines)


def _legend(picture: Picture) -> str:
    cells = [c for p in picture.panels for row in p.rows for c in row]
    legend = "each cell: linear index of the element"
    if picture.shape.effective_layout.tiles:
        legend += "; box: tile"
    if any(c.is_padding for c in cells):
        legend += f"; {_PADDING_MARK * 2}: padding"
    if any(c.run != c.tile for c in cells):
        legend += "; thin line: elements that the last tile keeps together"
    return legend


def _panel_lines(panel: Panel, width: int, colour: bool) -> list[str]:
    rows = panel.rows
    lines = _grid_lines(rows, width, colour)
    if panel.has_more_columns:
        lines = [line[:-1] + (_DOTS if line.endswith("│") else "") for line in lines]
    if panel.has_more_rows:
        lines[-1] = _DOTS.center(len(rows[0]) * (width + 3)).rstrip()
    return lines


def _grid_lines(rows: tuple[tuple[Cell, ...], ...], width: int, colour: bool) -> list[str]:
    lines = [_rule(None, rows[0], width)]
    for number, row in enumerate(rows):
        lines.append(_cells(row, width, colour))
        below = rows[number + 1] if number + 1 < len(rows) else None
        rule = _rule(row, below, width)
        if rule.strip("│ ┊"):
            lines.append(rule)
    return lines


def _cells(row: tuple[Cell, ...], width: int, colour: bool) -> str:
    parts = []
    for column, cell in enumerate(row):
        left = row[column - 1] if column else None
        text = f"{cell.linear:>{width}}" if not cell.is_padding else _PADDING_MARK * width
        text = f" {text} "
        if colour:
            text = f"\033[48;5;{_BACKGROUNDS[cell.tile % len(_BACKGROUNDS)]};30m{text}\033[0m"
        parts.append(_border(left, cell) + text)
    return "".join(parts) + "│"


def _border(left: Cell | None, right: Cell | None) -> str:
    if left is None or right is None or left.tile != right.tile:
        return "│"
    return "┊" if left.run != right.run else " "


def _rule(above: tuple[Cell, ...] | None, below: tuple[Cell, ...] | None, width: int) -> str:
    """Returns the line between two rows (None: outside the grid)."""
    count = len(above or below or ())
    line = ""
    for column in range(count + 1):
        sides = [
            _line_between(above, column),
            _line_between(below, column),
            _edge(above, below, column - 1),
            _edge(above, below, column),
        ]
        line += _JOINTS[tuple(side == "heavy" for side in sides)] if "heavy" in sides else " "
        if column < count:
            kind = _edge(above, below, column)
            line += {"heavy": "─", "thin": "┄", "": " "}[kind] * (width + 2)
    return line


def _line_between(row: tuple[Cell, ...] | None, column: int) -> str:
    if row is None:
        return ""
    left = row[column - 1] if column else None
    right = row[column] if column < len(row) else None
    return {"│": "heavy", "┊": "thin", " ": ""}[_border(left, right)]


def _edge(above: tuple[Cell, ...] | None, below: tuple[Cell, ...] | None, column: int) -> str:
    """Returns the kind of line between the cells of a column in two rows."""
    count = len(above or below or ())
    if not 0 <= column < count:
        return ""
    if above is None or below is None or above[column].tile != below[column].tile:
        return "heavy"
    return "thin" if above[column].run != below[column].run else ""


# (line above, below, to the left, to the right) -> joint
_JOINTS: dict[tuple[bool, ...], str] = {
    (False, False, False, False): " ",
    (False, False, False, True): "╶",
    (False, False, True, False): "╴",
    (False, False, True, True): "─",
    (False, True, False, False): "╷",
    (False, True, False, True): "┌",
    (False, True, True, False): "┐",
    (False, True, True, True): "┬",
    (True, False, False, False): "╵",
    (True, False, False, True): "└",
    (True, False, True, False): "┘",
    (True, False, True, True): "┴",
    (True, True, False, False): "│",
    (True, True, False, True): "├",
    (True, True, True, False): "┤",
    (True, True, True, True): "┼",
}
