"""Mistakes in the table of opcodes and what is passed by control flow."""

from tests.mutants.model import Mutant

MUTANTS = (
    Mutant(
        "elementwise:OPERATIONS",
        '_rounded("cbrt", 1, _FUNCTION | Trait.CUT | Trait.ODD, *_ACCURACY, takes=FLOATS)',
        '_rounded("cbrt", 1, EACH_ROUNDED | Trait.CUT | Trait.ODD, *_ACCURACY, takes=FLOATS)',
        ("tests/memory/test_cost.py",),
    ),
    Mutant(
        "_derived",
        "(fewest, known.operands[1]) if phase == START else (1, 1 if phase == DONE else None)",
        "(fewest, known.operands[1])",
        ("tests/ops/test_tables.py",),
    ),
    Mutant(
        "split_asynchronous",
        "base != name and base in HLO_NAMES and (phase != UPDATE or base not in STARTED)",
        "base != name and (phase != UPDATE or base not in STARTED)",
        ("tests/ops/test_tables.py",),
    ),
    Mutant(
        "is_opcode",
        'split_asynchronous(name)[0] in HLO_NAMES and name != "async"',
        "split_asynchronous(name)[0] in HLO_NAMES",
        ("tests/ops/test_tables.py",),
    ),
    Mutant(
        "joins_of",
        "_joins_of_loop(operation)",
        "_joins_of_call(operation)",
        ("tests/test_control_flow.py",),
    ),
    Mutant(
        "in_role_order",
        "sorted(calls, key=lambda call: order.index(call[0]) if call[0] in order else len(order))",
        "list(calls)",
        ("tests/test_control_flow.py",),
    ),
    Mutant(
        "_joins_of_loop",
        "(Operand(operation, index), Yielded(body, index))",
        "(Operand(operation, index),)",
        ("tests/test_control_flow.py",),
    ),
    Mutant(
        "scatter_positions",
        "<=",
        "<",
        ("tests/execution/reference/test_engines.py",),
    ),
    Mutant(
        "_ROTATIONS",
        "(13, 15, 26, 6)",
        "(13, 15, 26, 7)",
        ("tests/execution/reference/test_engines.py",),
    ),
    Mutant(
        "ops:_counted",
        "2 if domain.dimensions(state)[0] > 2 else 0",
        "2 if domain.dimensions(state)[0] > 2 else 1",
        ("tests/execution/reference/test_engines.py",),
    ),
    Mutant(
        "define_triangular_solve",
        '(kind != "NO_TRANSPOSE") ^ (not is_left)',
        'kind != "NO_TRANSPOSE"',
        ("tests/execution/reference/test_engines.py",),
    ),
    Mutant(
        "define_select_and_scatter",
        '"select"',
        '"scatter"',
        ("tests/execution/reference/test_engines.py",),
    ),
    Mutant(
        "_saturated",
        "np.trunc",
        "np.rint",
        ("tests/execution/reference/test_engines.py",),
    ),
    Mutant(
        "_maximum",
        "np.where(np.signbit(left), right, left)",
        "np.where(np.signbit(left), left, right)",
        ("tests/execution/reference/test_semantics.py",),
    ),
    Mutant(
        "_divide_integers",
        "np.array(-1)",
        "np.array(0)",
        ("tests/execution/reference/test_engines.py",),
    ),
    Mutant(
        "_round_away",
        ">=",
        ">",
        ("tests/execution/reference/test_engines.py",),
    ),
    Mutant(
        "Evaluator._typed",
        "not shape.rank and array.shape == self._sizes",
        "not shape.rank",
        ("tests/execution/reference/test_evaluator.py",),
    ),
    Mutant(
        "Evaluator._run_on_arrays",
        "self._sizes = outer",
        "pass",
        ("tests/execution/reference/test_evaluator.py",),
    ),
    Mutant(
        "Bits.reduce_window",
        "np.full(at.shape, True) if windows.has_padding else at != padding",
        "at != padding",
        ("tests/execution/reference/test_semantics.py",),
    ),
    Mutant(
        "USES",
        '"sort topk"',
        '"sort"',
        ("tests/execution/reference/test_semantics.py",),
    ),
    Mutant(
        "integer",
        "int(text) if len(text) <= _MOST_DIGITS else 1 << 63",
        "int(text)",
        ("tests/hlo/test_costs.py",),
    ),
    Mutant(
        "subgroup_size",
        "size * groups",
        "size",
        ("tests/hlo/test_costs.py",),
    ),
    Mutant(
        "dot_factors",
        "shared(operation, {0: left, 1: right, RESULT: index})",
        "shared(operation, {0: left, RESULT: index})",
        ("tests/ops/test_factors.py",),
    ),
    Mutant(
        "reduce_factors",
        "dimension in reduced",
        "dimension not in reduced",
        ("tests/ops/test_factors.py",),
    ),
    Mutant(
        "_Windowed.factors",
        "windows[window] == size and dimension not in mapped",
        "windows[window] == size",
        ("tests/ops/test_factors.py",),
    ),
    Mutant(
        "ops.factors:_divided",
        "max(left, right) % size",
        "False",
        ("tests/ops/test_factors.py",),
    ),
)
