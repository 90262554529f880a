"""Certificates of an attacker: terms that no program has, and readings that are wrong, prove nothing."""

from __future__ import annotations

from collections.abc import Hashable

import pytest

from dialect_utils.ir import Module
from dialect_utils.layout import (
    ArrayShape,
    ElementType,
    Pad,
    Reshape,
    Slice,
    Transpose,
    TupleShape,
    parse_element_type,
)
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.verdict.certificate import Reading, ReadTerm
from dialect_utils.verdict.terms.cuts import Cut
from dialect_utils.verdict.terms.observed import observes_rounding
from tests.verdict.replay.forging import (
    FALSE,
    TRUE,
    array,
    constant,
    each,
    hlo,
    in_order,
    moved,
    parameter,
    step,
    term,
    told,
)

PRED = array("pred")


def test_a_constant_has_no_more_bits_than_its_type() -> None:
    large, none, five = constant(256, "u8"), constant(0, "u8"), constant(5, "u8")
    above = [each(("compare", "GT", False), PRED, one, five) for one in (large, none)]
    found = told(
        (TRUE, FALSE),
        step("integer-ring", large, none),
        step("constants", above[0], constant(1, "pred")),
        step("constants", above[1], constant(0, "pred")),
    )
    assert not found.is_equal


@pytest.mark.parametrize("data", [b"\x02", b"\x00\x00", b""])
def test_the_data_of_a_constant_are_elements_of_its_type(data: bytes) -> None:
    wrong = term("constant", data, array("pred", 1))
    assert told((TRUE, TRUE), step("elements", wrong, wrong)).refused


def test_a_choice_has_branches() -> None:
    x, y = parameter(0, "f32"), parameter(1, "f32")
    none = term("choice", None, array("f32"), constant(1, "pred"))
    pair = (
        hlo("x = f32[] parameter(0)\n ROOT y = f32[] parameter(1)"),
        hlo("y = f32[] parameter(1)\n ROOT x = f32[] parameter(0)"),
    )
    assert not told(pair, step("one-branch", none, x), step("one-branch", none, y)).is_equal


def test_the_coefficients_of_a_polynomial_are_integers() -> None:
    x, factor = parameter(0, "u8"), constant(128, "u8")
    half = each(("ring", (0.5, ((0, 1),))), array("u8"), x)
    twice = each("add", array("u8"), half, half)
    pair = (
        hlo("x = u8[] parameter(0)\n c = u8[] constant(128)\n ROOT m = u8[] multiply(x, c)"),
        hlo("x = u8[] parameter(0)\n ROOT c = u8[] constant(0)"),
    )
    product = [each("multiply", array("u8"), part, factor) for part in (x, twice)]
    other = each(("ring", (0.5, ((0, 1),))), array("u8"), x)
    found = told(
        pair,
        step("integer-ring", twice, x),
        step("integer-ring", product[1], constant(0, "u8")),
        step("integer-ring", each("add", array("u8"), other, other), x),
    )
    assert not found.is_equal
    assert found.refused


def test_the_dimensions_of_a_broadcast_are_counted_from_the_first() -> None:
    x, shape = parameter(0, "f32", 3), array("f32", 3, 3)
    pair = tuple(hlo(f"x = f32[3] parameter(0)\n ROOT b = f32[3,3] broadcast(x), dimensions={{{i}}}") for i in range(2))
    made = {i: term("op", ("broadcast", (i,)), shape, x) for i in (0, 1, -1, -2)}
    elements = [step("elements", one, one) for one in made.values()]
    assert not told((pair[0], pair[1]), *elements, step("broadcast", made[-1], made[-2])).is_equal


def test_arrays_of_other_sizes_are_not_equal() -> None:
    one = constant(1, "s32")
    add = "add { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT s = s32[] add(a, b) }"
    pair = tuple(
        hlo(
            f"x = s32[] parameter(0)\n o = s32[] constant(1)\n b = s32[1,{size}] broadcast(o), dimensions={{}}\n"
            "z = s32[] constant(0)\n ROOT r = s32[1] reduce(b, z), dimensions={1}, to_apply=add",
            add,
        )
        for size in (2, 3)
    )
    wide = [term("op", ("broadcast", ()), array("s32", 1, size), one) for size in (2, 3)]
    assert told((pair[0], pair[1]), step("broadcast", *wide)).refused


LOOP = """more { p = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(40)
  ROOT c = pred[] compare(i, n), direction=LT }
step { p = (s32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  s = f32[] get-tuple-element(p), index=1
  t = f32[] add(s, s)
  o = s32[] constant(1)
  j = s32[] add(i, o)
  ROOT q = (s32[], f32[]) tuple(j, t) }"""


def in_loop() -> Module:
    return hlo(
        "x = f32[] parameter(0)\n i = s32[] constant(0)\n p = (s32[], f32[]) tuple(i, x)\n"
        " w = (s32[], f32[]) while(p), condition=more, body=step\n ROOT r = f32[] get-tuple-element(w), index=1",
        LOOP,
    )


