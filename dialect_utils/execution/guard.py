"""What must not reach jaxlib: refused here, with the place, before the worker sees it.

Why each is refused is written next to it; each was seen with jaxlib 0.10 or 0.12. What remains
can still be refused by jaxlib, or kill the worker, which is an error like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dialect_utils.execution.process import Program
from dialect_utils.ir import Function, Module, Operation, Value
from dialect_utils.layout import Shape, map_arrays
from dialect_utils.text import Diagnostic, DiagnosticError, Location, Source, Span

# They wait forever for another side that is not there.
_WAITING = frozenset({"infeed", "outfeed", "send", "send-done", "recv", "recv-done"})
# XLA fills elided constants with whatever it finds, and says nothing.
_ELIDED = re.compile(r"constant\(\{\.\.\.\}\)|__elided__")
_ASYNCHRONOUS = ("-start", "-done", "async-update")


def prepare(module: Module, name: str) -> Program:
    """Returns what a worker may execute: the module's logical program, free of layouts.

    A layout says where elements lie, never what is computed, and XLA:CPU would read tiles
    silently and wrongly; so all layouts are dropped. `name` is how diagnostics call the text.
    Raises DiagnosticError, with all places, where the module holds what depends on layouts or
    what jaxlib would hang on, crash on or misread.
    """
    check_executable(module, name)
    text = without_layouts(module).text()
    if module.form == "hlo" and not module.name:
        # jaxlib reads no lone computation.
        return Program(f"HloModule fragment\n\n{text}", module.form, f"{name} (as a module)")
    # Lines stay, columns may not: the excerpt under an error must be what jaxlib saw.
    return Program(text, module.form, name if text == module.text() else f"{name} (without layouts)")


def check_executable(module: Module, name: str) -> None:
    """Raises DiagnosticError, with all places, for what must not reach jaxlib.

    `name` is how diagnostics call the module's text.
    """
    recursive = _recursive_call(module)
    if recursive is not None:
        raise DiagnosticError(recursive)
    found = [
        problem
        for function in module.functions
        for operation in function.operations
        if (problem := _problem(operation)) is not None
    ]
    found += _elided_constants(module, name)
    if found:
        raise DiagnosticError(found)


def without_layouts(module: Module) -> Module:
    """Returns a copy in which no value and no entry parameter or result has a layout."""
    clone = module.clone()
    for function in clone.functions:
        values = [*function.parameters, *(value for op in function.operations for value in op.results)]
        for value in values:
            _drop_layout(value)
    written = clone.entry_layout
    bare = [[_bare(shape) for shape in shapes] for shapes in written]
    if bare != [list(shapes) for shapes in written]:
        clone.set_entry_layout(*bare)
    return clone


def _bare(shape: Shape) -> Shape:
    return map_arrays(shape, lambda array: array.with_layout(None))


def _drop_layout(value: Value) -> None:
    bare = _bare(value.shape)
    if bare != value.shape:
        value.set_shape(bare)


def _elided_constants(module: Module, name: str) -> list[Diagnostic]:
    source = Source(name, module.text())
    return [
        Diagnostic("the constant is elided, so its value is unknown", Location(source, Span(*found.span())))
        for found in _ELIDED.finditer(source.text)
    ]


def _problem(operation: Operation) -> Diagnostic | None:
    opcode, place = operation.opcode, operation.location
    if opcode in _WAITING:
        return Diagnostic(f"{opcode} waits for another program, for ever here", place)
    if opcode == "bitcast":
        # What it reads depends on layouts, which are dropped; XLA refuses it, too.
        hint = "rewrite bitcasts with the pass expand-bitcasts"
        return Diagnostic("a bitcast reads bytes, so what it gives depends on layouts", place, hint=hint)
    if any(not function.results and not function.operations for function in operation.called):
        # XLA:CPU calls an address that is not there.
        names = ", ".join(function.name for function in operation.called)
        return Diagnostic(f"{opcode} of {names}, which has no body", place)
    if opcode.endswith(_ASYNCHRONOUS):
        return Diagnostic(f"XLA:CPU does not execute {opcode}", place, hint="rewrite it with the pass sync-async")
    return None


def _recursive_call(module: Module) -> Diagnostic | None:
    """Finds a function that reaches itself; XLA's call graph overflows the stack on it."""
    finished: set[str] = set()
    # An explicit stack: how deep calls nest is up to the file.
    stack = [(module.entry, _called_functions(module.entry))]
    inside = {module.entry.name}
    while stack:
        function, called = stack[-1]
        inner = next(called, None)
        if inner is None:
            stack.pop()
            inside.discard(function.name)
            finished.add(function.name)
        elif inner.name in inside:
            return Diagnostic(f"{inner.name} calls itself")
        elif inner.name not in finished:
            stack.append((inner, _called_functions(inner)))
            inside.add(inner.name)
    return None


def _called_functions(function: Function) -> Iterator[Function]:
    return (called for operation in function.operations for called in operation.called)
