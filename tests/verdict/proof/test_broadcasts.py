"""Movement of a broadcast array is proved for arrays of any size; execution decides on small ones."""

from __future__ import annotations

import pytest

from dialect_utils.execution import Worker
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, Pad, Reshape, Transpose
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.verdict import Options, compare_modules
from dialect_utils.verdict.certificate import ReadTerm, Step
from dialect_utils.verdict.certified import prove
from dialect_utils.verdict.replay.arrays import CHECKS
from dialect_utils.verdict.terms.wellformed import RefusedError
from tests.verdict.proof.dialects import parse

SMALL = {"n": 6, "k": 4}
LARGE = {"n": 600, "k": 500}


def module(body: str, sizes: dict[str, int]) -> str:
    """Returns a module of x, s32[n], and a scalar p; `{n+3}` in the body is a number of the sizes."""
    lines = f"  x = s32[{{n}}] parameter(0)\n  p = s32[] parameter(1)\n{body}"
    return "HloModule m\nENTRY e {\n" + str(eval(f"f{lines!r}", {}, sizes)) + "\n}\n"


PAIRS = {
    "pad": (
        "  b = s32[{k},{n},5] broadcast(x), dimensions={{1}}\n"
        "  ROOT r = s32[{k},{n+8},5] pad(b, p), padding=0_0x6_2x0_0",
        "  q = s32[{n+8}] pad(x, p), padding=6_2\n  ROOT r = s32[{k},{n+8},5] broadcast(q), dimensions={{1}}",
        "6_2",
        "2_6",
    ),
    "gaps": (
        "  b = s32[{n},{k}] broadcast(x), dimensions={{0}}\n  ROOT r = s32[{2*n-1},{k}] pad(b, p), padding=0_0_1x0_0",
        "  q = s32[{2*n-1}] pad(x, p), padding=0_0_1\n  ROOT r = s32[{2*n-1},{k}] broadcast(q), dimensions={{0}}",
        "padding=0_0_1",
        "padding=1_-1_1",
    ),
    "slice": (
        "  b = s32[{k},{n}] broadcast(x), dimensions={{1}}\n"
        "  ROOT r = s32[{k},{n-2}] slice(b), slice={{[0:{k}],[1:{n-1}]}}",
        "  q = s32[{n-2}] slice(x), slice={{[1:{n-1}]}}\n  ROOT r = s32[{k},{n-2}] broadcast(q), dimensions={{1}}",
        "slice={{[1:{n-1}]}}",
        "slice={{[2:{n}]}}",
    ),
    "transpose": (
        "  b = s32[{k},{n}] broadcast(x), dimensions={{1}}\n  ROOT r = s32[{n},{k}] transpose(b), dimensions={{1,0}}",
        "  ROOT r = s32[{n},{k}] broadcast(x), dimensions={{0}}",
        "ROOT r = s32[{n},{k}] broadcast(x), dimensions={{0}}",
        "q = s32[{n}] reverse(x), dimensions={{0}}\n  ROOT r = s32[{n},{k}] broadcast(q), dimensions={{0}}",
    ),
    "reshape": (
        "  b = s32[{k},{n}] broadcast(x), dimensions={{1}}\n  ROOT r = s32[2,{k//2},{n}] reshape(b)",
        "  ROOT r = s32[2,{k//2},{n}] broadcast(x), dimensions={{2}}",
        "ROOT r = s32[2,{k//2},{n}] broadcast(x), dimensions={{2}}",
        "b = s32[{n},{k}] broadcast(x), dimensions={{0}}\n  ROOT r = s32[2,{k//2},{n}] reshape(b)",
    ),
    "a dimension of size 1": (
        "  y = s32[1,{n}] reshape(x)\n  t = s32[{n},1] transpose(y), dimensions={{1,0}}\n"
        "  q = s32[{n+1},1] pad(t, p), padding=1_0x0_0\n  f = s32[{n+1}] reshape(q)\n"
        "  ROOT r = s32[{k},{n+1}] broadcast(f), dimensions={{1}}",
        "  y = s32[1,{n}] reshape(x)\n  b = s32[{k},1,{n}] broadcast(y), dimensions={{1,2}}\n"
        "  q = s32[{k},1,{n+1}] pad(b, p), padding=0_0x0_0x1_0\n  ROOT r = s32[{k},{n+1}] reshape(q)",
        "0_0x1_0",
        "0_0x0_1",
    ),
    "constants": (
        "  o = s32[] constant(1)\n  b = s32[{k},{n},5] broadcast(o), dimensions={{}}\n"
        "  ROOT r = s32[{k},{n+8},5] pad(b, p), padding=0_0x6_2x0_0",
        "  o = s32[] constant(1)\n  c = s32[{n}] broadcast(o), dimensions={{}}\n"
        "  q = s32[{n+8}] pad(c, p), padding=6_2\n  ROOT r = s32[{k},{n+8},5] broadcast(q), dimensions={{1}}",
        "6_2",
        "2_6",
    ),
}


