"""Forged steps about whole arrays: both terms differ, and exactly one demand of the rule is violated."""

from __future__ import annotations

from collections.abc import Hashable

import pytest

from dialect_utils.layout import (
    ELEMENT_TYPES,
    BitcastConvert,
    Pad,
    Reshape,
    Slice,
    Transpose,
    TupleShape,
)
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops.window import WindowDimension
from dialect_utils.verdict.certificate import ReadTerm
from dialect_utils.verdict.terms.cuts import Cut
from dialect_utils.verdict.terms.graph import UNSPECIFIED
from dialect_utils.verdict.terms.wellformed import NOTHING
from tests.verdict.replay.forging import TRUE, array, constant, each, hlo, in_order, moved, parameter, step, term, told

Step = tuple[str, ReadTerm, ReadTerm]
TURN = Transpose((1, 0))
X, Y = parameter(0, "s32", 4, 6), parameter(1, "s32", 4, 6)
AT, BEHIND, TRUTH = parameter(2, "s32"), parameter(3, "s32"), parameter(4, "pred")
SCALAR, OTHER = parameter(2, "f32"), parameter(3, "f32")
LINE, FLOATS, OTHER_FLOATS = parameter(0, "s32", 6), parameter(0, "f32", 3, 3), parameter(1, "f32", 3, 3)
SORTED = (("indices_are_sorted", "true"),)


def unknown(*rest: Hashable) -> Hashable:
    """Returns the label of an operation that no rule knows."""
    return ("unknown", *rest)


def sliced(source: ReadTerm, sizes: tuple[int, ...], *starts: ReadTerm, kind: str = "s32") -> ReadTerm:
    return term("op", ("dynamic-slice",), array(kind, *sizes), source, *starts)


def splat(scalar: ReadTerm, kind: str, *sizes: int) -> ReadTerm:
    return term("splat", None, array(kind, *sizes), scalar)


LONG, HIGH = parameter(0, "s32", 300), constant(200, "u8")
SLICES: dict[str, Step] = {
    "a slice of other sizes": (
        "dynamic-slice",
        sliced(X, (2, 3), AT, BEHIND),
        moved(sliced(X, (3, 2), AT, BEHIND), Reshape((2, 3))),
    ),
    "a position that is joined to another dimension": (
        "dynamic-slice",
        sliced(X, (2, 6), AT, constant(0, "s32")),
        moved(sliced(moved(X, TURN), (6, 2), constant(0, "s32"), BEHIND), TURN),
    ),
    "a sum instead of a whole slice": (
        "dynamic-slice",
        sliced(LINE, (6,), AT),
        each("add", array("s32", 6), LINE, LINE),
    ),
    "an unsigned position that is no negative one": (
        "dynamic-slice",
        sliced(LONG, (1,), HIGH),
        moved(LONG, Slice((0,), (1,))),
    ),
    "an operation on the scalar of a sliced array": (
        "dynamic-slice",
        sliced(splat(SCALAR, "f32", 4, 6), (2, 3), AT, BEHIND, kind="f32"),
        term("op", unknown(), array("f32", 2, 3), SCALAR),
    ),
}

TABLE, ROWS, COLUMNS = parameter(0, "s32", 4, 4, 2), parameter(1, "s32", 3), parameter(2, "s32", 3)
SECOND, UPDATES = parameter(4, "s32", 4, 4, 2), parameter(3, "s32", 3, 1, 1, 2)
BOUND = [term("leaf", ("bound", 0, i), array("s32")) for i in range(4)]
ADDED = term("op", ("function", 0, (array("s32"),) * 4, 2), TupleShape(()), BOUND[2], BOUND[3])
ADDED_ONE = term("op", ("function", 0, (array("s32"),) * 2, 1), TupleShape(()), BOUND[1])
TURNED, TURNED_ROWS = Transpose((1, 0, 2)), Transpose((0, 2, 1, 3))


def gathered(table: ReadTerm, label: Hashable = ("gather", (1, 1), ())) -> ReadTerm:
    assert table.shape in (array("s32", 4, 4, 1), array("s32", 4, 4, 2), array("s32", 4, 4, 5))
    return term("op", label, array("s32", 3, 1, 1, table.shape.dimensions[-1]), table, ROWS, COLUMNS)  # type: ignore[union-attr]


