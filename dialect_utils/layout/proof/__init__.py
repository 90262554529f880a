"""Proofs about data movement that do not grow with the array (isl)."""
