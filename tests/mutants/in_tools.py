"""Injected faults in the tools: extraction, conversion, counts, short texts and FileCheck lines."""

from tests.mutants.model import Mutant

_EXTRACTION = ("tests/tools/test_extraction.py",)
_CONVERSION = ("tests/tools/test_conversion.py",)
_COUNTING = ("tests/tools/test_counting.py",)
_PRINTING = ("tests/tools/test_printing.py",)
_CHECKS = ("tests/tools/test_checks.py",)

MUTANTS = (
    Mutant(
        "_grow",
        "<",
        "<=",
        _EXTRACTION,
    ),
    Mutant(
        "around",
        "_complete_asynchronous(chosen, function)",
        "",
        _EXTRACTION,
    ),
    Mutant("_leaving", "outside.update(function.results)", "", _EXTRACTION),
    Mutant(
        "_used_by",
        "(*operation.operands, *operation.captured)",
        "tuple(operation.operands)",
        _EXTRACTION,
    ),
    Mutant(
        "find_operation",
        "len(found) == 1 or len(in_entry) == 1",
        "len(found) == 1",
        _EXTRACTION,
    ),
    Mutant(
        "_cut_control",
        "[name for name in names_in(text) if name in kept]",
        "[name for name in names_in(text) ]",
        _EXTRACTION,
    ),
    Mutant(
        "_entry_text",
        "f\"{'ROOT ' if item is root else ''}{line}\"",
        'f"{line}"',
        _EXTRACTION,
    ),
    Mutant(
        "_reached",
        "reached(called, lambda each: (callee for item in each.instructions for callee in item.called))",
        "called",
        _EXTRACTION,
    ),
    Mutant(
        "_from_stablehlo",
        "made.set_entry_layout(parameters, [result])",
        "pass",
        _CONVERSION,
    ),
    Mutant(
        "tools:write",
        "locations",
        "True",
        _CONVERSION,
    ),
    Mutant(
        "tools:write",
        'written.portable_artifact() if form == "portable" else serialize(written, emit)',
        "serialize(written, emit)",
        _CONVERSION,
    ),
    Mutant(
        "count_operations",
        "makes_arrays and not is_alias",
        "makes_arrays",
        _COUNTING,
    ),
    Mutant(
        "count_operations",
        'all(caller.opcode != "fusion" for caller in function.callers)',
        "True",
        _COUNTING,
    ),
    Mutant(
        "_shorten_names",
        "computation.name and len(name) < len(item.name) and name not in kept",
        "computation.name and len(name) < len(item.name)",
        _PRINTING,
    ),
    Mutant(
        "_computation_text",
        '"ENTRY " if computation.is_marked_entry else ""',
        '""',
        _PRINTING,
    ),
    Mutant(
        "check_lines",
        '"CHECK-NEXT"',
        '"CHECK"',
        _CHECKS,
    ),
    Mutant(
        "_Names.use",
        'f"[[{self._variables[name]}]]"',
        '"{{[^ ,)]+}}"',
        _CHECKS,
    ),
    Mutant(
        "_Names.define",
        'f"[[{variable}:{_ANY_NAME}]]"',
        'f"[[{variable}:.*]]"',
        _CHECKS,
    ),
)
