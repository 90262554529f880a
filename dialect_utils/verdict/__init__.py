"""Whether two modules compute the same, and how that is known."""

from dialect_utils.verdict.compare import compare_modules, compare_stages
from dialect_utils.verdict.data import random_inputs, small_integer_positions
from dialect_utils.verdict.difference import Tolerance, first_difference
from dialect_utils.verdict.evidence import Verdict
from dialect_utils.verdict.options import Method, Options
from dialect_utils.verdict.packing import pack_by_index, unpack_by_index
from dialect_utils.verdict.proof import ProofResult, try_prove
from dialect_utils.verdict.result import Answer, Counterexample, MovedElement, Place, Planted, Power

__all__ = [
    "Answer",
    "Counterexample",
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
