"""Draws a picture with box characters: tiles are boxes, thin lines separate runs of the last tile."""

from __future__ import annotations

import re
from itertools import product, zip_longest
from math import prod

from dialect_utils.layout.picture.model import Cell, Overview, Panel, Picture, edge_between, shown

# Background colours of 256-colour terminals for black text; seven, as in the SVG.
_BACKGROUNDS = (153, 223, 151, 225, 159, 217, 189)
_PADDING_MARK = "░"
_FULL_MARK = "█"
_DOTS = "…"
_ESCAPE = re.compile(r"\033\[[0-9;]*m")
# The most tiles of an overview down and across, and the characters of each.
_MOST_TILES = 12
_TILE_MARKS = 4


def format_terminal(picture: Picture, *, colour: bool = False, columns: int | None = None) -> str:
    """Returns the drawing as text: linear index in each cell, padding shaded, one box a tile, indices at the edges.

    `columns` is the width of the terminal: wider panels are cut, and panels that fit are placed beside each other.
    None: unlimited.
    """
    width = max((len(str(c.linear)) for p in picture.panels for row in p.rows for c in row), default=1)
    lines = _overview_lines(picture.overview) if picture.overview is not None else []
    blocks = [_panel_block(panel, width, colour, columns) for panel in picture.panels]
    lines += _abreast(blocks, columns)
    if picture.panels:
        lines.append(_legend(picture))
    lines += [f"({note})" for note in picture.notes]
    return "\n".join(lines)


def _overview_lines(overview: Overview) -> list[str]:
    """Returns the overview: a cell for each tile, with the share of it that is padding."""
    down, across = overview.tiles
    lines = [f"{down} x {across} tiles of {overview.tile_rows} x {overview.tile_columns}"]
    for row in shown(down, _MOST_TILES):
        if row is None:
            lines.append(_DOTS)
            continue
        line = ""
        for column in shown(across, _MOST_TILES):
            if column is None:
                line += f" {_DOTS} "
                continue
            filled = -(-prod(overview.used(row, column)) * _TILE_MARKS // (overview.tile_rows * overview.tile_columns))
            line += "[" + _FULL_MARK * filled + _PADDING_MARK * (_TILE_MARKS - filled) + "]"
        lines.append(line)
    return lines


def _panel_block(panel: Panel, width: int, colour: bool, columns: int | None) -> list[str]:
    """Returns a panel with its title and the indices at its edges, cut to the terminal."""
    edge = len(str(panel.first_row + len(panel.rows) - 1)) + 1
    if columns is not None:
        panel = panel.cut(max(1, (columns - edge - 3) // (width + 3)))
    indices = [str(panel.first_column + c).center(width + 3) for c in range(len(panel.rows[0]))]
    lines = [" " * (edge + 1) + "".join(indices).rstrip()]
    row = panel.first_row
    for line in _panel_lines(panel, width, colour):
        is_row = "│ " in line or " │" in line or "┊" in line
        is_cells = line.startswith("│") and is_row and row < panel.first_row + len(panel.rows)
        lines.append((str(row) if is_cells else "").rjust(edge - 1) + " " + line)
        row += is_cells
    return [panel.title, *lines] if panel.title else lines


def _abreast(blocks: list[list[str]], columns: int | None) -> list[str]:
    """Returns blocks of lines, beside each other where they fit."""
    lines: list[str] = []
    waiting: list[list[str]] = []
    for block in blocks:
        if waiting and (columns is None or sum(map(_width, waiting)) + _width(block) + 2 * len(waiting) > columns):
            lines += _joined(waiting)
            waiting = []
        waiting.append(block)
    return lines + _joined(waiting)


def _joined(blocks: list[list[str]]) -> list[str]:
    if len(blocks) < 2:
        return [line for block in blocks for line in block]
    widths = [_width(block) for block in blocks]
    return [
        "  ".join(line + " " * (width - _visible(line)) for line, width in zip(row, widths, strict=True)).rstrip()
        for row in zip_longest(*blocks, fillvalue="")
    ]


def _width(block: list[str]) -> int:
    return max(map(_visible, block), default=0)


def _visible(line: str) -> int:
    return len(_ESCAPE.sub("", line))


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
    lines = [_rule(None, rows[0], width)]
    for number, row in enumerate(rows):
        lines.append(_cells(row, width, colour))
        rule = _rule(row, rows[number + 1] if number + 1 < len(rows) else None, width)
        if rule.strip("│ ┊"):
            lines.append(rule)
    if panel.has_more_columns:
        lines = [line[:-1] + (_DOTS if line.endswith("│") else "") for line in lines]
    if panel.has_more_rows:
        lines[-1] = _DOTS.center(len(rows[0]) * (width + 3)).rstrip()
    return lines


def _cells(row: tuple[Cell, ...], width: int, colour: bool) -> str:
    parts = []
    for column, cell in enumerate(row):
        left = row[column - 1] if column else None
        text = f"{cell.linear:>{width}}" if not cell.is_padding else _PADDING_MARK * width
        text = f" {text} "
        if colour:
            text = f"\033[48;5;{_BACKGROUNDS[cell.tile % len(_BACKGROUNDS)]};30m{text}\033[0m"
        parts.append({"heavy": "│", "thin": "┊", "": " "}[edge_between(left, cell)] + text)
    return "".join(parts) + "│"


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
        line += _JOINTS[tuple(side == "heavy" for side in sides)]
        if column < count:
            kind = _edge(above, below, column)
            line += {"heavy": "─", "thin": "┄", "": " "}[kind] * (width + 2)
    return line


def _line_between(row: tuple[Cell, ...] | None, column: int) -> str:
    if row is None:
        return ""
    left = row[column - 1] if column else None
    return edge_between(left, row[column] if column < len(row) else None)


def _edge(above: tuple[Cell, ...] | None, below: tuple[Cell, ...] | None, column: int) -> str:
    """Returns the kind of line between the cells of a column in two rows."""
    if not 0 <= column < len(above or below or ()):
        return ""
    return edge_between(above[column] if above else None, below[column] if below else None)


# The joint of (line above, below, to the left, to the right), from no line to four.
_JOINTS = dict(zip(product((False, True), repeat=4), " ╶╴─╷┌┐┬╵└┘┴│├┤┼", strict=True))
