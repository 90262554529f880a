"""Injected faults in sources and diagnostics."""

from tests.mutants.model import Mutant

MUTANTS = (
    Mutant(
        "_UNPRINTABLE",
        (
            '"[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufff9-\\ufffb\\ud800-\\udfff]"'
        ),
        (
            '"[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u2028-\\u2029\\u2066-\\u2069\\ufff9-\\ufffb\\ud800-\\udfff]"'
        ),
        ("tests/text/test_diagnostics.py",),
    ),
    Mutant(
        "Source.line_and_column",
        "bisect_right(self._line_starts, offset)",
        "bisect_right(self._line_starts, offset - 1)",
        ("tests/text/test_diagnostics.py",),
    ),
    Mutant(
        "_excerpt",
        '"\\t" if char == "\\t" else " "',
        '" "',
        ("tests/text/test_diagnostics.py",),
    ),
    Mutant(
        "_excerpt",
        "start -= cut",
        "pass",
        ("tests/text/test_diagnostics.py",),
    ),
    Mutant(
        "nearest",
        "len(closest) == 1",
        "closest",
        ("tests/text/test_diagnostics.py",),
    ),
    Mutant(
        "_open_within",
        "os.pardir in (*folders, name)",
        "False",
        ("tests/io/test_inputs.py", "tests/text/test_input_file.py"),
    ),
    Mutant(
        "_open_within",
        "os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW",
        "os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC",
        ("tests/text/test_input_file.py",),
    ),
    Mutant(
        "_open_within",
        "os.close(outer)",
        "",
        ("tests/text/test_input_file.py",),
    ),
    Mutant(
        "html_text",
        "escape(printable(text))",
        "text",
        ("tests/relayout/test_representations.py",),
    ),
)
