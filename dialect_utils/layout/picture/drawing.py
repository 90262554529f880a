"""A drawing for notebooks and programs: text, SVG or PNG of one shape, and HTML with the bytes of its arrays."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from dialect_utils.layout.picture.model import Picture, draw_shape
from dialect_utils.layout.picture.svg import Label, Line, Rectangle, Scene, format_svg, lay_out
from dialect_utils.layout.picture.terminal import format_terminal
from dialect_utils.layout.shape import ArrayShape, Shape
from dialect_utils.layout.text.explain import explain_shape
from dialect_utils.text import format_bytes
from dialect_utils.text.html import html_details, html_table, html_text

if TYPE_CHECKING:
    from PIL import Image, ImageDraw


_SCALE = 2
_FONT_PIXELS = 15 * _SCALE
_HATCH_STEP = 6 * _SCALE
# The margin at the right and below.
_EDGE = 16 * _SCALE


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
    from PIL import Image, ImageDraw, ImageFont, ImageOps

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
    # A scene leaves room for a wider font.
    if (drawn := ImageOps.invert(image.convert("L")).getbbox()) is not None:
        image = image.crop((0, 0, drawn[2] + _EDGE, drawn[3] + _EDGE))
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


# A tuple of more arrays shows the pictures of the first.
_PICTURES = 4


def shape_html(shape: Shape) -> str:
    """Returns a table of the arrays in a shape, and their drawings."""
    arrays = list(shape.arrays())
    if not arrays:
        return f"<code>{html_text(str(shape))}</code>"
    table = html_table(("array", "in memory", "bytes", "padding"), map(_row, arrays))
    drawn = [format_svg(draw_shape(array)) for array in arrays[:_PICTURES] if array.is_static]
    if isinstance(shape, ArrayShape):
        return table + "".join(drawn)
    pictures = [html_details("drawings", "".join(drawn))] if drawn else []
    return "".join([f"<code>{html_text(str(shape))}</code>", table, *pictures])


def _row(array: ArrayShape) -> tuple[str, str, str, str]:
    found = explain_shape(array)
    physical = "" if found.physical_dimensions is None else " x ".join(map(str, found.physical_dimensions))
    size = "" if found.byte_size is None else format_bytes(found.byte_size)
    padding = "" if found.padding_fraction is None else f"{found.padding_fraction:.1%}"
    return str(array), physical, size, padding
