"""Operations that draw random numbers."""

from __future__ import annotations

from dialect_utils.ops.declaration import ANY, NO_TRAITS, Opcode, Trait, integers, op, texts

OPERATIONS: tuple[Opcode, ...] = (
    op("rng", ANY, Trait.ENGINE_DEFINED, *texts("distribution")),
    op("rng-bit-generator", 1, Trait.PURE, *texts("algorithm")),
    op("rng-get-and-update-state", 0, NO_TRAITS, integers("delta"), mlir=""),
)
