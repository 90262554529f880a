"""Explains the collectives of a compilation: the pass, the operation, the shardings that disagree, and changes.

A change is tried: the program is compiled again with it, and its collectives are counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING

from dialect_utils.history.flat import opcode_of
from dialect_utils.history.moved import Role, Side
from dialect_utils.history.partition import Disagreement, Partition, Placed, try_axes
from dialect_utils.history.removal import argument_number, path_back, paths_to_results
from dialect_utils.history.tracing import History, Introduced
from dialect_utils.io.files import encode, parse_bytes
from dialect_utils.io.inputs import Input
from dialect_utils.ir import Module, Operation
from dialect_utils.layout import ArrayShape
from dialect_utils.memory.allocation import Allocation
from dialect_utils.memory.collectives import Collective, find_collectives
from dialect_utils.memory.relayouts import find_origins
from dialect_utils.ops.sharding import Sharding, by_axes, replicated
from dialect_utils.text import format_bytes
from relayout.causes.result import Action, CollectiveCause, End, Resharding, Why, pass_between, sharding_text

if TYPE_CHECKING:
    from dialect_utils.stablehlo.module import StableHloModule

_MESH = re.compile(r"#sdy\.mesh<\[([^\]]*)\]")
_AXIS = re.compile(r'"([^"\\]+)\\?"=(\d+)')
_CONSTRAINT, _SHARDING = "sdy.sharding_constraint", "Sharding"
_KINDS = {"argument sharding": "arg_attrs", "result sharding": "res_attrs"}
# The most sharding constraints of a program that are removed one by one.
_CONSTRAINTS = 8
_UNTRIED = "(untried: --try compiles the program with it)"


def explain_collectives(
    history: History, modules: Sequence[Input], value: str | None, top: int
) -> tuple[CollectiveCause, ...]:
    """Returns the causes of the collectives with a name or a part of it, or of the `top` that send the most bytes."""
    assert history.final is not None  # checked by the caller
    _, final = history.final
    found = find_collectives(final.module, Allocation(None), final.origin)
    named = [each for each in found if value is None or value.removeprefix("%") in each.operation.results[0].name]
    first = history.graph(0)
    mesh = _mesh_of(first.module) if first is not None and named else {}
    partitions: dict[tuple[int, int], Partition] = {}
    causes = []
    for each in named[: top if value is None else None]:
        for stages in history.origins(each.operation.results[0]):
            made = stages[-1]
            why = None
            if made.before is not None:
                key = made.before[0], made.number
                partition = partitions.setdefault(key, Partition(made.before[1], made.graph))
                why = partition.disagreement(made.node)
            causes.append(_cause(each, stages, modules, why, mesh))
    return tuple(causes)


def _mesh_of(module: Module) -> dict[str, int]:
    """Returns the axes of the first mesh of a program that Shardy partitions, {} for other programs."""
    found = _MESH.search(module.attributes.get("frontend_attributes", ""))
    return {name: int(size) for name, size in _AXIS.findall(found[1])} if found is not None else {}


def _cause(
    found: Collective,
    stages: Sequence[Introduced],
    modules: Sequence[Input],
    why: Disagreement | None,
    mesh: dict[str, int],
) -> CollectiveCause:
    *changed, made = (pass_between(modules, each.before and each.before[0], each.number) for each in stages)
    is_given = stages[-1].before is None
    changes = () if why is None else tuple(dict.fromkeys(_changes(stages[-1], why, mesh)))
    return CollectiveCause(
        found.operation.results[0].name,
        found.kind,
        found.operands,
        found.groups,
        found.bytes_sent,
        found.trips,
        made,
        stages[-1].node.name,
        tuple(changed),
        "program" if is_given else "" if why is None else why.reason,
        () if why is None else tuple(_end(each, mesh) for each in why.given),
        None if why is None else _end(why.wanted, mesh),
        found.origin.op_name,
        found.origin.source_file,
        found.origin.source_line,
        changes,
        f"{changes[0]} {_UNTRIED}" if changes else "",
    )


def _end(placed: Placed, mesh: dict[str, int]) -> End:
    node = placed.node
    number = placed.result if placed.result is not None else argument_number(node)
    role: Role = "result" if placed.result is not None else "instruction" if number is None else "argument"
    axes = None if placed.sharding is None else try_axes(placed.sharding, mesh)
    shape = node.shape if placed.array is None else placed.array.without_layout
    side = Side(role, node.name, opcode_of(node), f"{shape} {sharding_text(axes, placed.text)}", node, number)
    return End(side.role, side.name, side.opcode, side.shape, side.number, str(side))


def _changes(made: Introduced, why: Disagreement, mesh: dict[str, int]) -> Iterator[Resharding]:
    """Yields the changes that may remove a collective, the most promising first."""
    assert made.before is not None  # checked by the caller
    graph, wanted, given = made.before[1], why.wanted, why.given[0] if why.given else why.wanted
    names = (graph.origin(each.node.operation).op_name for each in (wanted, given) if each.node.operation is not None)
    if any(name.endswith("sharding_constraint") for name in names):
        yield Resharding("constraint", 0)
    results = [wanted.result] if wanted.result is not None else [n for n, _ in paths_to_results(graph, wanted.node)]
    for number in results:
        array = wanted.array
        if why.reason == "sum" and array is not None and wanted.sharding is not None:
            for sharding in _split(why, mesh):
                yield _resharding("result sharding", number, array, wanted.sharding, sharding, mesh)
        elif given.sharding is not None and given.array is not None and _is_like(given, wanted):
            yield _resharding("result sharding", number, given.array, given.sharding, given.sharding, mesh)
    argument = argument_number(start := path_back(graph, given.node)[-1])
    if why.reason == "sum" or argument is None or given.sharding is None or not isinstance(start.shape, ArrayShape):
        return
    ways = [wanted.sharding] if wanted.sharding is not None and _is_like(given, wanted) else []
    for sharding in (*ways, replicated(len(given.sharding.tiles), len(given.sharding.parts))):
        if sharding != given.sharding and len(sharding.tiles) == start.shape.rank:
            yield _resharding("argument sharding", argument, start.shape, given.sharding, sharding, mesh)
    # A constraint elsewhere may have decided the sharding of the operation.
    yield Resharding("constraint", 0)


def _is_like(one: Placed, other: Placed) -> bool:
    return one.array is not None and other.array is not None and one.array.dimensions == other.array.dimensions


def _split(why: Disagreement, mesh: dict[str, int]) -> Iterator[Sharding]:
    """Yields the shardings of a sum that split a dimension along the axes over which its terms are added."""
    own, *given = (
        None if each.sharding is None else try_axes(each.sharding, mesh) for each in (why.wanted, *why.given)
    )
    if own is None or why.wanted.array is None:
        return
    free = dict.fromkeys(axis for each in given for axes in each or () for axis in axes)
    added = [axis for axis in free if not any(axis in axes for axes in own)]
    for dim, size in enumerate(why.wanted.array.dimensions):
        axes = [(*each, *added) if number == dim else each for number, each in enumerate(own)]
        if added and size % prod(mesh[axis] for axis in axes[dim]) == 0:
            yield by_axes(mesh, axes)


def _resharding(
    action: Action, number: int, array: ArrayShape, now: Sharding, then: Sharding, mesh: dict[str, int]
) -> Resharding:
    bytes_now, bytes_then = (
        prod(each.local(array.dimensions)) * array.element_type.storage_bits // 8 for each in (now, then)
    )
    return Resharding(action, number, try_axes(then, mesh), str(then), bytes_now, bytes_then)


def try_changes(why: Why, module: Module, target: str) -> Why:
    """Returns causes with the changes that removed the collective when a StableHLO module was compiled with each.

    A collective is gone where the program has fewer of its kind and operands, and sends fewer bytes. Raises
    DiagnosticError where the compiler refuses the module.
    """
    from dialect_utils.tools.conversion import in_dialect_of

    program = in_dialect_of("stablehlo", module)
    if not why.collectives:
        return why
    known: dict[Resharding, Sequence[Collective] | None] = {}
    before = _compiled(program, target)
    causes = []
    for cause in why.collectives:
        best: tuple[int, str] | None = None
        for change in _each_constraint(cause.changes, program):
            if change not in known:
                changed = _changed(program, change)
                known[change] = None if changed is None else _compiled(changed, target)
            after = known[change]
            if after is None or not _is_gone(cause, before, after):
                continue
            sent = sum(each.total_bytes for each in after)
            place = _constraints(program)[change.number] if change.action == "constraint" else None
            if best is None or sent < best[0]:
                best = sent, f"{change}{_line(place)}"
        sizes = "" if best is None else format_bytes(best[0])
        total = format_bytes(sum(each.total_bytes for each in before))
        advice = "" if best is None else f"{best[1]}; compiled so, a device sends {sizes} in place of {total}"
        causes.append(replace(cause, advice=advice))
    return replace(why, collectives=tuple(causes))


def _each_constraint(changes: Sequence[Resharding], program: Module) -> Iterator[Resharding]:
    for change in changes:
        count = min(len(_constraints(program)), _CONSTRAINTS) if change.action == "constraint" else 1
        yield from (replace(change, number=change.number + i) for i in range(count))


def _line(constraint: Operation | None) -> str:
    place = None if constraint is None else constraint.location
    if place is None:
        return ""
    return f" of {place.source.name}:{place.source.line_and_column(place.span.start)[0]}"


def _constraints(program: Module) -> list[Operation]:
    return [each for each in program.operations() if each.opcode == _CONSTRAINT or each.callee == _SHARDING]


def _changed(program: Module, change: Resharding) -> StableHloModule | None:
    """Returns a program with a change, None where it has no sharding that could change."""
    from dialect_utils.stablehlo.module import StableHloModule

    changed = program.clone()
    assert isinstance(changed, StableHloModule)  # made so by the caller
    if change.action == "constraint":
        constraint = _constraints(changed)[change.number]
        constraint.results[0].replace_uses(constraint.operands[0])
        constraint.erase()
        return changed
    return changed if changed.set_sharding(_KINDS[change.action], change.number, change.axes, change.sharding) else None


def _compiled(program: Module, target: str) -> Sequence[Collective]:
    """Returns the collectives of a program that is compiled for a target."""
    from dialect_utils.execution.compilers import compile_for

    final = parse_bytes(encode(compile_for(program.text(), target).dump), "compiled.hlo")
    return find_collectives(final, Allocation(None), find_origins(final))


def _is_gone(cause: CollectiveCause, before: Sequence[Collective], after: Sequence[Collective]) -> bool:
    same, sent = [
        [sum((each.kind, each.operands) == (cause.kind, cause.operands) for each in side) for side in (before, after)],
        [sum(each.total_bytes for each in side) for side in (before, after)],
    ]
    return same[1] < same[0] and sent[1] < sent[0]
