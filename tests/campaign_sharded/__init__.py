"""Pairs of a program for one device and one for several, correct and with mistakes, and what `check --sharded` says."""
