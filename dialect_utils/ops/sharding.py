"""Shardings (the part of an array on each device) and replica groups, in the notations of HLO, StableHLO and Shardy.

Sources: xla/hlo/ir/hlo_sharding.cc and named_sharding.cc (ToString), xla/hlo/parser/hlo_parser.cc (ParseSharding),
shardy/dialect/sdy/ir/attrs.td (TensorShardingAttr, AxisRefAttr, MeshAttr).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from dialect_utils.ops.devices import numbers_in
from dialect_utils.ops.inference import integer

if TYPE_CHECKING:
    from dialect_utils.ir import Operation

# More devices than any module here has.
MOST_DEVICES = 1 << 16
_TILES = re.compile(r"devices=\[([\d,]+)\](?:<=\[([\d,]+)\](?:T\(([\d,]+)\))?|([\d,]+))?")
_SYMBOL = re.compile(r'@(?:([\w.$-]+)|"([^"]*)")')
_SIZE = re.compile(r"""["']([^"']*)["']\s*=\s*(\d+)""")
# Device ids `[1,0]` of Shardy, `(1,0)` and `([2,4]T(1,0))` of HLO.
_IDS = re.compile(r"device_ids\s*=\s*(?:[\[(]([\d,\s]+)[\])]|\(\s*\[([\d,\s]+)\]\s*(?:T\(([\d,\s]+)\))?\s*\))?")
_DIMENSIONS = re.compile(r"\[\s*((?:\{[^{}]*\}(?:p\d+)?[,\s]*)*)\]")
_DIMENSION = re.compile(r"\{([^{}]*)\}")
_AXIS = re.compile(r"""["']([^"']*)["'](?::\((\d+)\)(\d+))?""")


@dataclass(frozen=True, slots=True)
class Digit:
    """A factor of a number of devices: device d has the digit d // stride % size, which adds `weight` times itself."""

    stride: int
    size: int
    weight: int


