"""Exact algebra of elementwise operations: their normal form under the rules."""

from dialect_utils.verdict.proof.algebra.normal_form import build

__all__ = ["build"]
