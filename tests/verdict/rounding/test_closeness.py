"""Programs that are equal over the reals and differ by rounding, beside the programs that lose digits or are wrong."""

from __future__ import annotations

import numpy as np
import pytest

from dialect_utils.execution import Worker
from dialect_utils.verdict import Options, Verdict, compare_modules
from dialect_utils.verdict.outcome import Closeness
from dialect_utils.verdict.rounding.closeness import narrows
from tests.verdict.formulas import Array, Formula, exp, log, module, sqrt, tanh

POWERS = (0.3, -1.2, 0.7, 2.1, -0.4)
ROWS = ("8,32",)
TILES = ("64", "3")


def horner(x: Array, factors: tuple[float, ...] = POWERS) -> Array:
    found = x * factors[-1]
    for factor in factors[-2:0:-1]:
        found = (found + factor) * x
    return found + factors[0]


def by_powers(x: Array) -> Array:
    power, found = x, POWERS[0] + POWERS[1] * x
    for factor in POWERS[2:]:
        power = power * x
        found = found + factor * power
    return found


def tiles_and_taps(d: Array, g: Array) -> tuple[list[Array], list[Array]]:
    return [d.part(start, 64, 4) for start in range(4)], [g.scalar(i, "16") for i in range(3)]


def joined(first: Array, second: Array) -> Array:
    return first.op("concatenate", second, dims="32", rest=", dimensions={0}")


def convolved(d: Array, g: Array) -> Array:
    (a, b, c, e), (g0, g1, g2) = tiles_and_taps(d, g)
    return joined(a * g0 + b * g1 + c * g2, b * g0 + c * g1 + e * g2)


def winograd(d: Array, g: Array, half: float = 0.5, last: float = 1.0) -> Array:
    """Computes two elements of a convolution by four products in place of six: F(2, 3)."""
    (a, b, c, e), (g0, g1, g2) = tiles_and_taps(d, g)
    m1, m2 = (a - c) * g0, (b + c) * ((g0 + g1 + g2) * half)
    m3, m4 = (c - b) * ((g0 - g1 + g2) * 0.5), (b - e) * g2
    return joined(m1 + m2 + m3, m2 - m3 - m4 * last)


def softmax(x: Array) -> Array:
    return exp(x) / exp(x).rows()


def softmax_of_shifted(x: Array) -> Array:
    return softmax(x - x.rows("maximum"))


def variance(x: Array) -> Array:
    centered = x - x.rows() / 32
    return (centered * centered).rows() / 32


def variance_by_squares(x: Array) -> Array:
    mean = x.rows() / 32
    return (x * x).rows() / 32 - mean * mean


def shifted_square(x: Array, shift: float) -> Array:
    return (x + shift) * (x + shift) - shift * shift - (2 * shift) * x


def sigmoid(x: Array) -> Array:
    return 1 / (1 + exp(-x))


def sigmoid_by_tanh(x: Array, inner: float = 0.5, outer: float = 0.5) -> Array:
    return outer * (tanh(inner * x) + 1)


