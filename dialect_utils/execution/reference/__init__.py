"""The reference evaluator: modules computed from the definitions of operations, on exact bit patterns.

Slow and obvious. It shares no code with XLA or StableHLO's interpreter.
"""

from dialect_utils.execution.reference.evaluator import UnsupportedOperationError, evaluate

__all__ = ["UnsupportedOperationError", "evaluate"]
