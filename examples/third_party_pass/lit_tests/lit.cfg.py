# ruff: noqa: F821  # lit defines config and lit_config
from relayout.lit_config import configure

config.name = "third_party_pass"
configure(config, lit_config)
