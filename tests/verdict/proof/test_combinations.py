"""Trees of reductions and of windows: proved equal to one reduction where they combine the same elements, only there.

The oracle is the reference engine on random data: sums of large integers are equal by chance only.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise, product

import numpy as np
import pytest

from dialect_utils.execution.reference import evaluate
from dialect_utils.verdict.certified import prove
from dialect_utils.verdict.proof import ProofResult
from tests.verdict.proof.dialects import parse

INITIAL = {"add": "0", "maximum": "-2147483648", "or": "0", "and": "-1", "multiply": "1"}
ORDER = ("order of sums", "NaN bits")


@dataclass(frozen=True)
class Program:
    """A module of lines on x, whose last one is the root, with one reducer."""

    lines: str
    sizes: str = "96"
    kind: str = "s32"
    opcode: str = "add"
    initial: str = ""

    @property
    def text(self) -> str:
        kind, initial = self.kind, self.initial or (INITIAL[self.opcode] if self.kind == "s32" else "0")
        head = f"HloModule m\nf {{\n  a = {kind}[] parameter(0)\n  b = {kind}[] parameter(1)\n"
        lines = self.lines.strip().replace("T[", f"{kind}[").split("\n")
        body = "\n".join(f"  {line.strip()}" for line in lines[:-1])
        return (
            f"{head}  ROOT r = {kind}[] {self.opcode}(a, b)\n}}\nENTRY e {{\n  x = {kind}[{self.sizes}] parameter(0)\n"
            f"  o = {kind}[] constant({initial})\n{body}\n  ROOT {lines[-1].strip()}\n}}\n"
        )


def proved(first: Program, second: Program) -> ProofResult:
    modules = [parse(first.text), parse(second.text)]
    return prove(modules)


def inputs(program: Program) -> list[np.ndarray]:
    """Returns data by which combinations of other elements differ: for extremes one element that counts at a time."""
    sizes = [int(size) for size in program.sizes.split(",")]
    dtype = {"s32": np.int32, "f32": np.float32}[program.kind]
    if program.opcode in ("maximum", "and"):
        usual, other = (0, 1) if program.opcode == "maximum" else (-1, -2)
        return [np.where(np.arange(np.prod(sizes)) == i, other, usual).astype(dtype) for i in range(np.prod(sizes))]
    rng = np.random.default_rng(3)
    return [rng.integers(-(1 << 30), 1 << 30, sizes).astype(dtype) for _ in range(2)]


@lru_cache
def results(program: Program) -> list[bytes]:
    module = parse(program.text)
    return [evaluate(module, [array])[0].tobytes() for array in inputs(program)]


def are_equal(first: Program, second: Program) -> bool:
    return results(first) == results(second)


def reduced(before: str = "", array: str = "x", dimensions: str = "0", result: str = "T[]") -> str:
    return f"{before}\nr = {result} reduce({array}, o), dimensions={{{dimensions}}}, to_apply=f"


def windows(name: str, array: str, result: str, window: str) -> str:
    return f"{name} = T[{result}] reduce-window({array}, o), window={{{window}}}, to_apply=f\n"


WHOLE = Program(reduced())
CUMULATIVE = Program(windows("r", "x", "96", "size=96 pad=95_0").strip())
BLOCKS = """
b = T[6,16] reshape(x)
w = T[6,16] reduce-window(b, o), window={size=1x16 pad=0_0x15_0}, to_apply=f
l = T[6,1] slice(w), slice={[0:6], [15:16]}
t = T[6] reshape(l)
s = T[7] reduce-window(t, o), window={size=6 pad=6_0}, to_apply=f
p = T[6] slice(s), slice={[0:6]}
q = T[6,16] broadcast(p), dimensions={0}
m = T[6,16] map(w, q), dimensions={0,1}, to_apply=f
r = T[96] reshape(m)
"""
# Programs of one shape each. Within a family those that are equal are proved, no others.
FAMILIES: dict[str, list[str]] = {
    "whole": [
        reduced(),
        reduced(windows("w", "x", "3", "size=32 stride=32"), "w"),
        reduced(windows("w", "x", "4", "size=32 stride=32 pad=16_16"), "w"),
        reduced(windows("w", "x", "3", "size=32 stride=31"), "w"),
        reduced(windows("w", "x", "3", "size=31 stride=32"), "w"),
        reduced(windows("w", "x", "3", "size=32 stride=32 pad=1_0"), "w"),
        reduced(
            windows("w", "x", "7", "size=14 stride=14 pad=1_1") + windows("v", "w", "2", "size=4 stride=4 pad=0_1"), "v"
        ),
        reduced("t = T[8,12] reshape(x)\n" + windows("w", "t", "2,3", "size=4x4 stride=4x4"), "w", "0,1"),
        reduced("t = T[8,12] reshape(x)\n" + windows("w", "t", "2,3", "size=4x5 stride=4x4 pad=0_0x0_1"), "w", "0,1"),
        reduced("t = T[8,12] reshape(x)\nu = T[8] reduce(t, o), dimensions={1}, to_apply=f", "u"),
        reduced("t = T[90] slice(x), slice={[6:96]}", "t"),
        reduced("t = T[96] reverse(x), dimensions={0}\n" + windows("w", "t", "48", "size=2 stride=2"), "w"),
        reduced("t = T[100] pad(x, o), padding=1_3", "t"),
        reduced("t = T[95] pad(x, o), padding=-1_0", "t"),
        reduced("t = T[191] pad(x, o), padding=0_0_1\n" + windows("w", "t", "192", "size=3 pad=1_2"), "w"),
        reduced(windows("w", "x", "48", "size=2 rhs_dilate=48"), "w"),
        reduced(windows("w", "x", "48", "size=2 rhs_dilate=47"), "w"),
        "t = T[48] slice(x), slice={[0:48]}\nu = T[48] slice(x), slice={[48:96]}\nv = T[48] map(t, u), dimensions={0}, "
        "to_apply=f\n" + reduced("", "v").strip(),
        "t = T[48] slice(x), slice={[0:48]}\nu = T[48] slice(x), slice={[47:95]}\nv = T[48] map(t, u), dimensions={0}, "
        "to_apply=f\n" + reduced("", "v").strip(),
        "t = T[48] slice(x), slice={[0:96:2]}\nu = T[48] slice(x), slice={[1:96:2]}\nv = T[96] concatenate(u, t), "
        "dimensions={0}\n" + reduced("", "v").strip(),
    ],
    "cumulative": [
        windows("r", "x", "96", "size=96 pad=95_0").strip(),
        windows("r", "x", "96", "size=95 pad=94_0").strip(),
        BLOCKS.strip(),
        BLOCKS.replace("{[0:6]}", "{[1:7]}").strip(),
        BLOCKS.replace("[15:16]", "[14:15]").strip(),
        BLOCKS.replace("pad=6_0", "pad=5_1").strip(),
        BLOCKS.replace("size=1x16 pad=0_0x15_0", "size=1x15 pad=0_0x14_0").strip(),
        "y = T[96] reverse(x), dimensions={0}\n"
        + windows("w", "y", "96", "size=96 pad=0_95")
        + "r = T[96] reverse(w), dimensions={0}",
        "y = T[96] reverse(x), dimensions={0}\n"
        + windows("w", "y", "96", "size=96 pad=95_0")
        + "r = T[96] reverse(w), dimensions={0}",
    ],
}


@pytest.mark.parametrize("opcode", ["add", "maximum"])
@pytest.mark.parametrize("family", FAMILIES)
def test_programs_of_integers_are_proved_where_they_combine_the_same_elements(family: str, opcode: str) -> None:
    found = []
    programs = [Program(lines, opcode=opcode) for lines in FAMILIES[family]]
    for first, second in [*product(programs[:2], programs[2:]), *pairwise(programs)]:
        proof, expected = proved(first, second), are_equal(first, second)
        assert (proof.answer == "equal") <= expected, (first.text, second.text)
        if expected:
            found.append(proof.answer == "equal")
    assert all(found)
    assert len(found) > 1


@pytest.mark.parametrize(("family", "count"), [("whole", 8), ("cumulative", 2)])
def test_sums_of_floats_are_equal_up_to_their_order(family: str, count: int) -> None:
    first, *others = [Program(lines, kind="f32") for lines in FAMILIES[family]]
    answers = [proved(first, other) for other in others]
    for answer, other in zip(answers, others, strict=True):
        if answer.answer == "equal":
            assert answer.outputs[0].choices in (ORDER, ())
            assert are_equal(*(replace(each, kind="s32") for each in (first, other)))
    assert sum(answer.answer == "equal" for answer in answers) >= count


TREE = reduced(windows("w", "x", "3", "size=32 stride=32"), "w")


@pytest.mark.parametrize(
    ("kind", "opcode", "initial", "is_equal"),
    [
        ("s32", "add", "5", False),
        ("s32", "maximum", "5", True),
        ("s32", "and", "12", True),
        ("s32", "xor", "12", False),
        ("s32", "multiply", "3", False),
        ("f32", "add", "5", False),
        ("f32", "add", "-0", True),
        ("f32", "add", "0", True),
        ("f32", "maximum", "5", True),
        ("f32", "multiply", "1", True),
        ("f32", "multiply", "2", False),
    ],
)
def test_an_initial_value_may_take_part_again_where_that_changes_nothing(
    kind: str, opcode: str, initial: str, is_equal: bool
) -> None:
    first, second = (Program(lines, kind=kind, opcode=opcode, initial=initial) for lines in (reduced(), TREE))
    assert (proved(first, second).answer == "equal") == is_equal
    if kind == "s32" and opcode != "multiply":
        assert are_equal(first, second) == is_equal


def test_a_zero_is_not_neutral_in_a_sum_of_floats() -> None:
    """The sum of -0.0 from -0.0 on is -0.0; an inner sum that begins with 0.0 makes it 0.0."""
    tree = "z = T[] constant(0)\n" + reduced(
        windows("w", "x", "3", "size=32 stride=32").replace("(x, o)", "(x, z)"), "w"
    )
    first, second = (Program(lines, kind="f32", initial="-0") for lines in (reduced(), tree))
    zeros = np.full(96, -0.0, np.float32)
    assert evaluate(parse(first.text), [zeros])[0].tobytes() != evaluate(parse(second.text), [zeros])[0].tobytes()
    assert proved(first, second).answer != "equal"


def test_two_trees_of_floats_are_not_one_sum() -> None:
    """Neither program leaves an order to the engine that makes it the other one."""
    texts = []
    for groups in ("(x0 + x1) + x2", "x0 + (x1 + x2)"):
        cut = "\n".join(f"x{i} = T[32] slice(x), slice={{[{32 * i}:{32 * i + 32}]}}" for i in range(3))
        first, second = ("x0, x1", "y, x2") if groups.startswith("(") else ("x1, x2", "x0, y")
        texts.append(
            Program(f"{cut}\ny = T[32] add({first})\nz = T[32] add({second})\n" + reduced("", "z"), kind="f32")
        )
    assert proved(*texts).answer != "equal"
    assert proved(*(replace(each, kind="s32") for each in texts)).answer == "equal"


def test_what_rounds_between_two_sums_counts() -> None:
    inner = windows("w", "x", "3", "size=32 stride=32")
    for operation in ("negate(w)", "floor(w)", "multiply(w, w)", "abs(w)"):
        other = Program(reduced(f"{inner}v = T[3] {operation}", "v"), kind="f32")
        assert proved(Program(reduced(), kind="f32"), other).answer != "equal"


def test_a_comparison_observes_the_order_of_a_tree() -> None:
    def compared(lines: str) -> Program:
        return Program(f"{lines}\nk = T[] constant(1)\nq = pred[] compare(r, k), direction=LT", kind="f32")

    assert proved(compared(reduced()), compared(TREE)).answer != "equal"
    assert proved(compared(TREE), compared(TREE)).answer == "equal"


@pytest.mark.parametrize("seed", range(12))
def test_random_trees(seed: int) -> None:
    """Windows of random sizes, strides and padding: the proof and the execution agree on integers."""
    rng = random.Random(seed)
    size, stride = rng.randint(1, 9), rng.randint(1, 9)
    low, high = rng.randint(0, 8), rng.randint(0, 8)
    count = (96 + low + high - size) // stride + 1
    lines = windows("w", "x", str(count), f"size={size} stride={stride} pad={low}_{high}")
    other = Program(reduced(lines, "w"))
    assert (proved(WHOLE, other).answer == "equal") == are_equal(WHOLE, other)


def test_large_arrays_take_no_longer() -> None:
    kind = "100000000"
    flat = Program(reduced(), kind)
    tree = windows("w", "x", "3125000", "size=32 stride=32") + windows("v", "w", "97657", "size=32 stride=32 pad=12_12")
    assert proved(flat, Program(reduced(tree, "v"), kind)).answer == "equal"
    assert proved(flat, Program(reduced(tree.replace("pad=12_12", "pad=24_0"), "v"), kind)).answer == "equal"
    other = tree.replace("3125000", "3124999").replace("size=32 stride=32}", "size=33 stride=32}", 1)
    assert proved(flat, Program(reduced(other, "v"), kind)).answer != "equal"


@pytest.mark.parametrize("is_wrong", [False, True])
def test_windows_of_rank_one_as_windows_of_rank_two(is_wrong: bool) -> None:
    """Several arrays may be reduced together by any function."""
    head = (
        "HloModule m\nf {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  c = f32[] parameter(2)\n"
        "  d = f32[] parameter(3)\n  s = f32[] add(a, c)\n  p = f32[] multiply(b, d)\n"
        "  ROOT r = (f32[], f32[]) tuple(s, p)\n}\nENTRY e {\n  x = f32[10] parameter(0)\n  o = f32[] constant(1)\n"
    )
    flat = "  w = (f32[10], f32[10]) reduce-window(x, x, o, o), window={size=5 pad=2_2}, to_apply=f\n"
    root = "  ROOT r = f32[10] get-tuple-element(w), index=1\n}\n"
    size = "size=5x1 pad=1_3x0_0" if is_wrong else "size=5x1 pad=2_2x0_0"
    cubic = (
        f"  y = f32[10,1] reshape(x)\n  v = (f32[10,1], f32[10,1]) reduce-window(y, y, o, o), window={{{size}}}, "
        "to_apply=f\n  u = f32[10,1] get-tuple-element(v), index=1\n  ROOT r = f32[10] reshape(u)\n}\n"
    )
    modules = [parse(head + flat + root), parse(head + cubic)]
    assert (prove(modules).answer == "equal") != is_wrong
