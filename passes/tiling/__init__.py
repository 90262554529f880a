"""Passes between tiled layouts and explicit data movement."""
