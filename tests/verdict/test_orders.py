"""What a sort or a reduction leaves to the engine is no difference: where NaN goes, which of equal keys is first."""

import pytest

from dialect_utils.execution import Program, Worker
from dialect_utils.files import parse_bytes
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
WITH_INDICES = (
    "  y = s32[40] iota(), iota_dimension=0\n"
    "  t = (f32[40], s32[40]) sort(x, y), dimensions={0}, is_stable=%s, to_apply=c\n"
    "  ROOT s = s32[40] get-tuple-element(t), index=1\n"
)
STABLE, UNSTABLE = WITH_INDICES % "true", WITH_INDICES % "false"
INFINITE = "  i = f32[] constant(-inf)\n"
WHOLE = INFINITE + "  ROOT m = f32[] reduce(x, i), dimensions={0}, to_apply=g\n"
IN_PARTS = INFINITE + (
    "  y = f32[8,5] reshape(x)\n  m = f32[5] reduce(y, i), dimensions={0}, to_apply=g\n"
    "  ROOT n = f32[] reduce(m, i), dimensions={0}, to_apply=g\n"
)


def compared(worker: Worker, first: tuple[str, str], last: tuple[str, str]) -> Verdict:
    texts = [
        f"HloModule m\n{function}ENTRY e {{\n  x = f32[40] parameter(0)\n{body}}}\n" for function, body in (first, last)
    ]
    a, b = (parse_bytes(text.encode(), name) for text, name in zip(texts, "ab", strict=True))
    return compare_modules(a, b, Options(engines=("xla",), power=0), worker)


@pytest.mark.parametrize(
    ("first", "last"),
    [
        (SORTED, REVERSED),
        ((PAIRS % "", UNSTABLE), (PAIRS % ", type=TOTALORDER", STABLE)),
        ((PAIRS % "", UNSTABLE), (PAIRS % "", STABLE)),
        ((GREATEST, WHOLE), (GREATEST, IN_PARTS)),
    ],
    ids=["a reversed sort", "a total order", "a stable sort", "the greatest, in parts"],
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
        ((PAIRS % "", STABLE), (PAIRS.replace("LT", "GT") % "", STABLE)),
        ((GREATEST, WHOLE), (GREATEST.replace("GE", "LE"), IN_PARTS)),
    ],
    ids=["descending", "NaN in no order", "other indices", "the least"],
)
def test_a_mistake_is_seen_beside_it(worker: Worker, first: tuple[str, str], last: tuple[str, str]) -> None:
    verdict = compared(worker, first, last)
    assert verdict.verdict == "different", verdict


STABLE_SORT = LAST.replace(", to_apply", ", is_stable=true, to_apply")
OPEN = {
    "of another order": ((LESS % ("", "LT"), LAST), (1, 0)),
    "total": ((LESS.replace("=%s", "=%s, type=TOTALORDER") % ("", "LT"), STABLE_SORT), (0, 0)),
    "with a constant": ((LESS.replace("(a, b)", "(a, z)") % (" z = f32[] constant(0)\n", "LT"), STABLE_SORT), (0, 0)),
    "in a reduction": ((GREATEST, WHOLE), (0, 1)),
}


@pytest.mark.parametrize("name", OPEN)
def test_what_is_open_is_counted(worker: Worker, name: str) -> None:
    (function, body), counts = OPEN[name]
    text = f"HloModule m\n{function}ENTRY e {{\n  x = f32[40] parameter(0)\n{body}}}\n"
    assert worker.rewrite("order", Program(text, "hlo"))[1] == counts
