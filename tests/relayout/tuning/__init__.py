"""The search of layouts and rewrites for a TPU."""
