"""The contents of a drawing: grids of cells for the two most minor logical dimensions.

Each cell holds the linear index of its element, the number of its first tile, and the number of the run of memory that
the last tile makes contiguous. Cells beyond the array are padding. A large array gets an overview, whose cells are
tiles, and one magnified corner.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice, product
from math import prod
from typing import Literal

from dialect_utils.layout.index.index_map import linear_index, physical_element_count
from dialect_utils.layout.layout import COMBINE, MATCH, Layout
from dialect_utils.layout.moves.physical import physical_plan
from dialect_utils.layout.shape import ArrayShape
from dialect_utils.layout.text.explain import describe_order

# About one screen of cells.
MAX_ROWS = 16
MAX_COLUMNS = 16
MAX_PANELS = 4
# A requested window may be larger, up to the limits of renderers.
MAX_WINDOW_CELLS = 1 << 14

Window = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """One element or padding slot; `tile` and `run` number groups of cells within a picture."""

    linear: int
    is_padding: bool
    tile: int
    run: int


def edge_between(first: Cell | None, second: Cell | None) -> Literal["heavy", "thin", ""]:
    """Returns the line between two cells (None: outside): heavy between tiles, thin between runs of the last tile."""
    if first is None or second is None or first.tile != second.tile:
        return "heavy"
    return "thin" if first.run != second.run else ""


@dataclass(frozen=True, slots=True)
class Panel:
    """One two-dimensional part: `rows` of cells, cut from `full_rows` x `full_columns`, and the first indices."""

    title: str
    rows: tuple[tuple[Cell, ...], ...]
    full_rows: int
    full_columns: int
    first_row: int = 0
    first_column: int = 0

    @property
    def has_more_rows(self) -> bool:
        """Is true where rows are left out at the bottom."""
        return self.first_row + len(self.rows) < self.full_rows

    @property
    def has_more_columns(self) -> bool:
        """Is true where columns are left out on the right."""
        return self.first_column + len(self.rows[0]) < self.full_columns

    def cut(self, columns: int) -> Panel:
        """Returns the panel with at most this many columns."""
        return replace(self, rows=tuple(row[:columns] for row in self.rows))


@dataclass(frozen=True, slots=True)
class Overview:
    """The two most minor logical dimensions with tiles as cells: sizes in elements, of the array and of the tile."""

    rows: int
    columns: int
    tile_rows: int
    tile_columns: int

    @property
    def tiles(self) -> tuple[int, int]:
        """Returns the numbers of tiles down and across."""
        return -(-self.rows // self.tile_rows), -(-self.columns // self.tile_columns)

    def used(self, row: int, column: int) -> tuple[int, int]:
        """Returns the numbers of rows and columns of a tile that are not padding."""
        down, across = self.rows - row * self.tile_rows, self.columns - column * self.tile_columns
        return min(self.tile_rows, down), min(self.tile_columns, across)


@dataclass(frozen=True, slots=True)
class Picture:
    """The contents of a drawing of `shape`; `notes` describe the layout and the omitted parts."""

    shape: ArrayShape
    panels: tuple[Panel, ...]
    notes: tuple[str, ...]
    overview: Overview | None = None


def shown(count: int, most: int) -> list[int | None]:
    """Returns the numbers of the tiles drawn of `count`; None stands for the omitted ones before the last."""
    return list(range(count)) if count <= most else [*range(most - 2), None, count - 1]


def parse_window(text: str) -> Window:
    """Reads `0:16,0:140`, one range for each dimension; raises ValueError for anything else."""
    ranges = []
    for part in text.split(","):
        start, colon, limit = part.strip().partition(":")
        if not (colon and start.isdecimal() and limit.isdecimal() and int(start) < int(limit)):
            raise ValueError(f"{part.strip() or text} is not a range such as 0:16")
        ranges.append((int(start), int(limit)))
    return tuple(ranges)


def draw_shape(shape: ArrayShape, window: Window | None = None, *, with_panels: bool = True) -> Picture:
    """Returns the picture of a static array shape, or of a window of it: [start, limit) for each dimension.

    Without `with_panels` the picture has the same notes and overview, and no cell is computed. Raises ValueError for
    dynamic dimensions, and for a window of another rank, outside of the array (padding included) or of too many cells.
    """
    if not shape.is_static:
        raise ValueError(f"{shape} has dynamic dimensions, so no element has a fixed position")
    logical = _with_rank(shape, max(2, *(len(t.dimensions) for t in shape.effective_layout.tiles), 2))
    # With the padding that can be drawn at the high ends of the dimensions.
    plan = physical_plan(logical)
    padded = plan.stages[1][1] if plan.steps and plan.steps[0].adds_elements else logical.dimensions
    extended = ArrayShape(logical.element_type, padded, logical.effective_layout.replace(padded_dimensions=None))
    if not prod(padded):
        return Picture(shape, (), ("the array has no elements",))
    ranges = _drawn_ranges(padded) if window is None else _checked_window(shape, padded, window)
    outer = product(*(range(*each) for each in ranges[:-2]))
    chosen = list(outer if window is not None else islice(outer, MAX_PANELS))
    panels = tuple(_panel(logical, extended, index, ranges[-2:]) for index in chosen) if with_panels else ()
    overview = _overview(logical, padded) if window is None else None
    return Picture(shape, panels, tuple(_notes(shape, padded, len(chosen), ranges[-2:])), overview)


def _drawn_ranges(padded: tuple[int, ...]) -> Window:
    """Returns the ranges drawn by default: the first outer indices, and a corner of the inner two dimensions."""
    *outer, rows, columns = padded
    return (*((0, min(size, MAX_PANELS)) for size in outer), (0, min(rows, MAX_ROWS)), (0, min(columns, MAX_COLUMNS)))


def _checked_window(shape: ArrayShape, padded: tuple[int, ...], window: Window) -> Window:
    if len(window) != shape.rank:
        raise ValueError(f"the window has {len(window)} ranges, {shape} has {shape.rank} dimensions")
    ranges = ((0, 1),) * (len(padded) - len(window)) + window
    for (start, limit), size in zip(ranges, padded, strict=True):
        if limit > size:
            raise ValueError(
                f"the window's range {start}:{limit} ends after {size}, where the dimension ends with its padding"
            )
    cells = prod(limit - start for start, limit in ranges)
    if cells > MAX_WINDOW_CELLS:
        raise ValueError(f"the window has {cells} cells; at most {MAX_WINDOW_CELLS} are drawn")
    return ranges


def _overview(logical: ArrayShape, padded: tuple[int, ...]) -> Overview | None:
    """Returns the overview of a large array whose tiles cover the two drawn dimensions, else None."""
    layout = logical.effective_layout
    rows, columns = logical.dimensions[-2:]
    if (padded[-2] <= MAX_ROWS and padded[-1] <= MAX_COLUMNS) or not layout.tiles:
        return None
    tile = dict(zip(layout.minor_to_major, reversed(layout.tiles[0].dimensions), strict=False))
    heights = tile.get(logical.rank - 2, 1), tile.get(logical.rank - 1, 1)
    return None if min(heights) < 1 or prod(heights) == 1 else Overview(rows, columns, *heights)


def _notes(shape: ArrayShape, padded: tuple[int, ...], panels: int, ranges: Window) -> list[str]:
    """Returns the notes of a picture with this number of panels, each of the cells in `ranges`."""
    *outer, full_rows, full_columns = padded
    rows, columns = (limit - start for start, limit in ranges)
    notes = []
    if shape.rank > 1:
        order = describe_order(shape.effective_layout)
        notes.append(f"down: dim {shape.rank - 2}, across: dim {shape.rank - 1}; {order}")
    if prod(outer) > panels:
        notes.append(f"{panels} of {prod(outer)} parts are drawn")
    if (rows, columns) != (full_rows, full_columns):
        notes.append(f"{rows} x {columns} of {full_rows} x {full_columns} cells are drawn")
    hidden = physical_element_count(shape) - prod(padded)
    if hidden:
        notes.append(f"{hidden} more padding slots are inside or after the tiles and have no logical index")
    return notes


def _with_rank(shape: ArrayShape, rank: int) -> ArrayShape:
    """Returns the shape with leading unit dimensions, most major, as tiles of higher rank need."""
    extra = max(0, rank - shape.rank)
    layout = shape.effective_layout
    order = tuple(dim + extra for dim in layout.minor_to_major) + tuple(range(extra - 1, -1, -1))
    padded = None if layout.padded_dimensions is None else (1,) * extra + layout.padded_dimensions
    changed = layout.replace(minor_to_major=order, padded_dimensions=padded, element_size_in_bits=0, split_configs=())
    return ArrayShape(shape.element_type, (1,) * extra + shape.dimensions, changed)


def _panel(logical: ArrayShape, extended: ArrayShape, outer: tuple[int, ...], ranges: Window) -> Panel:
    full_rows, full_columns = extended.dimensions[-2:]
    layout = extended.effective_layout
    first_tile = extended.with_layout(layout.replace(tiles=layout.tiles[:1])) if layout.tiles else None
    rows = tuple(
        tuple(_cell(logical, extended, first_tile, (*outer, row, column)) for column in range(*ranges[1]))
        for row in range(*ranges[0])
    )
    title = "".join(f"{index}, " for index in outer)
    return Panel(f"[{title}:, :]" if outer else "", rows, full_rows, full_columns, ranges[0][0], ranges[1][0])


def _cell(logical: ArrayShape, extended: ArrayShape, first_tile: ArrayShape | None, index: tuple[int, ...]) -> Cell:
    linear = linear_index(extended, index)
    inside = all(i < size for i, size in zip(index, logical.dimensions, strict=True))
    tiles = extended.effective_layout.tiles
    tile = 0
    if first_tile is not None:
        tile = linear_index(first_tile, index) // _tile_elements(first_tile)
    run = linear // _tile_elements(extended, last=True) if len(tiles) > 1 else tile
    return Cell(linear, not inside, tile, run)


def _tile_elements(shape: ArrayShape, *, last: bool = False) -> int:
    """Returns the elements of the shape's first tile, or of its last; the plan gives the sizes of `*` and `d`."""
    layout = shape.effective_layout
    tile = layout.tiles[-1 if last else 0]
    count = sum(size != COMBINE for size in tile.dimensions)
    if MATCH not in tile.dimensions:
        return max(1, prod(size for size in tile.dimensions if size != COMBINE))
    kept = layout if last else Layout(layout.minor_to_major, layout.tiles[:1])
    _, physical = physical_plan(shape.with_layout(kept)).result
    return max(1, prod(physical[-count:]))
