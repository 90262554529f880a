"""Rooms that understand XLA layouts, HLO text, StableHLO and how to execute both."""
