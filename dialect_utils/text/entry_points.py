"""The objects that installed packages add by entry points."""

from __future__ import annotations

import importlib.metadata
from functools import cache
from importlib.metadata import EntryPoint
from typing import TypeVar

from dialect_utils.text.diagnostics import DiagnosticError

T = TypeVar("T")


@cache
def added(group: str) -> dict[str, list[EntryPoint]]:
    """Returns the entry points of a group by name; several packages may have taken one name."""
    found: dict[str, list[EntryPoint]] = {}
    for point in importlib.metadata.entry_points(group=group):
        found.setdefault(point.name, []).append(point)
    return found


def load_added(kind: str, expected: type[T], found: list[EntryPoint], hint: str) -> T:
    """Imports the object of a name; `kind` is its kind in messages, such as `pass`, `hint` says what makes one.

    Raises DiagnosticError where several packages define the name, the import fails, or it is another object.
    """
    first = found[0]
    if len(found) > 1:
        packages = " and ".join(sorted(point.dist.name if point.dist else point.value for point in found))
        raise DiagnosticError(f"{kind} {first.name} is defined by {packages}", hint="uninstall one of them")
    try:
        loaded = first.load()
    except Exception as error:  # importing another package's module may raise anything
        message = f"{kind} {first.name} ({first.value}) cannot be loaded: {type(error).__name__}: {error}"
        package = f"the package {first.dist.name}" if first.dist else "a package"
        raise DiagnosticError(message, hint=f"this is a mistake of {package}, whose entry point it is") from error
    if not (isinstance(loaded, expected) and getattr(loaded, "name", None) == first.name):
        raise DiagnosticError(f"{first.value} is not a {kind} called {first.name}", hint=hint)
    return loaded
