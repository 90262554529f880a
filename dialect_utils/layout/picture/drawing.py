"""A drawing as notebooks and programs want it: text, SVG or PNG of one shape."""

from __future__ import annotations

from dataclasses import dataclass

from dialect_utils.layout.picture.model import Picture, draw_shape
from dialect_utils.layout.picture.svg import format_svg, lay_out
from dialect_utils.layout.picture.terminal import format_terminal
from dialect_utils.layout.shape import ArrayShape


@dataclass(frozen=True, slots=True, repr=False)
class Drawing:
    """The drawing of one static array shape; `str()` draws it with characters."""

    picture: Picture

    @classmethod
    def of(cls, shape: ArrayShape) -> Drawing:
        """Returns the drawing of a shape; raises ValueError for dynamic dimensions."""
        return cls(draw_shape(shape))

    @property
    def svg(self) -> str:
        """Returns the drawing as SVG."""
        return format_svg(self.picture)

    @property
    def png(self) -> bytes:
        """Returns the drawing as PNG."""
        # Imported here: text must not pay for the library that draws.
        from dialect_utils.layout.picture.png import render_png

        return render_png(lay_out(self.picture))

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return format_terminal(self.picture)
