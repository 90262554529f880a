"""Injected faults in the tools: extraction, conversion, counts, short texts and FileCheck lines."""

from tests.mutants.model import Mutant

_EXTRACTION = ("tests/tools/test_extraction.py",)
_CONVERSION = ("tests/tools/test_conversion.py",)
_COUNTING = ("tests/tools/test_counting.py",)
_PRINTING = ("tests/tools/test_printing.py",)
_CHECKS = ("tests/tools/test_checks.py",)

MUTANTS = (
    Mutant(
        "dialect_utils/tools/extraction.py",
        "while border and (steps is None or taken < steps):",
        "while border and (steps is None or taken <= steps):",
        _EXTRACTION,
    ),
    Mutant(
        "dialect_utils/tools/extraction.py",
        "    _complete_asynchronous(chosen, function)\n",
        "",
        _EXTRACTION,
    ),
    Mutant("dialect_utils/tools/extraction.py", "    outside.update(function.results)\n", "", _EXTRACTION),
    Mutant(
        "dialect_utils/tools/extraction.py",
        "return (*operation.operands, *operation.captured)",
        "return tuple(operation.operands)",
        _EXTRACTION,
    ),
    Mutant(
        "dialect_utils/tools/extraction.py",
        "if len(found) == 1 or len(in_entry) == 1:",
        "if len(found) == 1:",
        _EXTRACTION,
    ),
    Mutant(
        "dialect_utils/tools/extraction.py",
        "if name in kept]",
        "]",
        _EXTRACTION,
    ),
    Mutant(
        "dialect_utils/tools/extraction.py",
        "f\"{'ROOT ' if item is root else ''}{line}\"",
        'f"{line}"',
        _EXTRACTION,
    ),
    Mutant(
        "dialect_utils/tools/extraction.py",
        "waiting += [callee for item in computation.instructions for callee in item.called]",
        "pass",
        _EXTRACTION,
    ),
    Mutant(
        "dialect_utils/tools/conversion.py",
        "made.set_entry_layout(parameters, [result])",
        "pass",
        _CONVERSION,
    ),
    Mutant(
        "dialect_utils/tools/conversion.py",
        "written.has_locations = locations",
        "written.has_locations = True",
        _CONVERSION,
    ),
    Mutant(
        "dialect_utils/tools/conversion.py",
        'written.portable_artifact() if form == "portable" else serialize(cast(Module, written), emit)',
        "serialize(cast(Module, written), emit)",
        _CONVERSION,
    ),
    Mutant(
        "dialect_utils/tools/counting.py",
        "size = _bytes(operation.results) if makes_arrays and not is_alias else 0",
        "size = _bytes(operation.results) if makes_arrays else 0",
        _COUNTING,
    ),
    Mutant(
        "dialect_utils/tools/counting.py",
        'all(caller.opcode != "fusion" for caller in function.callers)',
        "True",
        _COUNTING,
    ),
    Mutant(
        "dialect_utils/tools/printing.py",
        "if computation.name and len(name) < len(item.name) and name not in kept:",
        "if computation.name and len(name) < len(item.name):",
        _PRINTING,
    ),
    Mutant(
        "dialect_utils/tools/printing.py",
        'mark = "ENTRY " if computation.is_marked_entry else ""',
        'mark = ""',
        _PRINTING,
    ),
    Mutant(
        "dialect_utils/tools/checks.py",
        'directive = "CHECK-NEXT"',
        'directive = "CHECK"',
        _CHECKS,
    ),
    Mutant(
        "dialect_utils/tools/checks.py",
        'return f"[[{self._variables[name]}]]"',
        'return "{{[^ ,)]+}}"',
        _CHECKS,
    ),
    Mutant(
        "dialect_utils/tools/checks.py",
        'return f"[[{variable}:{_ANY_NAME}]]"',
        'return f"[[{variable}:.*]]"',
        _CHECKS,
    ),
)
