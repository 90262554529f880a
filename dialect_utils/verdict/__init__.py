"""Whether two modules compute the same, and how that is known."""

from dialect_utils.verdict.cause import Cause
from dialect_utils.verdict.comparator import DotPrecision, Method, Options
from dialect_utils.verdict.compare import compare_modules, compare_stages
from dialect_utils.verdict.evidence import Verdict
from dialect_utils.verdict.outcome import (
    Answer,
    Closeness,
    Counterexample,
    MovedElement,
    Place,
    Planted,
    Power,
    Tolerance,
    first_difference,
)
from dialect_utils.verdict.ports import pack_by_index, unpack_by_index
from dialect_utils.verdict.proof import ProofResult, try_prove
from dialect_utils.verdict.sampling import random_inputs, small_integer_positions

__all__ = [
    "Answer",
    "Cause",
    "Closeness",
    "Counterexample",
    "DotPrecision",
    "Method",
    "MovedElement",
    "Options",
    "Place",
    "Planted",
    "Power",
    "ProofResult",
    "Tolerance",
    "Verdict",
    "compare_modules",
    "compare_stages",
    "first_difference",
    "pack_by_index",
    "random_inputs",
    "small_integer_positions",
    "try_prove",
    "unpack_by_index",
]
