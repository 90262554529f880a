"""numpy arrays of every element type, and plans run on numpy arrays."""
