"""Chips of other vendors: a TOML file describes the layouts that the compiler gives arrays, the memories and the peaks.

docs/targets.md lists the keys, and has an example.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf, prod
from typing import Any

from dialect_utils.layout.element_type import ELEMENT_TYPES, ElementType, parse_element_type
from dialect_utils.layout.index.index_map import byte_size, final_dimensions, round_up
from dialect_utils.layout.layout import Layout, Tile
from dialect_utils.layout.shape import ArrayShape
from dialect_utils.layout.targets.target import Target, minor_orders
from dialect_utils.text import DiagnosticError, format_bytes, meant
from dialect_utils.text.toml import Table, read_toml

_BYTE = 8
_ORDERS = ("descending", "least-padding")
_KEYS = {"name": str, "memory": int, "granule": int, "memory_name": str, "peak": dict, "space": list, "layout": list}
_PEAK_KEYS = {"flops": float, "bytes": float}
_SPACE_KEYS = {"number": int, "name": str, "bytes": int}
_LAYOUT_KEYS = {"rank": int, "types": list, "at_least": list, "order": str, "tiles": list, "packed": bool}


def _is_packable(element_type: ElementType) -> bool:
    return element_type.bits < _BYTE and element_type.name != "pred"


@dataclass(frozen=True, slots=True)
class LayoutChoice:
    """A row of the table of layouts: for arrays that match, the order of dimensions, the tiles, and the packing.

    `types` are names of element types, `at_least` the least sizes of the last dimensions; what is empty matches all.
    """

    rank: int | None = None
    types: tuple[str, ...] = ()
    at_least: tuple[int, ...] = ()
    order: str = _ORDERS[0]
    tiles: tuple[Tile, ...] = ()
    packed: bool = False

    @property
    def least_rank(self) -> int:
        """Returns the fewest dimensions that an array needs to match."""
        return max([len(self.at_least), *(len(tile.dimensions) for tile in self.tiles[:1])])

    def matches(self, element_type: ElementType, dimensions: tuple[int, ...]) -> bool:
        """Is true for an array of this type and these dimensions."""
        last = dimensions[len(dimensions) - len(self.at_least) :]
        return (
            self.rank in (None, len(dimensions))
            and (not self.types or element_type.name in self.types)
            and len(dimensions) >= self.least_rank
            and all(size >= least for size, least in zip(last, self.at_least, strict=True))
        )

    def covers(self, other: LayoutChoice) -> bool:
        """Is true if this row matches each array that another row matches."""
        rank = other.least_rank if other.rank is None else other.rank
        known = (*(0 for _ in range(rank - len(other.at_least))), *other.at_least)
        return (
            self.rank in (None, other.rank)
            and (not self.types or (bool(other.types) and set(other.types) <= set(self.types)))
            and rank >= self.least_rank
            and all(size >= least for size, least in zip(known[::-1], self.at_least[::-1], strict=False))
        )

    def layout(self, element_type: ElementType, dimensions: tuple[int, ...], order: tuple[int, ...]) -> Layout:
        """Returns the layout of an array in an order of its dimensions; one without elements has no tile."""
        is_packed = self.packed and _is_packable(element_type)
        tiles = self.tiles if 0 not in dimensions else ()
        return Layout(order, tiles, element_size_in_bits=element_type.bits if is_packed else 0)


@dataclass(frozen=True, slots=True)
class Chip(Target):
    """A chip that a file describes. Of `choices` the first that matches an array counts; `granule` is in bytes."""

    choices: tuple[LayoutChoice, ...]
    granule: int
    platform = "described"
    peak_source = "its description"
    has_costs = False

    def order(self, element_type: ElementType, dimensions: tuple[int, ...]) -> tuple[int, ...]:
        choice = self._choice(element_type, dimensions)
        if choice.order == _ORDERS[0]:
            return Layout.descending(len(dimensions)).minor_to_major

        def padded(order: tuple[int, ...]) -> int:
            return prod(final_dimensions(dimensions, choice.layout(element_type, dimensions, order)))

        return min(sorted(minor_orders(len(dimensions)), reverse=True), key=padded)

    def layout(self, element_type: ElementType, dimensions: tuple[int, ...], minor_to_major: tuple[int, ...]) -> Layout:
        return self._choice(element_type, dimensions).layout(element_type, dimensions, minor_to_major)

    def allocation_bytes(self, shape: ArrayShape) -> int:
        return round_up(byte_size(shape), self.granule)

    def topology(self, devices: int) -> dict[str, str]:
        message = f"{self.name} is known by its description only, so nothing is compiled for it"
        hint = "it is for annotate-layouts{target=...}, explain, tune --model-only, and reports of dumps"
        raise DiagnosticError(message, hint=hint)

    def _choice(self, element_type: ElementType, dimensions: tuple[int, ...]) -> LayoutChoice:
        found = (each for each in self.choices if each.matches(element_type, dimensions))
        return next(found, LayoutChoice())


def described_chip(path: str, taken: Collection[str] = ()) -> Chip:
    """Returns the chip of a file; raises DiagnosticError at the first mistake, also a name that is taken."""
    top = read_toml(path, "docs/targets.md has an example")
    top.check(_KEYS, ("name", "memory"))
    peaks = top.tables("peak")
    for table in peaks:
        table.check(_PEAK_KEYS, tuple(_PEAK_KEYS))
    peak = peaks[0].values if peaks else {}
    spaces = top.tables("space")
    _check_spaces(spaces)
    rows = top.tables("layout")
    choices = [_choice(table) for table in rows]
    for number, choice in enumerate(choices):
        before = next((i for i, each in enumerate(choices[:number]) if each.covers(choice)), None)
        if before is not None:
            hint = "the first row that matches an array counts: write the special rows first"
            raise rows[number].error("", f"layout {number} is never used: layout {before} matches all its arrays", hint)
    name, memory, granule = top.values["name"], top.values["memory"], top.values.get("granule", 1)
    if name in taken or not name.strip() or not name.isprintable():
        wrong = "is the name of another chip" if name in taken else "is not one line of text"
        raise top.error("name", f"{name!r} {wrong}", "give this chip a name of its own")
    for key, value in (("memory", memory), ("granule", granule)):
        if value < 1:
            raise top.error(key, f"{key} is a positive number of bytes, not {value}")
    names = {0: top.values.get("memory_name", "main memory")}
    names |= {each.values["number"]: _space_name(each.values) for each in spaces}
    rates = (float(peak.get("flops", 0)), float(peak.get("bytes", 0)))
    if not all(0 <= rate < inf for rate in rates):
        raise peaks[0].error("", f"the peaks are finite numbers, not {rates[0]:g} and {rates[1]:g}")
    return Chip(name, *rates, memory, tuple(choices), granule, spaces=tuple(names.items()))


def _check_spaces(spaces: Sequence[Table]) -> None:
    """Raises DiagnosticError for a memory space that is main memory, is there twice, or has no bytes."""
    for index, table in enumerate(spaces):
        table.check(_SPACE_KEYS, ("number", "name"))
        number, size = table.values["number"], table.values.get("bytes", 1)
        if number < 1:
            hint = "memory_name is the name of main memory, S(0)"
            raise table.error("number", f"the number of a memory space is positive, not {number}", hint)
        if number in [each.values["number"] for each in spaces[:index]]:
            raise table.error("number", f"memory space {number} is described twice")
        if size < 1:
            raise table.error("bytes", f"bytes is a positive number, not {size}")


def _space_name(space: Mapping[str, Any]) -> str:
    size = f" of {format_bytes(space['bytes'])}" if "bytes" in space else ""
    return f"{space['name']}, S({space['number']}){size}"


def _choice(table: Table) -> LayoutChoice:
    table.check(_LAYOUT_KEYS)
    values: Mapping[str, Any] = table.values
    types, least = tuple(values.get("types", ())), tuple(values.get("at_least", ()))
    try:
        for each in types:
            parse_element_type(str(each))
    except DiagnosticError as error:
        raise table.error("types", error.diagnostics[0].message, error.diagnostics[0].hint) from None
    if not all(type(each) is int and each > 0 for each in least):
        raise table.error("at_least", f"at_least is a list of positive sizes, not {list(least)}")
    order = values.get("order", _ORDERS[0])
    if order not in _ORDERS:
        raise table.error("order", f"order is {' or '.join(_ORDERS)}, not {order}", meant(order, _ORDERS))
    sizes = values.get("tiles", [])
    are_lists = all(isinstance(each, list) and each for each in sizes)
    if not (are_lists and all(type(size) is int and size > 0 for each in sizes for size in each)):
        raise table.error("tiles", f"tiles are lists of sizes, [[32, 32]], not {sizes}")
    tiles = tuple(Tile(tuple(each)) for each in sizes)
    choice = LayoutChoice(values.get("rank"), types, least, order, tiles, values.get("packed", False))
    _check_effects(table, choice)
    return choice


def _check_effects(table: Table, choice: LayoutChoice) -> None:
    """Raises DiagnosticError for a row that matches no array, and for a key that changes no layout."""
    if choice.rank is not None and choice.rank < choice.least_rank:
        message = f"the row matches no array: rank is {choice.rank}, its other keys need {choice.least_rank} dimensions"
        raise table.error("rank", message)
    if choice.order != _ORDERS[0] and not choice.tiles:
        raise table.error("order", f"order {choice.order} has no effect without tiles: nothing is padded")
    if choice.packed and choice.types and not any(_is_packable(ELEMENT_TYPES[each]) for each in choice.types):
        raise table.error("packed", f"packed has no effect: {', '.join(choice.types)} fill whole bytes")
