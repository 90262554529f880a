"""The boundaries between whole arrays and the parts of devices, as slices by the number of the device and gathers."""

from __future__ import annotations

from itertools import product

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.hlo.ops import Ops, instructions
from dialect_utils.ir import Module, array_shape
from dialect_utils.layout import ELEMENT_TYPES, TupleShape
from dialect_utils.ops.device_counts import devices_of
from dialect_utils.ops.domain import UndefinedError
from dialect_utils.ops.manual import boundary_of, is_boundary
from dialect_utils.ops.sharding import Sharding
from dialect_utils.text import DiagnosticError
from passes.dumps.inline_fusions import use_elements

_NUMBER, _INDEX = ELEMENT_TYPES["u32"], ELEMENT_TYPES["s32"]


def with_parts(module: Module) -> Module:
    """Returns a program in which devices slice and gather what a `shard_map` divides; without one, the same object.

    Raises DiagnosticError for a boundary whose sharding is not known, or does not divide an array evenly.
    """
    if not any(map(is_boundary, module.operations())):
        return module
    # A local import, because most modules stay in their dialect.
    from dialect_utils.tools.conversion import in_dialect_of

    count = devices_of(module).count
    made = in_dialect_of("hlo", module)
    assert isinstance(made, HloModule)  # in this dialect
    made = made.clone()
    if count > 1:
        made.set_attribute("num_partitions", str(count))
        for item in instructions(made, "custom-call"):
            if is_boundary(item):
                use_elements(_expanded(item, count))
    return made


def _expanded(call: Instruction, count: int) -> Instruction:
    try:
        boundary = boundary_of(call.computation.module, call, count)
    except UndefinedError as error:
        raise DiagnosticError(str(error), call.location) from None
    ops, shardings = Ops(call), boundary.entering or boundary.leaving
    make = _part if boundary.entering else _whole
    found = [make(ops, value, own, count) for value, own in zip(call.operands, shardings, strict=True)]
    return ops.finish(ops.tuple(found) if isinstance(call.shape, TupleShape) else found[0])


def _part(ops: Ops, value: Instruction, sharding: Sharding, count: int) -> Instruction:
    """Returns the part of an array that a device holds."""
    shape = array_shape(value)
    sizes = sharding.local(shape.dimensions)
    if any(size * tiles != full for size, tiles, full in zip(sizes, sharding.tiles, shape.dimensions, strict=True)):
        raise DiagnosticError(f"{shape} is not divided evenly among {count} devices", ops.replaced.location)
    if sharding.is_replicated:
        return value
    number, starts = ops.emit("partition-id", ops.shape(_NUMBER, ())), []
    for dimension, size in enumerate(sizes):
        text = ", ".join(str(part[dimension] * size) for part in sharding.parts)
        table = ops.emit("constant", ops.shape(_INDEX, (count,)), inner=f"{{{text}}}")
        sliced = ops.emit("dynamic-slice", ops.shape(_INDEX, (1,)), (table, number), {"dynamic_slice_sizes": (1,)})
        starts.append(ops.reshape(sliced, ()))
    attributes = {"dynamic_slice_sizes": sizes}
    return ops.emit("dynamic-slice", ops.shape(shape.element_type, sizes), (value, *starts), attributes)


def _whole(ops: Ops, value: Instruction, sharding: Sharding, count: int) -> Instruction:
    """Returns the array of the parts of all devices; devices with the same part hold the same data."""
    if sharding.is_replicated:
        return value
    kind, sizes = array_shape(value).element_type, array_shape(value).dimensions
    attributes: dict[str, str | tuple[int, ...]] = {
        "channel_id": "1",
        "replica_groups": "{{" + ",".join(map(str, range(count))) + "}}",
        "dimensions": (0,),
        "use_global_device_ids": "true",
    }
    every = ops.emit("all-gather", ops.shape(kind, (count, *sizes)), (ops.reshape(value, (1, *sizes)),), attributes)
    parts: dict[tuple[int, ...], Instruction] = {}
    for index in product(*map(range, sharding.tiles)):
        device = sharding.parts.index(index)
        bounds = [(device, device + 1), *((0, size) for size in sizes)]
        text = "{" + ", ".join(f"[{start}:{limit}]" for start, limit in bounds) + "}"
        cut = ops.emit("slice", ops.shape(kind, (1, *sizes)), (every,), {"slice": text})
        parts[index] = ops.reshape(cut, sizes)
    for dimension in reversed(range(len(sizes))):
        rows: dict[tuple[int, ...], list[Instruction]] = {}
        for index, part in parts.items():
            rows.setdefault(index[:dimension], []).append(part)
        parts = {index: _joined(ops, row, dimension) for index, row in rows.items()}
    return parts[()]


def _joined(ops: Ops, parts: list[Instruction], dimension: int) -> Instruction:
    if len(parts) == 1:
        return parts[0]
    shape = array_shape(parts[0])
    sizes = list(shape.dimensions)
    sizes[dimension] *= len(parts)
    return ops.emit("concatenate", ops.shape(shape.element_type, sizes), parts, {"dimensions": (dimension,)})
