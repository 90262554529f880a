"""Assignments to attributes of a graph: each edits the module, as the method for it does, or raises."""

from __future__ import annotations

from typing import Any, ClassVar

# The attributes that an assignment edits, with the methods.
_EDITS = {
    "name": "rename",
    "operands": "set_operands",
    "results": "set_results",
    "root": "set_root",
    "shape": "set_shape",
}

# Sets an attribute without an edit, for the implementation of the graph.
assign = object.__setattr__


class Guarded:
    """The base of modules, functions, operations and values."""

    __slots__ = ()
    # Settings of a module, which no method changes.
    SETTINGS: ClassVar[frozenset[str]] = frozenset()

    def __setattr__(self, name: str, value: Any) -> None:
        # A constructor assigns each attribute first.
        if name.startswith("_") or name in self.SETTINGS or not hasattr(self, name):
            assign(self, name, value)
            return
        edit = getattr(self, _EDITS.get(name, ""), None)
        if edit is None:
            raise AttributeError(f"{name} cannot be assigned: the methods of the graph edit the module")
        edit(value)
