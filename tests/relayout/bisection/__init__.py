"""Tests of the search for a wrong pass."""
