"""The targets by name, and what each chooses: default layouts, tiles and the bytes of buffers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from dialect_utils.layout.element_type import ElementType
from dialect_utils.layout.index.index_map import require_bounded
from dialect_utils.layout.layout import Layout, Tile
from dialect_utils.layout.shape import ArrayShape
from dialect_utils.layout.targets.gpu import GPUS, SUFFIX as GPU_SUFFIX, described_gpu
from dialect_utils.layout.targets.target import Target
from dialect_utils.layout.targets.tpu import TPUS, Tpu
from dialect_utils.text import DiagnosticError, kind_of, nearest, read_input

CHIP_SUFFIX = ".toml"
# The keys of TARGETS, as the types of options.
TpuName = Literal["tpu-v2", "tpu-v3", "tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e", "tpu7x"]
TargetName = Literal[TpuName, "gpu-a100", "gpu-b200", "gpu-h100", "gpu-h200", "gpu-rtx6000"]
TARGETS: dict[str, Target] = {each.name: each for each in (*TPUS, *GPUS)}

# The group of the entry points of packages that add targets: each names a `Target`.
ENTRY_POINT_GROUP = "relayout.targets"
_DECLARE = "an entry point names a dialect_utils.layout.targets.target.Target with its own name"


def parse_target(name: str | Path | Target) -> Target:
    """Returns the target of a name such as `tpu-v5e`, of a file that describes a chip, or the target itself.

    A `.txtpb` describes a GPU (XLA's GpuTargetConfigProto), a `.toml` any chip (docs/targets.md); other packages add
    names by entry points. Raises DiagnosticError for others.
    """
    if isinstance(name, Target):
        return name
    if isinstance(name, Path):
        name = str(name)
    if not isinstance(name, str):
        raise TypeError(f"expected a target such as 'tpu-v5e', not {kind_of(name)}")
    if name.endswith((GPU_SUFFIX, CHIP_SUFFIX)):
        return _described(name)
    if name in TARGETS:
        return TARGETS[name]
    from dialect_utils.text.entry_points import added, load_added

    if (found := added(ENTRY_POINT_GROUP).get(name)) is not None:
        return load_added("target", Target, found, _DECLARE)  # type: ignore[type-abstract]  # for isinstance
    known = (*TARGETS, *added(ENTRY_POINT_GROUP))
    close = nearest(name.lower(), known)
    suggestion = f"did you mean {close}? " if close else ""
    files = f"files that describe a GPU (*{GPU_SUFFIX}) or another chip (*{CHIP_SUFFIX})"
    hint = f"{suggestion}known targets: {', '.join(known)}, and {files}"
    raise DiagnosticError(f"unknown target {name!r}", hint=hint)


class OtherTarget(str):
    """The text of a target beside TARGETS, a file or a name that a package adds; raises DiagnosticError for others."""

    __slots__ = ()

    def __new__(cls, text: object) -> OtherTarget:
        parse_target(str(text))
        return super().__new__(cls, text)


@lru_cache(maxsize=8)
def _described(path: str) -> Target:
    if path.endswith(GPU_SUFFIX):
        return described_gpu(path, read_input(path).decode("utf-8", "replace"))
    from dialect_utils.layout.targets.described import described_chip

    return described_chip(path, TARGETS)


@lru_cache(maxsize=4096)
def default_layout(element_type: ElementType, dimensions: tuple[int, ...], target: str | Target) -> Layout:
    """Returns the layout of an entry array by the compiler of `target`; raises DiagnosticError if unknown."""
    chip = parse_target(target)
    rank = len(dimensions)
    has_one_order = rank < 2 or 0 in dimensions
    order = Layout.descending(rank).minor_to_major if has_one_order else chip.order(element_type, dimensions)
    return chip.layout(element_type, dimensions, order)


def laid_out(shape: ArrayShape, minor_to_major: tuple[int, ...] | None, target: str | Target) -> ArrayShape:
    """Returns a shape in the layout of `target` with a given minor_to_major, or in the default layout for None.

    Raises DiagnosticError for an unknown target.
    """
    element_type, dimensions = shape.element_type, shape.dimensions
    if minor_to_major is None:
        return shape.with_layout(default_layout(element_type, dimensions, target))
    return shape.with_layout(parse_target(target).layout(element_type, dimensions, minor_to_major))


def tile_for(
    element_type: ElementType, dimensions: tuple[int, ...], minor_to_major: tuple[int, ...], target: str | Target
) -> tuple[Tile, ...]:
    """Returns the tiles that `target` uses for an array whose minor_to_major is given.

    An array without elements has no tile. Raises DiagnosticError for an unknown target.
    """
    return parse_target(target).layout(element_type, dimensions, minor_to_major).tiles


def allocation_bytes(shape: ArrayShape, target: str | Target) -> int:
    """Returns the bytes that the runtime of `target` allocates for an array.

    A shape without a layout gets the target's default. Raises DiagnosticError for an unknown target, ValueError for an
    unbounded dimension.
    """
    chip = parse_target(target)
    require_bounded(shape)
    if shape.layout is None:
        shape = shape.with_layout(default_layout(shape.element_type, shape.dimensions, target))
    return chip.allocation_bytes(shape)


def targets_like(name: str | None, *, is_gpu: bool = False) -> Sequence[Target]:
    """Returns the targets whose compiler may have written a module: those that allocate as the TPU `name`, or GPUs."""
    if is_gpu or name is None:
        return GPUS if is_gpu else ()
    like = parse_target(name)
    return [each for each in TPUS if isinstance(like, Tpu) and each.granule == like.granule]


def memory_space_name(space: int, target: str | None, *, is_gpu: bool = False) -> str:
    """Returns the name of a memory space for people, on a target or on the kind of chip that a module is for."""
    if target is None and not space:
        return "main memory"
    chip = parse_target(target) if target is not None else (GPUS if is_gpu else TPUS)[0]
    return chip.space_name(space)
