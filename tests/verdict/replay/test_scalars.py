"""Steps between elementwise expressions: each is checked by itself, and all together lead to the normal form."""

from __future__ import annotations

from collections.abc import Hashable

import pytest

from dialect_utils.hlo.text.literals import parse_scalar
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape
from dialect_utils.verdict.proof.algebra.numbers import is_rounded
from dialect_utils.verdict.proof.terms import Term, Terms
from dialect_utils.verdict.replay.scalars import check_scalar
from dialect_utils.verdict.rules import Rule, all_rules
from dialect_utils.verdict.terms.constants import folded
from tests.expression_classes import KINDS
from tests.verdict.proof import expressions as ex
from tests.verdict.proof.equations import KINDS as RULE_KINDS, instances, unguarded, written
from tests.verdict.replay.expressions import evaluated, of_module

F32, S8, S32, U8, PRED = (ELEMENT_TYPES[name] for name in ("f32", "s8", "s32", "u8", "pred"))


@pytest.mark.parametrize("kind", KINDS)
def test_the_steps_of_random_expressions_lead_from_their_text_to_their_normal_form(kind: str) -> None:
    found = evaluated(kind, 1, 250)
    assert len(found.steps) > 100
    assert not found.unchecked()
    assert not found.missing()


SMALL = ("s4", "u4", "f4e2m1fn", "f8e4m3fn", "f8e5m2", "f8e4m3fnuz", "f8e8m0fnu")


@pytest.mark.parametrize(
    "rule", [rule for rule in all_rules() if rule.equations and rule.is_elementwise], ids=lambda rule: rule.name
)
def test_the_steps_of_both_sides_of_every_equation_lead_to_their_normal_forms(rule: Rule) -> None:
    for kind in (*RULE_KINDS, *SMALL):
        found = [each for equation in rule.equations for each in instances(equation, kind)]
        # A rewriting that ignores its guard makes steps that are rejected.
        found += [each for equation in rule.equations for each in unguarded(equation, kind)]
        found += [each for text in (*rule.examples, *rule.wrong) for each in written(text, kind)]
        roots = [side for each in found for side in each.sides()]
        made = of_module(ex.module(*roots, parameters=ex.parameters_of(*roots)))
        assert not made.unchecked(), kind
        assert not made.missing(), kind


REDUCED = """HloModule m
add { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT c = s32[] add(a, b) }
ENTRY e {
  x = s32[3] parameter(0)
  y = f8e8m0fnu[3] parameter(1)
  n = s32[3] negate(x)
  m = s32[3] maximum(n, x)
  t = f8e8m0fnu[3] negate(y)
  u = f8e8m0fnu[3] maximum(t, y)
  v = f8e8m0fnu[3] subtract(u, t)
  ROOT r = (s32[3], f8e8m0fnu[3]) tuple(m, v)
}
"""


def test_a_format_without_signs_has_no_steps_about_signs() -> None:
    found = of_module(REDUCED)
    assert not found.unchecked()
    assert not found.missing()
    assert {"abs-as-extreme", "integer-ring"} <= {rule for rule, _, _ in found.steps}
    assert not [step for step in found.steps if step[1].array.element_type.name == "f8e8m0fnu" and step[0] != "max-min"]


@pytest.fixture
def terms() -> Terms:
    return Terms()


def leaf(terms: Terms, name: str, kind: str = "f32") -> Term:
    return terms.make("leaf", name, ArrayShape(ELEMENT_TYPES[kind], (4,)))


def each(terms: Terms, label: Hashable, *operands: Term, kind: str | None = None) -> Term:
    result = operands[0].array.element_type if kind is None else ELEMENT_TYPES[kind]
    return terms.each_as_is(label, result, operands)


def test_a_step_holds_in_both_directions_and_says_in_which_equality(terms: Terms) -> None:
    x, y = leaf(terms, "x"), leaf(terms, "y")
    pair = each(terms, "add", x, y), each(terms, "add", y, x)
    assert check_scalar("commuted", *pair) == "nan"
    assert check_scalar("negation", each(terms, "negate", each(terms, "negate", x)), x) == "bits"
    assert check_scalar("negation", x, each(terms, "negate", each(terms, "negate", x))) == "bits"
    assert check_scalar("commuted", each(terms, "subtract", x, y), each(terms, "subtract", y, x)) is None
    assert check_scalar("no such rule", *pair) is None


