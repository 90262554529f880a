"""The objects that installed packages add by entry points."""

from __future__ import annotations

import importlib.metadata
from functools import cache
from importlib.metadata import EntryPoint

from dialect_utils.text.diagnostics import DiagnosticError


@cache
def added(group: str) -> dict[str, list[EntryPoint]]:
    """Returns the entry points of a group by name; several packages may have taken one name."""
    found: dict[str, list[EntryPoint]] = {}
    for point in importlib.metadata.entry_points(group=group):
        found.setdefault(point.name, []).append(point)
    return found


def load_added(kind: str, found: list[EntryPoint]) -> object:
    """Imports the object of a name; `kind` is its kind in messages, such as `pass`.

    Raises DiagnosticError where several packages define the name, or the import fails.
    """
    first = found[0]
    if len(found) > 1:
        packages = " and ".join(sorted(point.dist.name if point.dist else point.value for point in found))
        raise DiagnosticError(f"{kind} {first.name} is defined by {packages}", hint="uninstall one of them")
    try:
        return first.load()
    except Exception as error:  # importing another package's module may raise anything
        what = f"{type(error).__name__}: {error}"
        package = f"the package {first.dist.name}" if first.dist else "a package"
        hint = f"this is a mistake of {package}, which adds it as an entry point"
        message = f"{kind} {first.name} ({first.value}) cannot be loaded: {what}"
        raise DiagnosticError(message, hint=hint) from error
