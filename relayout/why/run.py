"""Explains the moved and padded arrays of a compilation, from the modules of all passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from tempfile import TemporaryDirectory

from dialect_utils.history.flat import FlatGraph
from dialect_utils.history.moved import Moved, describe, find_moved
from dialect_utils.history.removal import removal
from dialect_utils.history.sides import Side, consumers, opcode_of, producer
from dialect_utils.history.tracing import History, Introduced
from dialect_utils.io.inputs import Input, find_inputs
from dialect_utils.ir import Module, Value
from dialect_utils.memory import MemoryUsage, measure_memory
from dialect_utils.memory.allocation import padded_dimensions
from dialect_utils.memory.relayouts import Origin
from dialect_utils.memory.remedies import known_remedy
from dialect_utils.text import Diagnostic, DiagnosticError, all_nearest
from relayout.validation.run import dump_module
from relayout.validation.steps import find_programs
from relayout.why.result import Cause, End, Why
from relayout.why.stages import pass_between

SHOWN = 10
# So many names like an unknown one are listed.
_LISTED = 3


def explain_modules(program: str, modules: Sequence[Input], value: str | None = None, shown: int | None = SHOWN) -> Why:
    """Returns the causes of one program, whose modules are in the order of compilation.

    `value` is a name in the final program or a part of one; None: the most expensive arrays, as many as `shown`, None
    for all of them. Raises DiagnosticError for an unknown value, and where the final module cannot be read.
    """
    history = History([partial(_read, each) for each in modules])
    if history.final is None:
        raise DiagnosticError(Diagnostic(f"{program}: none of {len(modules)} modules can be read"))
    last, final = history.final
    usage = measure_memory(final.module)
    found = find_moved(final, usage)
    chosen = found[:shown] if value is None else _chosen(final, found, value, usage)
    layouts = {each.node: each.result.layout if each.kind == "padded array" else None for each in chosen}
    explain = _Explainer(modules, final, history.trace(layouts))
    causes = tuple(map(explain.cause, chosen))
    unread = tuple(modules[number].name for number in history.unread)
    return Why(program, modules[last].name, len(found), causes, unread)


def explain_directory(folder: str, value: str | None = None, shown: int | None = SHOWN) -> tuple[Why, ...]:
    """Returns the causes of each program in a dump directory. Raises DiagnosticError for one without programs."""
    programs = find_programs(find_inputs([folder]).modules, folder)
    return tuple(explain_modules(name, modules, value, shown) for name, modules in programs.items())


def explain_module(module: Module, target: str, value: str | None = None, shown: int | None = SHOWN) -> tuple[Why, ...]:
    """Compiles a module for a target, and returns the causes. Raises DiagnosticError."""
    with TemporaryDirectory(prefix="relayout-dump-") as folder:
        dump_module(module, target, folder)
        return explain_directory(folder, value, shown)


def _read(modules: Input) -> Module | None:
    try:
        return modules.module()
    except DiagnosticError:
        return None


def _chosen(graph: FlatGraph, found: Sequence[Moved], value: str, usage: MemoryUsage) -> list[Moved]:
    """Returns the arrays of a name, else those with a part of it; raises DiagnosticError where there are none."""
    name = value.removeprefix("%")
    if exact := [each for each in found if name in (each.node.name, each.fusion)]:
        return exact
    others = [node for node in graph.nodes if node.name == name]
    if described := [each for node in others if (each := describe(graph, node, usage)) is not None]:
        return described
    if parts := [each for each in found if name in each.node.name]:
        return parts
    known = {each.node.name for each in found} | {each.name for each in graph.nodes}
    close = all_nearest(name, known)[:_LISTED] or [each.node.name for each in found[:_LISTED]]
    hint = f"did you mean {' or '.join(close)}?" if close else None
    raise DiagnosticError(Diagnostic(f"no instruction of the final program is called {name}", hint=hint))


@dataclass(frozen=True, slots=True)
class _Explainer:
    """What explains the arrays of one program: its modules, the final one, and where each array begins."""

    modules: Sequence[Input]
    final: FlatGraph
    introduced: dict[Value, Introduced]

    def cause(self, moved: Moved) -> Cause:
        found = self.introduced[moved.node]
        is_move = moved.kind not in ("padded array", "instruction")
        made = producer(found) if is_move else None
        readers = consumers(found) if is_move else []
        has_order = moved.kind not in ("copy", "memory space")
        remove = removal(found) if is_move else None
        padded = padded_dimensions(moved.result)
        remedy = known_remedy(moved.node, padded[0], self.final.origin) if padded else None
        place, of = self._place(moved, found, made, readers)
        return Cause(
            moved.node.name,
            moved.kind,
            opcode_of(moved.node),
            moved.fusion,
            "" if moved.source is None else str(moved.source),
            str(moved.result),
            moved.bytes_moved,
            moved.trips,
            moved.padding_bytes,
            "; ".join(map(str, padded)),
            pass_between(self.modules, None if found.before is None else found.before[0], found.number),
            found.node.name,
            _named(found.replaced),
            None if made is None else _end(made),
            _end(readers[0]) if readers and has_order else None,
            tuple(map(str, readers)),
            place.op_name,
            place.source_file,
            place.source_line,
            of,
            remove,
            str(remove) if remove is not None else remedy if remedy and not is_move else "",
        )

    def _place(self, moved: Moved, found: Introduced, made: Side | None, readers: Sequence[Side]) -> tuple[Origin, str]:
        """Returns the line of Python of an array, and the instruction that has it where the array has none."""
        graph, earlier = found.graph, found.graph if found.before is None else found.before[1]
        nodes = [(moved.node, "", self.final), (found.node, "", graph), (found.replaced, "", earlier)]
        nodes += [(each.node, each.name, graph) for each in (*readers, made) if each is not None]
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


def _end(side: Side) -> End:
    return End(side.role, side.name, side.opcode, side.shape, str(side))


def _named(node: Value | None) -> str:
    return "" if node is None else f"{node.name} ({opcode_of(node)})"
