"""Whether shardings fit their shapes, and those of a loop or branch agree. Source: xla/hlo/ir/hlo_sharding.cc."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from math import prod

from dialect_utils.hlo.instruction import Instruction
from dialect_utils.layout import ArrayShape, TupleShape
from dialect_utils.ops.devices import check_iota, numbers_in
from dialect_utils.ops.inference import ShapeError
from dialect_utils.text import Diagnostic, without_comments

# `devices=[2,1]0,1` and `devices=[2,1]<=[2]`, the last dimensions being subgroups.
_TILES = re.compile(r"devices=\[(?P<sizes>[\d,]+)\](?:(?P<listed>\d+(?:,\d+)*)|<=\[(?P<iota>[\d,]+)\])?")
_SHARDING = re.compile(r"\{\s*(?:replicated|manual|maximal|devices=|unknown|unreduced|\{|/\*|mesh|\}|last_tile)")
_SUBGROUPS = re.compile(r"last_tile_dims=\{([^}]*)\}")
_NAME = "sharding"


def check_sharding(instruction: Instruction, partitions: int) -> None:
    """Raises ShapeError where the sharding of an array does not fit it, or names devices that do not exist."""
    text, shape = instruction.attribute(_NAME), instruction.shape
    if text is None:
        return
    if isinstance(shape, TupleShape):
        _check_count(text, shape.leaf_count)
    if not isinstance(shape, ArrayShape):
        return
    if not _SHARDING.match(text):
        raise ShapeError(f"{text} is not a valid sharding", _NAME)
    found = _TILES.search(text)
    if found is None:
        return
    sizes = numbers_in(found["sizes"])
    rank = len(sizes) - _subgroups(text)
    if rank != shape.rank:
        message = (
            f"the sharding {text} has {rank} tile assignment dimensions, excluding subgroups, but {shape} has rank "
        )
        raise ShapeError(f"{message}{shape.rank}", _NAME)
    if prod(sizes) == 1 or any(size < 1 for size in sizes):
        raise ShapeError(f"the sharding {text} is one of fewer than two devices", _NAME)
    if found["iota"] is not None:
        check_iota(f"sharding {text}", sizes, numbers_in(found["iota"]), _NAME)
    if found["listed"] is not None:
        _check_devices(text, sizes, numbers_in(found["listed"]), partitions)


def _check_count(text: str, leaves: int) -> None:
    """Raises ShapeError where a list of shardings has another number of entries than the tuple has leaves."""
    inner = without_comments(text).strip()[1:-1]
    if not inner.lstrip().startswith("{"):
        return
    depths = accumulate((mark == "{") - (mark == "}") for mark in inner)
    count = sum(depth == 0 and mark == "}" for depth, mark in zip(depths, inner, strict=True))
    # An empty tuple has the sharding of one value.
    if count != max(leaves, 1):
        raise ShapeError(f"the sharding has {count} entries for a tuple of {leaves} leaves", _NAME)


def _check_devices(text: str, sizes: list[int], devices: list[int], partitions: int) -> None:
    if prod(sizes) != len(devices):
        message = f"the sharding {text} has {len(devices)} devices, which does not match its {prod(sizes)} tiles"
        raise ShapeError(message, _NAME)
    if len(set(devices)) < len(devices):
        raise ShapeError(f"the sharding {text} names a device twice", _NAME)
    if 1 < partitions <= max(devices):
        raise ShapeError(f"the sharding {text} names device {max(devices)}, but there are {partitions}", _NAME)


def _subgroups(text: str) -> int:
    """Returns how many of the last dimensions of a sharding are not dimensions of the array."""
    named = _SUBGROUPS.search(text)
    if named is not None:
        return len([name for name in named[1].split(",") if name.strip()])
    return 1 if "last_tile_dim_replicate" in text else 0


def find_inconsistent_shardings(instruction: Instruction) -> Iterator[Diagnostic]:
    """Yields an error for each loop or branch whose sharding differs from that of its computations.

    The rule is XLA's VerifyConsistentSharding.
    """
    if instruction.opcode == "while":
        parts = [instruction, *(each for called in instruction.called for each in called.parameters[:1])]
        parts += [instruction.called_as("body").root] if "body" in instruction.roles else []
    else:
        parts = [instruction, *(called.root for called in instruction.called)]
    texts = {text for each in parts if (text := each.attribute(_NAME)) is not None}
    if len(texts) > 1:
        listed = " and ".join(sorted(texts))
        message = f"{instruction.name}: inconsistent {instruction.opcode} sharding among instructions: {listed}"
        yield Diagnostic(message, instruction.locate(_NAME))
