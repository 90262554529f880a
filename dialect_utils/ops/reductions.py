"""Operations that apply a computation to the elements of arrays, or reorder elements by their values."""

from __future__ import annotations

from dialect_utils.ops.declaration import ANY, COMBINED, TO_APPLY, Opcode, Trait, dims, flags, integers, op, texts

OPERATIONS: tuple[Opcode, ...] = (
    op("map", ANY, Trait.APPLIES | Trait.PURE, dims("dimensions", None), *TO_APPLY),
    op("reduce", ANY, COMBINED, dims("dimensions", 0), *TO_APPLY),
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
