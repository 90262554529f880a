"""True and false steps about movement of operations and of broadcasts; each false one violates one demand."""

from __future__ import annotations

import pytest

from dialect_utils.layout import Pad, Reshape, Slice, Transpose
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.verdict.certificate import ReadTerm, Step
from tests.verdict.replay.forging import TRUE, array, constant, each, moved, parameter, step, term, told
from tests.verdict.replay.test_forged_arrays import splat

X, Y, Z = (parameter(i, "s32", 4, 6) for i in range(3))
P, Q, AT, BEHIND = parameter(3, "pred"), parameter(4, "pred"), parameter(5, "s32"), parameter(6, "s32")
ROWS, OTHER_ROWS = parameter(7, "s32", 3), parameter(8, "s32", 3)
SUM, TURN, TALL = each("add", array("s32", 4, 6), X, Y), Transpose((1, 0)), array("s32", 6, 4)


def turned(array_: ReadTerm) -> ReadTerm:
    return moved(array_, TURN)


def added(*operands: ReadTerm, label: str = "add") -> ReadTerm:
    return each(label, operands[0].shape, *operands)


def chosen(selector: ReadTerm, *branches: ReadTerm) -> ReadTerm:
    return term("choice", None, branches[0].shape, selector, *branches)


def part(array_: ReadTerm, *starts: ReadTerm, sizes: tuple[int, ...] = (2, 3)) -> ReadTerm:
    return term("op", ("dynamic-slice",), array("s32", *sizes), array_, *(starts or (AT, BEHIND)))


def rows(array_: ReadTerm, at: ReadTerm = ROWS) -> ReadTerm:
    return term("op", ("gather", (1,), ()), array("s32", 3, 1, 6), array_, at)


def spread(array_: ReadTerm, to: tuple[int, ...], *sizes: int) -> ReadTerm:
    return term("op", ("broadcast", to), array("s32", *sizes), array_)


def reversed_(array_: ReadTerm, *dimensions: int) -> ReadTerm:
    return term("op", ("reverse", frozenset(dimensions)), array_.shape, array_)


def joined(dimension: int, *arrays: ReadTerm) -> ReadTerm:
    sizes = [4, 6]
    sizes[dimension] *= len(arrays)
    return term("op", ("concatenate", dimension), array("s32", *sizes), *arrays)


PAIR, SQUARE = parameter(0, "s32", 2, 6), parameter(0, "s32", 4, 9)
LINE, ONE, COLUMN = parameter(0, "s32", 3), parameter(1, "s32", 3), parameter(2, "s32", 3, 1)
NOTHING, EQUAL, S32 = parameter(3, "s32", 0, 6), parameter(3, "s32", 4, 4), array("s32")
WITH_ONE, WITH_MANY = (Plan(S32.element_type, (size, 6), (Pad((0, 0), (9 - size, 0)),), (True,)) for size in (8, 4))
NO_PADDING = Plan(S32.element_type, (), (Pad((), ()),), (True,))
NUMBERED, TWO, THREE = (
    term("op", ("iota",), array("s32", 4)),
    *(constant(value, "s32") for value in (2, 3)),
)
WRITTEN = term("op", ("dynamic-update-slice",), array("s32", 4, 6), X, PAIR, constant(1, "s32"), constant(0, "s32"))
INSIDE, ABOVE, ACROSS = (Slice((start, 0), (stop, 6)) for start, stop in ((1, 3), (3, 4), (0, 2)))


def padded(low: int, *steps: Slice, scalar: ReadTerm = AT, high: int = 0) -> ReadTerm:
    """Returns slices of an array with padding before and after its rows."""
    plan = Plan(S32.element_type, (4, 6), (Pad((low, 0), (high, 0)), *steps), (True, *[None] * len(steps)))
    return term("moved", plan, array("s32", *plan.result[1]), X, scalar)


def compared(direction: str, number: ReadTerm) -> ReadTerm:
    numbers = term("splat", None, array("s32", 4), number)
    return each(("compare", direction, False), array("pred", 4), NUMBERED, numbers)


