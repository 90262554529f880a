"""The sentences of `relayout check` about a verdict."""

from __future__ import annotations

import pytest

from dialect_utils.verdict import Counterexample, MovedElement, Place, Planted, Power, Verdict
from dialect_utils.verdict.outcome import NOT_GUARANTEED, Closeness, OutputProof, RealEquality

BITS = ("0x3f800000", "0x7fc00000")
EXAMPLE = Counterexample(1, (0, 2), BITS, ("1.0", "nan"), 3, 8)
MOVED = MovedElement(0, (1,), (Place("parameter 0", (2,)), Place("padding", None)))


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (Verdict("equal", ("proof",)), ["every output is proved the same for all inputs"]),
        (
            Verdict("equal", ("proof",), reason="not executed: too large"),
            ["every output is proved the same for all inputs; not executed: too large"],
        ),
        (
            Verdict("equal", ("proof", "xla"), data="on 14 sets of inputs", reason=f"xla: 3 differ, {NOT_GUARANTEED}"),
            [
                "every output is proved the same for all inputs, and XLA on 14 sets of inputs contradicts nothing; "
                "some bits differ, by no more than floating-point sums in another order may"
            ],
        ),
        (
            Verdict("equal", ("xla",), data="on every possible input (256 of them)"),
            [
                "executed by XLA on every possible input (256 of them), which leaves nothing open: no output differs",
            ],
        ),
        (
            Verdict(
                "agrees",
                ("xla", "interpreter"),
                data="on 2 sets of inputs",
                power=Power(7, 8, (Planted("omission of abs", "a.hlo:3:1"),)),
            ),
            [
                "not proved; executed by XLA and StableHLO's interpreter on 2 sets of inputs: no output differs; "
                "power 88 %, 7 of 8, 95 % interval 53 to 98 %",
                "not noticed: omission of abs at a.hlo:3:1",
            ],
        ),
        (
            Verdict("different", ("xla",), counterexample=EXAMPLE, reason="the results differ on random data"),
            [
                "output 1 at [0,2] is 1.0 (0x3f800000) in the first and nan (0x7fc00000) in the second; "
                "3 of 8 elements differ on random data"
            ],
        ),
        (
            Verdict("different", ("xla",), counterexample=EXAMPLE, reason="padding reaches a result"),
            [
                "output 1 at [0,2] is 1.0 (0x3f800000) in the first and nan (0x7fc00000) in the second; "
                "3 of 8 elements differ; padding reaches a result"
            ],
        ),
        (
            Verdict("different", ("proof",), counterexample=MOVED),
            ["output 0 at [1] comes from parameter 0[2] in the first and from padding in the second"],
        ),
        (
            Verdict(
                "close",
                ("xla",),
                counterexample=EXAMPLE,
                data="on 2 sets of inputs",
                proved=(OutputProof(1, False, over_reals=RealEquality(True, -15.0)),),
                closeness=Closeness(False, 2),
            ),
            [
                "not proved in bits, but equal over the reals (error below 1e-15); executed by XLA on 2 sets of "
                "inputs: both are at most 2 ulp from a run in higher precision",
                "for example, output 1 at [0,2] is 1.0 (0x3f800000) in the first and nan (0x7fc00000) in the second",
            ],
        ),
        (Verdict("different", ("xla",), reason="check 0 fails"), ["check 0 fails"]),
        (Verdict("unknown", reason="no time", proof="too long"), ["no time", "no proof: too long"]),
    ],
)
def test_a_verdict_is_told_in_plain_words(verdict: Verdict, said: list[str]) -> None:
    assert verdict.lines()[1:] == said


def test_a_scalar_has_no_index() -> None:
    example = Counterexample(0, (), BITS, ("1.0", "nan"), 1, 1)
    assert Verdict("different", counterexample=example).lines()[1].startswith("output 0 is 1.0 ")


@pytest.mark.parametrize(("output", "is_said"), [(1, True), (0, False)])
def test_what_is_equal_over_the_reals_is_said_of_the_output_that_differs(output: int, is_said: bool) -> None:
    proved = (OutputProof(output, False, over_reals=RealEquality(True, -15.0)),)
    lines = Verdict("different", counterexample=EXAMPLE, proved=proved).lines()
    remark = "over the real numbers both are equal: rounding, overflow or NaN makes the difference"
    assert (remark in lines) is is_said


def test_the_conventions_of_an_equality_over_the_reals_are_said_beside_a_difference() -> None:
    proved = (OutputProof(1, False, over_reals=RealEquality(True, -15.0, conventions=("x/x = 1",))),)
    lines = Verdict("different", counterexample=EXAMPLE, proved=proved).lines()
    assert any(line.startswith("over the real numbers both are equal (conventions: x/x = 1): ") for line in lines)


@pytest.mark.parametrize(
    ("reals", "said"),
    [
        (
            (RealEquality(True, -15.2), None),
            "not proved in bits, but equal over the reals (error below 1e-15); executed",
        ),
        (
            (RealEquality(True, -15.2), RealEquality(True, -13.5, has_fractions=True)),
            "not proved in bits, but equal over the reals (error below 1e-13), with constants as the fractions that "
            "they round; executed",
        ),
        (
            (RealEquality(True, -13.5, conventions=("x/x = 1",)), RealEquality(True, -15.2, conventions=("no NaN",))),
            "not proved in bits, but equal over the reals (error below 1e-13; conventions: x/x = 1, no NaN); executed",
        ),
        (
            (RealEquality(True, -15.2), RealEquality(False)),
            "not proved, nor known to be equal over the real numbers (output 1); executed",
        ),
        ((None, RealEquality(None, reason="complex")), "not proved, nor known to be equal over the real numbers"),
    ],
)
def test_an_agreement_says_what_is_known_over_the_reals(reals: tuple[RealEquality | None, ...], said: str) -> None:
    proved = tuple(OutputProof(i, each is None, over_reals=each) for i, each in enumerate(reals))
    verdict = Verdict("agrees", ("xla",), data="on 2 sets of inputs", proved=proved)
    assert verdict.lines()[1].startswith(said)


def test_the_passes_are_named_where_a_pipeline_is_checked() -> None:
    verdict = Verdict("different", counterexample=EXAMPLE)
    assert "1.0 (0x3f800000) before the passes and nan" in verdict.lines(("before the passes", "after them"))[1]


def test_a_verdict_prints_as_the_command_does() -> None:
    """Technical remarks are in `details`."""
    verdict = Verdict("equal", ("proof",), proof="terms of all results")
    assert str(verdict) == repr(verdict) == "equal (proof)\n  every output is proved the same for all inputs"
    assert verdict.details == "equal (proof), compared terms of all results"
