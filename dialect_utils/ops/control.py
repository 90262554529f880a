"""Tuples, tokens, calls, loops and branches, and the general asynchronous wrapper."""

from __future__ import annotations

from dialect_utils.ops.declaration import (
    ANY,
    CONVOLUTION,
    NO_TRAITS,
    TO_APPLY,
    Opcode,
    Trait,
    computations,
    flags,
    integers,
    op,
    texts,
)

_FORWARDED = Trait.FORWARDS | Trait.ALIASES | Trait.BOUNDED
_TUPLED = Trait.TUPLES | Trait.ALIASES | Trait.BOUNDED | Trait.PURE

OPERATIONS: tuple[Opcode, ...] = (
    op("get-tuple-element", 1, _TUPLED, integers("index")),
    op("tuple", ANY, _TUPLED),
    op("add-dependency", 2, _FORWARDED | Trait.PURE, mlir=""),
    op("after-all", ANY, NO_TRAITS, mlir="after_all create_token"),
    op("domain", 1, _FORWARDED, *texts("domain"), mlir=""),
    op("opt-barrier", 1, _FORWARDED, mlir="optimization_barrier"),
    op(
        "async",
        ANY,
        Trait.CALLS | Trait.PASSES_OPERANDS,
        *computations("calls", "computations"),
        *texts("output_to_operand_aliasing"),
        mlir="",
    ),
    op("call", ANY, Trait.CALLS | Trait.PASSES_OPERANDS, *TO_APPLY, *flags("is_composite"), mlir=""),
    op(
        "conditional",
        ANY,
        Trait.CALLS,
        *computations("true_computation false_computation"),
        *computations("branch_computations", "computations"),
        mlir="case if",
    ),
    op(
        "custom-call",
        ANY,
        Trait.CALLS | Trait.ENGINE_DEFINED,
        *texts("custom_call_target"),
        *computations("to_apply called_computations", "computations"),
        *CONVOLUTION,
        *texts("api_version literal operand_layout_constraints output_to_operand_aliasing padding_type schedule"),
        *flags("custom_call_has_side_effect"),
    ),
    op(
        "fusion",
        ANY,
        Trait.CALLS | Trait.PASSES_OPERANDS,
        *computations("calls"),
        *texts("kind output_to_operand_aliasing"),
        mlir="",
    ),
    op("while", 1, Trait.CALLS, *computations("condition body")),
)
