"""Every pass by its name; a pass is imported when it is asked for.

Other packages add passes through the entry point group `relayout.passes`
(`my-pass = "my_package.my_pass:my_pass"`). A built-in name cannot be taken over.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING

from dialect_utils.text import Diagnostic, DiagnosticError
from passes.framework.base import Pass

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINT_GROUP = "relayout.passes"

# The module that declares each pass, in the order in which `--list-passes` shows them.
BUILTIN_PASSES = {
    "verify-layouts": "passes.layouts.verify_layouts",
    "annotate-layouts": "passes.layouts.annotate_layouts",
    "propagate-layouts": "passes.layouts.propagate_layouts",
    "expand-tiling": "passes.tiling.expand_tiling",
    "fold-tiling": "passes.tiling.fold_tiling",
    "normalize-layouts": "passes.layouts.normalize_layouts",
    "propagate-physical": "passes.tiling.propagate_physical",
    "cancel-relayouts": "passes.tiling.cancel_relayouts",
    "expand-bitcasts": "passes.bitcasts.expand_bitcasts",
    "form-bitcasts": "passes.bitcasts.form_bitcasts",
    "inline-fusions": "passes.dumps.inline_fusions",
    "convert-async-to-sync": "passes.dumps.convert_async_to_sync",
    "legalize-types": "passes.dumps.legalize_types",
    "lower-convolutions": "passes.dumps.lower_convolutions",
    "expand-custom-calls": "passes.dumps.expand_custom_calls",
    "strip-layouts": "passes.layouts.strip_layouts",
    "make-portable": "passes.dumps.make_portable",
}
_DECLARE = "a function {0} under @module_pass, with - as _, is one"
# Names that passes had before; they are read, not printed.
OLD_NAMES = {"sync-async": "convert-async-to-sync"}


def pass_names() -> list[str]:
    """Returns the names of all passes, built-in ones first."""
    return [*BUILTIN_PASSES, *(name for name in _entry_points() if name not in BUILTIN_PASSES)]


def is_pass(name: str) -> bool:
    """Is true for the name of a pass; built-in names are found without looking at other packages."""
    return name in BUILTIN_PASSES or name in OLD_NAMES or name in _entry_points()


def load_pass(name: str) -> Pass:
    """Imports a pass, its options at their defaults.

    Raises KeyError for an unknown name, DiagnosticError for a pass of another package that cannot be loaded.
    """
    name = OLD_NAMES.get(name, name)
    module = BUILTIN_PASSES.get(name)
    if module is None:
        return _load_entry_point(_entry_points()[name])
    loaded: Pass = getattr(importlib.import_module(module), name.replace("-", "_"))
    return loaded


def _load_entry_point(found: list[EntryPoint]) -> Pass:
    first = found[0]
    if len(found) > 1:
        packages = " and ".join(sorted(point.dist.name if point.dist else point.value for point in found))
        raise DiagnosticError(Diagnostic(f"pass {first.name} is defined by {packages}"))
    try:
        loaded: object = first.load()
    except Exception as error:  # whatever another package's module does when it is imported
        what = f"{type(error).__name__}: {error}"
        raise DiagnosticError(Diagnostic(f"pass {first.name} ({first.value}) cannot be loaded: {what}")) from error
    if not (isinstance(loaded, Pass) and loaded.name == first.name):
        raise DiagnosticError(Diagnostic(f"{first.value} is no pass {first.name}", hint=_DECLARE.format(first.name)))
    return loaded


@cache
def _entry_points() -> dict[str, list[EntryPoint]]:
    # Imported here: reading the installed packages costs more than a small pipeline.
    from importlib.metadata import entry_points

    found: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=ENTRY_POINT_GROUP):
        found.setdefault(point.name, []).append(point)
    return found