@dataclass(frozen=True, slots=True)
class Sharding:
    """The parts of an array on devices: dimension i is cut into `tiles[i]` parts of one size, the last ones padded.

    `parts` has for each device the number of its part in each dimension. Devices with the same part hold the same data.
    """

    tiles: tuple[int, ...]
    parts: tuple[tuple[int, ...], ...]

    @property
    def is_replicated(self) -> bool:
        """Is true where each device holds the whole array."""
        return prod(self.tiles) == 1

    @property
    def holders(self) -> list[int]:
        """Returns for each device the first device that holds the same data."""
        return [self.parts.index(part) for part in self.parts]

    def local(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """Returns the sizes of a part of an array."""
        return tuple(-(-size // count) for size, count in zip(sizes, self.tiles, strict=True))

    def region(self, device: int, sizes: Sequence[int]) -> tuple[slice, ...]:
        """Returns the indices of an array that a device holds, without padding."""
        starts = [part * size for part, size in zip(self.parts[device], self.local(sizes), strict=True)]
        ends = (start + size for start, size in zip(starts, self.local(sizes), strict=True))
        return tuple(slice(min(a, full), min(b, full)) for a, b, full in zip(starts, ends, sizes, strict=True))

    def __str__(self) -> str:
        if self.is_replicated:
            return "{replicated}"
        copies = len(self.parts) // prod(self.tiles)
        order = sorted(range(len(self.parts)), key=lambda device: (self.parts[device], device))
        tiles, last = (*self.tiles, copies), " last_tile_dim_replicate"
        sizes = ",".join(map(str, tiles if copies > 1 else self.tiles))
        return f"{{devices=[{sizes}]{','.join(map(str, order))}{last if copies > 1 else ''}}}"


class Partition(NamedTuple):
    """The shardings of all parameters and results of an entry, tuples flattened, by which devices hold them.

    `assumed` says in words which shardings no text gives.
    """

    parameters: tuple[Sharding, ...]
    results: tuple[Sharding, ...]
    assumed: tuple[str, ...] = ()

    @property
    def devices(self) -> int:
        """Returns the number of devices."""
        return len((*self.parameters, *self.results)[0].parts)


def replicated(rank: int, devices: int) -> Sharding:
    """Returns the sharding by which each device holds the whole array."""
    return Sharding((1,) * rank, ((0,) * rank,) * devices)


def by_axes(axes: Mapping[str, int], dimensions: Sequence[Sequence[str]]) -> Sharding:
    """Returns the sharding that splits dimension i along the axes `dimensions[i]` of a mesh, the major axis first."""
    refs = [[(name, 1, axes[name]) for name in names] for names in dimensions]
    return _along(axes, range(prod(axes.values())), refs)


def sharding_elements(text: str) -> list[str]:
    """Returns the shardings of a tuple's elements `{{replicated}, {devices=[2]0,1}}`; of an array, its one sharding."""
    inner = text.strip()
    if not inner[1:].lstrip().startswith("{"):
        return [inner]
    found, depth, start = [], 0, 0
    for position, character in enumerate(inner[1:-1], 1):
        depth += (character == "{") - (character == "}")
        if character == "{" and depth == 1:
            start = position
        if character == "}" and depth == 0:
            found.append(inner[start : position + 1])
    return found


def makes_parts_of_arrays(text: str) -> bool:
    """Is false for the sharding of an array that one device holds, or whose sum over devices is pending."""
    return "maximal" not in text and "unreduced" not in text


def try_sharding(
    text: str, rank: int, devices: int, definition: Callable[[str], str | None] = lambda _: None
) -> Sharding | None:
    """Returns the sharding of an array on `devices` devices.

    `definition` returns the text of a mesh that a symbol names. Returns None for an array that one device holds
    (`maximal`), for `unreduced`, `manual` and `unknown`, and for another number of devices or dimensions.
    """
    is_unclear = not makes_parts_of_arrays(text) or "unknown" in text or text.strip() in ("{manual}", "")
    if is_unclear or devices > MOST_DEVICES:
        return None
    tiles, axes = _TILES.search(text), _DIMENSIONS.search(text)
    if tiles is not None:
        return _of_tiles(tiles, rank, devices)
    if axes is None or ("mesh" not in text and "sdy." not in text):
        return replicated(rank, devices) if "replicated" in text else None
    symbol, mesh = _SYMBOL.search(text), text[: axes.start()]
    if symbol is not None:
        found = definition(symbol[1] or symbol[2])
        mesh = "" if found is None else found
    made = try_axes(mesh, _DIMENSION.findall(axes[1]))
    return made[0] if made and len(made[0].tiles) == rank and len(made[1]) == devices else None


def try_axes(mesh: str, dimensions: Sequence[str]) -> tuple[Sharding, Sequence[int]] | None:
    """Returns the sharding along the axes of a mesh, and its devices in order; None for invalid axes and devices.

    Each dimension lists axes: `'x', 'y':(2)2`, or `'0'` for the first one.
    """
    axes, ids = _SIZE.findall(mesh), _IDS.search(mesh)
    sizes = {name: integer(size) for name, size in axes}
    count = prod(sizes.values())
    if count > MOST_DEVICES or len(sizes) < len(axes):
        return None
    order: Sequence[int] | None = range(count)
    if ids is not None:
        order = numbers_in(ids[1]) if ids[1] else try_iota(ids[2] or "", ids[3] or "", count)
    names = {**{str(number): name for number, name in enumerate(sizes)}, **{name: name for name in sizes}}
    found = [_AXIS.findall(dimension) for dimension in dimensions]
    is_known = all(name in names for each in found for name, *_ in each)
    if order is None or sorted(order) != [*range(count)] or not is_known:
        return None
    refs = [
        [(names[name], integer(k or "1"), integer(size) if size else sizes[names[name]]) for name, k, size in each]
        for each in found
    ]
    if any(not size or not k or sizes[name] % (k * size) for each in refs for name, k, size in each):
        return None
    return _along(sizes, order, refs), order


def _of_tiles(found: re.Match[str], rank: int, devices: int) -> Sharding | None:
    tiles = numbers_in(found[1])
    if prod(tiles) != devices or len(tiles) < rank:
        return None
    order: list[int] | None = numbers_in(found[4] or "") or [*range(devices)]
    if found[2]:
        order = try_iota(found[2], found[3] or "", devices)
    if order is None or sorted(order) != [*range(devices)]:
        return None
    parts: list[tuple[int, ...]] = [()] * devices
    for position, device in enumerate(order):
        parts[device] = tuple(position // prod(tiles[i + 1 :]) % tiles[i] for i in range(rank))
    return Sharding(tuple(tiles[:rank]), tuple(parts))


def try_iota(dims: str, axes: str, count: int) -> list[int] | None:
    """Returns the numbers below `count` in the order of `[2,4]T(1,0)`; None where they are none of that shape."""
    sizes = numbers_in(dims)
    order = numbers_in(axes) or [*range(len(sizes))]
    is_order = prod(sizes) == count and sorted(order) == [*range(len(sizes))]
    return transposed_iota(sizes, order) if is_order else None


def transposed_iota(dims: Sequence[int], axes: Sequence[int]) -> list[int]:
    """Returns the elements of an iota of these dimensions after a transpose, in order."""
    found = [0]
    for axis in axes:
        stride = prod(dims[axis + 1 :])
        found = [base + i * stride for base in found for i in range(dims[axis])]
    return found


def _along(sizes: Mapping[str, int], order: Sequence[int], refs: Sequence[Sequence[tuple[str, int, int]]]) -> Sharding:
    """Returns the sharding along parts of axes: (name, the product of the factors before the part, its size)."""
    names = list(sizes)
    strides = {name: prod([*sizes.values()][i + 1 :]) for i, name in enumerate(names)}
    parts: list[tuple[int, ...]] = [()] * len(order)
    for position, device in enumerate(order):
        found = []
        for dimension in refs:
            index = 0
            for name, before, size in dimension:
                inner = sizes[name] // (before * size)
                index = index * size + position // (strides[name] * inner) % size
            found.append(index)
        parts[device] = tuple(found)
    return Sharding(tuple(prod(size for *_, size in dimension) for dimension in refs), tuple(parts))


# Devices as digits


def try_digits(values: Sequence[int]) -> list[Digit] | None:
    """Returns the digits by which a number depends on the device, the least stride first; None for another function.

    For example the numbers 0, 0, 1, 1 of four devices have the digit (stride 2, size 2, weight 1).
    """
    stride, found = 1, []
    while stride < len(values):
        weight, end = values[stride] - values[0], 2 * stride
        while end < len(values) and values[end] - values[end - stride] == weight:
            end += stride
        if len(values) % end or end % stride:
            return None
        found.append(Digit(stride, end // stride, weight))
        stride = end
    is_exact = all(
        value == values[0] + sum(device // each.stride % each.size * each.weight for each in found)
        for device, value in enumerate(values)
    )
    return [each for each in found if each.weight] if is_exact else None


def try_mesh(devices: int, functions: Sequence[Sequence[int]]) -> tuple[int, ...] | None:
    """Returns the sizes of the axes of a mesh, the major one first, by whose indices all functions are given.

    Each function has a number for each device. Returns None where no mesh has all of them.
    """
    bounds = {1, devices}
    for values in functions:
        digits = try_digits(values)
        if digits is None:
            return None
        for each in digits:
            bounds |= {each.stride, each.stride * each.size}
    chain = sorted(bounds, reverse=True)
    if any(whole % part for whole, part in pairwise(chain)):
        return None
    return tuple(whole // part for whole, part in pairwise(chain))


# Replica groups and pairs of devices as lists

_LISTED = re.compile(r"\{?(?:\{[\d,\s]*\}[,\s]*)*\}?")
_EMPTY = re.compile(r"\{\s*\}")
_GROUP = re.compile(r"\{([\d,\s]+)\}")
_NUMBER = re.compile(r"\d+")
_MESH = re.compile(r"mesh\[[^{}]*\{([^{}]*)\}")
_IOTA = re.compile(r"\[(\d+),(\d+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?")
_MATRIX = re.compile(r"tensor<(\d+)x(\d+)xi64>")
# StableHLO's groups along axes of a mesh, which a symbol or an attribute gives; Shardy's mesh of the symbol.
_AXES = re.compile(r"#stablehlo\.replica_group_mesh_axes<mesh = (.*), axes = \[(.*)\]>", re.DOTALL)
_MESH_SYMBOL = re.compile(r'(?<=mesh = )@(?:([\w.$-]+)|"([^"]*)")')
# The size of an axis as MLIR prints StableHLO's mesh; a mesh of Shardy may hold that text beside its own.
_AXIS_SIZE = re.compile(r'"([^"]*)"(?:\s*=\s*|, size = )(\d+)')
_AXIS_REF = re.compile(r'#stablehlo\.axis_ref<name = "([^"\']*)">')
_MESH_IDS = re.compile(r"device_ids=\[([\d, ]+)\]")
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
    symbol = _MESH_SYMBOL.search(text)
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
    names, ids = _AXIS_REF.findall(axes), _MESH_IDS.search(mesh)
    if len(names) != axes.count("axis_ref") or (ids is None and "device_ids" in mesh):
        return None
    sizes = ",".join(f"'{name}'={size}" for name, size in _AXIS_SIZE.findall(mesh))
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
