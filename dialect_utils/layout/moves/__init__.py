"""Data movement as values: steps, plans, and the rules that combine them."""
