"""Searches for the layout that given data movement spells out."""
