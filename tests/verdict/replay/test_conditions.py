"""Steps with conditions: they hold once the conditions do, and all other steps are needed for it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dialect_utils.layout import TupleShape
from dialect_utils.ops.window import WindowDimension
from dialect_utils.verdict.certificate import ReadTerm, Step
from dialect_utils.verdict.replay.check import _checked, _close, _of_one_shape
from dialect_utils.verdict.replay.elements import Elements
from dialect_utils.verdict.replay.equality import Equality, Level
from dialect_utils.verdict.terms.graph import Graph, Nodes
from tests.verdict.replay.forging import array, constant, each, parameter, step, term
from tests.verdict.replay.test_forged_widening import converted, exchanged, function

S32 = array("s32")


def level_of(steps: Sequence[Step]) -> Level | None:
    """Returns the finest equality in which the first step holds with all steps."""
    graph = Graph()
    elements = Elements(Nodes(graph))
    merges = [_of_one_shape(graph, _checked(graph, elements, one)) for one in steps]
    equality: Equality | None = None
    levels: list[Level] = [*Level][: Level.UNOBSERVED]
    for level in levels:
        equality = Equality(graph, level, equality)
        _close(equality, merges)
        if equality.same(merges[0].first, merges[0].second):
            return level
    return None


def by_cases(*sizes: int) -> list[Step]:
    """Returns the steps of select(p, x, y) = select(not p, y, x)."""
    x, y = (parameter(i, "s32", *sizes) for i in range(2))
    predicate, shape, mask = parameter(2, "pred", *sizes), array("s32", *sizes), array("pred", *sizes)
    known = [constant(bits, "pred") for bits in (0, 1)]
    if sizes:
        known = [term("splat", None, mask, each_) for each_ in known]
    before = each("select", shape, predicate, x, y)
    after = each("select", shape, each("not", mask, predicate), y, x)
    false, true = known
    return [
        step("cases", before, after, predicate),
        *(step("constants", each("not", mask, one), other) for one, other in ((false, true), (true, false))),
        *(step("select", each("select", shape, false, *pair), pair[1]) for pair in ((x, y), (y, x))),
        *(step("select", each("select", shape, true, *pair), pair[0]) for pair in ((x, y), (y, x))),
    ]


ROWS, ZERO = parameter(0, "s32", 4, 6), constant(0, "s32")


def bound(number: int, kind: str, level: int = 0) -> ReadTerm:
    return term("leaf", ("bound", level, number), array(kind))


def by(kind: str, *results: ReadTerm, others: tuple[str, ...] = (), level: int = 0) -> ReadTerm:
    """Returns a function with parameters of a type, or of types that alternate."""
    kinds = (kind, *others) * 2
    return term("op", ("function", level, tuple(map(array, kinds)), len(results)), TupleShape(()), *results)


def reduced(function_: ReadTerm, opcode: str = "add") -> Step:
    made = term("op", ("reduce", None), TupleShape((array("s32", 4),)), ROWS, ZERO, function_)
    after = term("op", ("reduce", opcode), array("s32", 4), ROWS, ZERO)
    return step("reduce", term("out", 0, array("s32", 4), made), after)


SUM = [bound(0, "s32"), bound(1, "s32")]


def in_windows(size: int, around: int, initial: int, flags: tuple[bool, bool]) -> Step:
    """Returns the step of sums of windows, whose padding is combined or skipped before and after it."""
    window, count = (WindowDimension(size, 1, around, around, 1, 1),), 6 + 2 * around - size + 1
    line, start, shape = parameter(0, "s32", 6), constant(initial, "s32"), array("s32", count)
    function_ = by("s32", each("add", S32, *SUM))
    made = term("op", ("reduce-window", None, window, flags[0]), TupleShape((shape,)), line, start, function_)
    after = term("op", ("reduce-window", "add", window, flags[1]), shape, line, start)
    return step("window", term("out", 0, shape, made), after)


def converted_function(*results: tuple[ReadTerm, ReadTerm]) -> Step:
    """Returns the step of a reduction of s8 in s32 by functions with pairs of wide and narrow results."""
    rows, zero = parameter(0, "s8", 4, 6), constant(0, "s8")
    operands = {"s32": (converted(rows, "s32"), converted(zero, "s32")), "s8": (rows, zero)}
    made = {}
    for side, kind in enumerate(("s32", "s8")):
        by_function = by(kind, *(pair[side] for pair in results))
        op = term("op", ("reduce", None), TupleShape((array(kind, 4),) * len(results)), *operands[kind], by_function)
        made[kind] = term("out", 0, array(kind, 4), op)
    return step("converted-function", made["s32"], converted(made["s8"], "s32"))


def with_indices(wide: Sequence[ReadTerm], narrow: Sequence[ReadTerm]) -> Step:
    """Returns the step of a reduction of s8 in s32 with indices, which are s32 on both sides."""
    values, zero, indices = parameter(0, "s8", 4, 6), constant(0, "s8"), (parameter(1, "s32", 4, 6), ZERO)
    made = []
    for kind, results in (("s32", wide), ("s8", narrow)):
        first, initial = (values, zero) if kind == "s8" else (converted(values, kind), converted(zero, kind))
        by_function = by(kind, *results, others=("s32",))
        shape = TupleShape((array(kind, 4), array("s32", 4)))
        op = term("op", ("reduce", None), shape, first, indices[0], initial, indices[1], by_function)
        made.append(term("out", 0, array(kind, 4), op))
    return step("converted-function", made[0], converted(made[1], "s32"))


LINE = parameter(0, "s8", 8)


def promoted(opcode: str, body: ReadTerm | None = None, level: int = 0) -> Step:
    narrow = by("s8", body, level=level) if body is not None else function(opcode, "s8", level=level)
    wide = exchanged(converted(LINE, "s32"), function(opcode, "s32", level=level))
    return step("promoted-reduction", exchanged(LINE, narrow), converted(wide, "s8"))


FIRST, SECOND = [(bound(i, "s32"), bound(i, "s8")) for i in range(2)]
CLOSED = (parameter(5, "s32"), parameter(6, "s8"))
NEGATED = each("negate", S32, FIRST[0]), each("negate", array("s8"), FIRST[1])
CONDITIONS: dict[str, tuple[list[Step], Level | None]] = {
    "cases of scalars": (by_cases(), Level.BITS),
    "cases of arrays": (by_cases(3), Level.BITS),
    "a sum by a function": ([reduced(by("s32", each("add", S32, *SUM)))], Level.BITS),
    "a sum by a function of an inner level": (
        [reduced(by("s32", each("add", S32, *(bound(i, "s32", 2) for i in range(2))), level=2))],
        Level.BITS,
    ),
    "sums of windows by a function": ([in_windows(3, 1, 5, (True, True))], Level.BITS),
    "sums of windows whose padding is zeros": ([in_windows(3, 1, 0, (True, False))], Level.BITS),
    "sums of windows whose padding was skipped": ([in_windows(3, 1, 0, (False, True))], Level.BITS),
    "sums of windows without padding": ([in_windows(3, 0, 5, (True, False))], Level.BITS),
    "a product by a function": ([reduced(by("s32", each("multiply", S32, *SUM)), "multiply")], Level.BITS),
    "a product by the function of a sum": ([reduced(by("s32", each("add", S32, *SUM)), "multiply")], None),
    "a sum by a function of one number": ([reduced(by("s32", each("add", S32, *[SUM[0]] * 2)))], None),
    "a sum by a function of another level": (
        [reduced(by("s32", each("add", S32, *(bound(i, "s32", 1) for i in range(2)))))],
        None,
    ),
    "the first of converted numbers": ([converted_function(FIRST)], Level.BITS),
    "the second of converted numbers": ([converted_function(SECOND)], Level.BITS),
    "the other one of converted numbers": ([converted_function((FIRST[0], SECOND[1]))], None),
    "a converted negation": ([converted_function(NEGATED)], None),
    "a number from outside": ([converted_function(CLOSED)], None),
    "numbers with indices": ([with_indices([FIRST[0], bound(1, "s32")], [FIRST[1], bound(1, "s32")])], Level.BITS),
    "numbers with other indices": ([with_indices([FIRST[0], bound(1, "s32")], [FIRST[1], bound(3, "s32")])], None),
    "an exchange": ([promoted("add")], Level.BITS),
    "an exchange by a function of an inner level": ([promoted("add", level=2)], Level.BITS),
    "an exchange by another function": (
        [promoted("add", each("multiply", array("s8"), bound(0, "s8"), bound(1, "s8")))],
        None,
    ),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_step_holds_where_its_conditions_do(name: str) -> None:
    steps, level = CONDITIONS[name]
    assert level_of(steps) is level


@pytest.mark.parametrize("sizes", [(), (3,)])
def test_each_step_of_a_proof_by_cases_is_needed(sizes: tuple[int, ...]) -> None:
    steps = by_cases(*sizes)
    for number in range(1, len(steps)):
        assert level_of([*steps[:number], *steps[number + 1 :]]) is None
