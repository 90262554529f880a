"""Differences that rounding explains, and differences that it does not: each pair shares one original."""

from __future__ import annotations

import pytest

from dialect_utils.execution import Worker
from dialect_utils.io.files import parse_bytes
from dialect_utils.verdict import Method, Options, Verdict, compare_modules

ADD = "add { a = T[] parameter(0)\n b = T[] parameter(1)\n ROOT s = T[] add(a, b) }\n"
MAX = "max { a = T[] parameter(0)\n b = T[] parameter(1)\n ROOT s = T[] maximum(a, b) }\n"


def judged(
    worker: Worker,
    first: str,
    second: str,
    kind: str = "f32",
    parameters: str = "",
    engines: tuple[Method, ...] = ("xla",),
) -> Verdict:
    header = parameters or "x = T[64,48] parameter(0)\n y = T[48,64] parameter(1)\n"
    constants = "z = T[] constant(0)\n i = T[] constant(-inf)\n"
    texts = [
        f"HloModule m\n{ADD}{MAX}ENTRY e {{\n {header} {constants} {body}\n}}\n".replace("T[", f"{kind}[")
        for body in (first, second)
    ]
    a, b = (parse_bytes(text.encode(), name) for text, name in zip(texts, "ab", strict=True))
    return compare_modules(a, b, Options(engines=engines, power=0), worker)


DOT = "T[64,64] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
SPLIT = """x1 = T[64,16] slice(x), slice={[0:64], [0:16]}
 y1 = T[16,64] slice(y), slice={[0:16], [0:64]}
 x2 = T[64,32] slice(x), slice={[0:64], [16:48]}
 y2 = T[32,64] slice(y), slice={[16:48], [0:64]}
 d1 = T[64,64] dot(x1, y1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 d2 = T[64,64] dot(x2, y2), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 u = T[64,64] add(d1, d2)
"""
ROWS = "r = T[64] reduce(x, z), dimensions={1}, to_apply=add\n ROOT t = T[] reduce(r, z), dimensions={0}, to_apply=add"
COLUMNS = (
    "r = T[48] reduce(x, z), dimensions={0}, to_apply=add\n ROOT t = T[] reduce(r, z), dimensions={0}, to_apply=add"
)
WHOLE = "ROOT t = T[] reduce(x, z), dimensions={0,1}, to_apply=add"
EXPONENTIALS = "w = T[64,48] exponential(x)\n"
SOFTMAX = """m = T[64] reduce(x, i), dimensions={1}, to_apply=max
 mb = T[64,48] broadcast(m), dimensions={0}
 d = T[64,48] subtract(x, mb)
 e = T[64,48] exponential(d)
 s = T[64] reduce(e, z), dimensions={1}, to_apply=add
 sb = T[64,48] broadcast(s), dimensions={0}
 ROOT q = T[64,48] divide(e, sb)"""
