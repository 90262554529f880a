"""Renders a laid-out drawing as PNG with Pillow."""

from __future__ import annotations

from io import BytesIO

from PIL import Image, ImageDraw, ImageFont

from dialect_utils.layout.picture.svg import Label, Line, Rectangle, Scene

_SCALE = 2
_FONT_PIXELS = 15 * _SCALE
_HATCH_STEP = 6 * _SCALE


def render_png(scene: Scene) -> bytes:
    """Returns the scene as the bytes of a PNG file."""
    image = Image.new("RGB", (scene.width * _SCALE, scene.height * _SCALE), "white")
    canvas = ImageDraw.Draw(image)
    font = ImageFont.load_default(_FONT_PIXELS * 0.9)
    for mark in scene.marks:
        if isinstance(mark, Rectangle):
            _rectangle(image, canvas, mark)
        elif isinstance(mark, Line) and mark.width:
            ends = (mark.x1 * _SCALE, mark.y1 * _SCALE, mark.x2 * _SCALE, mark.y2 * _SCALE)
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
    # Hatching is drawn on a tile of its own, so that its lines end at the cell's border.
    cell = Image.new("RGB", (width, height), mark.fill)
    pen = ImageDraw.Draw(cell)
    for offset in range(-height, width, _HATCH_STEP):
        pen.line((offset, height, offset + height, 0), fill="#999999", width=_SCALE)
    pen.rectangle((0, 0, width, height), outline="#999999")
    image.paste(cell, (mark.x * _SCALE, mark.y * _SCALE))
