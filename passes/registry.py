"""Every pass by its name; a pass is imported when it is asked for.

Other packages add passes through the entry point group `relayout.passes`
(`my-pass = "my_package.my_pass:MyPass"`). A built-in name cannot be taken over.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING

from dialect_utils.text import Diagnostic, DiagnosticError
from passes.base import Pass

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINT_GROUP = "relayout.passes"

# One line a pass, in the order in which `--list-passes` shows them.
BUILTIN_PASSES = {
    "verify-layouts": "passes.verify_layouts:VerifyLayouts",
    "annotate-layouts": "passes.annotate_layouts:AnnotateLayouts",
    "propagate-layouts": "passes.propagate_layouts:PropagateLayouts",
    "expand-tiling": "passes.expand_tiling:ExpandTiling",
    "fold-tiling": "passes.fold_tiling:FoldTiling",
    "normalize-layouts": "passes.normalize_layouts:NormalizeLayouts",
    "propagate-physical": "passes.propagate_physical:PropagatePhysical",
    "cancel-relayouts": "passes.cancel_relayouts:CancelRelayouts",
    "expand-bitcasts": "passes.expand_bitcasts:ExpandBitcasts",
    "form-bitcasts": "passes.form_bitcasts:FormBitcasts",
    "inline-fusions": "passes.inline_fusions:InlineFusions",
    "sync-async": "passes.sync_async:SyncAsync",
    "legalize-types": "passes.legalize_types:LegalizeTypes",
    "lower-convolutions": "passes.lower_convolutions:LowerConvolutions",
    "expand-custom-calls": "passes.expand_custom_calls:ExpandCustomCalls",
    "strip-layouts": "passes.strip_layouts:StripLayouts",
    "make-portable": "passes.make_portable:MakePortable",
}


def pass_names() -> list[str]:
    """Returns the names of all passes, built-in ones first."""
    return [*BUILTIN_PASSES, *(name for name in _entry_points() if name not in BUILTIN_PASSES)]


def is_pass(name: str) -> bool:
    """Is true for the name of a pass; built-in names are found without looking at other packages."""
    return name in BUILTIN_PASSES or name in _entry_points()


def load_pass(name: str) -> type[Pass]:
    """Imports a pass's class; raises KeyError for an unknown name, DiagnosticError for one that cannot load."""
    target = BUILTIN_PASSES.get(name)
    if target is not None:
        module, _, attribute = target.partition(":")
        cls: type[Pass] = getattr(importlib.import_module(module), attribute)
        return cls
    return _load_entry_point(_entry_points()[name])


def _load_entry_point(found: list[EntryPoint]) -> type[Pass]:
    first = found[0]
    if len(found) > 1:
        packages = " and ".join(sorted(point.dist.name if point.dist else point.value for point in found))
        raise DiagnosticError(Diagnostic(f"pass {first.name} is defined by {packages}"))
    try:
        loaded: object = first.load()
    except (ImportError, AttributeError) as error:
        raise DiagnosticError(Diagnostic(f"pass {first.name} ({first.value}) cannot be loaded: {error}")) from error
    if not (isinstance(loaded, type) and issubclass(loaded, Pass) and loaded.name == first.name):
        raise DiagnosticError(Diagnostic(f"{first.value} is not a Pass named {first.name}"))
    return loaded


@cache
def _entry_points() -> dict[str, list[EntryPoint]]:
    # Imported here: reading the installed packages costs more than a small pipeline.
    from importlib.metadata import entry_points

    found: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=ENTRY_POINT_GROUP):
        found.setdefault(point.name, []).append(point)
    return found
