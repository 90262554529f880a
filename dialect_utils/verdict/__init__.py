"""Whether two modules compute the same, and how that is known.

Each name is imported when it is first used: few commands need all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialect_utils.lazy_names import import_name

if TYPE_CHECKING:
    from dialect_utils.verdict.cause import Cause as Cause
    from dialect_utils.verdict.compare import compare_modules as compare_modules, compare_stages as compare_stages
    from dialect_utils.verdict.differences import (
        Counterexample as Counterexample,
        MovedElement as MovedElement,
        Place as Place,
        Tolerance as Tolerance,
        first_difference as first_difference,
    )
    from dialect_utils.verdict.entry import pack_by_index as pack_by_index, unpack_by_index as unpack_by_index
    from dialect_utils.verdict.evidence import Verdict as Verdict
    from dialect_utils.verdict.options import DotPrecision as DotPrecision, Method as Method, Options as Options
    from dialect_utils.verdict.outcome import Planted as Planted, Power as Power
    from dialect_utils.verdict.proof import ProofResult as ProofResult, try_prove as try_prove
    from dialect_utils.verdict.sampling import (
        random_inputs as random_inputs,
        small_integer_positions as small_integer_positions,
    )
else:

    def __getattr__(name: str) -> object:
        return import_name(__name__, name)
