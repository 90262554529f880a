"""Replica groups and pairs of devices as lists, from each notation of HLO, StableHLO and Shardy."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dialect_utils.ops.devices import numbers_in
from dialect_utils.ops.sharding import MOST_DEVICES, try_axes, try_iota

if TYPE_CHECKING:
    from dialect_utils.ir import Operation

_LISTED = re.compile(r"\{?(?:\{[\d,\s]*\}[,\s]*)*\}?")
_EMPTY = re.compile(r"\{\s*\}")
_GROUP = re.compile(r"\{([\d,\s]+)\}")
_NUMBER = re.compile(r"\d+")
_MESH = re.compile(r"mesh\[[^{}]*\{([^{}]*)\}")
_IOTA = re.compile(r"\[(\d+),(\d+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?")
_MATRIX = re.compile(r"tensor<(\d+)x(\d+)xi64>")
# StableHLO's groups along axes of a mesh, which a symbol or an attribute gives; Shardy's mesh of the symbol.
_AXES = re.compile(r"#stablehlo\.replica_group_mesh_axes<mesh = (.*), axes = \[(.*)\]>", re.DOTALL)
_SYMBOL = re.compile(r'(?<=mesh = )@(?:([\w.$-]+)|"([^"]*)")')
_SIZE = re.compile(r'"([^"\']*)"(?:=|, size = )(\d+)')
_AXIS = re.compile(r'#stablehlo\.axis_ref<name = "([^"\']*)">')
_IDS = re.compile(r"device_ids=\[([\d, ]+)\]")
_MOST_DIGITS = 9


def try_groups(text: str) -> list[list[int]] | None:
    """Returns replica groups as lists, or None for another form, an empty group and more devices than 65,536.

    `{{0,1},{2,3}}` lists the groups, `mesh['x'=2,'y'=2] {'y'}` groups the devices that differ in y only, and
    `[2,2]<=[4]` cuts the (transposed) iota into rows. Source: xla/hlo/ir/replica_group.cc, mesh_and_axis.cc.
    """
    if any(len(number) > _MOST_DIGITS for number in _NUMBER.findall(text)):
        return None
    if _LISTED.fullmatch(text):
        has_empty = _EMPTY.search(text) and not _EMPTY.fullmatch(text)
        return None if has_empty else [numbers_in(group) for group in _GROUP.findall(text)]
    mesh, iota = _MESH.fullmatch(text), _IOTA.fullmatch("".join(text.split()))
    if mesh is not None:
        return _of_mesh(mesh) or None
    # No list of a mesh or an iota means all devices.
    return None if iota is None else _of_iota(iota) or None


def device_text(operation: Operation, name: str) -> str:
    """Returns the lists of devices in an attribute, in a notation of HLO where that is known; "" where it is absent.

    A mesh that the attribute names is in the text.
    """
    text = operation.attribute(name) or ""
    matrix, flat = _MATRIX.search(text), operation.ints(name)
    if matrix is not None and flat is not None:
        width = int(matrix[2])
        # Shorter groups are filled with -1.
        rows = [[device for device in flat[i : i + width] if device >= 0] for i in range(0, len(flat), width or 1)]
        return written_groups(rows)
    symbol = _SYMBOL.search(text)
    if symbol is not None:
        found = operation.definition(symbol[1] or symbol[2]) or ""
        text = text.replace(symbol[0], found.partition(" = ")[2] or found or symbol[0])
    axes = _AXES.fullmatch(text)
    return text if axes is None else _in_hlo(axes[1], axes[2]) or text


def device_lists(operation: Operation, name: str) -> list[list[int]] | None:
    """Returns the lists of devices in an attribute of either dialect; None where they are not read."""
    return try_groups(device_text(operation, name))


def written_groups(groups: list[list[int]]) -> str:
    """Returns the text `{{0,1},{2,3}}` of groups, and "" of none."""
    return "{" + ",".join("{" + ",".join(map(str, group)) + "}" for group in groups) + "}" if groups else ""


def _in_hlo(mesh: str, axes: str) -> str | None:
    """Returns HLO's `mesh['x'=2] {'x'}` of a mesh and axes in StableHLO; None for parts of axes and other devices."""
    names, ids = _AXIS.findall(axes), _IDS.search(mesh)
    if len(names) != axes.count("axis_ref") or (ids is None and "device_ids" in mesh):
        return None
    sizes = ",".join(f"'{name}'={size}" for name, size in _SIZE.findall(mesh))
    order = "" if ids is None else f", device_ids=({ids[1].replace(' ', '')})"
    return f"mesh[{sizes}]{order} {{{','.join(map(repr, names))}}}"


def _of_mesh(mesh: re.Match[str]) -> list[list[int]] | None:
    found = try_axes(mesh[0].partition("{")[0], [mesh[1]])
    if found is None:
        return None
    sharding, order = found
    columns: list[list[int]] = [[] for _ in range(*sharding.tiles)]
    for device in order:
        columns[sharding.parts[device][0]].append(device)
    return None if [] in columns else [list(group) for group in zip(*columns, strict=True)]


def _of_iota(iota: re.Match[str]) -> list[list[int]] | None:
    rows, length = int(iota[1]), int(iota[2])
    flat = try_iota(iota[3], iota[4] or "", rows * length) if rows * length <= MOST_DEVICES else None
    return None if flat is None else [flat[start : start + length] for start in range(0, len(flat), length)]