Pair = tuple[Formula, Formula, tuple[str, ...]]
CLOSE: dict[str, Pair] = {
    "x / 3": (lambda x: x / 3, lambda x: x * (1 / 3), ("64",)),
    "sigmoid by tanh": (sigmoid, sigmoid_by_tanh, ("64",)),
    "sigmoid from tanh": (sigmoid_by_tanh, sigmoid, ("64",)),
    "sigmoid from above": (sigmoid, lambda x: 1 - 1 / (1 + exp(x)), ("64",)),
    "Horner": (by_powers, horner, ("64",)),
    "powers": (horner, by_powers, ("64",)),
    "Winograd": (convolved, winograd, TILES),
    "direct convolution": (winograd, convolved, TILES),
    "tanh by exp": (tanh, lambda x: 1 - 2 / (exp(2 * x) + 1), ("64",)),
    "log1p": (lambda x: x.op("log-plus-one"), lambda x: log(1 + x), ("64",)),
    "a reciprocal": (lambda x, y: x / y, lambda x, y: x * (1 / y), ("16", "16")),
    "a difference of squares": (lambda x, y: x * x - y * y, lambda x, y: (x - y) * (x + y), ("16", "16")),
    "rsqrt": (lambda x: x.op("rsqrt") * 1.5, lambda x: 1.5 / sqrt(x), ("64",)),
}
KINDS = ("f32", "bf16", "f16", "f64")
# Each form on one type, and a few of them on all.
CASES = [(name, KINDS[number % 2]) for number, name in enumerate(CLOSE)]
CASES += [(name, kind) for name in ("x / 3", "Horner", "Winograd") for kind in KINDS if (name, kind) not in CASES]
# An original in 64 bits has no run in higher precision, and data of one magnitude cancels in Winograd's sums.
CASES.remove(("Winograd", "f64"))
DIFFERENT: dict[str, Pair] = {
    "1 / 3.003": (lambda x: x / 3, lambda x: x * (1 / 3.003), ("64",)),
    "sigmoid, another factor inside": (sigmoid, lambda x: sigmoid_by_tanh(x, 0.5005), ("64",)),
    "sigmoid, another factor": (sigmoid, lambda x: sigmoid_by_tanh(x, 0.5, 0.5005), ("64",)),
    "sigmoid, another sign": (sigmoid, lambda x: sigmoid_by_tanh(x, -0.5), ("64",)),
    "sigmoid that overflows": (sigmoid, lambda x: exp(x) / (1 + exp(x)), ("64",)),
    "Horner, another factor": (by_powers, lambda x: horner(x, (0.3, -1.2, 0.7, 2.102, -0.4)), ("64",)),
    "Horner, without a term": (by_powers, lambda x: horner(x, POWERS[:-1]), ("64",)),
    "Winograd, another factor": (convolved, lambda d, g: winograd(d, g, 0.5005), TILES),
    "Winograd, another sign": (convolved, lambda d, g: winograd(d, g, last=-1.0), TILES),
    "Winograd, without a term": (convolved, lambda d, g: winograd(d, g, last=0.0), TILES),
    "softmax that overflows": (softmax_of_shifted, softmax, ROWS),
    "a variance that loses digits": (variance, variance_by_squares, ROWS),
    "a square that loses digits": (lambda x: x * x, lambda x: shifted_square(x, 64.0), ("64",)),
    "a square that lost digits": (lambda x: shifted_square(x, 1000.0), lambda x: x * x, ("64",)),
    "tanh that overflows": (tanh, lambda x: (exp(2 * x) - 1) / (exp(2 * x) + 1), ("64",)),
    "log1p of another number": (lambda x: x.op("log-plus-one"), lambda x: log(1.001 + x), ("64",)),
    "through f16": (tanh, lambda x: tanh(x).converted("f16").converted("f32"), ("64",)),
    "x / x": (lambda x: x / x, lambda x: x * 0 + 1, ("64",)),
    "an infinity of another sign": (lambda x: 1 / (x + 0), lambda x: 1 / x, ("64",)),
}


