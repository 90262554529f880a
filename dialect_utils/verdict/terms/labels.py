"""Attributes that affect the value of an operation, in one spelling for both dialects.

Longer than other files: each kind of attribute has a short function.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from dialect_utils.execution.custom_calls import IDENTITIES
from dialect_utils.hlo.text.attributes import is_calling, reversed_dimensions
from dialect_utils.ir import Module, Operation, Value, array_shape
from dialect_utils.layout import ArrayShape, ElementType, OpaqueShape
from dialect_utils.ops import (
    ALL_OPERANDS,
    CALLING_MLIR_ATTRIBUTES,
    GENERAL_ATTRIBUTES,
    GENERAL_MLIR_ATTRIBUTES,
    Trait,
    has,
    named,
    opcode_of,
)
from dialect_utils.ops.domain import UndefinedError
from dialect_utils.ops.structured import integers, reduction_window
from dialect_utils.text import without_comments

# Attributes that do not affect a value: storage, device, source location and scheduling.
_SILENT = frozenset(attribute.name for attribute in (*GENERAL_ATTRIBUTES, *GENERAL_MLIR_ATTRIBUTES))
# Of these attributes a custom call may read some.
_SPOKEN_IN_CUSTOM_CALLS = frozenset({"sharding", "mhlo.sharding", "sdy.sharding", "backend_config"})

# Frontend attributes that name the ends of a transfer.
_OF_TRANSFERS = ("_xla_send_recv_source_target_pairs", "_xla_host_transfer_")
# The prefix of frontend attributes of Relayout's passes, which describe layouts only.
_OWN_NOTES = "relayout."

_PRECISIONS = frozenset({"operand_precision", "precision_config"})
_DIRECTIONS = frozenset({"direction", "comparison_direction"})
_COMPARE_TYPES = frozenset({"type", "compare_type"})
_WORD = re.compile(r"[A-Za-z0-9_]+")
_ELIDED = "..."
_RESOURCE = "dense_resource"
_TOTAL_ORDER = "TOTALORDER"

# Operations that pass their elements to a computation.
_REDUCING = named("reduce reduce-window")
_SIDE_EFFECTS = ("custom_call_has_side_effect", "has_side_effect")


Pair = tuple[str, str]
# The opcode, integers, other attributes as texts, the contents of a constant, and shapes that no attribute holds.
Key = tuple[str, tuple[Hashable, ...], tuple[Pair, ...], Hashable, Hashable]
# The numbers of replicas and of partitions that run a module.
Devices = tuple[int, int] | None

# Conversions between a whole array and its shards: the shards of several partitions may hold terms of a sum.
_OF_SHARDS = frozenset({"SPMDFullToShardShape", "SPMDShardToFullShape"})


def returns_operand(operation: Operation, devices: Devices) -> bool:
    """Is true for a custom call that returns its operand, and only tells the compiler where to store it."""
    if operation.opcode != "custom-call" or operation.callee not in IDENTITIES:
        return False
    values = (*operation.operands, *operation.results)
    is_same = len(values) == len(("operand", "result")) and len({value.shape.without_layout for value in values}) == 1
    return is_same and (operation.callee not in _OF_SHARDS or (devices is not None and devices[1] == 1))


# Custom calls that return uninitialized memory, which differs from call to call.
_UNWRITTEN = frozenset({"AllocateBuffer", "CreateBuffer"})


def gives_unwritten_memory(operation: Operation) -> bool:
    """Is true for a custom call that returns uninitialized memory; no two such results are equal."""
    return operation.opcode == "custom-call" and operation.callee in _UNWRITTEN


_ASSUMING, _WITNESS = "shape.assuming", "shape.const_witness"
# Operations of other dialects whose results are sizes and witnesses, which no definition of a static operation reads.
_OF_SIZES = frozenset({_WITNESS, "shape.broadcast", "shape.shape_of", "tensor.cast"})


def gives_sizes(operation: Operation) -> bool:
    """Is true for an operation of a related dialect (shape, tensor) that computes sizes, not arrays."""
    return operation.opcode in _OF_SIZES and any(isinstance(each.shape, OpaqueShape) for each in operation.results)


def is_assumed(operation: Operation) -> bool:
    """Is true for a region that runs because its witness is the constant true."""
    if operation.opcode != _ASSUMING:
        return False
    witness = operation.operands[0].operation
    return witness is not None and witness.opcode == _WITNESS and witness.attribute("passing") == "true"


def counted(operation: Operation) -> Sequence[Value]:
    """Returns the operands that affect the value; size operands do not, because the result type has the sizes."""
    return operation.operands[: _COUNTED.get(operation.opcode)]


# The number of leading operands that affect the value.
_COUNTED = {"rng": 2, "stablehlo.dynamic_broadcast_in_dim": 1}


def is_pure(operation: Operation) -> bool:
    """Is true for an operation whose results depend only on its operands; other operations keep their order."""
    if operation.opcode == "custom-call":
        return not any(operation.attribute(name) == "true" for name in _SIDE_EFFECTS)
    return has(operation.opcode, Trait.PURE)


def is_written_in_reverse(operation: Operation) -> bool:
    """Is true for an operation whose TPU `backend_config` reverses its result."""
    return bool(reversed_dimensions(operation.attribute("backend_config")))


def converts_operands(operation: Operation) -> bool:
    """Is true for an operation of an optimized dump that converts its operands or results, unlike its opcode.

    An example is a copy from f32 to bf16, which rounds.
    """
    results = _element_types(operation.results)
    if operation.called and has(operation.opcode, Trait.COMBINES):
        called = operation.called[0]
        taken, given = _element_types(called.parameters), _element_types(called.results)
        if is_among_devices(operation):
            # One function combines the elements of each array, and the type of a start has operands and results.
            return {*results} != {*given}
        return results != given or (operation.opcode in _REDUCING and _element_types(operation.operands) != taken)
    typed = opcode_of(operation.opcode).typed
    if not typed or len(results) != 1:
        return False
    operands = operation.operands if typed == ALL_OPERANDS else [operation.operands[index] for index in typed]
    return any(kind != results[0] for kind in _element_types(operands))


def _element_types(values: Iterable[Value]) -> list[ElementType]:
    return [array.element_type for value in values for array in value.shape.arrays()]


def is_among_devices(operation: Operation) -> bool:
    """Is true for an operation whose results depend on the number of devices."""
    return has(operation.opcode, Trait.AMONG_DEVICES)


_DEVICES = ("replica_count", "num_partitions", "mhlo.num_replicas", "mhlo.num_partitions")


def device_counts(module: Module) -> Devices:
    """Returns the numbers of replicas and of partitions that run a module."""
    counts = [module.attributes.get(name, "1").split(" ")[0] for name in _DEVICES]
    replicas, partitions, *in_mlir = map(int, counts)
    return max(replicas, in_mlir[0]), max(partitions, in_mlir[1])


def key_of(operation: Operation) -> Key:
    """Returns all attributes that affect an operation's value.

    Raises UndefinedError where the text does not tell them: elided constants, types without a name.
    """
    opcode, attributes = operation.opcode, operation.attributes
    integers = [attribute for attribute in opcode_of(opcode_in_common(opcode)).attributes if attribute.is_integers]
    names = [attribute.name for attribute in integers]
    found = {name: operation.ints(name) for name in names}
    # An attribute that is not a list of integers is compared as text.
    ignored = {*_SILENT, *(name for name in names if found[name] is not None)}
    if None not in found.values():
        # A dotted name is a field of the attribute that StableHLO writes.
        ignored.update(attribute.mlir_name.partition(".")[0] for attribute in integers)
    if opcode == "custom-call":
        ignored -= _SPOKEN_IN_CUSTOM_CALLS
    windows, spoken = window_pair(operation)
    ignored |= spoken
    said = tuple((name, found[name] or ()) for name in names)
    texts = sorted(
        normalized
        for name, text in attributes.items()
        if name not in ignored and not _is_call(name, operation)
        for normalized in _normalized(operation, name, text)
    )
    if opcode != "custom-call" and (reverses := reversed_dimensions(operation.attribute("backend_config"))):
        texts.append(("output_reverse_dimensions", str(reverses)))
    texts = sorted([*texts, *windows, *_spoken_notes(operation)])
    return opcode_in_common(opcode), said, tuple(texts), _contents(operation), _written_shapes(operation)


def _spoken_notes(operation: Operation) -> list[Pair]:
    """Returns the frontend attributes that affect a value.

    For a custom call these are all but Relayout's own. For a transfer they name its devices, or the handler and channel
    of the host program.
    """
    is_call = operation.opcode == "custom-call"
    if not is_call and not has(operation.opcode, Trait.COMMUNICATES):
        return []
    notes = operation.frontend_attributes.items()
    if is_call:
        return [(f"frontend_attributes.{name}", text) for name, text in notes if not name.startswith(_OWN_NOTES)]
    return [(name, _without_space(text.strip('"'))) for name, text in notes if name.startswith(_OF_TRANSFERS)]


def elementwise_label(operation: Operation) -> Hashable:
    """Returns the opcode, or (compare, direction, is_total), or the whole key of an operation with other attributes."""
    key = key_of(operation)
    opcode, said, texts, contents, shapes = key
    if said or contents is not None or shapes is not None:
        return key
    if opcode == "compare":
        found = dict(texts)
        is_known = "direction" in found and found.keys() <= {"direction", "type"}
        return (opcode, found["direction"], "type" in found) if is_known else key
    return key if texts else opcode


def _is_call(name: str, operation: Operation) -> bool:
    """Is true for an attribute that names functions; functions are compared by content, not by name."""
    is_inlined = name in CALLING_MLIR_ATTRIBUTES and operation.opcode != "custom-call"
    return bool(operation.called) and (is_inlined or is_calling(name))


def _normalized(operation: Operation, name: str, text: str) -> list[tuple[str, str]]:
    is_compared = operation.opcode == "compare"
    if _RESOURCE in text:
        raise UndefinedError("what a resource holds is not in the text")
    if name in _PRECISIONS:
        levels = [word for word in _words(text) if word not in ("STABLEHLO", "PRECISION")]
        return [("precision", " ".join(levels))] if {*levels} - {"DEFAULT"} else []
    if is_compared and name in _DIRECTIONS:
        return [("direction", _words(text)[-1])]
    if is_compared and name in _COMPARE_TYPES:
        # The operands' type implies every comparison type but TOTALORDER.
        return [("type", _TOTAL_ORDER)] if _words(text)[-1] == _TOTAL_ORDER else []
    if is_compared and name == "order":
        # jaxlib's spelling since 0.12. Integers have but one order.
        is_total = text == "TOTAL" and array_shape(operation.operands[0]).element_type.is_floating
        return [("type", _TOTAL_ORDER)] if is_total else []
    return list(in_common(operation, name, text if '"' in text or " : " in text else _spelled(text)))


def _words(text: str) -> list[str]:
    return [word.upper() for word in _WORD.findall(text)]


def _spelled(text: str) -> str:
    return text if text.startswith("#stablehlo<") else _without_space(text)


def _without_space(text: str) -> str:
    return "".join(without_comments(text).split())


def _contents(operation: Operation) -> Hashable:
    """Returns the text between the parentheses of an HLO constant; in StableHLO it is an attribute."""
    literal = getattr(operation, "literal", None)
    if operation.opcode == "constant" and not literal and not operation.attributes.get("value"):
        raise UndefinedError("a constant is written in a way that is not read")
    if not isinstance(literal, str):
        return None
    if _ELIDED in literal:
        raise UndefinedError("a constant has lost its values")
    return _without_space(literal)


def _written_shapes(operation: Operation) -> Hashable:
    """Returns the layouts of a bitcast, which no attribute holds."""
    values = [*operation.results, *operation.operands]
    if operation.opcode == "bitcast":
        return tuple(str(value.shape) for value in values)
    if any(isinstance(value.shape, OpaqueShape) for value in values):
        raise UndefinedError(f"{operation.opcode} has types that XLA has no name for")
    return None


_NUMBER = re.compile(r"(-?[\d.]+(?:[eE][-+]?\d+)?)(?: : (\w+))?")
_HEXADECIMAL = re.compile(r"(0x[0-9A-Fa-f]{8}) : f32")
_ENUMERATION = re.compile(r"#stablehlo<\w+ (\w+)>")
_HANDLE = re.compile(r"handle\s*=\s*(\d+)")
_MATRIX = re.compile(r"tensor<(\d+)x(\d+)xi64>")
_GROUP = re.compile(r"\{([\d,\s]*)\}")
# HLO's name for each StableHLO attribute with another name, lists of integers excepted.
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
    """Returns HLO's opcode for a CHLO operation that HLO has, too; any other opcode unchanged."""
    name = opcode.removeprefix("chlo.").replace("_", "-")
    if opcode == "chlo.top_k":
        return "topk"
    return name if name != opcode and opcode_of(name).operand_count is not None else opcode