def answer(first: str, second: str) -> str:
    modules = [parse(first), parse(second)]
    return prove(modules).answer


@pytest.mark.parametrize("name", PAIRS)
def test_movement_comes_after_a_broadcast(name: str, worker: Worker) -> None:
    first, second, old, new = PAIRS[name]
    assert old in second
    wrong = second.replace(old, new)
    for sizes in (SMALL, LARGE):
        assert answer(module(first, sizes), module(second, sizes)) == "equal"
        assert answer(module(first, sizes), module(wrong, sizes)) != "equal"
    options = Options(engines=("xla",), power=0)
    small = [parse(module(text, SMALL)) for text in (first, second, wrong)]
    assert compare_modules(small[0], small[1], options, worker).verdict in ("agrees", "equal")
    assert compare_modules(small[0], small[2], options, worker).verdict == "different"


S32 = ELEMENT_TYPES["s32"]
X = ReadTerm("leaf", ("parameter", 0), ArrayShape(S32, (6,)), ())
P = ReadTerm("leaf", ("parameter", 1), ArrayShape(S32, ()), ())


def spread(term: ReadTerm, *sizes: int) -> ReadTerm:
    rank = len(term.shape.dimensions) if isinstance(term.shape, ArrayShape) else 0
    return ReadTerm("op", ("broadcast", tuple(range(rank))), ArrayShape(S32, sizes), (term,))


def moved(term: ReadTerm, *steps: Transpose | Reshape | Pad) -> ReadTerm:
    assert isinstance(term.shape, ArrayShape)
    paddings = tuple(True if isinstance(step, Pad) else None for step in steps)
    plan = Plan(S32, term.shape.dimensions, steps, paddings)
    scalars = [P for each in paddings if each]
    return ReadTerm("moved", plan, ArrayShape(*plan.result), (term, *scalars))


def is_accepted(rule: str, before: ReadTerm, after: ReadTerm) -> bool:
    try:
        CHECKS[rule](Step(rule, None, before, after))
    except (RefusedError, ValueError):
        return False
    return True


def test_the_replay_follows_a_repeated_dimension_through_reshapes() -> None:
    whole = spread(X, 6, 4)
    assert is_accepted("broadcast", moved(whole, Reshape((6, 2, 2))), spread(X, 6, 2, 2))
    assert is_accepted("broadcast", moved(spread(X, 6, 2, 2), Reshape((6, 4))), whole)
    split, joined = moved(whole, Reshape((2, 3, 4))), moved(whole, Reshape((24,)))
    # Both sides are the same array in row-major order.
    assert is_accepted("broadcast", split, moved(moved(whole, Reshape((3, 2, 4))), Reshape((2, 3, 4))))
    assert is_accepted("broadcast", moved(joined, Reshape((6, 4))), whole)
    assert not is_accepted("broadcast", split, moved(whole, Reshape((3, 2, 4)), Transpose((1, 0, 2))))
    assert not is_accepted("broadcast", moved(joined, Reshape((4, 6)), Transpose((1, 0))), whole)
    turned = moved(whole, Transpose((1, 0)))
    assert not is_accepted("broadcast", moved(turned, Reshape((6, 4))), whole)


def test_the_replay_lifts_a_movement_over_the_added_dimensions_only() -> None:
    padded, wide = moved(X, Pad((1,), (2,))), moved(spread(X, 6, 4), Pad((1, 0), (2, 0)))
    assert is_accepted("broadcast-moved", spread(padded, 9, 4), wide)
    for pad in (Pad((2, 0), (1, 0)), Pad((1, 1), (2, -1)), Pad((1, 0), (2, 0), (0, 1))):
        assert not is_accepted("broadcast-moved", spread(padded, 9, 4), moved(spread(X, 6, 4), pad))
    other = ReadTerm("leaf", ("parameter", 2), X.shape, ())
    assert not is_accepted("broadcast-moved", spread(padded, 9, 4), moved(spread(other, 6, 4), Pad((1, 0), (2, 0))))
