"""Forged steps, each of which violates exactly one demand of its rule: a replay refuses them."""

from __future__ import annotations

from collections.abc import Hashable

import pytest

from dialect_utils.layout import Reshape, Transpose, TupleShape
from dialect_utils.ops.window import WindowDimension
from dialect_utils.verdict.certificate import ReadTerm
from tests.verdict.replay.forging import TRUE, array, constant, each, in_order, moved, parameter, step, term, told

SORTED = (("indices_are_sorted", "true"),)
ZERO, SMALL, ORIGIN = constant(0, "f32"), constant(0x3F800000, "f32"), constant(0, "s32")
TABLE, ROWS = parameter(0, "s32", 4, 4, 6), parameter(1, "s32", 3)
LEFT, SAME, SQUARE = parameter(0, "f32", 1, 4, 6), parameter(1, "f32", 1, 4, 6), parameter(1, "f32", 1, 6, 6)
NARROW, OTHER_NARROW = parameter(0, "bf16", 1, 4, 6), parameter(1, "bf16", 1, 4, 6)
MATRIX, COLUMN, LINE = parameter(0, "f32", 6, 6), parameter(0, "f32", 6, 1), parameter(0, "f32", 6)


def gathered(table: ReadTerm, promise: Hashable = ()) -> ReadTerm:
    return term("op", ("gather", (1, 1), promise), array("s32", 3, 1, 1, 6), table, ROWS, ROWS)


def dot(left: ReadTerm, right: ReadTerm, columns: int, kind: str = "f32") -> ReadTerm:
    return term("op", ("dot", ()), array(kind, 1, 4, columns), left, right)


def as_sum(left: ReadTerm, right: ReadTerm, to: tuple[tuple[int, ...], ...], kind: str = "f32") -> ReadTerm:
    """Returns the sum of products of [1, 4, 6] and [1, 4, 6], broadcast to some dimensions."""
    sizes = array(kind, 1, 4, 4, 6)
    factors = [term("op", ("broadcast", dims), sizes, part) for part, dims in zip((left, right), to, strict=True)]
    rows = moved(each("multiply", sizes, *factors), Reshape((16, 6)))
    total = term("op", ("reduce", "add"), array(kind, 16), rows, constant(0, kind))
    return moved(total, Reshape((1, 4, 4)))


def windows(has_padding: bool) -> ReadTerm:
    window = (WindowDimension(3, 1, 1, 1, 1, 1),)
    return term("op", ("reduce-window", "maximum", window, has_padding), array("f32", 6), LINE, SMALL)


FIRST, SECOND, UPDATES = parameter(0, "s32", 4, 2), parameter(1, "s32", 4, 2), parameter(3, "s32", 3, 1, 2)
BOUND = [term("leaf", ("bound", 0, i), array("s32")) for i in range(4)]
ADDED = term("op", ("function", 0, (array("s32"),) * 4, 2), TupleShape(()), BOUND[2], BOUND[3])


def scattered(number: int, promise: Hashable = ()) -> ReadTerm:
    """Returns a result of a scatter into two arrays."""
    label, shape = ("scatter", 2, promise), TupleShape((FIRST.shape, SECOND.shape))
    return term("out", number, FIRST.shape, term("op", label, shape, FIRST, SECOND, ROWS, UPDATES, UPDATES, ADDED))


SOLID, BLOCK, OTHER_BLOCK = parameter(0, "s32", 4, 5, 6), parameter(1, "s32", 2, 5, 3), parameter(4, "s32", 2, 5, 3)
AT, BEHIND = parameter(2, "s32"), parameter(3, "s32")
ORDER, BACK = Transpose((2, 0, 1)), Transpose((1, 2, 0))


def updated(block: ReadTerm, solid: ReadTerm = SOLID, at: ReadTerm = AT) -> ReadTerm:
    return term("op", ("dynamic-update-slice",), array("s32", 4, 5, 6), solid, block, at, ORIGIN, BEHIND)


def arranged(block: ReadTerm, solid: ReadTerm) -> ReadTerm:
    """Returns an update of an array whose last dimension comes first, arranged back."""
    made = term("op", ("dynamic-update-slice",), array("s32", 6, 4, 5), solid, block, BEHIND, AT, ORIGIN)
    return moved(made, BACK)