def scattered(arrays: tuple[ReadTerm, ...], columns: tuple[ReadTerm, ...], rows: ReadTerm, label: Hashable) -> ReadTerm:
    function = ADDED if len(arrays) > 1 else ADDED_ONE
    shape = TupleShape(tuple(each_.shape for each_ in arrays))
    made = term("op", label, shape, *arrays, *columns, *[rows for _ in arrays], function)
    return term("out", 0, arrays[0].shape, made)


ONE, TWO = ("scatter", 1, ()), ("scatter", 2, ())


def turned_scatter(arrays: tuple[ReadTerm, ...], label: Hashable) -> ReadTerm:
    return moved(scattered(arrays, (COLUMNS, ROWS), moved(UPDATES, TURNED_ROWS), label), TURNED)


def padded(array_: ReadTerm, value: ReadTerm, low: tuple[int, ...], high: tuple[int, ...]) -> ReadTerm:
    plan = Plan(array_.shape.element_type, array_.shape.dimensions, (Pad(low, high),), (True,))  # type: ignore[union-attr]
    return term("moved", plan, array("s32", *plan.result[1]), array_, value)


def wide(table: ReadTerm) -> tuple[ReadTerm, ReadTerm]:
    """Returns a gather of a padded array, and the padded gather of another one."""
    return (
        gathered(padded(TABLE, BOUND_VALUE, (0, 0, 0), (0, 0, 3))),
        padded(gathered(table), BOUND_VALUE, (0, 0, 0, 0), (0, 0, 0, 3)),
    )


def scattered_column(number: int) -> ReadTerm:
    """Returns a column of a scatter into two arrays, of which the second one is whole."""
    column, rows = (
        moved(TABLE, Slice((0, 0, number), (4, 4, number + 1))),
        Slice((0, 0, 0, number), (3, 1, 1, number + 1)),
    )
    shape, updates = TupleShape((column.shape, SECOND.shape)), moved(UPDATES, rows)
    made = term("op", TWO, shape, column, SECOND, ROWS, COLUMNS, UPDATES, updates, ADDED)
    return term("out", 0, column.shape, made)


BOUND_VALUE, PAIR = constant(7, "s32"), parameter(0, "s32", 3, 2)
REVERSED = ("reverse", frozenset({1}))
PICKED = [moved(PAIR, Slice((0, i), (3, i + 1))) for i in range(2)]
INDEXED: dict[str, Step] = {
    "a negation of a repeated scalar": (
        "indexed-dimensions",
        each("negate", array("f32", 4), splat(SCALAR, "f32", 4)),
        splat(SCALAR, "f32", 4),
    ),
    "a gather of another scalar": (
        "indexed-dimensions",
        gathered(splat(AT, "s32", 4, 4, 2)),
        splat(BEHIND, "s32", 3, 1, 1, 2),
    ),
    "an unknown operation instead of a gather": (
        "indexed-dimensions",
        gathered(TABLE),
        gathered(TABLE, unknown((1, 1), ())),
    ),
    "a gather instead of an unknown operation": (
        "indexed-dimensions",
        gathered(TABLE, unknown((1, 1), ())),
        gathered(TABLE),
    ),
    "an unknown operation in another order": (
        "indexed-dimensions",
        scattered((TABLE,), (ROWS, COLUMNS), UPDATES, unknown(1, ())),
        turned_scatter((moved(TABLE, TURNED),), unknown(1, ())),
    ),
    "a scatter into a second array in the old order": (
        "indexed-dimensions",
        scattered((TABLE, SECOND), (ROWS, COLUMNS), UPDATES, TWO),
        turned_scatter((moved(TABLE, TURNED), SECOND), TWO),
    ),
    "a promise about the indices of a scatter in another order": (
        "indexed-dimensions",
        scattered((TABLE,), (ROWS, COLUMNS), UPDATES, ("scatter", 1, SORTED)),
        turned_scatter((moved(TABLE, TURNED),), ("scatter", 1, SORTED)),
    ),
    "a gather of a scrambled array": ("gather-of-padding", *wide(in_order(TABLE, (4, 2, 2, 2), (0, 2, 1, 3)))),
    "an unknown operation on columns": (
        "columns",
        gathered(TABLE),
        term(
            "op",
            unknown(3),
            array("s32", 3, 1, 1, 2),
            *(gathered(moved(TABLE, Slice((0, 0, i), (4, 4, i + 1)))) for i in range(2)),
        ),
    ),
    "columns of the first of two arrays": (
        "columns",
        scattered((TABLE, SECOND), (ROWS, COLUMNS), UPDATES, TWO),
        term("op", ("concatenate", 2), array("s32", 4, 4, 2), *map(scattered_column, range(2))),
    ),
    "a reversal of each column": (
        "columns",
        term("op", REVERSED, array("s32", 3, 2), PAIR),
        term(
            "op", ("concatenate", 1), array("s32", 3, 2), *(term("op", REVERSED, array("s32", 3, 1), i) for i in PICKED)
        ),
    ),
}

