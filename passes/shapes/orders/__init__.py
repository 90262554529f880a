"""Other orders of dimensions: how operations compute in them, and how far an order spreads."""
