"""Lists of devices in attributes: replica groups and source-target pairs.

Sources: xla/hlo/parser/hlo_parser.cc (ParseCollectiveDeviceList, ParseReplicaGroupMesh),
xla/service/collective_ops_utils.cc (GetCollectiveOpGroupMode), hlo_verifier.cc (CheckReplicaGroups).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from math import prod

from dialect_utils.ops.inference import Instance, ShapeError, integer

_LISTED = re.compile(r"\{(?:\s*\{[\d,\s]*\}[,\s]*)*\}")
_GROUP = re.compile(r"\{([\d,\s]*)\}")
_IOTA = re.compile(r"\[([\d,]+)\]\s*(?:<=\s*\[([\d,]+)\]\s*(?:T\(([\d,]+)\))?)?")
_MESH = re.compile(r"mesh\s*\[([^\]]*)\]\s*\{([^}]*)\}")
_AXIS = re.compile(r"'([^']*)'\s*=\s*(\d+)")
_DEVICE_IDS = re.compile(r"device_ids\s*=\s*\(([^)]*)\)")
_PAIRS = re.compile(r"\{(?:\s*\{\s*-?\d+\s*,\s*-?\d+\s*\}[,\s]*)*\}")
_PAIR = re.compile(r"\{\s*(-?\d+)\s*,\s*(-?\d+)\s*\}")
_GROUPS, _SOURCES = "replica_groups", "source_target_pairs"
# Far more devices than any machine has.
_MOST_DEVICES = 1 << 20


def numbers_in(text: str) -> list[int]:
    """Returns the integers of a text such as `2,4`."""
    return [integer(number) for number in re.findall(r"\d+", text)]


def check_iota(kind: str, sizes: list[int], reshaped: list[int], name: str) -> None:
    """Raises ShapeError where `[2,2]<=[16]` names another number of devices than it has tiles."""
    if max(prod(sizes), prod(reshaped)) > _MOST_DEVICES:
        raise ShapeError(f"the {kind} has more than {_MOST_DEVICES} devices", name)
    if prod(sizes) != prod(reshaped):
        message = (
            f"the {kind} has {prod(reshaped)} devices, which does not match the tile assignment dimensions {sizes}"
        )
        raise ShapeError(message, name)


def group_sizes(instance: Instance) -> Mapping[int, int]:
    """Returns the number of replica groups of each size, {} for one group of all; raises ShapeError for invalid ones.

    Returns counts, because a list of all sizes could be long: `[1000000000,1]<=[1000000000]`.
    """
    text = instance.attribute(_GROUPS)
    if text is None:
        return {}
    if "-" in text and "<=" not in text and "mesh" not in text:
        raise ShapeError(f"the {_GROUPS} {text} of {instance.opcode} name a device below 0", _GROUPS)
    if _LISTED.fullmatch(text):
        return _listed_sizes(instance, text)
    mesh = _MESH.match(text)
    if mesh is not None:
        return _mesh_sizes(mesh[1], mesh[2])
    found = _IOTA.match(text)
    if found is None:
        return {}
    sizes = numbers_in(found[1])
    if len(sizes) != len(("groups", "devices")):
        raise ShapeError(f"the {_GROUPS} {text} have {len(sizes)} dimensions instead of 2", _GROUPS)
    check_iota(_GROUPS, sizes, numbers_in(found[2] or found[1]), _GROUPS)
    return {sizes[1]: sizes[0]} if sizes[0] else {}


def _listed_sizes(instance: Instance, text: str) -> Mapping[int, int]:
    groups = [numbers_in(group) for group in _GROUP.findall(text.strip()[1:-1])]
    devices = [device for group in groups for device in group]
    if any(not group for group in groups):
        raise ShapeError(f"the {_GROUPS} {text} of {instance.opcode} have an empty group", _GROUPS)
    if sorted(devices) != list(range(len(devices))):
        raise ShapeError(f"the {_GROUPS} {text} of {instance.opcode} do not name each device once", _GROUPS)
    return Counter(map(len, groups))


def _mesh_sizes(mesh: str, axes: str) -> Mapping[int, int]:
    sizes = {name: integer(size) for name, size in _AXIS.findall(mesh)}
    total = prod(sizes.values())
    if total > _MOST_DEVICES:
        raise ShapeError(f"the mesh has more than {_MOST_DEVICES} devices", _GROUPS)
    devices = _DEVICE_IDS.search(mesh)
    if devices is not None and len(numbers_in(devices[1])) != total:
        message = f"the mesh has {len(numbers_in(devices[1]))} device_ids for {total} devices"
        raise ShapeError(message, _GROUPS)
    size = 1
    for axis in re.findall(r"'([^']*)'(:\(\d+\)(\d+))?", axes):
        if axis[0] not in sizes:
            raise ShapeError(f"{axis[0]} is not a valid axis name or index of the mesh", _GROUPS)
        size *= integer(axis[2]) if axis[2] else sizes[axis[0]]
    count = total // max(size, 1)
    return {size: count} if count else {}


def subgroup_size(instance: Instance, *, is_uniform: bool = True) -> int:
    """Returns how many devices exchange data; 1 where the module names no number. Raises ShapeError.

    Groups hold replicas without a channel; with one, partitions, or both in one number where use_global_device_ids
    is true.
    """
    sizes = group_sizes(instance)
    has_channel, is_global = instance.attribute("channel_id") is not None, instance.attribute("use_global_device_ids")
    if is_global == "true" and not has_channel:
        raise ShapeError("use_global_device_ids=true needs a channel_id", "use_global_device_ids")
    if is_global == "true" and not sizes:
        message = f"the {_GROUPS} of {instance.opcode} must be specified where use_global_device_ids is true"
        raise ShapeError(message, "use_global_device_ids")
    takes_flag = instance.opcode.startswith(("all-gather", "all-reduce", "collective-reduce", "reduce-scatter"))
    counts_partitions = has_channel and not takes_flag
    count = instance.partitions if counts_partitions else instance.replicas
    if is_global == "true":
        count = instance.replicas * instance.partitions
    total = sum(size * groups for size, groups in sizes.items())
    if sizes and count not in (1, total):
        what = "partitions" if counts_partitions else "flattened ids" if is_global == "true" else "replicas"
        message = f"the {_GROUPS} of {instance.opcode} should contain {count} {what}, but contain {total}"
        raise ShapeError(message, _GROUPS)
    if is_uniform and len(sizes) > 1:
        raise ShapeError(f"the {_GROUPS} of {instance.opcode} are not of one size", _GROUPS)
    size = next(iter(sizes), count)
    is_joint = takes_flag and has_channel and is_global != "true"
    return size * instance.partitions if is_joint else size


def check_pairs(instance: Instance, most: int) -> None:
    """Raises ShapeError where a source or target is in more than `most` pairs, or does not exist."""
    text = instance.attribute(_SOURCES)
    if text is None:
        raise ShapeError(f"{instance.opcode} needs the attribute {_SOURCES}", "opcode")
    if not _PAIRS.fullmatch(text):
        raise ShapeError(f"the {_SOURCES} {text} of {instance.opcode} are not pairs of devices", _SOURCES)
    pairs = [(integer(source), integer(target)) for source, target in _PAIR.findall(text)]
    limit = instance.partitions if instance.attribute("channel_id") is not None else instance.replicas
    for column, what in enumerate(("source", "target")):
        for device, times_found in Counter(pair[column] for pair in pairs).items():
            if device < 0 or (limit > 1 and device >= limit):
                bound = "at least 0" if device < 0 else f"below {limit}"
                raise ShapeError(f"the {what} {device} in {_SOURCES} must be {bound}", _SOURCES)
            if times_found > most:
                times = "once" if most == 1 else f"{most} times"
                raise ShapeError(f"the {what} {device} is in {_SOURCES} more than {times}", _SOURCES)
