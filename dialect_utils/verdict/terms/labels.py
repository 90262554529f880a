"""Attributes that affect the value of an operation, in one spelling for both dialects.

The declaration of an operation says which attributes it has, of which kind, what an absent one means, and why one does
not count. An attribute that it does not declare counts as written.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from dialect_utils.execution.custom_calls import IDENTITIES
from dialect_utils.hlo.text.attributes import reversed_dimensions
from dialect_utils.ir import Module, Operation, Value
from dialect_utils.layout import ArrayShape, ElementType, OpaqueShape
from dialect_utils.ops import ALL_OPERANDS, Attribute, Trait, attributes_of, has, named, opcode_of, split_asynchronous
from dialect_utils.ops.control import CALLS_OF_BYTES
from dialect_utils.ops.declaration import AttributeKind
from dialect_utils.ops.device_counts import devices_of
from dialect_utils.ops.domain import UndefinedError
from dialect_utils.ops.elementwise import computing_type
from dialect_utils.ops.sharding import device_text, try_groups, written_groups
from dialect_utils.ops.structured import reduction_window
from dialect_utils.text import without_comments

# Frontend attributes that name the ends of a transfer.
_OF_TRANSFERS = ("_xla_send_recv_source_target_pairs", "_xla_host_transfer_")
# The prefix of frontend attributes of Relayout's passes, which describe layouts only.
_OWN_NOTES = "relayout."

_WORD = re.compile(r"[A-Za-z0-9_]+")
_ELIDED = "..."
_RESOURCE = "dense_resource"
TOTAL_ORDER = "TOTALORDER"

# Operations that pass their elements to a computation.
_REDUCING = named("reduce reduce-window")
_SIDE_EFFECTS = ("custom_call_has_side_effect", "has_side_effect")


Pair = tuple[str, str]
# The opcode, integers, other attributes as texts, the contents of a constant, and shapes that no attribute holds.
Key = tuple[str, tuple[Hashable, ...], tuple[Pair, ...], Hashable, Hashable]
# The numbers of replicas and of partitions that run a module.
Devices = tuple[int, int] | None

_CONSTRAINT = "sdy.sharding_constraint"
# Conversions between a whole array and its shards: the shards of several partitions may hold terms of a sum.
_OF_SHARDS = frozenset({"SPMDFullToShardShape", "SPMDShardToFullShape"})


def returns_operand(operation: Operation, devices: Devices) -> bool:
    """Is true for an operation that returns its operand, and only tells the compiler where to store it."""
    if operation.opcode == _CONSTRAINT:
        return True
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
    """Returns the operands that affect the value; a static type of the result has the sizes that an operand gives."""
    sized_by = opcode_of(operation.opcode).sized_by
    shapes = [leaf for value in operation.results for leaf in value.shape.leaves()]
    is_static = all(isinstance(shape, ArrayShape) and shape.is_static for shape in shapes)
    return operation.operands[:sized_by] if is_static else operation.operands


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
    if len(results) != 1:
        return False
    return any(kind != results[0] for kind in _element_types(operation.operands[i] for i in typed_operands(operation)))


def typed_operands(operation: Operation) -> Sequence[int]:
    """Returns the positions of the operands whose element type is that of the result, but in an optimized dump."""
    typed = opcode_of(operation.opcode).typed
    return range(len(operation.operands)) if typed == ALL_OPERANDS else typed


def mixed_type(operation: Operation) -> ElementType | None:
    """Returns the type to which an operation on floats of several types converts them; None for other operations."""
    kinds = _element_types(operation.operands[index] for index in typed_operands(operation))
    results = _element_types(operation.results)
    if operation.called or not kinds or not all(each.is_floating for each in (*results, *kinds)):
        return None
    return computing_type(opcode_of(operation.opcode), results[0], kinds)


def _element_types(values: Iterable[Value]) -> list[ElementType]:
    return [array.element_type for value in values for array in value.shape.arrays()]


def is_among_devices(operation: Operation) -> bool:
    """Is true for an operation whose results depend on the number of devices."""
    return has(operation.opcode, Trait.AMONG_DEVICES)


def device_counts(module: Module) -> tuple[int, int]:
    """Returns the numbers of replicas and of partitions that run a module."""
    found = devices_of(module)
    return found.replicas, found.partitions


def has_undeclared(operation: Operation) -> bool:
    """Is true for an operation with an attribute that its declaration does not have."""
    return not attributes_of(operation.opcode).keys() >= {*operation.attribute_names}


def key_of(operation: Operation) -> Key:
    """Returns all attributes that affect an operation's value.

    Raises UndefinedError where the text does not tell them: elided constants, types without a name.
    """
    declared = attributes_of(operation.opcode)
    integers = dict.fromkeys(each for each in declared.values() if each.is_integers)
    found = {each: operation.ints(each.name) for each in integers}
    texts = {pair for name, text in operation.attributes.items() for pair in _pairs(operation, name, text, found)}
    if reverses := reversed_dimensions(operation.attribute("backend_config")):
        texts.add(("output_reverse_dimensions", str(reverses)))
    if operation.called and split_asynchronous(operation.opcode)[0] == "custom-call":
        # The roles of the functions that a custom call names.
        texts.add(("roles", " ".join(operation.roles)))
    said = tuple((each.name, values or ()) for each, values in found.items())
    return (
        opcode_in_common(operation.opcode),
        said,
        tuple(sorted(texts)),
        _contents(operation),
        _written_shapes(operation),
    )


def _pairs(
    operation: Operation, name: str, text: str, integers: Mapping[Attribute, tuple[int, ...] | None]
) -> list[Pair]:
    """Returns an attribute as written, with the name and value that both dialects share."""
    attribute = attributes_of(operation.opcode).get(name)
    if attribute is None:
        data = operation.string(name)
        return [(f"undeclared {name}", text if data is None else repr(data))]
    if attribute.unused or (attribute.names_computations and operation.called):
        return []
    if attribute.is_integers:
        # Of a structured attribute StableHLO writes all fields or none.
        is_read = all(integers[each] is not None for each in integers if name in each.written_names)
        return [] if is_read else [(name, text)]
    if attribute.kind == "notes":
        return _notes(operation)
    if _RESOURCE in text and operation.string(name) is None:
        raise UndefinedError("what a resource holds is not in the text")
    value = _READERS.get(attribute.kind, _plain)(operation, attribute, name)
    if value in attribute.meanings(operation):
        return []
    is_field = " " in attribute.mlir and name != attribute.name and attribute.kind == "text"
    shared = "type" if attribute.kind == "comparison" else attribute.name
    return [(shared, f"{name}={value}" if is_field else value)]


def _notes(operation: Operation) -> list[Pair]:
    """Returns the frontend attributes that affect a value.

    For a custom call these are all but Relayout's own. For a transfer they name its devices, or the handler and channel
    of the host program.
    """
    notes = operation.frontend_attributes.items()
    if has(operation.opcode, Trait.COMMUNICATES):
        return [(name, _tight(text.strip('"'))) for name, text in notes if name.startswith(_OF_TRANSFERS)]
    return [(f"frontend_attributes.{name}", text) for name, text in notes if not name.startswith(_OWN_NOTES)]


def elementwise_label(operation: Operation) -> Hashable:
    """Returns the opcode, or (compare, direction, is_total), or the whole key of an operation with other attributes.

    The opcode comes first in each of them.
    """
    key = key_of(operation)
    opcode, said, texts, contents, shapes = key
    if said or contents is not None or shapes is not None:
        return key
    if opcode == "compare":
        found = dict(texts)
        is_known = found.keys() - {"type"} == {"direction"} and found.get("type", TOTAL_ORDER) == TOTAL_ORDER
        return (opcode, found["direction"], "type" in found) if is_known else key
    return key if texts else opcode


def _contents(operation: Operation) -> Hashable:
    """Returns the text between the parentheses of an HLO constant; in StableHLO it is an attribute."""
    literal = getattr(operation, "literal", None)
    if operation.opcode == "constant" and not literal and not operation.attributes.get("value"):
        raise UndefinedError("a constant is written in a way that is not read")
    if not isinstance(literal, str):
        return None
    if _ELIDED in literal:
        raise UndefinedError("a constant has lost its values")
    return "".join(without_comments(literal).split())


def _written_shapes(operation: Operation) -> Hashable:
    """Returns the layouts that no attribute holds: of a bitcast, and of a custom call that reads and writes bytes."""
    values = [*operation.results, *operation.operands]
    if operation.opcode == "bitcast" or operation.callee in CALLS_OF_BYTES:
        return tuple(str(value.shape) for value in values)
    if operation.attribute("operand_layout_constraints") is not None:
        return tuple(str(value.shape.in_default_memory) for value in operation.results)
    if any(isinstance(value.shape, OpaqueShape) for value in values):
        raise UndefinedError(f"{operation.opcode} has types that XLA has no name for")
    return None


# Spaces that do not separate words.
_SPACE = re.compile(r"(?<!\w)\s+|\s+(?!\w)")
_NUMBER = re.compile(r"(-?[\d.]+(?:[eE][-+]?\d+)?)(?::(\w+))?")
_HEXADECIMAL = re.compile(r"(0x[0-9A-Fa-f]{8}):f32")
_HANDLE = re.compile(r"handle\s*=\s*(\d+)")


def opcode_in_common(opcode: str) -> str:
    """Returns HLO's opcode for a CHLO operation that HLO has, too; any other opcode unchanged."""
    name = opcode.removeprefix("chlo.").replace("_", "-")
    if opcode == "chlo.top_k":
        return "topk"
    return name if name != opcode and opcode_of(name).operand_count is not None else opcode


