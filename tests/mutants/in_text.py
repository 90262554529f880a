"""Injected faults in sources and diagnostics."""

from tests.mutants.model import Mutant

MUTANTS = (
    Mutant(
        "dialect_utils/text/diagnostics.py",
        "\\u2028-\\u202e",
        "\\u2028-\\u2029",
        ("tests/text/test_diagnostics.py",),
    ),
    Mutant(
        "dialect_utils/text/diagnostics.py",
        "line = bisect_right(self._line_starts, offset)",
        "line = bisect_right(self._line_starts, offset - 1)",
        ("tests/text/test_diagnostics.py",),
    ),
    Mutant(
        "dialect_utils/text/diagnostics.py",
        '"\\t" if char == "\\t" else " "',
        '" "',
        ("tests/text/test_diagnostics.py",),
    ),
    Mutant(
        "dialect_utils/text/diagnostics.py",
        "    start -= cut\n",
        "    pass\n",
        ("tests/text/test_diagnostics.py",),
    ),
    Mutant(
        "dialect_utils/text/diagnostics.py",
        "return closest[0] if len(closest) == 1 else None",
        "return closest[0] if closest else None",
        ("tests/text/test_diagnostics.py",),
    ),
    Mutant(
        "dialect_utils/text/input_file.py",
        "if os.pardir in (*folders, name):",
        "if False:",
        ("tests/io/test_inputs.py", "tests/text/test_input_file.py"),
    ),
    Mutant(
        "dialect_utils/text/input_file.py",
        "os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=outer)",
        "os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=outer)",
        ("tests/text/test_input_file.py",),
    ),
    Mutant(
        "dialect_utils/text/input_file.py",
        "            os.close(outer)\n",
        "",
        ("tests/text/test_input_file.py",),
    ),
    Mutant(
        "dialect_utils/text/html.py",
        "return escape(printable(text))",
        "return text",
        ("tests/relayout/test_representations.py",),
    ),
)