WRONG_READINGS = [
    Reading((), (), (None, None)),
    Reading((0,), (0,), (None, None)),
    Reading((0, 1), (0,), (None, None)),
    Reading((0, -1), (0, -1), (None, None)),
    Reading((0,), (0, 1), (None, None)),
    Reading((0, 5), (0, 5), (None, None)),
    Reading((0, 0), (0, 0), (None, None)),
    Reading((0, 1), (0, 1), (None,)),
    Reading((0, 1), (0, 1), (None, Plan(parse_element_type("f32"), (2,), (Reshape((2, 1)),)))),
]


@pytest.mark.parametrize("reading", WRONG_READINGS)
@pytest.mark.parametrize("side", [0, 1])
def test_a_wrong_reading_of_a_loop_proves_nothing(reading: Reading, side: int) -> None:
    loop, plain = in_loop(), hlo("ROOT x = f32[] parameter(0)")
    (number,) = [number for number, each in enumerate(loop.operations()) if each.opcode == "while"]
    readings = tuple({number: reading} if i == side else {} for i in range(2))
    pair = (loop, plain) if side == 0 else (plain, loop)
    assert not told(pair, readings=readings).is_equal


def test_a_movement_has_the_shape_of_its_plan() -> None:
    x = parameter(0, "s32")
    lying = term("moved", Plan(parse_element_type("s8"), ()), array("s8"), x)
    narrow = each("convert", array("s8"), each("convert", array("s16"), lying))
    pair = (
        hlo(
            "x = s32[] parameter(0)\n a = s16[] convert(x)\n b = s8[] convert(a)\n"
            " c = s32[] constant(1)\n d = s32[] convert(b)\n ROOT e = s32[] multiply(d, c)"
        ),
        hlo("x = s32[] parameter(0)\n c = s32[] constant(1)\n ROOT e = s32[] multiply(x, c)"),
    )
    exact = each("convert", array("s8"), lying)
    found = told(
        pair,
        step("convert-lossless", narrow, exact),
        step("convert-lossless", exact, lying),
        step("convert-lossless", each("convert", array("s32"), x), x),
    )
    assert not found.is_equal


def test_a_reversal_keeps_the_sizes() -> None:
    x = parameter(0, "f32", 2, 3)
    wrong = term("op", ("reverse", frozenset({0})), array("f32", 3, 2), x)
    again = term("op", ("reverse", frozenset({0})), array("f32", 2, 3), wrong)
    flat = "x = f32[2,3] parameter(0)\n f = f32[6] reshape(x)\n"
    rows = [f"v{i} = f32[1] slice(f), slice={{[{i}:{i + 1}]}}" for i in range(6)]
    names = ", ".join(f"v{i}" for i in (1, 2, 5, 0, 3, 4))
    joined = f"j = f32[6] concatenate({names}), dimensions={{0}}\n ROOT r = f32[2,3] reshape(j)"
    pair = hlo("ROOT x = f32[2,3] parameter(0)"), hlo("\n".join([flat, *rows, joined]))
    found = told(pair, step("reverse", again, x), step("elements", again, again))
    assert found.refused


def test_undefined_padding_is_not_every_value() -> None:
    x, shape = parameter(0, "f32", 2), array("f32", 3)
    kind, pads = parse_element_type("f32"), (Pad((0,), (1,)),)
    pair = tuple(
        hlo(f"x = f32[2] parameter(0)\n c = f32[] constant({i})\n ROOT p = f32[3] pad(x, c), padding=0_1")
        for i in range(2)
    )
    padded = [
        term("moved", Plan(kind, (2,), pads, (True,)), shape, x, constant(bits, "f32")) for bits in (0, 0x3F800000)
    ]
    for undefined in (
        term("moved", Plan(kind, (2,), pads, (None,)), shape, x),
        term("moved", Plan(kind, (2,), pads, (None,)), shape, x, constant(0, "f32")),
    ):
        found = told((pair[0], pair[1]), *(step("moved", undefined, each) for each in padded))
        assert not found.is_equal


def test_numbers_are_no_truth_values_in_a_label() -> None:
    a, b, c = (parameter(i, "f32", 2) for i in range(3))
    pair = tuple(
        hlo(
            f"a = f32[2] parameter(0)\n b = f32[2] parameter(1)\n c = f32[2] parameter(2)\n"
            f" s = f32[2] add({names})\n ROOT r = pred[2] compare(s, c), direction=LT, type=TOTALORDER"
        )
        for names in ("a, b", "b, a")
    )
    sums = [each("add", array("f32", 2), *pair_) for pair_ in ((a, b), (b, a))]
    wrong = [each(("compare", "LT", 1), array("pred", 2), total, c) for total in sums]
    right = [each(("compare", "LT", True), array("pred", 2), total, c) for total in sums]
    for compared in (wrong, right):
        steps = [step("commuted", *sums), *(step("elements", one, one) for one in (*sums, *compared))]
        scalars = [[term("element", i, array("f32"), one) for one in (a, b)] for i in range(2)]
        swapped = [
            step("commuted", each("add", array("f32"), *pair_), each("add", array("f32"), *pair_[::-1]))
            for pair_ in scalars
        ]
        assert not told((pair[0], pair[1]), *steps, *swapped).is_equal