def test_variables_and_constants_that_an_equation_has_twice_are_the_same(terms: Terms) -> None:
    x, y, p = leaf(terms, "x"), leaf(terms, "y"), leaf(terms, "p", "pred")
    assert check_scalar("select", each(terms, "select", p, x, x, kind="f32"), x) == "bits"
    assert check_scalar("select", each(terms, "select", p, x, y, kind="f32"), x) is None


@pytest.mark.parametrize(("divisor", "level"), [(4.0, "nan"), (3.0, None), (2.0**-127, None)])
def test_a_guard_is_about_the_constants_of_a_step(terms: Terms, divisor: float, level: str | None) -> None:
    x = leaf(terms, "x")
    c = terms.literal(F32, parse_scalar(F32, repr(divisor)), (4,))
    one = terms.literal(F32, parse_scalar(F32, "1"), (4,))
    after = each(terms, "multiply", x, each(terms, "divide", one, c))
    assert check_scalar("powers-of-two", each(terms, "divide", x, c), after) == level


@pytest.mark.parametrize(
    ("kind", "level"), [("f32", "nan"), ("f8e4m3fnuz", "nan"), ("f4e2m1fn", "bits"), ("s8", "bits")]
)
def test_a_format_without_nan_keeps_all_bits(terms: Terms, kind: str, level: str) -> None:
    x, y = leaf(terms, "x", kind), leaf(terms, "y", kind)
    assert check_scalar("max-min", each(terms, "maximum", x, y), each(terms, "maximum", y, x)) == level


@pytest.mark.parametrize(
    ("kind", "rule"), [("f8e8m0fnu", "negation"), ("f8e8m0fnu", "abs-as-extreme"), ("u8", "abs-as-extreme")]
)
def test_a_format_without_signs_is_rejected(terms: Terms, kind: str, rule: str) -> None:
    x = leaf(terms, "x", kind)
    negated = each(terms, "negate", x)
    if rule == "negation":
        assert check_scalar(rule, each(terms, "negate", negated), x) is None
    else:
        assert check_scalar(rule, each(terms, "maximum", x, negated), each(terms, "abs", x)) is None


def test_expressions_of_wrong_types_and_sizes_are_rejected(terms: Terms) -> None:
    x, y, p = leaf(terms, "x"), leaf(terms, "y", "s32"), leaf(terms, "p", "pred")
    assert check_scalar("commuted", each(terms, "add", x, y), each(terms, "add", y, x, kind="f32")) is None
    assert check_scalar("select", each(terms, "select", x, y, y, kind="s32"), y) is None
    assert check_scalar("select", each(terms, "select", p, y, y, kind="f32"), x) is None
    small = terms.make("leaf", "small", ArrayShape(F32, (1,)))
    assert check_scalar("commuted", each(terms, "add", x, small), each(terms, "add", small, x)) is None
    assert (
        check_scalar("integer-ring", each(terms, "add", y, x, kind="s32"), each(terms, "add", x, y, kind="s32")) is None
    )
    assert check_scalar("bitwise", each(terms, "and", y, x, kind="s32"), each(terms, "and", x, y, kind="s32")) is None
    assert check_scalar("bitwise", each(terms, "xor", x, x), terms.literal(F32, 0, (4,))) is None


def test_a_conversion_by_a_narrower_type_is_rejected(terms: Terms) -> None:
    x = leaf(terms, "x", "s32")
    for middle, level in (("f64", "bits"), ("f32", None), ("s64", "bits"), ("s16", None)):
        twice = each(terms, "convert", each(terms, "convert", x, kind=middle), kind="s32")
        found = check_scalar("convert-lossless", twice, each(terms, "convert", x, kind="s32"))
        assert (found is None) == (level is None), middle


def test_polynomials_are_compared_modulo_the_width(terms: Terms) -> None:
    x, y = leaf(terms, "x", "u8"), leaf(terms, "y", "u8")
    total = each(terms, "add", x, y)
    square = each(terms, "multiply", total, total)
    label = ("ring", (1, ((0, 2),)), (2, ((0, 1), (1, 1))), (257, ((1, 2),)))
    assert check_scalar("integer-ring", square, each(terms, label, x, y)) == "bits"
    other = (*label[:3], (2, ((1, 2),)))
    assert check_scalar("integer-ring", square, each(terms, other, x, y)) is None
    assert check_scalar("integer-ring", square, each(terms, ("ring", (1, ((2, 1),))), x, y)) is None
    for kind in ("f32", "pred"):
        z = leaf(terms, "z", kind)
        both = each(terms, "add", z, z), each(terms, ("ring", (2, ((0, 1),))), z)
        assert check_scalar("integer-ring", *both) is None


