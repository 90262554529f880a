"""Tuples, tokens, calls, loops and branches, and the general asynchronous wrapper."""

from __future__ import annotations

from dialect_utils.ops.declaration import (
    ANY,
    CONVOLUTION,
    NO_TRAITS,
    TO_APPLY,
    Opcode,
    Trait,
    choice,
    computations,
    flags,
    integers,
    op,
    texts,
)
from dialect_utils.ops.inference import first_operand
from dialect_utils.ops.shapes import control as rules

_FORWARDED = Trait.FORWARDS | Trait.ALIASES | Trait.BOUNDED
_TUPLED = Trait.TUPLES | Trait.ALIASES | Trait.BOUNDED | Trait.PURE

_FUSION_KINDS = choice("kind", "kCustom kInput kLoop kOutput")

OPERATIONS: tuple[Opcode, ...] = (
    op("get-tuple-element", 1, _TUPLED, integers("index", needed=True), result=rules.element),
    op("tuple", ANY, _TUPLED, result=rules.made_tuple),
    op("add-dependency", 2, _FORWARDED | Trait.PURE, mlir="", result=first_operand, check=rules.check_dependency),
    op("after-all", ANY, NO_TRAITS, mlir="after_all create_token", result=rules.token, check=rules.check_tokens),
    op("domain", 1, _FORWARDED, *texts("domain", needed=True), mlir="", result=first_operand),
    op("opt-barrier", 1, _FORWARDED, mlir="optimization_barrier", result=first_operand),
    op(
        "async",
        ANY,
        Trait.CALLS | Trait.PASSES_OPERANDS,
        *computations("calls", "computations"),
        *texts("output_to_operand_aliasing"),
        mlir="",
    ),
    op(
        "call",
        ANY,
        Trait.CALLS | Trait.PASSES_OPERANDS,
        *TO_APPLY,
        *flags("is_composite"),
        mlir="",
        result=rules.returned,
        check=rules.check_call,
    ),
    op(
        "conditional",
        ANY,
        Trait.CALLS,
        *computations("true_computation false_computation"),
        *computations("branch_computations", "computations"),
        mlir="case if",
        result=rules.returned,
        check=rules.check_conditional,
    ),
    op(
        "custom-call",
        ANY,
        Trait.CALLS | Trait.ENGINE_DEFINED,
        *texts("custom_call_target", needed=True),
        *computations("to_apply called_computations", "computations"),
        *CONVOLUTION,
        *texts("api_version literal operand_layout_constraints output_to_operand_aliasing padding_type schedule"),
        *flags("custom_call_has_side_effect"),
        check=rules.check_custom_call,
    ),
    op(
        "fusion",
        ANY,
        Trait.CALLS | Trait.PASSES_OPERANDS,
        *computations("calls"),
        _FUSION_KINDS,
        *texts("output_to_operand_aliasing"),
        mlir="",
        result=rules.returned,
        check=rules.check_call,
    ),
    op("while", 1, Trait.CALLS, *computations("condition body"), result=first_operand, check=rules.check_while),
)
