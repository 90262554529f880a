"""Memory, work and devices that executing a module takes, added up before anything is allocated.

A file of a few lines may ask for any amount: one large array, or calls that double forty times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from dialect_utils.execution.arrays import LARGEST_RANK, LARGEST_SIZE
from dialect_utils.execution.errors import MORE_MEMORY, RefusedError
from dialect_utils.ir import Function, Module, Value
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from dialect_utils.ops.device_counts import devices_of, wrong_count
from dialect_utils.processes import DEFAULT_MEMORY_BYTES
from dialect_utils.text import Diagnostic, DiagnosticError, Location

# The copies of an input: as drawn, packed, written to the worker, copied to a device, and compared between runs.
_COPIES = 6
# XLA inlines calls, and a proof walks through them; the largest dumps have some hundred thousand instructions.
_MOST_INSTRUCTIONS = 2_000_000
_DEEPEST_CALLS = 5_000
# One process on one machine runs all devices.
_MOST_DEVICES = 64


def check_sizes(module: Module, memory: int = DEFAULT_MEMORY_BYTES) -> None:
    """Raises DiagnosticError, with its location, for a value that does not fit in `memory` bytes.

    Inputs and outputs count once per copy. Also raises RefusedError as `check_shapes` does.
    """
    check_shapes(module)
    parameters, results = module.entry_layout
    interface = sum(map(_bytes, (*parameters, *results)))
    largest, needed = None, 0
    for value in module.values():
        size = _bytes(value.shape)
        if size > needed:
            largest, needed = value, size
    if _COPIES * interface + needed <= memory:
        return
    allowed = f"more than the {_told(memory)} that a module may use"
    if largest is not None and needed > _COPIES * interface:
        raise DiagnosticError(f"{largest.name} takes {_told(needed)}, {allowed}", largest.location, hint=MORE_MEMORY)
    copies = f"{_told(_COPIES * interface)} with their copies"
    message = f"inputs and outputs of {_told(interface)} take {copies}, {allowed}"
    raise DiagnosticError(message, _location_of_largest(module.entry), hint=MORE_MEMORY)


def check_shapes(module: Module) -> None:
    """Raises RefusedError for a shape that no array can have: more than 64 dimensions, or 2^63 bytes."""
    for value in module.values():
        for leaf in _distinct_leaves(value.shape, set()):
            if len(leaf.dimensions) > LARGEST_RANK:
                message = f"{value.name} has {len(leaf.dimensions)} dimensions; no array has more than {LARGEST_RANK}"
                raise RefusedError(Diagnostic(message, value.location))
            if prod(max(size, 1) for size in leaf.dimensions) * leaf.element_type.storage_bytes > LARGEST_SIZE:
                message = f"{value.name} is {leaf.without_layout}, of more than 2^63 bytes"
                raise RefusedError(Diagnostic(message, value.location))


def _distinct_leaves(shape: Shape, seen: set[int]) -> Iterator[ArrayShape]:
    """Yields the arrays of a shape, those of a repeated tuple only once."""
    if isinstance(shape, ArrayShape):
        yield shape
    elif isinstance(shape, TupleShape):
        for element in shape.elements:
            if id(element) not in seen:
                seen.add(id(element))
                yield from _distinct_leaves(element, seen)


def _bytes(shape: Shape) -> int:
    if isinstance(shape, TupleShape):
        return sum(map(_bytes, shape.elements))
    return prod(shape.dimensions) * shape.element_type.storage_bytes if isinstance(shape, ArrayShape) else 0


def _location_of_largest(entry: Function) -> Location | None:
    values: Sequence[Value] = (*entry.parameters, *entry.results)
    return max(values, key=lambda value: _bytes(value.shape)).location if values else None


def _told(size: int) -> str:
    for unit, factor in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6)):
        if size >= factor:
            return f"{size / factor:.3g} {unit}" if size < 10**18 else "more than 10^18 bytes"
    return f"{size} bytes"


def check_work(module: Module) -> None:
    """Raises DiagnosticError where nested calls expand to too many instructions or nest too deep."""
    counts: dict[Function, tuple[int, int]] = {}
    # Callees come before their callers.
    for function in module.functions:
        instructions, depth = 0, 0
        for operation in function.operations:
            called = [counts.get(callee, (0, 0)) for callee in operation.called]
            instructions += 1 + sum(count for count, _ in called)
            depth = max([depth, *(1 + level for _, level in called)])
            if instructions > _MOST_INSTRUCTIONS:
                message = f"calls make this {operation.opcode} more than {_MOST_INSTRUCTIONS} instructions"
                raise DiagnosticError(message, operation.location)
            if depth > _DEEPEST_CALLS:
                raise DiagnosticError(f"calls nest more than {_DEEPEST_CALLS} deep", operation.location)
        counts[function] = instructions, depth


def check_devices(module: Module, devices: int) -> None:
    """Raises DiagnosticError, at the first device-dependent operation, for a module for another number of devices."""
    found = devices_of(module)
    if devices not in (found.needed, found.count):
        raise wrong_count(module, found, devices)


def check_emulated(module: Module) -> None:
    """Raises DiagnosticError for a module for more devices than this machine can emulate."""
    found = devices_of(module)
    if found.needed > _MOST_DEVICES and found.dependent is not None:
        message = f"module {module.name} is for {found.count} devices; at most {_MOST_DEVICES} run here"
        raise DiagnosticError(message, found.dependent.location)


def common_device_count(modules: Sequence[Module]) -> int:
    """Returns the number of devices of all modules; raises DiagnosticError where their numbers differ."""
    found = [devices_of(module) for module in modules]
    counts = sorted({each.count for each in found if each.dependent is not None})
    if len(counts) > 1:
        raise DiagnosticError(f"the modules are for different numbers of devices: {' and '.join(map(str, counts))}")
    return counts[0] if counts else 1


def partitions_of(module: Module) -> int:
    """Returns the number of partitions of a module whose results depend on the partition, else 1.

    Raises DiagnosticError for several partitions of several replicas: collectives between partitions cannot be
    distinguished from those between replicas.
    """
    found = devices_of(module)
    if found.dependent is None or found.partitions == 1:
        return 1
    if found.replicas > 1:
        message = f"module {module.name} has replicas and partitions: collectives between both cannot be distinguished"
        raise DiagnosticError(message, found.dependent.location)
    return found.partitions
