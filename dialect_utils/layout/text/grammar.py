"""Parses the text of shapes and layouts; every error carries the span of the invalid text.

Grammar: xla/hlo/parser/hlo_parser.cc (ParseShape, ParseLayout). White space, `/*...*/` and `// ...`
may be between any two tokens. XLA's parser checks values only when a proto is loaded; here an
invalid value is an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NoReturn

from dialect_utils.layout.element_type import ELEMENT_TYPES, ElementType
from dialect_utils.layout.layout import COMBINE, MATCH, Layout, LayoutFieldError, SplitConfig, Tile
from dialect_utils.layout.shape import UNBOUNDED, ArrayShape, BufferShape, OpaqueShape, Shape, TokenShape, TupleShape
from dialect_utils.layout.text.scanner import Scanner
from dialect_utils.text import Diagnostic, Location, Severity, Source, Span, nearest

# XLA's parser recurses without a bound and overflows the stack; real tuples nest a few levels deep.
_MAX_NESTING = 200
# The state of the largest training loops has a few thousand arrays; one line of nested tuples can hold 2^17.
_MOST_LEAVES = 1 << 14
_LIKE_THIS = "a shape begins with its element type: f32[3,5]"
# Names for which the nearest of XLA's names would be a wrong hint.
_OTHER_TYPES = {"float": "f32", "double": "f64", "half": "f16"} | dict.fromkeys(
    ("tensor", "memref", "vector"), "tensor<3x5xf32>"
)
_EXAMPLES = "T(8,128) L(1024) #(u32) *(u32) E(4) S(1) SC(0:1) M(8)"
_PARTS = ("D", "T", "L", "#", "*", "E", "S", "SC", "P", "M")

# Hints at what people write after a shape.
_AFTER = {
    ":": "tiles are part of a layout: f32[3,5]{1,0:T(8,128)}",
    "{": "a layout begins with minor_to_major, the most minor dimension first: f32[3,5]{1,0:T(8,128)}",
    ",": "several shapes are several arguments, or a tuple: (f32[3,5], s32[])",
}

# The span of each field that was read, or of one entry of it.
_Spans = dict[tuple[str, int | None], Span]


class ShapeParser(Scanner):
    """A parser of shapes from one source; `typed` accepts the deviations from the grammar that people type."""

    def __init__(self, source: Source, *, typed: bool = False) -> None:
        super().__init__(source)
        self.typed = typed
        self.notes: list[Diagnostic] = []
        self._leaves = 0

    def _tell(self, severity: Severity, message: str, span: Span, hint: str | None = None) -> None:
        self.notes.append(Diagnostic(message, Location(self.source, span), severity, hint))

    # Shapes

    def whole_shape(self) -> Shape:
        """Reads a shape that must be all of the text."""
        shape = self.shape()
        self._end("the shape")
        return shape

    def whole_layout(self) -> Layout:
        """Reads a layout that must be all of the text."""
        layout = self.layout()
        self._end("the layout")
        return layout

    def _end(self, part: str) -> None:
        if self.kind != "end":
            self._fail(f"unexpected {self._found()} after {part}", hint=_AFTER.get(self.value))

    def shape(self, depth: int = 0) -> Shape:
        """Reads one shape and leaves `position` after it."""
        if depth > _MAX_NESTING:
            self._fail(f"shapes nest deeper than {_MAX_NESTING}")
        if self._take("("):
            return self._tuple(depth)
        start = self.span
        if self.kind != "name":
            self._fail(f"expected a shape, found {self._found()}", hint=_LIKE_THIS if self.typed else None)
        name = self._next()
        if name == "b" and self._at("("):
            return self._buffer(depth)
        if name in ("token", "opaque"):
            return self._bare(name, start)
        element_type = self._element_type(name, start)
        self._expect("[", f"after {name}", f"{name}[3,5] is an array, {name}[] a scalar")
        dims = self._dimensions()
        layout, spans = self._try_layout(rank=len(dims))
        if not dims and layout is not None and layout.is_default:
            # XLA prints no braces here, so `f32[]{:}` and `f32[]` are one shape.
            layout = None
        dynamic = tuple(d for _, d in dims)
        try:
            return ArrayShape(element_type, tuple(size for size, _ in dims), layout, dynamic)
        except LayoutFieldError as error:
            self._fail_at_field(error, spans, Span(start.start, self.position))

    def _tuple(self, depth: int) -> TupleShape:
        elements: list[Shape] = []
        while not self._take(")"):
            if elements:
                self._expect(",", "between tuple elements")
            elements.append(self.shape(depth + 1))
            self._leaves += not isinstance(elements[-1], TupleShape)
            if self._leaves > _MOST_LEAVES:
                self._fail(f"a tuple of more than {_MOST_LEAVES} arrays")
        if depth == 0:
            self._leaves = 0
        return TupleShape(tuple(elements))

    def _buffer(self, depth: int) -> BufferShape:
        self._expect("(", "after b")
        start = self.span
        array = self.shape(depth + 1)
        if not isinstance(array, ArrayShape):
            self._fail(f"a buffer holds an array, not {array}", Span(start.start, self.position))
        self._expect(")", "after the buffer's shape")
        return BufferShape(array)

    def _bare(self, name: str, start: Span) -> Shape:
        self._expect("[", f"after {name}")
        if not self._take("]"):
            self._fail(f"{name} has no dimensions", hint=f"write {name}[]")
        layout, _ = self._try_layout(rank=0)
        if layout is not None:
            self._fail(f"{name} has no layout", Span(start.start, self.position))
        return TokenShape() if name == "token" else OpaqueShape()

    def _element_type(self, name: str, span: Span) -> ElementType:
        found = ELEMENT_TYPES.get(name)
        if found is not None:
            return found
        lower = ELEMENT_TYPES.get(name.lower())
        if lower is not None and self.typed:
            self._tell("note", f"read {name} as {lower}: XLA writes element types in lower case", span)
            return lower
        known = _OTHER_TYPES.get(name) or lower or nearest(name.lower(), ELEMENT_TYPES)
        if known is None:
            # `f8` is a prefix of several names, `torch` of no name.
            longer = ", ".join(each for each in ELEMENT_TYPES if each.startswith(name.lower()))
            self._fail(f"unknown element type {name!r}", span, f"one of {longer}" if longer else _LIKE_THIS)
        self._fail(f"unknown element type {name!r}", span, f"write {known}")

    def _dimensions(self) -> list[tuple[int, bool]]:
        dims: list[tuple[int, bool]] = []
        if self._take("]"):
            return dims
        while True:
            dims.append(self._dimension())
            if self._take("]"):
                return dims
            self._expect(",", "or ']' in the dimensions", "dimensions are separated by commas and end with ]")

    def _dimension(self) -> tuple[int, bool]:
        if self._take("?"):
            return UNBOUNDED, True
        dynamic = self._take("<=")
        span = self.span
        size = self._integer("a dimension")
        if size < 0:
            self._fail(f"a dimension must not be negative, found {size}", span)
        return size, dynamic

    # Layouts

    def _try_layout(self, rank: int) -> tuple[Layout | None, _Spans]:
        """Reads a layout if the text has one here: `{` followed by an int or `:`."""
        return self._layout(rank) if self._at("{") and self._following() in ("int", ":") else (None, {})

    def layout(self) -> Layout:
        """Reads one layout; minor_to_major gives the rank."""
        return self._layout(None)[0]

    def _layout(self, rank: int | None) -> tuple[Layout, _Spans]:
        start = self.span
        spans: _Spans = {}
        self._expect("{", "at the start of a layout")
        minor_to_major = self._minor_to_major(spans)
        if rank is not None and len(minor_to_major) != rank:
            span = spans.get(("minor_to_major", None), start)
            hint = f"use each of 0 to {rank - 1} once" if rank else "a scalar has nothing to order"
            self._fail(f"minor_to_major orders {len(minor_to_major)} dimensions, but the rank is {rank}", span, hint)
        fields: dict[str, object] = {"minor_to_major": minor_to_major}
        if self._take(":"):
            self._parts(fields, spans)
        if not self._at("}"):
            self._fail_in_layout()
        self._next()
        try:
            return Layout(**fields), spans  # type: ignore[arg-type]  # built field by field
        except LayoutFieldError as error:
            self._fail_at_field(error, spans, Span(start.start, self.position))

    def _minor_to_major(self, spans: _Spans) -> tuple[int, ...]:
        dims: list[int] = []
        start = self.span
        while self.kind == "int":
            spans["minor_to_major", len(dims)] = self.span
            dims.append(self._integer("a dimension number"))
            if not self._take(","):
                break
            if self.kind != "int":
                hint = "a colon comes before parts such as T(8,128)" if self.kind == "name" else "drop the comma"
                self._fail(f"expected a dimension number after the comma, found {self._found()}", hint=hint)
        if dims:
            spans["minor_to_major", None] = Span(start.start, self.position)
        return tuple(dims)

    def _parts(self, fields: dict[str, object], spans: _Spans) -> None:
        readers: dict[str, Callable[[dict[str, object], _Spans], None]] = {
            "D": self._dim_level_types,
            "T": self._tiles,
            "SC": self._split_configs,
        }
        done = -1
        if self.typed and self._at("("):
            self._tell("warning", "read the tile without T as the first documents write it", self.span, "write T(...)")
            self._tiles(fields, spans, named=False)
            done = _PARTS.index("T")
        while self.value in _PARTS and self.kind in ("name", "mark"):
            rank = _PARTS.index(self.value)
            if rank <= done:
                problem = "occurs twice" if rank == done else f"must come before {_PARTS[done]}"
                self._fail(f"layout part {self.value} {problem}", hint=f"the order is {_EXAMPLES}")
            done = rank
            if self.value == "P":
                self._fail("P(...) belonged to sparse arrays, which XLA removed", hint="drop it")
            readers.get(self.value, self._single)(fields, spans)

    def _fail_in_layout(self) -> NoReturn:
        if self.kind == "end":
            self._fail("the layout does not end", hint="add }")
        if self._at("("):
            self._fail("a tile without T is the notation of old documents", hint="write T(...)")
        short = re.fullmatch(r"([TLESM])(\d+)", self.value)
        hint = f"parts come in this order: {_EXAMPLES}"
        if short is not None or self.kind == "int":
            hint = f"write {short[1]}({short[2]})" if short is not None else "write T(8,128)"
        elif self._at(","):
            hint = "parts follow each other without commas: T(8,128)(2,1)S(1)"
        self._fail(f"expected a layout part or '}}', found {self._found()}", hint=hint)

    def _dim_level_types(self, fields: dict[str, object], spans: _Spans) -> None:
        start = self.span
        self._next()
        self._expect("(", "after D")
        levels = 0
        while not self._take(")"):
            if levels:
                self._expect(",", "between dim level types")
            if self.kind != "name" or self.value not in ("D", "C", "S", "H"):
                self._fail(f"expected a dim level type, found {self._found()}", hint="one of D, C, S, H")
            self._next()
            while self._at("+") or self._at("~"):
                self._next()
            levels += 1
        span = Span(start.start, self.position)
        self._tell("warning", "D(...) belonged to sparse arrays, which XLA removed: dropped", span)

    def _tiles(self, fields: dict[str, object], spans: _Spans, *, named: bool = True) -> None:
        if named:
            self._next()
        tiles = []
        if not self._at("("):
            self._fail(f"expected '(' after T, found {self._found()}", hint="write T(8,128)")
        while self._at("("):
            tiles.append(self._tile())
        fields["tiles"] = tuple(tiles)

    def _tile(self) -> Tile:
        start = self.span
        self._next()
        sizes: list[int] = []
        spans: list[Span] = []
        while not self._at(")"):
            if sizes:
                self._expect(",", "or ')' in a tile")
            spans.append(self.span)
            sizes.append(self._tile_dimension())
        self._next()
        try:
            return Tile(tuple(sizes))
        except LayoutFieldError as error:
            span = Span(start.start, self.position) if error.index is None else spans[error.index]
            self._fail(error.message, span, error.hint)

    def _tile_dimension(self) -> int:
        if self._take("*"):
            return COMBINE
        if self.kind == "name" and self.value == "d":
            self._next()
            return MATCH
        return self._integer("a tile dimension")

    def _split_configs(self, fields: dict[str, object], spans: _Spans) -> None:
        self._next()
        configs: list[SplitConfig] = []
        if not self._at("("):
            self._fail(f"expected '(' after SC, found {self._found()}")
        while self._at("("):
            start = self.span
            self._next()
            dimension = self._integer("a dimension number")
            self._expect(":", "after the split dimension")
            indices: list[int] = []
            while not self._at(")"):
                if indices:
                    self._expect(",", "or ')' in split indices")
                indices.append(self._integer("a split index"))
            self._next()
            spans["split_configs", len(configs)] = Span(start.start, self.position)
            configs.append(SplitConfig(dimension, tuple(indices)))
        fields["split_configs"] = tuple(configs)

    def _single(self, fields: dict[str, object], spans: _Spans) -> None:
        """Reads a part that holds one number or type: L # * E S M."""
        name = self._next()
        field = _SINGLE_FIELDS[name]
        self._expect("(", f"after {name}")
        spans[field, 0] = self.span
        if name in "#*":
            span = self.span
            type_name = self._next() if self.kind == "name" else ""
            fields[field] = self._element_type(type_name, span)
        else:
            fields[field] = self._integer(f"the value of {name}")
        self._expect(")", f"after the value of {name}")

    def _fail_at_field(self, error: LayoutFieldError, spans: _Spans, whole: Span) -> NoReturn:
        span = spans.get((error.field, error.index)) or spans.get((error.field, None)) or whole
        self._fail(error.message, span, error.hint)


_SINGLE_FIELDS = {
    "L": "tail_padding_alignment_in_elements",
    "#": "index_primitive_type",
    "*": "pointer_primitive_type",
    "E": "element_size_in_bits",
    "S": "memory_space",
    "M": "dynamic_shape_metadata_prefix_bytes",
}
