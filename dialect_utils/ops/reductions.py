"""Operations that apply a computation to the elements of arrays, or reorder elements by their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from dialect_utils.layout import ArrayShape, ElementType, Shape, TupleShape, parse_element_type
from dialect_utils.ops.declaration import ANY, COMBINED, TO_APPLY, Opcode, Trait, dims, flags, integers, op, texts
from dialect_utils.ops.domain import Domain, V, grouped, only_function, required_ints, reshaped, section
from dialect_utils.ops.factors import Factor, Kind, of_equal_arrays, of_matrices, result_positions, shared, sizes_at
from dialect_utils.ops.inference import (
    Called,
    Instance,
    ShapeError,
    check_applied,
    check_reducer,
    made,
    one_or_tuple,
    scalar_type,
)

if TYPE_CHECKING:
    from dialect_utils.ir import Operation

PRED = parse_element_type("pred")
_S32 = parse_element_type("s32")

# Results (ShapeInference::InferReduceShape, InferMapShape, InferVariadicOpShape, InferTopKShape)


def reduced_arrays(instance: Instance) -> list[ArrayShape]:
    """Returns the arrays that are reduced, which have the same dimensions."""
    count = len(instance.operands) // 2
    if not count or len(instance.operands) % 2:
        raise ShapeError(f"{instance.opcode} takes as many initial values as arrays", "operands")
    found = instance.arrays(0, count)
    if any(each.dimensions != found[0].dimensions for each in found):
        listed = ", ".join(map(str, found))
        raise ShapeError(f"{instance.opcode} of arrays whose dimensions differ: {listed}", "operands")
    return found


def reduced_result(instance: Instance, found: Sequence[ArrayShape], dimensions: Sequence[int]) -> Shape:
    """Returns arrays of these dimensions with the element types that the computation returns."""
    kinds = [_returned(instance.called, i, each.element_type) for i, each in enumerate(found)]
    results = [made(kind, dimensions) for kind in kinds]
    return results[0] if len(results) == 1 else TupleShape(tuple(results))


def _returned(called: Sequence[Called], index: int, default: ElementType) -> ElementType:
    """Returns the element type of one of the values that the first computation returns."""
    leaves = list(called[0].result.leaves()) if called else []
    found = leaves[index] if index < len(leaves) else None
    return found.element_type if isinstance(found, ArrayShape) else default


def reduce(instance: Instance) -> Shape:
    """Returns the operands' shape without the reduced dimensions."""
    found = reduced_arrays(instance)
    removed = instance.dims("dimensions", found[0].rank)
    return reduced_result(instance, found, [size for dim, size in enumerate(found[0].dimensions) if dim not in removed])


def map_elements(instance: Instance) -> Shape:
    """Returns the operands' dimensions with the element type that the computation returns."""
    found = instance.arrays()
    if not found or any(each.dimensions != found[0].dimensions for each in found):
        raise ShapeError("map of arrays whose dimensions differ", "operands")
    return made(_returned(instance.called, 0, found[0].element_type), found[0].dimensions)


def top_k(instance: Instance) -> Shape:
    """Returns the largest values of the last dimension, and their indices."""
    operand, kept = instance.array(0), instance.number("k", -1)
    if not operand.rank or not 0 <= kept <= operand.dimensions[-1]:
        raise ShapeError(f"topk keeps {kept if kept >= 0 else 'no'} elements of {operand}", "k")
    dimensions = (*operand.dimensions[:-1], kept)
    return TupleShape((made(operand.element_type, dimensions), made(_S32, dimensions)))


# Constraints


def check_reduction(instance: Instance) -> None:
    """Raises ShapeError where the computation of a reduction does not combine its arrays with its initial values."""
    count = len(instance.operands) // 2
    begun = [scalar_type(instance, index) for index in range(count, 2 * count)]
    check_reducer(instance, 0, begun, [each.element_type for each in instance.arrays(0, count)])


