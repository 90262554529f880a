"""Stable sorts, also in place of `topk(..., is_stable=true)`, which not every jaxlib reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.hlo.ops import Ops, add_computation, instructions
from dialect_utils.ir import array_shape
from dialect_utils.layout import Slice, TupleShape
from dialect_utils.layout.moves.plan import Plan

_NAME = "is_stable"


def with_stability(module: HloModule) -> list[Instruction]:
    """Returns the topk instructions with the attribute `is_stable`."""
    return [item for item in instructions(module, "topk") if item.attribute(_NAME) is not None]


def expand_stable_topk(module: HloModule) -> None:
    """Replaces each stable topk by a stable sort in the total order and a slice; drops `is_stable=false`; in place."""
    for item in with_stability(module):
        if item.attribute(_NAME) == "true":
            _expand(item)
        else:
            item.set_attribute(_NAME, None)


def _expand(topk: Instruction) -> None:
    ops = Ops(topk)
    source, results = array_shape(topk.operands[0]), list(topk.shape.arrays())
    last = source.rank - 1
    places = ops.emit("iota", ops.shape(results[1].element_type, source.dimensions), (), {"iota_dimension": str(last)})
    operands = (topk.operands[0], places)
    direction = "LT" if topk.attribute("largest") == "false" else "GT"
    order = ", type=TOTALORDER" if source.element_type.is_floating else ""
    comparator = add_comparator(ops, operands, f"compare(p0, p1), direction={direction}{order}")
    ordered = stable_sort(ops, operands, last, comparator)
    ops.finish(ops.tuple([first_elements(ops, v, shape.dimensions) for v, shape in zip(ordered, results, strict=True)]))


def add_comparator(ops: Ops, operands: Sequence[Instruction], comparison: str, lines: Sequence[str] = ()) -> str:
    """Adds a computation that compares p0, p1, ...: two elements of each operand; `lines` precede the comparison."""
    kinds = [array_shape(value).element_type for value in operands]
    parameters = [f"p{i} = {kinds[i // 2]}[] parameter({i})" for i in range(2 * len(kinds))]
    return add_computation(ops.computation.module, "first", *parameters, *lines, f"ROOT first = pred[] {comparison}")


def stable_sort(ops: Ops, operands: Sequence[Instruction], dimension: int, comparator: str) -> Iterator[Instruction]:
    """Builds a stable sort along a dimension; yields the sorted operands."""
    attributes = {"dimensions": f"{{{dimension}}}", "is_stable": "true", "to_apply": f"%{comparator}"}
    is_alone = len(operands) == 1
    whole = operands[0].shape if is_alone else TupleShape(tuple(value.shape for value in operands))
    ordered = ops.emit("sort", whole, operands, attributes)
    yield from [ordered] if is_alone else (ops.element(ordered, i) for i in range(len(operands)))


def first_elements(ops: Ops, value: Instruction, dimensions: tuple[int, ...]) -> Instruction:
    """Builds the slice with the first elements in each dimension."""
    shape = array_shape(value)
    cut = Slice((0,) * len(dimensions), dimensions)
    return ops.steps(Plan(shape.element_type, shape.dimensions, (cut,)), value)
