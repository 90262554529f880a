"""Terms that fit their kind, and terms that differ from one of them in one respect."""

from __future__ import annotations

from collections.abc import Hashable

import pytest

from dialect_utils.layout import (
    ArrayShape,
    BitcastConvert,
    ElementType,
    Pad,
    Reshape,
    Shape,
    TupleShape,
    parse_array_shape,
)
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops.window import WindowDimension
from dialect_utils.verdict.certificate import ReadTerm
from dialect_utils.verdict.replay.check import _UNREADABLE
from dialect_utils.verdict.terms.graph import UNSPECIFIED
from dialect_utils.verdict.terms.primitives import ANY_ORDER, Kind
from dialect_utils.verdict.terms.wellformed import NOTHING, RefusedError, check_term
from tests.verdict.replay.forging import array, constant, each, moved, parameter, term
from tests.verdict.replay.test_malicious import APPLIED, AT, COLUMN, F32, ILL_FORMED, TABLE, TUPLE, X, Y

KEY = ("topk", (1,), (("k", "2"),), None, None)
BOOL, BYTE, WORD = constant(1, "pred"), parameter(6, "u8"), parameter(7, "s32", 2)
F2, S2, P2 = array("f32", 2), array("s32", 2), array("pred", 2)
UNDEFINED = term("leaf", UNSPECIFIED, NOTHING)
MADE = term("op", ("made",), TupleShape((F32, F2)), Y)
GROWING = parse_array_shape("f32[<=2]")
PADDED = Plan(Y.shape.element_type, (2,), (Pad((0,), (1,)),), (True,))  # type: ignore[union-attr]
TWICE = PADDED.then(Plan(Y.shape.element_type, (3,), (Reshape((3, 1)), Pad((0, 0), (0, 1))), (None, True)))  # type: ignore[union-attr]
SCALARS = parameter(8, "f32"), constant(0, "f32")
ROWS, COLUMNS = parameter(9, "f32", 1, 2, 3), parameter(10, "f32", 1, 4, 3)
BODY = term("leaf", ("bound", 0, 0), F32)


def op(label: tuple[Hashable, ...], shape: Shape, *operands: ReadTerm) -> ReadTerm:
    return term("op", label, shape, *operands)


def window(shape: ArrayShape, operand: ReadTerm, initial: ReadTerm, *sizes: int, flag: Hashable = True) -> ReadTerm:
    dimensions = tuple(WindowDimension(size, 1, 0, 0, 1, 1) for size in sizes)
    return op(("reduce-window", "add", dimensions, flag), shape, operand, initial)