def test_an_element_type_is_one_of_xla() -> None:
    x = constant(300, "s32")
    wide = ArrayShape(ElementType("u8", 32), ())
    there = each("convert", wide, x)
    back = each("convert", array("s32"), there)
    pair = (
        hlo("x = s32[] parameter(0)\n ROOT c = s32[] constant(300)"),
        hlo("x = s32[] parameter(0)\n ROOT c = s32[] constant(44)"),
    )
    low = term("constant", 44, wide)
    found = told(
        pair,
        step("constants", there, low),
        step("constants", each("convert", array("s32"), low), constant(44, "s32")),
        step("convert-lossless", back, each("convert", array("s32"), x)),
        step("convert-lossless", each("convert", array("s32"), x), x),
    )
    assert found.refused


X, Y = parameter(0, "f32", 2, 3), parameter(1, "f32", 2)
TABLE, AT = parameter(2, "s32", 4, 5), parameter(3, "s32")
F32, TUPLE = array("f32"), TupleShape(())
COLUMN, APPLIED = parameter(5, "s32", 3), term("op", ("function", 0, (), 0), TUPLE)
ILL_FORMED = {
    "another kind": term("what", None, F32),  # type: ignore[arg-type]
    "a splat of an array": term("splat", None, array("f32", 2, 3), Y),
    "a splat of two": term("splat", None, array("f32", 2), constant(0, "f32"), constant(1, "f32")),
    "a splat of another type": term("splat", None, array("f32", 2), constant(0, "s32")),
    "a constant array of one number": term("constant", 0, array("f32", 2)),
    "a constant tuple": term("constant", 0, TUPLE),
    "a truth value as bits": constant(True, "u8"),
    "negative bits": constant(-1, "s32"),
    "a sum of three": each("add", array("f32", 2), Y, Y, Y),
    "a sum of none": each("add", array("f32", 2)),
    "a sum of other sizes": each("add", array("f32", 2, 3), X, Y),
    "a comparison of numbers": each(("compare", "LT", False), array("f32", 2), Y, Y),
    "an unknown comparison": each(("compare", "less", False), array("pred", 2), Y, Y),
    "a comparison without an order": each(("compare", "LT"), array("pred", 2), Y, Y),
    "a select by numbers": each("select", array("f32", 2), Y, Y, Y),
    "bits of another width": each(("bitcast-convert", parse_element_type("f16")), array("f16", 2), Y),
    "bits of another type": each(("bitcast-convert", parse_element_type("s32")), array("u32", 2), Y),
    "a polynomial with a negative power": each(("ring", (1, ((0, -1),))), array("s32", 4, 5), TABLE),
    "a polynomial of a missing operand": each(("ring", (1, ((1, 1),))), array("s32", 4, 5), TABLE),
    "a polynomial of floats": each(("ring", (1, ((0, 1),))), array("f32", 2), Y),
    "a choice by an array": term("choice", None, array("f32", 2), Y, Y, Y),
    "a choice of other sizes": term("choice", None, array("f32", 2), constant(1, "pred"), Y, X),
    "an element outside": term("element", 2, F32, Y),
    "an element before": term("element", -1, F32, Y),
    "an element of another type": term("element", 0, array("s32"), Y),
    "an array of too few": term("array", None, array("f32", 2), constant(0, "f32")),
    "an array of arrays": term("array", None, array("f32", 2), Y, Y),
    "a result of none": term("out", 0, F32, Y),
    "a movement of nothing": term("moved", Plan(Y.shape.element_type, (2,)), array("f32", 2)),  # type: ignore[union-attr]
    "a movement of something else": term("moved", Plan(Y.shape.element_type, (2,)), array("f32", 2), X),  # type: ignore[union-attr]
    "a movement without a plan": term("moved", None, array("f32", 2), Y),
    "a label without a name": term("op", (), array("f32", 2), Y),
    "a label that is a name": term("op", "reverse", array("f32", 2), Y),
    "a loop": term("op", ("while",), TUPLE),
    "a function": term("op", ("function",), TUPLE),
    "a reversal of a missing dimension": term("op", ("reverse", frozenset({1})), array("f32", 2), Y),
    "a reversal of a part": term("op", ("reverse", frozenset({0})), array("f32", 1), Y),
    "a broadcast to one dimension": term("op", ("broadcast", (0, 0)), array("f32", 2, 3), X),
    "a broadcast of other sizes": term("op", ("broadcast", (0,)), array("f32", 3), Y),
    "a concatenation of nothing": term("op", ("concatenate", 0), array("f32", 2)),
    "a concatenation of less": term("op", ("concatenate", 0), array("f32", 3), Y, Y),
    "a concatenation of other sizes": term("op", ("concatenate", 0), array("f32", 4, 3), X, parameter(1, "f32", 2, 2)),
    "a plane of numbers": term("op", ("iota",), array("s32", 2, 3)),
    "numbers of something": term("op", ("iota",), array("s32", 2), Y),
    "a slice without positions": term("op", ("dynamic-slice",), array("s32", 1, 1), TABLE, AT),
    "a slice at a float": term("op", ("dynamic-slice",), array("f32", 1), Y, parameter(4, "f32")),
    "a slice that is larger": term("op", ("dynamic-slice",), array("f32", 3), Y, AT),
    "a slice of another type": term("op", ("dynamic-slice",), array("s32", 1), Y, AT),
    "an update that is larger": term("op", ("dynamic-update-slice",), array("f32", 2), Y, parameter(1, "f32", 3), AT),
    "an update of another array": term("op", ("dynamic-update-slice",), array("f32", 3), Y, Y, AT),
    "a gather by two columns": term("op", ("gather", (1,), ()), array("s32", 3, 1, 5), TABLE, COLUMN, COLUMN),
    "a gather by a matrix": term("op", ("gather", (1,), ()), array("s32", 4, 5, 1, 5), TABLE, TABLE),
    "a gather by floats": term("op", ("gather", (1,), ()), array("s32", 2, 1, 5), TABLE, Y),
    "a gather of more rows": term("op", ("gather", (5,), ()), array("s32", 3, 5, 5), TABLE, COLUMN),
    "a gather of another type": term("op", ("gather", (1,), ()), array("u32", 3, 1, 5), TABLE, COLUMN),
    "a gather of other sizes": term("op", ("gather", (1,), ()), array("s32", 3, 2, 5), TABLE, COLUMN),
    "a scatter into nothing": term("op", ("scatter", 0, ()), TUPLE, TABLE),
    "a scatter of another shape": term(
        "op", ("scatter", 1, ()), TupleShape((array("s32", 5, 4),)), TABLE, COLUMN, TABLE, APPLIED
    ),
    "a sum over three dimensions": term(
        "op", ("reduce", "add"), array("f32", 2), parameter(0, "f32", 2, 3, 4), constant(0, "f32")
    ),
    "a sum of other rows": term("op", ("reduce", "add"), array("f32", 3), X, constant(0, "f32")),
    "a product of other sizes": term("op", ("dot", ()), array("f32", 1, 2, 2), parameter(0, "f32", 1, 2, 3), X),
}


