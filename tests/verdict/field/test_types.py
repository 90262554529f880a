"""Over the reals all floats are one type; integers are not, nor are bits that are read as a type."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dialect_utils.verdict.proof import ProofResult, try_prove
from tests.verdict.proof.dialects import parse


def program(parameters: str, lines: list[str], head: str = "") -> str:
    shapes = [f"p{i} = {kind} parameter({i})" for i, kind in enumerate(parameters.split())]
    return "\n  ".join([f"HloModule m\n{head}ENTRY e {{", *shapes, *lines[:-1], f"ROOT {lines[-1]}"]) + "\n}\n"


def converted(kind: str) -> str:
    """Compares floats as integers of a type, in which they saturate."""
    lines = [
        f"a = {kind}[4] convert(p0)",
        f"b = {kind}[4] convert(p1)",
        "c = pred[4] compare(a, b), direction=LT",
        "r = f32[4] select(c, p0, p1)",
    ]
    return program("f32[4] f32[4]", lines)


def reread(kind: str) -> str:
    """Reads the bits of rounded floats."""
    return program("f32[4]", [f"a = {kind}[4] convert(p0)", "r = s16[4] bitcast-convert(a)"])


def joined(kind: str) -> str:
    """Reads pairs of bytes as numbers."""
    return program("u8[4,2]", [f"a = {kind}[4] bitcast-convert(p0)", "r = f32[4] convert(a)"])


def ordered(kind: str) -> str:
    """Compares numbers that are read from bytes."""
    lines = [
        f"x = {kind}[2] bitcast-convert(p0)",
        f"y = {kind}[2] reverse(x), dimensions={{0}}",
        "r = pred[2] compare(x, y), direction=LT",
    ]
    return program("u8[2,4]", lines)


def counted(kind: str) -> str:
    """Sums numbers that are known: they wrap around."""
    head = f"add {{\n  a = {kind}[] parameter(0)\n  b = {kind}[] parameter(1)\n  ROOT c = {kind}[] add(a, b)\n}}\n"
    lines = [
        f"i = {kind}[100] iota(), iota_dimension=0",
        f"z = {kind}[] constant(0)",
        f"s = {kind}[] reduce(i, z), dimensions={{0}}, to_apply=add",
        f"k = {kind}[] constant(100)",
        "c = pred[] compare(s, k), direction=LT",
        "r = f32[] select(c, p0, p1)",
    ]
    return program("f32[] f32[]", lines, head)


def chosen(kind: str) -> str:
    """Compares one of two numbers whose bits mean another number in another type."""
    high = 200 if kind[0] == "u" else -56
    lines = [
        f"h = {kind}[] constant({high})",
        f"l = {kind}[] constant(2)",
        f"s = {kind}[] select(p0, h, l)",
        f"k = {kind}[] constant(100)",
        "r = pred[] compare(s, k), direction=LT",
    ]
    return program("pred[]", lines)


def called(kind: str) -> str:
    """Asks a custom call, of which nothing is known."""
    return program(
        "f32[4]", [f"a = {kind}[4] convert(p0)", 'r = f32[4] custom-call(a), custom_call_target="unheard_of"']
    )


def summed(kind: str) -> str:
    """Sums products: of truth values that is an or."""
    dimensions = "lhs_contracting_dims={0}, rhs_contracting_dims={0}"
    lines = [f"a = {kind}[4] convert(p0)", f"d = {kind}[] dot(a, a), {dimensions}", "r = f32[] convert(d)"]
    return program("pred[4]", lines)


def decided(first: str, second: str) -> ProofResult:
    modules = [parse(first), parse(second)]
    return try_prove(modules, over_reals=True)


PAIRS = [
    (converted, "s8", "s32"),
    (converted, "u8", "s32"),
    (reread, "f16", "bf16"),
    (joined, "f16", "bf16"),
    (ordered, "u32", "s32"),
    (counted, "s8", "s32"),
    (chosen, "u8", "s8"),
    (called, "f32", "bf16"),
    (summed, "pred", "f32"),
]


@pytest.mark.parametrize(("make", "first", "second"), PAIRS)
def test_what_differs_by_its_types_is_not_told_equal(make: Callable[[str], str], first: str, second: str) -> None:
    assert not decided(make(first), make(second)).is_equal_over_reals
    assert decided(make(first), make(first)).answer == "equal"


@pytest.mark.parametrize("opcode", ["sine", "tanh", "log", "abs"])
def test_floats_of_another_width_are_the_same_reals(opcode: str) -> None:
    texts = [
        program("f32[4]", [f"a = {kind}[4] convert(p0)", f"s = {kind}[4] {opcode}(a)", "r = f32[4] convert(s)"])
        for kind in ("bf16", "f64")
    ]
    assert decided(*texts).is_equal_over_reals