def test_a_set_has_the_same_leaves_and_one_operation(terms: Terms) -> None:
    x, y, z = (leaf(terms, name, "s8") for name in "xyz")
    nested = each(terms, "maximum", each(terms, "maximum", x, y), x)
    assert check_scalar("max-min", nested, each(terms, "maximum", y, x)) == "bits"
    assert check_scalar("max-min", nested, each(terms, "maximum", y, z)) is None
    assert check_scalar("max-min", nested, each(terms, "minimum", y, x)) is None
    odd = each(terms, "xor", each(terms, "xor", x, y), x)
    assert check_scalar("bitwise", odd, y) == "bits"
    assert check_scalar("bitwise", odd, x) is None
    assert check_scalar("bitwise", each(terms, "not", odd), each(terms, "not", y)) == "bits"


def test_a_sum_keeps_its_terms_and_its_initial_value(terms: Terms) -> None:
    x, y, z = (terms.make("leaf", name, ArrayShape(F32, ())) for name in "xyz")
    total = each(terms, ("sum", "add"), x, y, z)
    assert check_scalar("one-sum", total, each(terms, ("sum", "add"), x, z, y)) == "order"
    assert check_scalar("one-sum", total, each(terms, ("sum", "add"), y, x, z)) is None
    assert check_scalar("one-sum", total, each(terms, ("sum", "add"), x, y, y)) is None
    assert check_scalar("one-sum", total, each(terms, ("sum", "multiply"), x, y, z)) is None
    assert check_scalar("one-sum", total, each(terms, "add", each(terms, "add", x, y), z)) == "order"
    assert check_scalar("one-sum", total, each(terms, "add", each(terms, "add", x, z), z)) is None
    ordered = [each(terms, ("sum", "remainder"), *items) for items in ((x, y, z), (x, z, y))]
    assert check_scalar("one-sum", ordered[0], ordered[1]) is None
    zeros = terms.literal(F32, 0, ()), terms.literal(F32, 1 << 31, ())
    assert check_scalar("one-sum", each(terms, ("sum", "add"), zeros[0], x), x) is None
    assert check_scalar("one-sum", each(terms, ("sum", "add"), zeros[1], x), x) == "nan"


def test_constants_are_the_result_of_the_definition() -> None:
    assert folded("add", S8, ((S8, 100), (S8, 100))) == 200
    assert folded("divide", S8, ((S8, 100), (S8, 0))) is None
    assert folded("shift-left", U8, ((U8, 3), (U8, 8))) == 0
    assert folded("convert", S8, ((S32, 300),)) == 44
    assert folded(("compare", "LT", False), PRED, ((S8, 255), (S8, 0))) == 1
    assert folded("negate", F32, ((F32, 0x7FC00001),)) == 0xFFC00001
    assert folded("exponential", F32, ((F32, 0),)) is None
    for kind in (ELEMENT_TYPES["c64"], ELEMENT_TYPES["c128"]):
        assert folded("multiply", kind, ((kind, 1), (kind, 2))) is None


def test_a_result_that_is_the_exact_number_is_not_rounded() -> None:
    one, two, three = (parse_scalar(F32, text) for text in "123")
    for opcode, operands, is_exact in (
        ("divide", (one, two), True),
        ("divide", (one, three), False),
        ("sqrt", (two,), False),
    ):
        found = folded(opcode, F32, tuple((F32, bits) for bits in operands))
        assert found is not None
        assert is_rounded(opcode, F32, F32, (*operands, found)) != is_exact


def test_a_wrong_constant_is_rejected(terms: Terms) -> None:
    two, three = terms.literal(S8, 2, (4,)), terms.literal(S8, 3, (4,))
    total = each(terms, "add", two, three)
    assert check_scalar("constants", total, terms.literal(S8, 5, (4,))) == "bits"
    assert check_scalar("constants", total, terms.literal(S8, 6, (4,))) is None
    assert (
        check_scalar("constants", each(terms, "add", two, leaf(terms, "x", "s8")), terms.literal(S8, 5, (4,))) is None
    )


def test_repeated_scalars_are_the_operands_of_the_repeated_operation(terms: Terms) -> None:
    a, b = (terms.make("leaf", name, ArrayShape(F32, ())) for name in "ab")
    arrays = each(terms, "add", terms.splat(a, (4,)), terms.splat(b, (4,)))
    assert check_scalar("splat", arrays, terms.splat(each(terms, "add", a, b), (4,))) == "bits"
    assert check_scalar("splat", arrays, terms.splat(each(terms, "add", b, a), (4,))) is None
    assert check_scalar("splat", arrays, terms.splat(each(terms, "subtract", a, b), (4,))) is None
