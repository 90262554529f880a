"""Data movement as values: steps, plans, and what becomes of them when they meet."""
