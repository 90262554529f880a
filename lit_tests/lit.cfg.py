# mypy: ignore-errors
# ruff: noqa: F821  # lit defines config and lit_config
from relayout.lit_config import configure

configure(config, lit_config)
