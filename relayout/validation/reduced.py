"""The smallest pair of modules that still shows the difference of a step."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dialect_utils.io.files import encode, parse_bytes
from dialect_utils.ir import Module
from dialect_utils.text import DiagnosticError
from dialect_utils.tools.printing import format_short
from passes.framework.pipeline import SUFFIX
from relayout.findings import Finder, is_kept, reduce_finding
from relayout.validation.result import Reduced

if TYPE_CHECKING:
    from dialect_utils.execution import Worker
    from dialect_utils.verdict import Cause, Options
    from relayout.findings import Crash


def reduced_pair(modules: Sequence[Module], options: Options, worker: Worker, seconds: float) -> Reduced | None:
    """Returns a smaller pair that differs for the same cause, None where the pair shows no cause to keep.

    The search ends after so many seconds with the smallest pair so far.
    """
    end = time.monotonic() + seconds
    finder = Finder(worker, "different", options=replace(options, power=0))
    try:
        found = finder.find(modules)
        if found is None:
            return None

        def find(candidate: Sequence[Module]) -> Cause | Crash | None:
            return finder.find(candidate) if time.monotonic() < end else None

        small = reduce_finding(modules, found, find)
    except DiagnosticError:
        return None
    suffix = f".{SUFFIX[modules[0].dialect]}"
    for texts in (map(text_for_people, small), (module.text() for module in small)):
        before, after = texts
        shown = _shown(before, after, finder)
        if shown is not None and is_kept(found, shown, small):
            return Reduced(before, after, suffix, str(shown))
    return None


def text_for_people(module: Module) -> str:
    """Returns the text of a module without metadata."""
    return format_short(module, keep=("backend_config", "names"))


def _shown(before: str, after: str, finder: Finder) -> Cause | Crash | None:
    """Returns the difference that two texts show once they are read again."""
    try:
        return finder.find([parse_bytes(encode(text), "<reduced>") for text in (before, after)])
    except DiagnosticError:
        return None
