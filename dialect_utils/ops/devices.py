"""Lists of devices in attributes: meshes, replica groups and source-target pairs.

Sources: xla/hlo/parser/hlo_parser.cc (ParseCollectiveDeviceListBase, ParseMesh), xla/hlo/ir/mesh_and_axis.cc,
xla/service/collective_ops_utils.cc (GetCollectiveOpGroupMode), hlo_verifier.cc (CheckReplicaGroups).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import prod

from dialect_utils.ops.inference import Instance, ShapeError, integer

_LISTED = re.compile(r"\{(?:\s*\{[\d,\s]*\}[,\s]*)*\}")
_GROUP = re.compile(r"\{([\d,\s]*)\}")
_IOTA = re.compile(r"\[([\d,]+)\]\s*(?:<=\s*\[([\d,]+)\]\s*(?:T\(([\d,]+)\))?)?")
_NUMBER = r"-?\d{1,18}"
NUMBERS = rf"{_NUMBER}(?:\s*,\s*{_NUMBER})*"
_NAME = r"""(?:"[^"]*"|'[^']*')"""
# A mesh such as `mesh['x'=2,'y'=4], device_ids=(1,0,...)`. Groups: axes, ids, iota.
MESH = (
    rf"mesh\s*\[(?P<axes>(?:\s*{_NAME}\s*=\s*\d{{1,18}}\s*,?)*)\]"
    rf"(?:\s*,\s*device_ids=\s*\(\s*(?:(?P<ids>{NUMBERS})|\[(?P<iota>{NUMBERS})\]\s*(?:T\({NUMBERS}\))?)\s*\))?"
)
# An axis, or a part of it: `'y'`, `'y':(2)2`.
AXIS = rf"{_NAME}(?:\s*:\s*\(\s*{_NUMBER}\s*\)\s*{_NUMBER})?"
AXES = rf"\{{\s*(?:{AXIS}[,\s]*)*\}}"
_ALONG = re.compile(rf"{MESH}\s*(?P<along>{AXES})")
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
    if text.startswith("mesh"):
        return _along_axes(text)
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


def _along_axes(text: str) -> Mapping[int, int]:
    found = _ALONG.fullmatch(text)
    if found is None:
        raise ShapeError(f"the {_GROUPS} {text} are not axes of a mesh", _GROUPS)
    sizes = mesh_axes(found, _GROUPS)
    [parts] = parts_of_axes(text, sizes, [found["along"]], _GROUPS)
    total, size = prod(sizes.values()), prod(end // begin for _, begin, end in parts)
    return {size: total // size} if total else {}


def mesh_axes(found: re.Match[str], name: str) -> dict[str, int]:
    """Returns the size of each axis of a mesh that the pattern MESH found; raises ShapeError for an invalid mesh."""
    listed = re.findall(rf"({_NAME})\s*=\s*(\d+)", found["axes"] or "")
    sizes = {axis[1:-1]: int(size) for axis, size in listed}
    if len(sizes) < len(listed):
        raise ShapeError(f"a mesh of {name} has two axes of one name", name)
    count, ids = prod(sizes.values()), numbers_in(found["ids"] or "")
    if count > _MOST_DEVICES:
        raise ShapeError(f"the mesh has more than {_MOST_DEVICES} devices", name)
    is_order = not ids or (sorted(ids) == [*range(count)] != ids)
    if not is_order or (found["iota"] and prod(numbers_in(found["iota"])) != count):
        raise ShapeError(f"the device_ids of {name} are no order of the {count} devices of the mesh", name)
    return sizes


_Part = tuple[int, int, int]


def parts_of_axes(text: str, sizes: Mapping[str, int], groups: Sequence[str], name: str) -> list[list[_Part]]:
    """Returns the axes in each group as a number, and where the part of it begins and ends: (1, 2, 4) of `'y':(2)2`.

    Raises ShapeError where parts are none of an axis or overlap, or where two adjacent ones are one part.
    """
    found = [[_part(text, sizes, each, name) for each in re.findall(AXIS, group)] for group in groups]
    ordered = sorted(part for group in found for part in group)
    if any(one[0] == other[0] and one[2] > other[1] for one, other in pairwise(ordered)):
        raise ShapeError(f"{text} uses an axis twice", name)
    if any(one[0] == other[0] and one[2] == other[1] for group in found for one, other in pairwise(group)):
        raise ShapeError(f"adjacent parts of an axis can be merged in {text}", name)
    return found


def _part(text: str, sizes: Mapping[str, int], ref: str, name: str) -> _Part:
    written, _, part = ref.partition(":") if ref[-1].isdigit() else (ref, "", "")
    axis, names = written.strip()[1:-1], [*sizes]
    number = names.index(axis) if axis in sizes else int(axis) if axis.isdecimal() and len(axis) < len("100") else -1
    if not 0 <= number < len(names):
        raise ShapeError(f"{axis} is not a valid axis name or index of the mesh of {text}", name)
    size = sizes[names[number]]
    before, length = numbers_in(part) if part else (1, size)
    if before < 1 or (part and not 1 < length < size) or size % max(before * length, 1):
        raise ShapeError(f"{ref} is no part of an axis of size {size} in {text}", name)
    return number, before, before * length


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
