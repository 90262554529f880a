"""The command line `relayout`, on top of `passes` and `dialect_utils`."""

__version__ = "0.1.0"
