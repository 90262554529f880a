"""How many bytes an array's buffer takes, and how much of it is padding."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from dialect_utils.ir import Module, Operation
from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.layout.index.index_map import byte_size, byte_size_of
from dialect_utils.layout.layout import COMBINE, MATCH
from dialect_utils.layout.shape import UNBOUNDED
from dialect_utils.layout.targets.known import allocation_bytes, default_layout, parse_target
from dialect_utils.layout.targets.target import HOST_MEMORY_SPACE
from dialect_utils.layout.targets.tpu import Tpu
from dialect_utils.ops.control import calls_gpu_library

_GPU_FINGERPRINT = "fingerprint_before_lhs="
# Fields of xla/service/gpu/backend_configs.proto.
_GPU_CONFIG = re.compile(
    r'"(?:operation_queue_id|fusion_backend_config|gemm_backend_config|cudnn_conv_backend_config)"'
)
_LANES = 128
_OLD_TARGET, _NEW_TARGET = "tpu-v3", "tpu-v5e"


def is_on_host(shape: ArrayShape) -> bool:
    """Is true for an array in the host's memory."""
    return shape.layout is not None and shape.layout.memory_space == HOST_MEMORY_SPACE


def guess_compiler(module: Module) -> str | None:
    """Returns which of XLA's compilers wrote a module: "tpu" or "gpu", or None where the text does not tell.

    The TPU compiler writes tiles of 128 lanes. The GPU compiler's scheduler leaves a fingerprint in the module's
    attributes (xla/service/gpu/gpu_hlo_schedule.cc); before it runs, library calls and `backend_config` tell.
    """
    if any(map(_is_of_tpu, _different_arrays(module))):
        return "tpu"
    if _GPU_FINGERPRINT in module.attributes.get("frontend_attributes", ""):
        return "gpu"
    return "gpu" if any(map(_is_of_gpu, module.operations())) else None


def _is_of_tpu(array: ArrayShape) -> bool:
    """Is true for an array in tiles whose rows fill the lanes of a TPU; other chips have other tiles."""
    return array.layout is not None and any(tile.dimensions[-1] % _LANES == 0 for tile in array.layout.tiles[:1])


def _is_of_gpu(operation: Operation) -> bool:
    """Is true for a call of a library for GPUs, and for an operation with a configuration that only GPUs have."""
    if operation.opcode == "custom-call" and calls_gpu_library(operation.callee):
        return True
    return _GPU_CONFIG.search(operation.attribute("backend_config") or "") is not None


def guess_target(module: Module) -> str | None:
    """Returns a TPU target whose buffer sizes are those of the module's target, or None for a module without tiles.

    The tile of scalars distinguishes v2 and v3, with buffers of multiples of 1024 bytes, from later targets (512). It
    depends on the element type: `bf16[]{:T(256)}` is of a later target, `f32[]{:T(256)}` of v2 or v3.
    """
    target = None
    for leaf in _different_arrays(module):
        if leaf.layout is None or not _is_of_tpu(leaf):
            continue
        target = _NEW_TARGET
        if leaf.rank:
            continue
        old, new = (default_layout(leaf.element_type, (), each).tiles for each in (_OLD_TARGET, _NEW_TARGET))
        if old != new and leaf.layout.tiles in (old, new):
            return _OLD_TARGET if leaf.layout.tiles == old else _NEW_TARGET
    return target


def _different_arrays(module: Module) -> Iterator[ArrayShape]:
    """Yields the arrays of the results of a module's operations, equal shapes once."""
    seen: set[Shape] = set()
    for operation in module.operations():
        for result in operation.results:
            if (shape := result.shape) not in seen:
                seen.add(shape)
                yield from shape.arrays()


class Allocation:
    """The allocation rules of a target: an array's layout, the bytes of its buffer, and its payload bytes.

    Without a target a buffer has the bytes of the layout. An unbounded array counts 0 bytes: the text does not say its
    size. Results are cached by shape object; the values of a module share few.
    """

    def __init__(self, target: str | None) -> None:
        self.target = target
        self._known: dict[int, tuple[ArrayShape, ArrayShape, int, int]] = {}

    @property
    def granule(self) -> int:
        """Returns the bytes of the smallest buffer on a TPU, such as the table of a tuple's addresses, 0 elsewhere."""
        target = None if self.target is None else parse_target(self.target)
        return target.granule if isinstance(target, Tpu) else 0

    def held(self, shape: ArrayShape) -> int:
        """Returns the bytes of an array's buffer."""
        found = self._known.get(id(shape))
        return (found or self._answers(shape))[2]

    def payload(self, shape: ArrayShape) -> int:
        """Returns the bytes of the elements, without padding."""
        return self._answers(shape)[3]

    def laid_out(self, shape: ArrayShape) -> ArrayShape:
        """Returns an array with its layout, or with the target's default layout where none is written."""
        return self._answers(shape)[1]

    def _answers(self, shape: ArrayShape) -> tuple[ArrayShape, ArrayShape, int, int]:
        found = self._known.get(id(shape))
        if found is None:
            found = self._known[id(shape)] = (shape, *self._measure(shape))
        return found

    def _measure(self, shape: ArrayShape) -> tuple[ArrayShape, int, int]:
        if UNBOUNDED in shape.dimensions:
            return shape, 0, 0
        if self.target is None:
            return shape, byte_size(shape), byte_size_of(shape)
        if shape.layout is None:
            shape = shape.with_layout(default_layout(shape.element_type, shape.dimensions, self.target))
        return shape, allocation_bytes(shape, self.target), byte_size_of(shape)


@dataclass(frozen=True, slots=True)
class PaddedDimension:
    """One dimension that a tile enlarges: its number, size and padded size, and the size of the tile."""

    dimension: int
    size: int
    padded: int
    tile: int

    @property
    def factor(self) -> float:
        """Returns the padded size divided by the size."""
        return self.padded / self.size

    def __str__(self) -> str:
        """Returns e.g. `dimension 1: 3 -> 128 (tile 128, 42.7x)`."""
        return f"dimension {self.dimension}: {self.size} -> {self.padded} (tile {self.tile}, {self.factor:.3g}x)"


# The arrays of a module have few different shapes.
@lru_cache(maxsize=4096)
def padded_dimensions(shape: ArrayShape) -> tuple[PaddedDimension, ...]:
    """Returns the dimensions that the first tile of a layout enlarges, the largest factor first.

    The later tiles divide the first one in every layout that the TPU compiler writes. The result is empty for a tile
    that combines dimensions (`*`), and for an array without tiles or without elements.
    """
    layout = shape.layout
    if layout is None or not layout.tiles or 0 in shape.dimensions:
        return ()
    tile = layout.tiles[0].dimensions
    if COMBINE in tile or MATCH in tile or not shape.is_static:
        return ()
    found = []
    for position, length in enumerate(reversed(tile[-shape.rank :] if shape.rank else ())):
        dimension = layout.minor_to_major[position]
        size = shape.dimensions[dimension]
        padded = -(-size // length) * length
        if padded > size:
            found.append(PaddedDimension(dimension, size, padded, length))
    return tuple(sorted(found, key=lambda each: -each.factor))
