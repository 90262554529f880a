"""Source text, spans of it, and diagnostics."""

from dialect_utils.text.comments import without_comments
from dialect_utils.text.diagnostics import (
    Diagnostic,
    DiagnosticError,
    Location,
    PrintableStream,
    Severity,
    Source,
    Span,
    all_nearest,
    elided,
    error_at,
    format_bytes,
    kind_of,
    nearest,
    printable,
    render,
)
from dialect_utils.text.input_file import (
    LARGEST_TEXT,
    MissingFileError,
    leaves_directory,
    open_input,
    read_input,
    read_start,
)

__all__ = [
    "LARGEST_TEXT",
    "Diagnostic",
    "DiagnosticError",
    "Location",
    "MissingFileError",
    "PrintableStream",
    "Severity",
    "Source",
    "Span",
    "all_nearest",
    "elided",
    "error_at",
    "format_bytes",
    "kind_of",
    "leaves_directory",
    "nearest",
    "open_input",
    "printable",
    "read_input",
    "read_start",
    "render",
    "without_comments",
]
