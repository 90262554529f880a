"""Reads and writes the shapes in `(p: f32[3]) -> f32[3]` and `{(f32[3]{0})->f32[3]{0}}`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dialect_utils.hlo.text.grammar import read_shape_at, scan_shape
from dialect_utils.hlo.text.tokens import Scanner
from dialect_utils.layout import Shape, TupleShape
from dialect_utils.text import Source, Span


@dataclass(frozen=True, slots=True)
class Signature:
    """What a computation's header says: parameter names and shapes, and the result's shape."""

    names: tuple[str, ...]
    parameters: tuple[Shape, ...]
    result: Shape

    def without_layouts(self) -> Signature:
        """Returns the signature with no layouts, as XLA prints it."""
        return Signature(
            self.names, tuple(shape.without_layout for shape in self.parameters), self.result.without_layout
        )

    def __str__(self) -> str:
        pairs = zip(self.names, self.parameters, strict=True)
        return f"({', '.join(f'{name}: {shape}' for name, shape in pairs)}) -> {self.result}"


def parse_signature(source: Source, span: Span) -> Signature:
    """Returns the signature at a span of a source; raises DiagnosticError."""
    scanner = Scanner(source, span.start)
    scanner.expect("(", "before the parameters")
    names: list[str] = []
    shapes: list[Shape] = []
    while not scanner.take(")"):
        if names:
            scanner.expect(",", "between parameters")
        names.append(scanner.next().text)
        scanner.take(":")  # XLA's lexer passes over it
        shapes.append(_shape(scanner))
    scanner.expect("->", "after the parameters")
    return Signature(tuple(names), tuple(shapes), _shape(scanner))


def parse_entry_layout(source: Source, span: Span) -> tuple[tuple[Shape, ...], Shape]:
    """Returns parameter and result shapes of `{(a, b)->c}` at a span of a source."""
    scanner = Scanner(source, span.start)
    scanner.expect("{", "at the start of the entry layout")
    scanner.expect("(", "before the parameters' shapes")
    shapes: list[Shape] = []
    while not scanner.take(")"):
        if shapes:
            scanner.expect(",", "between shapes")
        shapes.append(_shape(scanner))
    scanner.expect("->", "after the parameters' shapes")
    result = _shape(scanner)
    scanner.expect("}", "at the end of the entry layout")
    return tuple(shapes), result


def format_entry_layout(parameters: Sequence[Shape], result: Shape) -> str:
    """Returns `{(a, b)->c}`, the inverse of `parse_entry_layout`."""
    return "{" + f"{TupleShape(tuple(parameters))}->{result}" + "}"


def follow(layout: Shape, old: Shape, new: Shape) -> Shape:
    """Returns the entry layout's shape after a value's shape changed from `old` to `new`.

    Arrays that did not change keep what the entry layout says of them, which may differ from
    the value's own layout.
    """
    if old == new:
        return layout
    if (
        isinstance(layout, TupleShape)
        and isinstance(old, TupleShape)
        and isinstance(new, TupleShape)
        and len(layout.elements) == len(old.elements) == len(new.elements)
    ):
        return TupleShape(tuple(map(follow, layout.elements, old.elements, new.elements)))
    return new


def _shape(scanner: Scanner) -> Shape:
    span = scan_shape(scanner)
    if span is None:
        scanner.fail(f"expected a shape, found {scanner.found()}")
    return read_shape_at(scanner.source, span)
