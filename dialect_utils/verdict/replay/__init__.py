"""Checks a certificate step by step; imports nothing of the prover."""
