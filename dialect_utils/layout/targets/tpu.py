"""The default layouts of the TPU compiler, and the memory that the TPU runtime allocates for them.

The rule is fitted to the answers of libtpu 0.0.51 for ranks 0 to 8, 24 element types and 7 targets; its
clauses are in docs/layouts.md, section "TPU defaults".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from math import prod
from typing import Literal

from dialect_utils.layout.element_type import ElementType
from dialect_utils.layout.index.index_map import final_dimensions, require_bounded, round_up
from dialect_utils.layout.layout import Layout, Tile
from dialect_utils.layout.shape import ArrayShape
from dialect_utils.text import Diagnostic, DiagnosticError, kind_of, nearest

# A vector register holds 8 sublanes of 128 lanes, each lane a 32-bit word.
_LANES = 128
_SUBLANES = 8
_WORD_BITS = 32
_BYTE = 8
# The longest rank-1 tile is one register of 32-bit words.
_LONGEST_VECTOR_TILE = 1024
# With at least this many elements a word, a row count that fills whole registers gets the tall tile.
_TALL_PACKING = 4
_TWO_BIT_ROWS = 16
_TWO_BITS = 2


@dataclass(frozen=True, slots=True)
class Target:
    """The properties of a TPU generation on which layouts depend.

    `packs_sub_bytes`: types below 8 bits share bytes (`E(n)`). `allocation_bytes` is the
    granule of every buffer, in bytes. `peak_flops` are products and sums of bf16 matrices, `peak_bytes` bytes of main
    memory, both of one device in one second.
    """

    name: str
    packs_sub_bytes: bool
    allocation_bytes: int
    peak_flops: float
    peak_bytes: float

    def storage_bits(self, element_type: ElementType) -> int:
        """Returns the bits of one element in a register word; a 64-bit type counts as 32-bit parts."""
        bits = min(element_type.storage_bits, _WORD_BITS)
        if self.packs_sub_bytes and element_type.name != "pred" and _BYTE % element_type.bits == 0:
            bits = min(bits, element_type.bits)
        return bits


# The keys of TARGETS, as the type of an option.
TargetName = Literal["tpu-v2", "tpu-v3", "tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e", "tpu7x"]

# Teraflops and gigabytes per second are those of one chip in Google Cloud's pages of the versions (PEAK_SOURCE, 2026);
# the two devices of a chip of v2, v3 and tpu7x share them.
PEAK_SOURCE = "cloud.google.com/tpu/docs"
TARGETS: dict[str, Target] = {
    name: Target(name, packs_sub_bytes, granule, teraflops * 1e12 / devices, gigabytes * 1e9 / devices)
    for name, packs_sub_bytes, granule, teraflops, gigabytes, devices in (
        ("tpu-v2", False, 1024, 46, 700, 2),
        ("tpu-v3", False, 1024, 123, 900, 2),
        ("tpu-v4", True, 512, 275, 1228, 1),
        ("tpu-v5e", True, 512, 197, 819, 1),
        ("tpu-v5p", True, 512, 459, 2765, 1),
        ("tpu-v6e", True, 512, 918, 1640, 1),
        ("tpu7x", True, 512, 2307, 7380, 2),
    )
}


def parse_target(name: str | Target) -> Target:
    """Returns the target of a name such as `tpu-v5e`, or the target itself; raises DiagnosticError for others."""
    if isinstance(name, Target):
        return name
    if not isinstance(name, str):
        raise TypeError(f"expected a target such as 'tpu-v5e', not {kind_of(name)}")
    found = TARGETS.get(name)
    if found is None:
        close = nearest(name.lower(), TARGETS)
        suggestion = f"did you mean {close}? " if close else ""
        hint = f"{suggestion}known targets: {', '.join(TARGETS)}"
        raise DiagnosticError(Diagnostic(f"unknown target {name!r}", hint=hint))
    return found


@lru_cache(maxsize=4096)
def default_layout(element_type: ElementType, dimensions: tuple[int, ...], target: str | Target) -> Layout:
    """Returns the layout of an entry array by the compiler of `target`; raises DiagnosticError if unknown."""
    chip = parse_target(target)
    rank = len(dimensions)
    has_one_order = rank < 2 or 0 in dimensions
    order = Layout.descending(rank).minor_to_major if has_one_order else _cheapest_order(element_type, dimensions, chip)
    return _layout(element_type, dimensions, order, chip)


def _layout(
    element_type: ElementType, dimensions: tuple[int, ...], minor_to_major: tuple[int, ...], chip: Target
) -> Layout:
    bits = chip.storage_bits(element_type)
    tiles = tile_for(element_type, dimensions, minor_to_major, chip)
    return Layout(minor_to_major, tiles, element_size_in_bits=bits if bits < _BYTE else 0)


def laid_out(shape: ArrayShape, minor_to_major: tuple[int, ...] | None, target: str | Target) -> ArrayShape:
    """Returns a shape in the layout of `target` with a given minor_to_major, or in the default layout for None.

    Raises DiagnosticError for an unknown target.
    """
    element_type, dimensions = shape.element_type, shape.dimensions
    if minor_to_major is None:
        return shape.with_layout(default_layout(element_type, dimensions, target))
    return shape.with_layout(_layout(element_type, dimensions, minor_to_major, parse_target(target)))


def tile_for(
    element_type: ElementType, dimensions: tuple[int, ...], minor_to_major: tuple[int, ...], target: str | Target
) -> tuple[Tile, ...]:
    """Returns the tiles that `target` uses for an array whose minor_to_major is given.

    An array without elements has no tile. Raises DiagnosticError for an unknown target.
    """
    chip = parse_target(target)
    if 0 in dimensions:
        return ()
    packing = _WORD_BITS // chip.storage_bits(element_type)
    if len(dimensions) < 2:
        return _vector_tiles(dimensions, packing, chip)
    rows = dimensions[minor_to_major[1]]
    tall = packing >= _TALL_PACKING and chip.packs_sub_bytes and rows % (_SUBLANES * packing) == 0
    height = _SUBLANES * packing if tall else _rows(rows, packing, chip)
    if element_type.bits == _TWO_BITS:
        height = max(height, _TWO_BIT_ROWS)
    return (Tile((height, _LANES)), *_word_tiles(packing))


def allocation_bytes(shape: ArrayShape, target: str | Target) -> int:
    """Returns the bytes that the runtime of `target` allocates for an array.

    This is the physical size, rounded up to the target's granule, once for every 32-bit part of a 64-bit
    or complex element. A shape without a layout gets the target's default. Raises DiagnosticError for
    an unknown target, ValueError for an unbounded dimension.
    """
    chip = parse_target(target)
    require_bounded(shape)
    layout = shape.layout or default_layout(shape.element_type, shape.dimensions, target)
    parts = max(1, shape.element_type.bits // _WORD_BITS)
    bits = layout.element_size_in_bits or shape.element_type.storage_bits
    size = -(-prod(final_dimensions(shape.dimensions, layout)) * bits // (parts * _BYTE))
    return round_up(size, chip.allocation_bytes) * parts


def _vector_tiles(dimensions: tuple[int, ...], packing: int, chip: Target) -> tuple[Tile, ...]:
    shortest = _LANES * packing * (1 if chip.packs_sub_bytes else 2)
    if not dimensions:
        return (Tile((shortest,)),)
    length = max(shortest, min(_LONGEST_VECTOR_TILE, _next_power_of_two(dimensions[0])))
    inner = (Tile((_LANES,)), *_word_tiles(packing)) if packing > 1 else ()
    return (Tile((length,)), *inner)


def _word_tiles(packing: int) -> tuple[Tile, ...]:
    """Returns the tile that packs `packing` rows into one word."""
    return (Tile((packing, 1)),) if packing > 1 else ()


def _rows(size: int, packing: int, chip: Target) -> int:
    """Returns the height of a tile over a second-minor dimension, before any enlargement."""
    fewest = packing if chip.packs_sub_bytes else 2 * packing
    return min(_SUBLANES, max(fewest, _next_power_of_two(size)))


def _cheapest_order(element_type: ElementType, dimensions: tuple[int, ...], chip: Target) -> tuple[int, ...]:
    """Returns the minor_to_major with the fewest padded elements; of several, the greatest."""
    packing = _WORD_BITS // chip.storage_bits(element_type)
    elements = prod(dimensions)

    def cost(order: tuple[int, ...]) -> int:
        minor, second = dimensions[order[0]], dimensions[order[1]]
        padded = round_up(minor, _LANES) * round_up(second, _rows(second, packing, chip))
        return padded * (elements // (minor * second))

    return min(sorted(_orders(len(dimensions)), reverse=True), key=cost)


def _orders(rank: int) -> Iterator[tuple[int, ...]]:
    for minor, second in permutations(range(rank), 2):
        yield (minor, second, *(i for i in range(rank - 1, -1, -1) if i not in (minor, second)))


def _next_power_of_two(value: int) -> int:
    return 1 << max(0, value - 1).bit_length()