def around(array_: ReadTerm, before: ReadTerm, after: ReadTerm) -> ReadTerm:
    """Returns an array with a row of one number before it, and then with a row of another one after it."""
    steps = Pad((1, 0), (0, 0)), Pad((0, 0), (1, 0))
    plan = Plan(S32.element_type, (4, 6), steps, (True, True))
    return term("moved", plan, array("s32", 6, 6), array_, before, after)


NEGATED = each("negate", LINE.shape, LINE)
MORE, LOW, HIGH = added(X, Z), added(AT, AT), added(BEHIND, AT)
TRUE_STEPS: dict[str, Step] = {
    "movement of a sum": step("through", turned(SUM), added(turned(X), turned(Y))),
    "movement of a choice": step("through", turned(chosen(P, X, Y)), chosen(P, turned(X), turned(Y))),
    "a slice of a sum": step("through", part(SUM), added(part(X), part(Y))),
    "rows of a sum": step("through", rows(SUM), added(rows(X), rows(Y))),
    "sums that are joined": step("through", joined(0, SUM, MORE), added(joined(0, X, X), joined(0, Y, Z))),
    "a sum with padding of sums": step(
        "through", around(SUM, LOW, HIGH), added(around(X, AT, BEHIND), around(Y, AT, AT))
    ),
    "a scalar from movement": step("moved", moved(splat(AT, "s32", 4, 6), TURN), splat(AT, "s32", 6, 4)),
    "a broadcast of a broadcast": step(
        "broadcast", spread(spread(LINE, (1,), 2, 3), (0, 2), 2, 4, 3), spread(LINE, (2,), 2, 4, 3)
    ),
    "a broadcast of a column": step(
        "broadcast", spread(COLUMN, (0, 1), 3, 4), spread(moved(COLUMN, Reshape((3,))), (0,), 3, 4)
    ),
    "repeated dimensions that are joined": step(
        "broadcast", moved(spread(LINE, (2,), 2, 4, 3), Reshape((8, 3))), spread(LINE, (1,), 8, 3)
    ),
    "a repeated dimension that is split": step(
        "broadcast", moved(spread(LINE, (1,), 8, 3), Reshape((2, 4, 3))), spread(LINE, (2,), 2, 4, 3)
    ),
    "repeated dimensions that are split otherwise": step(
        "broadcast", moved(spread(LINE, (2,), 2, 6, 3), Reshape((4, 3, 3))), spread(LINE, (2,), 4, 3, 3)
    ),
    "a broadcast that is transposed": step(
        "broadcast", moved(spread(LINE, (1,), 4, 3), TURN), spread(LINE, (0,), 3, 4)
    ),
    "a broadcast to one element": step("broadcast", spread(LINE, (0,), 3, 1), moved(LINE, Reshape((3, 1)))),
    "a broadcast of a negation": step(
        "broadcast",
        moved(spread(NEGATED, (1,), 4, 3), TURN),
        spread(NEGATED, (0,), 3, 4),
    ),
    "other parts of dimensions that are joined": step(
        "broadcast",
        moved(spread(X, (0, 1), 4, 6, 5), Reshape((3, 8, 5))),
        spread(moved(X, Reshape((3, 8))), (0, 1), 3, 8, 5),
    ),
    "dimensions of an array that are joined and split before a repeated one": step(
        "broadcast",
        moved(spread(X, (0, 1), 4, 6, 8), Reshape((24, 2, 4)), Transpose((2, 1, 0)), Reshape((8, 4, 6))),
        moved(spread(X, (0, 1), 4, 6, 8), Transpose((2, 0, 1))),
    ),
    "parts of a dimension, with a repeated one between them": step(
        "broadcast",
        moved(spread(X, (0, 2), 4, 5, 6), Reshape((4, 5, 2, 3)), Transpose((0, 2, 1, 3))),
        moved(spread(X, (0, 1), 4, 6, 5), Reshape((4, 2, 3, 5)), Transpose((0, 1, 3, 2))),
    ),
    "a reversal of no elements": step("reverse", reversed_(NOTHING, 1), NOTHING),
    "two reversals": step("reverse", reversed_(reversed_(X, 0), 0, 1), reversed_(X, 1)),
    "a reversal of two elements, twice": step("reverse", reversed_(reversed_(PAIR, 0), 0), PAIR),
    "a reversal before a transpose": step("reverse", turned(reversed_(X, 0)), reversed_(turned(X), 1)),
    "a slice of padding": step("moved", padded(2, Slice((0, 0), (2, 6))), splat(AT, "s32", 2, 6)),
    "a slice of an update": step("dynamic-slice", moved(WRITTEN, INSIDE), PAIR),
    "a slice beside an update": step("dynamic-slice", moved(WRITTEN, ABOVE), moved(X, ABOVE)),
    "constant arrays": step("constant-arrays", compared("LT", THREE), compared("LE", TWO)),
    "the same parts": step("concatenate", joined(0, X, Y), joined(0, X, Y)),
    "movement below a broadcast": step(
        "broadcast-moved", spread(turned(X), (0, 1), 6, 4, 5), moved(spread(X, (0, 1), 4, 6, 5), Transpose((1, 0, 2)))
    ),
}
FALSE_STEPS: dict[str, Step] = {
    "movement of another operation": step("through", turned(SUM), added(turned(X), turned(Y), label="multiply")),
    "an operation that is none": step("through", turned(SUM), chosen(P, turned(X), turned(Y))),
    "another operand": step("through", turned(SUM), added(turned(X), turned(Z))),
    "an operand that moves otherwise": step("through", turned(SUM), added(turned(X), moved(Y, Reshape((6, 4))))),
    "another selector": step("through", turned(chosen(P, X, Y)), chosen(Q, turned(X), turned(Y))),
    "another branch": step("through", turned(chosen(P, X, Y)), chosen(P, turned(X), turned(Z))),
    "another first branch": step("through", turned(chosen(P, X, Y)), chosen(P, turned(Z), turned(Y))),
    "a slice at another position": step("through", part(SUM), added(part(X), part(Y, BEHIND, AT))),
    "rows at other indices": step("through", rows(SUM), added(rows(X), rows(Y, OTHER_ROWS))),
    "sums joined in another order": step("through", joined(0, SUM, MORE), added(joined(0, X, X), joined(0, Z, Y))),
    "a sum joined with a product": step(
        "through", joined(0, SUM, added(X, Z, label="multiply")), added(joined(0, X, X), joined(0, Y, Z))
    ),
    "padding in another order": step(
        "through", around(SUM, LOW, HIGH), added(around(X, BEHIND, AT), around(Y, AT, AT))
    ),
    "padding by another operation": step(
        "through", around(SUM, LOW, AT), added(around(X, AT, BEHIND), around(Y, AT, AT))
    ),
    "an unknown operation on a sum": step(
        "through",
        term("op", ("unknown",), TALL, SUM),
        added(term("op", ("unknown",), TALL, X), term("op", ("unknown",), TALL, Y)),
    ),
    "another scalar": step("moved", moved(splat(AT, "s32", 4, 6), TURN), splat(BEHIND, "s32", 6, 4)),
    "other elements": step("moved", turned(X), moved(X, Reshape((6, 4)))),
    "elements of another array": step("moved", turned(X), turned(Y)),
    "a part of an array": step("moved", moved(X, Slice((0, 0), (2, 6))), moved(X, Slice((2, 0), (4, 6)))),
    "a broadcast along another dimension": step("broadcast", spread(LINE, (0,), 3, 3), spread(LINE, (1,), 3, 3)),
    "a broadcast of another array": step("broadcast", spread(LINE, (0,), 3, 4), spread(ONE, (0,), 3, 4)),
    "a dimension joined with a repeated one": step(
        "broadcast", moved(spread(LINE, (1,), 4, 3), Reshape((12,))), moved(spread(LINE, (0,), 3, 4), Reshape((12,)))
    ),
    "parts of a dimension in another order": step(
        "broadcast",
        moved(spread(SQUARE, (0, 2), 4, 5, 9), Reshape((4, 5, 3, 3)), Transpose((0, 3, 1, 2))),
        moved(spread(SQUARE, (0, 1), 4, 9, 5), Reshape((4, 3, 3, 5)), Transpose((0, 1, 3, 2))),
    ),
    "a dimension that is cut unevenly": step(
        "broadcast",
        moved(spread(X, (0, 1), 4, 6, 5), Reshape((8, 15))),
        moved(spread(X, (0, 2), 4, 5, 6), Reshape((8, 15))),
    ),
    "dimensions of an array that are joined and split": step("broadcast", moved(X, Reshape((6, 4))), turned(X)),
    "a broadcast of the transposed array": step(
        "broadcast", spread(EQUAL, (0, 1), 4, 4, 5), spread(EQUAL, (1, 0), 4, 4, 5)
    ),
    "padding instead of another part": step(
        "concatenate",
        term("moved", WITH_ONE, array("s32", 9, 6), joined(0, X, Y), AT),
        term("moved", WITH_MANY, array("s32", 9, 6), X, AT),
    ),
    "a slice of padding and one row": step("moved", padded(2, Slice((0, 0), (3, 6))), splat(AT, "s32", 3, 6)),
    "a slice of other padding": step("moved", padded(2, Slice((0, 0), (2, 6))), splat(BEHIND, "s32", 2, 6)),
    "a slice of rows between padding": step("moved", padded(1, Slice((0, 0), (6, 6)), high=1), splat(AT, "s32", 6, 6)),
    "a slice of an update and the array": step("dynamic-slice", moved(WRITTEN, ACROSS), PAIR),
    "the array below an update": step("dynamic-slice", moved(WRITTEN, INSIDE), moved(X, INSIDE)),
    "the array below a part of an update": step("dynamic-slice", moved(WRITTEN, ACROSS), moved(X, ACROSS)),
    "another array beside an update": step("dynamic-slice", moved(WRITTEN, ABOVE), moved(Y, ABOVE)),
    "an update at an unknown position": step(
        "dynamic-slice",
        moved(term("op", ("dynamic-update-slice",), array("s32", 4, 6), X, PAIR, AT, constant(0, "s32")), INSIDE),
        PAIR,
    ),
    "other constant arrays": step("constant-arrays", compared("LT", THREE), compared("LT", TWO)),
    "a quotient that the engine chooses": step(
        "constant-arrays",
        each("divide", array("s32", 4), NUMBERED, splat(constant(0, "s32"), "s32", 4)),
        splat(constant((1 << 32) - 1, "s32"), "s32", 4),
    ),
    "arrays that are not constant": step("constant-arrays", X, X),
    "a choice with the plan of a broadcast's movement": step(
        "broadcast-moved",
        spread(term("moved", NO_PADDING, S32, AT, BEHIND), ()),
        term("choice", NO_PADDING, S32, spread(AT, ()), BEHIND),
    ),
    "a reversal of another dimension": step("reverse", reversed_(X, 0), reversed_(X, 1)),
    "a reversal of another array": step("reverse", reversed_(X, 0), reversed_(Y, 0)),
    "a reversal of two elements": step("reverse", reversed_(PAIR, 0), PAIR),
    "an array that is not reversed": step("reverse", reversed_(X, 0), X),
    "other parts": step("concatenate", joined(0, X, Y), joined(0, Y, X)),
    "an operation instead of parts": step("concatenate", SUM, added(Y, X)),
    "movement of an operation instead of parts": step("concatenate", turned(SUM), turned(added(Y, X))),
    "movement of parts as an operation": step(
        "concatenate", turned(joined(0, X, Y)), added(*[turned(joined(0, X, Y))] * 2)
    ),
    "movement below a broadcast of another array": step(
        "broadcast-moved", spread(turned(X), (0, 1), 6, 4, 5), moved(spread(Y, (0, 1), 4, 6, 5), Transpose((1, 0, 2)))
    ),
    "another movement below a broadcast": step(
        "broadcast-moved", spread(turned(X), (0, 1), 6, 4, 5), moved(spread(X, (0, 1), 4, 6, 5), Reshape((6, 4, 5)))
    ),
}


@pytest.mark.parametrize("name", TRUE_STEPS)
def test_a_true_step_is_accepted(name: str) -> None:
    assert not told((TRUE, TRUE), TRUE_STEPS[name]).refused


@pytest.mark.parametrize("name", FALSE_STEPS)
def test_a_false_step_is_refused(name: str) -> None:
    assert told((TRUE, TRUE), FALSE_STEPS[name]).refused
