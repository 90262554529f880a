"""Turns the partitions of a partitioned program into replicas, which every backend runs the same way."""

from __future__ import annotations

import re
from itertools import product
from math import prod

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.hlo.ops import Ops, instructions
from dialect_utils.layout import ELEMENT_TYPES
from dialect_utils.ops import Trait, with_trait
from dialect_utils.text import Diagnostic, DiagnosticError

COLLECTIVES = with_trait(Trait.COLLECTIVE)
_U32 = ELEMENT_TYPES["u32"]
_OF_PARTITIONS = ("channel_id", "use_global_device_ids")
_MESH = re.compile(r"mesh\[((?:'[^']*'=\d+,?)*)\]\s*\{((?:'[^']*',?)*)\}")
_IOTA = re.compile(r"\[(\d+),(\d+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?")


def device_count(module: HloModule) -> int:
    """Returns on how many devices a module runs: replicas times partitions."""
    return _count(module, "replica_count") * _count(module, "num_partitions")


def replicate_partitions(module: HloModule) -> None:
    """Makes a partitioned module one of replicas, in place.

    partition-id becomes replica-id, collectives between partitions ones between replicas, and
    groups given by a mesh's axes or by an iota become lists. Raises DiagnosticError for a module
    of several replicas and several partitions, and for groups in no known form.
    """
    partitions = _count(module, "num_partitions")
    if partitions > 1 and _count(module, "replica_count") > 1:
        message = f"module {module.name} has replicas and partitions: collectives between both cannot be told apart"
        raise DiagnosticError(Diagnostic(message))
    for item in instructions(module, *COLLECTIVES):
        _list_groups(item)
        if partitions > 1:
            for name in _OF_PARTITIONS:
                item.set_attribute(name, None)
    if partitions == 1:
        return
    _replace_ids(module)
    module.set_attribute("num_partitions", None)
    module.set_attribute("replica_count", str(partitions))


def _count(module: HloModule, name: str) -> int:
    return int(module.attributes.get(name, "1"))


def _replace_ids(module: HloModule) -> None:
    for item in instructions(module, "replica-id"):
        ops = Ops(item)
        ops.finish(ops.constant(_U32, "0"))
    for item in instructions(module, "partition-id"):
        ops = Ops(item)
        ops.finish(ops.emit("replica-id", item.shape))


def _list_groups(item: Instruction) -> None:
    text = item.attribute("replica_groups")
    if text is None or text.startswith("{"):
        return
    groups = try_groups(text)
    if groups is None:
        message = f"{item.opcode} {item.name}: the replica groups {text} are in no form that is known here"
        raise DiagnosticError(Diagnostic(message, item.locate("replica_groups")))
    item.set_attribute("replica_groups", "{" + ",".join("{" + ",".join(map(str, g)) + "}" for g in groups) + "}")


def try_groups(text: str) -> list[list[int]] | None:
    """Reads replica groups given by a mesh and its axes, or by an iota; None for another form.

    `mesh['x'=2,'y'=2] {'y'}` groups the devices that differ in y only; `[2,2]<=[4]` cuts the
    (transposed) iota into rows. Source: xla/hlo/ir/replica_group.cc, mesh_and_axis.cc.
    """
    mesh = _MESH.fullmatch(text)
    if mesh is not None:
        sizes = {name: int(size) for name, size in re.findall(r"'([^']*)'=(\d+)", mesh[1])}
        axes = re.findall(r"'([^']*)'", mesh[2])
        return _mesh_groups(sizes, axes) if set(axes) <= set(sizes) else None
    iota = _IOTA.fullmatch(text)
    if iota is None:
        return None
    dims = [int(size) for size in iota[3].split(",")]
    order = [int(i) for i in iota[4].split(",")] if iota[4] else list(range(len(dims)))
    flat = [_position(index, order, dims) for index in product(*(range(dims[i]) for i in order))]
    rows, length = int(iota[1]), int(iota[2])
    return [flat[row * length : (row + 1) * length] for row in range(rows)]


def _mesh_groups(sizes: dict[str, int], axes: list[str]) -> list[list[int]]:
    names = list(sizes)
    others = [name for name in names if name not in axes]
    order = [names.index(name) for name in (*others, *axes)]
    dims = list(sizes.values())
    flat = [_position(index, order, dims) for index in product(*(range(dims[i]) for i in order))]
    length = prod(sizes[name] for name in axes)
    return [flat[start : start + length] for start in range(0, len(flat), length)]


def _position(index: tuple[int, ...], order: list[int], dims: list[int]) -> int:
    """Returns the row-major position of an index whose coordinates are in another order."""
    position = 0
    for coordinate, size in zip((index[order.index(i)] for i in range(len(dims))), dims, strict=True):
        position = position * size + coordinate
    return position
