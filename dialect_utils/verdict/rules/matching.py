"""Matches expressions with the patterns of an equation.

The type of every node is bound or compared, so an expression of wrong types never matches.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from dialect_utils.layout import ArrayShape, ElementType, Shape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.verdict.rules.formats import word_bits
from dialect_utils.verdict.rules.pattern import Pattern, element_type


class Node(Protocol):
    """One node of an expression; equal expressions are one object."""

    @property
    def kind(self) -> str:
        """Returns the kind of node, such as `constant` or `each` (an elementwise operation)."""

    @property
    def label(self) -> Hashable:
        """Returns all that distinguishes the node besides its operands."""

    @property
    def shape(self) -> Shape:
        """Returns the shape of the value."""

    @property
    def operands(self: N) -> tuple[N, ...]:
        """Returns the operands."""


N = TypeVar("N", bound=Node)
# Words of patterns for fields of labels: whether the padding of a convolution is multiplied, and no attributes.
_WORDS: Mapping[str, Hashable] = {"padded": True, "skipped": False, "DEFAULT": ()}


def constant_bits(term: Node) -> int | None:
    """Returns the bits that all elements of a constant have, or None for anything else."""
    if term.kind == "splat":
        term = term.operands[0]
    return term.label if term.kind == "constant" and isinstance(term.label, int) else None


@dataclass(slots=True)
class Use(Generic[N]):
    """The bindings of an equation's names: types, expressions, constants, and fields of labels."""

    types: dict[str, ElementType] = field(default_factory=dict)
    values: dict[str, N] = field(default_factory=dict)
    constants: dict[str, int] = field(default_factory=dict)
    fields: dict[str, Hashable] = field(default_factory=dict)

    def matches(self, pattern: Pattern, term: N) -> bool:
        """Is true where an expression is an instance of a pattern; binds its names."""
        if not isinstance(term.shape, ArrayShape):
            return False
        kind = term.shape.element_type
        if (element_type(pattern.type, self.types) or self.types.setdefault(pattern.type, kind)) != kind:
            return False
        if pattern.kind == "variable":
            return self.values.setdefault(pattern.name, term) is term
        if pattern.kind == "each":
            return self.matches_operation(pattern, term)
        if pattern.kind == "whole":
            return self._matches_whole(pattern, term)
        if pattern.kind == "empty":
            return 0 in term.shape.dimensions
        bits = constant_bits(term)
        if pattern.kind == "number":
            return bits is not None and bits == word_bits(kind, pattern.name)
        return bits is not None and self.constants.setdefault(pattern.name, bits) == bits

    def matches_operation(self, pattern: Pattern, term: N) -> bool:
        """Is true where an expression is the operation of a pattern, on instances of the operands."""
        if term.kind != "each" or len(term.operands) != len(pattern.operands):
            return False
        return (
            term.label == pattern.label(self.types)
            and all(sizes_of(operand) == sizes_of(term) for operand in term.operands)
            and all(map(self.matches, pattern.operands, term.operands))
        )

    def _matches_whole(self, pattern: Pattern, term: N) -> bool:
        """Is true where an expression is the operation on whole arrays of a pattern, on instances of the operands."""
        head, *fields = _label_of(term)
        inner = pattern.operands[0]
        is_as_it_is = self.values.get(inner.name) is term if inner.kind == "variable" else head != "convert"
        if (pattern.name == "as" and is_as_it_is) or (pattern.name == "repeat" and sizes_of(term) == ()):
            return self.matches(inner, term)
        return (
            head == _HEADS.get(pattern.name, pattern.name)
            and self._matches_fields(pattern.fields, fields)
            and len(term.operands) == len(pattern.operands)
            and all(map(self.matches, pattern.operands, term.operands))
        )

    def _matches_fields(self, names: Sequence[str], fields: Sequence[Hashable]) -> bool:
        """Is true where a label has the fields of a pattern; binds the names of fields."""
        if names[-1:] == ("*",):
            fields = *fields[: len(names) - 1], tuple(fields[len(names) - 1 :])
        return len(names) == len(fields) and all(
            (self.fields.setdefault(name, each) if len(name) == 1 else _WORDS.get(name, name)) == each
            for name, each in zip(names, fields, strict=True)
        )


# Operations of patterns that terms name otherwise.
_HEADS = {"as": "convert", "repeat": "splat"}


def _label_of(term: Node) -> tuple[Hashable, ...]:
    """Returns the name of an operation on whole arrays and its fields; the names of the steps of movement."""
    if term.kind == "moved" and isinstance(term.label, Plan):
        return term.label.opcodes or (None,)
    if term.kind in ("each", "op") and isinstance(term.label, tuple):
        return term.label
    is_conversion = term.kind == "each" and term.label == "convert"
    return ("convert",) if is_conversion else (term.kind, *(() if term.label is None else (term.label,)))


def sizes_of(term: Node) -> tuple[int, ...] | None:
    """Returns the dimensions of an array, None for others."""
    return term.shape.dimensions if isinstance(term.shape, ArrayShape) else None
