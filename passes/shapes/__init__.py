"""Passes that give arrays other dimensions: split, merged, cut, in another order."""
