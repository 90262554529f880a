"""Operations for which each engine has an algorithm of its own: normalizations, decompositions and transforms."""

from __future__ import annotations

from dialect_utils.ops.declaration import Opcode, Trait, flags, integers, op, texts

_ENGINE = Trait.ENGINE_DEFINED | Trait.PURE
_NORM = texts("epsilon feature_index")

OPERATIONS: tuple[Opcode, ...] = (
    op("batch-norm-grad", 5, _ENGINE, *_NORM),
    op("batch-norm-inference", 5, _ENGINE, *_NORM),
    op("batch-norm-training", 3, _ENGINE, *_NORM),
    op("cholesky", 1, _ENGINE, *flags("lower")),
    op("fft", 1, _ENGINE, *texts("fft_type"), integers("fft_length")),
    op("triangular-solve", 2, _ENGINE, *flags("left_side lower unit_diagonal"), *texts("transpose_a")),
)