SOFTMAX_IN_PARTS = SOFTMAX.replace(
    "s = T[64] reduce(e, z), dimensions={1}, to_apply=add",
    "f = T[64,6,8] reshape(e)\n g = T[64,8] reduce(f, z), dimensions={1}, to_apply=add\n"
    " s = T[64] reduce(g, z), dimensions={1}, to_apply=add",
)
ZEROS = "zb = T[64,64] broadcast(z), dimensions={}\n"
REORDERED = {
    "rows, then columns": (ROWS, COLUMNS),
    "both at once": (WHOLE, COLUMNS),
    "exponentials": (EXPONENTIALS + ROWS.replace("(x,", "(w,"), EXPONENTIALS + COLUMNS.replace("(x,", "(w,")),
    "a product in two parts": (f"ROOT d = {DOT}", SPLIT.replace("u = T", "ROOT u = T")),
    "the transposed product": (
        f"ROOT d = {DOT}",
        "e = T[64,64] dot(y, x), lhs_contracting_dims={0}, rhs_contracting_dims={1}\n"
        " ROOT d = T[64,64] transpose(e), dimensions={1,0}",
    ),
    "noise around zero": (
        f"a = {DOT}\n b = {DOT}\n ROOT d = T[64,64] subtract(a, b)",
        f"{SPLIT} b = {DOT}\n ROOT d = T[64,64] subtract(u, b)",
    ),
    "softmax": (SOFTMAX, SOFTMAX_IN_PARTS),
    "softmax of a product": (
        f"p = {DOT}\n c = T[64,48] slice(p), slice={{[0:64], [0:48]}}\n {SOFTMAX.replace('(x,', '(c,')}",
        f"{SPLIT} c = T[64,48] slice(u), slice={{[0:64], [0:48]}}\n {SOFTMAX_IN_PARTS.replace('(x,', '(c,')}",
    ),
}
# Results that are not float are never forgiven: rounding decides them, so the verdict is open.
DECIDED_BY_ROUNDING = {
    "a threshold": (
        f"d = {DOT}\n {ZEROS} ROOT g = pred[64,64] compare(d, zb), direction=GT",
        f"{SPLIT} {ZEROS} ROOT g = pred[64,64] compare(u, zb), direction=GT",
    ),
    "rounded to integers": (f"d = {DOT}\n ROOT g = s32[64,64] convert(d)", f"{SPLIT} ROOT g = s32[64,64] convert(u)"),
}


# Types differ in their rounding, reorderings in their effect: all pairs of both would repeat themselves.
KINDS = [*((name, kind) for name in REORDERED for kind in ("f32", "bf16"))]
KINDS += [(name, kind) for name in ("both at once", "softmax of a product") for kind in ("f16", "f64")]


@pytest.mark.parametrize("name", DECIDED_BY_ROUNDING)
@pytest.mark.parametrize("kind", ["f32", "bf16"])
def test_a_result_that_is_not_float_is_not_forgiven(worker: Worker, name: str, kind: str) -> None:
    first, last = DECIDED_BY_ROUNDING[name]
    verdict = judged(worker, first, last, kind)
    assert verdict.verdict == "unknown", verdict
    assert verdict.counterexample is not None
    assert "in the first and" in str(verdict)
    assert judged(worker, first, first, kind).verdict == "agrees"


STEP = f"""s = {WHOLE.removeprefix("ROOT t = ")}
 v = T[64,48] reverse(x), dimensions={{0,1}}
 o = {WHOLE.removeprefix("ROOT t = ").replace("(x,", "(v,")}
 g = pred[] compare(s, o), direction=LT
 gb = pred[64,48] broadcast(g), dimensions={{}}
 m = T[64,48] MADE(x)
 ROOT r = T[64,48] select(gb, m, x)"""


@pytest.mark.parametrize("engines", [("xla",), ("proof", "xla")])
def test_a_float_that_rounding_flips_is_not_forgiven(worker: Worker, engines: tuple[Method, ...]) -> None:
    """A proof may take both sums for one; their rounding decides the sign of the result."""
    first, last = STEP.replace("MADE", "negate"), "ROOT r = T[64,48] copy(x)"
    verdict = judged(worker, first, last, parameters=FLOATS, engines=engines)
    assert verdict.verdict in ("unknown", "different"), verdict
    assert verdict.counterexample is not None
    # Both branches are close: the difference is as small as rounding.
    near = STEP.replace("MADE", "abs")
    assert judged(worker, near, near, parameters=FLOATS, engines=engines).verdict in ("agrees", "equal")


FLOATS = "x = T[64,48] parameter(0)\n"


@pytest.mark.parametrize(("name", "kind"), KINDS)
def test_another_order_of_a_sum_is_no_difference(worker: Worker, name: str, kind: str) -> None:
    verdict = judged(worker, *REORDERED[name], kind)
    assert verdict.verdict == "agrees", f"{verdict.counterexample} {verdict.reason[:300]}"


def scaled(factor: str, kind: str = "T") -> str:
    return f"f = {kind}[] constant({factor})\n fb = {kind}[64,64] broadcast(f), dimensions={{}}\n"