WHOLE = splat(SCALAR, "f32", 4)
NEGATED = each("negate", array("f32", 3, 3), FLOATS)
TOTAL = each("add", array("f32", 3, 3), FLOATS, OTHER_FLOATS)
BOTH = moved(FLOATS, TURN), moved(OTHER_FLOATS, TURN)
FIRST, ZERO = ("reverse", frozenset({0})), constant(0, "f32")
NOT_WRITTEN = term("leaf", UNSPECIFIED, NOTHING)


def below(operand: ReadTerm) -> ReadTerm:
    """Returns a matrix with a row of undefined padding."""
    plan = Plan(ELEMENT_TYPES["f32"], (3, 3), (Pad((0, 0), (1, 0)),), (True,))
    return term("moved", plan, array("f32", 4, 3), operand, NOT_WRITTEN)


def chosen(selector: ReadTerm, *branches: ReadTerm) -> ReadTerm:
    return term("choice", None, branches[0].shape, selector, *branches)


def reduced(opcode: str, rows: ReadTerm, initial: ReadTerm = ZERO) -> ReadTerm:
    return term("op", ("reduce", opcode), array("f32", 3), rows, initial)


THROUGH: dict[str, Step] = {
    "bytes of a repeated scalar in another order": (
        "moved",
        moved(WHOLE, BitcastConvert(ELEMENT_TYPES["u8"]), TURN, BitcastConvert(ELEMENT_TYPES["f32"])),
        WHOLE,
    ),
    "padding that is another scalar": (
        "moved",
        term("moved", Plan(ELEMENT_TYPES["f32"], (4,), (Pad((0,), (1,)),), (True,)), array("f32", 5), WHOLE, OTHER),
        splat(SCALAR, "f32", 5),
    ),
    "a reversal that is moved": (
        "through",
        moved(term("op", FIRST, array("f32", 3, 3), FLOATS), TURN),
        term("op", FIRST, array("f32", 3, 3), moved(FLOATS, TURN)),
    ),
    "a maximum of negated numbers": (
        "through",
        reduced("maximum", NEGATED),
        each("negate", array("f32", 3), reduced("maximum", FLOATS)),
    ),
    "another selector": (
        "through",
        moved(chosen(TRUTH, FLOATS, OTHER_FLOATS), TURN),
        chosen(parameter(5, "pred"), *BOTH),
    ),
    "an operand that is moved otherwise": (
        "through",
        moved(TOTAL, TURN),
        each("add", array("f32", 3, 3), BOTH[0], moved(OTHER_FLOATS, Reshape((9,)), Reshape((3, 3)))),
    ),
    "undefined padding": (
        "through",
        below(TOTAL),
        each("add", array("f32", 4, 3), below(FLOATS), below(OTHER_FLOATS)),
    ),
    "a sum of bytes": (
        "through",
        moved(each("add", array("s32", 4, 6), X, Y), BitcastConvert(ELEMENT_TYPES["u8"])),
        each("add", array("u8", 4, 6, 4), *(moved(i, BitcastConvert(ELEMENT_TYPES["u8"])) for i in (X, Y))),
    ),
}

