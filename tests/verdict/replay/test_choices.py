"""The choices of the engine that a replay names, for steps of each rule that leaves one open."""

from __future__ import annotations

import pytest

from dialect_utils.verdict.certificate import Step
from dialect_utils.verdict.replay import Replayed
from dialect_utils.verdict.replay.equality import Level
from tests.verdict.replay.forging import TRUE, array, each, parameter, step, term, told
from tests.verdict.replay.test_forged_steps import STEPS as SUMS
from tests.verdict.replay.test_forged_widening import (
    WINDOW,
    converted,
    excess,
    exchanged,
    factors,
    function,
    precise,
)
from tests.verdict.replay.test_steps import HALVES, ORDER, as_sum, reduced, swapped

HALF, LINE = parameter(0, "bf16"), parameter(0, "bf16", 8)
LEFT, RIGHT = parameter(0, "bf16", 1, 2, 3), parameter(1, "bf16", 1, 4, 3)
FACTORS = factors("f32")
PADDED, SKIPPED = (
    term("op", ("convolution", WINDOW, 1, is_padded, ()), array("f32", 1, 1, 3, 2), *FACTORS)
    for is_padded in (True, False)
)
WIDE_DOT = term("op", ("dot", ()), array("f32", 1, 2, 4), *(converted(part, "f32") for part in (LEFT, RIGHT)))
CHOICES: dict[str, tuple[Step, str]] = {
    "a convolution that multiplies its padding": (step("convolution-padding", PADDED, SKIPPED), "convolution padding"),
    "a convolution in a wider type": (step(*precise("bf16", "f32")), "dot precision"),
    "a dot as a sum": (as_sum("f32"), "dot precision"),
    "a dot in a wider type": (
        step("wider-dot", term("op", ("dot", ()), array("bf16", 1, 2, 4), LEFT, RIGHT), converted(WIDE_DOT, "bf16")),
        "dot precision",
    ),
    "a sum in a wider type": (step(*excess("add", "bf16", "f32")), "excess precision"),
    "a sine in a wider type": (
        step(
            "function-rounding",
            converted(each("sine", array("f32"), converted(HALF, "f32")), "bf16"),
            each("sine", array("bf16"), HALF),
        ),
        "function rounding",
    ),
    "a sum of one element": (step("initial-zero", *SUMS["initial-zero"]), "initial zero"),
    "a sum among devices in a wider type": (
        step(
            "promoted-reduction",
            exchanged(LINE, function("add", "bf16")),
            converted(exchanged(converted(LINE, "f32"), function("add", "f32")), "bf16"),
        ),
        "precision of all-reduce",
    ),
    "a sum in another order": (reduced("f32", "add", HALVES, ORDER), "order of sums"),
}


@pytest.mark.parametrize("name", CHOICES)
def test_a_step_names_its_choice(name: str) -> None:
    one, choice = CHOICES[name]
    found = told((TRUE, TRUE), swapped("f32"), one)
    assert not found.refused
    assert found.used == (choice,)


def test_bits_of_nan_are_a_choice_of_outputs_that_are_not_equal_in_all_bits() -> None:
    found = Replayed((Level.BITS, Level.NAN, Level.ORDER, Level.ENGINE, None), Level.BITS, ("order of sums",))
    assert [*map(found.choices, range(5))] == [
        *((), ("NaN bits",)),
        *[("order of sums", "NaN bits")] * 2,
        (),
    ]
    assert found.all_choices == ("NaN bits", "order of sums")


@pytest.mark.parametrize(
    ("outputs", "effects", "is_equal"),
    [
        ((), Level.BITS, True),
        ((Level.BITS, Level.ENGINE), Level.BITS, True),
        ((Level.BITS, None), Level.BITS, False),
        ((Level.BITS,), None, False),
    ],
)
def test_programs_are_equal_with_all_outputs_and_effects(
    outputs: tuple[Level | None, ...], effects: Level | None, is_equal: bool
) -> None:
    assert Replayed(outputs, effects).is_equal == is_equal
