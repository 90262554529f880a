"""Proofs that two modules compute the same, without executing them."""

from dialect_utils.verdict.proof.decide import ProofResult, try_prove

__all__ = ["ProofResult", "try_prove"]
