"""Choices and answers of particular compilers: TPU defaults, XLA's own verdicts."""
