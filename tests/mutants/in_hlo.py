"""Mistakes in HLO's graph and text."""

from tests.mutants.model import Mutant

MUTANTS = (
    Mutant(
        "with_attribute",
        "_LAST[_LAST.index(name) + 1 :] if name in _LAST else _LAST",
        "()",
        ("tests/hlo/text/test_attributes.py",),
    ),
    Mutant(
        "with_attribute",
        "name in attributes or name == _LAST[-1]",
        "name == _LAST[-1]",
        ("tests/hlo/text/test_attributes.py",),
    ),
    Mutant(
        "text:_unescaped",
        "int(body[1:], 16)",
        "int(body[1:], 8)",
        ("tests/hlo/text/test_attributes.py",),
    ),
    Mutant(
        "_encode",
        'negative and form.specials != "fnuz"',
        "negative",
        ("tests/hlo/text/test_literals.py",),
    ),
    Mutant(
        "_encode",
        "exponent = max(exponent, 1)",
        "pass",
        ("tests/hlo/text/test_literals.py",),
    ),
    Mutant(
        "format_scalar",
        "bits - 2 * sign if element_type.is_signed and bits & sign else bits",
        "bits",
        ("tests/hlo/text/test_literals.py",),
    ),
    Mutant(
        "Uses.__init__",
        "not users or users[-1] is not item",
        "True",
        ("tests/hlo/test_uses.py",),
    ),
    Mutant(
        "Order.before",
        "len(self._read)",
        "len(self._read) - 1",
        ("tests/hlo/test_order.py",),
    ),
    Mutant(
        "Order.__contains__",
        "position < len(read) and read[position] is item and item not in self._removed",
        "position < len(read) and read[position] is item",
        ("tests/hlo/test_order.py",),
    ),
    Mutant(
        "Computation._link_run",
        "self._row = None",
        "pass",
        ("tests/hlo/test_editing.py",),
    ),
    Mutant(
        "ReadingContext._count_leaves",
        "self.inferred_leaves > MOST_INFERRED_LEAVES",
        "False",
        ("tests/hlo/test_costs.py::test_the_limit_counts_the_leaves_of_all_tuples",),
    ),
    Mutant(
        "ops:_written",
        "integer(word)",
        "int(word)",
        ("tests/hlo/test_costs.py",),
    ),
)