def window_pair(operation: Operation) -> tuple[list[Pair], frozenset[str]]:
    """Returns the window of an operation and the names of its attributes; empty without a window."""
    if operation.opcode not in _WINDOWS:
        return [], frozenset()
    shape = operation.operands[0].shape
    rank = shape.rank if isinstance(shape, ArrayShape) else 0
    return [("window", str(reduction_window(operation, rank)))], _WINDOW_NAMES


def in_common(operation: Operation, name: str, text: str) -> Iterator[Pair]:
    """Yields an attribute with HLO's name and a normal spelling of its value; nothing for a default value."""
    name = _NAMES.get(name, name)
    value = _SPELLED[name](operation, text) if name in _SPELLED else _value(text)
    if operation.opcode == "all-to-all" and _follows(operation, name, value):
        return
    if value in _DEFAULTS.get(name, ()) or (value == "false" and _is_flag(operation, name)):
        return
    yield name, value


def _follows(operation: Operation, name: str, value: str) -> bool:
    """Is true for the defaults of an all-to-all: it joins the split dimension, and has one part per device."""
    if name == "concat_dimension":
        return operation.ints("dimensions") == (int(value),)
    groups = _GROUP.findall(_groups(operation, operation.attribute("replica_groups") or ""))
    return name == "split_count" and bool(groups) and len(groups[0].split(",")) == int(value)


def _is_flag(operation: Operation, name: str) -> bool:
    known = opcode_of(operation.opcode).attribute(name)
    return known is not None and known.kind == "flag"


def _value(text: str) -> str:
    """Returns a number without its type, an enumeration's case, a text without quotes; other texts unchanged."""
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
    """Returns groups of devices in braces, such as {0,1},{2,3}; any other text unchanged."""
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
