"""What an operation's attributes say about its value, in the same words for both text dialects."""

from __future__ import annotations

import re
from collections.abc import Hashable

from dialect_utils.hlo.text.calls import is_calling
from dialect_utils.hlo.text.tokens import without_comments
from dialect_utils.ir import Operation, array_shape
from dialect_utils.layout import OpaqueShape
from dialect_utils.ops import (
    CALLING_MLIR_ATTRIBUTES,
    GENERAL_ATTRIBUTES,
    GENERAL_MLIR_ATTRIBUTES,
    Trait,
    has,
    opcode_of,
)
from dialect_utils.verdict.proof.attributes.vocabulary import in_common, opcode_in_common, window_pair
from dialect_utils.verdict.proof.terms import GaveUpError

# They say where a value is, on which device, where it comes from or when it is computed.
_SILENT = frozenset(attribute.name for attribute in (*GENERAL_ATTRIBUTES, *GENERAL_MLIR_ATTRIBUTES))
# For a custom call they may say what is computed.
_SPOKEN_IN_CUSTOM_CALLS = frozenset({"sharding", "mhlo.sharding", "sdy.sharding", "backend_config"})

_PRECISIONS = frozenset({"operand_precision", "precision_config"})
_DIRECTIONS = frozenset({"direction", "comparison_direction"})
_COMPARE_TYPES = frozenset({"type", "compare_type"})
_WORD = re.compile(r"[A-Za-z0-9_]+")
_ELIDED = "..."
_RESOURCE = "dense_resource"
_TOTAL_ORDER = "TOTALORDER"

_SIDE_EFFECTS = ("custom_call_has_side_effect", "has_side_effect")


def is_pure(operation: Operation) -> bool:
    """Is true for an operation whose results depend on its operands alone; others are kept in their order."""
    if operation.opcode == "custom-call":
        return not any(operation.attribute(name) == "true" for name in _SIDE_EFFECTS)
    return has(operation.opcode, Trait.PURE)


def is_among_devices(operation: Operation) -> bool:
    """Is true for an operation whose results depend on the number of devices."""
    return has(operation.opcode, Trait.AMONG_DEVICES)


def key_of(operation: Operation) -> tuple[str, tuple[Hashable, ...], tuple[tuple[str, str], ...], Hashable, Hashable]:
    """Returns all that an operation's attributes say about its value.

    Raises GaveUpError where they do not say it: elided constants, types without a name.
    """
    opcode, attributes = operation.opcode, operation.attributes
    integers = [attribute for attribute in opcode_of(opcode_in_common(opcode)).attributes if attribute.is_integers]
    names = [attribute.name for attribute in integers]
    found = {name: operation.ints(name) for name in names}
    # What cannot be read as integers counts as it is written.
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
    texts = sorted([*texts, *windows, *_notes_for_custom_calls(operation)])
    return opcode_in_common(opcode), said, tuple(texts), _contents(operation), _written_shapes(operation)


def _notes_for_custom_calls(operation: Operation) -> list[tuple[str, str]]:
    """Returns the frontend attributes of a custom call, which may say what is computed."""
    if operation.opcode != "custom-call":
        return []
    return [(f"frontend_attributes.{name}", text) for name, text in operation.frontend_attributes.items()]


def elementwise_label(operation: Operation) -> Hashable:
    """Returns an opcode where attributes say nothing more, a comparison's direction, else the whole key."""
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
    """Is true for an attribute that names functions, which count by what they do."""
    is_inlined = name in CALLING_MLIR_ATTRIBUTES and operation.opcode != "custom-call"
    return bool(operation.called) and (is_inlined or is_calling(name))


def _normalized(operation: Operation, name: str, text: str) -> list[tuple[str, str]]:
    is_compared = operation.opcode == "compare"
    if _RESOURCE in text:
        raise GaveUpError("what a resource holds is not in the text")
    if name in _PRECISIONS:
        levels = [word for word in _words(text) if word not in ("STABLEHLO", "PRECISION")]
        return [("precision", " ".join(levels))] if {*levels} - {"DEFAULT"} else []
    if is_compared and name in _DIRECTIONS:
        return [("direction", _words(text)[-1])]
    if is_compared and name in _COMPARE_TYPES:
        # All but this one follow from the operands' type.
        return [("type", _TOTAL_ORDER)] if _words(text)[-1] == _TOTAL_ORDER else []
    if is_compared and name == "order":
        # How jaxlib says it since 0.12. Integers have but one order.
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
    """Returns what an HLO constant holds between its parentheses; in StableHLO it is an attribute."""
    literal = getattr(operation, "literal", None)
    if operation.opcode == "constant" and not literal and not operation.attributes.get("value"):
        raise GaveUpError("a constant is written in a way that is not read")
    if not isinstance(literal, str):
        return None
    if _ELIDED in literal:
        raise GaveUpError("a constant has lost its values")
    return _without_space(literal)


def _written_shapes(operation: Operation) -> Hashable:
    """Returns what only the shapes' texts tell: the layouts of a bitcast."""
    values = [*operation.results, *operation.operands]
    if operation.opcode == "bitcast":
        return tuple(str(value.shape) for value in values)
    if any(isinstance(value.shape, OpaqueShape) for value in values):
        raise GaveUpError(f"{operation.opcode} has types that XLA has no name for")
    return None
