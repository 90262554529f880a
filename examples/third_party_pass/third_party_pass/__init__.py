"""A package that adds one pass to relayout."""
