"""The elements of each kind of term, written by hand from the definitions."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dialect_utils.layout import BitcastConvert, Pad, Reshape, Slice, Transpose, TupleShape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops.domain import UndefinedError
from dialect_utils.ops.window import WindowDimension
from dialect_utils.verdict.certificate import ReadTerm
from dialect_utils.verdict.replay.elements import Elements
from dialect_utils.verdict.replay.equality import Equality, Level
from dialect_utils.verdict.terms.graph import UNSPECIFIED, Graph, Nodes
from dialect_utils.verdict.terms.wellformed import NOTHING
from tests.verdict.replay.forging import array, constant, each, moved, parameter, term

S32, U8, U32, F32 = (array(kind) for kind in ("s32", "u8", "u32", "f32"))
X, Y, P, Z = parameter(0, "s32", 2), parameter(1, "s32", 2), parameter(2, "pred"), parameter(3, "s32")
ROWS, OTHER = parameter(4, "s32", 2, 2), parameter(5, "s32", 2, 2)


def items(operand: ReadTerm, kind: str = "s32") -> list[ReadTerm]:
    sizes = operand.shape.dimensions  # type: ignore[union-attr]
    count = 1
    for size in sizes:
        count *= size
    return [term("element", i, array(kind), operand) for i in range(count)]


X0, X1 = items(X)
Y0, Y1 = items(Y)
A, B, C, D = items(ROWS)
E, F, G, H = items(OTHER)
BODY = each("add", S32, *(term("leaf", ("bound", 0, i), S32) for i in range(2)))
FUNCTION = term("op", ("function", 0, (S32, S32), 1), TupleShape(()), BODY)
TWO = term("op", ("function", 0, (S32,) * 4, 2), TupleShape(()), BODY, BODY)
PAIR = TupleShape((array("s32", 2),) * 2)
PADDED = Plan(S32.element_type, (2,), (Pad((1,), (0,)),), (True,))
WORD, BYTES, PAIRS = parameter(6, "u32", 2), parameter(7, "u8", 1, 4), parameter(8, "c64", 2)


def reduced(*operands: ReadTerm, by: ReadTerm, number: int) -> ReadTerm:
    shape = TupleShape((array("s32", 2),) * (len(operands) // 2))
    return term("out", number, array("s32", 2), term("op", ("reduce", None), shape, *operands, by))


def row(number: int, shape: TupleShape, by: ReadTerm, *operands: ReadTerm) -> ReadTerm:
    return term("out", number, S32, term("op", ("reduce-row", len(shape.elements)), shape, *operands, by))


def product(left: ReadTerm, right: ReadTerm) -> ReadTerm:
    return each("multiply", S32, left, right)


def dot(*pairs: tuple[ReadTerm, ReadTerm]) -> ReadTerm:
    return each(("sum-of-products", ()), S32, *(product(*pair) for pair in pairs))


def op(label: tuple[object, ...], shape: tuple[int, ...], *operands: ReadTerm) -> ReadTerm:
    return term("op", label, array("s32", *shape), *operands)


def convolution(kind: str, left: str, *, is_padded: bool) -> ReadTerm:
    """Returns a convolution of two elements by a window of two with padding before them."""
    label = ("convolution", (WindowDimension(2, 1, 1, 0, 1, 1),), 1, is_padded, ())
    return term("op", label, array(kind, 1, 1, 2), parameter(0, left, 1, 1, 2), parameter(1, kind, 1, 1, 2))


def convolved(kind: str, padding: ReadTerm, label: str, left: str = "") -> list[ReadTerm]:
    """Returns the elements of such a convolution."""
    x, y = items(parameter(0, left or kind, 1, 1, 2), left or kind), items(parameter(1, kind, 1, 1, 2), kind)
    if left:
        x, y, [padding] = ([each("convert", array(kind), one) for one in part] for part in (x, y, [padding]))
    pairs = [((padding, y[0]), (x[0], y[1])), ((x[0], y[0]), (x[1], y[1]))]
    return [
        each(("sum-of-products", ()), array(kind), *(each(label, array(kind), *pair) for pair in row_))
        for row_ in pairs
    ]


def narrow(kind: str, result: str, label: str) -> tuple[ReadTerm, list[ReadTerm]]:
    """Returns a dot of one product in another type, and its element."""
    left, right = (parameter(i, kind, 1, 1, 1) for i in range(2))
    pair = [*items(left, kind), *items(right, kind)]
    if label == "multiply":
        pair = [each("convert", array(result), one) for one in pair]
    made = term("op", ("dot", ()), array(result, 1, 1, 1), left, right)
    return made, [each(("sum-of-products", ()), array(result), each(label, array(result), *pair))]


def shifted(opcode: str, whole: ReadTerm, byte: int) -> ReadTerm:
    """Returns a number shifted by bytes."""
    return each(opcode, U32, whole, constant(8 * byte, "u32")) if byte else whole


ELEMENTS: dict[str, tuple[ReadTerm, list[ReadTerm]]] = {
    "a parameter": (X, [X0, X1]),
    "bytes": (term("constant", b"\x01\x02", array("u8", 2)), [constant(1, "u8"), constant(2, "u8")]),
    "a splat": (term("splat", None, array("s32", 2), Z), [Z, Z]),
    "an array": (term("array", None, array("s32", 2), Z, X0), [Z, X0]),
    "an element of an array": (
        moved(term("array", None, array("s32", 2), Z, X0), Slice((1,), (2,)), Reshape(())),
        [X0],
    ),
    "a sum": (each("add", array("s32", 2), X, Y), [each("add", S32, X0, Y0), each("add", S32, X1, Y1)]),
    "a choice": (
        term("choice", None, array("s32", 2), P, X, Y),
        [term("choice", None, S32, P, *pair) for pair in ((X0, Y0), (X1, Y1))],
    ),
    "a choice of a choice": (
        term("choice", None, array("s32", 2), P, each("negate", array("s32", 2), X), Y),
        [term("choice", None, S32, P, each("negate", S32, one), other) for one, other in ((X0, Y0), (X1, Y1))],
    ),
    "a transpose": (moved(ROWS, Transpose((1, 0))), [A, C, B, D]),
    "padding": (term("moved", PADDED, array("s32", 3), X, Z), [Z, X0, X1]),
    "one element": (moved(X, Slice((1,), (2,)), Reshape(())), [X1]),
    "a reversal": (op(("reverse", frozenset({0})), (2, 2), ROWS), [C, D, A, B]),
    "a broadcast": (op(("broadcast", (0,)), (2, 2), X), [X0, X0, X1, X1]),
    "a concatenation": (op(("concatenate", 1), (2, 4), ROWS, OTHER), [A, B, E, F, C, D, G, H]),
    "numbers": (op(("iota",), (3,)), [constant(i, "s32") for i in range(3)]),
    "a slice at numbers": (op(("dynamic-slice",), (1, 2), ROWS, constant(1, "s32"), constant(0, "s32")), [C, D]),
    "a reduction": (
        op(("reduce", "add"), (2,), ROWS, Z),
        [each(("sum", "add"), S32, Z, *pair) for pair in ((A, B), (C, D))],
    ),
    **{
        f"windows over padding that is {word}": (
            op(("reduce-window", "add", (WindowDimension(2, 1, 1, 0, 1, 1),), is_padded), (2,), X, Z),
            [each(("sum", "add"), S32, Z, padding, X0), each(("sum", "add"), S32, Z, X0, X1)],
        )
        for word, is_padded, padding in (("combined", True, Z), ("skipped", False, each(("padding", "add"), S32, Z)))
    },
    "a reduction by a function": (
        reduced(ROWS, Z, by=FUNCTION, number=0),
        [row(0, TupleShape((array("s32", 2),)), FUNCTION, *pair, Z) for pair in ((A, B), (C, D))],
    ),
    "a result of a reduction by a function": (
        reduced(ROWS, OTHER, Z, X0, by=TWO, number=1),
        [row(1, PAIR, TWO, *four, Z, X0) for four in ((A, B, E, F), (C, D, G, H))],
    ),
    "a dot": (
        op(("dot", ()), (1, 2, 2), *(moved(part, Reshape((1, 2, 2))) for part in (ROWS, OTHER))),
        [dot(*zip(left, right, strict=True)) for left in ((A, B), (C, D)) for right in ((E, F), (G, H))],
    ),
    "a dot of three columns": (
        op(
            ("dot", ()),
            (1, 1, 3),
            moved(X, Reshape((1, 1, 2))),
            moved(op(("concatenate", 0), (3, 2), ROWS, moved(Y, Reshape((1, 2)))), Reshape((1, 3, 2))),
        ),
        [dot((X0, one), (X1, other)) for one, other in ((A, B), (C, D), (Y0, Y1))],
    ),
    "a dot of nothing": (
        op(("dot", ()), (1, 1, 2), parameter(8, "s32", 1, 1, 0), parameter(9, "s32", 1, 2, 0)),
        [constant(0, "s32")] * 2,
    ),
    "a convolution of numbers": (
        convolution("s32", "s32", is_padded=False),
        convolved("s32", constant(0, "s32"), "multiply"),
    ),
    "a convolution of smaller numbers": (
        convolution("s32", "s8", is_padded=False),
        convolved("s32", constant(0, "s8"), "multiply", "s8"),
    ),
    "a convolution that multiplies its padding": (
        convolution("f32", "f32", is_padded=True),
        convolved("f32", constant(0, "f32"), "multiply"),
    ),
    "a convolution that skips its padding": (
        convolution("f32", "f32", is_padded=False),
        convolved("f32", term("leaf", "optional zero", F32), "multiply"),
    ),
    "a dot of narrow floats": narrow("bf16", "f32", "product"),
    "a dot of smaller numbers": narrow("s8", "s32", "multiply"),
    "a dot of truth values as numbers": narrow("pred", "s32", "product"),
    "the bytes of a number": (
        moved(WORD, BitcastConvert(U8.element_type)),
        [each("convert", U8, shifted("shift-right-logical", one, i)) for one in items(WORD, "u32") for i in range(4)],
    ),
    "the number of bytes": (
        moved(BYTES, BitcastConvert(U32.element_type)),
        [
            each(
                "or",
                U32,
                *(shifted("shift-left", each("convert", U32, x), i) for i, x in enumerate(items(BYTES, "u8"))),
            )
        ],
    ),
    "the parts of a complex number": (
        moved(PAIRS, BitcastConvert(F32.element_type)),
        [each(("part", i), F32, one) for one in items(PAIRS, "c64") for i in range(2)],
    ),
    "the bits of a number": (
        moved(X, BitcastConvert(F32.element_type)),
        [each(("bitcast-convert", F32.element_type), F32, one) for one in (X0, X1)],
    ),
}


def are_equal(whole: ReadTerm, parts: Sequence[ReadTerm]) -> bool:
    """Is true where the elements of a term are other terms."""
    graph = Graph()
    elements = Elements(Nodes(graph))
    shape = whole.shape
    other = parts[0] if not shape.dimensions else term("array", None, shape, *parts)  # type: ignore[union-attr]
    elements.value(whole)
    ends = graph.insert(whole), graph.insert(other)
    equality = Equality(graph, Level.BITS, None)
    equality.merge(elements.equal)
    return equality.same(*ends)


@pytest.mark.parametrize("name", ELEMENTS)
def test_an_array_is_the_array_of_its_elements(name: str) -> None:
    whole, parts = ELEMENTS[name]
    assert are_equal(whole, parts)
    if len({*parts}) > 1:
        assert not are_equal(whole, [*parts[1:], parts[0]])


def test_undefined_padding_has_no_elements() -> None:
    undefined = term("leaf", UNSPECIFIED, NOTHING)
    padded = term("moved", PADDED, array("s32", 3), X, undefined)
    with pytest.raises(UndefinedError, match="undefined padding"):
        are_equal(padded, [X0, X0, X1])
    one = term("moved", PADDED.then(Plan(S32.element_type, (3,), (Slice((0,), (1,)), Reshape(())))), S32, X, undefined)
    graph = Graph()
    assert int(Elements(Nodes(graph)).value(one)) == graph.insert(one)


def test_a_tuple_has_no_elements() -> None:
    assert Elements(Nodes(Graph())).value(term("op", ("made",), PAIR)) is None


def test_the_elements_of_a_replay_are_limited() -> None:
    elements = Elements(Nodes(Graph()))
    elements.spend(300_000)
    with pytest.raises(UndefinedError, match="too large"):
        elements.spend(1)
    for large in (parameter(0, "s32", 300_001), dot_of(600, 1)):
        with pytest.raises(UndefinedError, match="too large"):
            Elements(Nodes(Graph())).value(large)


@pytest.mark.parametrize(("size", "count", "is_known"), [(2, 1000, True), (20, 1000, False)])
def test_a_dot_of_too_many_products_has_unknown_elements(size: int, count: int, is_known: bool) -> None:
    dot_ = dot_of(size, count)
    assert are_equal(dot_, items(dot_)) is not is_known


def dot_of(size: int, count: int) -> ReadTerm:
    """Returns a dot of a number of rows and columns, each of which sums a number of products."""
    return op(("dot", ()), (1, size, size), *(parameter(i, "s32", 1, size, count) for i in range(2)))
