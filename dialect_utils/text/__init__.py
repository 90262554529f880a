"""Source text, spans of it, and diagnostics."""

from dialect_utils.text.diagnostics import (
    Diagnostic as Diagnostic,
    DiagnosticError as DiagnosticError,
    Location as Location,
    PrintableStream as PrintableStream,
    Severity as Severity,
    Source as Source,
    Span as Span,
    all_nearest as all_nearest,
    elided as elided,
    error_at as error_at,
    format_bytes as format_bytes,
    format_count as format_count,
    format_share as format_share,
    kind_of as kind_of,
    meant as meant,
    nearest as nearest,
    printable as printable,
    render as render,
    without_comments as without_comments,
)
from dialect_utils.text.input_file import (
    LARGEST_TEXT as LARGEST_TEXT,
    MissingFileError as MissingFileError,
    entries_below as entries_below,
    leaves_directory as leaves_directory,
    open_input as open_input,
    read_input as read_input,
    read_start as read_start,
)