TURNED, PART = moved(SOLID, ORDER), moved(BLOCK, ORDER)
STEPS = {
    "window-order": (gathered(TABLE), gathered(in_order(TABLE, (4, 4, 6), (0, 1, 2)))),
    "dot-as-sum": (dot(LEFT, SAME, 4), as_sum(LEFT, SAME, ((0, 1, 3), (0, 2, 3)))),
    "dynamic-slice": (updated(BLOCK), arranged(PART, TURNED)),
    "reduction-order": (
        term("op", ("reduce", "maximum"), array("f32", 6), MATRIX, ZERO),
        term("op", ("reduce", "maximum"), array("f32", 6), in_order(MATRIX, (6, 2, 3), (0, 2, 1)), ZERO),
    ),
    "initial-zero": (
        term("op", ("reduce", "add"), array("f32", 6), COLUMN, ZERO),
        moved(COLUMN, Reshape((6,))),
    ),
}
FORGED = {
    "an indexed dimension in another order": (
        "window-order",
        gathered(TABLE),
        gathered(in_order(TABLE, (2, 2, 4, 6), (1, 0, 2, 3))),
    ),
    "a promise about indices": ("window-order", gathered(TABLE), gathered(TABLE, SORTED)),
    "a dot with the order of a gather": (
        "window-order",
        dot(LEFT, SQUARE, 6),
        moved(
            dot(in_order(LEFT, (4, 2, 3), (0, 2, 1)), SQUARE, 6),
            *(Reshape((4, 3, 2)), Transpose((0, 2, 1)), Reshape((1, 4, 6))),
        ),
    ),
    "another result of a scatter": (
        "window-order",
        scattered(0),
        scattered(1),
    ),
    "a promise about the indices of a scatter": ("window-order", scattered(0), scattered(0, SORTED)),
    "a sum in a type that is too narrow": (
        "dot-as-sum",
        dot(NARROW, OTHER_NARROW, 4, "bf16"),
        as_sum(NARROW, OTHER_NARROW, ((0, 1, 3), (0, 2, 3)), "bf16"),
    ),
    "products of rows with the same row": (
        "dot-as-sum",
        dot(LEFT, SAME, 4),
        as_sum(LEFT, SAME, ((0, 2, 3), (0, 2, 3))),
    ),
    "the minimum instead of the maximum": (
        "reduction-order",
        STEPS["reduction-order"][0],
        term("op", ("reduce", "minimum"), array("f32", 6), MATRIX, ZERO),
    ),
    "an element in another order": (
        "initial-zero",
        STEPS["initial-zero"][0],
        moved(COLUMN, Reshape((2, 3)), Transpose((1, 0)), Reshape((6,))),
    ),
    "padding of windows that are no convolution": ("convolution-padding", windows(True), windows(False)),
    "another result of an indexed scatter": ("indexed-dimensions", scattered(0), scattered(1)),
    "a promise about the indices of an indexed scatter": ("indexed-dimensions", scattered(0), scattered(0, SORTED)),
    "an update at another position": ("dynamic-slice", updated(BLOCK), updated(BLOCK, at=BEHIND)),
    "another update": ("dynamic-slice", updated(BLOCK), updated(OTHER_BLOCK)),
    "an update of another array": ("dynamic-slice", updated(BLOCK), updated(BLOCK, parameter(5, "s32", 4, 5, 6))),
    "an update in another arrangement": (
        "dynamic-slice",
        updated(BLOCK),
        arranged(moved(BLOCK, Transpose((2, 0, 1)), Reshape((3, 5, 2)), Transpose((0, 2, 1))), TURNED),
    ),
    "an update of a scrambled array": (
        "dynamic-slice",
        updated(BLOCK),
        arranged(PART, moved(SOLID, ORDER, Reshape((6, 5, 4)), Transpose((0, 2, 1)))),
    ),
    "movement instead of an update": ("dynamic-slice", updated(BLOCK), moved(TURNED, BACK)),
}


@pytest.mark.parametrize("rule", STEPS)
def test_the_step_that_is_forged_holds_without_the_forgery(rule: str) -> None:
    assert not told((TRUE, TRUE), step(rule, *STEPS[rule])).refused


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_step_is_refused(name: str) -> None:
    rule, before, after = FORGED[name]
    assert told((TRUE, TRUE), step(rule, before, after)).refused
