"""The terms of a proof, evaluated in the field."""

from dialect_utils.verdict.field.lift.evaluation import Lift

__all__ = ["Lift"]
