"""The window of a convolution in each spatial dimension, and its plain form.

TPU dumps write every matrix product as a convolution. A spatial dimension of such a convolution
often only pairs indices: each output index o meets one kernel index k and one input index i.
Meaning of windows: xla/window_util.h and HloEvaluator's HandleConvolution.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

Role = Literal["batch", "contracting", "lhs", "rhs", "window"]

_WINDOW_FIELDS = ("size", "stride", "pad", "lhs_dilate", "rhs_dilate", "rhs_reversal")
_LABELS = re.compile(r"([\w?]+)_([\w?]+)->([\w?]+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class WindowDimension:
    """One spatial dimension of a window; sizes and paddings in elements."""

    size: int
    stride: int = 1
    low: int = 0
    high: int = 0
    lhs_dilation: int = 1
    rhs_dilation: int = 1
    is_reversed: bool = False

    @property
    def is_trivial(self) -> bool:
        """Is true for a window of one element that is neither moved, padded nor dilated."""
        return self == WindowDimension(1, is_reversed=self.is_reversed)

    @property
    def has_padding(self) -> bool:
        """Is true where a window may read padding, or a hole between dilated elements."""
        return self.low > 0 or self.high > 0 or self.lhs_dilation > 1


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of a convolution or reduction, the dimensions of its result, and whether padding takes part.

    With `has_padding` (StableHLO) padding is multiplied as 0, so that an infinite weight gives NaN, or combined as the
    initial value; without it (HLO) padding takes no part.
    """

    operation: Any
    window: tuple[WindowDimension, ...]
    sizes: tuple[int, ...]
    has_padding: bool


# A program has few different windows.
@lru_cache(maxsize=4096)
def parse_window(text: str | None, rank: int) -> tuple[WindowDimension, ...]:
    """Reads `{size=3x3 stride=1x2 pad=0_1x1_1 lhs_dilate=.. rhs_dilate=.. rhs_reversal=..}`; None: trivial.

    Raises ValueError where a field has another number of entries, or is unknown.
    """
    fields: dict[str, list[str]] = {}
    for part in (text or "").strip("{} ").split():
        name, separator, value = part.partition("=")
        if name not in _WINDOW_FIELDS or not separator:
            raise ValueError(f"the window {text} has the unknown field {name}")
        if name in fields:
            raise ValueError(f"the window {text} has the field {name} twice")
        fields[name] = value.split("x")
    for name, values in fields.items():
        if len(values) != rank:
            raise ValueError(f"the window {text} has {len(values)} entries in {name}, but its array {rank} dimensions")

    def ints(name: str, default: int) -> list[int]:
        return [int(value) for value in fields[name]] if name in fields else [default] * rank

    pads = [pad.split("_") for pad in fields.get("pad", ["0_0"] * rank)]
    return tuple(
        WindowDimension(size, stride, int(low), int(high), lhs, rhs, bool(reverse))
        for size, stride, (low, high), lhs, rhs, reverse in zip(
            ints("size", 1),
            ints("stride", 1),
            pads,
            ints("lhs_dilate", 1),
            ints("rhs_dilate", 1),
            ints("rhs_reversal", 0),
            strict=True,
        )
    )


def positions(size: int, window: WindowDimension) -> int:
    """Returns at how many positions a window fits into one padded, dilated dimension (window_util::StridedBound)."""
    base = (size - 1) * window.lhs_dilation + 1 if size else 0
    reach = (window.size - 1) * window.rhs_dilation + 1
    padded = base + window.low + window.high
    return (padded - reach) // window.stride + 1 if padded >= reach else 0


def format_window(window: tuple[WindowDimension, ...]) -> str:
    """Writes a window as XLA does; fields at their defaults are left out."""
    if not window:
        return "{}"
    parts = ["size=" + "x".join(str(dim.size) for dim in window)]
    for name, values, default in (
        ("stride", [str(dim.stride) for dim in window], "1"),
        ("pad", [f"{dim.low}_{dim.high}" for dim in window], "0_0"),
        ("lhs_dilate", [str(dim.lhs_dilation) for dim in window], "1"),
        ("rhs_dilate", [str(dim.rhs_dilation) for dim in window], "1"),
        ("rhs_reversal", [str(int(dim.is_reversed)) for dim in window], "0"),
    ):
        if any(value != default for value in values):
            parts.append(f"{name}={'x'.join(values)}")
    return "{" + " ".join(parts) + "}"


