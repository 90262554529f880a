"""Replica groups as lists of devices, from each of HLO's notations."""

from __future__ import annotations

import re
from itertools import product
from math import prod

_LISTED = re.compile(r"\{?(?:\{[\d,\s]*\}[,\s]*)*\}?")
_GROUP = re.compile(r"\{([\d,\s]+)\}")
_NUMBER = re.compile(r"\d+")
_MESH = re.compile(r"mesh\[((?:'[^']*'=\d+,?)*)\]\s*\{((?:'[^']*',?)*)\}")
_IOTA = re.compile(r"\[(\d+),(\d+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?")
_MOST_DEVICES = 1 << 16
_MOST_DIGITS = 9


def try_groups(text: str) -> list[list[int]] | None:
    """Returns replica groups as lists, or None for another form and for more devices than 65,536.

    `{{0,1},{2,3}}` lists the groups, `mesh['x'=2,'y'=2] {'y'}` groups the devices that differ in y only, and
    `[2,2]<=[4]` cuts the (transposed) iota into rows. Source: xla/hlo/ir/replica_group.cc, mesh_and_axis.cc.
    """
    if any(len(number) > _MOST_DIGITS for number in _NUMBER.findall(text)):
        return None
    if _LISTED.fullmatch(text):
        return [_numbers(group) for group in _GROUP.findall(text)]
    mesh = _MESH.fullmatch(text)
    if mesh is not None:
        sizes = {name: int(size) for name, size in re.findall(r"'([^']*)'=(\d+)", mesh[1])}
        axes = re.findall(r"'([^']*)'", mesh[2])
        return _mesh_groups(sizes, axes) if set(axes) <= set(sizes) and len({*axes}) == len(axes) else None
    iota = _IOTA.fullmatch(text)
    if iota is None:
        return None
    dims = _numbers(iota[3])
    order = _numbers(iota[4]) if iota[4] else list(range(len(dims)))
    rows, length = int(iota[1]), int(iota[2])
    if rows * length != prod(dims) or sorted(order) != list(range(len(dims))):
        return None
    return _rows(dims, order, length)


def _numbers(text: str) -> list[int]:
    return [int(number) for number in _NUMBER.findall(text)]


def _mesh_groups(sizes: dict[str, int], axes: list[str]) -> list[list[int]] | None:
    names = list(sizes)
    others = [name for name in names if name not in axes]
    order = [names.index(name) for name in (*others, *axes)]
    return _rows(list(sizes.values()), order, prod(sizes[name] for name in axes))


def _rows(dims: list[int], order: list[int], length: int) -> list[list[int]] | None:
    """Returns the numbers of a transposed iota, cut into rows."""
    if prod(dims) > _MOST_DEVICES:
        return None
    flat = [_position(index, order, dims) for index in product(*(range(dims[i]) for i in order))]
    return [flat[start : start + length] for start in range(0, len(flat), length)]


def _position(index: tuple[int, ...], order: list[int], dims: list[int]) -> int:
    """Returns the row-major linear index of an index whose coordinates are in another order."""
    position = 0
    for coordinate, size in zip((index[order.index(i)] for i in range(len(dims))), dims, strict=True):
        position = position * size + coordinate
    return position
