"""The largest elements along a dimension."""

from __future__ import annotations

from dialect_utils.hlo import Instruction
from dialect_utils.hlo.ops import AttributeValue, Ops
from dialect_utils.ir import array_shape
from dialect_utils.layout import ArrayShape, ElementType, Plan, Slice, TupleShape


def expand_top(ops: Ops, call: Instruction) -> Instruction:
    """Expands `TopK`, `PartialReduce` and `TopKBatchMajorSmallK`.

    Sorts by the comparator and keeps the first elements of the one dimension that shrinks.
    """
    shapes = list(call.shape.arrays())
    operands = list(call.operands[: max(1, len(call.operands) // 2)] if len(call.operands) > 1 else call.operands)
    source = array_shape(operands[0])
    pairs = zip(source.dimensions, shapes[0].dimensions, strict=True)
    dim = next((i for i, (old, new) in enumerate(pairs) if old != new), source.rank - 1)
    if len(shapes) > len(operands):
        iota = ops.shape(shapes[-1].element_type, source.dimensions)
        operands.append(ops.emit("iota", iota, (), {"iota_dimension": str(dim)}))
    comparator = _comparator(ops, call, [array_shape(value).element_type for value in operands])
    attributes: dict[str, AttributeValue] = {"dimensions": (dim,), "is_stable": "true", "to_apply": f"%{comparator}"}
    whole = operands[0].shape if len(operands) == 1 else TupleShape(tuple(value.shape for value in operands))
    ordered = ops.emit("sort", whole, operands, attributes)
    kept = []
    for index, shape in enumerate(shapes):
        value = ordered if len(operands) == 1 else ops.element(ordered, index)
        keep = Slice((0,) * shape.rank, shape.dimensions)
        kept.append(ops.steps(Plan(shape.element_type, source.dimensions, (keep,)), value))
    return kept[0] if isinstance(call.shape, ArrayShape) else ops.tuple(kept)


def _comparator(ops: Ops, call: Instruction, types: list[ElementType]) -> str:
    """Returns the name of a comparator of all the sorted arrays: the call's own one, or one made from it."""
    given = call.called[0] if call.called else None
    if given is not None and len(given.parameters) == 2 * len(types):
        return given.name
    module = ops.computation.module
    lines = [f"p{i} = {types[i // 2]}[] parameter({i})" for i in range(2 * len(types))]
    order = f"call(p0, p1), to_apply=%{given.name}" if given is not None else "compare(p0, p1), direction=GT"
    text = "\n".join(f"  {line}" for line in [*lines, f"ROOT first = pred[] {order}"])
    return module.add_computation(f"%{module.fresh_name('first')} {{\n{text}\n}}").name
