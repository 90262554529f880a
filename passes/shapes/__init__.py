"""Passes that give arrays other dimensions: split, in another order."""
