"""numpy arrays of every element type."""
