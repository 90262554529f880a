"""True steps of each rule and the equality that each proves, and steps that are true in no equality."""

from __future__ import annotations

from collections.abc import Hashable

import pytest

from dialect_utils.layout import Pad, Reshape, Slice, Transpose, TupleShape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.verdict.certificate import ReadTerm, Step
from dialect_utils.verdict.replay.check import _checked
from dialect_utils.verdict.replay.elements import Elements
from dialect_utils.verdict.replay.equality import Level
from dialect_utils.verdict.terms.graph import Graph, Nodes
from tests.verdict.replay.forging import TRUE, array, constant, each, in_order, moved, parameter, step, term, told
from tests.verdict.replay.test_forged_arrays import (
    ADDED_ONE,
    COLUMNS,
    ONE,
    ROWS,
    SECOND,
    TABLE,
    TWO,
    UPDATES,
    gathered,
    padded,
    scattered,
    sliced,
    splat,
    turned_scatter,
)

X, Y, LINE = parameter(0, "s32", 4, 6), parameter(1, "s32", 4, 6), parameter(0, "s32", 6)
AT, BEHIND, ORIGIN = parameter(2, "s32"), parameter(3, "s32"), constant(0, "s32")
ZEROS = {kind: constant(0, kind) for kind in ("s32", "f32", "pred")}
WIDE = each("convert", array("s64"), AT)
NARROW = each("convert", array("s8"), AT)
ORDER, HALVES = (0, 2, 1), (6, 2, 3)


TURN = Transpose((1, 0))
TURNED = moved(X, TURN)


SORTED = (("indices_are_sorted", "true"),)
WIDE_ROWS = each("convert", array("s64", 3), ROWS)


def picked(table: ReadTerm, rows: ReadTerm, columns: ReadTerm, promise: Hashable = ()) -> ReadTerm:
    """Returns a gather of windows of 2 by 2 rows."""
    return term("op", ("gather", (2, 2), promise), array("s32", 3, 2, 2, 2), table, rows, columns)


def turned_gather(
    table: ReadTerm, columns: ReadTerm = COLUMNS, rows: ReadTerm = ROWS, *, is_back: bool = True, **promise: Hashable
) -> ReadTerm:
    """Returns a gather of an array with its indexed dimensions exchanged, and the windows exchanged back."""
    made = picked(moved(table, Transpose((1, 0, 2))), columns, rows, **promise)
    return moved(made, Transpose((0, 2, 1, 3))) if is_back else made


def cut(start: int) -> ReadTerm:
    return moved(LINE, Slice((start,), (start + 2,)))


def at(bits: int, kind: str) -> ReadTerm:
    return sliced(LINE, (2,), constant(bits, kind))


def updated(part: ReadTerm, *starts: ReadTerm) -> ReadTerm:
    return term("op", ("dynamic-update-slice",), array("s32", 4, 6), X, part, *starts)


def dot(kind: str, left: ReadTerm, right: ReadTerm) -> ReadTerm:
    sizes = left.shape.dimensions[1], right.shape.dimensions[1]  # type: ignore[union-attr]
    return term("op", ("dot", ()), array(kind, 1, *sizes), left, right)


def sides(kind: str) -> tuple[ReadTerm, ReadTerm]:
    return parameter(0, kind, 1, 6, 6), parameter(1, kind, 1, 4, 6)


def swapped(kind: str) -> Step:
    left, right = sides(kind)
    return step("dot", dot(kind, left, right), moved(dot(kind, right, left), Transpose(ORDER)))


def summed(kind: str) -> Step:
    """Returns a dot whose summed dimension has its parts in another order."""
    left, right = sides(kind)
    turned = (in_order(each_, (*each_.shape.dimensions[1:2], 2, 3), ORDER) for each_ in (left, right))  # type: ignore[union-attr]
    return step("dot-order", dot(kind, left, right), dot(kind, *turned))


def of_rows(kind: str) -> Step:
    """Returns a dot whose rows have parts of sizes 2 and 3 in another order."""
    left, right = sides(kind)
    inner = dot(kind, in_order(left, (2, 3, 6), (1, 0, 2)), right)
    return step("dot-order", dot(kind, left, right), in_order(inner, (3, 2, 4), (1, 0, 2)))


def total(kind: str, opcode: str, matrix: ReadTerm) -> ReadTerm:
    return term("op", ("reduce", opcode), array(kind, 6), matrix, ZEROS[kind])