def check_map(instance: Instance) -> None:
    """Raises ShapeError where the computation of a map does not take and give its elements."""
    found = [each.element_type for each in instance.arrays()]
    check_applied(instance, 0, found, [instance.result_array().element_type])
    dimensions = instance.ints("dimensions")
    if dimensions and dimensions != tuple(range(instance.array(0).rank)):
        raise ShapeError(f"map covers all dimensions in order, found {list(dimensions)}", "dimensions")


def check_sort(instance: Instance) -> None:
    """Raises ShapeError where arrays or the comparator of a sort do not fit."""
    found = instance.arrays()
    if len({each.dimensions for each in found}) > 1:
        raise ShapeError(f"sort of arrays whose dimensions differ: {', '.join(map(str, found))}", "operands")
    check_applied(instance, 0, [each.element_type for each in found for _ in range(2)], [PRED])


def check_scan(instance: Instance) -> None:
    """Raises ShapeError where the inputs, carries and results of a scan do not fit.

    Operands are the inputs and then the initial carries, results the outputs and then the last carries.
    """
    if instance.is_layout_sensitive and instance.attribute("is_associative") == "false":
        message = (
            "a scan that is not associative has no layout: ScanExpander makes a loop of it before layout assignment"
        )
        raise ShapeError(message, "is_associative")
    dimensions, carries = instance.ints("dimensions"), instance.number("num_carries", 0)
    results = instance.shape.elements if isinstance(instance.shape, TupleShape) else (instance.shape,)
    if len(dimensions) != 1:
        raise ShapeError(f"scan has one dimension, found {list(dimensions)}", "dimensions")
    for what, shapes in (("operands", instance.operands), ("results", results)):
        if carries > len(shapes):
            raise ShapeError(f"scan has {carries} carries, but only {len(shapes)} {what}", "num_carries")
    scanned = [*instance.operands[: len(instance.operands) - carries], *results[: len(results) - carries]]
    for shape in scanned:
        if not isinstance(shape, ArrayShape) or not 0 <= dimensions[0] < shape.rank:
            raise ShapeError(f"scan runs over dimension {dimensions[0]}, which {shape} has not", "dimensions")
    sizes = {shape.dimensions[dimensions[0]] for shape in scanned if isinstance(shape, ArrayShape)}
    if len(sizes) > 1:
        raise ShapeError(f"scan runs over dimensions of several sizes: {sorted(sizes)}", "operands")
    if instance.called:
        _check_scanned(instance, instance.called[0], len(results))


def _check_scanned(instance: Instance, called: Called, count: int) -> None:
    returned = called.result.parts
    for what, have, want in (
        ("parameters", len(called.parameters), len(instance.operands)),
        ("results", len(returned), count),
    ):
        if have != want:
            raise ShapeError(f"scan applies %{called.name} with {want} {what}, but it has {have}", "to_apply")