def gathered(table: ReadTerm, columns: tuple[ReadTerm, ...], windows: tuple[int, ...], promise: Hashable) -> ReadTerm:
    assert isinstance(table.shape, ArrayShape)
    shape = array("s32", 3, *windows, table.shape.dimensions[-1])
    return term("op", ("gather", windows, promise), shape, table, *columns)


CUBE = parameter(0, "s32", 4, 4, 1)
FIRST_COLUMN, SECOND_COLUMN = parameter(1, "s32", 3), parameter(2, "s32", 3)
WIDE = each("convert", array("s64", 3), FIRST_COLUMN)
BACK = Transpose((0, 2, 1, 3))
FIRST = gathered(CUBE, (FIRST_COLUMN, SECOND_COLUMN), (1, 1), ())
TURNED = moved(CUBE, Transpose((1, 0, 2)))
SORTED = (("indices_are_sorted", "true"),)


@pytest.mark.parametrize(
    ("before", "after", "is_right"),
    [
        (FIRST, moved(gathered(TURNED, (SECOND_COLUMN, FIRST_COLUMN), (1, 1), ()), BACK), True),
        (gathered(CUBE, (WIDE, SECOND_COLUMN), (1, 1), ()), FIRST, True),
        (FIRST, moved(gathered(TURNED, (FIRST_COLUMN, SECOND_COLUMN), (1, 1), ()), BACK), False),
        (FIRST, moved(gathered(CUBE, (SECOND_COLUMN, FIRST_COLUMN), (1, 1), ()), BACK), False),
        (FIRST, gathered(TURNED, (SECOND_COLUMN, FIRST_COLUMN), (1, 1), ()), False),
        (FIRST, gathered(CUBE, (SECOND_COLUMN, FIRST_COLUMN), (1, 1), ()), False),
        (FIRST, gathered(CUBE, (FIRST_COLUMN, SECOND_COLUMN), (1, 1), SORTED), False),
        (
            gathered(CUBE, (FIRST_COLUMN, SECOND_COLUMN), (1, 1), SORTED),
            moved(gathered(TURNED, (SECOND_COLUMN, FIRST_COLUMN), (1, 1), SORTED), BACK),
            False,
        ),
        (
            gathered(CUBE, (FIRST_COLUMN, SECOND_COLUMN), (2, 1), ()),
            moved(gathered(TURNED, (SECOND_COLUMN, FIRST_COLUMN), (2, 1), ()), BACK),
            False,
        ),
        (gathered(CUBE, (each("convert", array("s8", 3), FIRST_COLUMN), SECOND_COLUMN), (1, 1), ()), FIRST, False),
        (gathered(CUBE, (each("convert", array("u32", 3), FIRST_COLUMN), SECOND_COLUMN), (1, 1), ()), FIRST, False),
    ],
)
def test_indexed_dimensions_are_in_another_order_with_their_columns(
    before: ReadTerm, after: ReadTerm, is_right: bool
) -> None:
    assert bool(told((TRUE, TRUE), step("indexed-dimensions", before, after)).refused) is not is_right


