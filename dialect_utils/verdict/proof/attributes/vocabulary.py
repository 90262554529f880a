"""Attributes in one vocabulary: what either dialect's text says, as HLO's name and one spelling of the value."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator

from dialect_utils.ir import Operation
from dialect_utils.layout import ArrayShape
from dialect_utils.ops import opcode_of
from dialect_utils.ops.structured import integers, reduction_window

Pair = tuple[str, str]

_NUMBER = re.compile(r"(-?[\d.]+(?:[eE][-+]?\d+)?)(?: : (\w+))?")
_HEXADECIMAL = re.compile(r"(0x[0-9A-Fa-f]{8}) : f32")
_ENUMERATION = re.compile(r"#stablehlo<\w+ (\w+)>")
_HANDLE = re.compile(r"handle\s*=\s*(\d+)")
_MATRIX = re.compile(r"tensor<(\d+)x(\d+)xi64>")
_GROUP = re.compile(r"\{([\d,\s]*)\}")
# StableHLO's name of an attribute that HLO calls otherwise, and that is no list of integers.
_NAMES = {
    "backend_config": "backend_config",
    "call_target_name": "custom_call_target",
    "channel_handle": "channel_id",
    "fft_type": "fft_type",
    "has_side_effect": "custom_call_has_side_effect",
    "output_operand_aliases": "output_to_operand_aliasing",
    "rng_algorithm": "algorithm",
    "rng_distribution": "distribution",
}
_WINDOWS = frozenset({"select-and-scatter"})
_WINDOW_NAMES = frozenset(
    {"window", "window_dimensions", "window_strides", "padding"}
    | {"base_dilations", "window_dilations", "window_reversal"}
)
_GROUPS = frozenset({"replica_groups", "source_target_pairs"})
# Values that mean the same as an absent attribute.
_DEFAULTS = {
    "api_version": ("API_VERSION_ORIGINAL", "1"),
    "backend_config": ("", '""', "{}"),
    "called_computations": ("[]", "{}"),
    "feature_group_count": ("1",),
    "batch_group_count": ("1",),
    "largest": ("true",),
    "output_to_operand_aliasing": ("[]", "{}"),
    "channel_id": ("0",),
    "replica_groups": ("",),
    "transpose_a": ("NO_TRANSPOSE",),
}
_API_VERSIONS = {
    "API_VERSION_STATUS_RETURNING": "2",
    "API_VERSION_STATUS_RETURNING_UNIFIED": "3",
    "API_VERSION_TYPED_FFI": "4",
}


def opcode_in_common(opcode: str) -> str:
    """Returns HLO's name of an operation that CHLO has, too."""
    name = opcode.removeprefix("chlo.").replace("_", "-")
    if opcode == "chlo.top_k":
        return "topk"
    return name if name != opcode and opcode_of(name).operand_count is not None else opcode


def window_pair(operation: Operation) -> tuple[list[Pair], frozenset[str]]:
    """Returns what an operation's window does, and the names of the attributes that say it; nothing for others."""
    if operation.opcode not in _WINDOWS:
        return [], frozenset()
    shape = operation.operands[0].shape
    rank = shape.rank if isinstance(shape, ArrayShape) else 0
    return [("window", str(reduction_window(operation, rank)))], _WINDOW_NAMES


def in_common(operation: Operation, name: str, text: str) -> Iterator[Pair]:
    """Yields an attribute by HLO's name with its value in one spelling; nothing where it says what absence does."""
    name = _NAMES.get(name, name)
    value = _SPELLED[name](operation, text) if name in _SPELLED else _value(text)
    if operation.opcode == "all-to-all" and _follows(operation, name, value):
        return
    if value in _DEFAULTS.get(name, ()) or (value == "false" and _is_flag(operation, name)):
        return
    yield name, value


def _follows(operation: Operation, name: str, value: str) -> bool:
    """Is true for what HLO leaves out of an all-to-all: it joins the parts where it split, one for each device."""
    if name == "concat_dimension":
        return operation.ints("dimensions") == (int(value),)
    groups = _GROUP.findall(_groups(operation, operation.attribute("replica_groups") or ""))
    return name == "split_count" and bool(groups) and len(groups[0].split(",")) == int(value)


def _is_flag(operation: Operation, name: str) -> bool:
    known = opcode_of(operation.opcode).attribute(name)
    return known is not None and known.kind == "flag"


def _value(text: str) -> str:
    """Returns a number without its type, an enumeration's case, a text without quotes; anything else as it is."""
    if text == "unit":
        return "true"
    found = _ENUMERATION.fullmatch(text)
    if found is not None:
        return found[1]
    bits = _HEXADECIMAL.fullmatch(text)
    if bits is not None:
        return repr(struct.unpack("<f", int(bits[1], 16).to_bytes(4, "little"))[0])
    number = _NUMBER.fullmatch(text)
    if number is None:
        return text
    if number[1].lstrip("-").isdigit():
        return number[1]
    if number[2] not in (None, "f32"):
        return repr(float(number[1]))
    # Both dialects print a float attribute as a decimal that reads back to the same f32.
    return repr(struct.unpack("<f", struct.pack("<f", float(number[1])))[0])


def _quoted(_: Operation, text: str) -> str:
    return text[1:-1].replace('\\"', '"') if text.startswith('"') and text.endswith('"') else text


def _lower(_: Operation, text: str) -> str:
    """Returns the name of a random algorithm or distribution."""
    return _value(text).lower().removeprefix("rng_")


def _version(_: Operation, text: str) -> str:
    return _API_VERSIONS.get(text, _value(text))


def _channel(_: Operation, text: str) -> str:
    found = _HANDLE.search(text)
    return found[1] if found else _value(text)


def _groups(operation: Operation, text: str) -> str:
    """Returns lists of devices, one in each pair of braces; anything else as it is written."""
    if "dense" not in text:
        rows = [",".join(part.replace(" ", "").split(",")) for part in _GROUP.findall(text)]
        return _rows(rows) if "<=" not in text else text
    name = next(name for name in _GROUPS if operation.attribute(name) == text)
    matrix = _MATRIX.search(text)
    values = integers(operation, name) or ()
    if matrix is None:
        return text
    count, width = int(matrix[1]), int(matrix[2])
    flat = values * (count * width) if len(values) == 1 else values
    # Shorter groups are filled with -1.
    return _rows([",".join(str(v) for v in flat[i * width : (i + 1) * width] if v >= 0) for i in range(count)])


def _rows(rows: list[str]) -> str:
    return "".join(f"{{{row}}}" for row in rows if row)


_SPELLED: dict[str, Callable[[Operation, str], str]] = {
    "algorithm": _lower,
    "api_version": _version,
    "backend_config": _quoted,
    "channel_id": _channel,
    "custom_call_target": _quoted,
    "distribution": _lower,
    "replica_groups": _groups,
    "source_target_pairs": _groups,
}
