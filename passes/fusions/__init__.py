"""Passes on fusions and inner arrays of a compiled module, each at one value."""
