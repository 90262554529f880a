"""Rules, as the parts of a proof name them."""

from __future__ import annotations

from dialect_utils.verdict.rules import Rule, all_rules

__all__ = ["Rule", "all_rules"]
