"""Proofs about data movement, in time independent of the size of the array (isl)."""