FLAT, PAIRS, CORNER = parameter(0, "f32", 24), parameter(0, "f32", 4, 2), parameter(0, "f32", 2, 2)
CORNERS = [parameter(i, "f32", 1, 1) for i in range(4)]
SPREAD = term("op", ("broadcast", (0, 1)), array("f32", 2, 2, 2), moved(CORNER, TURN))


def joined(dimension: int, *parts: ReadTerm) -> ReadTerm:
    sizes = [*parts[0].shape.dimensions]  # type: ignore[union-attr]
    sizes[dimension] *= len(parts)
    return term("op", ("concatenate", dimension), array("f32", *sizes), *parts)


def spread(operation: ReadTerm) -> ReadTerm:
    return moved(operation, Transpose((1, 0, 2)))


BROADCASTS: dict[str, Step] = {
    "another column": (
        "broadcast",
        moved(PAIRS, Slice((0, 0), (4, 1))),
        moved(PAIRS, Slice((0, 1), (4, 2))),
    ),
    "elements in another order": (
        "broadcast",
        moved(FLAT, Reshape((4, 6))),
        moved(FLAT, Reshape((6, 4)), TURN),
    ),
    "an unknown operation instead of a broadcast": (
        "broadcast-moved",
        term("op", unknown((0, 1)), array("f32", 2, 2, 2), moved(CORNER, TURN)),
        spread(term("op", ("broadcast", (0, 1)), array("f32", 2, 2, 2), CORNER)),
    ),
    "a broadcast instead of an unknown operation": (
        "broadcast-moved",
        SPREAD,
        spread(term("op", unknown((0, 1)), array("f32", 2, 2, 2), CORNER)),
    ),
    "a broadcast along another dimension": (
        "broadcast-moved",
        SPREAD,
        spread(term("op", ("broadcast", (0, 2)), array("f32", 2, 2, 2), CORNER)),
    ),
    "rows that are joined as columns": (
        "concatenate",
        joined(0, joined(1, *CORNERS[:2]), joined(1, *CORNERS[2:])),
        joined(1, joined(0, *CORNERS[:2]), joined(0, *CORNERS[2:])),
    ),
    "a part of an unknown operation": (
        "concatenate",
        moved(term("op", unknown(0), array("f32", 6, 3), FLOATS, OTHER_FLOATS), Slice((0, 0), (3, 3))),
        FLOATS,
    ),
}

UPPER, LOWER = parameter(0, "s32", 1, 4, 3), parameter(1, "s32", 1, 4, 3)
SIX, MANY = term("op", ("iota",), array("s32", 6)), term("op", ("iota",), array("s32", 3))


def cut(operand: ReadTerm, of: Cut) -> ReadTerm:
    return moved(operand, *of.plan(operand.shape).steps)  # type: ignore[arg-type]


EMPTY, THREE, FOUR = (parameter(0, "f32", *sizes) for sizes in ((3, 0), (3, 1), (4, 1)))
PARTS: dict[str, Step] = {
    "elements that are no rows": (
        "part",
        moved(
            term("op", ("dot", ()), array("s32", 1, 4, 4), UPPER, LOWER),
            *(Reshape((2, 1, 4, 2)), Slice((0, 0, 0, 0), (2, 1, 3, 2)), Reshape((1, 3, 4))),
        ),
        term("op", ("dot", ()), array("s32", 1, 3, 4), cut(UPPER, Cut(1, 1, 4, 0, 3)), LOWER),
    ),
    "the last numbers are the first": ("part", cut(SIX, Cut(0, 1, 6, 3, 6)), MANY),
    "several numbers are 0": ("iota", MANY, splat(constant(0, "s32"), "s32", 3)),
    "a format without 0": (
        "iota",
        term("op", ("iota",), array("f8e8m0fnu", 1)),
        splat(constant(0, "f8e8m0fnu"), "f8e8m0fnu", 1),
    ),
    "an unknown operation on one element": (
        "initial-value",
        term("op", unknown("add"), array("f32", 3), THREE, ZERO),
        each("add", array("f32", 3), moved(THREE, Reshape((3,))), splat(ZERO, "f32", 3)),
    ),
    "another initial value of no elements": (
        "initial-value",
        reduced("add", EMPTY, SCALAR),
        splat(OTHER, "f32", 3),
    ),
    "the initial value of a sum that is rounded": (
        "initial-value",
        reduced("add", FLOATS, SCALAR),
        each("add", array("f32", 3), reduced("add", FLOATS, constant(0x80000000, "f32")), splat(SCALAR, "f32", 3)),
    ),
}


