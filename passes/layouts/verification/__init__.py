"""The rules of `verify-layouts`, by what they look at; each finds problems and raises none."""
