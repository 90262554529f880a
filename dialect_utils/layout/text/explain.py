"""What a shape with a layout means, in numbers: everything `relayout explain` says."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from dialect_utils.layout.index.index_map import final_dimensions, physical_element_count
from dialect_utils.layout.index.sizes import byte_size, padding_fraction, xla_byte_size
from dialect_utils.layout.layout import COMBINE, MATCH
from dialect_utils.layout.moves.physical import physical_plan
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.shape import UNBOUNDED, ArrayShape
from dialect_utils.layout.targets.tpu import Target, allocation_bytes, default_layout, parse_target
from dialect_utils.layout.text.formula import index_formula
from dialect_utils.layout.text.vocabulary import describe_dimensions, describe_order

# Whose allocation is told where no target was named; v4 to tpu7x allocate alike.
DEFAULT_TARGET = "tpu-v5e"


@dataclass(frozen=True, slots=True)
class Explanation:
    """The meaning of one array shape in numbers; sizes of bounded dynamic dimensions are their bounds.

    `stages` are the physical dimensions before and after each tile, `steps` the plan from the
    logical array to the physical one (None where no steps express it), `warnings` what people
    trip over. Numbers are None for an unbounded dimension.
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

    def __str__(self) -> str:
        warnings = (f"  warning          {warning}" for warning in self.warnings)
        return "\n".join([*_properties(self.shape), *(_numbers(self) if self.stages else ()), *warnings])

    def __repr__(self) -> str:
        return str(self)


def explain_shape(shape: ArrayShape, target: str | Target | None = None) -> Explanation:
    """Explains an array shape; with a target, one without a layout gets the target's default.

    Raises DiagnosticError for an unknown target.
    """
    if target is not None and shape.layout is None and UNBOUNDED not in shape.dimensions:
        shape = shape.with_layout(default_layout(shape.element_type, shape.dimensions, target))
    target = parse_target(target or DEFAULT_TARGET).name
    if UNBOUNDED in shape.dimensions:
        return Explanation(shape, target, warnings=("an unbounded dimension has no size, so no element has a place",))
    plan, obstacle = _plan(shape)
    explicit = shape.with_effective_layout
    found = Explanation(
        shape,
        target,
        _stages(shape),
        physical_element_count(shape),
        byte_size(shape),
        xla_byte_size(shape),
        allocation_bytes(explicit, target),
        padding_fraction(shape),
        plan,
        index_formula(shape),
    )
    return _with_warnings(found, obstacle)


def _plan(shape: ArrayShape) -> tuple[Plan | None, str | None]:
    """Returns the plan, or why there is none."""
    try:
        return physical_plan(shape), None
    except ValueError as error:
        return None, str(error)


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
        warnings.append("XLA refuses `*` and `d` tiles in runtime buffers: they live inside the compiler only")
    if not shape.is_static:
        warnings.append("sizes are those of the bounds of the dynamic dimensions")
    if shape.element_type.bits < shape.element_type.storage_bits and not layout.element_size_in_bits:
        what = f"{shape.element_type} has {shape.element_type.bits} bits, but takes a whole byte without E(n)"
        warnings += [what] if shape.element_type.name != "pred" else []
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
    assert found.padding_fraction is not None  # bounded: the numbers are there
    used = found.shape.element_count
    xla = "unknown" if found.xla_byte_size is None else str(found.xla_byte_size)
    plan = "none" if found.plan is None else " -> ".join(map(str, found.plan.steps)) or "nothing moves"
    return [
        f"  physical         {', '.join(stages)}",
        f"  elements         {found.physical_elements} slots, {used} used, padding {found.padding_fraction:.1%}",
        f"  bytes            {found.byte_size}; XLA's ArraySize {xla}; allocated on {found.target} "
        f"{found.allocation_bytes}",
        f"  steps            {plan}",
        f"  linear index     {found.formula}",
    ]
