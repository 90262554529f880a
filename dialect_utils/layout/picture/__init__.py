"""Drawings of the positions of an array's elements in memory: terminal, SVG and PNG."""

from dialect_utils.layout.picture.model import Cell, Panel, Picture, Window, draw_shape, parse_window
from dialect_utils.layout.picture.svg import format_svg
from dialect_utils.layout.picture.terminal import format_terminal

__all__ = ["Cell", "Panel", "Picture", "Window", "draw_shape", "format_svg", "format_terminal", "parse_window"]