GROUND, SEVEN = parameter(0, "s32", 4, 4, 2), constant(7, "s32")
WIDER = Plan(parse_element_type("s32"), (4, 4, 2), (Pad((0, 0, 0), (0, 0, 3)),), (True,))
SHIFTED = Plan(parse_element_type("s32"), (4, 4, 2), (Pad((0, 1, 0), (0, -1, 3)),), (True,))


def padded(plan: Plan, array_: ReadTerm, value: ReadTerm) -> ReadTerm:
    return term("moved", plan, ArrayShape(*plan.result), array_, value)


@pytest.mark.parametrize(
    ("plan", "high", "value", "is_right"),
    [(WIDER, 3, SEVEN, True), (SHIFTED, 3, SEVEN, False), (WIDER, 3, constant(8, "s32"), False)],
)
def test_padding_comes_after_a_gather_where_no_index_reads_it(
    plan: Plan, high: int, value: ReadTerm, is_right: bool
) -> None:
    columns = (FIRST_COLUMN, SECOND_COLUMN)
    before = gathered(padded(plan, GROUND, SEVEN), columns, (1, 1), ())
    rows = Plan(parse_element_type("s32"), (3, 1, 1, 2), (Pad((0, 0, 0, 0), (0, 0, 0, high)),), (True,))
    after = padded(rows, gathered(GROUND, columns, (1, 1), ()), value)
    assert bool(told((TRUE, TRUE), step("gather-of-padding", before, after)).refused) is not is_right


PAIRS = parameter(0, "s32", 4, 4, 2)


def column(number: int) -> ReadTerm:
    return moved(PAIRS, Slice((0, 0, number), (4, 4, number + 1)))


def joined(*parts: ReadTerm) -> ReadTerm:
    return term("op", ("concatenate", 3), array("s32", 3, 1, 1, 2), *parts)


@pytest.mark.parametrize(
    ("numbers", "columns", "promise", "is_right"),
    [
        ((0, 1), (FIRST_COLUMN, SECOND_COLUMN), (), True),
        ((1, 0), (FIRST_COLUMN, SECOND_COLUMN), (), False),
        ((0, 0), (FIRST_COLUMN, SECOND_COLUMN), (), False),
        ((0, 1), (SECOND_COLUMN, FIRST_COLUMN), (), False),
        ((0, 1), (FIRST_COLUMN, SECOND_COLUMN), SORTED, False),
    ],
)
def test_a_gather_of_rows_is_joined_of_those_of_its_columns(
    numbers: tuple[int, ...], columns: tuple[ReadTerm, ...], promise: Hashable, is_right: bool
) -> None:
    before = gathered(PAIRS, (FIRST_COLUMN, SECOND_COLUMN), (1, 1), ())
    after = joined(*(gathered(column(number), columns, (1, 1), promise) for number in numbers))
    assert bool(told((TRUE, TRUE), step("columns", before, after)).refused) is not is_right


UPPER, LOWER = parameter(0, "s32", 1, 4, 3), parameter(1, "s32", 1, 5, 3)
CUT = Cut(1, 1, 4, 0, 3)


def cut_term(operand: ReadTerm, cut: Cut) -> ReadTerm:
    assert isinstance(operand.shape, ArrayShape)
    plan = cut.plan(operand.shape)
    return term("moved", plan, ArrayShape(*plan.result), operand)


def whole_dot(left: ReadTerm, right: ReadTerm, rows: int, columns: int) -> ReadTerm:
    return term("op", ("dot", ()), array("s32", 1, rows, columns), left, right)


@pytest.mark.parametrize(
    ("cut", "after", "is_right"),
    [
        (CUT, whole_dot(cut_term(UPPER, CUT), LOWER, 3, 5), True),
        (Cut(1, 2, 2, 1, 2), whole_dot(cut_term(UPPER, Cut(1, 2, 2, 1, 2)), LOWER, 2, 5), True),
        (Cut(2, 1, 5, 1, 4), whole_dot(UPPER, cut_term(LOWER, Cut(1, 1, 5, 1, 4)), 4, 3), True),
        # Other rows, rows of another order, the columns instead of the rows, and what is summed.
        (CUT, whole_dot(cut_term(UPPER, Cut(1, 1, 4, 1, 4)), LOWER, 3, 5), False),
        (Cut(1, 2, 2, 1, 2), whole_dot(cut_term(UPPER, Cut(1, 1, 4, 2, 4)), LOWER, 2, 5), False),
        (Cut(2, 1, 5, 0, 3), whole_dot(cut_term(UPPER, CUT), LOWER, 4, 3), False),
        (CUT, whole_dot(cut_term(UPPER, Cut(2, 1, 3, 0, 2)), LOWER, 3, 5), False),
        (CUT, whole_dot(UPPER, LOWER, 3, 5), False),
    ],
)
def test_a_part_of_a_dot_is_the_dot_of_a_part(cut: Cut, after: ReadTerm, is_right: bool) -> None:
    before = cut_term(whole_dot(UPPER, LOWER, 4, 5), cut)
    assert bool(told((TRUE, TRUE), step("part", before, after)).refused) is not is_right


