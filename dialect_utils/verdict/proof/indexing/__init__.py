"""Data movement on numpy arrays of anything: which elements steps, windows and gathers read."""