def _tight(text: str) -> str:
    """Returns a text without comments and the spaces that separate no words; a text with strings is unchanged."""
    return text if '"' in text else _SPACE.sub("", without_comments(text))


def _plain(operation: Operation, _: Attribute, name: str) -> str:
    return _tight(operation.attributes[name])


def _string(operation: Operation, _: Attribute, name: str) -> str:
    """Returns the bytes of a string as characters; a dictionary in its place is compared as text."""
    data = operation.string(name)
    return operation.attributes[name] if data is None else data.decode("latin-1")


def _words(text: str) -> list[str]:
    return [word.upper() for word in _WORD.findall(text)]


def _word(operation: Operation, attribute: Attribute, name: str) -> str:
    """Returns an enumeration's case, and `true` for a flag that is only present."""
    text = _plain(operation, attribute, name)
    if attribute.kind == "flag":
        return "true" if text == "unit" else text
    return (_words(text) or [text])[-1].removeprefix("RNG_")


def _precision(operation: Operation, attribute: Attribute, name: str) -> str:
    """Returns the precision of each operand, "" where all are DEFAULT."""
    words = _words(_plain(operation, attribute, name))
    levels = [word for word in words if word not in ("STABLEHLO", "CHLO", "PRECISION")]
    return " ".join(levels) if {*levels} - {"DEFAULT"} else ""


