"""Source text, places in it, and diagnostics that point at them."""

from dialect_utils.text.diagnostics import (
    Diagnostic,
    DiagnosticError,
    Severity,
    error_at,
    nearest,
    render,
)
from dialect_utils.text.source import Location, Source, Span

__all__ = [
    "Diagnostic",
    "DiagnosticError",
    "Location",
    "Severity",
    "Source",
    "Span",
    "error_at",
    "nearest",
    "render",
]
