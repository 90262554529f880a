"""What a drawing shows, before it is drawn: a grid of cells for the two most minor logical dimensions.

Each cell holds the linear index of its element, the tile of the first tiling it lies in, and the
run of memory that the last tile makes contiguous. Cells behind the array's end are padding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, product
from math import prod

from dialect_utils.layout.index_map import linear_index
from dialect_utils.layout.layout import COMBINE, MATCH, Layout
from dialect_utils.layout.plan import physical_plan
from dialect_utils.layout.shape import ArrayShape
from dialect_utils.layout.steps import Pad
from dialect_utils.layout.vocabulary import describe_order

# A screen's worth: more cells than this do not read at a glance.
MAX_ROWS = 16
MAX_COLUMNS = 16
MAX_PANELS = 4


@dataclass(frozen=True, slots=True)
class Cell:
    """Is one element or padding slot; `tile` and `run` number groups of cells within a picture."""

    linear: int
    is_padding: bool
    tile: int
    run: int


@dataclass(frozen=True, slots=True)
class Panel:
    """Is one two-dimensional part: `rows` of cells, cut from `full_rows` x `full_columns`."""

    title: str
    rows: tuple[tuple[Cell, ...], ...]
    full_rows: int
    full_columns: int

    @property
    def has_more_rows(self) -> bool:
        """Is true where rows are left out at the bottom."""
        return len(self.rows) < self.full_rows

    @property
    def has_more_columns(self) -> bool:
        """Is true where columns are left out on the right."""
        return len(self.rows[0]) < self.full_columns


@dataclass(frozen=True, slots=True)
class Picture:
    """Is everything a drawing of `shape` shows; `notes` say how it lies and what it leaves out."""

    shape: ArrayShape
    panels: tuple[Panel, ...]
    notes: tuple[str, ...]


def draw_shape(shape: ArrayShape) -> Picture:
    """Returns the picture of a static array shape; raises ValueError for dynamic dimensions."""
    if not shape.is_static:
        raise ValueError(f"{shape} has dynamic dimensions, so no element has a fixed place")
    logical = _with_rank(shape, max(2, *(len(t.dimensions) for t in shape.effective_layout.tiles), 2))
    padded = _padded_dimensions(logical)
    extended = ArrayShape(logical.element_type, padded, logical.effective_layout.replace(padded_dimensions=None))
    if not prod(padded):
        return Picture(shape, (), ("the array has no elements",))
    outer = [range(size) for size in padded[:-2]]
    count = prod(padded[:-2])
    panels = tuple(_panel(logical, extended, index) for index in islice(product(*outer), MAX_PANELS))
    return Picture(shape, panels, tuple(_notes(shape, padded, count, panels)))


def _notes(shape: ArrayShape, padded: tuple[int, ...], count: int, panels: Sequence[Panel]) -> list[str]:
    notes = []
    if shape.rank > 1:
        order = describe_order(shape.effective_layout)
        notes.append(f"down: dim {shape.rank - 2}, across: dim {shape.rank - 1}; {order}")
    if count > len(panels):
        notes.append(f"{len(panels)} of {count} parts are drawn")
    if any(panel.has_more_rows or panel.has_more_columns for panel in panels):
        first = panels[0]
        shown = f"{len(first.rows)} x {len(first.rows[0])}"
        notes.append(f"{shown} of {first.full_rows} x {first.full_columns} cells are drawn")
    _, physical = physical_plan(_unpacked(shape)).result
    hidden = prod(physical) - prod(padded)
    if hidden:
        notes.append(f"{hidden} more padding slots lie inside or behind the tiles and have no logical place")
    return notes


def _unpacked(shape: ArrayShape) -> ArrayShape:
    """Returns the shape with whole-byte elements: the picture counts elements, not bytes."""
    return shape.with_layout(shape.effective_layout.replace(element_size_in_bits=0))


def _with_rank(shape: ArrayShape, rank: int) -> ArrayShape:
    """Returns the shape with leading unit dimensions, most major, as tiles of higher rank see it."""
    extra = max(0, rank - shape.rank)
    layout = shape.effective_layout
    order = tuple(dim + extra for dim in layout.minor_to_major) + tuple(range(extra - 1, -1, -1))
    padded = None if layout.padded_dimensions is None else (1,) * extra + layout.padded_dimensions
    changed = layout.replace(minor_to_major=order, padded_dimensions=padded, element_size_in_bits=0, split_configs=())
    return ArrayShape(shape.element_type, (1,) * extra + shape.dimensions, changed)


def _padded_dimensions(shape: ArrayShape) -> tuple[int, ...]:
    """Returns the logical dimensions with the padding that can be drawn at their high ends."""
    steps = physical_plan(shape).steps
    if steps and isinstance(steps[0], Pad):
        return tuple(size + high for size, high in zip(shape.dimensions, steps[0].high, strict=True))
    return shape.dimensions


def _panel(logical: ArrayShape, extended: ArrayShape, outer: tuple[int, ...]) -> Panel:
    full_rows, full_columns = extended.dimensions[-2:]
    first_tile = _first_tile_only(extended)
    rows = tuple(
        tuple(
            _cell(logical, extended, first_tile, (*outer, row, column))
            for column in range(min(full_columns, MAX_COLUMNS))
        )
        for row in range(min(full_rows, MAX_ROWS))
    )
    title = "".join(f"{index}, " for index in outer)
    return Panel(f"[{title}:, :]" if outer else "", rows, full_rows, full_columns)


def _cell(logical: ArrayShape, extended: ArrayShape, first_tile: ArrayShape | None, index: tuple[int, ...]) -> Cell:
    linear = linear_index(extended, index)
    inside = all(i < size for i, size in zip(index, logical.dimensions, strict=True))
    tiles = extended.effective_layout.tiles
    tile = 0
    if first_tile is not None:
        tile = linear_index(first_tile, index) // _tile_elements(first_tile)
    run = linear // _tile_elements(extended, last=True) if len(tiles) > 1 else tile
    return Cell(linear, not inside, tile, run)


def _first_tile_only(shape: ArrayShape) -> ArrayShape | None:
    layout = shape.effective_layout
    if not layout.tiles:
        return None
    return shape.with_layout(layout.replace(tiles=layout.tiles[:1]))


def _tile_elements(shape: ArrayShape, *, last: bool = False) -> int:
    """Returns the elements of the shape's first tile, or of its last; `*` and `d` sizes come from the plan."""
    layout = shape.effective_layout
    tile = layout.tiles[-1 if last else 0]
    count = sum(size != COMBINE for size in tile.dimensions)
    if MATCH not in tile.dimensions:
        return max(1, prod(size for size in tile.dimensions if size != COMBINE))
    kept = layout if last else Layout(layout.minor_to_major, layout.tiles[:1])
    _, physical = physical_plan(shape.with_layout(kept)).result
    return max(1, prod(physical[-count:]))
