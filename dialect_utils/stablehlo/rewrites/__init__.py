"""Rewrites of StableHLO modules through MLIR's bindings, for execution in a worker process."""