WELL_FORMED = {
    "a leaf": Y,
    "undefined padding": UNDEFINED,
    "the greatest number": constant(255, "u8"),
    "zero": constant(0, "u8"),
    "bytes": term("constant", b"\x01\x00", P2),
    "words": term("constant", bytes(8), S2),
    "an array of no bytes": term("constant", b"", array("s32", 0)),
    "a splat": term("splat", None, F2, SCALARS[0]),
    "a choice by a truth value": term("choice", None, F2, BOOL, Y, Y),
    "a choice by a number": term("choice", None, F2, AT, Y, Y, Y),
    "a choice with effects": term("choice", ("effects",), F2, AT, Y),
    "movement": moved(X, Reshape((3, 2))),
    "padding": term("moved", PADDED, array("f32", 3), Y, SCALARS[1]),
    "undefined padding of an array": term("moved", PADDED, array("f32", 3), Y, UNDEFINED),
    "two kinds of padding": term("moved", TWICE, array("f32", 3, 2), Y, *SCALARS),
    "the first result": term("out", 0, F32, MADE),
    "the second result": term("out", 1, F2, MADE),
    "the first element": term("element", 0, F32, Y),
    "the last element": term("element", 5, F32, X),
    "an array": term("array", None, F2, *SCALARS),
    "an empty array": term("array", None, array("f32", 0)),
    "a sum of two": each("add", F2, Y, Y),
    "a maximum of three": each("maximum", F2, Y, Y, Y),
    "an operation without a definition": each("unknown", F2, Y, Y, Y),
    "a label of one name": each(("add",), F2, Y, Y),
    "a sum of mixed types": each("add", F2, Y, WORD),
    "a select": each("select", F2, parameter(5, "pred", 2), Y, Y),
    "a key": each(KEY, F2, Y),
    **{
        f"{direction}": each(("compare", direction, False), P2, Y, Y)
        for direction in ["EQ", "NE", "LT", "LE", "GT", "GE"]
    },
    "bits": each(("bitcast-convert", S2.element_type), S2, Y),
    "a polynomial": each(("ring", (2, ((0, 1), (1, 3))), (-1, ())), S2, WORD, WORD),
    "the highest power": each(("ring", (1, ((0, 1000),))), S2, WORD),
    "a sum of terms": each(("sum", "add"), F2, Y, Y, Y),
    "a sum of products": each(("sum-of-products", ()), F2, Y),
    "padding that is combined": each(("padding", "add"), F2, Y),
    "a sum in the order of the engine": each((ANY_ORDER, "rows"), F2, Y),
    "the first part": each(("part", 0), array("u8"), AT),
    "the last part": each(("part", 3), array("u8"), AT),
    "an operation": op((KEY, 1, (4, 1), None), TUPLE, Y),
    "an unknown operation": op(("unknown", 3), F2, Y),
    "a function": op(("function", 0, (F32,), 1), TUPLE, BODY),
    "a function with more operands": op(("function", 1, (F32,), 1), TUPLE, BODY, BODY),
    "a loop": op(("while", 0, (1, 2, 1), None), TUPLE, AT, AT, AT, AT),
    "a broadcast": op(("broadcast", (1,)), array("f32", 3, 2), Y),
    "a broadcast of two dimensions": op(("broadcast", (1, 0)), array("f32", 3, 2), X),
    "a broadcast of one element": op(("broadcast", (0,)), F2, parameter(11, "f32", 1)),
    "a reversal": op(("reverse", frozenset({0, 1})), X.shape, X),
    "a concatenation": op(("concatenate", 1), array("f32", 2, 7), X, X, parameter(12, "f32", 2, 1)),
    "numbers": op(("iota",), S2),
    "a slice": op(("dynamic-slice",), array("s32", 4, 1), TABLE, AT, AT),
    "a slice at a byte": op(("dynamic-slice",), array("f32", 1), Y, BYTE),
    "an update": op(("dynamic-update-slice",), TABLE.shape, TABLE, parameter(13, "s32", 1, 5), AT, AT),
    "a gather": op(("gather", (4,), ()), array("s32", 3, 4, 5), TABLE, COLUMN),
    "a gather by two columns": op(
        ("gather", (1, 1), ()), array("s32", 3, 1, 1, 6), parameter(14, "s32", 4, 5, 6), *[COLUMN] * 2
    ),
    "a scatter": op(("scatter", 1, ()), TupleShape((TABLE.shape,)), TABLE, COLUMN, TABLE, APPLIED),
    "a scatter without columns": op(("scatter", 1, ()), TupleShape((TABLE.shape,)), TABLE, TABLE, APPLIED),
    "a reduction by a function": op(("reduce", None), TUPLE, X, APPLIED),
    "a reduction": op(("reduce", "add"), F2, X, SCALARS[0]),
    "windows by a function": op(("reduce-window", None, (), True), TUPLE, X, APPLIED),
    "windows": window(array("f32", 1, 2), X, SCALARS[0], 2, 2),
    "a dot": op(("dot", ()), array("f32", 1, 2, 4), ROWS, COLUMNS),
    "a dot in another type": op(("dot", ()), array("f64", 1, 2, 4), ROWS, COLUMNS),
}
S2_TYPE = S2.element_type
MORE_ILL_FORMED = {
    "a leaf with an operand": term("leaf", ("parameter", 0), F2, Y),
    "a type of another name": term("leaf", ("parameter", 0), ArrayShape(ElementType("nothing", 0), ())),
    "a shape with a layout": term("leaf", ("parameter", 0), parse_array_shape("f32[2]{0}")),
    "a type between two reads": term(
        "moved",
        Plan(F2.element_type, (2,), (BitcastConvert(ElementType("s32", 16)), BitcastConvert(F2.element_type))),
        F2,
        Y,
    ),
    "a constant with an operand": term("constant", 0, F32, SCALARS[0]),
    "a constant of too many bytes": term("constant", bytes(9), S2),
    "a constant of too many bits": term("constant", b"\x02\x00", P2),
    "bytes with an operand": term("constant", bytes(8), S2, Y),
    "a constant as bits in an array": term("constant", 0, array("f32", 1)),
    "a number that is too large": constant(256, "u8"),
    "a number of a text": constant("0", "u8"),
    "a splat with a label": term("splat", 0, F2, SCALARS[0]),
    "a splat of a scalar": term("splat", None, F32, SCALARS[0]),
    "a splat of another array": term("splat", None, F2, parameter(0, "f32", 1)),
    "a choice by a float": term("choice", None, F2, SCALARS[0], Y),
    "a choice by an array of truth values": term("choice", None, F2, parameter(5, "pred", 2), Y),
    "a choice by an array of numbers": term("choice", None, F2, WORD, Y),
    "a choice of nothing": term("choice", None, F2, BOOL),
    "a choice of another shape": term("choice", None, F2, BOOL, Y, SCALARS[0]),
    "movement of another size": term("moved", Plan(F2.element_type, (2, 3)), F2, Y),
    "movement to another size": term("moved", Plan(F2.element_type, (2,), (Reshape((2, 1)),)), F2, Y),
    "padding of another type": term("moved", PADDED, array("f32", 3), Y, AT),
    "padding with an array": term("moved", PADDED, array("f32", 3), Y, Y),
    "padding without a value": term("moved", PADDED, array("f32", 3), Y),
    "padding with two values": term("moved", PADDED, array("f32", 3), Y, *SCALARS),
    "padding of the second kind only": term("moved", TWICE, array("f32", 3, 2), Y, SCALARS[0], AT),
    "padding that nothing has": term(
        "moved", Plan(F2.element_type, (2,), (Reshape((2, 1)),), (True,)), array("f32", 2, 1), Y
    ),
    "padding of a reshape": term(
        "moved", Plan(F2.element_type, (2,), (Reshape((2, 1)),), (True,)), array("f32", 2, 1), Y, SCALARS[0]
    ),
    "padding that is not marked": term("moved", Plan(F2.element_type, (2,), PADDED.steps, (None,)), array("f32", 3), Y),
    "gaps of a truth value": term(
        "moved", Plan(F2.element_type, (2,), (Pad((0,), (0,), (True,)),), (True,)), array("f32", 3), Y, SCALARS[0]
    ),
    "an elementwise operation of a tuple": each("unknown", F2, Y, MADE),
    "a result of an array": term("out", 0, F2, op(("made",), F2, Y)),
    "a result of movement": term("out", 0, F32, term("choice", None, MADE.shape, AT, MADE)),
    "a result before the first": term("out", -1, F2, MADE),
    "a result after the last": term("out", 2, F2, MADE),
    "a result that is no number": term("out", True, F2, MADE),
    "a result of another shape": term("out", 0, F2, MADE),
    "a result of two": term("out", 0, F32, MADE, MADE),
    "an element that is no number": term("element", True, F32, Y),
    "an element that is an array": term("element", 0, F2, Y),
    "an element behind the last": term("element", 6, F32, X),
    "an array with a label": term("array", 0, F2, *SCALARS),
    "an array of too many": term("array", None, F2, *SCALARS, SCALARS[0]),
    "an array of another type": term("array", None, F2, SCALARS[0], AT),
    "an elementwise operation without a name": each((), F2, Y),
    "an elementwise operation of a number": each((3,), F2, Y),
    "an elementwise operation of nothing": each("unknown", F2),
    "an elementwise operation of other sizes": each("unknown", F2, Y, SCALARS[0]),
    "a name with fields": each(("unknown", 0), F2, Y),
    "a name of two words": each(("add", "add"), F2, Y, Y),
    "a name that needs fields": each(("compare",), P2, Y),
    "a comparison without a direction": each("compare", P2, Y, Y),
    "a comparison with one field": each(("compare",), P2, Y, Y),
    "a name with the fields of an operation": each(("unknown", (), (), None, None), F2, Y),
    "a key with odd texts": each(("topk", (1,), (("k", 2),), None, None), F2, Y),
    "a key with long texts": each(("topk", (1,), (("k", "2", "3"),), None, None), F2, Y),
    "a key with a set of texts": each(("topk", (1,), frozenset({("k", "2")}), None, None), F2, Y),
    "a concatenation of scalars behind the last dimension": op(("concatenate", 1), array("f32", 0), SCALARS[0]),
    "a key without texts": each(("topk", (1,), "texts", None, None), F2, Y),
    "an operation whose name is a number": op(((3, (1,), (), None, None), 1, (4, 1), None), TUPLE, Y),
    "an operation with a short key": op((KEY[:4], 1, (4, 1), None), TUPLE, Y),
    "an operation with a long label": op((KEY, 1, (4, 1), None, 0), TUPLE, Y),
    "an operation with odd texts": op(((*KEY[:2], (("k", 2),), None, None), 1, (4, 1), None), TUPLE, Y),
    "a select of two": each("select", F2, parameter(5, "pred", 2), Y),
    "a select by two numbers": each("select", F2, WORD, Y, Y),
    "a select by a truth value in the second place": each("select", P2, WORD, *[parameter(5, "pred", 2)] * 2),
    "a comparison in another type": each(("compare", "LT", False), S2, Y, Y),
    "a comparison of three": each(("compare", "LT", False), P2, Y, Y, Y),
    "a comparison of other types": each(("compare", "LT", False), P2, Y, WORD),
    "a comparison with a number": each(("compare", "LT", 0), P2, Y, Y),
    "bits of two": each(("bitcast-convert", S2_TYPE), S2, Y, Y),
    "bits of fewer": each(("bitcast-convert", S2_TYPE), S2, parameter(15, "s8", 2)),
    "bits with two fields": each(("bitcast-convert", S2_TYPE, S2_TYPE), S2, Y),
    "a polynomial of other types": each(("ring", (1, ((0, 1),))), S2, parameter(15, "s8", 2)),
    "a polynomial in floats": each(("ring", (1, ((0, 1),))), F2, WORD),
    "a polynomial with a power that is too high": each(("ring", (1, ((0, 1001),))), S2, WORD),
    "a polynomial with a truth value": each(("ring", (True, ((0, 1),))), S2, WORD),
    "a polynomial of a negative operand": each(("ring", (1, ((-1, 1),))), S2, WORD),
    "a sum of terms of other types": each(("sum", "add"), F2, Y, WORD),
    "a sum of terms with two fields": each(("sum", "add", "add"), F2, Y, Y),
    "a part behind the last": each(("part", 4), array("u8"), AT),
    "a part before the first": each(("part", -1), array("u8"), AT),
    "a part of two": each(("part", 0), array("u8"), AT, AT),
    "a part with two fields": each(("part", 0, 0), array("u8"), AT),
    "a function of more results": op(("function", 0, (F32,), 2), TUPLE, BODY),
    "a function of a negative level": op(("function", -1, (F32,), 1), TUPLE, BODY),
    "a function of a negative number of results": op(("function", 0, (F32,), -1), TUPLE, BODY),
    "a function of a list": op(("function", 0, "shapes", 1), TUPLE, BODY),
    "a loop of fewer operands": op(("while", 0, (1, 2, 1), None), TUPLE, AT, AT, AT),
    "a loop without counts": op(("while", 0, (), None), TUPLE),
    "a loop of a set of counts": op(("while", 0, frozenset({1}), None), TUPLE, AT),
    "a loop of a negative level": op(("while", -1, (1, 2, 1), None), TUPLE, AT, AT, AT, AT),
    "a loop of a negative state": op(("while", 0, (-1, 4, 1), None), TUPLE, AT, AT, AT, AT),
    "a broadcast to a missing dimension": op(("broadcast", (2,)), array("f32", 3, 2), Y),
    "a broadcast to a dimension before the first": op(("broadcast", (-1,)), array("f32", 3, 2), Y),
    "a broadcast to a dimension twice": op(("broadcast", (1, 1)), array("f32", 3, 3), parameter(16, "f32", 3, 3)),
    "a broadcast to too few dimensions": op(("broadcast", (1,)), array("f32", 2, 3), X),
    "a broadcast of another type": op(("broadcast", (1,)), array("s32", 3, 2), Y),
    "a broadcast of another size": op(("broadcast", (0,)), array("f32", 3, 2), Y),
    "a reversal of a list": op(("reverse", (0,)), X.shape, X),
    "a reversal of a dimension before the first": op(("reverse", frozenset({-1})), X.shape, X),
    "a reversal of a dimension behind the last": op(("reverse", frozenset({2})), X.shape, X),
    "a reversal of other sizes": op(("reverse", frozenset({0})), array("f32", 3, 2), X),
    "a concatenation along a missing dimension": op(("concatenate", 2), array("f32", 4, 3), X, X),
    "a concatenation before the first dimension": op(("concatenate", -1), array("f32", 2, 6), X, X),
    "a concatenation along a truth value": op(("concatenate", True), array("f32", 2, 6), X, X),
    "a concatenation of another rank": op(("concatenate", 0), F2, Y, parameter(16, "f32", 3, 3)),
    "a concatenation of another type": op(("concatenate", 0), array("s32", 4, 3), X, X),
    "numbers with a field": op(("iota", 0), S2),
    "numbers in two dimensions": op(("iota",), array("s32", 2, 2)),
    "a slice with a field": op(("dynamic-slice", 0), array("s32", 4, 1), TABLE, AT, AT),
    "a slice of fewer dimensions": op(("dynamic-slice",), array("s32", 4), TABLE, AT, AT),
    "a slice at an array": op(("dynamic-slice",), array("f32", 1), Y, WORD),
    "an update with a field": op(("dynamic-update-slice", 0), F2, Y, Y, AT),
    "an update to another size": op(("dynamic-update-slice",), array("f32", 3), Y, Y, AT),
    "an update of another type": op(("dynamic-update-slice",), F2, Y, WORD, AT),
    "a gather without columns": op(("gather", (), ()), array("s32", 3, 5), parameter(0, "s32", 5)),
    "a gather by columns of other sizes": op(
        ("gather", (1, 1), ()), array("s32", 3, 1, 1, 6), parameter(14, "s32", 4, 5, 6), COLUMN, WORD
    ),
    "a gather of a negative window": op(("gather", (-1,), ()), array("s32", 3, 5), TABLE, COLUMN),
    "a gather of fewer windows": op(("gather", (), ()), array("s32", 3, 5), TABLE, COLUMN),
    "a gather of fewer columns": op(
        ("gather", (1, 1), ()), array("s32", 3, 1, 1, 6), parameter(14, "s32", 4, 5, 6), COLUMN
    ),
    "a gather by scalars": op(("gather", (1,), ()), array("s32", 1, 5), TABLE, AT),
    "a scatter of no arrays": op(("scatter", 0, ()), TUPLE, TABLE, APPLIED),
    "a scatter of fewer updates": op(("scatter", 1, ()), TupleShape((TABLE.shape,)), TABLE, APPLIED),
    "a scatter of a truth value": op(("scatter", True, ()), TupleShape((TABLE.shape,)), TABLE, TABLE, APPLIED),
    "a scatter to another shape": op(("scatter", 1, ()), TupleShape((F2,)), TABLE, TABLE, APPLIED),
    "a difference of rows": op(("reduce", "subtract"), F2, X, SCALARS[0]),
    "a reduction of one dimension": op(("reduce", "add"), F2, Y, SCALARS[0]),
    "a reduction to columns": op(("reduce", "add"), array("f32", 3), X, SCALARS[0]),
    "a reduction from an array": op(("reduce", "add"), F2, X, Y),
    "a reduction from another type": op(("reduce", "add"), F2, X, AT),
    "a reduction to another type": op(("reduce", "add"), S2, X, SCALARS[0]),
    "differences in windows": op(
        ("reduce-window", "subtract", (WindowDimension(2, 1, 0, 0, 1, 1),), True), array("f32", 1), Y, SCALARS[0]
    ),
    "windows to other sizes": window(array("f32", 2, 2), X, SCALARS[0], 2, 2),
    "windows with another flag": window(array("f32", 1, 2), X, SCALARS[0], 2, 2, flag=1),
    "windows from an array": window(array("f32", 1, 2), X, Y, 2, 2),
    "windows in one dimension": window(array("f32", 1, 3), X, SCALARS[0], 2),
    "windows of size zero": window(array("f32", 3, 3), X, SCALARS[0], 0, 1),
    "a dot with two fields": op(("dot", (), ()), array("f32", 1, 2, 4), ROWS, COLUMNS),
    "a dot of another batch": op(("dot", ()), array("f32", 1, 2, 4), ROWS, parameter(10, "f32", 2, 4, 3)),
    "a dot of another sum": op(("dot", ()), array("f32", 1, 2, 4), ROWS, parameter(10, "f32", 1, 4, 2)),
    "a dot to other sizes": op(("dot", ()), array("f32", 1, 4, 2), ROWS, COLUMNS),
    "an array of unknown sizes": op(("reverse", frozenset({0})), GROWING, term("leaf", ("parameter", 0), GROWING)),
    "an operation without a label": op((), F2, Y),
}


@pytest.mark.parametrize("name", WELL_FORMED)
def test_a_term_fits_its_kind(name: str) -> None:
    check_term(WELL_FORMED[name])


@pytest.mark.parametrize(
    "wrong", [*ILL_FORMED.values(), *MORE_ILL_FORMED.values()], ids=[*ILL_FORMED, *MORE_ILL_FORMED]
)
def test_a_term_that_differs_in_one_respect_is_refused(wrong: ReadTerm) -> None:
    with pytest.raises((RefusedError, *_UNREADABLE)):
        check_term(wrong)


@pytest.mark.parametrize(
    ("kind", "label"),
    [*(("each", label) for label in ((), (3,), 3, None)), *(("op", label) for label in ((), "reverse", 3, None))],
)
def test_an_operation_has_a_name(kind: Kind, label: Hashable) -> None:
    with pytest.raises(RefusedError, match="an operation has no name"):
        check_term(term(kind, label, F2, Y))
