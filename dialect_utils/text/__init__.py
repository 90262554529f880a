"""Source text, places in it, and diagnostics that point at them."""

from dialect_utils.text.diagnostics import (
    Diagnostic,
    DiagnosticError,
    Severity,
    error_at,
    nearest,
    render,
)
from dialect_utils.text.input_file import LARGEST_TEXT, open_input, read_input, read_start
from dialect_utils.text.kinds import kind_of
from dialect_utils.text.printable import PrintableStream, printable
from dialect_utils.text.source import Location, Source, Span, elided

__all__ = [
    "LARGEST_TEXT",
    "Diagnostic",
    "DiagnosticError",
    "Location",
    "PrintableStream",
    "Severity",
    "Source",
    "Span",
    "elided",
    "error_at",
    "kind_of",
    "nearest",
    "open_input",
    "printable",
    "read_input",
    "read_start",
    "render",
]