def by_function(label: Hashable, function: ReadTerm) -> ReadTerm:
    """Returns a reduction of an array by a function."""
    made = term("op", label, TupleShape((array("s32", 6),)), ROWS_OF_SIX, AT, function)
    return term("out", 0, array("s32", 6), made)


def of_two(opcode: str, kind: str = "s32", level: int = 0) -> ReadTerm:
    """Returns the function that is an operation of its two parameters."""
    variables = [term("leaf", ("bound", level, i), array(kind)) for i in range(2)]
    return term("op", ("function", level, (array(kind),) * 2, 1), TupleShape(()), each(opcode, array(kind), *variables))


def in_windows(label: Hashable, size: int, around: int) -> Hashable:
    return ("reduce-window", label, (WindowDimension(size, 1, around, around, 1, 1),), True)


ROWS_OF_SIX, OTHER_ROWS, PREDICATE = parameter(0, "s32", 6, 2), parameter(1, "s32", 6, 2), parameter(0, "pred")
WINDOWS = [
    term("op", in_windows(None, 3, 1), TupleShape((array("s32", 6),)), LINE, AT, of_two("add")),
    term("op", in_windows("add", 5, 2), array("s32", 6), LINE, AT),
]


def skipped(initial: ReadTerm) -> tuple[ReadTerm, ReadTerm]:
    """Returns sums of windows whose padding is the initial value, and sums of windows without padding."""
    made = term("op", in_windows(None, 3, 1), TupleShape((array("s32", 6),)), LINE, initial, of_two("add"))
    label = "reduce-window", "add", (WindowDimension(3, 1, 1, 1, 1, 1),), False
    return term("out", 0, array("s32", 6), made), term("op", label, array("s32", 6), LINE, initial)


CHOSEN = [parameter(i, "f32") for i in (1, 2)]
REDUCTIONS: dict[str, Step] = {
    "a reduction of another array": (
        "reduce",
        by_function(("reduce", None), of_two("add")),
        term("op", ("reduce", "add"), array("s32", 6), OTHER_ROWS, AT),
    ),
    "a reduction with another initial value": (
        "reduce",
        by_function(("reduce", None), of_two("add")),
        term("op", ("reduce", "add"), array("s32", 6), ROWS_OF_SIX, BEHIND),
    ),
    "a difference of all elements": (
        "reduce",
        by_function(("reduce", None), of_two("subtract")),
        term("op", ("reduce", "subtract"), array("s32", 6), ROWS_OF_SIX, AT),
    ),
    "padding that is skipped, of a known number": ("window", *skipped(constant(5, "s32"))),
    "padding that is skipped": ("window", *skipped(AT)),
    "larger windows": ("window", term("out", 0, array("s32", 6), WINDOWS[0]), WINDOWS[1]),
    "an unknown operation instead of a reshape": (
        "initial-value",
        reduced("add", THREE, SCALAR),
        each("add", array("f32", 3), term("op", unknown(), array("f32", 3), THREE), splat(SCALAR, "f32", 3)),
    ),
    "elements in another order and their initial value": (
        "initial-value",
        term("op", ("reduce", "add"), array("f32", 4), FOUR, SCALAR),
        each(
            "add",
            array("f32", 4),
            moved(FOUR, Reshape((2, 2)), TURN, Reshape((4,))),
            splat(SCALAR, "f32", 4),
        ),
    ),
    "a value that is clamped instead of selected": (
        "branches",
        each("clamp", array("f32"), PREDICATE, *CHOSEN),
        chosen(PREDICATE, *CHOSEN),
    ),
    "a value that is selected instead of clamped": (
        "branches",
        each("select", array("f32"), PREDICATE, *CHOSEN),
        each("clamp", array("f32"), PREDICATE, *CHOSEN),
    ),
    "a choice by a number": (
        "branches",
        each("select", array("f32"), AT, *CHOSEN),
        chosen(AT, *CHOSEN),
    ),
    "a negation in any order": ("any-order", NEGATED, FLOATS),
}