@dataclass(frozen=True, slots=True)
class DimensionLabels:
    """The role of each dimension of the arrays: batch, feature (or input, output) and spatial ones."""

    lhs_batch: int
    lhs_feature: int
    lhs_spatial: tuple[int, ...]
    rhs_input: int
    rhs_output: int
    rhs_spatial: tuple[int, ...]
    out_batch: int
    out_feature: int
    out_spatial: tuple[int, ...]


@lru_cache(maxsize=4096)
def parse_labels(text: str) -> DimensionLabels:
    """Reads `b01f_01io->b01f`; raises ValueError for anything else."""
    found = _LABELS.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"dim_labels {text} is not of the form b01f_01io->b01f")
    lhs, rhs, out = found.groups()
    spatial = [str(index) for index in range(len(lhs) - 2)]
    return DimensionLabels(
        lhs.index("b"),
        lhs.index("f"),
        tuple(lhs.index(label) for label in spatial),
        rhs.index("i"),
        rhs.index("o"),
        tuple(rhs.index(label) for label in spatial),
        out.index("b"),
        out.index("f"),
        tuple(out.index(label) for label in spatial),
    )


@lru_cache(maxsize=4096)
def classify(dim: WindowDimension, lhs_size: int, out_size: int) -> tuple[Role, bool]:
    """Returns the role of a spatial dimension, and whether the kernel has to be reversed for that.

    `batch`: o, k and i are one index. `contracting`: k and i are one index that is summed over,
    o has size 1. `lhs`: o and i are one, k has size 1. `rhs`: o and k are one, i has size 1.
    `window`: any other window, as of a proper convolution.
    """
    sizes = (out_size, dim.size, lhs_size)
    count = max(sizes)
    # A pairing of n indices meets each of them once; anything else is a window.
    if 0 in sizes or any(size not in (1, count) for size in sizes):
        return "window", False
    triples = _triples(dim, lhs_size, out_size, count)
    if triples is None or len(triples) != count:
        return "window", False
    role = _role(*sizes)
    if role == "window":
        return role, False
    for is_reversed in (False, True):
        if all(triple == _pair(sizes, j, is_reversed) for j, triple in enumerate(triples)):
            return role, is_reversed
    return "window", False


def _role(out_size: int, kernel_size: int, lhs_size: int) -> Role:
    if kernel_size == 1:
        # If all sizes are 1, the dimension only adds rows to the left side.
        return "lhs" if out_size == lhs_size else "window"
    if out_size == 1:
        return "contracting" if lhs_size == kernel_size else "window"
    return "batch" if lhs_size == out_size else "rhs"


def _pair(sizes: tuple[int, int, int], j: int, is_reversed: bool) -> tuple[int, int, int]:
    out, kernel, lhs = (j if size > 1 else 0 for size in sizes)
    return out, sizes[1] - 1 - kernel if is_reversed and sizes[1] > 1 else kernel, lhs


def _triples(dim: WindowDimension, lhs_size: int, out_size: int, limit: int) -> list[tuple[int, int, int]] | None:
    """Returns every (o, k, i) that meets, sorted by o or i; None where there are more than `limit`."""
    found: list[tuple[int, int, int]] = []
    for out in range(out_size):
        for offset in _offsets(dim, lhs_size, out):
            index, rest = divmod(out * dim.stride + offset * dim.rhs_dilation - dim.low, dim.lhs_dilation)
            if rest:
                continue
            kernel = dim.size - 1 - offset if dim.is_reversed else offset
            found.append((out, kernel, index))
            if len(found) > limit:
                return None
    return sorted(found, key=lambda triple: (triple[0], triple[2]))


def _offsets(dim: WindowDimension, lhs_size: int, out: int) -> range:
    """Returns the kernel positions that fall inside the (dilated) input at output `out`."""
    origin = out * dim.stride - dim.low
    last = (lhs_size - 1) * dim.lhs_dilation
    first = max(0, -(origin // dim.rhs_dilation))
    stop = min(dim.size, (last - origin) // dim.rhs_dilation + 1)
    if dim.rhs_dilation != 1:
        return range(first, stop)
    # Only every lhs_dilation-th position holds an element.
    first += -(origin + first) % dim.lhs_dilation
    return range(first, stop, dim.lhs_dilation)
