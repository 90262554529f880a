"""Whether two modules compute the same, and how that is known.

Each name is imported when it is first used: few commands need all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialect_utils.lazy_names import import_name

if TYPE_CHECKING:
    from dialect_utils.verdict.cause import Cause
    from dialect_utils.verdict.compare import compare_modules, compare_stages
    from dialect_utils.verdict.differences import Counterexample, MovedElement, Place, Tolerance, first_difference
    from dialect_utils.verdict.entry import pack_by_index, unpack_by_index
    from dialect_utils.verdict.evidence import Verdict
    from dialect_utils.verdict.options import DotPrecision, Method, Options
    from dialect_utils.verdict.outcome import Answer, Closeness, Planted, Power
    from dialect_utils.verdict.proof import ProofResult, try_prove
    from dialect_utils.verdict.sampling import random_inputs, small_integer_positions

# The module that defines each name.
_HOME = {
    "Answer": "dialect_utils.verdict.outcome",
    "Cause": "dialect_utils.verdict.cause",
    "Closeness": "dialect_utils.verdict.outcome",
    "Counterexample": "dialect_utils.verdict.differences",
    "DotPrecision": "dialect_utils.verdict.options",
    "Method": "dialect_utils.verdict.options",
    "MovedElement": "dialect_utils.verdict.differences",
    "Options": "dialect_utils.verdict.options",
    "Place": "dialect_utils.verdict.differences",
    "Planted": "dialect_utils.verdict.outcome",
    "Power": "dialect_utils.verdict.outcome",
    "ProofResult": "dialect_utils.verdict.proof",
    "Tolerance": "dialect_utils.verdict.differences",
    "Verdict": "dialect_utils.verdict.evidence",
    "compare_modules": "dialect_utils.verdict.compare",
    "compare_stages": "dialect_utils.verdict.compare",
    "first_difference": "dialect_utils.verdict.differences",
    "pack_by_index": "dialect_utils.verdict.entry",
    "random_inputs": "dialect_utils.verdict.sampling",
    "small_integer_positions": "dialect_utils.verdict.sampling",
    "try_prove": "dialect_utils.verdict.proof",
    "unpack_by_index": "dialect_utils.verdict.entry",
}
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


def _import_name(name: str) -> object:
    return import_name(name, _HOME, globals())


if not TYPE_CHECKING:  # type checkers would accept any name of a module with this function
    __getattr__ = _import_name
