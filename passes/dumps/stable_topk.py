"""Writes `topk(..., is_stable=true)`, which not every jaxlib reads, as a stable sort."""

from __future__ import annotations

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.hlo.ops import AttributeValue, Ops, instructions
from dialect_utils.ir import array_shape
from dialect_utils.layout import ElementType, Slice, TupleShape
from dialect_utils.layout.moves.plan import Plan

_NAME = "is_stable"


def with_stability(module: HloModule) -> list[Instruction]:
    """Returns the topk instructions that say whether they are stable."""
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
    kinds = [array_shape(value).element_type for value in operands]
    comparator = _comparator(ops, kinds, "LT" if topk.attribute("largest") == "false" else "GT")
    attributes: dict[str, AttributeValue] = {"dimensions": (last,), "is_stable": "true", "to_apply": f"%{comparator}"}
    ordered = ops.emit("sort", TupleShape(tuple(value.shape for value in operands)), operands, attributes)
    kept = [
        ops.steps(
            Plan(kind, source.dimensions, (Slice((0,) * source.rank, shape.dimensions),)), ops.element(ordered, i)
        )
        for i, (kind, shape) in enumerate(zip(kinds, results, strict=True))
    ]
    ops.finish(ops.tuple(kept))


def _comparator(ops: Ops, kinds: list[ElementType], direction: str) -> str:
    """Makes a computation that compares keys; returns its name."""
    module = ops.computation.module
    lines = [f"p{i} = {kinds[i // 2]}[] parameter({i})" for i in range(2 * len(kinds))]
    order = ", type=TOTALORDER" if kinds[0].is_floating else ""
    lines.append(f"ROOT first = pred[] compare(p0, p1), direction={direction}{order}")
    text = "\n".join(f"  {line}" for line in lines)
    return module.add_computation(f"%{module.fresh_name('first')} {{\n{text}\n}}").name
