"""Operations that apply a computation to the elements of arrays, or reorder elements by their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dialect_utils.ops.declaration import ANY, COMBINED, TO_APPLY, Opcode, Trait, dims, flags, integers, op, texts
from dialect_utils.ops.domain import Domain, V, grouped, required_ints, reshaped

if TYPE_CHECKING:
    from dialect_utils.ir import Operation


def define_map(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the computation's results at every index."""
    return domain.map(operation, operation.called[0], operands)


def define_reduce(domain: Domain[V], operation: Operation, operands: Sequence[V]) -> list[V]:
    """Returns the combined elements, computed on arrays [kept, reduced]; source: StableHLO's specification."""
    arrays, initial = operands[: len(operands) // 2], operands[len(operands) // 2 :]
    sizes, reduced = domain.dimensions(arrays[0]), sorted(required_ints(operation, "dimensions"))
    kept = [i for i in range(len(sizes)) if i not in reduced]
    flat = [grouped(domain, array, kept, reduced) for array in arrays]
    found = domain.reduce(operation, operation.called[0], flat, initial)
    return [reshaped(domain, each, [sizes[i] for i in kept]) for each in found]


OPERATIONS: tuple[Opcode, ...] = (
    op("map", ANY, Trait.APPLIES | Trait.PURE, dims("dimensions", None), *TO_APPLY, define=define_map),
    op("reduce", ANY, COMBINED, dims("dimensions", 0), *TO_APPLY, define=define_reduce),
    op(
        "scan",
        ANY,
        Trait.APPLIES | Trait.PURE,
        dims("dimensions", 0),
        *texts("is_associative is_reverse"),
        integers("num_carries"),
        *TO_APPLY,
        mlir="",
    ),
    op(
        "sort",
        ANY,
        Trait.APPLIES | Trait.BOUNDED | Trait.PURE,
        dims("dimensions", 0, "dimension"),
        *flags("is_stable"),
        *TO_APPLY,
    ),
    op("topk", 1, Trait.PURE, integers("k"), *flags("largest is_stable"), mlir=""),
)
