"""Mistakes in StableHLO modules and their annotations."""

from tests.mutants.model import Mutant

MUTANTS = (
    Mutant(
        "result_name",
        "index -= size",
        "pass",
        ("tests/stablehlo/test_origins.py",),
    ),
    Mutant(
        "result_name",
        'f"{name}#{index}" if count else name',
        'f"{name}#{index}"',
        ("tests/stablehlo/test_origins.py",),
    ),
    Mutant(
        "stablehlo:_closing",
        'depth += {"(": 1, ")": -1}.get(match[0], 0)',
        "depth -= 1",
        ("tests/stablehlo/test_parse.py",),
    ),
    Mutant(
        "_followed",
        "'\"' in match[0]",
        "False",
        ("tests/stablehlo/test_sharding.py",),
    ),
    Mutant(
        "_followed",
        '"{?}" if "?" in match[0] else "{}"',
        '"{}"',
        ("tests/stablehlo/test_sharding.py",),
    ),
    Mutant(
        "_try_fitting",
        "tuple(shape.without_layout for shape in shapes) == natural",
        "True",
        ("tests/stablehlo/test_layouts.py",),
    ),
    Mutant(
        "StableHloModule.remove_function",
        "removed.is_region or removed.callers or removed.is_entry",
        "removed.is_region or removed.is_entry",
        ("tests/stablehlo/test_edit.py",),
    ),
    Mutant(
        "_check_characters",
        'not found["target"] and (found["symbol"] or found["end"]) and not _is_utf8(found["text"])',
        '(found["symbol"] or found["end"]) and not _is_utf8(found["text"])',
        ("tests/stablehlo/test_parse.py",),
    ),
    Mutant(
        "_add_iterations",
        "state = [values.get(value, value) for value in end.operands]",
        "pass",
        ("tests/stablehlo/test_rewrites.py",),
    ),
    Mutant(
        "StableHloOperation.symbols",
        "self.is_unknown",
        "False",
        ("tests/stablehlo/test_foreign.py",),
    ),
    Mutant(
        "StableHloOperation.attributes",
        "len(self.mlir.successors)",
        "0",
        ("tests/stablehlo/test_foreign.py",),
    ),
    Mutant(
        "stablehlo:_is_note",
        "bool(dot) and not is_known_dialect(dialect)",
        "False",
        ("tests/stablehlo/test_foreign.py",),
    ),
)
