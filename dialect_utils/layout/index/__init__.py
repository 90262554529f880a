"""The positions of a layout's elements: index maps and sizes."""
