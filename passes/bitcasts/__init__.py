"""Passes between bitcasts and explicit data movement."""
