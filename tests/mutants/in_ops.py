"""Mistakes in the table of opcodes and what is passed by control flow."""

from tests.mutants.model import Mutant

MUTANTS = (
    Mutant(
        "dialect_utils/ops/__init__.py",
        "counts = (fewest, known.operands[1]) if phase == START else (1, 1 if phase == DONE else None)",
        "counts = (fewest, known.operands[1])",
        ("tests/ops/test_tables.py",),
    ),
    Mutant(
        "dialect_utils/ops/__init__.py",
        "if base != name and base in HLO_NAMES and (phase",
        "if base != name and (phase",
        ("tests/ops/test_tables.py",),
    ),
    Mutant(
        "dialect_utils/ops/__init__.py",
        'and name != "async"',
        "",
        ("tests/ops/test_tables.py",),
    ),
    Mutant(
        "dialect_utils/ir/control_flow.py",
        "return _joins_of_loop(operation)",
        "return _joins_of_call(operation)",
        ("tests/test_control_flow.py",),
    ),
    Mutant(
        "dialect_utils/ir/control_flow.py",
        "return sorted(calls, key=lambda call: order.index(call[0]) if call[0] in order else len(order))",
        "return list(calls)",
        ("tests/test_control_flow.py",),
    ),
    Mutant(
        "dialect_utils/ir/control_flow.py",
        "Join((Operand(operation, index), Yielded(body, index)), targets)",
        "Join((Operand(operation, index),), targets)",
        ("tests/test_control_flow.py",),
    ),
)
