"""The number of devices that a module is for: as its header says, or as its operations, shardings and meshes name them.

XLA prints no count of a module whose configuration has none, such as the HLO of JAX's `lower`: the devices that the
text names are then all that is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from dialect_utils.ops import FLAGGED, Trait, has, split_asynchronous
from dialect_utils.ops.inference import integer
from dialect_utils.ops.sharding import device_lists
from dialect_utils.text import Diagnostic, DiagnosticError

if TYPE_CHECKING:
    from dialect_utils.ir import Module, Operation

# The counts of replicas and of partitions: HLO's name, and that of MLIR.
_REPLICAS, _PARTITIONS = ("replica_count", "mhlo.num_replicas"), ("num_partitions", "mhlo.num_partitions")
_LISTS, _CHANNELS = ("replica_groups", "source_target_pairs"), ("channel_id", "channel_handle")
# Far more devices than any machine has, and longer lists of sizes than any sharding has.
_MOST_DEVICES, _SIZES = 1 << 20, "{1,4096}"
_TILED = re.compile(rf"\bdevices=\[([\d,]{_SIZES})\]([\d,]*)")
# Shardy's mesh `<["x"=2]>`, and HLO's `mesh['x'=2]`.
_MESH = re.compile(rf"\bmesh(?: @\S{_SIZES} = )?<?\[([^\]]{_SIZES})\](?:, device_ids=[\[(]([\d, ]*)[\])])?")
_MAXIMAL = re.compile(r"\bmaximal(?:_mesh\[| )device(?:_id)?=(\d+)")
# Conversions between whole arrays and the parts of devices, which the partitioner removes.
_MANUAL = re.compile(r"\b(?:sdy\.manual_computation|xla\.sdy\.GlobalToLocalShape|SPMDFullToShardShape)\b")
_NUMBER, _SIZE = re.compile(r"\d{1,9}"), re.compile(r"=(\d{1,9})\b")


@dataclass(frozen=True, slots=True)
class Devices:
    """The replicas and partitions of a module, and its first operation whose result depends on the device.

    `named` says which attribute names more devices than the header counts; empty where the header has the count.
    """

    replicas: int
    partitions: int
    dependent: Operation | None
    named: str = ""

    @property
    def count(self) -> int:
        """Returns the number of devices that the module is written for."""
        return self.replicas * self.partitions

    @property
    def needed(self) -> int:
        """Returns the number of devices that must run it: one where no result depends on the device."""
        return self.count if self.dependent is not None else 1

    @property
    def notes(self) -> list[Diagnostic]:
        """Returns a note where the number is not in the header."""
        if not self.named:
            return []
        name = "replica_count" if self.replicas > 1 else "num_partitions"
        message = f"{self.named}, but the module is for 1 device ({name} is missing): taken for {self.count} devices"
        return [Diagnostic(message, None, "note", "--devices N of run and check gives another number")]

    @property
    def notes_of_compilation(self) -> list[Diagnostic]:
        """Returns the notes of a compilation: also that its figures are those of one device of several."""
        if self.count == 1:
            return []
        message = f"compiled for {self.count} devices; all figures are those of each one"
        return [*self.notes, Diagnostic(message, None, "note")]

    def notes_of_run(self, devices: int | None = None) -> list[Diagnostic]:
        """Returns the notes of a run on `devices`, else on those that it needs: also that one of several is enough."""
        if self.count in (devices, self.needed):
            return self.notes
        message = f"the module is for {self.count} devices, but no result depends on the device: it runs on one"
        return [*self.notes, Diagnostic(message, None, "note")]


def written_counts(module: Module) -> tuple[int, int]:
    """Returns the numbers of replicas and of partitions in the header of a module, 1 where they are absent."""
    return _written(module, _REPLICAS), _written(module, _PARTITIONS)


def _written(module: Module, names: tuple[str, str]) -> int:
    # MLIR writes `2 : i32`.
    words = [module.attributes[name].partition(" ")[0] for name in names if name in module.attributes]
    return max([1, *(integer(word) for word in words if word.isdecimal())])


def devices_of(module: Module) -> Devices:
    """Returns the devices of a module; where its header has no count, those that its text names."""
    replicas, partitions = written_counts(module)
    # Not the phases of an asynchronous operation after its start.
    among = [each for each in module.operations() if has(each.opcode, Trait.AMONG_DEVICES)]
    dependent = among[0] if among else None
    if replicas * partitions > 1:
        return Devices(replicas, partitions, dependent)
    named = [(count, is_replica, what) for each in among for count, is_replica, what in _listed(each)]
    named += [(count, False, what) for count, what in _in_text(module.text())]
    most, is_replica, what = max(named, default=(1, False, ""))
    most = min(most, _MOST_DEVICES)
    if most == 1:
        return Devices(1, 1, dependent)
    return Devices(*((most, 1) if is_replica else (1, most)), dependent, f"{what} device {most - 1}")


def _listed(operation: Operation) -> Iterator[tuple[int, bool, str]]:
    """Yields the number of devices that an operation names, whether these are replicas, and the attribute."""
    for name in _LISTS:
        devices = [device for group in device_lists(operation, name) or () for device in group]
        if devices:
            yield max(devices) + 1, _is_of_replicas(operation), f"the {name} name"


def _is_of_replicas(operation: Operation) -> bool:
    """Is true for an operation whose devices are replicas, not partitions."""
    has_channel = any(operation.attribute(name) is not None for name in _CHANNELS)
    is_flagged = split_asynchronous(operation.opcode)[0] in FLAGGED
    is_global = operation.attribute("use_global_device_ids") is not None
    return operation.opcode != "partition-id" and (not has_channel or (is_flagged and not is_global))


def _in_text(text: str) -> Iterator[tuple[int, str]]:
    """Yields the numbers of devices that the shardings and the meshes in a text name."""
    for found in _TILED.finditer(text):
        listed = [int(number) for number in _NUMBER.findall(found[2])]
        yield max(listed) + 1 if listed else prod(map(int, _NUMBER.findall(found[1]))), "a sharding names"
    for found in _MESH.finditer(text):
        ids = [int(number) for number in _NUMBER.findall(found[2] or "")]
        yield max(ids) + 1 if ids else prod(map(int, _SIZE.findall(found[1]))), "a mesh names"
    for found in _MAXIMAL.finditer(text):
        yield int(found[1]) + 1, "a sharding names"


def notes_of_report(module: Module) -> list[Diagnostic]:
    """Returns the notes of a report on a module for several devices: whose arrays its figures count."""
    found = devices_of(module)
    if found.count == 1:
        return []
    is_whole = module.attributes.get("is_scheduled") != "true" and _is_whole(module.text(), found)
    counted = "the whole arrays, before they are partitioned" if is_whole else "those of each one"
    return [
        *found.notes,
        Diagnostic(f"the module is for {found.count} devices; its figures are {counted}", None, "note"),
    ]


def _is_whole(text: str, found: Devices) -> bool:
    """Is true for the text of a program that XLA has not partitioned yet: manual parts, or shardings alone."""
    return bool(_MANUAL.search(text)) or (found.dependent is None and next(_in_text(text), None) is not None)


def with_devices(module: Module, count: int | None = None) -> Module:
    """Returns a module whose header says for how many devices it is; itself where that is so.

    `count` replaces a number that no header has. Raises DiagnosticError where the module is for another number.
    """
    found, written = devices_of(module), prod(written_counts(module))
    wanted = count or found.count
    if wanted == written or (count == found.needed and not found.named):
        return module
    is_open = written == 1 and found.dependent is not None
    if not (is_open or count is None) or wanted < found.count:
        raise wrong_count(module, found, wanted)
    changed = module.clone()
    is_of_replicas = found.replicas > 1
    if found.count == 1 and found.dependent is not None:
        is_of_replicas = _is_of_replicas(found.dependent)
    write_counts(changed, Devices(*((wanted, 1) if is_of_replicas else (1, wanted)), None))
    return changed


def write_counts(module: Module, devices: Devices) -> None:
    """Writes the numbers of replicas and of partitions into the header of a module, in place, where they exceed 1."""
    is_mlir = module.dialect != "hlo"
    for names, count in ((_REPLICAS, devices.replicas), (_PARTITIONS, devices.partitions)):
        if count > 1:
            module.set_attribute(names[is_mlir], f"{count} : i32" if is_mlir else str(count))


def wrong_count(module: Module, found: Devices, devices: int) -> DiagnosticError:
    """Returns the error, at the first device-dependent operation, for a run on another number of devices."""
    what = f"module {module.name}"
    if found.dependent is not None and found.dependent.results:
        what = f"{found.dependent.opcode} {found.dependent.results[0].name}"
    location = None if found.dependent is None else found.dependent.location
    message = f"{what} is for {'1 device' if found.count == 1 else f'{found.count} devices'}, not {devices}"
    return DiagnosticError(message, location, hint=f"run it on its own number: --devices {found.count}")