GRID, OTHER_GRID = parameter(0, "s32", 4, 2), parameter(1, "s32", 4, 2)


@pytest.mark.parametrize(
    ("bounds", "second", "is_right"),
    [
        (((0, 3), (3, 4)), GRID, True),
        (((0, 3), (2, 3)), GRID, False),
        (((1, 4), (0, 1)), GRID, False),
        (((0, 3), (3, 4)), OTHER_GRID, False),
    ],
)
def test_slices_that_follow_each_other_are_the_array(
    bounds: tuple[tuple[int, int], ...], second: ReadTerm, is_right: bool
) -> None:
    parts = [
        moved(each_, Slice((start, 0), (limit, 2)))
        for each_, (start, limit) in zip((GRID, second), bounds, strict=True)
    ]
    before = term("op", ("concatenate", 0), array("s32", 4, 2), *parts)
    assert bool(told((TRUE, TRUE), step("joined-slices", before, GRID)).refused) is not is_right


def sliced(table: ReadTerm, starts: tuple[ReadTerm, ...], sizes: tuple[int, ...]) -> ReadTerm:
    return term("op", ("dynamic-slice",), array("s32", *sizes), table, *starts)


ROW, LINE = parameter(1, "s32"), parameter(2, "s32")
SOLID, ORIGIN = parameter(0, "s32", 4, 5, 6), constant(0, "s32")
ARRANGED = moved(SOLID, Transpose((2, 0, 1)), Reshape((6, 4, 5)))
PART = sliced(SOLID, (LINE, ORIGIN, ROW), (2, 5, 3))


@pytest.mark.parametrize(
    ("after", "is_right"),
    [
        (moved(sliced(ARRANGED, (ROW, LINE, ORIGIN), (3, 2, 5)), Transpose((1, 2, 0))), True),
        (moved(sliced(ARRANGED, (LINE, ROW, ORIGIN), (3, 2, 5)), Transpose((1, 2, 0))), False),
        (moved(sliced(ARRANGED, (ROW, LINE, ORIGIN), (2, 3, 5)), Transpose((0, 2, 1))), False),
        (moved(sliced(moved(SOLID, Reshape((6, 4, 5))), (ROW, LINE, ORIGIN), (3, 2, 5)), Transpose((1, 2, 0))), False),
        (moved(sliced(ARRANGED, (ROW, LINE, ORIGIN), (3, 2, 5)), Reshape((2, 5, 3))), False),
    ],
)
def test_a_slice_is_arranged_with_its_positions(after: ReadTerm, is_right: bool) -> None:
    assert bool(told((TRUE, TRUE), step("dynamic-slice", PART, after)).refused) is not is_right


SHEETS = [parameter(0, "s32", 2, 3), parameter(1, "s32", 4, 3)]
BOTH = term("op", ("concatenate", 0), array("s32", 6, 3), *SHEETS)


@pytest.mark.parametrize(
    ("start", "part", "inner", "is_right"),
    [(2, 1, 0, True), (3, 1, 1, True), (1, 1, 0, False), (2, 1, 1, False), (0, 0, 0, True), (2, 0, 0, False)],
)
def test_a_part_of_a_concatenation_is_read_where_it_is(start: int, part: int, inner: int, is_right: bool) -> None:
    before = moved(BOTH, Slice((start, 0), (start + 2, 3)))
    after = moved(SHEETS[part], Slice((inner, 0), (inner + 2, 3)))
    assert bool(told((TRUE, TRUE), step("concatenate", before, after)).refused) is not is_right


def test_an_operation_after_a_slice_has_slices_at_the_same_position() -> None:
    x, y = parameter(0, "s32", 4), parameter(1, "s32", 4)
    whole = sliced(each("add", array("s32", 4), x, y), (ROW,), (2,))
    for other, is_right in ((ROW, True), (LINE, False)):
        apart = each("add", array("s32", 2), sliced(x, (ROW,), (2,)), sliced(y, (other,), (2,)))
        assert bool(told((TRUE, TRUE), step("through", whole, apart)).refused) is not is_right


@pytest.mark.parametrize("name", ILL_FORMED)
def test_a_term_that_no_definition_makes_is_refused(name: str) -> None:
    wrong = ILL_FORMED[name]
    for steps in ([step("elements", wrong, wrong)], [step("moved", wrong, wrong)], [step("neutral", wrong, wrong)]):
        assert told((TRUE, TRUE), *steps).refused


