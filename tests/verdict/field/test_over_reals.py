"""Decisions of the field about pairs of programs: laws that it knows, and negative examples of each."""

from __future__ import annotations

import pytest

from dialect_utils.verdict.proof import ProofResult, decide, try_prove
from tests.verdict.proof import expressions as ex
from tests.verdict.proof.dialects import parse
from tests.verdict.proof.expressions import E, binary, constant, full, reduce, unary

X, Y = ex.parameter(0, "f32", (3, 4)), ex.parameter(1, "f32", (3, 4))


def floats(value: object) -> E:
    return full("f32", value, (3, 4))


def root(x: E) -> E:
    return unary("rsqrt", x)


def total(x: E) -> E:
    return reduce("add", x, constant("f32", 0), [1])


def decided(first: E, second: E) -> ProofResult:
    parameters = ex.parameters_of(first, second)
    modules = [parse(ex.module(side, parameters=parameters)) for side in (first, second)]
    return try_prove(modules, over_reals=True)


S = X * X + Y * Y
# A number for each row, and a root that all numbers of a row are multiples of.
ROW = ex.parameter(2, "f32", (3,))
COLUMN = ex.reshape(ex.slice_(Y, [(0, 3), (0, 1)]), (3,))
IN_ROWS = ex.broadcast(ROW, (3, 4), [0])


def largest(x: E) -> E:
    return reduce("maximum", x, constant("f32", "-inf"), [1])


def tiled(x: E) -> E:
    """Returns the maximum of each row, as that of its halves."""
    halves = [largest(ex.slice_(x, [(0, 3), bounds])) for bounds in ((0, 2), (2, 4))]
    return binary("maximum", *halves)


LAWS: dict[str, tuple[E, E, E]] = {
    "the square of a root": (unary("sqrt", S) * unary("sqrt", S), S, S * S),
    "the cube of a reciprocal root": (root(S) * root(S) * root(S), root(S) / S, root(S) * S),
    "a quotient of roots": (unary("sqrt", S) / S, root(S), unary("sqrt", S)),
    "a negative root": ((-unary("sqrt", S)) * unary("sqrt", S), -S, S),
    "roots of two numbers": (root(S) * root(X * X) * root(S), root(X * X) / S, root(S) / (X * X)),
    "a scaled root": (X * root(S) * (Y * root(S)), X * Y / S, X * X / S),
    "a sum of multiples of a root": (
        total(X * root(IN_ROWS)) * root(ROW),
        total(X) / ROW,
        total(X * root(IN_ROWS)) / ROW,
    ),
    "roots of different rows": (
        total(X * root(Y)) * root(COLUMN),
        root(COLUMN) * total(root(Y) * X),
        total(X / Y),
    ),
    "the opposite of a maximum in tiles": (
        unary("exponential", ROW - tiled(X)),
        unary("exponential", ROW) / unary("exponential", largest(X)),
        unary("exponential", ROW) / unary("exponential", -largest(-X)),
    ),
    "both infinities": (
        (X + floats("inf")) + floats("-inf"),
        floats("-inf") + (floats("inf") + X),
        X,
    ),
    "the gradient of a norm": (
        Y * root(S) - X * (root(S) * root(S) * root(S)) * Y,
        root(S) * (Y - X * Y / S),
        root(S) * (Y - X * Y),
    ),
}


@pytest.mark.parametrize("name", LAWS)
def test_a_law_is_known_and_its_wrong_twin_is_not(name: str) -> None:
    left, right, wrong = LAWS[name]
    assert decided(left, right).is_equal_over_reals
    assert not decided(left, wrong).is_equal_over_reals


FRACTIONS = {
    "a third": (X / floats(3), X * floats("0.333333343"), X * floats("0.333333313")),
    "a mean": (
        total(X) / full("f32", 768, (3,)),
        total(X * floats("0.00130208337")),
        total(X * floats("0.00130208325")),
    ),
    "folded": (X * floats("0.1") * floats(3), X * floats("0.300000012"), X * floats("0.29999998")),
}


@pytest.mark.parametrize("name", FRACTIONS)
def test_constants_count_as_what_they_round_where_the_answer_says_so(name: str) -> None:
    left, right, wrong = FRACTIONS[name]
    found = decided(left, right)
    assert found.is_equal_over_reals
    assert "with constants as the fractions that they round" in str(found.outputs[0])
    assert not decided(left, wrong).is_equal_over_reals


def test_what_is_equal_exactly_says_nothing_of_fractions() -> None:
    found = decided(total(X + Y), total(X) + total(Y))
    assert found.is_equal_over_reals
    assert "fractions" not in str(found.outputs[0])


@pytest.mark.parametrize("opcode", ["tanh", "exponential", "log", "sine", "abs"])
def test_a_factor_of_a_hundredth_more_is_no_rounding(opcode: str) -> None:
    right = total(unary(opcode, X) * Y)
    wrong = total(unary(opcode, X) * Y * floats("1.02"))
    assert decided(right, total(Y * unary(opcode, X))).answer == "equal"
    assert not decided(right, wrong).is_equal_over_reals


def test_a_chain_of_divisions_has_a_bound_that_does_not_explode() -> None:
    x = X
    for _ in range(12):
        x = x / binary("add", x * x, floats(1)) + Y
    y = x * floats(3)
    found = decided(total(x) * full("f32", 3, (3,)), total(y))
    assert found.is_equal_over_reals or "too large a degree" in str(found.outputs[0])


def test_a_bound_that_one_draw_does_not_reach_takes_more_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    pair, wrong = (total(X / floats("0.8")), total(X * floats("1.25"))), total(X * floats("1.2"))
    [one] = [each.over_reals for each in decided(*pair).outputs]
    assert one is not None
    monkeypatch.setattr("dialect_utils.verdict.field.decide._LARGEST_LOG_ERROR", 1.5 * one.log_error)
    [two] = [each.over_reals for each in decided(*pair).outputs]
    assert two is not None
    assert two.is_equal
    assert two.log_error == pytest.approx(2 * one.log_error)
    assert not decided(pair[0], wrong).is_equal_over_reals
    monkeypatch.setattr("dialect_utils.verdict.field.decide._LARGEST_LOG_ERROR", 9 * one.log_error)
    assert not decided(*pair).is_equal_over_reals


def test_elements_have_half_of_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float] = []
    seconds = decide._Seconds  # noqa: SLF001 (its argument is the limit)

    def limited(most: float) -> object:
        limits.append(most)
        return seconds(most)

    monkeypatch.setattr(decide, "seconds_left", lambda: 4.0)
    monkeypatch.setattr(decide, "_Seconds", limited)
    assert decided(total(X / floats("0.8")), total(X * floats("1.25"))).is_equal_over_reals
    assert limits == [2.0]
