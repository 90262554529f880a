"""Mistakes in what is compared, proved and guaranteed."""

from tests.mutants.model import Mutant

MUTANTS = (
    Mutant(
        "dialect_utils/verdict/field/functions.py",
        "if not (words == words[0]).all():",
        "if False:",
        ("tests/verdict/field/test_over_reals.py",),
    ),
    Mutant(
        "dialect_utils/verdict/field/functions.py",
        'made = made if found.opcode == "maximum" else negate(made)',
        "pass",
        ("tests/verdict/field/test_over_reals.py",),
    ),
    Mutant(
        "dialect_utils/verdict/field/functions.py",
        'return random_reals(word_of("infinity"), int(is_positive))',
        'return random_reals(word_of("infinity")) if is_positive else negate(infinity(True))',
        ("tests/verdict/field/test_over_reals.py",),
    ),
    Mutant(
        "dialect_utils/verdict/field/integers.py",
        'word_of(f"{direction} {element_type}")',
        "word_of(direction)",
        ("tests/verdict/field/test_types.py",),
    ),
    Mutant(
        "dialect_utils/verdict/field/lift/known.py",
        "return not isinstance(label, str) or not is_opcode(label) or has(label, Trait.PURE)",
        "return True",
        ("tests/verdict/field/test_types.py",),
    ),
    Mutant(
        "dialect_utils/verdict/field/lift/elementwise.py",
        "types_text(types) if is_reread(term.label) else types_over_reals(types)",
        "types_over_reals(types)",
        ("tests/verdict/field/test_types.py",),
    ),
    Mutant(
        "dialect_utils/verdict/proof/elements/picks.py",
        "min(last, highest) + 1",
        "last + 1",
        ("tests/verdict/proof/test_indices.py",),
    ),
    Mutant(
        "dialect_utils/verdict/proof/algebra/folding.py",
        'opcode == "add" or (opcode != "negate" and all(value >= 0 for value in values))',
        'opcode == "add" or all(value >= 0 for value in values)',
        ("tests/verdict/proof/test_rules.py",),
    ),
    Mutant(
        "dialect_utils/verdict/comparator.py",
        "if wrong.any():",
        "if wrong.sum() > 1:",
        ("tests/verdict/test_comparator.py",),
    ),
    Mutant(
        "dialect_utils/verdict/comparator.py",
        '(guarantee is Guarantee.ON_INTEGERS and data.kind == "whole")',
        "guarantee is Guarantee.ON_INTEGERS",
        ("tests/verdict/test_comparator.py",),
    ),
    Mutant(
        "dialect_utils/verdict/comparator.py",
        "differs &= ~((x == 0) & (y == 0))",
        "pass",
        ("tests/verdict/test_comparator.py",),
    ),
    Mutant(
        "dialect_utils/verdict/comparator.py",
        "return tiny & (np.signbit(x) == np.signbit(y)) if signs_of_zero else tiny",
        "return tiny",
        ("tests/verdict/test_comparator.py",),
    ),
    Mutant(
        "dialect_utils/opcodes/table.py",
        '_op("copy", 1, _EACH | _DATA | _FORWARDS,',
        '_op("copy", 1, _EACH | _MOVES | _FORWARDS,',
        ("tests/verdict/test_guarantees.py",),
    ),
    Mutant(
        "dialect_utils/verdict/guarantees.py",
        'if used != {"add"}:',
        "if False:",
        ("tests/verdict/test_guarantees.py",),
    ),
    Mutant(
        "dialect_utils/verdict/guarantees.py",
        "terms = max(_elements(value.shape) for value in data) + 1",
        "terms = 1",
        ("tests/verdict/test_guarantees.py",),
    ),
    Mutant(
        "dialect_utils/verdict/guarantees.py",
        "bound <= 1 << _mantissa_bits(array.element_type)",
        "bound < 1 << 99",
        ("tests/verdict/test_guarantees.py",),
    ),
    Mutant(
        "dialect_utils/verdict/proof/attributes/vocabulary.py",
        'or (value == "false" and _is_flag(operation, name))',
        "",
        ("tests/verdict/proof/attributes/test_keys.py",),
    ),
    Mutant(
        "dialect_utils/verdict/proof/attributes/keys.py",
        'return [("type", _TOTAL_ORDER)] if _words(text)[-1] == _TOTAL_ORDER else []',
        "return []",
        ("tests/verdict/proof/attributes/test_keys.py",),
    ),
    Mutant(
        "dialect_utils/verdict/proof/attributes/keys.py",
        'if {*levels} - {"DEFAULT"} else []',
        "if levels else []",
        ("tests/verdict/proof/attributes/test_keys.py",),
    ),
    Mutant(
        "dialect_utils/verdict/proof/attributes/keys.py",
        "    if _ELIDED in literal:",
        "    if False:",
        ("tests/verdict/proof/attributes/test_keys.py",),
    ),
    Mutant(
        "dialect_utils/verdict/combine.py",
        'return replace(run, verdict="unknown", methods=',
        'return replace(run, verdict="equal", methods=',
        ("tests/verdict/test_combine.py",),
    ),
    Mutant(
        "dialect_utils/verdict/difference.py",
        "differs = differs & ~(np.isnan(x) & np.isnan(y))",
        "pass",
        ("tests/verdict/test_difference.py",),
    ),
    Mutant(
        "dialect_utils/verdict/difference.py",
        "np.where(opposite, p + q, np.maximum(p, q) - np.minimum(p, q))",
        "np.maximum(p, q) - np.minimum(p, q)",
        ("tests/verdict/test_difference.py",),
    ),
)