ORIGINAL = f"ROOT d = {DOT}"
WRONG = {
    "narrowed to bf16": (f"d = {DOT}\n h = bf16[64,64] convert(d)\n ROOT r = f32[64,64] convert(h)", "f32"),
    "narrowed to f16": (f"d = {DOT}\n h = f16[64,64] convert(d)\n ROOT r = f32[64,64] convert(h)", "f32"),
    "operand narrowed to f16": (
        f"h = f16[64,48] convert(x)\n w = f32[64,48] convert(h)\n ROOT d = {DOT.replace('(x,', '(w,')}",
        "f32",
    ),
    "narrowed to f8": (f"d = {DOT}\n h = f8e5m2[64,64] convert(d)\n ROOT r = f32[64,64] convert(h)", "f32"),
    "times 1.02": (f"d = {DOT}\n {scaled('1.02')} ROOT r = T[64,64] multiply(d, fb)", "f32"),
    "times 1.02 in bf16": (f"d = {DOT}\n {scaled('1.02')} ROOT r = T[64,64] multiply(d, fb)", "bf16"),
    "times 1.003 in f16": (f"d = {DOT}\n {scaled('1.003')} ROOT r = T[64,64] multiply(d, fb)", "f16"),
    "one row narrowed": (
        f"d = {DOT}\n h = bf16[64,64] convert(d)\n c = f32[64,64] convert(h)\n"
        " n = s32[64,64] iota(), iota_dimension=0\n"
        " k = s32[] constant(7)\n kb = s32[64,64] broadcast(k), dimensions={}\n"
        " e = pred[64,64] compare(n, kb), direction=EQ\n ROOT r = f32[64,64] select(e, c, d)",
        "f32",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_rounding_does_not_explain_is_different(worker: Worker, name: str) -> None:
    rewrite, kind = WRONG[name]
    # After tanh, whole numbers do not decide the pair by their bits.
    verdict = judged(worker, ORIGINAL, rewrite, kind, TANH)
    assert verdict.verdict == "different", verdict


TANH = "x0 = T[64,48] parameter(0)\n y = T[48,64] parameter(1)\n x = T[64,48] tanh(x0)\n"


def test_an_output_is_judged_by_its_own_error_alone(worker: Worker) -> None:
    def both(result: str) -> str:
        narrow = f"d = {DOT}\n h = bf16[64,64] convert(d)\n {scaled('1.003')} r = T[64,64] multiply(d, fb)\n"
        return f"{narrow} ROOT t = (f32[64,64], bf16[64,64]) tuple({result}, h)"

    assert judged(worker, both("d"), both("d"), "f32", TANH).verdict == "agrees"
    assert judged(worker, both("d"), both("r"), "f32", TANH).verdict == "different"


def test_small_elements_are_judged_beside_large_ones(worker: Worker) -> None:
    def mixed(small: str) -> str:
        rows = "n = s32[64,64] iota(), iota_dimension=0\n k = s32[] constant(32)\n"
        mask = " kb = s32[64,64] broadcast(k), dimensions={}\n e = pred[64,64] compare(n, kb), direction=LT\n"
        large = " b = T[] constant(1e8)\n bb = T[64,64] broadcast(b), dimensions={}\n l = T[64,64] multiply(d, bb)\n"
        times = f"{scaled('7')} s = T[64,64] multiply(d, fb)\n"
        return f"d = {DOT}\n {rows}{mask}{large}{times} ROOT r = T[64,64] select(e, l, {small})"

    assert judged(worker, mixed("d"), mixed("d"), "f32", TANH).verdict == "agrees"
    assert judged(worker, mixed("d"), mixed("s"), "f32", TANH).verdict == "different"


def test_a_scalar_far_from_its_threshold_may_not_flip(worker: Worker) -> None:
    def compared(threshold: str, direction: str) -> str:
        total = WHOLE.removeprefix("ROOT t = ")
        return f"s = {total}\n k = T[] constant({threshold})\n ROOT g = pred[] compare(s, k), direction={direction}"

    assert judged(worker, compared("1e6", "GT"), compared("1e6", "LE"), "f32", TANH).verdict == "different"