def test_what_no_rule_can_read_is_refused_and_raises_nothing() -> None:
    deep = parameter(0, "f32")
    for _ in range(3000):
        deep = each("negate", array("f32"), deep)
    odd = [step("", deep, X), step("cases", X, Y), step("elements", deep, deep), step("through", Y, X)]
    odd += [
        step(rule, Y, Y) for rule in ("through", "dot", "dynamic-slice", "initial-value", "reduce", "window", "iota")
    ]
    for one in odd:
        assert not told((TRUE, FALSE), one).is_equal


LABELS_WITHOUT_FIELDS = {
    "a comparison": each("compare", array("pred", 2), Y, Y),
    "a comparison in a tuple": each(("compare",), array("pred", 2), Y, Y),
    "a loop without counts": term("op", ("while", 0, (), None), TUPLE),
    "a loop of a set": term("op", ("while", 0, frozenset({1}), None), TUPLE, AT),
}


@pytest.mark.parametrize("name", LABELS_WITHOUT_FIELDS)
def test_a_label_without_its_fields_is_refused_in_programs_that_differ(name: str) -> None:
    """Each equality reads the labels of all terms."""
    wrong = LABELS_WITHOUT_FIELDS[name]
    assert told((TRUE, FALSE), step("elements", wrong, wrong)).refused


def dot_of(left: ReadTerm, right: ReadTerm, *sizes: int, kind: str = "f32") -> ReadTerm:
    return term("op", ("dot", ()), array(kind, *sizes), left, right)


def products_of(left: ReadTerm, right: ReadTerm) -> ReadTerm:
    """Returns the products of a dot as rows."""
    sizes = array("f32", 1, 4, 5, 6)
    first = term("op", ("broadcast", (0, 1, 3)), sizes, left)
    second = term("op", ("broadcast", (0, 2, 3)), sizes, right)
    return moved(each("multiply", sizes, first, second), Reshape((20, 6)))


SUMMANDS = parameter(0, "f32", 4), parameter(1, "f32", 4)
SCALARS = parameter(0, "f32"), parameter(1, "f32")
LEFT, RIGHT = parameter(0, "f32", 1, 4, 6), parameter(1, "f32", 1, 5, 6)
OTHER_RIGHT = parameter(3, "f32", 1, 5, 6)
PRODUCT, SQUARE = dot_of(LEFT, RIGHT, 1, 4, 5), parameter(2, "f32", 6, 6)
EMPTY, SQUARES = parameter(0, "f32", 5, 0), parameter(0, "f32", 1, 3, 3)
SUMMED = in_order(LEFT, (4, 2, 3), (0, 2, 1))
SMALLEST = parameter(0, "f8e8m0fnu", 2, 1)
ZERO, LEAST = constant(0, "f32"), constant(0, "f8e8m0fnu")
CONTRACTIONS = {
    "one operand has another order": (
        "dot-order",
        PRODUCT,
        dot_of(SUMMED, RIGHT, 1, 4, 5),
    ),
    "both operands have other orders": (
        "dot-order",
        PRODUCT,
        dot_of(SUMMED, in_order(RIGHT, (5, 3, 2), (0, 2, 1)), 1, 4, 5),
    ),
    "the result keeps its order": (
        "dot-order",
        PRODUCT,
        dot_of(in_order(LEFT, (2, 2, 6), (1, 0, 2)), RIGHT, 1, 4, 5),
    ),
    "two transposes of a square that end in its sizes": (
        "dot-order",
        dot_of(SQUARES, SQUARES, 1, 3, 3),
        dot_of(moved(SQUARES, Transpose((0, 2, 1)), Transpose((0, 1, 2))), SQUARES, 1, 3, 3),
    ),
    "rows of a table with other sizes": (
        "window-order",
        gathered(PAIRS, (FIRST_COLUMN, SECOND_COLUMN), (1, 1), ()),
        gathered(
            moved(PAIRS, Reshape((4, 4, 2)), Transpose((0, 1, 2)), Reshape((2, 8, 2))),
            (FIRST_COLUMN, SECOND_COLUMN),
            (1, 1),
            (),
        ),
    ),
    "rows and sums are mixed": ("dot-order", PRODUCT, dot_of(in_order(LEFT, (4, 6), (1, 0)), RIGHT, 1, 4, 5)),
    "an empty array in parts": (
        "reduction-order",
        term("op", ("reduce", "add"), array("f32", 5), EMPTY, ZERO),
        term("op", ("reduce", "add"), array("f32", 5), in_order(EMPTY, (0, 7), (1, 0)), ZERO),
    ),
    "a difference in another order": (
        "reduction-order",
        term("op", ("reduce", "subtract"), array("f32", 6), SQUARE, ZERO),
        term("op", ("reduce", "subtract"), array("f32", 6), in_order(SQUARE, (6, 2, 3), (0, 2, 1)), ZERO),
    ),
    "a sum in a narrower type": (
        "wider-dot",
        dot_of(LEFT, RIGHT, 1, 4, 5, kind="f64"),
        each("convert", array("f64", 1, 4, 5), PRODUCT),
    ),
    "a sum that begins with the least number": (
        "initial-zero",
        term("op", ("reduce", "add"), array("f8e8m0fnu", 2), SMALLEST, LEAST),
        moved(SMALLEST, Reshape((2,))),
    ),
    "a sum of two elements": (
        "initial-zero",
        term("op", ("reduce", "add"), array("f32", 6), SQUARE, ZERO),
        moved(SQUARE, Reshape((6, 6))),
    ),
    "a dot without products": (
        "dot-as-sum",
        PRODUCT,
        moved(term("op", ("reduce", "add"), array("f32", 20), parameter(2, "f32", 20, 6), ZERO), Reshape((1, 4, 5))),
    ),
}


