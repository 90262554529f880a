"""Explains the moved and padded arrays of a compilation, from the modules of all passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from dialect_utils.history.flat import FlatGraph, opcode_of
from dialect_utils.history.moved import Moved, describe, find_moved
from dialect_utils.history.tracing import History, Introduced
from dialect_utils.io.inputs import Input, find_inputs
from dialect_utils.io.temporary import temporary_directory
from dialect_utils.ir import Module, Value
from dialect_utils.memory import MemoryUsage, measure_memory
from dialect_utils.memory.allocation import guess_compiler
from dialect_utils.memory.rows import Waste, moved_totals
from dialect_utils.text import DiagnosticError, all_nearest
from relayout.causes.collectives import explain_collectives
from relayout.reporting.causes import SHOWN, Programs, Why as Why, causes_section
from relayout.reporting.explainer import Explainer
from relayout.reporting.pass_names import pass_between
from relayout.validation.compilation import dump_module
from relayout.validation.steps import find_programs

# The most names that are listed as similar to an unknown name.
_LISTED = 3


def section_about(program: str, modules: Sequence[Input]) -> str:
    """Returns the section of a page about moved and padded arrays, by the modules of all passes."""
    return causes_section(explain_modules(program, modules))


def explain_modules(program: str, modules: Sequence[Input], value: str | None = None, top: int = SHOWN) -> Why:
    """Returns the causes of one program, whose modules are in the order of compilation.

    `value` is a name in the final program or a part of one; None: the `top` most expensive arrays. Raises
    DiagnosticError for an unknown value, and where no module can be read.
    """
    history, last, final = _history(program, modules)
    usage = measure_memory(final.module)
    found = find_moved(final, usage)
    collectives = explain_collectives(history, modules, value, top)
    chosen = found[:top] if value is None else [] if collectives else _chosen(final, found, value, usage)
    explainer = Explainer(modules, final, usage.allocation, _begun(history, chosen), guess_compiler(final.module))
    unread = tuple(modules[number].name for number in history.unread)
    moved = moved_totals((each.kind, each.cost) for each in found if each.is_alone and each.bytes_moved)
    causes = tuple(map(explainer.cause, chosen))
    return Why(program, modules[last].name, len(found), causes, unread, collectives, moved)


def with_passes(waste: Sequence[Waste], modules: Sequence[Input]) -> list[Waste]:
    """Returns waste of the final program with the passes that introduced it, as far as the modules can be read."""
    try:
        history, _, final = _history("", modules)
    except DiagnosticError:
        return [*waste]
    found = {
        (kind, each.fusion or each.node.name): each
        for each in reversed(find_moved(final, measure_memory(final.module)))
        for kind in ("padding" if each.kind == "padded array" else each.kind, "")
    }
    arrays = [found.get((each.kind, each.name), found.get(("", each.name))) for each in waste]
    begun = _begun(history, [*filter(None, arrays)])

    def introduced(array: Moved | None) -> str:
        first = None if array is None else begun[array.node]
        return str(pass_between(modules, first.before[0], first.number)) if first and first.before else ""

    return [replace(each, introduced=introduced(array)) for each, array in zip(waste, arrays, strict=True)]


def _history(program: str, modules: Sequence[Input]) -> tuple[History, int, FlatGraph]:
    """Returns the history of a program, and the number and the graph of its final module; raises DiagnosticError."""
    history = History([partial(_read, each) for each in modules], [each.data for each in modules])
    if history.final is None:
        raise DiagnosticError(f"{program}: none of {len(modules)} modules can be read")
    return history, *history.final


def _begun(history: History, arrays: Sequence[Moved]) -> dict[Value, Introduced]:
    return history.trace({each.node: each.result.layout if each.kind == "padded array" else None for each in arrays})


def explain_directory(folder: str, value: str | None = None, top: int = SHOWN) -> tuple[Why, ...]:
    """Returns the causes of each program in a dump directory. Raises DiagnosticError for one without programs."""
    programs = find_programs(find_inputs([folder]).modules, folder)
    return Programs(explain_modules(name, modules, value, top) for name, modules in programs.items())


def explain_module(module: Module, target: str, value: str | None = None, top: int = SHOWN) -> tuple[Why, ...]:
    """Compiles a module for a target, and returns the causes. Raises DiagnosticError."""
    with temporary_directory() as folder:
        dump_module(module, target, folder)
        return explain_directory(folder, value, top)


def _read(file: Input) -> Module | None:
    try:
        return file.module()
    except DiagnosticError:
        return None


def _chosen(graph: FlatGraph, found: Sequence[Moved], value: str, usage: MemoryUsage) -> list[Moved]:
    """Returns the arrays of a name, else those with a part of it; raises DiagnosticError where there are none."""
    name = value.removeprefix("%")
    named = list(dict.fromkeys(node for node in _values(graph) if node.name == name))
    nodes = {_started(graph, graph.source(node)) for node in named}
    if exact := [each for each in found if each.node in nodes or each.fusion == name]:
        return exact
    if described := [each for node in nodes if (each := describe(graph, node, usage)) is not None]:
        return described
    if parts := [each for each in found if name in each.node.name]:
        return parts
    known = {each.node.name for each in found}
    close = all_nearest(name, known) or all_nearest(name, {each.name for each in _values(graph)})
    listed = close[:_LISTED] or [each.node.name for each in found[:_LISTED]]
    hint = f"did you mean {' or '.join(listed)}?" if close else f"there are {', '.join(listed)}" if listed else None
    raise DiagnosticError(f"no instruction of the final program is called {name}", hint=hint)


def _values(graph: FlatGraph) -> list[Value]:
    return [value for function in graph.module.functions for value in function.values()]


def _started(graph: FlatGraph, node: Value) -> Value:
    """Returns the copy-start of a copy-done, other nodes unchanged."""
    return graph.operands(node)[0] if opcode_of(node) == "copy-done" else node
