"""Operations that observe the bits of a NaN, and operations whose result jumps by a rounding error."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from dialect_utils.execution.custom_calls import IDENTITIES, is_lapack
from dialect_utils.hlo.text.literals import FLOAT_FORMATS
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, Shape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops import SOLVED, Trait, has, opcode_of, with_trait
from dialect_utils.verdict.rules.formats import has as has_property

# Operations whose results jump when a float operand changes by a rounding error, such as `floor`.
_JUMPS = with_trait(Trait.JUMPS)
_WITHOUT_NAN = {name for name in FLOAT_FORMATS if not has_property(ELEMENT_TYPES[name], "nan")}
# Terms of a part of the bits of an element, and of an element of several parts.
_BITS = frozenset({"part", "joined"})
_COMPARED = len(("opcode", "direction", "order"))
# Functions of complex numbers that jump at a branch cut.
_CUT = with_trait(Trait.CUT)
# Operations without primitives whose results are continuous in their operands.
_SMOOTH = SOLVED | with_trait(Trait.COLLECTIVE)


def observes_bits(kind: str, label: Hashable, shape: Shape, types: Sequence[Shape]) -> bool:
    """Is true for a term whose value depends on the sign or payload of a NaN in an operand."""
    if not any(shape.is_inexact for shape in types):
        return False
    match label:
        case Plan():
            return label.regroups_bits
        case ((str(opcode), *_) as key, *_) if kind == "op":
            # Operations with a definition ignore the bits of a NaN, and so do LAPACK and calls that mark a value.
            is_known = opcode_of(opcode).define is not None or has(opcode, Trait.AMONG_DEVICES)
            return _reads_bits(opcode, key, shape) or not (
                is_known or _is_marker(key) or any(map(is_lapack, _targets(key)))
            )
        case str(opcode) | (str(opcode), *_) if kind == "each":
            return _reads_bits(opcode, label, shape)
    return False


def _reads_bits(opcode: str, label: Any, shape: Shape) -> bool:
    """Is true for an operation, elementwise or not, that reads the bits of a NaN."""
    if opcode == "compare":
        # The whole key of a comparison has the types that its operands do not imply.
        return label[2] is True if len(label) == _COMPARED else any(name == "type" for name, _ in label[2])
    if opcode == "convert":
        # A NaN becomes a zero of its sign in a float without NaN.
        return any(array.element_type.name in _WITHOUT_NAN for array in shape.arrays())
    return opcode in _BITS or has(opcode, Trait.READS_BITS)


def observes_rounding(kind: str, label: Hashable, shape: Shape, types: Sequence[Shape]) -> bool:
    """Is true for a term whose value jumps where an operand changes by a rounding error."""
    if not any(shape.is_inexact for shape in types):
        return False
    match label:
        case ((str(opcode), *_) as key, *_) if kind == "op":
            return opcode not in _SMOOTH and not _is_marker(key)
        case str(opcode) | (str(opcode), *_) if kind == "each":
            # A result that is no float has no values between two others.
            is_complex = isinstance(shape, ArrayShape) and shape.element_type.is_complex
            if not shape.is_inexact or opcode in _JUMPS or (is_complex and opcode in _CUT):
                return True
    return observes_bits(kind, label, shape, types)


def _is_marker(key: Any) -> bool:
    """Is true for the label of a custom call that only marks a value, and for StableHLO's own checks."""
    return any(text in IDENTITIES or text.startswith("check.") for text in _targets(key))


def _targets(key: Any) -> list[str]:
    """Returns the target of a custom call in its label, none for other operations."""
    return [text for name, text in key[2] if name == "custom_call_target"]
