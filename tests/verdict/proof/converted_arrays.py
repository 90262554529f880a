"""Instances of the rules about converted arrays: two programs that are equal, and one that is not."""

from __future__ import annotations

import random

from tests.verdict.proof import expressions as ex
from tests.verdict.proof.expressions import E

# The texts of two programs that are equal by a rule, and of one that is not.
Instance = tuple[str, str, str]


def _texts(*roots: E) -> Instance:
    parameters = ex.parameters_of(*roots)
    first, second, wrong = (ex.module(root, parameters=parameters) for root in roots)
    return first, second, wrong


def _wide(x: E) -> E:
    return ex.convert(x, "f32")


def _rows(rng: random.Random, number: int = 0) -> E:
    return ex.parameter(number, rng.choice(["bf16", "f16"]), (rng.randint(2, 4), 3))


def movement(rng: random.Random) -> Instance:
    x = _rows(rng)
    y, kind = ex.parameter(1, x.type, (2, 3)), x.type
    if rng.random() < 0.5:
        joined = ex.concatenate([_wide(x), _wide(y)], 0)
        return _texts(ex.convert(joined, kind), ex.concatenate([x, y], 0), ex.concatenate([y, x], 0))
    value, amounts = ex.constant(kind, 1), [(1, 0, 0), (0, 2, 1)]
    padded = ex.pad(_wide(x), _wide(value), amounts)
    return _texts(ex.convert(padded, kind), ex.pad(x, value, amounts), ex.pad(x, ex.constant(kind, 2), amounts))


def extreme(rng: random.Random) -> Instance:
    x, opcode = _rows(rng), rng.choice(["maximum", "minimum"])
    start = ex.constant(x.type, 1)
    found = ex.reduce(opcode, _wide(x), _wide(start), [1])
    other = ex.reduce("minimum" if opcode == "maximum" else "maximum", x, start, [1])
    return _texts(ex.convert(found, x.type), ex.reduce(opcode, x, start, [1]), other)


def function(rng: random.Random) -> Instance:
    """Returns a reduction that rounds each sum to bf16, the reduction of bf16, and one that adds something else."""
    size = rng.randint(2, 6)
    plain = (
        "HloModule m\nf {{\n  a = bf16[] parameter(0)\n  b = bf16[] parameter(1)\n  ROOT r = bf16[] {0}(a, b)\n}}\n"
        f"ENTRY e {{{{\n  x = bf16[{size}] parameter(0)\n  c = bf16[] constant(1)\n"
        "  ROOT r = bf16[] reduce(x, c), dimensions={{0}}, to_apply=f\n}}\n"
    )
    wide = (
        "HloModule m\nf {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  s = f32[] add(a, b)\n"
        f"  n = bf16[] convert(s)\n  ROOT r = f32[] convert(n)\n}}\nENTRY e {{\n  x = bf16[{size}] parameter(0)\n"
        f"  c = f32[] constant(1)\n  w = f32[{size}] convert(x)\n"
        "  t = f32[] reduce(w, c), dimensions={0}, to_apply=f\n  ROOT r = bf16[] convert(t)\n}\n"
    )
    return wide, plain.format("add"), plain.format("subtract")


def products(rng: random.Random) -> Instance:
    kind, n = rng.choice(["bf16", "f16"]), rng.randint(2, 4)
    x, kernel = ex.parameter(0, kind, (1, 1, n + 1, 3)), ex.parameter(1, kind, (1, 1, 2, 2))

    def convolved(image: E, weights: E) -> E:
        return ex.convolution(image, weights, (1, 1, n, 2), "size=2x2")

    wide = ex.convert(convolved(_wide(x), _wide(kernel)), kind)
    return _texts(wide, convolved(x, kernel), convolved(ex.reverse(x, [3]), kernel))


def sums(rng: random.Random) -> Instance:
    x, at = _rows(rng), rng.randint(0, 1)
    start = ex.constant(x.type, rng.randint(0, 2))
    wide = ex.convert(ex.reduce("add", _wide(x), _wide(start), [at]), x.type)
    return _texts(wide, ex.reduce("add", x, start, [at]), ex.reduce("add", -x, start, [at]))


def functions(rng: random.Random) -> Instance:
    x, opcode = _rows(rng), rng.choice(["exponential", "logistic"])
    wide = ex.convert(ex.unary(opcode, _wide(x)), x.type)
    return _texts(wide, ex.unary(opcode, x), ex.unary(opcode, -x))


def bits(rng: random.Random) -> Instance:
    size, count = rng.choice([(8, 4), (16, 2)])
    n = rng.randint(1, 3)
    head = f"HloModule m\nENTRY e {{\n  x = s32[{n}] parameter(0)\n"
    read = f"{head}  ROOT r = s{size}[{n},{count}] bitcast-convert(x)\n}}\n"

    def shifted(opcode: str, step: int) -> str:
        sizes = f"[{n},{count}]"
        return (
            f"{head}  b = s32{sizes} broadcast(x), dimensions={{0}}\n  u = u32{sizes} bitcast-convert(b)\n"
            f"  c = u32[] constant({step})\n  w = u32{sizes} broadcast(c), dimensions={{}}\n"
            f"  i = u32{sizes} iota(), iota_dimension=1\n  k = u32{sizes} multiply(w, i)\n"
            f"  t = u32{sizes} {opcode}(u, k)\n  m = u32[] constant({(1 << size) - 1})\n"
            f"  f = u32{sizes} broadcast(m), dimensions={{}}\n  a = u32{sizes} and(t, f)\n"
            f"  l = u{size}{sizes} convert(a)\n  ROOT r = s{size}{sizes} bitcast-convert(l)\n}}\n"
        )

    return read, shifted("shift-right-logical", size), shifted("shift-right-logical", 0)
