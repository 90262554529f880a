"""Structured attributes as values, read from either dialect: windows, dimension numbers, groups."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialect_utils.ops.domain import UndefinedError
from dialect_utils.ops.window import DimensionLabels, WindowDimension, parse_labels, parse_window

if TYPE_CHECKING:
    from dialect_utils.ir import Operation

_LIST = re.compile(r"-?\d+|true|false")
_TRUTH = {"true": "1", "false": "0"}
_STABLEHLO_LABELS = re.compile(r"\[([\w, ]*)\]")
_GROUPS = ("feature_group_count", "batch_group_count")


def integers(operation: Operation, name: str) -> tuple[int, ...] | None:
    """Returns the integers in the text of an attribute: `2`, `{0,1}`, `array<i64: 1, 2>`, `dense<[[0, 1]]>`."""
    text = operation.attribute(name)
    if text is None:
        return None
    if text.startswith("dense"):
        # More than a hundred are printed as the digits of their bytes.
        return operation.ints(name)
    if "<" in text:
        text = text[text.index("<") + 1 : text.rindex(">")].split("> : ")[0].removeprefix("i64").removeprefix("i1")
    return tuple(int(_TRUTH.get(word, word)) for word in _LIST.findall(text))


def last_word(text: str | None) -> str:
    """Returns `LT` of `#stablehlo<comparison_direction LT>` and of HLO's `LT`, and "" of None."""
    return (text or "").rstrip(">").rpartition(" ")[2]


def single(text: str) -> float:
    """Returns the number of an f32 attribute: `0.001`, `1.000000e-03 : f32`, or its bits `0x3A83126F : f32`."""
    written = text.split(" : ")[0]
    bits = int(written, 16).to_bytes(4, "little") if written.startswith("0x") else struct.pack("<f", float(written))
    found: float = struct.unpack("<f", bits)[0]
    return found


def group_counts(operation: Operation) -> tuple[int, int]:
    """Returns feature_group_count and batch_group_count of a convolution; absent ones are 1."""
    texts = (operation.attribute(name) or "1" for name in _GROUPS)
    features, batches = (int(text.split(":")[0]) for text in texts)
    return features, batches


def labels(operation: Operation) -> DimensionLabels:
    """Returns a convolution's dimension numbers; raises UndefinedError where they are not read."""
    text = operation.attribute("dim_labels")
    if text is None:
        parts = _STABLEHLO_LABELS.findall(operation.attribute("dimension_numbers") or "")
        words = ["".join(part.replace(",", " ").split()) for part in parts]
        text = f"{words[0]}_{words[1]}->{words[2]}" if len(words) == len(("lhs", "rhs", "out")) else ""
    try:
        return parse_labels(text)
    except ValueError as error:
        raise UndefinedError(str(error)) from error


def convolution_window(operation: Operation, sizes: Sequence[int]) -> tuple[WindowDimension, ...]:
    """Returns the window of a convolution in every spatial dimension, given the kernel's sizes there."""
    rank = len(sizes)
    if operation.attribute("dim_labels") is not None:
        window = parse_window(operation.attribute("window"), rank)
        if tuple(dimension.size for dimension in window) != tuple(sizes):
            raise UndefinedError("a convolution's window is not of its kernel's size")
        return window
    return _window(operation, sizes, ("window_strides", "lhs_dilation", "rhs_dilation", "window_reversal"))


def reduction_window(operation: Operation, rank: int) -> tuple[WindowDimension, ...]:
    """Returns the window of a reduce-window or select-and-scatter in every dimension."""
    text = operation.attribute("window")
    if text is not None:
        return parse_window(text, rank)
    sizes = integers(operation, "window_dimensions") or (1,) * rank
    return _window(operation, sizes, ("window_strides", "base_dilations", "window_dilations", "window_reversal"))


def _window(operation: Operation, sizes: Sequence[int], names: Sequence[str]) -> tuple[WindowDimension, ...]:
    def read(name: str, default: int, count: int) -> tuple[int, ...]:
        found = integers(operation, name) or (default,)
        return found * count if len(found) == 1 else found

    rank = len(sizes)
    strides, base, dilations = (read(name, 1, rank) for name in names[:3])
    pairs, reversals = read("padding", 0, 2 * rank), read(names[3], 0, rank)
    return tuple(
        WindowDimension(size, strides[i], pairs[2 * i], pairs[2 * i + 1], base[i], dilations[i], bool(reversals[i]))
        for i, size in enumerate(sizes)
    )