BATCH, OTHER_BATCH = parameter(0, "f32", 1, 4, 6), parameter(1, "f32", 1, 5, 6)
HALF, OTHER_HALF = parameter(0, "bf16", 1, 4, 6), parameter(1, "bf16", 1, 5, 6)
SWAP = Transpose((0, 2, 1))


def product(label: Hashable, left: ReadTerm, right: ReadTerm, *sizes: int) -> ReadTerm:
    return term("op", label, array("f32", *sizes), left, right)


def as_sum(left: ReadTerm, right: ReadTerm, label: Hashable = ("broadcast", (0, 1, 3))) -> ReadTerm:
    """Returns the sum of the products of two arrays' elements, the first one spread by an operation."""
    kinds = [each_.shape.element_type.name for each_ in (left, right)]  # type: ignore[union-attr]
    first = term("op", label, array(kinds[0], 1, 4, 5, 6), left)
    second = term("op", ("broadcast", (0, 2, 3)), array(kinds[1], 1, 4, 5, 6), right)
    rows = moved(each("multiply", array("f32", 1, 4, 5, 6), first, second), Reshape((20, 6)))
    return moved(term("op", ("reduce", "add"), array("f32", 20), rows, ZERO), Reshape((1, 4, 5)))


DOTS: dict[str, Step] = {
    "an unknown operation instead of a dot": (
        "dot",
        product(unknown(()), BATCH, OTHER_BATCH, 1, 4, 5),
        moved(product(("dot", ()), OTHER_BATCH, BATCH, 1, 5, 4), SWAP),
    ),
    "a dot instead of an unknown operation": (
        "dot",
        product(("dot", ()), BATCH, OTHER_BATCH, 1, 4, 5),
        moved(product(unknown(()), OTHER_BATCH, BATCH, 1, 5, 4), SWAP),
    ),
    "factors of other types": (
        "dot-as-sum",
        product(("dot", ()), HALF, OTHER_HALF, 1, 4, 5),
        as_sum(HALF, OTHER_HALF),
    ),
    "the products of an unknown operation": (
        "dot-as-sum",
        product(unknown(()), BATCH, OTHER_BATCH, 1, 4, 5),
        as_sum(BATCH, OTHER_BATCH),
    ),
    "factors of an unknown operation": (
        "dot-as-sum",
        product(("dot", ()), BATCH, OTHER_BATCH, 1, 4, 5),
        as_sum(BATCH, OTHER_BATCH, unknown((0, 1, 3))),
    ),
    "padding of 0 and one element": (
        "initial-zero",
        each(("padding", "add"), array("f32"), ZERO, SCALAR),
        SCALAR,
    ),
}
FORGED = REDUCTIONS | DOTS | SLICES | INDEXED | THROUGH | BROADCASTS | PARTS


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_step_is_refused(name: str) -> None:
    rule, before, after = FORGED[name]
    assert told((TRUE, TRUE), step(rule, before, after)).refused


def test_two_slices_of_other_sizes_are_not_proved_equal() -> None:
    """Their elements are as many, and in the order of one array."""
    parameters = (
        "x = s32[4,6] parameter(0)\n y = s32[4,6] parameter(1)\n i = s32[] parameter(2)\n j = s32[] parameter(3)\n"
    )
    pair = (
        hlo(f"{parameters} ROOT r = s32[2,3] dynamic-slice(x, i, j), dynamic_slice_sizes={{2,3}}"),
        hlo(
            f"{parameters} d = s32[3,2] dynamic-slice(x, i, j), dynamic_slice_sizes={{3,2}}\n"
            " ROOT r = s32[2,3] reshape(d)"
        ),
    )
    assert not told(pair, step(*SLICES["a slice of other sizes"])).is_equal
