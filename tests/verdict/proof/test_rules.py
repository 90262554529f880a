"""Every rule: its equations are executed and proved; its negative examples are refuted, never proved."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from dialect_utils.execution import Array, Worker, prepare
from dialect_utils.layout import parse_array_shape
from dialect_utils.layout.arrays.dtypes import as_bits
from dialect_utils.verdict.ports import entry_ports
from dialect_utils.verdict.proof import try_prove
from dialect_utils.verdict.proof.algebra import Rule, all_rules
from dialect_utils.verdict.sampling import random_inputs
from dialect_utils.verdict.sampling.values import Style
from tests.verdict.proof import expressions as ex
from tests.verdict.proof.dialects import parse
from tests.verdict.proof.equations import sides

SCALAR_RULES = [rule for rule in all_rules() if rule.equations]


def _fits(text: str, kind: str) -> bool:
    is_negative = " -" in text or "(-" in text
    return not (is_negative and kind[0] == "u") and not ("abs" in text and kind[0] == "u")


def execute(worker: Worker, texts: Sequence[str], kind: str) -> dict[str, list[tuple[Array, Array]]]:
    """Returns both sides of equations on random data of three styles, by StableHLO's interpreter."""
    roots = [side for text in texts for side in sides(text, kind)]
    parameters = ex.parameters_of(*roots)
    module = parse(ex.module(*roots, parameters=parameters))
    shapes = [parse_array_shape(f"{each.type}[{each.dims[0]}]") for each in parameters]
    styles: tuple[Style, ...] = ("special", "integers", "random")
    inputs = [random_inputs(shapes, seed, style) for seed, style in enumerate(styles)]
    runs = worker.run(prepare(module, "m"), inputs, engine="interpreter")
    return {text: [(run[2 * i], run[2 * i + 1]) for run in runs] for i, text in enumerate(texts)}


def is_same(first: Array, second: Array) -> bool:
    """Is true for equal bits; any NaN is like any other."""
    with np.errstate(invalid="ignore"):
        both_nan = (first != first) & (second != second)
    return bool(np.all((as_bits(first) == as_bits(second)) | both_nan))


def is_proved(text: str, kind: str) -> bool:
    left, right = sides(text, kind)
    parameters = ex.parameters_of(left, right)
    modules = [parse(ex.module(side, parameters=parameters)) for side in (left, right)]
    return try_prove(modules, *entry_ports(modules)).answer == "equal"


@pytest.mark.parametrize("rule", SCALAR_RULES, ids=lambda rule: rule.name)
def test_the_equations_of_a_rule_hold_and_are_proved(rule: Rule, worker: Worker) -> None:
    for kind in rule.types:
        texts = [text for text in rule.equations if _fits(text, kind)]
        for text, runs in execute(worker, texts, kind).items():
            assert is_proved(text, kind), f"{text} of {kind}"
            assert all(is_same(*pair) for pair in runs), f"{text} of {kind}"


@pytest.mark.parametrize("rule", SCALAR_RULES, ids=lambda rule: rule.name)
def test_the_wrong_twins_of_a_rule_are_refuted_and_not_proved(rule: Rule, worker: Worker) -> None:
    assert rule.wrong
    refuted: set[str] = set()
    for kind in rule.types:
        texts = [text for text in rule.wrong if _fits(text, kind)]
        assert not any(is_proved(text, kind) for text in texts), kind
        refuted |= {text for text, runs in execute(worker, texts, kind).items() if not all(is_same(*p) for p in runs)}
    assert refuted == {*rule.wrong}
