"""The rows of make bench do what they say, on inputs so small that nothing is measured."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from functools import partial

import pytest

from benchmarks import inputs
from benchmarks.ratios import table
from benchmarks.rows import each_instruction, edited, passing, reading
from dialect_utils.io.files import parse_bytes
from passes.framework.pipeline import verify

SMALL = partial(inputs.plain, 100)
TPU = "annotate-layouts{target=tpu-v4}"


@pytest.mark.parametrize("make", [inputs.plain, inputs.entry, inputs.results, inputs.stablehlo])
def test_inputs_are_modules_of_that_size(make: partial[str]) -> None:
    module = parse_bytes(make(100).encode(), "m")
    verify(module)
    count = sum(len(function.operations) + len(function.parameters) for function in module.functions)
    assert 100 <= count < 1000


def test_one_in_a_hundred_is_edited() -> None:
    assert edited(inputs.plain(1000)).count('frontend_attributes={edited="1"}') == 9


@pytest.fixture
def _small_heap() -> Iterator[None]:
    """Keeps the garbage collector from reading the objects of other tests before each measurement."""
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.usefixtures("_small_heap")
def test_what_is_measured_takes_time() -> None:
    for measured in (
        reading(SMALL),
        passing("verify-layouts", SMALL),
        passing("expand-tiling", SMALL, before=TPU, against_output=True),
        each_instruction("cancel-relayouts", f"{TPU},expand-tiling", SMALL),
    ):
        assert all(seconds > 0 for seconds in measured)


def test_two_steps_are_twice_one() -> None:
    one, two = inputs.training_step(), inputs.two_steps()
    assert two.count(" = ") == pytest.approx(2 * one.count(" = "), rel=0.01)
    assert two.count(" parameter(") == 2 * one.count(" parameter(")


def test_the_table_names_what_failed() -> None:
    figures: dict[str, dict[str, object]] = {
        "a": {"what": "a", "reference": "b", "ratio": 1.25, "goal": 2},
        "c": {"what": "c", "reference": "d", "ratio": "took more than 900 s", "goal": 3},
    }
    assert table(figures).splitlines()[2:] == ["| a | b | 1.25 | 2 |", "| c | d | took more than 900 s | 3 |"]
