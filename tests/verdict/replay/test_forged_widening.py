"""Forged steps about operations on converted arrays and about reductions among devices: each violates one demand."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace

import pytest

from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, BitcastConvert, Pad, TupleShape
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops.window import WindowDimension
from dialect_utils.verdict.certificate import ReadTerm
from dialect_utils.verdict.replay.equality import Level
from dialect_utils.verdict.replay.widening import converted_function
from dialect_utils.verdict.terms.graph import UNSPECIFIED
from dialect_utils.verdict.terms.wellformed import NOTHING
from tests.verdict.replay.forging import TRUE, array, each, moved, parameter, step, term, told

Step = tuple[str, ReadTerm, ReadTerm]
ROWS = {kind: parameter(0, kind, 4, 6) for kind in ("bf16", "f32", "s8", "u8", "s16", "s32", "pred")}
ONE = {kind: parameter(1, kind) for kind in ROWS}
NUMBERS, BYTES = ROWS["s32"], BitcastConvert(ELEMENT_TYPES["u32"])


def converted(operand: ReadTerm, kind: str) -> ReadTerm:
    return each("convert", array(kind, *operand.shape.dimensions), operand)  # type: ignore[union-attr]


def reduced(opcode: str, kind: str) -> ReadTerm:
    return term("op", ("reduce", opcode), array(kind, 4), ROWS[kind], ONE[kind])


def widened(opcode: str, narrow: str, wide: str) -> ReadTerm:
    """Returns the reduction of a converted array."""
    operands = converted(ROWS[narrow], wide), converted(ONE[narrow], wide)
    return term("op", ("reduce", opcode), array(wide, 4), *operands)


def unknown(opcode: str, operands: tuple[ReadTerm, ...], kind: str) -> ReadTerm:
    """Returns an operation that no rule knows, with the label of a reduction."""
    return term("op", ("unknown", opcode), array(kind, 4), *operands)


def extreme(opcode: str, narrow: str, wide: str) -> Step:
    return "converted-extreme", widened(opcode, narrow, wide), converted(reduced(opcode, narrow), wide)


def excess(opcode: str, narrow: str, wide: str) -> Step:
    return "excess-precision", converted(widened(opcode, narrow, wide), narrow), reduced(opcode, narrow)


HIGHEST = (("operand_precision", "{highest,highest}"),)
WINDOW = (WindowDimension(2, 1, 0, 0, 1, 1),) * 2


def convolution(kind: str, factors: tuple[ReadTerm, ...], name: str = "convolution", texts: Hashable = ()) -> ReadTerm:
    return term("op", (name, WINDOW, 1, False, texts), array(kind, 1, 1, 3, 2), *factors)


def factors(kind: str) -> tuple[ReadTerm, ...]:
    return parameter(0, kind, 1, 1, 4, 3), parameter(1, kind, 1, 1, 2, 2)


def precise(narrow: str, wide: str, name: str = "convolution", texts: Hashable = ()) -> Step:
    """Returns a step to a convolution that is summed in its own type."""
    both = factors(narrow)
    before = converted(convolution(wide, both, name, texts), narrow)
    return "convolution-precision", before, convolution(narrow, both, name, texts)


def of_factors(narrow: str, wide: str, kind: str) -> Step:
    """Returns a step to a convolution of factors in a narrower type."""
    both = factors(narrow)
    before = convolution(kind, tuple(converted(factor, wide) for factor in both))
    return "convolution-precision", before, convolution(kind, both)


THREE = (*factors("bf16"), parameter(2, "bf16"))
BOTH = ROWS["bf16"], ONE["bf16"]
WIDE_BOTH = tuple(converted(operand, "f32") for operand in BOTH)
MOVED: dict[str, Step] = {
    "an unknown operation instead of a maximum": (
        "converted-extreme",
        unknown("maximum", WIDE_BOTH, "f32"),
        converted(unknown("maximum", BOTH, "bf16"), "f32"),
    ),
    "an unknown operation instead of a sum": (
        "excess-precision",
        converted(unknown("add", WIDE_BOTH, "f32"), "bf16"),
        unknown("add", BOTH, "bf16"),
    ),
    "the bits of a converted number": (
        "converted",
        moved(converted(NUMBERS, "f32"), BYTES),
        converted(moved(NUMBERS, BYTES), "u32"),
    ),
    "a sum that is no extreme": extreme("add", "bf16", "f32"),
    "a sum of integers that is no extreme": extreme("add", "s8", "s32"),
    "a maximum of integers that are cut": extreme("maximum", "s32", "s8"),
    "an exclusive or of floats": extreme("xor", "bf16", "f32"),
    "an exclusive or of integers as floats": extreme("xor", "s8", "f32"),
    "a difference of rounded numbers": excess("subtract", "bf16", "f32"),
    "a sum of integers as floats": excess("add", "s8", "f32"),
    "a sum in a narrower type": excess("add", "f32", "bf16"),
    "a convolution in a narrower type": precise("f32", "bf16"),
    "a convolution of integers as floats": precise("s8", "f32"),
    "an unknown operation instead of a convolution": precise("bf16", "f32", "unknown"),
    "a convolution of a precision that is written": precise("bf16", "f32", texts=HIGHEST),
    "a convolution of factors in a narrower type": of_factors("f32", "bf16", "f32"),
    "a convolution of factors that are integers": of_factors("s8", "f32", "f32"),
    "a convolution of three arrays": (
        "convolution-precision",
        converted(convolution("f32", THREE), "bf16"),
        convolution("bf16", THREE),
    ),
    "a convolution in an integer type": (
        "convolution-precision",
        converted(convolution("s32", factors("bf16")), "bf16"),
        convolution("bf16", factors("bf16")),
    ),
}

ALL = ("all-reduce", (), (("devices", "replicas: ((0, 1), (2, 3))"),), None, None)
PAIRS = ("all-reduce", (), (("devices", "replicas: ((0, 2), (1, 3))"),), None, None)
PERMUTED = ("all-to-all", (), (("devices", "replicas: ((0, 1), (2, 3))"),), None, None)


def function(opcode: str, kind: str, order: tuple[int, ...] = (0, 1), level: int = 0) -> ReadTerm:
    variables = [term("leaf", ("bound", level, i), array(kind)) for i in order]
    body = each(opcode, array(kind), *variables)
    return term("op", ("function", level, (array(kind), array(kind)), 1), TupleShape(()), body)


def exchanged(operand: ReadTerm, by: ReadTerm, key: Hashable = ALL, number: int = 0, results: int = 1) -> ReadTerm:
    shapes = TupleShape((operand.shape,) * results)
    return term("out", number, operand.shape, term("op", (key, 1, (4, 1), None), shapes, operand, by))


def out_of(operand: ReadTerm, by: ReadTerm, kind: str) -> ReadTerm:
    """Returns an exchange whose result has another type."""
    shape = array(kind, 8)
    return term("out", 0, shape, term("op", (ALL, 1, (4, 1), None), TupleShape((shape,)), operand, by))


def labelled(by: ReadTerm, level: int, kind: str) -> ReadTerm:
    """Returns a function that calls its parameters others than those that it reads."""
    return replace(by, label=("function", level, (array(kind), array(kind)), 1))


LINE, OTHER = parameter(0, "s8", 8), parameter(1, "s8", 8)
SUM, WIDE_SUM = function("add", "s8"), function("add", "s32")
NARROW, WIDE = exchanged(LINE, SUM), exchanged(converted(LINE, "s32"), WIDE_SUM)
EXCHANGED: dict[str, Step] = {
    "an exchange that is negated": (
        "promoted-reduction",
        NARROW,
        each("negate", array("s8", 8), exchanged(converted(LINE, "s8"), SUM)),
    ),
    "an exchange among other devices": (
        "promoted-reduction",
        NARROW,
        converted(exchanged(converted(LINE, "s32"), WIDE_SUM, PAIRS), "s8"),
    ),
    "an exchange of another array": (
        "promoted-reduction",
        NARROW,
        converted(exchanged(converted(OTHER, "s32"), WIDE_SUM), "s8"),
    ),
    "an exchange of negated numbers": (
        "promoted-reduction",
        NARROW,
        converted(exchanged(each("negate", array("s32", 8), LINE), WIDE_SUM), "s8"),
    ),
    "a sum of another type": (
        "promoted-reduction",
        NARROW,
        converted(out_of(converted(LINE, "s32"), WIDE_SUM, "s16"), "s8"),
    ),
    "a sum of numbers of another type": (
        "promoted-reduction",
        out_of(LINE, SUM, "s16"),
        converted(exchanged(converted(LINE, "s32"), WIDE_SUM), "s16"),
    ),
    "a function that is nested otherwise": (
        "promoted-reduction",
        NARROW,
        converted(exchanged(converted(LINE, "s32"), labelled(WIDE_SUM, 1, "s32")), "s8"),
    ),
    "a function of numbers of another type": (
        "promoted-reduction",
        exchanged(LINE, labelled(SUM, 0, "s16")),
        converted(exchanged(converted(LINE, "s32"), WIDE_SUM), "s8"),
    ),
    "an exchange by a function of another level": (
        "promoted-reduction",
        NARROW,
        converted(exchanged(converted(LINE, "s32"), function("add", "s32", level=1)), "s8"),
    ),
    "a function of one of its parameters": (
        "promoted-reduction",
        NARROW,
        converted(exchanged(converted(LINE, "s32"), function("add", "s32", (0, 0))), "s8"),
    ),
    "a difference": (
        "promoted-reduction",
        exchanged(LINE, function("subtract", "s8")),
        converted(exchanged(converted(LINE, "s32"), function("subtract", "s32")), "s8"),
    ),
    "a sum of a narrower type": (
        "promoted-reduction",
        exchanged(NUMBERS, function("add", "s32")),
        converted(exchanged(converted(NUMBERS, "s8"), function("add", "s8")), "s32"),
    ),
    "an exchange that combines nothing": (
        "promoted-reduction",
        exchanged(LINE, SUM, PERMUTED),
        converted(exchanged(converted(LINE, "s32"), WIDE_SUM, PERMUTED), "s8"),
    ),
    "a second result": (
        "promoted-reduction",
        exchanged(LINE, SUM, number=1, results=2),
        converted(exchanged(converted(LINE, "s32"), WIDE_SUM, number=1, results=2), "s8"),
    ),
    "one of two results": (
        "promoted-reduction",
        exchanged(LINE, SUM, results=2),
        converted(exchanged(converted(LINE, "s32"), WIDE_SUM, results=2), "s8"),
    ),
}


@dataclass(frozen=True, slots=True)
class Reduced:
    """A reduction of rows by a function; its parts may contradict each other."""

    kind: str
    rows: ReadTerm
    initial: ReadTerm
    function: tuple[ReadTerm, ...]
    label: tuple[Hashable, ...] = ("reduce", None)
    result: str = ""

    @property
    def term(self) -> ReadTerm:
        shape = array(self.result or self.kind, 4)
        made = term("op", self.label, TupleShape((shape,)), self.rows, self.initial, *self.function)
        return term("out", 0, shape, made)


def by_functions(narrow: Reduced, wide: Reduced) -> Step:
    return "converted-function", wide.term, converted(narrow.term, "f32")


def typed(kind: str, results: int = 1) -> ReadTerm:
    """Returns a function with a result of a type, whose parameters are floats."""
    body = each("add", array(kind), *(term("leaf", ("bound", 0, i), array("f32")) for i in range(2)))
    return term("op", ("function", 0, (array("f32"),) * 2, 1), TupleShape(()), *[body] * results)


def in_windows(size: int, around: int) -> tuple[Hashable, ...]:
    return "reduce-window", None, (WindowDimension(size, 1, around, around, 1, 1),), True


HALVES = Reduced("bf16", ROWS["bf16"], ONE["bf16"], (function("add", "bf16"),))
FLOATS = Reduced("f32", converted(ROWS["bf16"], "f32"), converted(ONE["bf16"], "f32"), (function("add", "f32"),))
TWICE, SECOND_ROWS = 2, parameter(2, "bf16", 4, 6)


def of_two_arrays(kind: str, number: int) -> ReadTerm:
    """Returns a result of a reduction of two arrays, converted where the type is another one."""
    parts = [ROWS["bf16"], SECOND_ROWS, ONE["bf16"], ONE["bf16"]]
    operands = parts if kind == "bf16" else [converted(part, kind) for part in parts]
    sums = [function("add", kind, (i, i + TWICE)).operands[0] for i in range(TWICE)]
    by = term("op", ("function", 0, (array(kind),) * len(parts), TWICE), TupleShape(()), *sums)
    made = term("op", ("reduce", None), TupleShape((array(kind, 4),) * TWICE), *operands, by)
    return term("out", number, array(kind, 4), made)


BY_FUNCTIONS: dict[str, Step] = {
    "larger windows": by_functions(replace(HALVES, label=in_windows(5, 2)), replace(FLOATS, label=in_windows(3, 1))),
    "an operation that is no reduction": by_functions(
        replace(HALVES, label=("unknown", None)), replace(FLOATS, label=("unknown", None))
    ),
    "two functions": by_functions(
        replace(HALVES, function=HALVES.function * TWICE), replace(FLOATS, function=FLOATS.function * TWICE)
    ),
    "no function": by_functions(replace(HALVES, function=()), replace(FLOATS, function=())),
    "rows of another array": by_functions(HALVES, replace(FLOATS, rows=ROWS["f32"])),
    "another initial value": by_functions(HALVES, replace(FLOATS, initial=ONE["f32"])),
    "a function of another level": by_functions(HALVES, replace(FLOATS, function=(function("add", "f32", level=1),))),
    "a function of other numbers": by_functions(HALVES, replace(FLOATS, function=HALVES.function)),
    "a function of other numbers on the other side": by_functions(replace(HALVES, function=FLOATS.function), FLOATS),
    "a function that reads other numbers": by_functions(
        HALVES, replace(FLOATS, function=(labelled(FLOATS.function[0], 0, "bf16"),))
    ),
    "another one of two results": (
        "converted-function",
        of_two_arrays("f32", 0),
        converted(of_two_arrays("bf16", 1), "f32"),
    ),
    "a function whose result is another number": by_functions(HALVES, replace(FLOATS, function=(typed("bf16"),))),
    "a function of two results": by_functions(HALVES, replace(FLOATS, function=(typed("f32", TWICE),))),
    "a result of another type": by_functions(replace(HALVES, result="f16"), FLOATS),
    "a result of another type on the other side": (
        "converted-function",
        replace(FLOATS, result="f16").term,
        converted(HALVES.term, "f16"),
    ),
    "initial values of another type": by_functions(
        replace(HALVES, initial=ONE["f32"]), replace(FLOATS, initial=ONE["f32"])
    ),
}
PAD = Plan(ELEMENT_TYPES["bf16"], (7,), (Pad((0,), (1,)),), (True,))
UNDEFINED = term("moved", PAD, array("bf16", 8), parameter(0, "bf16", 7), term("leaf", UNSPECIFIED, NOTHING))
EXCHANGED |= {
    "a sum of undefined padding": (
        "promoted-reduction",
        exchanged(UNDEFINED, function("add", "bf16")),
        converted(exchanged(converted(UNDEFINED, "f32"), function("add", "f32")), "bf16"),
    ),
}
TRUE_STEPS: dict[str, Step] = {
    "a maximum": extreme("maximum", "bf16", "f32"),
    "a sum that is rounded once": excess("add", "bf16", "f32"),
    "a convolution": precise("bf16", "f32"),
    "a convolution of converted factors": of_factors("bf16", "f32", "f32"),
    "one of two results": ("converted-function", of_two_arrays("f32", 1), converted(of_two_arrays("bf16", 1), "f32")),
    "a reduction by a function": by_functions(HALVES, FLOATS),
    "an exchange": ("promoted-reduction", NARROW, converted(WIDE, "s8")),
}


def joined(kind: str, *parts: ReadTerm, name: str = "concatenate") -> ReadTerm:
    return term("op", (name, 0), array(kind, 8, 6), *parts)


def updated(kind: str, *operands: ReadTerm) -> ReadTerm:
    return term("op", ("dynamic-update-slice",), array(kind, 4, 6), *operands)


def padded(kind: str, *operands: ReadTerm, low: int = 0) -> ReadTerm:
    plan = Plan(ELEMENT_TYPES[kind], (4, 6), (Pad((low, 0), (1 - low, 1)),), (True,))
    return term("moved", plan, ArrayShape(*plan.result), *operands)


def wide(*operands: ReadTerm) -> Iterator[ReadTerm]:
    return (converted(each_, "f32") for each_ in operands)


TABLES = ROWS["bf16"], parameter(2, "bf16", 4, 6)
BLOCK, PLACES = parameter(2, "bf16", 2, 6), [parameter(i, "s32") for i in (3, 4, 5)]
UPDATED = updated("bf16", TABLES[0], BLOCK, *PLACES[:2])
PADDED = padded("bf16", *BOTH)
NUMBERS_OF_TWO = parameter(2, "bf16"), parameter(3, "bf16")
TRUE_STEPS |= {
    "windows reduced by a function": by_functions(
        replace(HALVES, label=in_windows(3, 1)), replace(FLOATS, label=in_windows(3, 1))
    ),
    "a concatenation": ("converted", joined("f32", *wide(*TABLES)), converted(joined("bf16", *TABLES), "f32")),
    "an update": ("converted", updated("f32", *wide(TABLES[0], BLOCK), *PLACES[:2]), converted(UPDATED, "f32")),
    "padding": ("converted", padded("f32", *wide(*BOTH)), converted(PADDED, "f32")),
}
MOVED |= {
    "an unknown function with the name of movement": (
        "converted",
        each(("concatenate",), array("f32", 4, 6), *wide(*TABLES)),
        converted(each(("concatenate",), array("bf16", 4, 6), *TABLES), "f32"),
    ),
    "an unknown operation on parts": (
        "converted",
        joined("f32", *wide(*TABLES), name="unknown"),
        converted(joined("bf16", *TABLES, name="unknown"), "f32"),
    ),
    "another part": (
        "converted",
        joined("f32", *wide(TABLES[0], TABLES[0])),
        converted(joined("bf16", *TABLES), "f32"),
    ),
    "a part that is negated": (
        "converted",
        joined("f32", *wide(TABLES[0]), each("negate", array("f32", 4, 6), TABLES[1])),
        converted(joined("bf16", *TABLES), "f32"),
    ),
    "a concatenation that is negated": (
        "converted",
        joined("f32", *wide(*TABLES)),
        each("negate", array("f32", 8, 6), joined("bf16", *TABLES)),
    ),
    "an update at another position": (
        "converted",
        updated("f32", *wide(TABLES[0], BLOCK), PLACES[0], PLACES[2]),
        converted(UPDATED, "f32"),
    ),
    "an update at a converted position": (
        "converted",
        updated("f32", *wide(TABLES[0], BLOCK), PLACES[0], converted(PLACES[1], "s8")),
        converted(UPDATED, "f32"),
    ),
    "another update": ("converted", updated("f32", *wide(*TABLES), *PLACES[:2]), converted(UPDATED, "f32")),
    "other padding": ("converted", padded("f32", *wide(*BOTH), low=1), converted(PADDED, "f32")),
    "another padding value": (
        "converted",
        padded("f32", *wide(TABLES[0]), ONE["f32"]),
        converted(PADDED, "f32"),
    ),
    "padding of another array": (
        "converted",
        padded("f32", *wide(TABLES[1], ONE["bf16"])),
        converted(PADDED, "f32"),
    ),
    "more parts": (
        "converted",
        joined("f32", *wide(*TABLES)),
        converted(term("op", ("concatenate", 0), array("bf16", 8, 6), *TABLES, parameter(5, "bf16", 0, 6)), "f32"),
    ),
    "an unknown operation instead of the parts": (
        "converted",
        joined("f32", *wide(*TABLES)),
        converted(joined("bf16", *TABLES, name="unknown"), "f32"),
    ),
    "an unknown function instead of an update": (
        "converted",
        term("op", ("dynamic-update-slice",), array("f32"), *wide(*NUMBERS_OF_TWO)),
        converted(each(("dynamic-update-slice",), array("bf16"), *NUMBERS_OF_TWO), "f32"),
    ),
    "a conversion to the same type that is left out": (
        "converted",
        padded("f32", *wide(ROWS["f32"], ONE["f32"])),
        padded("f32", ROWS["f32"], ONE["f32"]),
    ),
}
ALONE = [
    term("op", (ALL, 1, (4, 1), None), array(kind, 8), *operands)
    for kind, operands in (("s8", (LINE, SUM)), ("s32", (converted(LINE, "s32"), WIDE_SUM)))
]
EXCHANGED |= {
    "the negation of an exchange": (
        "promoted-reduction",
        each("negate", array("s8", 8), ALONE[0]),
        converted(each("negate", array("s32", 8), ALONE[1]), "s8"),
    ),
}
UNKNOWN = {
    kind: replace(function("add", kind), label=("unknown", 0, (array(kind),) * TWICE, 1)) for kind in ("bf16", "f32")
}
BY_FUNCTIONS |= {
    "an operation that is no function": by_functions(replace(HALVES, function=(UNKNOWN["bf16"],)), FLOATS),
    "an operation that is no function on the other side": by_functions(
        HALVES, replace(FLOATS, function=(UNKNOWN["f32"],))
    ),
}
FORGED = MOVED | EXCHANGED | BY_FUNCTIONS


@pytest.mark.parametrize("name", TRUE_STEPS)
def test_the_step_that_is_forged_holds_without_the_forgery(name: str) -> None:
    rule, before, after = TRUE_STEPS[name]
    assert not told((TRUE, TRUE), step(rule, before, after)).refused


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_step_is_refused(name: str) -> None:
    rule, before, after = FORGED[name]
    assert told((TRUE, TRUE), step(rule, before, after)).refused


def test_a_function_that_a_wider_type_changes_is_named() -> None:
    rule, before, after = EXCHANGED["a difference"]
    assert told((TRUE, TRUE), step(rule, before, after)).refused == "subtract is another function in s32"


X, Y = (term("leaf", ("bound", 0, i), array("bf16")) for i in range(2))
NOT_PLAIN = term("op", ("unknown",), array("bf16"), X, Y)


@pytest.mark.parametrize(
    ("body", "level"),
    [
        (each("maximum", array("bf16"), X, Y), Level.NAN),
        (each("add", array("bf16"), X, Y), Level.ENGINE),
        (each("maximum", array("bf16"), X, X), Level.ENGINE),
        (each("maximum", array("bf16"), X, each("negate", array("bf16"), Y)), Level.ENGINE),
        (each("negate", array("bf16"), X), Level.ENGINE),
        (each(("sum", "add"), array("bf16"), X, Y), Level.ENGINE),
        (NOT_PLAIN, Level.ENGINE),
    ],
)
def test_a_reduction_by_a_function_is_equal_up_to_the_order_that_it_observes(body: ReadTerm, level: Level) -> None:
    narrow = term("op", ("function", 0, (array("bf16"),) * 2, 1), TupleShape(()), body)
    rule, before, after = by_functions(replace(HALVES, function=(narrow,)), FLOATS)
    assert converted_function(step(rule, before, after))[0] is level


def test_numbers_that_are_reduced_as_floats_are_summed_in_an_order_of_the_engine() -> None:
    integers = Reduced("s8", ROWS["s8"], ONE["s8"], (function("add", "s8"),))
    floats = replace(FLOATS, rows=converted(ROWS["s8"], "f32"), initial=converted(ONE["s8"], "f32"))
    rule, before, after = by_functions(integers, floats)
    assert converted_function(step(rule, before, after))[0] is Level.ENGINE
