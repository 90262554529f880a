"""Passes that give arrays other dimensions."""
