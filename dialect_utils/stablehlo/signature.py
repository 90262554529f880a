"""The types and attributes of one function's arguments and results, as an edit list.

MLIR keeps each of them as one attribute that cannot be changed in part: writing it for every argument would take
time with the square of their number. So they are lists here, and are written when the module is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.stablehlo.annotations import set_or_delete
from dialect_utils.stablehlo.bindings import ir

ARGUMENTS, RESULTS = "arg_attrs", "res_attrs"
_TYPE = "function_type"


class Signature:
    """The signature of one `func.func`; there is one object for each in a module."""

    __slots__ = ("_changed", "_entries", "_func", "_types", "owns_layouts")

    def __init__(self, func: ir.Operation) -> None:
        self._func = func
        self._types: dict[str, list[ir.Type]] | None = None
        self._entries: dict[str, list[ir.Attribute]] = {}
        # What is not written yet.
        self._changed: set[str] = set()
        # True once no attribute of the module says more of the layouts.
        self.owns_layouts = False

    def types(self, kind: str) -> Sequence[ir.Type]:
        """Returns the types of the arguments or the results."""
        return self._known_types()[kind]

    def _known_types(self) -> dict[str, list[ir.Type]]:
        if self._types is None:
            found = ir.FunctionType(ir.TypeAttr(self._func.attributes[_TYPE]).value)
            self._types = {ARGUMENTS: list(found.inputs), RESULTS: list(found.results)}
        return self._types

    def set_type(self, kind: str, index: int, mlir_type: ir.Type) -> None:
        """Changes one type."""
        known = self._known_types()[kind]
        if known[index] != mlir_type:
            known[index] = mlir_type
            self._changed.add(_TYPE)

    def entries(self, kind: str) -> Sequence[ir.Attribute]:
        """Returns a dictionary attribute for each argument or result, empty ones included."""
        if kind not in self._entries:
            attributes = self._func.attributes
            if kind in attributes:
                self._entries[kind] = list(ir.ArrayAttr(attributes[kind]))
            else:
                self._entries[kind] = [self._empty()] * len(self.types(kind))
        return self._entries[kind]

    def _empty(self) -> ir.Attribute:
        return ir.DictAttr.get({}, self._func.context)

    def set_entry(self, kind: str, index: int, entry: dict[str, ir.Attribute]) -> None:
        """Changes the attributes of one argument or result."""
        self.entries(kind)
        self._entries[kind][index] = ir.DictAttr.get(entry, self._func.context)
        self._changed.add(kind)

    def write(self) -> None:
        """Writes what has changed."""
        context = self._func.context
        if _TYPE in self._changed:
            made = ir.FunctionType.get([*self.types(ARGUMENTS)], [*self.types(RESULTS)], context)
            self._func.attributes[_TYPE] = ir.TypeAttr.get(made, context)
        nothing = self._empty()
        for kind in self._changed & {ARGUMENTS, RESULTS}:
            entries = self._entries[kind]
            is_empty = all(entry == nothing for entry in entries)
            set_or_delete(self._func, kind, None if is_empty else ir.ArrayAttr.get(entries, context))
        self._changed.clear()
