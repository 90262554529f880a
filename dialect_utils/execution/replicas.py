"""Makes the partitions of a module replicas: XLA runs several partitions only through its SPMD partitioner.

That takes no partition-id, and would partition what is partitioned already. Between the partitions of one replica
a collective means what it means between as many replicas. Only the worker imports this module.
"""

from __future__ import annotations

from typing import Any

from dialect_utils.ops import Trait, has, hlo_opcode
from dialect_utils.stablehlo.bindings import context, ir

_OF_PARTITIONS = ("channel_handle", "channel_id", "use_global_device_ids")


def as_replicas(program: str | bytes) -> str:
    """Returns a StableHLO module whose partitions are replicas; it must be of one replica."""
    with context(allow_unregistered=False), ir.Location.unknown():
        module = ir.Module.parse(program)
        for operation in _among_devices(module):
            _rewrite(operation)
        module.operation.verify()
        return str(module)


def _among_devices(module: Any) -> list[Any]:
    found: list[Any] = []

    def collect(operation: Any) -> Any:
        if has(hlo_opcode(operation.name), Trait.AMONG_DEVICES):
            found.append(operation.operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(collect)
    return found


def _rewrite(operation: Any) -> None:
    for name in _OF_PARTITIONS:
        if name in operation.attributes:
            del operation.attributes[name]
    if operation.name not in ("stablehlo.partition_id", "stablehlo.replica_id"):
        return
    result = operation.results[0]
    with ir.InsertionPoint(operation):
        if operation.name == "stablehlo.partition_id":
            made = ir.Operation.create("stablehlo.replica_id", results=[result.type])
        else:
            zero = ir.DenseElementsAttr.get_splat(result.type, ir.IntegerAttr.get(result.type.element_type, 0))
            made = ir.Operation.create("stablehlo.constant", results=[result.type], attributes={"value": zero})
    result.replace_all_uses_with(made.results[0])
    operation.erase()