def define_reduce(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the combined elements, computed on arrays [kept, reduced]; source: StableHLO's specification."""
    arrays, initial = operands[: len(operands) // 2], operands[len(operands) // 2 :]
    sizes, reduced = domain.dimensions(arrays[0]), sorted(required_ints(operation, "dimensions"))
    kept = [i for i in range(len(sizes)) if i not in reduced]
    flat = [grouped(domain, array, kept, reduced) for array in arrays]
    found = domain.reduce(operation, only_function(operation), flat, initial)
    return [reshaped(domain, each, [sizes[i] for i in kept]) for each in found]


def define_sort(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the operands sorted together along a dimension; source: StableHLO's specification of sort."""
    (dimension,) = operation.ints("dimensions") or (-1,)
    return domain.sort(operation.called[0], operands, dimension % max(1, len(domain.dimensions(operands[0]))))


def define_topk(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the k first elements of the sorted last dimension and their indices; floats in their total order."""
    (count,) = required_ints(operation, "k")
    found = domain.ranked(operands[0], is_descending=operation.attribute("largest") != "false")
    return [section(domain, array, len(domain.dimensions(array)) - 1, count) for array in found]


def define_scan(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the outputs for each slice along a dimension, joined, and the last carries.

    The computation takes a slice of each input and the carries, and returns outputs and carries.
    """
    (dimension,), (carried,) = required_ints(operation, "dimensions"), required_ints(operation, "num_carries")
    inputs, carries = list(operands[: len(operands) - carried]), list(operands[len(operands) - carried :])
    count, rows = domain.dimensions(inputs[0])[dimension], []
    numbers = range(count)[::-1] if operation.attribute("is_reverse") == "true" else range(count)
    for i in numbers:
        cut = [section(domain, array, dimension, 1, i) for array in inputs]
        slices = [reshaped(domain, each, _without(domain.dimensions(each), dimension)) for each in cut]
        found = domain.call(operation.called[0], [*slices, *carries])
        rows.append(found[: len(found) - carried])
        carries = found[len(found) - carried :]
    ordered = rows[::-1] if numbers.step < 0 else rows
    outputs = [_stacked(domain, column, dimension) for column in zip(*ordered, strict=True)]
    return [*outputs, *carries]


def _without(sizes: Sequence[int], dimension: int) -> tuple[int, ...]:
    return (*sizes[:dimension], *sizes[dimension + 1 :])


def _stacked(domain: Domain[V], arrays: Sequence[V], dimension: int) -> V:
    sizes = domain.dimensions(arrays[0])
    longer = (*sizes[:dimension], 1, *sizes[dimension:])
    return domain.concatenate([reshaped(domain, array, longer) for array in arrays], dimension)


def reduce_factors(operation: Operation) -> Iterator[Factor]:
    """Yields the dimensions of the arrays; the results have those that are left."""
    arrays, results = range(len(operation.operands) // 2), result_positions(operation)
    reduced, kept = operation.ints("dimensions") or (), 0
    for dimension, _ in enumerate(sizes_at(operation, 0)):
        own = dict.fromkeys(arrays, dimension)
        if dimension in reduced:
            yield shared(operation, own, Kind.COMBINED)
        else:
            yield shared(operation, {**own, **dict.fromkeys(results, kept)})
            kept += 1


TOPK_FACTORS = partial(of_matrices, count=1)

OPERATIONS: tuple[Opcode, ...] = (
    op(
        "map",
        ANY,
        Trait.APPLIES | Trait.PURE,
        dims("dimensions", None),
        *TO_APPLY,
        result=map_elements,
        check=check_map,
        define=lambda domain, operation, operands: domain.map(operation, only_function(operation), operands),
        factors=of_equal_arrays,
    ),
    op(
        "reduce",
        ANY,
        COMBINED | Trait.FOLDS,
        dims("dimensions", 0, needed=True),
        *TO_APPLY,
        result=reduce,
        check=check_reduction,
        define=define_reduce,
        factors=reduce_factors,
    ),
    op(
        "scan",
        ANY,
        Trait.APPLIES | Trait.PURE,
        dims("dimensions", 0),
        *texts("is_associative is_reverse", "number"),
        integers("num_carries"),
        *TO_APPLY,
        mlir="",
        check=check_scan,
        define=define_scan,
        factors="its computation takes whole slices",
    ),
    op(
        "sort",
        (1, None),
        Trait.APPLIES | Trait.BOUNDED | Trait.PURE | Trait.SORTS | Trait.JUMPS,
        dims("dimensions", 0, "dimension", needed=True, is_single=True),
        *flags("is_stable"),
        *TO_APPLY,
        result=one_or_tuple,
        check=check_sort,
        define=define_sort,
        factors=partial(of_equal_arrays, name="dimensions"),
    ),
    op(
        "topk",
        1,
        Trait.PURE | Trait.SORTS | Trait.JUMPS | Trait.READS_BITS,
        integers("k"),
        *flags("largest", default="true"),
        *flags("is_stable"),
        mlir="",
        result=top_k,
        define=define_topk,
        factors=TOPK_FACTORS,
    ),
)
