"""The meaning of a shape with a layout in words and numbers: everything that `relayout explain` prints.

The words for dimensions are those of openxla.org/xla/shapes, "Terminology, notation, and conventions".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, Any

from dialect_utils.layout.index.index_map import (
    byte_size,
    final_dimensions,
    padding_fraction,
    physical_element_count,
    physical_index,
    require_bounded,
    xla_byte_size,
)
from dialect_utils.layout.layout import COMBINE, MATCH, Layout
from dialect_utils.layout.moves.physical import physical_plan
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.shape import UNBOUNDED, ArrayShape
from dialect_utils.layout.targets.known import allocation_bytes, default_layout, parse_target
from dialect_utils.layout.targets.target import Target

if TYPE_CHECKING:
    from dialect_utils.layout.notation.writing import Written

# From the most major to the most minor dimension; other ranks have no letters.
_LETTERS = {1: "x", 2: "yx", 3: "zyx", 4: "pzyx"}


def dimension_letters(rank: int) -> tuple[str, ...]:
    """Returns the letter of each dimension, dimension 0 first; empty for a rank without letters."""
    return tuple(_LETTERS.get(rank, ""))


def describe_order(layout: Layout) -> str:
    """Returns the physical order in the documents' words, e.g. `dim 0 is minor, dim 1 is major`."""
    order = layout.minor_to_major
    if len(order) < 2:
        return f"dim {order[0]} is minor and major" if order else "a scalar has no dimensions"
    between = "".join(f"dim {dim} is next, " for dim in order[1:-1])
    suffix = ""
    if layout.is_descending:
        suffix = " (the default layout)" if layout.is_default else " (the default order)"
    return f"dim {order[0]} is minor, {between}dim {order[-1]} is major{suffix}"


def describe_dimensions(dimensions: tuple[int, ...]) -> str:
    """Returns every dimension with its names and its size in elements, e.g. `y = dim 0 = dim -2: 3`.

    Unbounded dimensions, which are negative, show as `?`.
    """
    rank = len(dimensions)
    letters = dimension_letters(rank) or ("",) * rank
    names = [f"{letter} = " if letter else "" for letter in letters]
    sizes = ["?" if size < 0 else str(size) for size in dimensions]
    parts = zip(names, range(rank), sizes, strict=True)
    return ", ".join(f"{name}dim {dim} = dim {dim - rank}: {size}" for name, dim, size in parts)


_SUM, _PRODUCT, _ATOM = 0, 1, 2


