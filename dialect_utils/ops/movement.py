"""Operations that move whole arrays at positions that the text fixes, and values without operands."""

from __future__ import annotations

from dialect_utils.ops.declaration import (
    ALL,
    ALL_OPERANDS,
    ANY,
    DATA,
    Opcode,
    Trait,
    dims,
    op,
    texts,
)

OPERATIONS: tuple[Opcode, ...] = (
    op("bitcast", 1, Trait.PURE, mlir=""),
    op("bitcast-convert", 1, Trait.PURE | Trait.IS_STEP),
    op(
        "broadcast",
        1,
        DATA,
        dims("dimensions", None, "broadcast_dimensions"),
        mlir="broadcast broadcast_in_dim",
        typed=(0,),
    ),
    op("concatenate", ANY, DATA, dims("dimensions", None, "dimension"), typed=ALL_OPERANDS, aligned=ALL),
    op("dynamic-reshape", ANY, DATA, typed=(0,)),
    op("pad", 2, DATA | Trait.IS_STEP, *texts("padding"), typed=(0, 1), aligned=1),
    op("reshape", 1, DATA | Trait.IS_STEP, *texts("inferred_dimension"), typed=(0,)),
    op("reverse", 1, DATA, dims("dimensions", 0), typed=(0,), aligned=1),
    op("slice", 1, DATA | Trait.IS_STEP, *texts("slice"), typed=(0,), aligned=1),
    op("transpose", 1, DATA | Trait.IS_STEP, dims("dimensions", 0, "permutation"), typed=(0,)),
    op("constant", 0, Trait.PURE),
    op("iota", 0, Trait.PURE, dims("iota_dimension", None)),
    op("parameter", 0, Trait.PURE, mlir=""),
    op("get-dimension-size", 1, Trait.PURE, dims("dimensions", 0, "dimension")),
    op("set-dimension-size", 2, Trait.PURE, dims("dimensions", 0, "dimension")),
)
