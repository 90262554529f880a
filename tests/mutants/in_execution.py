"""Mistakes in what may be executed, and its arrays."""

from tests.mutants.model import Mutant

MUTANTS = (
    Mutant(
        "custom_calls:_CALLS",
        '"custom-call custom-call-start"',
        '"custom-call"',
        ("tests/execution/test_custom_calls.py",),
    ),
    Mutant(
        "from_jaxlib",
        'failure == "rejected" and _ITS_OWN.match(message) is not None',
        "False",
        ("tests/execution/test_errors.py",),
    ),
    Mutant(
        "reference:_found",
        "_SIGNS[opcode](*operands)",
        "rounded(_SIGNS[opcode](*map(widened, operands)), result)",
        ("tests/execution/reference/test_signs.py",),
    ),
    Mutant(
        "run:_problem",
        "has(opcode, Trait.COMMUNICATES)",
        "False",
        ("tests/execution/test_run.py",),
    ),
    Mutant(
        "run:_problem",
        'opcode == "bitcast"',
        "False",
        ("tests/execution/test_run.py",),
    ),
    Mutant(
        "_with_negative_zeros",
        '_NEGATIVE_ZERO.sub("-0.0", text[start:end_of_constant])',
        "text[start:end_of_constant]",
        ("tests/execution/test_run.py",),
    ),
    Mutant(
        "without_layouts",
        "bare != [list(shapes) for shapes in written]",
        "False",
        ("tests/execution/test_run.py",),
    ),
    Mutant(
        "to_bits",
        "bits = bits & np.uint8((1 << element_type.bits) - 1)",
        "pass",
        ("tests/execution/test_arrays.py",),
    ),
    Mutant(
        "from_bits",
        "((bits << np.uint8(unused)).view(np.int8) >> np.int8(unused)).view(np.uint8)",
        "bits",
        ("tests/execution/test_arrays.py",),
    ),
    Mutant(
        "_checked_integers",
        "low <= values.min() and values.max() <= high",
        "low <= values.min()",
        ("tests/execution/test_arrays.py",),
    ),
    Mutant(
        "MOST_OPERATIONS",
        "20_000",
        "0",
        ("tests/stablehlo/test_rewrites.py",),
    ),
    Mutant(
        "rewrites:_decide",
        'compare("EQ", answer, swapped.get(answer, answer), "UNSIGNED")',
        'compare("NE", answer, answer, "UNSIGNED")',
        ("tests/verdict/sampling/test_orders.py",),
    ),
    Mutant(
        "prepare_interpreter",
        "_order_totally(module)",
        "",
        ("tests/execution/test_worker.py",),
    ),
    Mutant(
        "archives:_load",
        "file.getinfo(member).file_size != offset + size",
        "False",
        ("tests/execution/test_npz.py",),
    ),
    Mutant(
        "archives:_load",
        "found != size",
        "False",
        ("tests/execution/test_npz.py",),
    ),
    Mutant(
        "_read_header",
        "file.getinfo(member).compress_type not in _METHODS",
        "False",
        ("tests/execution/test_npz.py",),
    ),
    Mutant(
        "_ended_with_input",
        "flags | os.O_ASYNC",
        "flags",
        ("tests/execution/test_reading.py::test_a_loop_of_mlir_ends_with_the_parent",),
    ),
    Mutant(
        "conversion:_read",
        'error.failure == "crash" and not is_new',
        "False",
        ("tests/execution/test_reading.py::test_a_worker_that_has_read_other_files_is_tried_twice",),
    ),
    Mutant(
        "messages:_location",
        "0 <= start <= end <= len(source.text)",
        "0 <= start <= end",
        ("tests/execution/test_reading.py::test_diagnostics_of_a_worker_are_checked",),
    ),
    Mutant(
        "_extension",
        (
            "not all(isinstance(size, int) and size >= 0 for size in shape) or len(elements) != prod(shape) * "
            "dtype.itemsize"
        ),
        "not all(isinstance(size, int) and size >= 0 for size in shape)",
        ("tests/execution/test_checkpoints.py",),
    ),
    Mutant(
        "_typed_number",
        "number if is_discrete and typed.astype(number.dtype) != number else typed",
        "typed",
        ("tests/execution/test_checkpoints.py",),
    ),
    Mutant(
        "read_inputs",
        "prefix and len(files) == 1 and not argument",
        "prefix and not argument",
        ("tests/execution/test_checkpoints.py",),
    ),
    Mutant(
        "FigureCompiler.compile_all",
        "done.pop(number)",
        "done.pop(next(iter(done)))",
        ("tests/execution/test_compilers.py",),
    ),
)