def reduced(kind: str, opcode: str, sizes: tuple[int, ...], order: tuple[int, ...]) -> Step:
    matrix = parameter(0, kind, 6, 6)
    return step("reduction-order", total(kind, opcode, matrix), total(kind, opcode, in_order(matrix, sizes, order)))


def of_kept(kind: str) -> Step:
    matrix = parameter(0, kind, 6, 6)
    inner = total(kind, "add", in_order(matrix, (2, 3, 6), (1, 0, 2)))
    return step("reduction-order", total(kind, "add", matrix), in_order(inner, (3, 2), (1, 0)))


def of_three_parts(kind: str) -> Step:
    """Returns a sum whose kept dimension has three parts of different sizes in another order."""
    matrix, zero = parameter(0, kind, 30, 6), ZEROS[kind]
    whole, inner = (
        term("op", ("reduce", "add"), array(kind, 30), each_, zero)
        for each_ in (matrix, in_order(matrix, (2, 3, 5, 6), (1, 2, 0, 3)))
    )
    return step("reduction-order", whole, in_order(inner, (3, 5, 2), (2, 0, 1)))


def as_sum(
    kind: str,
    opcode: str = "add",
    rows: tuple[int, ...] = (24, 6),
    start: int = 0,
    last: tuple[Reshape | Transpose, ...] = (Reshape((1, 6, 4)),),
) -> Step:
    """Returns a dot as a sum of products, reduced from rows of some sizes and moved by the last steps."""
    left, right = sides(kind)
    wide = array(kind, 1, 6, 4, 6)
    factors = [term("op", ("broadcast", to), wide, part) for part, to in ((left, (0, 1, 3)), (right, (0, 2, 3)))]
    flat = moved(each("multiply", wide, *factors), Reshape(rows))
    made = term("op", ("reduce", opcode), array(kind, rows[0]), flat, constant(start, kind))
    return step("dot-as-sum", dot(kind, left, right), moved(made, *last))


def scatter_columns(*, is_result: bool = True) -> Step:
    def of(number: int) -> ReadTerm:
        column, rows = Slice((0, 0, number), (4, 4, number + 1)), Slice((0, 0, 0, number), (3, 1, 1, number + 1))
        made = scattered((moved(TABLE, column),), (ROWS, COLUMNS), moved(UPDATES, rows), ONE)
        return made if is_result else term("op", ("unknown",), made.shape, *made.operands)

    parts = term("op", ("concatenate", 2), array("s32", 4, 4, 2), of(0), of(1))
    return step("columns", scattered((TABLE,), (ROWS, COLUMNS), UPDATES, ONE), parts)


def gather_columns(
    promise: Hashable = (), numbers: tuple[int, ...] = (0, 1), source: ReadTerm = TABLE, before: ReadTerm | None = None
) -> Step:
    columns = [moved(source, Slice((0, 0, i), (4, 4, i + 1))) for i in numbers]
    parts = [gathered(each_, ("gather", (1, 1), promise)) for each_ in columns]
    return step("columns", before or gathered(TABLE), term("op", ("concatenate", 3), array("s32", 3, 1, 1, 2), *parts))


def of_padding(
    column: ReadTerm = ROWS, value: ReadTerm = ORIGIN, low: int = 0, name: str = "gather", other: str = "gather"
) -> Step:
    inner = gathered(TABLE, (other, (1, 1), ()))
    after = padded(inner, value, (0, 0, 0, low), (0, 0, 0, 3 - low))
    flat = term("op", (name, (1, 1), ()), array("s32", 3, 1, 1, 5), padded_table(), column, COLUMNS)
    return step("gather-of-padding", flat, after)


def padded_table() -> ReadTerm:
    plan = Plan(TABLE.shape.element_type, (4, 4, 2), (Pad((0, 0, 0), (0, 0, 3)),), (True,))  # type: ignore[union-attr]
    return term("moved", plan, array("s32", 4, 4, 5), TABLE, ORIGIN)


def scatter_of_two(updates: ReadTerm = UPDATES, function: ReadTerm = ADDED_ONE) -> ReadTerm:
    shape = TupleShape((TABLE.shape,))
    return term("out", 0, TABLE.shape, term("op", ONE, shape, TABLE, ROWS, COLUMNS, updates, function))


