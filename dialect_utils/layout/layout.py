"""Tiles and layouts as values; the constructors validate everything that needs no shape.

Source: xla/layout.h, xla/layout.cc and, for checks that XLA makes only on protos,
LayoutUtil::ValidateLayout in xla/layout_util.cc.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import lru_cache

from dialect_utils.layout.element_type import CachedText, ElementType
from dialect_utils.text import Diagnostic, DiagnosticError, kind_of
from dialect_utils.text.html import html_table, html_text

# XLA stores `*` as INT64_MIN (Tile::kCombineDimension) and `d` as the next value (kMatchDimension).
COMBINE = -(2**63)
MATCH = -(2**63) + 1
INT64_MAX = 2**63 - 1

# XLA stores the memory space in 8 bits; its text parser reads S(128) as S(-128) and S(256) as none.
LARGEST_MEMORY_SPACE = 127

# XLA's MakeDescendingLayout writes 1, and XLA prints only other values.
DEFAULT_TAIL_PADDING_ALIGNMENT = 1


class LayoutFieldError(DiagnosticError):
    """The error of an invalid layout; names the field and the position in it.

    The parser maps `field` and `index` to a span of the text.
    """

    def __init__(self, field: str, index: int | None, message: str, hint: str | None = None) -> None:
        super().__init__(Diagnostic(message, hint=hint))
        self.field = field
        self.index = index
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True, repr=False)
class Tile(CachedText):
    """One tile: its dimensions, most major first; COMBINE prints as `*`, MATCH as `d`."""

    dimensions: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.dimensions:
            raise LayoutFieldError("tiles", None, "a tile needs at least one dimension", "drop the empty tile")
        for position, size in enumerate(self.dimensions):
            if size in (COMBINE, MATCH) or 0 < size <= INT64_MAX:
                continue
            hint = "write * to combine a dimension with the next more minor one" if size == -1 else None
            raise LayoutFieldError("tiles", position, f"tile dimension {size} must be positive", hint)
        if self.dimensions[-1] == COMBINE:
            raise LayoutFieldError(
                "tiles",
                len(self.dimensions) - 1,
                "the most minor tile dimension is *, but no more minor dimension is left to combine with",
                "give the last tile dimension a size",
            )

    def _format(self) -> str:
        names = {COMBINE: "*", MATCH: "d"}
        return "(" + ",".join(names.get(d, str(d)) for d in self.dimensions) + ")"


@dataclass(frozen=True, slots=True, repr=False)
class SplitConfig(CachedText):
    """Splits one dimension (counted most major first) at the given indices: `SC(dimension:i,j)`."""

    dimension: int
    split_indices: tuple[int, ...]

    def _format(self) -> str:
        return f"({self.dimension}:{','.join(map(str, self.split_indices))})"


class _Derived(CachedText):
    """Properties that are derived from a layout and computed once for each object."""

    __slots__ = ("_in_default_memory", "_is_default", "_is_descending")

    _in_default_memory: Layout
    _is_default: bool
    _is_descending: bool


@dataclass(frozen=True, slots=True, repr=False)
class Layout(_Derived):
    """The positions of an array's elements in memory; raises LayoutFieldError where a field is invalid in itself.

    `minor_to_major` lists dimensions, most minor first. `tail_padding_alignment_in_elements`
    is in elements, `element_size_in_bits` in bits (0: the type's own), `memory_space` a number
    (0: default), `dynamic_shape_metadata_prefix_bytes` in bytes.

    `padded_dimensions` (logical order, in elements; None: absent) and `padding_value` are the
    legacy fields 2 and 3 of LayoutProto: they have no text form.

    >>> layout = relayout.parse_shape("f32[3,5]{0,1:T(2,2)S(1)}").layout
    >>> layout, layout.major_to_minor, layout.memory_space
    ({0,1:T(2,2)S(1)}, (1, 0), 1)
    >>> layout.replace(memory_space=0) == relayout.Layout((0, 1), tiles=layout.tiles)
    True
    """

    minor_to_major: tuple[int, ...]
    tiles: tuple[Tile, ...] = ()
    tail_padding_alignment_in_elements: int = DEFAULT_TAIL_PADDING_ALIGNMENT
    index_primitive_type: ElementType | None = None
    pointer_primitive_type: ElementType | None = None
    element_size_in_bits: int = 0
    memory_space: int = 0
    split_configs: tuple[SplitConfig, ...] = ()
    dynamic_shape_metadata_prefix_bytes: int = 0
    padded_dimensions: tuple[int, ...] | None = None
    padding_value: float | None = None

    def __post_init__(self) -> None:
        _check_permutation(self.minor_to_major)
        if not all(isinstance(tile, Tile) for tile in self.tiles):
            raise TypeError("tiles are values of their own: tiles=(Tile((8, 128)),), or parse_layout('{1,0:T(8,128)}')")
        if not 1 <= self.tail_padding_alignment_in_elements <= INT64_MAX:
            value = self.tail_padding_alignment_in_elements
            raise LayoutFieldError(
                "tail_padding_alignment_in_elements", 0, f"tail padding alignment L({value}) must be positive"
            )
        for field, name in (("index_primitive_type", "#"), ("pointer_primitive_type", "*")):
            found: ElementType | None = getattr(self, field)
            if found is not None and not found.is_unsigned:
                raise LayoutFieldError(field, 0, f"{name}({found}) must be an unsigned integer type", "write u32")
        for field, name, most in (
            ("element_size_in_bits", "E", INT64_MAX),
            ("memory_space", "S", LARGEST_MEMORY_SPACE),
            ("dynamic_shape_metadata_prefix_bytes", "M", INT64_MAX),
        ):
            value = getattr(self, field)
            if value < 0:
                raise LayoutFieldError(field, 0, f"{name}({value}) must not be negative")
            if value > most:
                raise LayoutFieldError(field, 0, f"{name}({value}) is greater than {most}, the most that XLA stores")
        self._check_splits()
        padded = self.padded_dimensions
        if padded is not None and len(padded) != len(self.minor_to_major):
            message = f"padded_dimensions has {len(padded)} entries, but the rank is {len(self.minor_to_major)}"
            raise LayoutFieldError("padded_dimensions", None, message)

    def _check_splits(self) -> None:
        rank = len(self.minor_to_major)
        seen: set[int] = set()
        for index, split in enumerate(self.split_configs):
            if not 0 <= split.dimension < rank:
                message = f"split config names physical dimension {split.dimension}, but the rank is {rank}"
                raise LayoutFieldError("split_configs", index, message)
            if split.dimension in seen:
                raise LayoutFieldError(
                    "split_configs", index, f"split configs repeat physical dimension {split.dimension}"
                )
            seen.add(split.dimension)
            ordered = all(a < b for a, b in zip(split.split_indices, split.split_indices[1:], strict=False))
            if not ordered or (split.split_indices and split.split_indices[0] < 0):
                message = f"split indices {split} must not be negative and must increase"
                raise LayoutFieldError("split_configs", index, message)

    @classmethod
    def descending(cls, rank: int, *, memory_space: int = 0) -> Layout:
        """Returns the default layout of a rank: the last dimension is the most minor."""
        return _descending(rank, memory_space)

    @property
    def is_descending(self) -> bool:
        """Is true where minor_to_major is the descending order, whatever the other fields are."""
        try:
            return self._is_descending
        except AttributeError:
            descending = _descending(len(self.minor_to_major), 0)
            object.__setattr__(self, "_is_descending", self.minor_to_major == descending.minor_to_major)
            return self._is_descending

    @property
    def is_default(self) -> bool:
        """Is true where minor_to_major is the descending order and every other field has its default."""
        try:
            return self._is_default
        except AttributeError:
            object.__setattr__(self, "_is_default", self == Layout.descending(len(self.minor_to_major)))
            return self._is_default

    @property
    def in_default_memory(self) -> Layout:
        """Returns the layout in memory space 0."""
        if not self.memory_space:
            return self
        try:
            return self._in_default_memory
        except AttributeError:
            object.__setattr__(self, "_in_default_memory", self.replace(memory_space=0))
            return self._in_default_memory

    @property
    def major_to_minor(self) -> tuple[int, ...]:
        """Returns the logical dimensions in physical order, most major first."""
        return self.minor_to_major[::-1]

    def replace(self, **changes: object) -> Layout:
        """Returns the layout with some fields changed; validates like the constructor."""
        return replace(self, **changes)  # type: ignore[arg-type]  # names and types are checked on construction

    def _repr_html_(self) -> str:
        """Returns the HTML for notebooks: the text, and a row for each field that differs from its default."""
        rows = [("most major first", " > ".join(f"dim {dim}" for dim in self.major_to_minor) or "a scalar")]
        for field in fields(self)[1:]:
            value = getattr(self, field.name)
            if value != field.default:
                shown = "".join(map(str, value)) if field.name in ("tiles", "split_configs") else str(value)
                rows.append((field.name.replace("_", " "), shown))
        return f"<code>{html_text(str(self))}</code>{html_table(('', ''), rows)}"

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            object.__setattr__(
                self, "_hash", hash((self.minor_to_major, self.tiles, self.element_size_in_bits, self.memory_space))
            )
            return self._hash

    def _format(self) -> str:
        parts = []
        if self.tiles:
            parts.append("T" + "".join(map(str, self.tiles)))
        if self.tail_padding_alignment_in_elements != DEFAULT_TAIL_PADDING_ALIGNMENT:
            parts.append(f"L({self.tail_padding_alignment_in_elements})")
        if self.index_primitive_type is not None:
            parts.append(f"#({self.index_primitive_type})")
        if self.pointer_primitive_type is not None:
            parts.append(f"*({self.pointer_primitive_type})")
        if self.element_size_in_bits:
            parts.append(f"E({self.element_size_in_bits})")
        if self.memory_space:
            parts.append(f"S({self.memory_space})")
        if self.split_configs:
            parts.append("SC" + "".join(map(str, self.split_configs)))
        if self.dynamic_shape_metadata_prefix_bytes:
            parts.append(f"M({self.dynamic_shape_metadata_prefix_bytes})")
        order = ",".join(map(str, self.minor_to_major))
        return "{" + order + (":" + "".join(parts) if parts else "") + "}"


@lru_cache(maxsize=1024)
def _descending(rank: int, memory_space: int) -> Layout:
    return Layout(tuple(range(rank - 1, -1, -1)), memory_space=memory_space)


def _check_permutation(minor_to_major: tuple[int, ...]) -> None:
    if not isinstance(minor_to_major, tuple):
        raise TypeError(f"minor_to_major is a tuple of dimensions such as (1, 0), not {kind_of(minor_to_major)}")
    rank = len(minor_to_major)
    seen: set[int] = set()
    text = "{" + ",".join(map(str, minor_to_major)) + "}"
    for index, dim in enumerate(minor_to_major):
        if not 0 <= dim < rank:
            message = f"minor_to_major {text} names dimension {dim}, but the rank is {rank}"
            raise LayoutFieldError("minor_to_major", index, message, f"use each of 0 to {rank - 1} once")
        if dim in seen:
            raise LayoutFieldError("minor_to_major", index, f"minor_to_major {text} repeats dimension {dim}")
        seen.add(dim)
