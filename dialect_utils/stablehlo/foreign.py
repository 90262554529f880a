"""Modules as XLA reads them: without attributes and symbols of dialects that XLA lacks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dialect_utils.stablehlo.annotations import attribute_entries, set_or_delete
from dialect_utils.stablehlo.bindings import attribute_of, ir
from dialect_utils.stablehlo.function import FUNCTION
from dialect_utils.stablehlo.interface import ARGUMENTS, ENTRY_NAME, RESULTS
from dialect_utils.stablehlo.module import StableHloModule
from dialect_utils.stablehlo.origins import blocks_of, walk
from dialect_utils.text import Diagnostic

# The value of an attribute in a dialect that XLA does not read on any operation.
_FOREIGN = re.compile(r"#(?!(?:stablehlo|mhlo|chlo|sdy)\b)(\w+)[.<]")
_STRING = re.compile(r'"(?:[^"\\]++|\\.)*+"')
_MESHES = "sdy."


def for_xla(module: StableHloModule) -> tuple[StableHloModule, tuple[Diagnostic, ...]]:
    """Returns a module as XLA reads it, with the entry as @main, and a note about each thing that was dropped.

    XLA knows attributes of StableHLO and Shardy, and beside the functions only meshes. What it lacks affects no result.
    A module without such things is returned unchanged.
    """
    name = module.entry.name
    if name == ENTRY_NAME and not any(_symbols(module)) and not _FOREIGN.search(module.text()):
        return module, ()
    module = module.clone() if name == ENTRY_NAME else module.with_entry(name)
    beside = list(_symbols(module))
    names = [(name, mlir) for mlir in walk(module.root) for name in _drop_foreign(mlir)]
    names += [(mlir.name, mlir) for mlir in beside]
    places = {name: module.operation(mlir).location for name, mlir in reversed(names)}
    for mlir in beside:
        module.operation(mlir).erase()
    said = {name: f"{name} is not in HLO: XLA reads nothing of its dialect" for name, _ in names}
    return module, tuple(Diagnostic(message, places[name], "note") for name, message in said.items())


def _symbols(module: StableHloModule) -> Iterator[ir.Operation]:
    """Yields the operations beside the functions that are no meshes."""
    beside = (view.operation for view in blocks_of(module.root)[0].operations)
    return (each for each in beside if each.name != FUNCTION and not each.name.startswith(_MESHES))


def _drop_foreign(mlir: ir.Operation) -> Iterator[str]:
    """Removes the foreign attributes of an operation, its arguments and results, and yields their names."""
    for name in list(mlir.attributes):
        value = attribute_of(mlir, name)
        if name in (ARGUMENTS, RESULTS) and isinstance(value, ir.ArrayAttr):
            sides = [attribute_entries(each) for each in value]
            yield from (key for entry in sides for key in entry if _is_foreign(entry[key], mlir))
            kept = [{key: entry[key] for key in entry if not _is_foreign(entry[key], mlir)} for entry in sides]
            mlir.attributes[name] = ir.ArrayAttr.get(
                [ir.DictAttr.get(each, mlir.context) for each in kept], mlir.context
            )
        elif _is_foreign(value, mlir):
            yield name
            set_or_delete(mlir, name, None)


def _is_foreign(value: ir.Attribute | None, owner: ir.Operation) -> bool:
    if value is None or isinstance(value, ir.DenseElementsAttr | ir.StringAttr):
        return False
    own = owner.name.partition(".")[0]
    return any(dialect != own for dialect in _FOREIGN.findall(_STRING.sub("", str(value))))