FIRST_ROWS = Reshape((1, 1, 6, 1, 4)), Slice((0,) * 5, (1, 1, 2, 1, 4)), Reshape((1, 2, 4))


def part_of_dot(kind: str) -> Step:
    """Returns the first rows of a dot as the dot of the first rows."""
    left, right = sides(kind)
    first = moved(left, Reshape((1, 1, 6, 1, 6)), Slice((0,) * 5, (1, 1, 2, 1, 6)), Reshape((1, 2, 6)))
    return step("part", moved(dot(kind, left, right), *FIRST_ROWS), dot(kind, first, right))


def part_of_rows() -> Step:
    """Returns the first of repeated rows as rows that are repeated less often."""
    row = parameter(0, "f32", 4)
    whole, first = (term("op", ("broadcast", (1,)), array("f32", count, 4), row) for count in (6, 2))
    cut_ = Reshape((1, 6, 1, 4)), Slice((0,) * 4, (1, 2, 1, 4)), Reshape((2, 4))
    return step("part", moved(whole, *cut_), first)


def one_by_one(kind: str, opcode: str = "add") -> Step:
    """Returns the combination of two columns by a reduction, and by an elementwise operation."""
    matrix, zero = parameter(0, kind, 6, 2), ZEROS[kind]
    columns = [moved(matrix, Slice((0, i), (6, i + 1)), Reshape((6,))) for i in range(2)]
    repeated = term("splat", None, array(kind, 6), zero)
    both = each(opcode, array(kind, 6), each(opcode, array(kind, 6), *columns), repeated)
    return step("regrouped", term("op", ("reduce", opcode), array(kind, 6), matrix, zero), both)


