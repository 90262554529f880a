"""The passes and targets that installed packages add: which of them can be used."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dialect_utils.layout.targets import known
from dialect_utils.text import DiagnosticError
from dialect_utils.text.entry_points import added
from passes.framework import base


def extensions() -> Iterator[tuple[str, str]]:
    """Yields the name of each pass and target that a package adds, and why it cannot be used; empty if it can."""
    yield from _examined("pass", base.ENTRY_POINT_GROUP, [*base.BUILTIN_PASSES], base.load_pass)
    yield from _examined("target", known.ENTRY_POINT_GROUP, [*known.TARGETS], known.parse_target)


def _examined(kind: str, group: str, own: list[str], load: Callable[[str], object]) -> Iterator[tuple[str, str]]:
    for name, points in added(group).items():
        reason = f"{points[0].value} is ignored: the name is that of a built-in {kind}" if name in own else ""
        try:
            load(name)
        except DiagnosticError as error:
            reason = error.diagnostics[0].message
        yield f"{kind} {name}", reason
