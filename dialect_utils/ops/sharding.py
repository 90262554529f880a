"""Shardings: which part of an array each device holds, from each notation of HLO, StableHLO and Shardy.

Sources: xla/hlo/ir/hlo_sharding.cc and named_sharding.cc (ToString), xla/hlo/parser/hlo_parser.cc (ParseSharding),
shardy/dialect/sdy/ir/attrs.td (TensorShardingAttr, AxisRefAttr, MeshAttr).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import NamedTuple

from dialect_utils.ops.devices import numbers_in
from dialect_utils.ops.inference import integer

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
