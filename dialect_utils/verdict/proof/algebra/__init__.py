"""Exact algebra of elementwise operations: rules, and the normal form they lead to."""

from dialect_utils.verdict.proof.algebra.normal_form import build
from dialect_utils.verdict.proof.algebra.rule import Rule, all_rules

__all__ = ["Rule", "all_rules", "build"]
