"""Operations on windows that slide over arrays: convolution, reduce-window and select-and-scatter."""

from __future__ import annotations

from dialect_utils.ops.declaration import (
    ANY,
    COMBINED,
    CONTRACTED,
    CONVOLUTION,
    TO_APPLY,
    Opcode,
    computations,
    op,
    texts,
)

OPERATIONS: tuple[Opcode, ...] = (
    op(
        "convolution",
        2,
        CONTRACTED,
        *CONVOLUTION,
        *texts("convolution_kind sparsity_config algorithm block_scaling_config"),
    ),
    op("reduce-window", ANY, COMBINED, *texts("window"), *TO_APPLY),
    op("select-and-scatter", 3, COMBINED, *texts("window"), *computations("select scatter")),
)
