"""Injected faults in sources and diagnostics."""

from tests.mutants.model import Mutant

MUTANTS = (
    Mutant(
        "dialect_utils/text/diagnostics.py",
        "\\u2028-\\u202e",
        "\\u2028-\\u2029",
        ("tests/text/test_diagnostics.py",),
    ),
    Mutant(
        "dialect_utils/text/diagnostics.py",
        "line = bisect_right(self._line_starts, offset)",
        "line = bisect_right(self._line_starts, offset - 1)",
        ("tests/text/test_diagnostics.py",),
    ),
    Mutant(
        "dialect_utils/text/diagnostics.py",
        '"\\t" if char == "\\t" else " "',
        '" "',
        ("tests/text/test_diagnostics.py",),
    ),
    Mutant(
        "dialect_utils/text/diagnostics.py",
        "    start -= cut\n",
        "    pass\n",
        ("tests/text/test_diagnostics.py",),
    ),
    Mutant(
        "dialect_utils/text/diagnostics.py",
        "is_clear = len(close) == 1 or (len(close) > 1 and close[0][0] > close[1][0])",
        "is_clear = bool(close)",
        ("tests/text/test_diagnostics.py",),
    ),
)
