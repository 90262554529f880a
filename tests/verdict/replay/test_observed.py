"""Operations that distinguish NaNs, or numbers that differ by a rounding error: one case for each reason."""

from __future__ import annotations

from collections.abc import Hashable

import pytest

from dialect_utils.layout import ELEMENT_TYPES, BitcastConvert, Reshape, Shape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.verdict.terms.observed import observes_bits, observes_rounding
from tests.verdict.replay.forging import array


def called(target: str) -> Hashable:
    """Returns the label of a custom call."""
    return (("custom-call", (), (("custom_call_target", target),), None, None),)


def operation(opcode: str) -> Hashable:
    return ((opcode, (), (), None, None),)


# Comparisons of arrays without known sizes have their whole key, too.
UNORDERED = (("compare", (), (("direction", "LT"),), None, None),)
ORDERED = (("compare", (), (("direction", "LT"), ("type", "TOTALORDER")), None, None),)
F32, S32, C64, PRED = (array(kind, 4) for kind in ("f32", "s32", "c64", "pred"))
RESHAPED = Plan(F32.element_type, (4,), (Reshape((2, 2)),))
REREAD = Plan(F32.element_type, (4,), (BitcastConvert(ELEMENT_TYPES["u8"]),))


@pytest.mark.parametrize(
    ("kind", "label", "result", "operand", "is_observed"),
    [
        ("op", operation("topk"), F32, F32, True),
        ("op", operation("topk"), S32, S32, False),
        ("op", operation("sort"), F32, F32, False),
        ("op", operation("all-reduce"), F32, F32, False),
        ("op", called("of_a_library"), F32, F32, True),
        ("op", called("of_a_library"), S32, S32, False),
        ("op", called("Sharding"), F32, F32, False),
        ("op", called("check.expect_eq"), F32, F32, False),
        ("moved", RESHAPED, F32, F32, False),
        ("moved", REREAD, S32, F32, True),
        ("each", ("compare", "LT", True), PRED, F32, True),
        ("each", ("compare", "LT", False), PRED, F32, False),
        ("each", ORDERED[0], PRED, F32, True),
        ("each", UNORDERED[0], PRED, F32, False),
        ("op", ORDERED, PRED, F32, True),
        ("op", UNORDERED, PRED, F32, False),
        ("each", ("bitcast-convert", S32.element_type), S32, F32, True),
        ("each", ("part", 0), S32, F32, True),
        ("each", "joined", F32, F32, True),
        ("each", "convert", array("f4e2m1fn", 4), F32, True),
        ("each", "convert", array("bf16", 4), F32, False),
        ("each", "negate", F32, F32, False),
    ],
)
def test_the_bits_of_a_nan_are_observed(
    kind: str, label: Hashable, result: Shape, operand: Shape, is_observed: bool
) -> None:
    assert observes_bits(kind, label, result, [operand]) is is_observed
    assert observes_bits(kind, label, result, [S32, operand]) is is_observed


@pytest.mark.parametrize(
    ("kind", "label", "result", "operand", "is_observed"),
    [
        ("op", operation("sort"), F32, F32, True),
        ("op", operation("sort"), S32, S32, False),
        ("op", operation("cholesky"), F32, F32, False),
        ("op", operation("all-reduce"), F32, F32, False),
        ("op", called("of_a_library"), F32, F32, True),
        ("op", called("Sharding"), F32, F32, False),
        ("each", "floor", F32, F32, True),
        ("each", "add", F32, F32, False),
        ("each", "log", C64, C64, True),
        ("each", "log", F32, F32, False),
        ("each", "convert", S32, F32, True),
        ("each", "convert", array("bf16", 4), F32, False),
        ("each", "stochastic-convert", S32, F32, True),
        ("each", ("compare", "LT", False), PRED, F32, True),
        ("each", ("compare", "LT", False), PRED, S32, False),
        ("moved", REREAD, S32, F32, True),
        ("moved", RESHAPED, F32, F32, False),
    ],
)
def test_a_rounding_error_is_observed(
    kind: str, label: Hashable, result: Shape, operand: Shape, is_observed: bool
) -> None:
    assert observes_rounding(kind, label, result, [operand]) is is_observed
