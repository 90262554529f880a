"""Gathers and scatters in two forms: one result, one proof. Forms with a mistake have none where they differ."""

from __future__ import annotations

import random
from functools import lru_cache
from math import prod

import numpy as np
import pytest

from dialect_utils.execution import Array, Worker, prepare
from dialect_utils.execution.reference import evaluate
from dialect_utils.verdict.certified import prove
from tests.verdict.proof import gathers
from tests.verdict.proof.dialects import parse


def combiner(body: str) -> str:
    return f"combine {{\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT r = s32[] {body}\n}}"


# A gather, and scatters that add, that take the larger element, and that write the last update.
COMBINERS = ("", combiner("add(a, b)"), combiner("maximum(a, b)"), combiner("copy(b)"))
_TYPES = {"s8": np.int8, "u8": np.uint8, "s32": np.int32, "u32": np.uint32, "s64": np.int64}


def inputs(case: gathers.Case, seed: int) -> list[Array]:
    """Returns arrays, and indices inside and outside of them."""
    rng = np.random.default_rng(seed)
    low = 0 if case.kind.startswith("u") else -2
    arrays = [rng.integers(-99, 99, sizes).astype(np.int32) for sizes in (case.array, case.slices)]
    return [arrays[0], rng.integers(low, 6, case.indices).astype(_TYPES[case.kind]), arrays[1]]


def have_same_results(case: gathers.Case, *texts: str) -> bool:
    first, second = texts
    return all(np.array_equal(result(first, case, seed), result(second, case, seed)) for seed in range(12))


# Each mistake is compared with the same forms without a mistake.
module_of = lru_cache(parse)


@lru_cache(maxsize=1 << 13)
def result(text: str, case: gathers.Case, seed: int) -> Array:
    count = 3 if "to_apply" in text else 2
    return evaluate(module_of(text), inputs(case, seed)[:count])[0]


def are_proved(first: str, second: str) -> bool:
    modules = [module_of(first), module_of(second)]
    return prove(modules).answer == "equal"


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("number", range(len(COMBINERS)))
def test_a_matrix_of_index_vectors_is_proved_to_be_the_same(number: int, seed: int) -> None:
    rng = random.Random(1000 * number + seed)
    case = gathers.case(rng, is_scatter=number > 0)
    first = gathers.plain(case, COMBINERS[number])
    # A counted dimension of another type, and the bounds of the only index of an unsigned type, are other terms.
    is_widened = rng.random() < 0.3 and not case.joined and (number == 0 or prod(case.batch) > 1)
    second = gathers.normalized(case, COMBINERS[number], is_widened=is_widened)
    assert have_same_results(case, first, second)
    assert are_proved(first, second)


@pytest.mark.parametrize("mistake", gathers.MISTAKES)
@pytest.mark.parametrize("number", range(len(COMBINERS)))
def test_a_mistake_is_not_proved(number: int, mistake: str) -> None:
    differing = 0
    for seed in range(40):
        case = gathers.case(random.Random(seed), is_scatter=number > 0)
        first = gathers.plain(case, COMBINERS[number])
        wrong = gathers.normalized(case, COMBINERS[number], mistake=mistake)
        if not have_same_results(case, first, wrong):
            differing += 1
            assert not are_proved(first, wrong)
    assert differing


@pytest.mark.parametrize("number", [0, 1])
def test_the_definition_agrees_with_xla(number: int, worker: Worker) -> None:
    for seed in range(6):
        case = gathers.case(random.Random(500 + seed), is_scatter=number > 0)
        text = gathers.plain(case, COMBINERS[number])
        given = [inputs(case, seed)[: 2 + number] for seed in range(12)]
        module = parse(text)
        for each, found in zip(given, worker.run(prepare(module, "m"), given, engine="xla"), strict=True):
            assert np.array_equal(evaluate(module, each)[0], found[0])