BATCHED, OTHER_BATCHED = parameter(0, "f32", 4, 2, 3), parameter(1, "f32", 4, 2, 3)
SPLIT_LEFT, SPLIT_RIGHT = parameter(0, "f32", 1, 6, 2), parameter(1, "f32", 1, 2, 2)
HALF_LEFT, HALF_RIGHT = parameter(0, "bf16", 1, 2, 3), parameter(1, "bf16", 1, 2, 3)
CONTRACTIONS |= {
    "the batch of one operand has another order": (
        "dot-order",
        dot_of(BATCHED, OTHER_BATCHED, 4, 2, 2),
        moved(
            dot_of(in_order(BATCHED, (2, 2, 2, 3), (1, 0, 2, 3)), OTHER_BATCHED, 4, 2, 2),
            Reshape((2, 2, 2, 2)),
            Transpose((1, 0, 2, 3)),
            Reshape((4, 2, 2)),
        ),
    ),
    "parts that are larger than a dimension": (
        "dot-order",
        dot_of(SPLIT_LEFT, SPLIT_RIGHT, 1, 6, 2),
        moved(
            dot_of(in_order(SPLIT_LEFT, (4, 3), (1, 0)), SPLIT_RIGHT, 1, 6, 2),
            Reshape((3, 4)),
            Transpose((1, 0)),
            Reshape((1, 6, 2)),
        ),
    ),
    "another array of the wider type": (
        "wider-dot",
        dot_of(HALF_LEFT, HALF_RIGHT, 1, 2, 2, kind="bf16"),
        each(
            "convert",
            array("bf16", 1, 2, 2),
            dot_of(parameter(2, "f32", 1, 2, 3), each("convert", array("f32", 1, 2, 3), HALF_RIGHT), 1, 2, 2),
        ),
    ),
    "a sum of numbers that is their maximum": (
        "dot-as-sum",
        PRODUCT,
        moved(term("op", ("reduce", "maximum"), array("f32", 20), products_of(LEFT, RIGHT), ZERO), Reshape((1, 4, 5))),
    ),
    "products of other factors": (
        "dot-as-sum",
        PRODUCT,
        moved(
            term("op", ("reduce", "add"), array("f32", 20), products_of(LEFT, OTHER_RIGHT), ZERO), Reshape((1, 4, 5))
        ),
    ),
    "a sum instead of an update": ("dynamic-slice", each("add", array("f32", 4), *SUMMANDS), SUMMANDS[1]),
    "a sum of scalars instead of an update": (
        "dynamic-slice",
        term("op", ("dynamic-update-slice",), array("f32"), *SCALARS),
        each("add", array("f32"), *SCALARS),
    ),
}


def test_the_products_of_a_dot_are_its_definition() -> None:
    total = term("op", ("reduce", "add"), array("f32", 20), products_of(LEFT, RIGHT), ZERO)
    assert not told((TRUE, TRUE), step("dot-as-sum", PRODUCT, moved(total, Reshape((1, 4, 5))))).refused


@pytest.mark.parametrize("name", CONTRACTIONS)
def test_a_step_about_a_dot_that_changes_it_is_refused(name: str) -> None:
    rule, before, after = CONTRACTIONS[name]
    assert told((TRUE, TRUE), step(rule, before, after)).refused


def test_the_order_of_a_sum_is_named() -> None:
    """The same order of both operands is one of the sum, which the engine chooses."""
    after = dot_of(SUMMED, in_order(RIGHT, (5, 2, 3), (0, 2, 1)), 1, 4, 5)
    assert not told((TRUE, TRUE), step("dot-order", PRODUCT, after)).refused


def test_a_quotient_that_is_no_number_has_bits_that_the_engine_chooses() -> None:
    computed = hlo(
        "x = f32[] parameter(0)\n z = f32[] constant(0)\n d = f32[] divide(z, z)\n ROOT b = u32[] bitcast-convert(d)"
    )
    known = hlo("x = f32[] parameter(0)\n ROOT b = u32[] constant(2143289344)")
    other = hlo("x = f32[] parameter(0)\n ROOT b = u32[] constant(4290772992)")
    for pair in ((computed, known), (computed, other)):
        assert not told(pair).is_equal


def test_a_rounding_by_chance_jumps() -> None:
    """A sum in another order is rounded to another integer."""
    assert observes_rounding("each", "stochastic-convert", array("s8"), [array("f32"), array("u32")])