OTHER_FUNCTION = term("op", *(ADDED_ONE.label, ADDED_ONE.shape), constant(1, "s32"))
PICKED = picked(TABLE, ROWS, COLUMNS)
PARTS = parameter(1, "s32", 4, 2)
BITS, NAN, ENGINE = Level.BITS, Level.NAN, Level.ENGINE
STEPS: dict[str, tuple[Step, Level | None]] = {
    # Positions of slices: numbers are clamped, and other positions are the same index but for lossless conversions.
    "a constant beyond the end": (step("dynamic-slice", at(9, "u8"), cut(4)), BITS),
    "a constant inside": (step("dynamic-slice", at(3, "u8"), cut(3)), BITS),
    "a large unsigned constant": (step("dynamic-slice", at(0xFF, "u8"), cut(4)), BITS),
    "a negative constant": (step("dynamic-slice", at(0xFF, "s8"), cut(0)), BITS),
    "the largest signed constant": (step("dynamic-slice", at(0x7F, "s8"), cut(4)), BITS),
    "the lowest signed constant": (step("dynamic-slice", at(0x80, "s8"), cut(0)), BITS),
    "a negative constant as a large one": (step("dynamic-slice", at(0xFF, "s8"), cut(4)), None),
    "a constant that is not clamped": (step("dynamic-slice", at(3, "u8"), cut(4)), None),
    "a whole slice": (step("dynamic-slice", sliced(X, (4, 6), AT, BEHIND), X), BITS),
    "one whole dimension": (
        step("dynamic-slice", sliced(X, (4, 2), AT, constant(1, "s32")), moved(X, Slice((0, 1), (4, 3)))),
        BITS,
    ),
    "the position of a whole dimension": (
        step("dynamic-slice", sliced(X, (2, 6), AT, BEHIND), sliced(X, (2, 6), AT, AT)),
        BITS,
    ),
    "a slice that is a part, as the whole": (step("dynamic-slice", sliced(X, (4, 6), AT, AT), Y), None),
    "a slice of a repeated scalar": (
        step("dynamic-slice", sliced(splat(AT, "s32", 4, 6), (2, 3), AT, AT), splat(AT, "s32", 2, 3)),
        BITS,
    ),
    "a slice of another repeated scalar": (
        step("dynamic-slice", sliced(splat(AT, "s32", 4, 6), (2, 3), AT, AT), splat(BEHIND, "s32", 2, 3)),
        None,
    ),
    "a slice of another array at a constant": (
        step("dynamic-slice", at(9, "u8"), moved(parameter(1, "s32", 6), Slice((4,), (6,)))),
        None,
    ),
    "a slice at a variable as a constant one": (step("dynamic-slice", sliced(LINE, (2,), AT), cut(0)), None),
    "a wider position": (step("dynamic-slice", sliced(LINE, (2,), WIDE), sliced(LINE, (2,), AT)), BITS),
    "a narrower position": (step("dynamic-slice", sliced(LINE, (2,), NARROW), sliced(LINE, (2,), AT)), None),
    "a negative position": (
        step("dynamic-slice", sliced(LINE, (2,), each("negate", array("s32"), AT)), sliced(LINE, (2,), AT)),
        None,
    ),
    "a wider position in the last dimension": (
        step("dynamic-slice", sliced(X, (4, 2), AT, WIDE), sliced(X, (4, 2), BEHIND, AT)),
        BITS,
    ),
    "a slice of every dimension, of the transposed array": (
        step("dynamic-slice", sliced(X, (2, 3), AT, BEHIND), moved(sliced(TURNED, (3, 2), BEHIND, AT), TURN)),
        BITS,
    ),
    "an unknown operation instead of a slice": (
        step(
            "dynamic-slice",
            sliced(X, (2, 3), AT, BEHIND),
            moved(term("op", ("unknown",), array("s32", 3, 2), TURNED, BEHIND, AT), TURN),
        ),
        None,
    ),
    "an update of the whole": (step("dynamic-slice", updated(Y, AT, BEHIND), Y), BITS),
    "an unknown operation instead of an update": (
        step("dynamic-slice", term("op", ("unknown",), array("s32", 4, 6), X, Y, AT, BEHIND), Y),
        None,
    ),
    "an update of a part": (step("dynamic-slice", updated(PARTS, AT, BEHIND), PARTS), None),
    "an update at a wider position": (
        step("dynamic-slice", updated(PARTS, AT, WIDE), updated(PARTS, BEHIND, AT)),
        BITS,
    ),
    # Gathers and scatters.
    "a gather of a repeated scalar": (
        step("indexed-dimensions", gathered(splat(AT, "s32", 4, 4, 2)), splat(AT, "s32", 3, 1, 1, 2)),
        BITS,
    ),
    "a scatter in another order": (
        step("indexed-dimensions", scatter_of_two(), turned_scatter((moved(TABLE, Transpose((1, 0, 2))),), ONE)),
        BITS,
    ),
    "a scatter into two arrays in another order": (
        step(
            "indexed-dimensions",
            scattered((TABLE, SECOND), (ROWS, COLUMNS), UPDATES, TWO),
            turned_scatter((moved(TABLE, Transpose((1, 0, 2))), moved(SECOND, Transpose((1, 0, 2)))), TWO),
        ),
        BITS,
    ),
    "a scatter of other updates": (
        step("indexed-dimensions", scatter_of_two(), scatter_of_two(parameter(5, "s32", 3, 1, 1, 2))),
        None,
    ),
    "a scatter by another function": (
        step("indexed-dimensions", scatter_of_two(), scatter_of_two(function=OTHER_FUNCTION)),
        None,
    ),
    "a gather of another transposed array": (
        step("indexed-dimensions", PICKED, turned_gather(SECOND)),
        None,
    ),
    "a gather of the transposed array": (step("indexed-dimensions", PICKED, turned_gather(TABLE)), BITS),
    "a gather at exchanged rows": (step("indexed-dimensions", PICKED, turned_gather(TABLE, ROWS, COLUMNS)), None),
    "a gather of exchanged windows": (step("indexed-dimensions", PICKED, turned_gather(TABLE, is_back=False)), None),
    "a gather at wider indices": (step("indexed-dimensions", PICKED, picked(TABLE, WIDE_ROWS, COLUMNS)), BITS),
    "a gather with a promise at wider indices": (
        step("indexed-dimensions", picked(TABLE, ROWS, COLUMNS, SORTED), picked(TABLE, WIDE_ROWS, COLUMNS, SORTED)),
        BITS,
    ),
    "a gather with another promise": (
        step("indexed-dimensions", PICKED, picked(TABLE, ROWS, COLUMNS, SORTED)),
        None,
    ),
    "a gather with a promise in another order": (
        step("indexed-dimensions", picked(TABLE, ROWS, COLUMNS, SORTED), turned_gather(TABLE, promise=SORTED)),
        None,
    ),
    "columns of a gather": (gather_columns(), BITS),
    "columns of a scatter": (scatter_columns(), BITS),
    "a gather of padding": (of_padding(), BITS),
    "a gather of padding at other rows": (of_padding(parameter(7, "s32", 3)), None),
    "a gather of other padding": (of_padding(value=constant(1, "s32")), None),
    "a gather of padding on the other side": (of_padding(low=1), None),
    "an unknown operation on padding": (of_padding(name="unknown", other="unknown"), None),
    "padding of an unknown operation": (of_padding(other="unknown"), None),
    "columns of a gather with another promise": (gather_columns(SORTED), None),
    "columns of a gather in another order": (gather_columns(numbers=(1, 0)), None),
    "columns of another array": (gather_columns(source=SECOND), None),
    "columns at other rows": (
        gather_columns(before=term("op", ("gather", (1, 1), ()), array("s32", 3, 1, 1, 2), TABLE, COLUMNS, ROWS)),
        None,
    ),
    "unknown operations on columns of a scatter": (scatter_columns(is_result=False), None),
    # Dots and sums.
    "swapped operands of integers": (swapped("s32"), BITS),
    "swapped operands of floats": (swapped("f32"), NAN),
    "another order of summed integers": (summed("s32"), BITS),
    "another order of summed floats": (summed("f32"), ENGINE),
    "another order of rows of integers": (of_rows("s32"), BITS),
    "another order of rows of floats": (of_rows("f32"), NAN),
    "another order of reduced integers": (reduced("s32", "add", HALVES, ORDER), BITS),
    "another order of reduced floats": (reduced("f32", "add", HALVES, ORDER), ENGINE),
    "another order of truth values": (reduced("pred", "or", HALVES, ORDER), BITS),
    "a part of a broadcast of floats": (part_of_rows(), BITS),
    "a part of a dot of integers": (part_of_dot("s32"), BITS),
    "a part of a dot of floats": (part_of_dot("f32"), NAN),
    "two integers summed one by one": (one_by_one("s32"), BITS),
    "two floats summed one by one": (one_by_one("f32"), ENGINE),
    "a maximum of two floats": (one_by_one("f32", "maximum"), NAN),
    "another order in a maximum": (reduced("f32", "maximum", HALVES, ORDER), NAN),
    "another order of kept floats": (of_kept("f32"), NAN),
    "another order of kept integers": (of_kept("s32"), BITS),
    "another order of three parts of kept integers": (of_three_parts("s32"), BITS),
    "a dot of integers as a sum": (as_sum("s32"), BITS),
    "a dot of floats as a sum": (as_sum("f32"), ENGINE),
    "a dot as a product of products": (as_sum("s32", "multiply"), None),
    "a dot as a sum that begins with 1": (as_sum("s32", start=1), None),
    "a dot as a sum that is transposed": (as_sum("s32", last=(Reshape((1, 4, 6)), Transpose(ORDER))), None),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_proves_its_equality_or_is_refused(name: str) -> None:
    one, level = STEPS[name]
    if level is None:
        assert told((TRUE, TRUE), one).refused
        return
    graph = Graph()
    assert _checked(graph, Elements(Nodes(graph)), one).level is level
    assert not told((TRUE, TRUE), one).refused


def test_movement_of_no_elements_is_read_to_the_end() -> None:
    left, right = parameter(0, "f32", 1, 2, 0), parameter(1, "f32", 1, 4, 0)
    emptied = moved(left, Reshape((0,)), Transpose((0,)), Reshape((1, 2, 0)))
    assert told((TRUE, TRUE), step("dot-order", dot("f32", left, right), dot("f32", emptied, right))).refused


COLUMN = parameter(0, "f32", 24, 1)


@pytest.mark.parametrize(
    "other",
    [
        moved(moved(COLUMN, Reshape((6, 4)), Transpose((1, 0))), Reshape((24,))),
        moved(COLUMN, Reshape((4, 6)), Reshape((24,))),
    ],
)
def test_only_one_reshape_is_before_a_sum_of_one_element(other: ReadTerm) -> None:
    """The element of each row is the element of the array in the same place."""
    before = term("op", ("reduce", "add"), array("f32", 24), COLUMN, constant(0, "f32"))
    assert not told((TRUE, TRUE), step("initial-zero", before, moved(COLUMN, Reshape((24,))))).refused
    assert told((TRUE, TRUE), step("initial-zero", before, other)).refused
