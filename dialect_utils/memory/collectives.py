"""Collective operations of a module: the devices of each, the bytes that a device sends, and how often it runs.

A device of a group of n sends, by the ring algorithms (P. Patarasuk and X. Yuan, Bandwidth optimal all-reduce
algorithms for clusters of workstations, 2009; also the factors of nccl-tests, doc/PERFORMANCE.md): 2 (n - 1) / n of the
operands of an all-reduce, (n - 1) / n of the operands of a reduce-scatter and an all-to-all, n - 1 times the operands
of an all-gather, and the operands of a permute or a broadcast once. Bytes are those of elements, without padding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from dialect_utils.ir import Function, Module, Operation
from dialect_utils.layout import ArrayShape
from dialect_utils.memory.allocation import Allocation
from dialect_utils.memory.relayouts import Origin, operations_after, operations_before
from dialect_utils.memory.rows import CollectiveRow
from dialect_utils.memory.trips import trip_count
from dialect_utils.ops import DONE, FLAGGED, UPDATE, Trait, by_opcode, has, named, split_asynchronous, with_trait
from dialect_utils.ops.device_counts import Devices, devices_of
from dialect_utils.ops.sharding import device_lists, device_text, try_groups

_SUM, _REDUCE = "stablehlo.cross-replica-sum", "all-reduce"
_PERMUTE = "collective-permute"
KINDS = tuple(sorted(with_trait(Trait.COLLECTIVE) - {_SUM}))
# The bytes that a device sends, as a multiple of the operands' bytes, in a group of n devices.
_SENT: Mapping[str, Callable[[int], tuple[int, int]]] = by_opcode(
    {
        "all-reduce": lambda n: (2 * (n - 1), n),
        "reduce-scatter": lambda n: (n - 1, n),
        "all-to-all": lambda n: (n - 1, n),
        "all-gather": lambda n: (n - 1, 1),
    }
)
# Their other operands are offsets, sizes, or the memory of the results.
_OF_FIRST = named("collective-permute ragged-all-to-all")
# Of a transfer that XLA:GPU makes of a permute (xla/service/collective_permute_decomposer.cc).
_SENT_PAIRS = "_xla_send_recv_source_target_pairs"
_MESH = re.compile(r"mesh\[(?P<sizes>[^\]]*)\].*\{(?P<axes>[^}]*)\}")
_AXIS = re.compile(r"'([^']*)'(?:=(\d+))?")


def find_collectives(
    module: Module, allocation: Allocation, origin: Callable[[Operation], Origin]
) -> list[tuple[Operation, CollectiveRow]]:
    """Returns the collective operations of a module that run, with a row for each: the most bytes sent first."""
    kinds = [(each, kind) for each in module.operations() if (kind := collective_kind(each)) is not None]
    devices = devices_of(module) if kinds else None
    executions: dict[Function, int | None] = {}
    chains: set[tuple[str, str, str | None]] = set()
    found = []
    for operation, kind in kinds:
        trips = _executions(operation.function, executions)
        # XLA:TPU writes a collective into each fusion during which it runs.
        chain = kind, operation.frontend_attributes.get("chain_id", ""), operation.attribute("channel_id")
        if trips == 0 or (chain[1] and chain in chains) or devices is None:
            continue
        chains.add(chain)
        arrays = [leaf for each in operation.operands for leaf in each.shape.arrays()]
        arrays = arrays[:1] if kind in _OF_FIRST else arrays
        size, groups = _among(operation, kind, devices)
        many, few = _SENT[kind](size) if kind in _SENT else (int(size > 1), 1)
        sent = sum(map(allocation.payload, arrays)) * many // few
        operands = tuple(str(each.without_layout) for each in arrays)
        place = _origin(operation, origin, is_hlo=module.dialect == "hlo")
        figures = kind, operands, groups, sent, trips, *place
        found.append((operation, CollectiveRow(operation.results[0].name, operation.opcode, *figures)))
    return sorted(found, key=lambda each: -each[1].total_bytes)


def collective_kind(operation: Operation) -> str | None:
    """Returns the kind of a collective operation or of the start of one, None for other operations.

    An all-reduce in a fusion that keeps a slice of the sum for each device is a reduce-scatter, and a transfer between
    devices that was made of a permute is a permute.
    """
    base, phase = split_asynchronous(operation.opcode)
    if base == "send" and not phase:
        return _PERMUTE if _SENT_PAIRS in operation.frontend_attributes else None
    if not has(base, Trait.COLLECTIVE) or phase in (UPDATE, DONE):
        return None
    if base == _REDUCE and any(each.opcode == "fusion" for each in operation.function.callers):
        [result] = operation.results
        sums = [result] if isinstance(result.shape, ArrayShape) else [each.results[0] for each in result.users]
        return "reduce-scatter" if {user.opcode for each in sums for user in each.users} == {"dynamic-slice"} else base
    return _REDUCE if base == _SUM else base


def _executions(function: Function, known: dict[Function, int | None]) -> int | None:
    """Returns how often a function runs in one execution of the entry, None where the text does not say it."""
    if function not in known:
        # Of a function that calls itself.
        known[function] = None
        counts: list[int | None] = [1] if function.is_entry else []
        for caller in function.callers:
            if split_asynchronous(caller.opcode)[1] not in (UPDATE, DONE):
                times = trip_count(caller) if caller.opcode == "while" else 1
                outer = _executions(caller.function, known)
                counts.append(None if times is None or outer is None else times * outer)
        known[function] = None if None in counts else sum(each or 0 for each in counts)
    return known[function]


def _among(operation: Operation, kind: str, devices: Devices) -> tuple[int, str]:
    """Returns the number of devices that exchange data, and the groups as text: `2 groups of 4, axis x`."""
    if kind == _PERMUTE:
        text = operation.frontend_attributes.get(_SENT_PAIRS)
        pairs = device_lists(operation, "source_target_pairs") if text is None else try_groups(text)
        count = sum(source != target for source, target in pairs or [])
        return 2 if count else 1, f"{count} pair{'s' if count != 1 else ''}"
    has_channel = any(operation.attribute(f"channel_{each}") is not None for each in ("id", "handle"))
    is_joint = kind in FLAGGED and has_channel and operation.attribute("use_global_device_ids") in (None, "false")
    each = devices.partitions if is_joint else 1
    groups = device_lists(operation, "replica_groups")
    if not groups:
        count = each * (devices.partitions if has_channel and kind not in FLAGGED else devices.replicas)
        return count, f"all {count} devices"
    sizes = {len(group) * each for group in groups}
    listed = f"{len(groups)} group{'s' if len(groups) > 1 else ''} of {' or '.join(map(str, sorted(sizes)))}"
    mesh = _MESH.fullmatch(device_text(operation, "replica_groups"))
    axes = (
        [] if mesh is None else [name for name, _ in _AXIS.findall(mesh["axes"]) if f"'{name}'=1," not in mesh[1] + ","]
    )
    return max(sizes), listed + (f", ax{'e' if len(axes) > 1 else 'i'}s {' '.join(axes)}" if axes else "")


def _origin(operation: Operation, origin: Callable[[Operation], Origin], *, is_hlo: bool) -> Origin:
    """Returns the location of a collective, of its fusion or start, or else of an operation that reads or makes it.

    A collective of StableHLO has its line in the text.
    """
    found = next((found for each in _nearby(operation) if (found := origin(each)) != Origin()), Origin())
    if is_hlo or (place := operation.location) is None:
        return found
    return Origin(found.op_name, place.source.name, place.source.line_and_column(place.span.start)[0])


def _nearby(operation: Operation) -> Iterator[Operation]:
    near = (operation, *(() if operation.function.is_entry else operation.function.callers))
    yield from near
    for each in near:
        yield from (*operations_after(each), *operations_before(each))
