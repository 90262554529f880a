"""Rewrites of our own: what compilers and people do to programs, proved equal; their halves, crossed, are not."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import pytest

from dialect_utils.verdict.proof import try_prove
from tests.verdict.proof import expressions as ex
from tests.verdict.proof.dialects import parse
from tests.verdict.proof.expressions import (
    E,
    array,
    binary,
    broadcast,
    clamp,
    compare,
    concatenate,
    constant,
    convert,
    convolution,
    dot,
    dynamic_slice,
    dynamic_update_slice,
    full,
    gather_rows,
    iota,
    module,
    pad,
    parameters_of,
    reduce,
    reshape,
    reverse,
    select,
    slice_,
    transpose,
    unary,
)

# Neighbours below that are one function.
SAME = ["dot tr and dot tr ops", "sub zero and div1"]
_LEAVES: dict[tuple[int, str, tuple[int, ...]], E] = {}


def leaf(number: int, kind: str, dims: tuple[int, ...] = ()) -> E:
    """Returns a parameter; the same one for the same words."""
    return _LEAVES.setdefault((number, kind, dims), ex.parameter(len(_LEAVES), kind, dims))


def floats(value: object, dims: Sequence[int] = (3, 4)) -> E:
    return full("f32", value, dims)


def ints(value: object, dims: Sequence[int] = (3, 4)) -> E:
    return full("s32", value, dims)


A, B, C = (leaf(i, "f32", (3, 4)) for i in range(3))
S, T, U = (leaf(i, "s32", (3, 4)) for i in range(3))
p, q = leaf(3, "pred", (3, 4)), leaf(4, "pred", (3, 4))
x0, at = leaf(5, "f32"), leaf(6, "s32")
D, E5 = leaf(0, "f32", (3, 4)), leaf(1, "f32", (4, 5))
S4, S5 = leaf(0, "s32", (3, 4)), leaf(1, "s32", (4, 5))
zero, none, low = constant("f32", 0), constant("s32", 0), constant("f32", "-inf")
X, W = leaf(0, "f32", (1, 2, 5)), leaf(1, "f32", (3, 2, 2))

REWRITES: dict[str, tuple[E, E]] = {
    "x/2=x*.5": (A / floats(2), A * floats(0.5)),
    "x*-1": (A * floats(-1), -A),
    "a-b=-b+a": (A - B, (-B) + A),
    "-(a*b)": (-(A * B), (-A) * B),
    "-a/-b": ((-A) / (-B), A / B),
    "x+x": (A + A, A * floats(2)),
    "abs neg": (unary("abs", -A), unary("abs", A)),
    "max idem": (binary("maximum", A, A), A),
    "max assoc": (binary("maximum", binary("maximum", A, B), C), binary("maximum", C, binary("maximum", B, A))),
    "clamp=minmax": (clamp(floats(0), A, floats(6)), binary("minimum", binary("maximum", A, floats(0)), floats(6))),
    "lt gt": (compare("LT", A, B), compare("GT", B, A)),
    "not eq": (unary("not", compare("EQ", A, B)), compare("NE", A, B)),
    "not lt int": (unary("not", compare("LT", S, T)), compare("GE", S, T)),
    "select swap": (select(unary("not", p), A, B), select(p, B, A)),
    "select eq/ne": (select(compare("EQ", S, T), A, B), select(compare("NE", S, T), B, A)),
    "demorgan": (unary("not", binary("and", p, q)), binary("or", unary("not", p), unary("not", q))),
    "xor self": (binary("xor", binary("xor", S, T), T), S),
    "int dist": ((S + T) * U, S * U + T * U),
    "int square": ((S + T) * (S + T), S * S + ints(2) * S * T + T * T),
    "int sub add": (S - T + T, S),
    "int neg mul": ((-S) * (-T), S * T),
    "shift": (binary("shift-left", S, ints(3)), S * ints(8)),
    "not as -1-x": (unary("not", S), ints(-1) - S),
    "conv roundtrip": (convert(convert(convert(A, "bf16"), "f32"), "bf16"), convert(A, "bf16")),
    "s8 chain": (convert(convert(leaf(0, "s8", (4,)), "s32"), "f32"), convert(leaf(0, "s8", (4,)), "f32")),
    "pred conv": (convert(convert(p, "s32"), "f32"), convert(p, "f32")),
    "ge const": (compare("GE", S, ints(3)), compare("GT", S, ints(2))),
    "iota cmp": (compare("LT", iota("s32", (3, 4), 0), ints(3)), full("pred", "true", (3, 4))),
    "iota add": (iota("s32", (3, 4), 1) + ints(1), array("s32", (3, 4), [1, 2, 3, 4] * 3)),
    "iota rev": (reverse(iota("s32", (3, 4), 0), [0]), ints(2) - iota("s32", (3, 4), 0)),
    "mask tri": (
        select(
            compare("GE", iota("s32", (4, 4), 0), iota("s32", (4, 4), 1)),
            leaf(0, "f32", (4, 4)),
            full("f32", 0, (4, 4)),
        ),
        select(
            compare("LT", iota("s32", (4, 4), 0), iota("s32", (4, 4), 1)),
            full("f32", 0, (4, 4)),
            leaf(0, "f32", (4, 4)),
        ),
    ),
    "pad+slice": (slice_(pad(A, x0, [(1, 1, 0), (0, 0, 0)]), [(1, 4), (0, 4)]), A),
    "pad=concat": (pad(A, x0, [(0, 2, 0), (0, 0, 0)]), concatenate([A, broadcast(x0, (2, 4))], 0)),
    "dus=select": (
        dynamic_update_slice(A, broadcast(x0, (1, 4)), [constant("s32", 1), constant("s32", 0)]),
        select(compare("EQ", iota("s32", (3, 4), 0), ints(1)), broadcast(x0, (3, 4)), A),
    ),
    "dus=concat": (
        dynamic_update_slice(A, leaf(1, "f32", (1, 4)), [constant("s32", 1), constant("s32", 0)]),
        concatenate([slice_(A, [(0, 1), (0, 4)]), leaf(1, "f32", (1, 4)), slice_(A, [(2, 3), (0, 4)])], 0),
    ),
    "gather=slice": (gather_rows(A, array("s32", (2,), [1, 2])), slice_(A, [(1, 3), (0, 4)])),
    "gather rev": (gather_rows(A, array("s32", (3,), [2, 1, 0])), reverse(A, [0])),
    "concat split": (concatenate([slice_(A, [(0, 3), (0, 2)]), slice_(A, [(0, 3), (2, 4)])], 1), A),
    "roll": (
        concatenate([slice_(concatenate([A, A], 1), [(0, 3), (1, 4)]), slice_(A, [(0, 3), (0, 1)])], 1),
        slice_(concatenate([A, A], 1), [(0, 3), (1, 5)]),
    ),
    "interior pad": (slice_(pad(A, x0, [(0, 0, 1), (0, 0, 0)]), [(0, 5, 2), (0, 4)]), A),
    "tr each": (transpose(A + B, (1, 0)), transpose(A, (1, 0)) + transpose(B, (1, 0))),
    "reshape each": (reshape(A * B, (12,)), reshape(B, (12,)) * reshape(A, (12,))),
    "rev each": (reverse(unary("exponential", A), [1]), unary("exponential", reverse(A, [1]))),
    "bcast each": (
        broadcast(leaf(0, "f32", (4,)) * leaf(1, "f32", (4,)), (3, 4), (1,)),
        broadcast(leaf(0, "f32", (4,)), (3, 4), (1,)) * broadcast(leaf(1, "f32", (4,)), (3, 4), (1,)),
    ),
    "bcast tr": (
        transpose(broadcast(leaf(0, "f32", (4,)), (3, 4), (1,)), (1, 0)),
        broadcast(leaf(0, "f32", (4,)), (4, 3), (0,)),
    ),
    "dot tr": (dot(D, E5, ([1], [0])), transpose(dot(E5, D, ([0], [1])), (1, 0))),
    "dot tr ops": (dot(transpose(D, (1, 0)), transpose(E5, (1, 0)), ([0], [1])), dot(D, E5, ([1], [0]))),
    "(AB)^T": (transpose(dot(D, E5, ([1], [0])), (1, 0)), dot(transpose(E5, (1, 0)), transpose(D, (1, 0)), ([1], [0]))),
    "dot bcast batch": (
        dot(reshape(D, (1, 3, 4)), reshape(E5, (1, 4, 5)), ([2], [1]), ([0], [0])),
        reshape(dot(D, E5, ([1], [0])), (1, 3, 5)),
    ),
    "dot reshape": (
        dot(reshape(leaf(0, "f32", (2, 3, 4)), (6, 4)), E5, ([1], [0])),
        reshape(dot(leaf(0, "f32", (2, 3, 4)), E5, ([2], [0])), (6, 5)),
    ),
    "dot split rows": (
        concatenate(
            [dot(slice_(D, [(0, 1), (0, 4)]), E5, ([1], [0])), dot(slice_(D, [(1, 3), (0, 4)]), E5, ([1], [0]))], 0
        ),
        dot(D, E5, ([1], [0])),
    ),
    "dot concat cols": (
        dot(D, concatenate([E5, leaf(2, "f32", (4, 2))], 1), ([1], [0])),
        concatenate([dot(D, E5, ([1], [0])), dot(D, leaf(2, "f32", (4, 2)), ([1], [0]))], 1),
    ),
    "dot slice": (
        slice_(dot(D, E5, ([1], [0])), [(0, 2), (1, 5)]),
        dot(slice_(D, [(0, 2), (0, 4)]), slice_(E5, [(0, 4), (1, 5)]), ([1], [0])),
    ),
    "int dot split k": (
        dot(slice_(S4, [(0, 3), (0, 2)]), slice_(S5, [(0, 2), (0, 5)]), ([1], [0]))
        + dot(slice_(S4, [(0, 3), (2, 4)]), slice_(S5, [(2, 4), (0, 5)]), ([1], [0])),
        dot(S4, S5, ([1], [0])),
    ),
    "int dot reduce": (
        reduce("add", dot(S4, S5, ([1], [0])), constant("s32", 0), [1]),
        dot(S4, reduce("add", S5, constant("s32", 0), [1]), ([1], [0])),
    ),
    "reduce tr": (reduce("add", transpose(A, (1, 0)), zero, [1]), reduce("add", A, zero, [0])),
    "reduce perm": (
        reduce("add", leaf(0, "f32", (2, 3, 4)), zero, [2, 0]),
        reduce("add", leaf(0, "f32", (2, 3, 4)), zero, [0, 2]),
    ),
    "reduce reshape": (reduce("add", reshape(A, (3, 2, 2)), zero, [1, 2]), reduce("add", A, zero, [1])),
    "reduce max nested": (
        reduce("maximum", reduce("maximum", A, low, [0]), low, [0]),
        reduce("maximum", A, low, [0, 1]),
    ),
    "reduce int nested": (reduce("add", reduce("add", S, none, [0]), none, [0]), reduce("add", S, none, [0, 1])),
    "reduce int tiled": (
        reduce("add", reduce("add", reshape(S, (3, 2, 2)), none, [2]), none, [1]),
        reduce("add", S, none, [1]),
    ),
    "reduce max tiled": (
        binary(
            "maximum",
            reduce("maximum", slice_(A, [(0, 3), (0, 2)]), low, [1]),
            reduce("maximum", slice_(A, [(0, 3), (2, 4)]), low, [1]),
        ),
        reduce("maximum", A, low, [1]),
    ),
    "reduce int pad": (
        reduce("add", pad(S, none, [(0, 1, 0), (0, 4, 0)]), none, [1, 0]),
        reduce("add", S, none, [0, 1]),
    ),
    "reduce max pad": (
        reduce("maximum", pad(A, low, [(0, 0, 0), (0, 4, 0)]), low, [1]),
        reduce("maximum", A, low, [1]),
    ),
    "reduce int scale": (reduce("add", S * ints(3), none, [1]), reduce("add", S, none, [1]) * ints(3, (3,))),
    "reduce and": (
        reduce("and", p, constant("pred", "true"), [0, 1]),
        unary("not", reduce("or", unary("not", p), constant("pred", "false"), [0, 1])),
    ),
    "reduce size1": (reduce("maximum", reshape(A, (3, 1, 4)), low, [1]), A),
    "reduce rev": (reduce("maximum", reverse(A, [1]), low, [1]), reduce("maximum", A, low, [1])),
    "reduce bcast max": (
        reduce("maximum", broadcast(leaf(0, "f32", (3,)), (3, 4), (0,)), low, [1]),
        leaf(0, "f32", (3,)),
    ),
    "reduce bcast int": (
        reduce("add", broadcast(leaf(0, "s32", (3,)), (3, 4), (0,)), none, [1]),
        leaf(0, "s32", (3,)) * ints(4, (3,)),
    ),
    "onehot dot int": (
        dot(convert(compare("EQ", iota("s32", (3, 3), 0), iota("s32", (3, 3), 1)), "s32"), S4, ([1], [0])),
        S4,
    ),
    "tril mult int": (
        leaf(0, "s32", (3, 3)) * convert(compare("GE", iota("s32", (3, 3), 0), iota("s32", (3, 3), 1)), "s32"),
        select(compare("GE", iota("s32", (3, 3), 0), iota("s32", (3, 3), 1)), leaf(0, "s32", (3, 3)), ints(0, (3, 3))),
    ),
    "relu": (binary("maximum", A, floats(0)), binary("maximum", floats(0), A)),
    "dyn clamp": (
        dynamic_slice(A, [at, none], (2, 4)),
        dynamic_slice(A, [clamp(constant("s32", 0), at, constant("s32", 1)), none], (2, 4)),
    ),
    "ds add": (
        dynamic_slice(A + B, [at, none], (2, 4)),
        dynamic_slice(A, [at, none], (2, 4)) + dynamic_slice(B, [at, none], (2, 4)),
    ),
    "ds of dus": (
        dynamic_slice(dynamic_update_slice(A, leaf(1, "f32", (1, 4)), [at, none]), [at, none], (1, 4)),
        leaf(1, "f32", (1, 4)),
    ),
    "dus twice": (
        dynamic_update_slice(
            dynamic_update_slice(A, leaf(1, "f32", (1, 4)), [at, none]), leaf(2, "f32", (1, 4)), [at, none]
        ),
        dynamic_update_slice(A, leaf(2, "f32", (1, 4)), [at, none]),
    ),
    "conv tr": (
        convolution(X, W, (1, 3, 4), "size=2", "bf0_oi0->bf0"),
        transpose(
            convolution(transpose(X, (0, 2, 1)), transpose(W, (2, 1, 0)), (1, 4, 3), "size=2", "b0f_0io->b0f"),
            (0, 2, 1),
        ),
    ),
    "conv rev": (
        convolution(X, reverse(W, [2]), (1, 3, 4), "size=2", "bf0_oi0->bf0"),
        convolution(X, W, (1, 3, 4), "size=2 rhs_reversal=1", "bf0_oi0->bf0"),
    ),
    "conv 1x1 dot": (
        convolution(X, leaf(1, "f32", (3, 2, 1)), (1, 3, 5), "size=1", "bf0_oi0->bf0"),
        reshape(dot(reshape(leaf(1, "f32", (3, 2, 1)), (3, 2)), reshape(X, (2, 5)), ([1], [0])), (1, 3, 5)),
    ),
    "exp same": (unary("exponential", A + B), unary("exponential", B + A)),
    "sub zero": (A - floats(0), A),
    "div1": (A / floats(1), A),
    "mul const fold": (A * (floats(2) * floats(3)), A * floats(6)),
    "rem rem": (binary("remainder", binary("remainder", S, ints(7)), ints(7)), binary("remainder", S, ints(7))),
    "exp of select": (
        unary("exponential", select(p, A, B)),
        select(p, unary("exponential", A), unary("exponential", B)),
    ),
    "add of select": (select(p, A, B) + C, select(p, A + C, B + C)),
    "mul of selects": (select(p, A, B) * select(p, B, A), select(p, A * B, B * A)),
    "convert of select": (
        convert(select(p, A, floats(0)), "bf16"),
        select(p, convert(A, "bf16"), full("bf16", 0, (3, 4))),
    ),
    "selects crossed": (select(p, select(q, A, B), B), select(binary("and", p, q), A, B)),
    "dot of select": (
        dot(select(p, A + C, B + C), E5, ([1], [0])),
        dot(select(p, A, B) + C, E5, ([1], [0])),
    ),
    "transposed select": (
        transpose(unary("sqrt", select(p, A, B)), (1, 0)),
        select(transpose(p, (1, 0)), unary("sqrt", transpose(A, (1, 0))), transpose(unary("sqrt", B), (1, 0))),
    ),
    "max of opposites": (binary("maximum", A, -A), unary("abs", A)),
    "f minmax dual": (-binary("maximum", -A, -B), binary("minimum", A, B)),
}


@cache
def answer(first: E, second: E) -> str:
    parameters = parameters_of(first, second)
    modules = [parse(module(side, parameters=parameters)) for side in (first, second)]
    return try_prove(modules).answer


@pytest.mark.parametrize("name", REWRITES)
def test_a_rewrite_is_proved(name: str) -> None:
    assert answer(*REWRITES[name]) == "equal"


def test_what_two_rewrites_compute_is_not_the_same() -> None:
    """Crosses every left side with the right side of the next rewrite, where both are of one shape."""
    pairs = list(REWRITES.items())
    told = []
    for (name, (left, _)), (other, (_, right)) in pairwise(pairs):
        if (left.type, left.dims) == (right.type, right.dims) and answer(left, right) == "equal":
            told.append(f"{name} and {other}")
    assert told == SAME
