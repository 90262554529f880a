"""Mistakes in HLO's graph and text."""

from tests.mutants.model import Mutant

MUTANTS = (
    Mutant(
        "dialect_utils/hlo/text/attributes.py",
        "later = _LAST[_LAST.index(name) + 1 :] if name in _LAST else _LAST",
        "later = ()",
        ("tests/hlo/text/test_attributes.py",),
    ),
    Mutant(
        "dialect_utils/hlo/text/attributes.py",
        "if name in attributes or name == _LAST[-1]:",
        "if name == _LAST[-1]:",
        ("tests/hlo/text/test_attributes.py",),
    ),
    Mutant(
        "dialect_utils/hlo/text/attributes.py",
        "return chr(int(body[1:], 16) & 0xFF)",
        "return chr(int(body[1:], 8) & 0xFF)",
        ("tests/hlo/text/test_attributes.py",),
    ),
    Mutant(
        "dialect_utils/hlo/text/literals.py",
        'has_negative_zero = negative and form.specials != "fnuz"',
        "has_negative_zero = negative",
        ("tests/hlo/text/test_literals.py",),
    ),
    Mutant(
        "dialect_utils/hlo/text/literals.py",
        "exponent = max(exponent, 1)",
        "pass",
        ("tests/hlo/text/test_literals.py",),
    ),
    Mutant(
        "dialect_utils/hlo/text/literals.py",
        "return str(bits - 2 * sign if element_type.is_signed and bits & sign else bits)",
        "return str(bits)",
        ("tests/hlo/text/test_literals.py",),
    ),
    Mutant(
        "dialect_utils/hlo/graph.py",
        "if not users or users[-1] is not item:",
        "if True:",
        ("tests/hlo/test_uses.py",),
    ),
    Mutant(
        "dialect_utils/hlo/graph.py",
        "position = len(self._read) if item is None else item.position\n",
        "position = len(self._read) - 1 if item is None else item.position\n",
        ("tests/hlo/test_order.py",),
    ),
    Mutant(
        "dialect_utils/hlo/graph.py",
        "and item not in self._removed",
        "",
        ("tests/hlo/test_order.py",),
    ),
    Mutant(
        "dialect_utils/hlo/computation.py",
        " and anchor is not self._row[1]:\n            self._row = None",
        " and anchor is not self._row[1]:\n            pass",
        ("tests/hlo/test_editing.py",),
    ),
    Mutant(
        "dialect_utils/hlo/reading.py",
        "if self.inferred_leaves > MOST_INFERRED_LEAVES:",
        "if False:",
        ("tests/hlo/test_costs.py::test_the_limit_counts_the_leaves_of_all_tuples",),
    ),
    Mutant(
        "dialect_utils/hlo/verify.py",
        "return integer(text) if text.isdecimal() else 1",
        "return int(text) if text.isdecimal() else 1",
        ("tests/hlo/test_costs.py",),
    ),
)