def _comparison(operation: Operation, attribute: Attribute, name: str) -> str:
    """Returns the type of a comparison, also in jaxlib's spelling since 0.12; integers have but one order."""
    word, implied = _words(_plain(operation, attribute, name))[-1], attribute.meanings(operation)[0]
    if word == "TOTAL":
        return TOTAL_ORDER if implied == "FLOAT" else implied
    return implied if word in ("NOTYPE", "PARTIAL") else word


def _number(operation: Operation, attribute: Attribute, name: str) -> str:
    """Returns a number without its type; both dialects print a float as a decimal that reads back to the same f32."""
    text = _plain(operation, attribute, name)
    bits, number = _HEXADECIMAL.fullmatch(text), _NUMBER.fullmatch(text)
    if bits is not None:
        return repr(struct.unpack("<f", int(bits[1], 16).to_bytes(4, "little"))[0])
    if number is None or number[1].lstrip("-").isdigit():
        return text if number is None else number[1]
    if number[2] not in (None, "f32"):
        return repr(float(number[1]))
    return repr(struct.unpack("<f", struct.pack("<f", float(number[1])))[0])


def _position(operation: Operation, attribute: Attribute, name: str) -> str:
    number = _number(operation, attribute, name)
    return str(attribute.values.index(number) + 1) if number in attribute.values else number


def _channel(operation: Operation, attribute: Attribute, name: str) -> str:
    found = _HANDLE.search(operation.attributes[name])
    return found[1] if found else _number(operation, attribute, name)


def _devices(operation: Operation, _: Attribute, name: str) -> str:
    """Returns lists of devices as {{0,1},{2,3}}; a notation that is not read stays as it is."""
    text = device_text(operation, name)
    groups = try_groups(text)
    return _tight(text) if groups is None else written_groups(groups)


def _window(operation: Operation, _: Attribute, __: str) -> str:
    shape = operation.operands[0].shape
    return str(reduction_window(operation, shape.rank if isinstance(shape, ArrayShape) else 0))


# How a value of each kind is read from an attribute of either dialect; a value of another kind is compared as text.
_READERS: Mapping[AttributeKind, Callable[[Operation, Attribute, str], str]] = {
    "channel": _channel,
    "comparison": _comparison,
    "devices": _devices,
    "flag": _word,
    "number": _number,
    "position": _position,
    "precision": _precision,
    "string": _string,
    "window": _window,
    "word": _word,
}
