"""Explains the collectives of a compilation: the pass, the operation, the shardings that disagree, and changes.

A change is tried: the program is compiled again with it, and its collectives are counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from math import prod

from dialect_utils.history.flat import opcode_of
from dialect_utils.history.moved import Role, Side
from dialect_utils.history.partition import Disagreement, Partition, Placed, origins, try_axes
from dialect_utils.history.removal import argument_number, path_back, paths_to_results
from dialect_utils.history.tracing import History, Introduced
from dialect_utils.io.files import encode, parse_bytes
from dialect_utils.io.inputs import Input
from dialect_utils.ir import Module, Operation
from dialect_utils.memory.allocation import Allocation
from dialect_utils.memory.collectives import find_collectives
from dialect_utils.memory.relayouts import find_origins
from dialect_utils.memory.rows import CollectiveRow
from dialect_utils.ops import Trait, has
from dialect_utils.ops.sharding import Sharding, by_axes, replicated
from dialect_utils.text import DiagnosticError, format_bytes
from relayout.reporting.causes import Action, CollectiveCause, End, Resharding, Why, sharding_text
from relayout.reporting.pass_names import PassName, pass_between

_MESH = re.compile(r"#sdy\.mesh<\[([^\]]*)\]")
_AXIS = re.compile(r'"([^"\\]+)\\?"=(\d+)')
_CONSTRAINT, _SHARDING = "sdy.sharding_constraint", "Sharding"
# The end of JAX's op name of a constraint.
_BY_USER = "sharding_constraint"
# The most sharding constraints of a program that are removed one by one.
_CONSTRAINTS = 8


def explain_collectives(
    history: History, modules: Sequence[Input], value: str | None, top: int
) -> tuple[CollectiveCause, ...]:
    """Returns the causes of the collectives of a name, else with a part of it, or of the `top` that send the most."""
    assert history.final is not None  # checked by the caller
    _, final = history.final
    found = find_collectives(final.module, Allocation(None), final.origin)
    name = (value or "").removeprefix("%")
    is_name = any(each.name == name for each in final.nodes)
    found = found[:top] if value is None else [each for each in found if name in each[1].name]
    found = [each for each in found if each[1].name == name] if is_name else found
    first = history.graph(0) if found else None
    # Only Shardy writes the names of axes.
    text = "" if first is None else first.module.attributes.get("frontend_attributes", "")
    mesh = {name: int(size) for part in _MESH.findall(text)[:1] for name, size in _AXIS.findall(part)}
    partitions: dict[tuple[int, int], Partition] = {}
    causes = []
    for operation, row in found:
        for stages in origins(history, operation.results[0]):
            last, before = stages[-1], stages[-1].before
            *changed, made = (_pass(modules, each) for each in stages)
            cause = CollectiveCause(row, made, last.node.name, tuple(changed), "program" if before is None else "")
            if before is not None:
                key = before[0], last.number
                partition = partitions.get(key) or partitions.setdefault(key, Partition(before[1], last.graph))
                if (why := partition.disagreement(last.node)) is not None:
                    changes = tuple(dict.fromkeys(_changes(partition, why, mesh)))
                    ends = [_end(each, mesh) for each in (*why.given, why.wanted)]
                    cause = replace(cause, reason=why.reason, given=tuple(ends[:-1]), wanted=ends[-1], changes=changes)
                    # Passes write a resharding as a copy.
                    if opcode_of(node := why.wanted.node) == "copy" and why.wanted.result is None:
                        resharded = history.trace({node: None}, before[0])[node]
                        cause = replace(cause, resharded_by=_pass(modules, resharded))
            untried = f"{cause.changes[0]} (untried: --try compiles the program with it)" if cause.changes else ""
            causes.append(replace(cause, advice=untried))
    return tuple(causes)


def _pass(modules: Sequence[Input], stage: Introduced) -> PassName:
    return pass_between(modules, stage.before and stage.before[0], stage.number)


def _end(placed: Placed, mesh: Mapping[str, int]) -> End:
    node, number = placed.node, argument_number(placed.node) if placed.result is None else placed.result
    role: Role = "result" if placed.result is not None else "instruction" if number is None else "argument"
    axes = None if placed.sharding is None else try_axes(placed.sharding, mesh)
    shape = f"{(placed.array or node.shape).without_layout} {sharding_text(axes, placed.text)}"
    return End.of(Side(role, node.name, opcode_of(node), shape, node, number))


def _changes(partition: Partition, why: Disagreement, mesh: Mapping[str, int]) -> Iterator[Resharding]:
    """Yields the changes that may remove a collective, the most promising first."""
    graph, wanted, given = partition.before, why.wanted, (why.given or (why.wanted,))[0]
    ends = wanted.node, given.node
    is_like = given.array is not None and wanted.array is not None and given.array.dimensions == wanted.array.dimensions
    results = [wanted.result] if wanted.result is not None else [n for n, _ in paths_to_results(graph, wanted.node)]
    ways = [*_split(why, mesh)] if why.reason == "sum" else [given.sharding] if is_like else []
    found: list[tuple[Action, int, Placed, Sharding | None]] = [
        ("result", n, wanted, way) for n in results for way in ways
    ]
    is_product = has(opcode_of(wanted.node), Trait.CONTRACTS) and wanted.result is None
    for node in (given.node, *(graph.operands(wanted.node) if is_product else ())):
        start = path_back(graph, node)[-1]
        number, placed = argument_number(start), partition.placed(start)
        if number is None or placed.sharding is None or placed.array is None:
            continue
        # An array that is moved may come as it is wanted, or whole; an operand may be split along another dimension.
        if node is given.node and why.reason != "sum":
            whole = replicated(placed.array.rank, len(placed.sharding.parts))
            found += [("argument", number, placed, each) for each in (wanted.sharding if is_like else None, whole)]
        others = _placings(placed, ((),) * placed.array.rank, _used([placed], mesh), mesh)
        found += [("argument", number, placed, each) for each in others]
    for action, number, placed, sharding in found:
        if placed.array is None or placed.sharding is None or sharding is None or sharding == placed.sharding:
            continue
        if len(sharding.tiles) == placed.array.rank:
            parts = (prod(each.local(placed.array.dimensions)) for each in (placed.sharding, sharding))
            now, then = (count * placed.array.element_type.storage_bits // 8 for count in parts)
            yield Resharding(action, number, try_axes(sharding, mesh), str(sharding), now, then)
    if any(graph.origin(each.operation).op_name.endswith(_BY_USER) for each in ends if each.operation is not None):
        yield Resharding("constraint", 0)


def _used(arrays: Sequence[Placed], mesh: Mapping[str, int]) -> list[str]:
    """Returns the axes along which arrays are split."""
    found = (try_axes(each.sharding, mesh) or () for each in arrays if each.sharding is not None)
    return list(dict.fromkeys(axis for axes in found for some in axes for axis in some))


def _split(why: Disagreement, mesh: Mapping[str, int]) -> Iterator[Sharding]:
    """Yields the shardings of a sum that split a dimension along the axes over which its terms are added."""
    own = None if why.wanted.sharding is None else try_axes(why.wanted.sharding, mesh)
    added = [axis for axis in _used(why.given, mesh) if axis not in _used([why.wanted], mesh)]
    yield from () if own is None else _placings(why.wanted, own, added, mesh)


def _placings(
    placed: Placed, own: Sequence[tuple[str, ...]], added: Sequence[str], mesh: Mapping[str, int]
) -> Iterator[Sharding]:
    """Yields the shardings of an array that split each of its dimensions in turn along further axes."""
    for dim, size in enumerate(placed.array.dimensions if placed.array is not None and added else ()):
        axes = [(*each, *added) if number == dim else each for number, each in enumerate(own)]
        if size % prod(mesh[axis] for axis in axes[dim]) == 0:
            yield by_axes(mesh, axes)


def try_changes(why: Why, module: Module, target: str) -> Why:
    """Returns causes with the changes that removed the collective when a module was compiled with each.

    A collective is gone where the program has fewer of its kind and operands, and sends fewer bytes. Raises
    DiagnosticError where the compiler refuses the module.
    """
    from dialect_utils.tools.conversion import in_dialect_of

    program = in_dialect_of("stablehlo", module)
    constraints = _constraints(program)[:_CONSTRAINTS]
    known: dict[Resharding, Sequence[CollectiveRow]] = {}
    before = _compiled(program, target) if why.collectives else ()
    causes = []
    for cause in why.collectives:
        # A constraint anywhere may have decided the sharding of the operation.
        is_made = bool(cause.introduced_by.before)
        tried = [each for each in cause.changes if each.action != "constraint"]
        tried += [Resharding("constraint", number) for number, _ in enumerate(constraints) if is_made]
        gone = []
        for change in tried:
            if change not in known:
                changed = _changed(program, change)
                known[change] = before
                # A compiler may refuse a change.
                with suppress(DiagnosticError):
                    known[change] = before if changed is None else _compiled(changed, target)
            same = [
                sum((each.kind, each.operands) == (cause.row.kind, cause.row.operands) for each in side)
                for side in (before, known[change])
            ]
            if same[1] < same[0] and _sent(known[change]) < _sent(before):
                gone.append((_sent(known[change]), change))
        sent, best = min(gone, key=lambda each: each[0], default=(0, None))
        place = constraints[best.number].location if best is not None and best.action == "constraint" else None
        of = "" if place is None else f" of {place.source.name}:{place.source.line_and_column(place.span.start)[0]}"
        sizes = f"{format_bytes(sent)} in place of {format_bytes(_sent(before))}"
        advice = "" if best is None else f"{best}{of}; compiled so, a device sends {sizes}"
        causes.append(replace(cause, advice=advice))
    return replace(why, collectives=tuple(causes))


def _sent(rows: Sequence[CollectiveRow]) -> int:
    return sum(each.total_bytes for each in rows)


def _constraints(program: Module) -> list[Operation]:
    return [each for each in program.operations() if each.opcode == _CONSTRAINT or each.callee == _SHARDING]


def _changed(program: Module, change: Resharding) -> Module | None:
    """Returns a program with a change, None where it has no sharding that could change."""
    from dialect_utils.stablehlo.module import StableHloModule

    changed = program.clone()
    assert isinstance(changed, StableHloModule)  # made so by the caller
    if change.action == "constraint":
        constraint = _constraints(changed)[change.number]
        constraint.results[0].replace_uses(constraint.operands[0])
        constraint.erase()
        return changed
    interface = changed.entry.interface
    return changed if interface.set_sharding(change.action, change.number, change.axes, change.sharding) else None


def _compiled(program: Module, target: str) -> Sequence[CollectiveRow]:
    """Returns the collectives of a program that is compiled for a target."""
    from dialect_utils.execution.compilers import compile_for

    final = parse_bytes(encode(compile_for(program.text(), target).dump), "compiled.hlo")
    return [row for _, row in find_collectives(final, Allocation(None), find_origins(final))]
