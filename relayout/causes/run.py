"""Explains the moved and padded arrays of a compilation, from the modules of all passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from dialect_utils.history.flat import FlatGraph, opcode_of
from dialect_utils.history.moved import Moved, Side, consumers, describe, find_moved, producer
from dialect_utils.history.removal import Removal, removal
from dialect_utils.history.tracing import History, Introduced
from dialect_utils.io.inputs import Input, find_inputs
from dialect_utils.io.temporary import temporary_directory
from dialect_utils.ir import Module, Value
from dialect_utils.layout.targets.known import laid_out
from dialect_utils.memory import MemoryUsage, measure_memory
from dialect_utils.memory.advice import known_remedy
from dialect_utils.memory.allocation import Allocation, guess_compiler, padded_dimensions
from dialect_utils.memory.relayouts import Origin
from dialect_utils.text import Diagnostic, DiagnosticError, all_nearest, format_bytes
from relayout.causes.collectives import explain_collectives
from relayout.causes.result import SHOWN, Cause, Change, End, Why, causes_section, pass_between
from relayout.validation.compilation import dump_module
from relayout.validation.steps import find_programs

# The most names that are listed as similar to an unknown name.
_LISTED = 3
_NOT_MOVED = ("padded array", "instruction")
_SAME_LAYOUT = ("copy", "memory space")


def section_about(program: str, modules: Sequence[Input]) -> str:
    """Returns the section of a page about moved and padded arrays, by the modules of all passes."""
    return causes_section(explain_modules(program, modules))


def explain_modules(program: str, modules: Sequence[Input], value: str | None = None, top: int = SHOWN) -> Why:
    """Returns the causes of one program, whose modules are in the order of compilation.

    `value` is a name in the final program or a part of one; None: the `top` most expensive arrays. Raises
    DiagnosticError for an unknown value, and where no module can be read.
    """
    history = History([partial(_read, each) for each in modules], [each.data for each in modules])
    if history.final is None:
        raise DiagnosticError(Diagnostic(f"{program}: none of {len(modules)} modules can be read"))
    last, final = history.final
    usage = measure_memory(final.module)
    found = find_moved(final, usage)
    collectives = explain_collectives(history, modules, value, top)
    chosen = found[:top] if value is None else [] if collectives else _chosen(final, found, value, usage)
    layouts = {each.node: each.result.layout if each.kind == "padded array" else None for each in chosen}
    explainer = Explainer(modules, final, usage.allocation, history.trace(layouts), guess_compiler(final.module))
    unread = tuple(modules[number].name for number in history.unread)
    return Why(program, modules[last].name, len(found), tuple(map(explainer.cause, chosen)), unread, collectives)


def explain_directory(folder: str, value: str | None = None, top: int = SHOWN) -> tuple[Why, ...]:
    """Returns the causes of each program in a dump directory. Raises DiagnosticError for one without programs."""
    programs = find_programs(find_inputs([folder]).modules, folder)
    return tuple(explain_modules(name, modules, value, top) for name, modules in programs.items())


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
    raise DiagnosticError(Diagnostic(f"no instruction of the final program is called {name}", hint=hint))


def _values(graph: FlatGraph) -> list[Value]:
    return [value for function in graph.module.functions for value in function.values()]


def _started(graph: FlatGraph, node: Value) -> Value:
    """Returns the copy-start of a copy-done, other nodes unchanged."""
    return graph.operands(node)[0] if opcode_of(node) == "copy-done" else node


@dataclass(frozen=True, slots=True)
class Explainer:
    """The facts about one program: its modules, the final one, buffer sizes, the begin of arrays, and its compiler."""

    modules: Sequence[Input]
    final: FlatGraph
    allocation: Allocation
    introduced: dict[Value, Introduced]
    compiler: str | None

    def cause(self, moved: Moved) -> Cause:
        """Returns the cause of one array."""
        found = self.introduced[moved.node]
        is_moved = moved.kind not in _NOT_MOVED
        sides = [producer(found), *consumers(found, moved.result)] if is_moved else []
        # Layouts of a transpose mean something in the final program only.
        at = found if opcode_of(found.node) == "copy" else Introduced(found.number, self.final, moved.node)
        change = removal(at, self.compiler) if is_moved else None
        place, of = self._place(moved, found, [*sides[1:], *sides[:1]])
        return Cause(
            name=moved.node.name,
            kind=moved.kind,
            opcode=opcode_of(moved.node),
            fusion=moved.fusion,
            source="" if moved.source is None else str(moved.source),
            result=str(moved.result),
            bytes_moved=moved.bytes_moved,
            trips=moved.trips,
            padding_bytes=moved.padding_bytes,
            padding="; ".join(map(str, padded_dimensions(moved.result))),
            introduced_by=pass_between(self.modules, found.before and found.before[0], found.number),
            introduced_as=found.node.name,
            in_place_of="" if found.replaced is None else f"{found.replaced.name} ({opcode_of(found.replaced)})",
            made_by=End.of(sides[0]) if sides else None,
            read_by=tuple(map(End.of, sides[1:])),
            changes_layout=is_moved and moved.kind not in _SAME_LAYOUT,
            **place._asdict(),
            source_of=of,
            change=None if change is None else self._change(change),
            advice=self._remedy(moved) if change is None else self._advice(change),
        )

    def _remedy(self, moved: Moved) -> str:
        """Returns another way to write the operation that asks for a padded array, empty where none is known."""
        padded = padded_dimensions(moved.result)
        if moved.kind != "padded array" or not padded:
            return ""
        return known_remedy(moved.node, padded[0], self.final.origin) or ""

    def _change(self, change: Removal) -> Change:
        now = then = self.allocation.held(change.shape)
        target = self.allocation.target
        if target is not None and change.shape.layout is not None and change.major_to_minor:
            order = change.major_to_minor[::-1]
            then = self.allocation.held(laid_out(change.shape, order, target))
        return Change(change.action, change.number, change.major_to_minor, now, then)

    def _advice(self, change: Removal) -> str:
        found = self._change(change)
        if found.bytes_then <= found.bytes_now:
            return str(change)
        sizes = f"{format_bytes(found.bytes_then)} in place of {format_bytes(found.bytes_now)}"
        return f"{change}; it then takes {sizes}"

    def _place(self, moved: Moved, found: Introduced, sides: Sequence[Side]) -> tuple[Origin, str]:
        """Returns the line of Python of an array, and the instruction that has it where the array has none."""
        graph, earlier = found.graph, found.graph if found.before is None else found.before[1]
        nodes = [(moved.node, "", self.final), (found.node, "", graph), (found.replaced, "", earlier)]
        nodes += [(each.node, each.name, graph) for each in sides]
        best = Origin(), ""
        for node, name, its_graph in nodes:
            if node is None or node.operation is None:
                continue
            place = its_graph.origin(node.operation)
            if place.source_file:
                return place, name
            if place.op_name and not best[0].op_name:
                best = place, name
        return best
