"""Formats of a memory report: a terminal page, one HTML file, and rows for other programs."""
