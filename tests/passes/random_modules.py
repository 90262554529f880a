"""Draws small HLO modules of data movement and elementwise ops."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from hypothesis import strategies as st

from dialect_utils.layout import Layout, Tile

Dimensions = tuple[int, ...]


@dataclass
class Lines:
    """Collects the instructions of an entry; `layouts` maps dimensions to the text of their layout."""

    layouts: dict[Dimensions, str]
    text: list[str] = field(default_factory=list)
    values: dict[str, Dimensions] = field(default_factory=dict)
    shapes: dict[str, str] = field(default_factory=dict)

    def add(self, dimensions: Dimensions, rest: str) -> str:
        name = f"v{len(self.text)}"
        self.shapes[name] = self.shape(dimensions)
        self.text.append(f"{name} = {self.shapes[name]} {rest}")
        self.values[name] = dimensions
        return name

    def shape(self, dimensions: Dimensions) -> str:
        default = "{" + ",".join(map(str, reversed(range(len(dimensions))))) + "}" if dimensions else ""
        return f"s32[{','.join(map(str, dimensions))}]" + self.layouts.get(dimensions, default)


@st.composite
def modules(draw: st.DrawFn, *, is_tiled: bool = False, is_mixed: bool = False, most: int = 10) -> str:
    """Draws a module; with `is_tiled` arrays of the same dimensions have the same tiled layout, with
    `is_mixed` every array has one of its own.
    """
    lines = Lines(_Mixed(draw) if is_mixed else _Layouts(draw) if is_tiled else {})
    for number in range(2):
        dimensions = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
        lines.add(dimensions, f"parameter({number})")
    zero = lines.add((), f"constant({draw(st.integers(0, 1))})")
    for _ in range(draw(st.integers(1, most))):
        _add_operation(draw, lines, zero)
    returned = draw(st.lists(st.sampled_from(list(lines.values)), min_size=1, max_size=3, unique=True))
    shapes = ", ".join(lines.shapes[name] for name in returned)
    lines.text.append(f"ROOT result = ({shapes}) tuple({', '.join(returned)})")
    return "HloModule m\n\nENTRY e {\n  " + "\n  ".join(lines.text) + "\n}\n"


class _Layouts(dict[Dimensions, str]):
    """A map that draws a tiled layout at the first lookup of dimensions."""

    def __init__(self, draw: st.DrawFn) -> None:
        super().__init__()
        self.draw = draw

    def get(self, dimensions: Dimensions, default: str = "") -> str:  # type: ignore[override]  # draws what is missing
        if dimensions not in self:
            self[dimensions] = _drawn_layout(self.draw, len(dimensions), default)
        return self[dimensions]


class _Mixed(dict[Dimensions, str]):
    """A map that draws a layout at every lookup: an order, tiles, both, or none."""

    def __init__(self, draw: st.DrawFn) -> None:
        super().__init__()
        self.draw = draw

    def get(self, dimensions: Dimensions, default: str = "") -> str:  # type: ignore[override]  # draws each
        if not dimensions:
            return ""
        written = _drawn_layout(self.draw, len(dimensions), default)
        return written.partition(":")[0] + "}" if ":" in written and self.draw(st.booleans()) else written


def _drawn_layout(draw: st.DrawFn, rank: int, default: str) -> str:
    order = tuple(draw(st.permutations(range(rank))))
    tile = Tile(tuple(draw(st.lists(st.sampled_from([1, 2, 4]), min_size=1, max_size=2))))
    return str(Layout(order, (tile,))) if draw(st.booleans()) else default


def _add_operation(draw: st.DrawFn, lines: Lines, zero: str) -> None:
    name = draw(st.sampled_from([name for name in lines.values if name != zero]))
    dimensions = lines.values[name]
    rank = len(dimensions)
    kind = draw(st.sampled_from(["transpose", "reshape", "pad", "slice", "unary", "binary", "splat", "inverse"]))
    if kind in ("transpose", "inverse") and rank:
        order = draw(st.permutations(range(rank)))
        moved = tuple(dimensions[i] for i in order)
        made = lines.add(moved, f"transpose({name}), dimensions={{{','.join(map(str, order))}}}")
        if kind == "inverse":
            back = ",".join(map(str, sorted(range(rank), key=order.__getitem__)))
            lines.add(dimensions, f"transpose({made}), dimensions={{{back}}}")
    elif kind == "reshape":
        split = draw(st.sampled_from([d for d in range(1, prod(dimensions) + 1) if prod(dimensions) % d == 0]))
        lines.add((split, prod(dimensions) // split), f"reshape({name})")
    elif kind == "pad" and rank and prod(dimensions) < 60:
        high = [draw(st.integers(0, 2)) for _ in dimensions]
        sizes = tuple(d + h for d, h in zip(dimensions, high, strict=True))
        lines.add(sizes, f"pad({name}, {zero}), padding={'x'.join(f'0_{h}' for h in high)}")
    elif kind == "slice" and rank:
        limit = [draw(st.integers(1, d)) for d in dimensions]
        lines.add(tuple(limit), f"slice({name}), slice={{{', '.join(f'[0:{end}]' for end in limit)}}}")
    elif kind == "splat":
        lines.add(dimensions, f"broadcast({zero}), dimensions={{}}")
    elif kind == "binary":
        other = draw(st.sampled_from([v for v, d in lines.values.items() if d == dimensions]))
        lines.add(dimensions, f"{draw(st.sampled_from(['add', 'multiply', 'maximum']))}({name}, {other})")
    else:
        lines.add(dimensions, f"negate({name})")
