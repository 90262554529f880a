"""An order that a sort or a reduction leaves to the engine is not a difference: of NaN, and of equal keys."""

import pytest

from dialect_utils.execution import Program, Worker
from dialect_utils.io.files import parse_bytes
from dialect_utils.verdict import Options, Verdict, compare_modules

LESS = "c { a = f32[] parameter(0)\n b = f32[] parameter(1)\n%s ROOT r = pred[] compare(a, b), direction=%s }\n"
PAIRS = (
    "c { a = f32[] parameter(0)\n b = f32[] parameter(1)\n i = s32[] parameter(2)\n j = s32[] parameter(3)\n"
    " ROOT r = pred[] compare(a, b), direction=LT%s }\n"
)
GREATEST = (
    "g { a = f32[] parameter(0)\n b = f32[] parameter(1)\n p = pred[] compare(a, b), direction=GE\n"
    " ROOT r = f32[] select(p, a, b) }\n"
)
LAST = "  ROOT s = f32[40] sort(x), dimensions={0}, to_apply=c\n"
SORTED = LESS % ("", "LT"), LAST
REVERSED = LESS % ("", "GT"), LAST.replace("ROOT s", "t") + "  ROOT s = f32[40] reverse(t), dimensions={0}\n"
NAN_FIRST = LESS.replace(
    "ROOT r", "l = pred[] compare(a, b), direction=LT\n n = pred[] compare(a, a), direction=NE\n m"
).replace(" }", "\n k = pred[] and(n, m)\n ROOT r = pred[] or(l, k) }") % ("", "EQ")
NAN_FIRST = NAN_FIRST.replace("compare(a, b), direction=EQ", "compare(b, b), direction=EQ")
WITH_INDICES = (
    "  y = s32[40] iota(), iota_dimension=0\n"
    "  t = (f32[40], s32[40]) sort(x, y), dimensions={0}, is_stable=%s, to_apply=c\n"
    "  ROOT s = s32[40] get-tuple-element(t), index=1\n"
)
STABLE, UNSTABLE = WITH_INDICES % "true", WITH_INDICES % "false"
TURNED = "  ROOT u = s32[40] reverse(s), dimensions={0}\n"
STABLE_TURNED, UNSTABLE_TURNED = (each.replace("ROOT ", "") + TURNED for each in (STABLE, UNSTABLE))
DESCENDING = PAIRS.replace("LT", "GT") % ""
# The same positions, plus one, modulo 40.
SHIFTED = UNSTABLE.replace("ROOT ", "") + (
    "  o = s32[] constant(1)\n  ob = s32[40] broadcast(o), dimensions={}\n  n = s32[] constant(40)\n"
    "  nb = s32[40] broadcast(n), dimensions={}\n  v = s32[40] add(s, ob)\n  ROOT w = s32[40] remainder(v, nb)\n"
)
# The greater of two equal keys comes first: the sort is not stable, but determines more than an unstable sort.
BY_BOTH = PAIRS.replace(
    " ROOT r = pred[] compare(a, b), direction=LT%s }",
    " l = pred[] compare(a, b), direction=LT\n e = pred[] compare(a, b), direction=EQ\n"
    " g = pred[] compare(i, j), direction=GT\n h = pred[] and(e, g)\n ROOT r = pred[] or(l, h) }",
)
SIX = [each.replace("40", "6") for each in (STABLE, UNSTABLE)]
INFINITE = "  i = f32[] constant(-inf)\n"
WHOLE = INFINITE + "  ROOT m = f32[] reduce(x, i), dimensions={0}, to_apply=g\n"
IN_PARTS = INFINITE + (
    "  y = f32[8,5] reshape(x)\n  m = f32[5] reduce(y, i), dimensions={0}, to_apply=g\n"
    "  ROOT n = f32[] reduce(m, i), dimensions={0}, to_apply=g\n"
)
FIRST_OF_GREATEST = (
    "g { a = f32[] parameter(0)\n i = s32[] parameter(1)\n b = f32[] parameter(2)\n j = s32[] parameter(3)\n"
    " p = pred[] compare(a, b), direction=%s\n v = f32[] select(p, a, b)\n k = s32[] select(p, i, j)\n"
    " ROOT t = (f32[], s32[]) tuple(v, k) }\n"
)
PLACE_OF_GREATEST = INFINITE + (
    "  z = s32[] constant(0)\n  y = s32[40] iota(), iota_dimension=0\n"
    "  m = (f32[], s32[]) reduce(x, y, i, z), dimensions={0}, to_apply=g\n"
    "  ROOT k = s32[] get-tuple-element(m), index=1\n"
)


def compared(worker: Worker, first: tuple[str, str], last: tuple[str, str]) -> Verdict:
    texts = [
        f"HloModule m\n{function}ENTRY e {{\n  x = f32[{6 if '[6]' in body else 40}] parameter(0)\n{body}}}\n"
        for function, body in (first, last)
    ]
    a, b = (parse_bytes(text.encode(), name) for text, name in zip(texts, "ab", strict=True))
    return compare_modules(a, b, Options(engines=("xla",), power=0), worker)


