"""Mistakes in StableHLO modules and their annotations."""

from tests.mutants.model import Mutant

MUTANTS = (
    Mutant(
        "dialect_utils/stablehlo/origins.py",
        "index -= size",
        "pass",
        ("tests/stablehlo/test_origins.py",),
    ),
    Mutant(
        "dialect_utils/stablehlo/origins.py",
        'return f"{name}#{index}" if count else name',
        'return f"{name}#{index}"',
        ("tests/stablehlo/test_origins.py",),
    ),
    Mutant(
        "dialect_utils/stablehlo/origins.py",
        'depth += {"(": 1, ")": -1}.get(match[0], 0)',
        "depth -= 1",
        ("tests/stablehlo/test_parse.py",),
    ),
    Mutant(
        "dialect_utils/stablehlo/annotations.py",
        "if '\"' in match[0]:",
        "if False:",
        ("tests/stablehlo/test_sharding.py",),
    ),
    Mutant(
        "dialect_utils/stablehlo/annotations.py",
        '"{?}" if "?" in match[0] else "{}"',
        '"{}"',
        ("tests/stablehlo/test_sharding.py",),
    ),
    Mutant(
        "dialect_utils/stablehlo/annotations.py",
        "if tuple(shape.without_layout for shape in shapes) == natural:",
        "if True:",
        ("tests/stablehlo/test_layouts.py",),
    ),
    Mutant(
        "dialect_utils/stablehlo/module.py",
        "if removed.is_region or removed.callers or removed.is_entry:",
        "if removed.is_region or removed.is_entry:",
        ("tests/stablehlo/test_edit.py",),
    ),
    Mutant(
        "dialect_utils/stablehlo/parse.py",
        'if not found["target"] and (found["symbol"] or found["end"]) and',
        'if (found["symbol"] or found["end"]) and',
        ("tests/stablehlo/test_parse.py",),
    ),
    Mutant(
        "dialect_utils/stablehlo/rewrites/observing.py",
        "state = [values.get(value, value) for value in end.operands]",
        "pass",
        ("tests/stablehlo/test_rewrites.py",),
    ),
)
