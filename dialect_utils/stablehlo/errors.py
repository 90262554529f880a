"""MLIR's errors as diagnostics, at the place in the text that was read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from dialect_utils.stablehlo.bindings import ir
from dialect_utils.stablehlo.origins import location_of, place_of
from dialect_utils.text import Diagnostic, DiagnosticError, Location, Source, Span

# MLIR lists every dialect there is, in a note longer than a screen is wide.
_DIALECT_LIST = "Available dialects:"
# An op or a type of a dialect that jaxlib does not have; what MLIR advises there is for programs that call it.
_OTHER_DIALECT = re.compile(r"Dialect `(\w+)' not found|`!\"?(\w+).*` type created with unregistered dialect")

_STABLEHLO = "StableHLO is, as jax.jit(f).lower(...).as_text() prints it"


def diagnostics_of(error: ir.MLIRError, source: Source) -> tuple[Diagnostic, ...]:
    """Returns the diagnostics of an MLIR error, with MLIR's own messages."""
    found = tuple(_diagnostic(info, source) for info in error.error_diagnostics)
    return found or (Diagnostic(str(error).strip()),)


def _diagnostic(info: ir.DiagnosticInfo | ir.Diagnostic, source: Source) -> Diagnostic:
    notes = (note for note in info.notes if not note.message.startswith(_DIALECT_LIST))
    severity: ir.DiagnosticSeverity = info.severity
    message, hint = _in_our_words(re.sub(r"\s+", " ", info.message).strip())
    return Diagnostic(
        message,
        location_of(source, place_of(info.location)),
        "note" if severity in (ir.DiagnosticSeverity.NOTE, ir.DiagnosticSeverity.REMARK) else "error",
        hint,
        tuple(replace(_diagnostic(note, source), severity="note") for note in notes),
    )


def _in_our_words(message: str) -> tuple[str, str | None]:
    """Returns MLIR's message and a hint, both for people who gave a module of another dialect."""
    found = _OTHER_DIALECT.match(message)
    if found is None:
        return message, None
    return f"{found[1] or found[2]} is a dialect that is not read here", _STABLEHLO


@contextmanager
def captured(context: ir.Context, source: Source) -> Iterator[list[Diagnostic]]:
    """Collects what MLIR would otherwise write to standard error, as notes."""
    found: list[Diagnostic] = []

    def keep(info: ir.Diagnostic) -> bool:
        found.append(replace(_diagnostic(info, source), severity="note"))
        return True

    handler: Any = context.attach_diagnostic_handler(keep)
    try:
        yield found
    finally:
        handler.detach()


def moved_to(error: DiagnosticError, source: Source, near: Location | None) -> DiagnosticError:
    """Returns an error about an annotation's text with the place of that text in `source`.

    The first occurrence after `near` is the annotation; `near` itself where there is none.
    """
    return DiagnosticError(tuple(replace(d, location=_moved(d, source, near)) for d in error.diagnostics))


def _moved(diagnostic: Diagnostic, source: Source, near: Location | None) -> Location | None:
    inner = diagnostic.location
    if inner is None or near is None or inner.source is source:
        return inner if inner is not None and inner.source is source else near
    start = source.text.find(f'"{inner.source.text}"', near.span.start)
    return near if start < 0 else Location(source, _within(inner.span, start + 1))


def _within(span: Span, start: int) -> Span:
    return Span(start + span.start, start + max(span.end, span.start + 1))
