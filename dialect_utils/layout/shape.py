"""Shapes as values: arrays with or without a layout, tuples, tokens, opaque values, buffers.

Source: xla/shape.h; `b(...)` buffers are Shape::MakeBufferShape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import ClassVar, NoReturn, cast

from dialect_utils.layout.element_type import CachedText, ElementType
from dialect_utils.layout.layout import Layout, LayoutFieldError

# The size of an unbounded dynamic dimension, printed `?`.
UNBOUNDED = -1


class _AnyShape(CachedText):
    """The interface of all shapes; a shape that is not a tuple has one leaf, itself."""

    __slots__ = ()

    # Shows a shape in a notebook; the package sets it, because drawings import shapes.
    drawer: ClassVar[Callable[[Shape], str]]

    def _repr_html_(self) -> str:
        """Returns the HTML for notebooks: a table of the arrays, and their drawings."""
        return _AnyShape.drawer(cast("Shape", self))

    def leaves(self) -> Iterator[Shape]:
        """Yields the shapes in this one, tuples flattened in order; tokens and opaque values are leaves."""
        yield cast("Shape", self)

    def arrays(self) -> Iterator[ArrayShape]:
        """Yields the arrays in the shape, in order, including arrays in buffers."""
        for leaf in self.leaves():
            if isinstance(leaf, ArrayShape):
                yield leaf
            elif isinstance(leaf, BufferShape):
                yield leaf.array

    def leaves_by_path(self, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Shape]]:
        """Yields each leaf with its index path, which begins with `path`: `(1, 0)` is element 0 of element 1."""
        yield path, cast("Shape", self)

    def at(self, path: Iterable[int]) -> Shape:
        """Returns the part at an index path; raises IndexError for a path that leads into no tuple."""
        shape = cast("Shape", self)
        for index in path:
            shape = shape.elements[index] if isinstance(shape, TupleShape) else ()[index]
        return shape

    @property
    def parts(self) -> tuple[Shape, ...]:
        """Returns the elements of a tuple; any other shape is its own only part."""
        return (cast("Shape", self),)

    @property
    def leaf_count(self) -> int:
        """Returns the number of leaves."""
        return 1

    @property
    def element_count(self) -> int:
        """Returns the number of elements in all arrays (bounds count as sizes)."""
        return sum(array.element_count for array in self.arrays())

    @property
    def is_inexact(self) -> bool:
        """Is true where an array has a floating-point or complex type."""
        return any(array.element_type.is_inexact for array in self.arrays())

    def map_arrays(self, change: Callable[[ArrayShape], ArrayShape]) -> Shape:
        """Returns the shape with every array replaced by `change(array)`, tuples kept."""
        return cast("Shape", self)

    @property
    def without_layout(self) -> Shape:
        """Returns the shape with no layout written for any array."""
        return self.map_arrays(lambda array: array.without_layout)

    @property
    def with_effective_layout(self) -> Shape:
        """Returns the shape with every layout written: the descending one for an array without a layout."""
        return self.map_arrays(lambda array: array.with_effective_layout)

    @property
    def in_default_memory(self) -> Shape:
        """Returns the shape with every layout written, in memory space 0."""
        return self.map_arrays(lambda array: array.in_default_memory)


class _WithoutLayout(_AnyShape):
    """The interface of shapes that are no arrays."""

    __slots__ = ()

    @property
    def layout(self) -> NoReturn:
        """Raises AttributeError that names the arrays."""
        inside = [str(array) for array in self.arrays()]
        hint = f"its arrays have one: shape.arrays() yields {', '.join(inside)}" if inside else "only arrays have one"
        raise AttributeError(f"{self} has no layout of its own; {hint}")


@dataclass(frozen=True, slots=True, repr=False)
class ArrayShape(_AnyShape):
    """An array's element type, dimensions (in elements) and layout.

    `dynamic` marks, per dimension, a size that is only a bound (`<=N`) or unbounded (`?`,
    size UNBOUNDED); an empty tuple marks no dimension. A layout of None was not written and means
    the descending one. Raises LayoutFieldError where the layout does not fit.
    """

    element_type: ElementType
    dimensions: tuple[int, ...]
    layout: Layout | None = None
    dynamic: tuple[bool, ...] = ()

    def __post_init__(self) -> None:
        if not any(self.dynamic):
            object.__setattr__(self, "dynamic", ())
        elif len(self.dynamic) != len(self.dimensions):
            message = f"dynamic has {len(self.dynamic)} entries, but the rank is {self.rank}"
            raise LayoutFieldError("dynamic", None, message)
        for index, size in enumerate(self.dimensions):
            if size >= 0 or (size == UNBOUNDED and self.is_dynamic_dimension(index)):
                continue
            raise LayoutFieldError("dimensions", index, f"dimension {index} has the negative size {size}")
        if self.layout is not None:
            self._check_layout(self.layout)

    def _check_layout(self, layout: Layout) -> None:
        if len(layout.minor_to_major) != self.rank:
            message = f"layout {layout} orders {len(layout.minor_to_major)} dimensions, but the rank is {self.rank}"
            raise LayoutFieldError("minor_to_major", None, message)
        if layout.padded_dimensions is not None:
            for index, (size, padded) in enumerate(zip(self.dimensions, layout.padded_dimensions, strict=True)):
                if padded < size:
                    message = f"padded_dimensions pads dimension {index} to {padded}, but its size is {size}"
                    raise LayoutFieldError("padded_dimensions", index, message)
        for index, split in enumerate(layout.split_configs):
            size = self.dimensions[layout.major_to_minor[split.dimension]]
            if split.split_indices and size != UNBOUNDED and split.split_indices[-1] >= max(size, 1):
                message = f"split index {split.split_indices[-1]} is outside dimension {split.dimension} of size {size}"
                raise LayoutFieldError("split_configs", index, message)

    @property
    def rank(self) -> int:
        """Returns the number of dimensions."""
        return len(self.dimensions)

    @property
    def true_rank(self) -> int:
        """Returns the number of dimensions whose size is not 1."""
        return sum(size != 1 for size in self.dimensions)

    @property
    def element_count(self) -> int:
        return prod(self.dimensions)

    @property
    def is_static(self) -> bool:
        """Is true where no dimension is dynamic."""
        return not self.dynamic

    def is_dynamic_dimension(self, index: int) -> bool:
        """Is true where the dimension is `<=N` or `?`."""
        return bool(self.dynamic) and self.dynamic[index]

    @property
    def effective_layout(self) -> Layout:
        """Returns the layout, or the descending one where none was written."""
        return self.layout if self.layout is not None else Layout.descending(self.rank)

    @property
    def is_tiled(self) -> bool:
        """Is true where the layout tiles, pads or packs elements, which minor_to_major does not express."""
        layout = self.layout
        if layout is None:
            return False
        packed = 0 < layout.element_size_in_bits != self.element_type.storage_bits
        return bool(layout.tiles) or packed or layout.padded_dimensions is not None

    @property
    def type_and_dimensions(self) -> tuple[ElementType, tuple[int, ...]]:
        """Returns the element type and the dimensions: all but the layout."""
        return self.element_type, self.dimensions

    def with_layout(self, layout: Layout | None) -> ArrayShape:
        """Returns the shape under another layout."""
        return _laid_out(self, layout)

    def map_arrays(self, change: Callable[[ArrayShape], ArrayShape]) -> ArrayShape:
        return change(self)

    @property
    def without_layout(self) -> ArrayShape:
        return self.with_layout(None)

    @property
    def with_effective_layout(self) -> ArrayShape:
        return self.with_layout(self.effective_layout)

    @property
    def in_default_memory(self) -> ArrayShape:
        return self.with_layout(self.effective_layout.in_default_memory)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, ArrayShape):
            return NotImplemented
        # Hashes are cached and distinguish most shapes.
        return (
            hash(self) == hash(other)
            and self.dimensions == other.dimensions
            and self.element_type == other.element_type
            and self.layout == other.layout
            and self.dynamic == other.dynamic
        )

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", hash((self.element_type, self.dimensions, self.layout, self.dynamic)))
            return self._hash

    def _format(self) -> str:
        dims = ",".join(self._format_dimension(i) for i in range(self.rank))
        layout = self.layout
        # XLA prints braces on a scalar only where text follows the colon.
        hidden = layout is None or (self.rank == 0 and layout.is_default)
        return f"{self.element_type}[{dims}]" + ("" if hidden else str(layout))

    def _format_dimension(self, index: int) -> str:
        size = self.dimensions[index]
        if not self.is_dynamic_dimension(index):
            return str(size)
        return "?" if size == UNBOUNDED else f"<={size}"


# A module has few distinct shapes; one object for each keeps its hash and text.
@lru_cache(maxsize=1 << 14)
def _laid_out(shape: ArrayShape, layout: Layout | None) -> ArrayShape:
    return ArrayShape(shape.element_type, shape.dimensions, layout, shape.dynamic)


@dataclass(frozen=True, slots=True, repr=False)
class TupleShape(_WithoutLayout):
    """A tuple of shapes; it may be empty and may nest."""

    elements: tuple[Shape, ...]

    def leaves(self) -> Iterator[Shape]:
        for element in self.elements:
            yield from element.leaves()

    def leaves_by_path(self, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], Shape]]:
        for index, element in enumerate(self.elements):
            yield from element.leaves_by_path((*path, index))

    @property
    def parts(self) -> tuple[Shape, ...]:
        return self.elements

    @property
    def leaf_count(self) -> int:
        return sum(element.leaf_count for element in self.elements)

    def map_arrays(self, change: Callable[[ArrayShape], ArrayShape]) -> TupleShape:
        return TupleShape(tuple(element.map_arrays(change) for element in self.elements))

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            object.__setattr__(self, "_hash", hash(self.elements))
            return self._hash

    def _format(self) -> str:
        parts = []
        for index, element in enumerate(self.elements):
            # XLA prints the index of every fifth element.
            mark = f"/*index={index}*/" if index and index % 5 == 0 else ""
            parts.append(mark + str(element))
        return "(" + ", ".join(parts) + ")"


@dataclass(frozen=True, slots=True, repr=False)
class TokenShape(_WithoutLayout):
    """The shape of a token, which orders side effects and holds no data."""

    def _format(self) -> str:
        return "token[]"


@dataclass(frozen=True, slots=True, repr=False)
class OpaqueShape(_WithoutLayout):
    """The shape of an opaque value of a custom call."""

    def _format(self) -> str:
        return "opaque[]"


@dataclass(frozen=True, slots=True, repr=False)
class BufferShape(_WithoutLayout):
    """A mutable buffer that holds an array: `b(f32[4]{0})`."""

    array: ArrayShape

    def map_arrays(self, change: Callable[[ArrayShape], ArrayShape]) -> BufferShape:
        return BufferShape(change(self.array))

    def _format(self) -> str:
        return f"b({self.array})"


Shape = ArrayShape | TupleShape | TokenShape | OpaqueShape | BufferShape


def show_in_notebooks(drawer: Callable[[Shape], str]) -> None:
    """Sets the function that returns the HTML of a shape."""
    _AnyShape.drawer = drawer
