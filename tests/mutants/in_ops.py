"""Mistakes in the table of opcodes and what is passed by control flow."""

from tests.mutants.model import Mutant

MUTANTS = (
    Mutant(
        "dialect_utils/ops/elementwise.py",
        '*_each("cbrt", 1, _FUNCTION | Trait.CUT',
        '*_each("cbrt", 1, EACH_ROUNDED | Trait.CUT',
        ("tests/memory/test_cost.py",),
    ),
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
    Mutant(
        "dialect_utils/ops/positions.py",
        "(column >= 0) & (column <= last)",
        "(column >= 0) & (column < last)",
        ("tests/execution/reference/test_engines.py",),
    ),
    Mutant(
        "dialect_utils/ops/random.py",
        "_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))",
        "_ROTATIONS = ((13, 15, 26, 7), (17, 29, 16, 24))",
        ("tests/execution/reference/test_engines.py",),
    ),
    Mutant(
        "dialect_utils/ops/random.py",
        "words.spread(state, 2 if domain.dimensions(state)[0] > 2 else 0, count)",
        "words.spread(state, 2 if domain.dimensions(state)[0] > 2 else 1, count)",
        ("tests/execution/reference/test_engines.py",),
    ),
    Mutant(
        "dialect_utils/ops/solvers.py",
        'is_lower ^= (kind != "NO_TRANSPOSE") ^ (not is_left)',
        'is_lower ^= kind != "NO_TRANSPOSE"',
        ("tests/execution/reference/test_engines.py",),
    ),
    Mutant(
        "dialect_utils/ops/windows.py",
        'operation.called_as("select"), array, window',
        'operation.called_as("scatter"), array, window',
        ("tests/execution/reference/test_engines.py",),
    ),
    Mutant(
        "dialect_utils/execution/reference/conversions.py",
        "np.isnan(array), 0.0, np.trunc(array))",
        "np.isnan(array), 0.0, np.rint(array))",
        ("tests/execution/reference/test_engines.py",),
    ),
    Mutant(
        "dialect_utils/execution/reference/elementwise.py",
        "np.where(left == right, np.where(np.signbit(left), right, left), np.maximum(left, right))",
        "np.where(left == right, np.where(np.signbit(left), left, right), np.maximum(left, right))",
        ("tests/execution/reference/test_semantics.py",),
    ),
    Mutant(
        "dialect_utils/execution/reference/elementwise.py",
        "return np.where(right == 0, np.array(-1).astype(left.dtype), quotient)",
        "return np.where(right == 0, np.array(0).astype(left.dtype), quotient)",
        ("tests/execution/reference/test_engines.py",),
    ),
    Mutant(
        "dialect_utils/execution/reference/elementwise.py",
        "np.abs(array - whole) >= 0.5",
        "np.abs(array - whole) > 0.5",
        ("tests/execution/reference/test_engines.py",),
    ),
    Mutant(
        "dialect_utils/execution/reference/evaluator.py",
        "is_spread = not shape.rank and array.shape == self._sizes",
        "is_spread = not shape.rank",
        ("tests/execution/reference/test_evaluator.py",),
    ),
    Mutant(
        "dialect_utils/execution/reference/evaluator.py",
        "self._sizes = outer",
        "pass",
        ("tests/execution/reference/test_evaluator.py",),
    ),
    Mutant(
        "dialect_utils/execution/reference/domain.py",
        "kept = np.full(at.shape, True) if has_padding else at != padding",
        "kept = at != padding",
        ("tests/execution/reference/test_semantics.py",),
    ),
    Mutant(
        "dialect_utils/ops/choices.py",
        'Choice.EQUAL_KEYS: named("sort topk"),',
        'Choice.EQUAL_KEYS: named("sort"),',
        ("tests/execution/reference/test_semantics.py",),
    ),
    Mutant(
        "dialect_utils/ops/devices.py",
        "return int(text) if len(text) <= _MOST_DIGITS else 1 << 63",
        "return int(text)",
        ("tests/hlo/test_costs.py",),
    ),
    Mutant(
        "dialect_utils/ops/devices.py",
        "total = sum(size * groups for size, groups in sizes.items())",
        "total = sum(size for size, groups in sizes.items())",
        ("tests/hlo/test_costs.py",),
    ),
)
