"""Every rule: its equations are executed and proved; its negative examples are refuted, never proved."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from dialect_utils.execution import Array, Worker, prepare
from dialect_utils.layout import parse_array_shape
from dialect_utils.layout.arrays.dtypes import as_bits
from dialect_utils.verdict.proof import try_prove
from dialect_utils.verdict.rules import Rule, all_rules
from tests.styled_inputs import Style, styled_inputs
from tests.verdict.proof import expressions as ex
from tests.verdict.proof.dialects import parse
from tests.verdict.proof.equations import KINDS, Instance, instances, kinds_of, written

# Rules that hold for all data; test_conditional_rules.py is about the others.
SCALAR_RULES = [
    rule
    for rule in all_rules()
    if (rule.equations or rule.examples) and rule.is_elementwise and not rule.is_conditional
]


def execute(worker: Worker, found: Sequence[Instance]) -> list[list[tuple[Array, Array]]]:
    """Returns both sides of equations on random data of three styles, by StableHLO's interpreter."""
    roots = [side for instance in found for side in instance.sides()]
    parameters = ex.parameters_of(*roots)
    module = parse(ex.module(*roots, parameters=parameters))
    shapes = [parse_array_shape(f"{each.type}[{each.dims[0]}]") for each in parameters]
    styles: tuple[Style, ...] = ("special", "integers", "random")
    inputs = [styled_inputs(shapes, seed, style) for seed, style in enumerate(styles)]
    runs = worker.run(prepare(module, "m"), inputs, engine="interpreter")
    return [[(run[2 * i], run[2 * i + 1]) for run in runs] for i in range(len(found))]


def is_same(first: Array, second: Array) -> bool:
    """Is true for equal bits; any NaN is like any other."""
    with np.errstate(invalid="ignore"):
        both_nan = (first != first) & (second != second)
    return bool(np.all((as_bits(first) == as_bits(second)) | both_nan))


def is_proved(instance: Instance) -> bool:
    left, right = instance.sides()
    parameters = ex.parameters_of(left, right)
    modules = [parse(ex.module(side, parameters=parameters)) for side in (left, right)]
    return try_prove(modules).answer == "equal"


# Equations that only steps between normal forms use: neither side leads to the other.
ONLY_STEPS = {
    "maximum(x, minimum(y, z)) = minimum(maximum(x, y), maximum(x, z))",
    "minimum(x, maximum(y, z)) = maximum(minimum(x, y), minimum(x, z))",
}


@pytest.mark.parametrize("rule", SCALAR_RULES, ids=lambda rule: rule.name)
def test_the_equations_of_a_rule_hold_and_are_proved(rule: Rule, worker: Worker) -> None:
    proved: set[str] = set()
    for kind in KINDS:
        found = [each for equation in rule.equations for each in instances(equation, kind)]
        # Sides that differ by a choice of the engine are not the same bits.
        exact = [each for equation in rule.equations if equation.level != "order" for each in instances(equation, kind)]
        examples = [each for text in rule.examples for each in written(text, kind)] if kind in kinds_of(rule) else []
        assert all(map(is_proved, examples)), kind
        proved |= {f"{each.left} = {each.right}" for each in found if is_proved(each)}
        found = [each for each in (*exact, *examples) if each.is_safe]
        for instance, runs in zip(found, execute(worker, found) if found else (), strict=True):
            assert all(is_same(*pair) for pair in runs), str(instance)
    assert {f"{each.left} = {each.right}" for each in rule.equations} - proved <= ONLY_STEPS


@pytest.mark.parametrize("rule", SCALAR_RULES, ids=lambda rule: rule.name)
def test_the_wrong_twins_of_a_rule_are_refuted_and_not_proved(rule: Rule, worker: Worker) -> None:
    assert rule.wrong
    refuted: set[str] = set()
    for kind in kinds_of(rule):
        found = [(text, each) for text in rule.wrong for each in written(text, kind)]
        results = execute(worker, [each for _, each in found]) if found else ()
        for (text, instance), runs in zip(found, results, strict=True):
            if not all(is_same(*pair) for pair in runs):
                assert not is_proved(instance), str(instance)
                refuted.add(text)
    assert refuted == {*rule.wrong}


SIGNS = (
    ("negate(negate(x))", "x"),
    ("add(x, negate(y))", "subtract(x, y)"),
    ("maximum(negate(x), x)", "abs(x)"),
    ("negate(maximum(x, y))", "minimum(negate(x), negate(y))"),
)


@pytest.mark.parametrize("pair", SIGNS, ids=" = ".join)
def test_a_format_without_signs_has_no_equations_about_signs(pair: tuple[str, str]) -> None:
    (unsigned,) = written(" = ".join(pair), "f8e8m0fnu")
    (signed,) = written(" = ".join(pair), "f8e4m3fnuz")
    assert is_proved(signed)
    assert not is_proved(unsigned)
