"""The boundaries between whole arrays and the parts of devices: `shard_map`, in each form of the partitioners.

Sources: xla/hlo/utils/hlo_sharding_util (manual subgroups), shardy/dialect/sdy/ir/ops.td (ManualComputationOp) and
xla/service/spmd/shardy/constants.h (the custom calls and attributes that carry it through HLO).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dialect_utils.layout import ArrayShape
from dialect_utils.ops.domain import UndefinedError, static_array
from dialect_utils.ops.sharding import Sharding, replicated, try_sharding

if TYPE_CHECKING:
    from dialect_utils.ir import Module, Operation, Value

_ENTERS = {"SPMDFullToShardShape": "", "xla.sdy.GlobalToLocalShape": "xla.sdy.in_shardings"}
_LEAVES = {"SPMDShardToFullShape": "", "xla.sdy.LocalToGlobalShape": "xla.sdy.out_shardings"}
COMPUTATION = "sdy.manual_computation"
_PER_VALUE = re.compile(r"<@[^\[]*\[(?:[^<>])*>")


@dataclass(frozen=True, slots=True)
class Boundary:
    """The shardings by which an operation cuts whole arrays into parts, and those by which it joins parts."""

    entering: tuple[Sharding, ...] = ()
    leaving: tuple[Sharding, ...] = ()


def is_boundary(operation: Operation) -> bool:
    """Is true for an operation between whole arrays and parts, and for a computation on parts of whole arrays."""
    return operation.opcode == COMPUTATION or operation.callee in _ENTERS or operation.callee in _LEAVES


def boundaries(module: Module, devices: int) -> Iterator[Boundary]:
    """Yields the boundaries of a module; raises UndefinedError for one in an unknown notation."""
    for operation in module.operations():
        if is_boundary(operation):
            yield boundary_of(module, operation, devices)


def boundary_of(module: Module, operation: Operation, devices: int) -> Boundary:
    """Returns the shardings at a boundary; raises UndefinedError for one in an unknown notation."""
    given, made = ([*_arrays(values)] for values in (operation.operands, operation.results))
    if operation.opcode == COMPUTATION:
        inner = operation.called[0]
        entering = _of_values(module, operation.attribute("in_shardings"), given, _arrays(inner.parameters), devices)
        leaving = _of_values(module, operation.attribute("out_shardings"), made, _arrays(inner.results), devices)
        return Boundary(entering, leaving)
    if operation.callee in _ENTERS:
        name = _ENTERS[operation.callee]
        text = operation.frontend_attributes.get(name) if name else _placed(operation.operands[0].operation)
        return Boundary(entering=_of_values(module, text, given, made, devices))
    name = _LEAVES[operation.callee or ""]
    text = operation.frontend_attributes.get(name) if name else _placed(operation)
    return Boundary(leaving=_of_values(module, text, made, given, devices))


def _placed(operation: Operation | None) -> str | None:
    if operation is None:
        return None
    found = operation.attribute("sharding") or operation.attribute("mhlo.sharding")
    return None if found is None else found.strip('"')


def _arrays(values: Sequence[Value]) -> Iterator[ArrayShape]:
    return (static_array(leaf) for value in values for leaf in value.shape.leaves())


def _of_values(
    module: Module, text: str | None, wholes: Iterable[ArrayShape], parts: Iterable[ArrayShape], devices: int
) -> tuple[Sharding, ...]:
    listed = [] if text is None else _PER_VALUE.findall(text) if "per_value" in text else [text]
    found = []
    for whole, part, each in zip(wholes, parts, listed, strict=True):
        own = "#sdy.sharding" + each if each.startswith("<") else each
        sharding = try_sharding(own, whole.rank, devices, module.mesh)
        if sharding is None:
            raise UndefinedError(f"the sharding {own} at the boundary of a manual computation is not known here")
        found.append(_manual(sharding, whole, part))
    return tuple(found)


def _manual(sharding: Sharding, whole: ArrayShape, part: ArrayShape) -> Sharding:
    """Returns the sharding along manual axes: the others split no dimension of the part."""
    ratios = [a // b if b and not a % b else 0 for a, b in zip(whole.dimensions, part.dimensions, strict=True)]
    if tuple(ratios) == sharding.tiles:
        return sharding
    kept = [count == ratio for count, ratio in zip(sharding.tiles, ratios, strict=True)]
    if not all(is_kept or ratio == 1 for is_kept, ratio in zip(kept, ratios, strict=True)):
        raise UndefinedError(f"the sharding {sharding} does not cut {whole} into parts {part}")
    if not any(count > 1 and is_kept for count, is_kept in zip(sharding.tiles, kept, strict=True)):
        return replicated(whole.rank, len(sharding.parts))
    parts = tuple(tuple(i if is_kept else 0 for i, is_kept in zip(own, kept, strict=True)) for own in sharding.parts)
    return Sharding(tuple(count if is_kept else 1 for count, is_kept in zip(sharding.tiles, kept, strict=True)), parts)
