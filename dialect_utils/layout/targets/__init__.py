"""What particular compilers choose and answer: TPU defaults, XLA's own verdicts."""
