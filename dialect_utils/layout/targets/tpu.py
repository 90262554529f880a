"""The default layouts of the TPU compiler, and the memory that the TPU runtime allocates for them.

The rule is fitted to the answers of libtpu 0.0.51 for ranks 0 to 8, 24 element types and 7 targets; its
clauses are in docs/layouts.md, section "TPU defaults".
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from dialect_utils.layout.element_type import ElementType
from dialect_utils.layout.index.index_map import final_dimensions, round_up
from dialect_utils.layout.layout import Layout, Tile
from dialect_utils.layout.shape import ArrayShape
from dialect_utils.layout.targets.target import Target, minor_orders
from dialect_utils.text import DiagnosticError

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
class Tpu(Target):
    """A TPU generation.

    `packs_sub_bytes`: types below 8 bits share bytes (`E(n)`). `granule` is that of every buffer, in bytes.
    `topologies` are machines that libtpu describes, with their numbers of devices, the smallest first.
    """

    packs_sub_bytes: bool
    granule: int
    topologies: tuple[tuple[int, str], ...]
    platform = "tpu"
    peak_source = "cloud.google.com/tpu/docs"
    has_costs = True

    def order(self, element_type: ElementType, dimensions: tuple[int, ...]) -> tuple[int, ...]:
        """Returns the minor_to_major with the fewest padded elements; of several, the greatest."""
        packing = _WORD_BITS // self._storage_bits(element_type)
        elements = prod(dimensions)

        def cost(order: tuple[int, ...]) -> int:
            minor, second = dimensions[order[0]], dimensions[order[1]]
            padded = round_up(minor, _LANES) * round_up(second, self._rows(second, packing))
            return padded * (elements // (minor * second))

        return min(sorted(minor_orders(len(dimensions)), reverse=True), key=cost)

    def layout(self, element_type: ElementType, dimensions: tuple[int, ...], minor_to_major: tuple[int, ...]) -> Layout:
        """Returns the layout of an array; one without elements has no tile."""
        bits = self._storage_bits(element_type)
        tiles = self._tiles(element_type, dimensions, minor_to_major) if 0 not in dimensions else ()
        return Layout(minor_to_major, tiles, element_size_in_bits=bits if bits < _BYTE else 0)

    def inner_layout(
        self, element_type: ElementType, dimensions: tuple[int, ...], minor_to_major: tuple[int, ...]
    ) -> Layout:
        """Returns the layout with tiles of a register's rows, which only the entry's arrays of narrow types exceed."""
        layout = self.layout(element_type, dimensions, minor_to_major)
        if len(dimensions) < 2 or not layout.tiles or element_type.bits == _TWO_BITS:
            return layout
        rows = min(layout.tiles[0].dimensions[0], _SUBLANES)
        return layout.replace(tiles=(Tile((rows, _LANES)), *layout.tiles[1:]))

    def allocation_bytes(self, shape: ArrayShape) -> int:
        """Returns the physical size, rounded up to the granule, once for every 32-bit part of an element."""
        layout = shape.effective_layout
        parts = max(1, shape.element_type.bits // _WORD_BITS)
        bits = layout.element_size_in_bits or shape.element_type.storage_bits
        size = -(-prod(final_dimensions(shape.dimensions, layout)) * bits // (parts * _BYTE))
        return round_up(size, self.granule) * parts

    def topology(self, devices: int) -> dict[str, str]:
        for count, name in self.topologies:
            if count >= devices:
                return {"topology_name": name}
        most = self.topologies[-1][0]
        raise DiagnosticError(f"the program is for {devices} devices, and {self.name} has at most {most}")

    def _storage_bits(self, element_type: ElementType) -> int:
        """Returns the bits of one element in a register word; a 64-bit type counts as 32-bit parts."""
        bits = min(element_type.storage_bits, _WORD_BITS)
        if self.packs_sub_bytes and element_type.name != "pred" and _BYTE % element_type.bits == 0:
            bits = min(bits, element_type.bits)
        return bits

    def _tiles(
        self, element_type: ElementType, dimensions: tuple[int, ...], minor_to_major: tuple[int, ...]
    ) -> tuple[Tile, ...]:
        packing = _WORD_BITS // self._storage_bits(element_type)
        if len(dimensions) < 2:
            shortest = _LANES * packing * (1 if self.packs_sub_bytes else 2)
            if not dimensions:
                return (Tile((shortest,)),)
            length = max(shortest, min(_LONGEST_VECTOR_TILE, _next_power_of_two(dimensions[0])))
            inner = (Tile((_LANES,)), *_word_tiles(packing)) if packing > 1 else ()
            return (Tile((length,)), *inner)
        rows = dimensions[minor_to_major[1]]
        tall = packing >= _TALL_PACKING and self.packs_sub_bytes and rows % (_SUBLANES * packing) == 0
        height = _SUBLANES * packing if tall else self._rows(rows, packing)
        if element_type.bits == _TWO_BITS:
            height = max(height, _TWO_BIT_ROWS)
        return (Tile((height, _LANES)), *_word_tiles(packing))

    def _rows(self, size: int, packing: int) -> int:
        """Returns the height of a tile over a second-minor dimension, before any enlargement."""
        fewest = packing if self.packs_sub_bytes else 2 * packing
        return min(_SUBLANES, max(fewest, _next_power_of_two(size)))


# Machines with four chips, and larger ones. A chip of v2, v3 and tpu7x has two devices.
_TORUS_2D = ("2x2", "2x4", "4x4", "4x8", "8x8", "8x16", "16x16")
_TORUS_3D = ("2x2x1", "2x2x2", "2x2x4", "2x4x4", "4x4x4", "4x4x8", "4x8x8")


# Teraflops and gigabytes per second are those of one chip in Google Cloud's pages of the versions (2026); the two
# devices of a chip share them. The GiB of HBM that a program may take on a device are those that libtpu 0.0.51 names
# where memory runs out.
TPUS = tuple(
    Tpu(
        name,
        teraflops * 1e12 / devices,
        gigabytes * 1e9 / devices,
        int(usable * (1 << 30)),
        packs_sub_bytes,
        granule,
        tuple((prod(map(int, size.split("x"))) * devices, f"{name.removeprefix('tpu-')}:{size}") for size in sizes),
        spaces=((0, "HBM"), (1, "VMEM, S(1)")),
    )
    for name, packs_sub_bytes, granule, teraflops, gigabytes, usable, devices, sizes in (
        ("tpu-v2", False, 1024, 46, 700, 7.48, 2, _TORUS_2D),
        ("tpu-v3", False, 1024, 123, 900, 15.48, 2, _TORUS_2D),
        ("tpu-v4", True, 512, 275, 1228, 15.25, 1, _TORUS_3D),
        ("tpu-v5e", True, 512, 197, 819, 15.75, 1, _TORUS_2D),
        ("tpu-v5p", True, 512, 459, 2765, 95.73, 1, _TORUS_3D),
        ("tpu-v6e", True, 512, 918, 1640, 31.24, 1, _TORUS_2D),
        ("tpu7x", True, 512, 2307, 7380, 94.74, 2, _TORUS_3D),
    )
)


def _word_tiles(packing: int) -> tuple[Tile, ...]:
    """Returns the tile that packs `packing` rows into one word."""
    return (Tile((packing, 1)),) if packing > 1 else ()


def _next_power_of_two(value: int) -> int:
    return 1 << max(0, value - 1).bit_length()