@pytest.fixture(autouse=True)
def _without_conditions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns proofs under conditions off: they make a few of these pairs equal."""
    monkeypatch.setattr("dialect_utils.verdict.compare.prove_conditionally", lambda *arguments: None)


def judged(worker: Worker, pair: Pair, kind: str = "f32", options: Options | None = None) -> Verdict:
    first, second, inputs = pair
    modules = module(first, kind, inputs), module(second, kind, inputs)
    return compare_modules(*modules, options or Options(power=0), worker)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_equal_functions_that_round_differently_are_close(worker: Worker, name: str, kind: str) -> None:
    verdict = judged(worker, CLOSE[name], kind)
    assert verdict.verdict == "close", verdict.details
    assert verdict.closeness is not None
    assert verdict.counterexample is not None
    assert str(verdict.closeness) in str(verdict)


@pytest.mark.parametrize("name", DIFFERENT)
def test_lost_digits_are_different(worker: Worker, name: str) -> None:
    assert judged(worker, DIFFERENT[name]).verdict == "different"


def replaced_where(condition: str, value: float) -> Formula:
    """Returns x, and a number where x is not finite (`is-finite`), or is NaN (`compare`)."""

    def formula(x: Array) -> Array:
        arguments, rest = ([x], ", direction=EQ") if condition == "compare" else ([], "")
        is_kept = x.op(condition, *arguments, kind="pred", rest=rest)
        return is_kept.op("select", x, x.writer.number(value, x.dims), kind=x.kind)

    return formula


@pytest.mark.parametrize(
    ("condition", "value"), [("is-finite", 3.4028234663852886e38), ("compare", 0.5), ("compare", float("inf"))]
)
def test_special_numbers_that_are_replaced_are_different(worker: Worker, condition: str, value: float) -> None:
    """Over the reals nothing is replaced; a large number is no infinity, and an infinity is no NaN."""
    replaced = replaced_where(condition, value)
    for pair in ((replaced, lambda x: x * 1.0), (lambda x: x * 1.0, replaced)):
        assert judged(worker, (*pair, ("64",))).verdict == "different"


def test_a_nan_inside_that_becomes_a_number_is_different(worker: Worker) -> None:
    """Infinities of both signs make the NaN, and the result is infinite without it; over the reals there is no NaN."""

    def half(x: Array, y: Array) -> Array:
        return tanh(x + y) * 0.5

    def guarded(x: Array, y: Array) -> Array:
        found = half(x, y)
        is_number = found.op("compare", found, kind="pred", rest=", direction=EQ")
        return is_number.op("select", found, x.writer.number(0.0, x.dims), kind=x.kind)

    pair = (
        lambda x, y: (half(x, y) - x).op("abs").op("maximum", y),
        lambda x, y: (guarded(x, y) - x).op("abs").op("maximum", y),
        ("6,6", "6,6"),
    )
    assert judged(worker, pair).verdict == "different"


def test_truth_values_are_not_close(worker: Worker) -> None:
    """A third and the product with 0.33333334 are equal over the reals, and so is each compared with a third."""

    def is_third(x: Array, third: Array) -> Array:
        return third.op("compare", x / 3, kind="pred", rest=", direction=EQ")

    pair = lambda x: is_third(x, x / 3), lambda x: is_third(x, x * (1 / 3)), ("64",)
    verdict = judged(worker, pair)
    assert [each.over_reals.is_equal for each in verdict.proved if each.over_reals] == [True]
    assert verdict.verdict == "different"


def test_only_a_proof_makes_a_difference_close(worker: Worker) -> None:
    for options in (Options(engines=("xla",), power=0), Options(compare="bits", power=0)):
        assert judged(worker, CLOSE["x / 3"], options=options).verdict == "different"
    alone = judged(worker, CLOSE["x / 3"], options=Options(engines=("proof", "interpreter"), power=0))
    assert (alone.verdict, alone.methods) == ("close", ("interpreter",))


def test_given_inputs_are_all_the_data(worker: Worker) -> None:
    inputs = (np.linspace(-3, 3, 64, dtype=np.float32),)
    verdict = judged(worker, CLOSE["sigmoid by tanh"], options=Options(inputs=inputs, power=0))
    assert (verdict.verdict, verdict.data) == ("close", "on 1 set of inputs")


def test_a_line_states_the_units() -> None:
    text = "at most 3 ulp of the largest number from a run in higher precision"
    assert str(Closeness(is_of_largest=True, ulps=3)) == text
    assert max(Closeness(False, 9), Closeness(True, 2)).as_json() == {"ulps": 2, "unit": "largest"}


def test_a_rewrite_may_not_use_narrower_floats() -> None:
    wide, narrow = module(tanh), module(lambda x: tanh(x).converted("bf16").converted("f32"))
    assert narrows(wide, narrow)
    assert not narrows(narrow, wide)
    assert not narrows(wide, wide)


def test_a_counterexample_shows_numbers_rather_than_zeros(worker: Worker) -> None:
    """Small whole numbers show only that 0 is -0; a number above 1000 is clamped on other data."""

    def clamped(x: Array) -> Array:
        return x.op("negate").op("maximum", -1000.0)

    verdict = judged(worker, (lambda x: 0 - x, clamped, ("64",)), options=Options(engines=("xla",), power=0))
    assert verdict.verdict == "different"
    assert "1000" in str(verdict.counterexample)
