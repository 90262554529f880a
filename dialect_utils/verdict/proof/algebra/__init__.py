"""Exact algebra of elementwise operations: the normal form that rules lead to."""

from dialect_utils.verdict.proof.algebra.normal_form import build

__all__ = ["build"]
