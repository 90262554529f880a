"""A StableHLO module with the interface of `dialect_utils.ir`."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count, repeat
from typing import Any, Literal

from dialect_utils.ir import Builder, Function, Module, Operation, Value
from dialect_utils.ir.assignments import Guarded, assign
from dialect_utils.ir.control_flow import callees_first, reached
from dialect_utils.layout import Shape
from dialect_utils.stablehlo.annotations import set_or_delete, string_attribute, text_of
from dialect_utils.stablehlo.bindings import (
    address,
    attribute_of,
    current_version,
    integer_list,
    ir,
    serialize_portable_artifact,
)
from dialect_utils.stablehlo.function import FUNCTION, StableHloFunction, StableHloValue, as_function, as_value
from dialect_utils.stablehlo.interface import ENTRY_NAME, Interface, disown, is_public
from dialect_utils.stablehlo.operation import StableHloOperation, as_operation
from dialect_utils.stablehlo.origins import SYMBOL, blocks_of, captured, diagnostics_of, moved_to, walk
from dialect_utils.text import Diagnostic, DiagnosticError, Location, Source, Span, elided, nearest

_ALIAS = "tf.aliasing_output"
# The most functions that an error names.
_NAMED = 8
_MODULE = "builtin.module"
_CALLING = ("func.call", "stablehlo.composite", "stablehlo.custom_call", "mhlo.custom_call")


class StableHloModule(Guarded, Module):
    """A module and the one object of each operation, function and value in it.

    `source` is the text that was read; `has_locations` is true where it gave locations, which are then printed again.
    The parser passes `make_builder`, so that the graph does not depend on the builder.
    """

    dialect: Literal["stablehlo"] = "stablehlo"
    SETTINGS = frozenset(("has_locations",))

    def __init__(
        self,
        root: ir.Operation,
        source: Source,
        make_builder: Callable[[StableHloModule, ir.InsertionPoint], Builder],
        *,
        has_locations: bool,
    ) -> None:
        self._root = root
        self._interfaces: dict[int, Interface] = {}
        self.source = source
        self._make_builder = make_builder
        self.has_locations = has_locations
        self._operations: dict[int, StableHloOperation] = {}
        self._functions: dict[int, StableHloFunction] = {}
        # By the address of the MLIR value, which is the hash of the Python object.
        self._values: dict[int, StableHloValue] = {}
        self._index()

    def _index(self) -> None:
        """Finds the functions by name, and the entry among them."""
        inner = [view.operation for view in self._root.regions[0].blocks[0].operations]
        self._named = {text_of(func, "sym_name"): func for func in inner if func.name == FUNCTION}
        # A file may hold several modules, as tests of MLIR do.
        self._nested = {f"{n}::": each for n, each in enumerate(each for each in inner if each.name == _MODULE)}
        public = [name for name, func in self._named.items() if is_public(func) and blocks_of(func)]
        self._entry_name = public[0] if len(public) == 1 else ENTRY_NAME

    def __repr__(self) -> str:
        # Locations in JAX programs would make this text too long.
        return elided(str(self.root.get_asm(enable_debug_info=False)))

    def _repr_html_(self) -> str:
        """Returns the HTML for notebooks: the entry's parameters and results, and the text."""
        from dialect_utils.ir.notebook import module_html

        return module_html(self)

    @property
    def root(self) -> ir.Operation:
        """Returns the MLIR module, with all pending attributes written."""
        for interface in self._interfaces.values():
            interface.write()
        return self._root

    def interface(self, func: ir.Operation) -> Interface:
        """Returns the signature of a `func.func`."""
        key = address(func)
        if key not in self._interfaces:
            is_entry = text_of(func, "sym_name") == self._entry_name and is_public(func)
            self._interfaces[key] = Interface(func, self._root, is_entry=is_entry)
        return self._interfaces[key]

    @property
    def context(self) -> ir.Context:
        """Returns the MLIR context."""
        return self._root.context

    # Objects of the interface, one for each MLIR object.

    def operation(self, mlir: ir.Operation) -> StableHloOperation:
        """Returns the one object of an MLIR operation."""
        key = address(mlir)
        found = self._operations.get(key)
        if found is None:
            found = self._operations[key] = StableHloOperation(self, mlir)
        return found

    def function(self, block: ir.Block) -> StableHloFunction:
        """Returns the one object of an MLIR block."""
        key = hash(block)
        found = self._functions.get(key)
        if found is None:
            found = self._functions[key] = StableHloFunction(self, block.owner.operation, block)
        return found

    def value(self, mlir: ir.Value[Any]) -> StableHloValue:
        """Returns the one object of an MLIR value."""
        key = hash(mlir)
        found = self._values.get(key)
        if found is None:
            found = self._values[key] = self._defined(mlir)
        return found

    def _defined(self, mlir: ir.Value[Any]) -> StableHloValue:
        if isinstance(mlir, ir.BlockArgument):
            return self.function(mlir.owner).parameters[mlir.arg_number]
        result: ir.OpResult[Any] = ir.OpResult(mlir)
        return self.operation(result.owner.operation).results[result.result_number]

    def forget(self, erased: Iterable[ir.Operation]) -> None:
        """Invalidates the objects of operations before these are erased, because MLIR frees their memory."""
        for mlir in erased:
            self.forget_values(mlir.results)
            for block in blocks_of(mlir):
                self.forget_values(block.arguments)
                function = self._functions.pop(hash(block), None)
                if function is not None:
                    function.forget()
            operation = self._operations.pop(address(mlir), None)
            if operation is not None:
                operation.forget()

    def forget_values(self, values: Iterable[ir.Value[Any]]) -> None:
        """Forgets the objects of values that are erased, or get another number."""
        for value in values:
            self._values.pop(hash(value), None)

    # Functions.

    @property
    def name(self) -> str:
        """Returns the module's name, or `module` without one."""
        return string_attribute(self.root, "sym_name") or "module"

    @property
    def functions(self) -> Sequence[StableHloFunction]:
        """Returns every function and region, callees and inner regions first."""
        return tuple(map(as_function, callees_first(map(self.function_named, self._named))))

    def operations(self) -> Iterator[StableHloOperation]:
        return (operation for function in self.functions for operation in function.operations)

    def values(self) -> Iterator[StableHloValue]:
        return (value for function in self.functions for value in function.values())

    def has_function(self, name: str) -> bool:
        """Is true where a function of this name is in the module."""
        return name in self._named

    def function_named(self, name: str) -> StableHloFunction:
        """Returns a function by its name without `@`."""
        func = self._named[name]
        blocks = func.regions[0].blocks
        if len(blocks):
            return self.function(blocks[0])
        key = address(func)
        return self._functions.setdefault(key, StableHloFunction(self, func, None))

    def callers_of(self, name: str) -> Sequence[StableHloOperation]:
        """Returns the operations that call a function, in the order of the text."""
        calls = (self.operation(mlir) for mlir in walk(self._root) if mlir.name in _CALLING)
        return tuple(operation for operation in calls if name in operation.symbols)

    def remove_function(self, function: Function) -> None:
        removed = as_function(function)
        if removed.is_region or removed.callers or removed.is_entry:
            raise ValueError(f"{removed.name} is the entry, or still called")
        self._erase(removed)

    def _erase(self, removed: StableHloFunction) -> None:
        func = removed.holder
        del self._named[removed.name]
        self._interfaces.pop(address(func), None)
        self._functions.pop(address(func), None)
        self.forget(walk(func))
        removed.forget()
        func.erase()

    @property
    def entry(self) -> StableHloFunction:
        """Returns the public function `main`, or the only public one; raises DiagnosticError without one."""
        found = self.try_entry()
        if found is not None:
            return found
        names = self.defined
        location = Location(self.source, Span(0, 1)) if self.source.text else None
        location = self.operation(self._named[names[0]]).location if self._named and names else location
        listed = ", ".join(f"@{name}" for name in names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
        message = f"the module has no public function @{ENTRY_NAME}, nor exactly one public function"
        hint = f"--function chooses one of {listed}" if names else f"the entry is a func.func called @{ENTRY_NAME}"
        raise DiagnosticError(message, location, hint=hint)

    def try_entry(self) -> StableHloFunction | None:
        function = self.function_named(self._entry_name) if self._entry_name in self._named else None
        return function if function is not None and function.is_entry and function.block is not None else None

    @property
    def defined(self) -> Sequence[str]:
        """Returns the names of all functions with a body, in the order of the text; `1::f` is in the second module."""
        inner = (each + name for each in self._nested for name in self._nested_module(each).defined)
        return [*(name for name, func in self._named.items() if blocks_of(func)), *inner]

    def _nested_module(self, prefix: str) -> StableHloModule:
        root = self._nested[prefix].clone().operation
        return StableHloModule(root, self.source, self._make_builder, has_locations=self.has_locations)

    @property
    def judged(self) -> Sequence[str]:
        """Returns the public functions with a body, or all functions with one if none of them is public."""
        return [name for name in self.defined if is_public(self._named[name])] or self.defined

    def with_entry(self, name: str) -> StableHloModule:
        """Returns a module whose @main is a function of this one, with the functions that it names.

        Raises DiagnosticError for a function that the module lacks, or only declares.
        """
        if name not in self.defined:
            close = nearest(name, self.defined)
            hint = f"did you mean @{close}?" if close else f"there are {', '.join(self.defined[:_NAMED])}"
            raise DiagnosticError(f"no function with a body is called @{name}", hint=hint)
        prefix = next((each for each in self._nested if name.startswith(each)), "")
        copy = self._nested_module(prefix) if prefix else self.clone()
        copy.make_entry(name.removeprefix(prefix))
        return copy

    def make_entry(self, name: str) -> None:
        """Makes a function with a body the public @main, and removes the functions that it does not name."""

        def named(function: str) -> Iterator[str]:
            text = str(self._named[function].get_asm(large_elements_limit=1))
            return filter(self.has_function, (plain or quoted for plain, quoted in SYMBOL.findall(text)))

        for each in self._named.keys() - reached([name], named):
            self._erase(self.function_named(each))
        if name != self._entry_name:
            disown(self.root)
        if name != ENTRY_NAME:
            fresh = next(each for each in map("{}.{}".format, repeat(ENTRY_NAME), count(1)) if each not in self._named)
            for old, new in ((ENTRY_NAME, fresh), (name, ENTRY_NAME)):
                if old in self._named:
                    ir.SymbolTable.replace_all_symbol_uses(old, new, self.root)
                    ir.SymbolTable.set_symbol_name(self._named[old], new)
        set_or_delete(self._named[name], "sym_visibility", None)
        self._interfaces.clear()
        self._index()

    @property
    def entry_layout(self) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
        entry = self.entry
        try:
            return entry.interface.argument_shapes, entry.interface.result_shapes
        except DiagnosticError as error:
            raise self.placed(error, self.operation(entry.holder).location) from None

    def set_entry_layout(self, parameters: Sequence[Shape], results: Sequence[Shape]) -> None:
        self.entry.interface.set_layouts(parameters, results)

    @property
    def entry_shardings(self) -> tuple[tuple[str | None, ...], tuple[str | None, ...]]:
        parameters, results = self.entry.interface.shardings
        return parameters, results

    def mesh(self, symbol: str) -> str | None:
        named = (
            (text_of(each, "sym_name"), each)
            for each in (view.operation for view in blocks_of(self.root)[0].operations)
        )
        return next((str(each).partition(" = ")[2] for name, each in named if name == symbol), None)

    @property
    def layout_modes(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Returns the layout modes of main's arguments and results: `default`, `auto`, or a layout such as `{0,1}`."""
        return self.entry.interface.layout_modes

    def set_layout_modes(self, parameters: Sequence[str], results: Sequence[str]) -> None:
        """Writes the layout modes of main's arguments and results; raises DiagnosticError for one that does not fit."""
        self.entry.interface.set_layout_modes(parameters, results)

    @property
    def aliases(self) -> Sequence[tuple[tuple[int, ...], int, tuple[int, ...]]]:
        """Returns `tf.aliasing_output` of main's arguments: (result index path, argument, ())."""
        attributes = enumerate(self.entry.interface.attributes)
        found = ((integer_list(entry[_ALIAS]), index) for index, entry in attributes if _ALIAS in entry)
        return tuple((path, index, ()) for path, index in found if path is not None)

    @property
    def attributes(self) -> Mapping[str, str]:
        return {name: str(attribute_of(self.root, name)) for name in self.root.attributes}

    def set_attribute(self, name: str, text: str | None) -> None:
        if text is not None:
            self.root.attributes[name] = ir.Attribute.parse(text, context=self.context)
        elif name in self.root.attributes:
            del self.root.attributes[name]

    # Text.

    def clone(self) -> StableHloModule:
        root = self.root.clone().operation
        copy = StableHloModule(root, self.source, self._make_builder, has_locations=self.has_locations)
        for mine, other in zip(walk(self.root), walk(root), strict=True):
            operation = self._operations.get(address(mine))
            if operation is not None and operation.origin is not None:
                assign(copy.operation(other), "origin", operation.origin)
            for block, copied in zip(blocks_of(mine), blocks_of(other), strict=True):
                function = self._functions.get(hash(block))
                for index, parameter in enumerate(function.parameters if function else ()):
                    assign(copy.function(copied).parameters[index], "origin", parameter.origin)
        return copy

    def text(self) -> str:
        return str(self.root.get_asm(enable_debug_info=self.has_locations)).rstrip("\n") + "\n"

    def bytecode(self) -> bytes:
        """Returns the module as MLIR bytecode."""
        stream = io.BytesIO()
        self.root.write_bytecode(stream)
        return stream.getvalue()

    def portable_artifact(self) -> bytes:
        """Returns the module as a StableHLO portable artifact of jaxlib's version.

        Operations of other dialects (CHLO's) stay unchanged. Raises DiagnosticError for an operation without a portable
        form.
        """
        module = ir.Module.parse(self.bytecode(), self.root.context)
        with captured(self.root.context, self.source) as found:
            try:
                return bytes(serialize_portable_artifact(module, current_version(), allow_other_dialects=True))
            except (ir.MLIRError, ValueError):
                message = "the module has no portable form"
        raise DiagnosticError(Diagnostic(message, notes=tuple(found)))

    def verify(self) -> None:
        """Raises DiagnosticError with MLIR's messages where the module is not valid."""
        try:
            self.root.verify()
        except ir.MLIRError as error:
            raise DiagnosticError(diagnostics_of(error, self.source)) from None

    # Locations.

    def placed(self, error: DiagnosticError, near: Location | None) -> DiagnosticError:
        """Returns an error about an annotation's text, moved to that text's location in the module."""
        return moved_to(error, self.source, near)

    # Builders.

    def before(self, operation: Operation) -> Builder:
        return self._make_builder(self, ir.InsertionPoint(as_operation(operation).mlir))

    def after(self, value: Value) -> Builder:
        operation = as_value(value).operation
        if operation is not None:
            return self._make_builder(self, ir.InsertionPoint.after(operation.mlir))
        return self._make_builder(self, ir.InsertionPoint.at_block_begin(as_function(value.function).body))

    def at_end(self, function: Function) -> Builder:
        return self._make_builder(self, ir.InsertionPoint.at_block_terminator(as_function(function).body))
