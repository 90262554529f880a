"""Mistakes in what may be executed, and its arrays."""

from tests.mutants.model import Mutant

MUTANTS = (
    Mutant(
        "dialect_utils/execution/guard.py",
        "if has(opcode, Trait.COMMUNICATES):",
        "if False:",
        ("tests/execution/test_guard.py",),
    ),
    Mutant(
        "dialect_utils/execution/guard.py",
        'if opcode == "bitcast":',
        "if False:",
        ("tests/execution/test_guard.py",),
    ),
    Mutant(
        "dialect_utils/execution/guard.py",
        '_NEGATIVE_ZERO.sub("-0.0", text[start:end_of_constant])',
        "text[start:end_of_constant]",
        ("tests/execution/test_guard.py",),
    ),
    Mutant(
        "dialect_utils/execution/guard.py",
        "if bare != [list(shapes) for shapes in written]:",
        "if False:",
        ("tests/execution/test_guard.py",),
    ),
    Mutant(
        "dialect_utils/execution/arrays.py",
        "bits = bits & np.uint8((1 << element_type.bits) - 1)",
        "pass",
        ("tests/execution/test_arrays.py",),
    ),
    Mutant(
        "dialect_utils/execution/arrays.py",
        "((bits << np.uint8(unused)).view(np.int8) >> np.int8(unused)).view(np.uint8)",
        "bits",
        ("tests/execution/test_arrays.py",),
    ),
    Mutant(
        "dialect_utils/execution/arrays.py",
        "if array.size and not (low <= values.min() and values.max() <= high):",
        "if array.size and not low <= values.min():",
        ("tests/execution/test_arrays.py",),
    ),
)
