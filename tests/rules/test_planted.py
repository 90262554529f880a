"""False equations: each method refutes them, by bits that the definitions confirm."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from dialect_utils.layout import ELEMENT_TYPES
from dialect_utils.verdict.rules import Equation, Rule, all_rules, conditions as c
from tests.rules import by_solver, exhaustive, ring, solvers
from tests.rules.cases import Case, cases, type_names
from tests.rules.plan import Method, is_choice, is_confirmed, sampled, verify
from tests.rules.samples import special_bits
from tests.rules.script import Script, literal
from tests.rules.test_table import needs_solvers

_FEW_BITS = 16
_WITH_EXAMPLES = [rule for rule in all_rules() if rule.wrong and rule.equations and rule.is_elementwise]


def case_of(equation: Equation, **types: str) -> Case:
    return Case(equation, tuple((name, ELEMENT_TYPES[kind]) for name, kind in types.items()))


FALSE: list[tuple[Method, Case]] = [
    ("every bit pattern", case_of(Equation("add(x, 0) = x", level="nan"), T="f8e4m3fn")),
    ("every bit pattern", case_of(Equation("divide(negate(x), y) = negate(divide(x, y))", level="nan"), T="f4e2m1fn")),
    ("every bit pattern", case_of(Equation("floor(ceil(x)) = ceil(x)", level="nan"), T="f6e2m3fn")),
    ("every bit pattern", case_of(Equation("convert[V](convert[U](x)) = convert[V](x)"), T="pred", U="f32", V="s1")),
    ("every bit pattern", case_of(Equation("maximum(x, y) = maximum(y, x)"), T="f8e5m2")),
    ("every bit pattern", case_of(Equation("shift-left(x, c) = multiply(x, shift-left(2, c))"), T="s8")),
    ("solver", case_of(Equation("add(x, 0) = x", level="nan"), T="f32")),
    ("solver", case_of(Equation("add(x, 0) = x", level="nan"), T="bf16")),
    ("solver", case_of(Equation("add(add(x, y), z) = add(x, add(y, z))", level="nan"), T="f64")),
    ("solver", case_of(Equation("multiply(multiply(x, 2), 0.5) = x", level="nan"), T="f16")),
    ("solver", case_of(Equation("abs(negate(x)) = negate(x)"), T="f32")),
    ("solver", case_of(Equation("select(compare[LT](x, y), y, x) = maximum(x, y)", level="nan"), T="f32")),
    ("solver", case_of(Equation("select(p, x, y) = select(p, y, x)"), T="s64")),
    ("solver", case_of(Equation("divide(x, c) = multiply(x, divide(1, c))", (c.PowerOfTwo(),)), T="u32")),
    ("solver", case_of(Equation("not(compare[LT](x, y)) = compare[GE](x, y)"), T="f64")),
    (
        "argument",
        case_of(Equation("convert[V](convert[U](x)) = convert[V](x)", level="nan"), T="f32", U="f16", V="f8e5m2"),
    ),
    ("argument", case_of(Equation("remainder(x, y) = x", level="nan"), T="f64")),
]


@pytest.mark.parametrize(("method", "case"), FALSE, ids=str)
def test_a_false_equation_is_refuted_by_bits_that_the_definitions_confirm(method: Method, case: Case) -> None:
    if method == "solver" and solvers.missing_packages():
        pytest.skip(f"not installed: {', '.join(solvers.missing_packages())}")
    found = verify(case, method, 60.0)
    assert found.outcome == "refuted"
    assert is_confirmed(case, dict(found.bits))


def test_a_counterexample_that_is_none_is_not_confirmed() -> None:
    _, case = FALSE[0]
    assert not is_confirmed(case, {"x": 0x38})


@pytest.mark.parametrize(
    "text",
    [
        "subtract(x, y) = subtract(y, x)",
        "multiply(abs(x), abs(y)) = multiply(x, y)",
        "multiply(x, 2) = multiply(x, 3)",
        "add(x, y) = or(x, y)",
    ],
)
def test_other_polynomials_are_not_equal(text: str) -> None:
    assert not ring.is_equation_of_polynomials(Equation(text))


@pytest.mark.parametrize(
    "text", ["convert[T](sine(convert[U](x))) = cosine(x)", "convert[T](add(convert[U](x), convert[U](x))) = add(x, x)"]
)
def test_other_functions_are_no_choice_of_an_engine(text: str) -> None:
    assert not is_choice(case_of(Equation(text, level="order"), T="f16", U="f32"))
    right = case_of(Equation("convert[T](sine(convert[U](x))) = sine(x)", level="order"), T="f16", U="f32")
    assert is_choice(right)
    assert not is_choice(replace(right, formats=(*right.formats[:1], ("U", ELEMENT_TYPES["bf16"]))))


def test_equal_polynomials_are_equal() -> None:
    assert ring.is_equation_of_polynomials(
        Equation("multiply(add(x, y), subtract(x, y)) = subtract(multiply(x, x), multiply(y, y))")
    )


@pytest.mark.parametrize("rule", _WITH_EXAMPLES, ids=lambda rule: rule.name)
def test_the_negative_examples_of_a_rule_are_refuted(rule: Rule) -> None:
    for text in rule.wrong:
        equation = Equation(text, level="nan")
        if "T" in type_names(equation):
            equation = replace(equation, guard=rule.domain)
        assert any(_is_refuted(case) for case in cases(equation)), text


def _is_refuted(case: Case) -> bool:
    return (exhaustive.counterexample(case) if case.bits <= _FEW_BITS else sampled(case)) is not None


def test_samples_agree_with_a_true_equation() -> None:
    assert sampled(case_of(Equation("remainder(remainder(x, y), y) = remainder(x, y)", level="nan"), T="f64")) is None


# Conditions on constants, as terms

_CONDITIONS: list[tuple[c.Condition, str]] = [
    *((c.Scale("c"), kind) for kind in ("f16", "bf16", "f32", "f64")),
    *((c.Doublings("c", "d"), kind) for kind in ("f16", "f64")),
    *((c.PowerOfTwo("c"), kind) for kind in ("u16", "u64")),
    *((c.BelowWidth(("c", "d")), kind) for kind in ("s16", "u64")),
    *((c.NotHighest("c"), kind) for kind in ("s32", "u32")),
    *((each, kind) for each in (c.AtMost("c", "d"), c.Ordered("c", "d")) for kind in ("f16", "f64", "s32", "u64")),
]


@needs_solvers
@pytest.mark.parametrize(("condition", "name"), _CONDITIONS, ids=str)
def test_a_condition_as_a_term_is_the_condition(condition: c.Condition, name: str) -> None:
    kind, script, wrong = ELEMENT_TYPES[name], Script(), []
    for bits in list(product(special_bits(kind), repeat=2))[::7]:
        values = {word: script.of_term(kind, literal(each, kind.bits)) for word, each in zip("cd", bits, strict=True)}
        term = by_solver.translated(condition, script, values, kind)
        expected = condition.holds({"T": kind}, dict(zip("cd", bits, strict=True)))
        wrong.append(f"(not (= {term} {str(expected).lower()}))")
    script.require(f"(or {' '.join(wrong)})")
    assert solvers.decide(script, solvers.solver_for(script), 60.0).outcome == "holds"


def test_all_bits_of_constants_are_those_that_the_guard_admits() -> None:
    case = case_of(Equation("divide(x, c) = x", (c.PowerOfTwo(),)), T="u4")
    assert np.array_equal(exhaustive.admitted(case), [[1], [2], [4], [8]])
