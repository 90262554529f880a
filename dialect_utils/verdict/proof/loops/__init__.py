"""Loops: which part of their state counts, and their bodies as functions of variables."""
