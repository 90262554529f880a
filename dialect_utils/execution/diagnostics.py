"""Diagnostics as JSON values, in which a worker sends them to its parent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, get_args

from dialect_utils.execution.messages import MalformedMessageError
from dialect_utils.text import Diagnostic, Location, Source, Span
from dialect_utils.text.diagnostics import Severity


def diagnostics_to_json(diagnostics: Sequence[Diagnostic]) -> list[object]:
    """Returns a list for each diagnostic: message, severity, hint, notes, and the start and end of its location."""
    return [_to_json(each) for each in diagnostics]


def _to_json(diagnostic: Diagnostic) -> list[object]:
    place = diagnostic.location
    span = [] if place is None else [place.span.start, place.span.end]
    return [diagnostic.message, diagnostic.severity, diagnostic.hint, diagnostics_to_json(diagnostic.notes), span]


def diagnostics_from_json(described: object, source: Source) -> tuple[Diagnostic, ...]:
    """Returns the diagnostics of `diagnostics_to_json`, located in `source`; raises MalformedMessageError."""
    if not isinstance(described, list):
        raise MalformedMessageError("diagnostics that are no list")
    return tuple(_from_json(each, source) for each in described)


def _from_json(described: object, source: Source) -> Diagnostic:
    match described:
        case [str(message), severity, None | str() as hint, notes, [*span]] if severity in get_args(Severity):
            found = _location(span, source)
            return Diagnostic(message, found, cast("Severity", severity), hint, diagnostics_from_json(notes, source))
    raise MalformedMessageError("a diagnostic without its message, severity, hint, notes and span")


def _location(span: list[object], source: Source) -> Location | None:
    match span:
        case []:
            return None
        case [int(start), int(end)] if 0 <= start <= end <= len(source.text):
            return Location(source, Span(start, end))
    raise MalformedMessageError("a location outside of the text")
