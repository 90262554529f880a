"""Whether attributes with an entry for each array of a shape fit it: shardings, origins and replicated parameters.

The shardings of a loop or branch also have to agree. Sources: xla/hlo/ir/hlo_sharding.cc (Validate),
xla/hlo/parser/hlo_parser.cc (ParseSingleSharding), xla/service/hlo_verifier.cc (VerifyOriginalValue).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import prod
from re import Match

from dialect_utils.hlo.instruction import Instruction
from dialect_utils.hlo.text.tokens import STRING
from dialect_utils.hlo.verification.attributes import FLAG, LEVELS, braces, listed
from dialect_utils.layout import ArrayShape, Shape, TokenShape, TupleShape
from dialect_utils.ops.devices import AXES, AXIS, MESH, NUMBERS, check_iota, mesh_axes, numbers_in, parts_of_axes
from dialect_utils.ops.inference import ShapeError
from dialect_utils.ops.sharding import sharding_elements
from dialect_utils.text import Diagnostic, without_comments


def check_leaves(instruction: Instruction) -> None:
    """Raises ShapeError where an attribute with an entry for each leaf of the shape has others.

    Sources: VerifyOriginalValue, and HloParserImpl::ParseInstructionRhs for `parameter_replication`.
    """
    shape = instruction.shape
    replicated, origin = instruction.attribute("parameter_replication"), instruction.attribute("origin")
    if replicated is not None and instruction.opcode != "parameter":
        raise ShapeError(
            f"{instruction.opcode} is no parameter, but has parameter_replication", "parameter_replication"
        )
    if replicated is not None and len(re.findall(FLAG, replicated)) != shape.leaf_count:
        message = f"parameter_replication is {replicated}, but the shape has {shape.leaf_count} leaf buffers"
        raise ShapeError(message, "parameter_replication")
    if origin is None or "[synthetic_call" in origin or instruction.computation.edits.any:
        return
    if _origin_paths(origin) != {path for path, _ in shape.leaves_by_path()}:
        raise ShapeError(f"mismatched tuple structure in the origin {origin} of {shape}", "origin")


def _origin_paths(text: str) -> set[tuple[int, ...]]:
    """Returns the index of each array in the tree of an origin such as `{({"a"}, {"b" {1}})}`."""
    paths, path, depth = set[tuple[int, ...]](), list[int](), 0
    for mark in re.findall(rf"{STRING}|[(){{}},]", text.strip()[1:-1]):
        if mark == "{" and not depth:
            paths.add(tuple(path))
        depth += (mark == "{") - (mark == "}")
        if depth or mark not in "(),":
            continue
        if mark == "(":
            path.append(0)
        elif not path:
            return set()
        elif mark == ")":
            path.pop()
        else:
            path[-1] += 1
    return paths


_SIGNED = r"-?\d{1,18}"
# `devices=[2,1]0,1`, and `devices=[2,1]<=[2]`, the last dimensions being subgroups.
_TILES = re.compile(
    rf"devices=\[(?P<sizes>{NUMBERS})\]\s*(?:(?P<listed>{NUMBERS})|<=\s*\[(?P<iota>{NUMBERS})\]\s*(?P<order>T\({NUMBERS}\))?)"
)
_WORDS = ("replicated", "maximal", "manual", "unknown", "unreduced")
_KIND = re.compile(rf"\b(?:{'|'.join(_WORDS)})\b(?!=)")
_DEVICE = re.compile(rf"\bdevice=({_SIGNED})")
_PARTS = (
    "|".join(_WORDS),
    "last_tile_dim_replicate",
    rf"shard_(?:as|like)\s+{_SIGNED}",
    rf"device={_SIGNED}",
    re.sub("[?]P<[a-z]+>", "?:", _TILES.pattern),
    r"last_tile_dims=\{\s*(?:(?:manual|maximal|replicated|unreduced)[\s,]*)*\}",
)
_OF_SHARDING = re.compile(rf"\{{\s*(?:(?:{'|'.join(_PARTS)})\s*)*\}}")
# The shardings of a tuple's leaves: `{{replicated}, {devices=[2]0,1}}`.
_OF_LEAVES = re.compile(listed(rf"(?!\{{\s*\}}){braces(LEVELS)}"))
_SUBGROUPS = re.compile(r"last_tile_dims=\{([^}]*)\}")
_NOTES = re.compile(rf"metadata={braces(LEVELS)}")
_ATTRIBUTE = "sharding"


def check_sharding(instruction: Instruction, partitions: int) -> None:
    """Raises ShapeError where the sharding of a value does not fit it, or names devices that do not exist.

    Sources: HloParserImpl::ParseSingleSharding, HloSharding::Validate.
    """
    text, shape = instruction.attribute(_ATTRIBUTE), instruction.shape
    if text is None or isinstance(shape, TokenShape):
        return
    parts = _of_leaves(text, shape)
    leaves = [*shape.leaves()] if isinstance(shape, TupleShape) and parts[0] != text else [shape]
    for part, leaf in zip(parts, leaves, strict=False):
        written = _NOTES.sub("", part) if "metadata" in part else part
        if re.match(r"\{\s*(?:maximal_)?mesh\b", part):
            _check_axes(written, leaf, partitions)
        elif "@" not in part:
            _check_one(written, leaf, partitions)


def _of_leaves(text: str, shape: Shape) -> list[str]:
    """Returns the shardings of a value's leaves; raises ShapeError for another number of entries than of leaves.

    Source: HloSharding::CheckLeafCount in xla/hlo/ir/hlo_sharding.cc.
    """
    text = without_comments(text).strip()
    found = sharding_elements(text)
    if found == [text]:
        return found
    if not _OF_LEAVES.fullmatch(text):
        raise ShapeError(f"{text} is not a valid sharding", _ATTRIBUTE)
    # An empty tuple has the sharding of one value.
    if len(found) != max(shape.leaf_count, 1) or not isinstance(shape, TupleShape):
        of = f"a tuple of {shape.leaf_count} leaves" if isinstance(shape, TupleShape) else str(shape)
        raise ShapeError(f"the sharding has {len(found)} entries for {of}", _ATTRIBUTE)
    return found


def _check_one(text: str, shape: Shape, partitions: int) -> None:
    if text == "{}":
        return
    if not _OF_SHARDING.fullmatch(text):
        raise ShapeError(f"{text} is not a valid sharding", _ATTRIBUTE)
    words, found = _KIND.findall(_SUBGROUPS.sub("", text)), _TILES.search(text)
    devices = [int(each) for each in _DEVICE.findall(text)]
    listed = found["listed"] if found is not None else None
    devices = [int(each) for each in listed.split(",")] if listed is not None else devices[-1:]
    if words:
        wanted = 1 if "maximal" in words and "replicated" not in words else 0
        if len(devices) != wanted:
            raise ShapeError(f"the sharding {text} has {len(devices)} devices instead of {wanted}", _ATTRIBUTE)
    elif found is None:
        raise ShapeError(f"the sharding {text} has no list of tiles", _ATTRIBUTE)
    _check_devices(text, devices, partitions)
    if found is not None and not words and isinstance(shape, ArrayShape):
        _check_tiles(text, found, shape, len(devices), partitions)


# `{mesh['x'=2,'y'=4], device_ids=(1,0,...), [{'x'}, {'y':(2)2, ?}], replicated={'y'}}`, and forms without dimensions.
_DIMENSION = rf"\{{\s*(?:{AXIS}\s*,\s*)*(?:{AXIS}|[?])?\s*\}}"
_SUM = r"unreduced(?:\s*=\s*(?:sum|max|min)\b)?"
_OF_MESH = re.compile(
    rf"\{{\s*(?:maximal_mesh\[\s*device_id=\s*{_SIGNED}\s*\]|{MESH}"
    rf"\s*,?\s*(?:replicated|manual|{_SUM}\s*(?:{AXES})?|(?P<dims>\[\s*(?:{_DIMENSION}[\s,]*)*\])"
    rf"(?P<others>(?:\s*,\s*(?:(?:replicated|manual)\s*=\s*{AXES}|{_SUM}\s*=?\s*{AXES}))*)))\s*,?\s*\}}"
)


def _check_axes(text: str, shape: Shape, partitions: int) -> None:
    """Raises ShapeError where a sharding along the axes of a mesh is not one of its shape.

    Source: VerifyNamedSharding in xla/hlo/ir/named_sharding.cc.
    """
    found = _OF_MESH.fullmatch(text)
    if found is None:
        raise ShapeError(f"{text} is not a valid sharding", _ATTRIBUTE)
    sizes = mesh_axes(found, _ATTRIBUTE)
    if 1 < partitions != prod(sizes.values()) and sizes:
        message = f"the sharding {text} names {prod(sizes.values())} devices, but there are {partitions}"
        raise ShapeError(message, _ATTRIBUTE)
    dims = re.findall(_DIMENSION, found["dims"] or "")
    if any(map(re.compile(AXIS).search, dims)) and isinstance(shape, ArrayShape) and len(dims) != shape.rank:
        raise ShapeError(
            f"the sharding {text} has {len(dims)} dimensions, but {shape} has rank {shape.rank}", _ATTRIBUTE
        )
    parts_of_axes(text, sizes, [*dims, *re.findall(AXES, found["others"] or "")], _ATTRIBUTE)


def _check_tiles(text: str, found: Match[str], shape: ArrayShape, listed: int, partitions: int) -> None:
    """Raises ShapeError unless tiles cover an array, and each has a device."""
    sizes = [int(each) for each in found["sizes"].split(",")]
    rank = len(sizes) - _subgroups(text)
    if rank != shape.rank:
        message = (
            f"the sharding {text} has {rank} tile assignment dimensions, excluding subgroups, but {shape} has rank "
        )
        raise ShapeError(f"{message}{shape.rank}", _ATTRIBUTE)
    if prod(sizes) == 1 or any(size < 1 for size in sizes):
        raise ShapeError(f"the sharding {text} is one of fewer than two devices", _ATTRIBUTE)
    if found["iota"] is not None:
        reshaped = numbers_in(found["iota"])
        check_iota(f"sharding {text}", sizes, reshaped, _ATTRIBUTE)
        order = numbers_in(found["order"] or "")
        if (order or len(reshaped) > 1) and sorted(order) != [*range(len(reshaped))]:
            raise ShapeError(f"the sharding {text} needs an order T(...) of {len(reshaped)} dimensions", _ATTRIBUTE)
    elif prod(sizes) != listed:
        message = f"the sharding {text} has {listed} devices, which does not match its {prod(sizes)} tiles"
        raise ShapeError(message, _ATTRIBUTE)
    if 1 < partitions < prod(sizes):
        raise ShapeError(f"the sharding {text} names {prod(sizes)} devices, but there are {partitions}", _ATTRIBUTE)


def _check_devices(text: str, devices: list[int], partitions: int) -> None:
    for device in devices:
        if device < 0 or 1 < partitions <= device:
            of = "which is negative" if device < 0 else f"but there are {partitions}"
            raise ShapeError(f"the sharding {text} names device {device}, {of}", _ATTRIBUTE)
    if len(set(devices)) < len(devices):
        raise ShapeError(f"the sharding {text} names a device twice", _ATTRIBUTE)


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
    texts = {text for each in parts if (text := each.attribute(_ATTRIBUTE)) is not None}
    if len(texts) > 1:
        listed = " and ".join(sorted(texts))
        message = f"{instruction.name}: inconsistent {instruction.opcode} sharding among instructions: {listed}"
        yield Diagnostic(message, instruction.locate(_ATTRIBUTE))
