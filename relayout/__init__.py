"""The command line `relayout`, on top of `passes` and `dialect_utils`."""
