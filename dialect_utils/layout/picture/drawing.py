"""A drawing for notebooks and programs: text, SVG or PNG of one shape."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from dialect_utils.layout.picture.model import Picture, draw_shape
from dialect_utils.layout.picture.svg import Label, Line, Rectangle, Scene, format_svg, lay_out
from dialect_utils.layout.picture.terminal import format_terminal
from dialect_utils.layout.shape import ArrayShape

if TYPE_CHECKING:
    from PIL import Image, ImageDraw

_SCALE = 2
_FONT_PIXELS = 15 * _SCALE
_HATCH_STEP = 6 * _SCALE


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
        return render_png(lay_out(self.picture))

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return format_terminal(self.picture)


def render_png(scene: Scene) -> bytes:
    """Returns the scene as the bytes of a PNG file."""
    # Imported here: drawings as text do not need Pillow.
    from PIL import Image, ImageDraw, ImageFont

    image = Image.new("RGB", (scene.width * _SCALE, scene.height * _SCALE), "white")
    canvas = ImageDraw.Draw(image)
    font = ImageFont.load_default(_FONT_PIXELS * 0.9)
    for mark in scene.marks:
        if isinstance(mark, Rectangle):
            _rectangle(image, canvas, mark)
        elif isinstance(mark, Line) and mark.width:
            ends = (mark.x * _SCALE, mark.y * _SCALE, mark.right * _SCALE, mark.bottom * _SCALE)
            canvas.line(ends, fill="#222222", width=mark.width * _SCALE - 1)
        elif isinstance(mark, Label):
            anchor = "mm" if mark.centred else "ls"
            canvas.text(
                (mark.x * _SCALE, mark.y * _SCALE),
                mark.text,
                fill="#666666" if mark.faint else "black",
                font=font,
                anchor=anchor,
            )
    buffer = BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def _rectangle(image: Image.Image, canvas: ImageDraw.ImageDraw, mark: Rectangle) -> None:
    width, height = mark.width * _SCALE, mark.height * _SCALE
    if not mark.hatched:
        corner = (mark.x * _SCALE, mark.y * _SCALE)
        canvas.rectangle((*corner, corner[0] + width, corner[1] + height), fill=mark.fill, outline="#999999")
        return
    # Hatching is drawn on a separate image, so that the lines end at the cell's border.
    from PIL import Image, ImageDraw

    cell = Image.new("RGB", (width, height), mark.fill)
    pen = ImageDraw.Draw(cell)
    for offset in range(-height, width, _HATCH_STEP):
        pen.line((offset, height, offset + height, 0), fill="#999999", width=_SCALE)
    pen.rectangle((0, 0, width, height), outline="#999999")
    image.paste(cell, (mark.x * _SCALE, mark.y * _SCALE))
