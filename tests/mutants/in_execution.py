"""Mistakes in what may be executed, and its arrays."""

from tests.mutants.model import Mutant

MUTANTS = (
    Mutant(
        "dialect_utils/execution/custom_calls.py",
        'named("custom-call custom-call-start")',
        'named("custom-call")',
        ("tests/execution/test_custom_calls.py",),
    ),
    Mutant(
        "dialect_utils/execution/errors.py",
        'is_its_own = failure == "rejected" and _ITS_OWN.match(message) is not None',
        "is_its_own = False",
        ("tests/execution/test_errors.py",),
    ),
    Mutant(
        "dialect_utils/execution/reference/elementwise.py",
        "_SIGNS[opcode](*operands)",
        "rounded(_SIGNS[opcode](*map(widened, operands)), result)",
        ("tests/execution/reference/test_signs.py",),
    ),
    Mutant(
        "dialect_utils/execution/run.py",
        "if has(opcode, Trait.COMMUNICATES):",
        "if False:",
        ("tests/execution/test_run.py",),
    ),
    Mutant(
        "dialect_utils/execution/run.py",
        'if opcode == "bitcast":',
        "if False:",
        ("tests/execution/test_run.py",),
    ),
    Mutant(
        "dialect_utils/execution/run.py",
        '_NEGATIVE_ZERO.sub("-0.0", text[start:end_of_constant])',
        "text[start:end_of_constant]",
        ("tests/execution/test_run.py",),
    ),
    Mutant(
        "dialect_utils/execution/run.py",
        "if bare != [list(shapes) for shapes in written]:",
        "if False:",
        ("tests/execution/test_run.py",),
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
    Mutant(
        "dialect_utils/stablehlo/rewrites/editing.py",
        "MOST_OPERATIONS = 20_000",
        "MOST_OPERATIONS = 0",
        ("tests/stablehlo/test_rewrites.py",),
    ),
    Mutant(
        "dialect_utils/stablehlo/rewrites/ordering.py",
        'is_open = compare("EQ", answer, swapped.get(answer, answer), "UNSIGNED")',
        'is_open = compare("NE", answer, answer, "UNSIGNED")',
        ("tests/verdict/sampling/test_orders.py",),
    ),
    Mutant(
        "dialect_utils/execution/engines.py",
        "        _order_totally(module)\n",
        "",
        ("tests/execution/test_worker.py",),
    ),
    Mutant(
        "dialect_utils/execution/npz.py",
        "if file.getinfo(member).file_size != offset + size:",
        "if False:",
        ("tests/execution/test_npz.py",),
    ),
    Mutant(
        "dialect_utils/execution/npz.py",
        "if found != size:",
        "if False:",
        ("tests/execution/test_npz.py",),
    ),
    Mutant(
        "dialect_utils/execution/npz.py",
        "if file.getinfo(member).compress_type not in _METHODS:",
        "if False:",
        ("tests/execution/test_npz.py",),
    ),
    Mutant(
        "dialect_utils/execution/worker.py",
        "flags | os.O_ASYNC",
        "flags",
        ("tests/execution/test_reading.py::test_a_loop_of_mlir_ends_with_the_parent",),
    ),
    Mutant(
        "dialect_utils/execution/conversion.py",
        'if error.failure == "crash" and not is_new:',
        "if False:",
        ("tests/execution/test_reading.py::test_a_worker_that_has_read_other_files_is_tried_twice",),
    ),
    Mutant(
        "dialect_utils/execution/diagnostics.py",
        "0 <= start <= end <= len(source.text)",
        "0 <= start <= end",
        ("tests/execution/test_reading.py::test_diagnostics_of_a_worker_are_checked",),
    ),
    Mutant(
        "dialect_utils/execution/checkpoints.py",
        " or len(elements) != prod(shape) * dtype.itemsize",
        "",
        ("tests/execution/test_checkpoints.py",),
    ),
    Mutant(
        "dialect_utils/execution/arrays.py",
        "return number if is_discrete and typed.astype(number.dtype) != number else typed",
        "return typed",
        ("tests/execution/test_checkpoints.py",),
    ),
    Mutant(
        "dialect_utils/execution/named.py",
        "if prefix and len(files) == 1 and not argument:",
        "if prefix and not argument:",
        ("tests/execution/test_checkpoints.py",),
    ),
    Mutant(
        "dialect_utils/execution/tpu_figures.py",
        "yield done.pop(number)",
        "yield done.pop(next(iter(done)))",
        ("tests/execution/test_tpu_figures.py",),
    ),
)