@dataclass(frozen=True, slots=True)
class _Expression:
    """The text of an integer expression from 0 to below `limit`, and the precedence of its last operator."""

    text: str
    limit: int
    binding: int = _ATOM

    def __mul__(self, factor: int) -> _Expression | int:
        if factor == 0:
            return 0
        if factor == 1:
            return self
        return _Expression(f"{self._within(_PRODUCT)}*{factor}", (self.limit - 1) * factor + 1, _PRODUCT)

    def __add__(self, other: _Expression | int) -> _Expression:
        if isinstance(other, int):
            return self if other == 0 else NotImplemented
        return _Expression(f"{self.text} + {other.text}", self.limit + other.limit - 1, _SUM)

    __radd__ = __add__

    def __floordiv__(self, divisor: int) -> _Expression | int:
        if divisor == 1:
            return self
        if self.limit <= divisor:
            return 0
        return _Expression(f"{self._within(_PRODUCT)}//{divisor}", -(-self.limit // divisor), _PRODUCT)

    def __mod__(self, divisor: int) -> _Expression | int:
        if divisor == 1:
            return 0
        if self.limit <= divisor:
            return self
        return _Expression(f"{self._within(_PRODUCT)}%{divisor}", divisor, _PRODUCT)

    def _within(self, binding: int) -> str:
        """Returns the text as the left operand of an operator of that precedence."""
        return f"({self.text})" if self.binding < binding else self.text


def index_formula(shape: ArrayShape) -> str:
    """Returns the linear index (in elements) of element `[i0, i1, ...]` as a Python expression.

    Terms that are always 0 are omitted. Raises ValueError for an unbounded dimension.
    """
    require_bounded(shape)
    names = [_Expression(f"i{dim}", size) if size > 1 else 0 for dim, size in enumerate(shape.dimensions)]
    position = physical_index(shape, names)
    sizes = final_dimensions(shape.dimensions, shape.effective_layout)
    strides = [prod(sizes[i + 1 :]) for i in range(len(sizes))]
    found = sum(coordinate * stride for coordinate, stride in zip(position, strides, strict=True))
    return found.text if isinstance(found, _Expression) else str(found)


# The default target for `allocation_bytes`; v4 to tpu7x allocate the same.
DEFAULT_TARGET = "tpu-v5e"


@dataclass(frozen=True, slots=True)
class Explanation:
    """The meaning of one array shape in numbers; the size of a bounded dynamic dimension is its bound.

    `stages` are the physical dimensions before the first tile and after each. `plan` leads from the
    logical array to the physical one (None where no steps express it). `warnings` name common
    mistakes. `space` is the name of a memory space other than main memory. Numbers are None for an unbounded dimension.
    """

    shape: ArrayShape
    target: str
    stages: tuple[tuple[str, tuple[int, ...]], ...] = ()
    physical_elements: int | None = None
    byte_size: int | None = None
    xla_byte_size: int | None = None
    allocation_bytes: int | None = None
    padding_fraction: float | None = None
    plan: Plan | None = None
    formula: str | None = None
    warnings: tuple[str, ...] = ()
    space: str = ""

    @property
    def physical_dimensions(self) -> tuple[int, ...] | None:
        """Returns the dimensions of the physical array, most major first."""
        return self.stages[-1][1] if self.stages else None

    def as_json(self) -> dict[str, Any]:
        """Returns the JSON keys of `relayout explain`."""
        shape = self.shape
        return {
            "shape": str(shape),
            "element_type": str(shape.element_type),
            "dimensions": list(shape.dimensions),
            "rank": shape.rank,
            "true_rank": shape.true_rank,
            "layout": None if shape.layout is None else str(shape.layout),
            "physical_dimensions": None if self.physical_dimensions is None else list(self.physical_dimensions),
            "physical_elements": self.physical_elements,
            "byte_size": self.byte_size,
            "xla_byte_size": self.xla_byte_size,
            "allocation_bytes": self.allocation_bytes,
            "padding_fraction": self.padding_fraction,
            "steps": None if self.plan is None else list(map(str, self.plan.steps)),
            "formula": self.formula,
            "target": self.target,
            "warnings": list(self.warnings),
        }

    def written(self, notation: str) -> Written:
        """Returns the layout in the notation of another tool: a key of `layout.notation.writing.NOTATIONS`.

        Raises ValueError for an unbounded dimension.
        """
        from dialect_utils.layout.notation.writing import write

        return write(self.shape, notation)

    def __str__(self) -> str:
        warnings = (f"  warning          {warning}" for warning in self.warnings)
        return "\n".join([*_properties(self.shape), *(_numbers(self) if self.stages else ()), *warnings])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        """Returns the HTML for notebooks: the drawing of the shape, and the numbers."""
        from dialect_utils.text.html import html_table

        numbers = {name: value for name, value in self.as_json().items() if value not in (None, [])}
        rows = [(name.replace("_", " "), str(value)) for name, value in numbers.items()]
        return self.shape._repr_html_() + html_table(("", "value"), rows)


def explain_shape(shape: ArrayShape, target: str | Target | None = None) -> Explanation:
    """Returns the meaning of a shape, one without a layout in the default of `target`; raises DiagnosticError."""
    if target is not None and shape.layout is None and UNBOUNDED not in shape.dimensions:
        shape = shape.with_layout(default_layout(shape.element_type, shape.dimensions, target))
    chip = parse_target(target or DEFAULT_TARGET)
    if UNBOUNDED in shape.dimensions:
        return Explanation(
            shape, chip.name, warnings=("an unbounded dimension has no size, so no element has a position",)
        )
    plan, obstacle = None, None
    try:
        plan = physical_plan(shape)
    except ValueError as error:
        obstacle = str(error)
    found = Explanation(
        shape,
        chip.name,
        _stages(shape),
        physical_element_count(shape),
        byte_size(shape),
        xla_byte_size(shape),
        allocation_bytes(shape.with_effective_layout, chip),
        padding_fraction(shape),
        plan,
        index_formula(shape),
        space=chip.space_name(space) if (space := shape.effective_layout.memory_space) else "",
    )
    return _with_warnings(found, obstacle)


def _stages(shape: ArrayShape) -> tuple[tuple[str, tuple[int, ...]], ...]:
    layout = shape.effective_layout
    stages = []
    for count in range(len(layout.tiles) + 1):
        part = layout.replace(tiles=layout.tiles[:count])
        name = str(layout.tiles[count - 1]) if count else ""
        stages.append((name, final_dimensions(shape.dimensions, part)))
    return tuple(stages)


def _with_warnings(found: Explanation, obstacle: str | None) -> Explanation:
    shape, layout = found.shape, found.shape.effective_layout
    warnings = [] if obstacle is None else [obstacle]
    if found.xla_byte_size is None:
        warnings.append("XLA's ArraySize cannot size a tile that combines dimensions")
    elif found.xla_byte_size != found.byte_size:
        warnings.append(f"XLA's ArraySize says {found.xla_byte_size} bytes, the elements span {found.byte_size}")
    if any(length in (COMBINE, MATCH) for tile in layout.tiles for length in tile.dimensions):
        warnings.append("XLA rejects `*` and `d` tiles in runtime buffers: only the compiler uses them")
    if (found.byte_size or 0) >= 1 << 63:
        warnings.append("its bytes are too many for 64 bits: XLA rejects it")
    if not shape.is_static:
        warnings.append("sizes are those of the bounds of the dynamic dimensions")
    if shape.element_type.bits < shape.element_type.storage_bits and not layout.element_size_in_bits:
        warning = f"{shape.element_type} has {shape.element_type.bits} bits, but takes a whole byte without E(n)"
        warnings += [warning] if shape.element_type.name != "pred" else []
    return replace(found, warnings=tuple(warnings))


def _properties(shape: ArrayShape) -> list[str]:
    layout = shape.effective_layout
    order = ",".join(map(str, layout.minor_to_major))
    return [
        str(shape),
        f"  element type     {shape.element_type}, {shape.element_type.bits} bits",
        f"  rank             {shape.rank}, true rank {shape.true_rank}",
        f"  dimensions       {describe_dimensions(shape.dimensions) or 'none: a scalar'}",
        f"  minor_to_major   {{{order}}}: {describe_order(layout)}",
    ]


def _numbers(found: Explanation) -> list[str]:
    stages = [f"[{','.join(map(str, dims))}]" + (f" after {tile}" if tile else "") for tile, dims in found.stages]
    assert found.padding_fraction is not None  # every dimension is bounded
    used = found.shape.element_count
    xla = "unknown" if found.xla_byte_size is None else str(found.xla_byte_size)
    place = f", in {found.space}" if found.space else ""
    plan = "none" if found.plan is None else " -> ".join(map(str, found.plan.steps)) or "nothing moves"
    return [
        f"  physical         {', '.join(stages)}",
        f"  elements         {found.physical_elements} slots, {used} used, padding {found.padding_fraction:.1%}",
        f"  bytes            {found.byte_size}; XLA's ArraySize {xla}; allocated on {found.target} "
        f"{found.allocation_bytes}{place}",
        f"  steps            {plan}",
        f"  linear index     {found.formula}",
    ]
