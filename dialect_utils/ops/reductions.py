"""Operations that apply a computation to the elements of arrays, or reorder elements by their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialect_utils.ops.declaration import ANY, COMBINED, TO_APPLY, Opcode, Trait, dims, flags, integers, op, texts
from dialect_utils.ops.domain import Domain, V, grouped, only_function, required_ints, reshaped, section
from dialect_utils.ops.inference import one_or_tuple
from dialect_utils.ops.shapes import reductions as rules

if TYPE_CHECKING:
    from dialect_utils.ir import Operation


def define_map(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the computation's results at every index."""
    return domain.map(operation, only_function(operation), operands)


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
    sizes = domain.dimensions(inputs[0])
    count, rows = sizes[dimension], []
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
    """Returns arrays joined along a new dimension."""
    sizes = domain.dimensions(arrays[0])
    longer = (*sizes[:dimension], 1, *sizes[dimension:])
    return domain.concatenate([reshaped(domain, array, longer) for array in arrays], dimension)


OPERATIONS: tuple[Opcode, ...] = (
    op(
        "map",
        ANY,
        Trait.APPLIES | Trait.PURE,
        dims("dimensions", None),
        *TO_APPLY,
        result=rules.map_elements,
        check=rules.check_map,
        define=define_map,
    ),
    op(
        "reduce",
        ANY,
        COMBINED,
        dims("dimensions", 0, needed=True),
        *TO_APPLY,
        result=rules.reduce,
        check=rules.check_reducer,
        define=define_reduce,
    ),
    op(
        "scan",
        ANY,
        Trait.APPLIES | Trait.PURE,
        dims("dimensions", 0),
        *texts("is_associative is_reverse"),
        integers("num_carries"),
        *TO_APPLY,
        mlir="",
        check=rules.check_scan,
        define=define_scan,
    ),
    op(
        "sort",
        (1, None),
        Trait.APPLIES | Trait.BOUNDED | Trait.PURE,
        dims("dimensions", 0, "dimension", needed=True, is_single=True),
        *flags("is_stable"),
        *TO_APPLY,
        result=one_or_tuple,
        check=rules.check_sort,
        define=define_sort,
    ),
    op(
        "topk",
        1,
        Trait.PURE,
        integers("k"),
        *flags("largest is_stable"),
        mlir="",
        result=rules.top_k,
        define=define_topk,
    ),
)
