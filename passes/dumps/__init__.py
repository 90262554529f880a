"""Passes that make optimized dumps portable."""