@pytest.mark.parametrize(
    ("first", "last"),
    [
        (SORTED, REVERSED),
        (SORTED, (NAN_FIRST, LAST)),
        (REVERSED, (NAN_FIRST, LAST)),
        ((PAIRS % "", UNSTABLE), (PAIRS % ", type=TOTALORDER", STABLE)),
        ((PAIRS % "", UNSTABLE), (PAIRS % "", STABLE)),
        ((PAIRS % "", UNSTABLE), (DESCENDING, UNSTABLE_TURNED)),
        ((PAIRS % "", UNSTABLE), (DESCENDING, STABLE_TURNED)),
        ((GREATEST, WHOLE), (GREATEST, IN_PARTS)),
        ((FIRST_OF_GREATEST % "GE", PLACE_OF_GREATEST), (FIRST_OF_GREATEST % "GT", PLACE_OF_GREATEST)),
    ],
    ids=[
        "a reversed sort",
        "NaN first",
        "reversed, NaN first",
        "a total order",
        "a stable sort",
        "unstable and reversed",
        "stable and reversed",
        "the greatest, in parts",
        "the other one of equal ones",
    ],
)
def test_what_is_left_to_the_engine_is_no_difference(
    worker: Worker, first: tuple[str, str], last: tuple[str, str]
) -> None:
    verdict = compared(worker, first, last)
    assert verdict.verdict == "agrees", verdict


@pytest.mark.parametrize(
    ("first", "last"),
    [
        (SORTED, (LESS % ("", "GT"), LAST)),
        ((PAIRS % ", type=TOTALORDER", STABLE), (PAIRS % "", STABLE)),
        ((LESS % ("", "LT, type=TOTALORDER"), LAST), (NAN_FIRST, LAST)),
        ((PAIRS % "", STABLE), (DESCENDING, STABLE)),
        ((PAIRS % "", STABLE), (DESCENDING, STABLE_TURNED)),
        ((PAIRS % "", STABLE), (BY_BOTH, STABLE)),
        ((PAIRS % "", SIX[0]), (PAIRS % "", SIX[1])),
        ((BY_BOTH, UNSTABLE), (PAIRS % "", UNSTABLE)),
        ((PAIRS % "", UNSTABLE), (PAIRS % "", SHIFTED)),
        ((GREATEST, WHOLE), (GREATEST.replace("GE", "LE"), IN_PARTS)),
        (
            (FIRST_OF_GREATEST % "GE", PLACE_OF_GREATEST),
            (FIRST_OF_GREATEST % "GE", PLACE_OF_GREATEST.replace("constant(0)", "constant(1)").replace("-inf", "inf")),
        ),
    ],
    ids=[
        "descending",
        "NaN in no order",
        "NaN at the other end",
        "other indices",
        "stable, then reversed",
        "equal keys turned round",
        "a stable sort no longer stable",
        "one key of two",
        "places one too large",
        "the least",
        "none of the elements",
    ],
)
def test_a_mistake_is_seen_beside_it(worker: Worker, first: tuple[str, str], last: tuple[str, str]) -> None:
    verdict = compared(worker, first, last)
    assert verdict.verdict == "different", verdict


def test_an_order_that_was_not_tried_is_unknown(worker: Worker) -> None:
    """Every second equal key comes first: an unstable sort may do that, and no order that the check tries does."""
    turned = "\n i1 = s32[] constant(1)\n x = s32[] and(i, i1)\n y = s32[] and(j, i1)\n"
    odd_first = BY_BOTH.replace(" l = pred[]", turned + " l = pred[]").replace("compare(i, j)", "compare(x, y)")
    verdict = compared(worker, (PAIRS % "", UNSTABLE), (odd_first, STABLE))
    assert verdict.verdict == "unknown", verdict
    assert "no order that was tried" in verdict.reason


STABLE_SORT = LAST.replace(", to_apply", ", is_stable=true, to_apply")
OPEN = {
    "of another order": ((LESS % ("", "LT"), LAST), (1, 1)),
    "of NaN alone": ((LESS % ("", "LT"), STABLE_SORT), (1, 0)),
    "total": ((LESS.replace("=%s", "=%s, type=TOTALORDER") % ("", "LT"), STABLE_SORT), (0, 0)),
    "with a constant": ((LESS.replace("(a, b)", "(a, z)") % (" z = f32[] constant(0)\n", "LT"), STABLE_SORT), (0, 0)),
    "in a reduction": ((GREATEST, WHOLE), (1, 0)),
}


@pytest.mark.parametrize("name", OPEN)
def test_what_is_open_is_counted(worker: Worker, name: str) -> None:
    (function, body), counts = OPEN[name]
    text = f"HloModule m\n{function}ENTRY e {{\n  x = f32[40] parameter(0)\n{body}}}\n"
    assert worker.rewrite("order", Program(text, "hlo"))[1] == counts
