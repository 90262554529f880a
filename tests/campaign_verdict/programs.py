"""Small programs as lists of nodes: written as HLO and as StableHLO, and evaluated by numpy in 64 bits.

The evaluation shares no code with any engine, so it decides whether two programs really differ.
"""

# ruff: noqa: C901, E501  # tables: one row for each opcode and program

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np

from dialect_utils.execution import Worker
from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Module

Array = Any
DTYPES = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16, "s32": np.int32, "pred": np.bool_}


@dataclass(frozen=True)
class Node:
    """One operation: its opcode, the numbers of its operands, one attribute, and its type."""

    op: str
    args: tuple[int, ...] = ()
    attr: Any = None
    kind: str = "f32"
    dims: tuple[int, ...] = (4, 6)


UNARY: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "negate": ("negate", np.negative),
    "abs": ("abs", np.abs),
    "tanh": ("tanh", np.tanh),
    "exponential": ("exponential", np.exp),
    "exponential-minus-one": ("exponential_minus_one", np.expm1),
    "sine": ("sine", np.sin),
    "cosine": ("cosine", np.cos),
    "floor": ("floor", np.floor),
    "ceil": ("ceil", np.ceil),
    "sign": ("sign", np.sign),
    "copy": ("optimization_barrier", lambda x: x),
}
BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
COMPARE: dict[str, Callable[[Array, Array], Array]] = {
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
    "EQ": np.equal,
    "NE": np.not_equal,
}
Program = list[Node]


def evaluate(program: Program, inputs: Sequence[Array]) -> Array:
    """Returns the last node's value, floats in 64 bits, conversions to narrower types rounded."""
    values: list[Array] = []
    for node in program:
        x = [values[i] for i in node.args]
        values.append(_value(node, x, inputs))
    return values[-1]


def _value(node: Node, x: list[Array], inputs: Sequence[Array]) -> Array:
    wide = np.float64 if node.kind in ("f32", "bf16", "f16") else DTYPES[node.kind]
    with np.errstate(all="ignore"):
        if node.op == "parameter":
            return inputs[node.attr].astype(wide)
        if node.op == "constant":
            return np.full(node.dims, np.array(node.attr).astype(DTYPES[node.kind]).astype(wide), wide)
        if node.op in UNARY:
            return UNARY[node.op][1](x[0])
        if node.op in BINARY:
            return BINARY[node.op](*x).astype(wide)
        if node.op == "compare":
            return COMPARE[node.attr](*x)
        if node.op == "select":
            return np.where(*x)
        if node.op == "clamp":
            return np.minimum(np.maximum(x[1], x[0]), x[2])
        if node.op == "convert":
            return x[0].astype(DTYPES[node.kind]).astype(wide)
        if node.op == "transpose":
            return x[0].transpose(node.attr)
        if node.op == "slice":
            return x[0][tuple(slice(a, a + n) for a, n in zip(node.attr, node.dims, strict=True))]
        if node.op == "concatenate":
            return np.concatenate(x, node.attr)
        if node.op == "reverse":
            return np.flip(x[0], node.attr)
        if node.op == "broadcast":
            shape = [1] * len(node.dims)
            for position, size in zip(node.attr, x[0].shape, strict=True):
                shape[position] = size
            return np.broadcast_to(x[0].reshape(shape), node.dims)
        if node.op == "iota":
            return np.broadcast_to(
                np.arange(node.dims[node.attr]).reshape([-1 if i == node.attr else 1 for i in range(len(node.dims))]),
                node.dims,
            ).astype(wide)
        if node.op == "reduce":
            combine, dimension, init = node.attr
            function = {"add": np.add, "maximum": np.maximum, "minimum": np.minimum, "multiply": np.multiply}[combine]
            return function(function.reduce(x[0], dimension), init).astype(wide)
        return x[0] @ x[1]  # dot


def _text(value: Any, kind: str) -> str:
    if kind == "pred":
        return "true" if value else "false"
    return str(int(value)) if kind == "s32" else repr(float(value))


def hlo(program: Program) -> str:
    """Writes a program as HLO."""
    lines, regions = [], []
    for number, node in enumerate(program):
        shape = f"{node.kind}[{','.join(map(str, node.dims))}]"
        args, attr = ", ".join(f"v{i}" for i in node.args), ""
        op = node.op
        if op == "parameter":
            args = str(node.attr)
        elif op == "constant":
            lines.append(f"c{number} = {node.kind}[] constant({_text(node.attr, node.kind)})")
            op, args, attr = "broadcast", f"c{number}", ", dimensions={}"
        elif op == "compare":
            attr = f", direction={node.attr}"
        elif op in ("transpose", "reverse", "broadcast"):
            attr = f", dimensions={{{','.join(map(str, node.attr))}}}"
        elif op == "concatenate":
            attr = f", dimensions={{{node.attr}}}"
        elif op == "slice":
            bounds = ", ".join(f"[{a}:{a + n}]" for a, n in zip(node.attr, node.dims, strict=True))
            attr = f", slice={{{bounds}}}"
        elif op == "iota":
            args, attr = "", f", iota_dimension={node.attr}"
        elif op == "reduce":
            combine, dimension, init = node.attr
            scalar = f"{node.kind}[]"
            regions.append(
                f"r{number} {{\n  a{number} = {scalar} parameter(0)\n  b{number} = {scalar} parameter(1)\n"
                f"  ROOT sum{number} = {scalar} {combine}(a{number}, b{number})\n}}\n"
            )
            written = _text(init, node.kind) if np.isfinite(init) else ("-inf" if init < 0 else "inf")
            lines.append(f"c{number} = {scalar} constant({written})")
            args, attr = f"{args}, c{number}", f", dimensions={{{dimension}}}, to_apply=r{number}"
        elif op == "dot":
            attr = ", lhs_contracting_dims={1}, rhs_contracting_dims={0}"
        lines.append(f"v{number} = {shape} {op}({args}){attr}")
    lines[-1] = f"ROOT {lines[-1]}"
    return "HloModule m\n\n" + "\n".join(regions) + "\nENTRY e {\n  " + "\n  ".join(lines) + "\n}\n"


# An edit of a program at one node; None where it does not fit.
Edit = Callable[[Program, int, random.Random], "Program | None"]


def changed(program: Program, number: int, **fields: Any) -> Program:
    return [replace(node, **fields) if i == number else node for i, node in enumerate(program)]


def inserted(program: Program, number: int, *nodes: Node) -> Program:
    """Inserts nodes after one; they read it as operand -1 and one another as 0, 1, ...; users read the last."""
    count = len(nodes)
    made = [replace(node, args=tuple(number if i == -1 else number + 1 + i for i in node.args)) for node in nodes]
    moved = [
        replace(node, args=tuple(i + count if i >= number else i for i in node.args)) for node in program[number + 1 :]
    ]
    return [*program[: number + 1], *made, *moved]


def substituted(program: Program, number: int, *nodes: Node) -> Program:
    """Replaces a node by others; their operands -1, -2, ... are these nodes themselves, users read the last."""
    count = len(nodes) - 1
    made = [replace(node, args=tuple(i if i >= 0 else number - 1 - i for i in node.args)) for node in nodes]
    moved = [
        replace(node, args=tuple(i + count if i >= number else i for i in node.args)) for node in program[number + 1 :]
    ]
    return [*program[:number], *made, *moved]


def programs() -> dict[str, Program]:
    """Returns the programs in which mistakes are planted."""
    p = [Node("parameter", (), i, "f32", (6, 6)) for i in range(2)]

    def n(op: str, *args: int, attr: Any = None, kind: str = "f32", dims: tuple[int, ...] = (6, 6)) -> Node:
        return Node(op, args, attr, kind, dims)

    integers = [replace(each, kind="s32") for each in p]
    return {
        "elementwise": [*p, n("add", 0, 1), n("tanh", 2), n("constant", attr=0.5), n("multiply", 3, 4), n("subtract", 5, 0), n("abs", 6), n("maximum", 7, 1)],
        "quotients": [*p, n("exponential", 0), n("constant", attr=3.0), n("divide", 2, 3), n("sine", 1), n("subtract", 4, 5), n("negate", 6)],
        "thresholds": [*p, n("constant", attr=1.5), n("compare", 0, 2, attr="GT", kind="pred"), n("floor", 1), n("select", 3, 0, 4), n("minimum", 5, 1)],
        "integers": [*integers, n("constant", attr=1000, kind="s32"), n("compare", 0, 2, attr="LT", kind="pred"), n("add", 0, 1, kind="s32"), n("select", 3, 4, 1, kind="s32"), n("maximum", 5, 2, kind="s32")],
        "one hot": [integers[0], n("iota", attr=1, kind="s32"), n("compare", 0, 1, attr="EQ", kind="pred"), n("constant", attr=2.0), n("constant", attr=-1.0), n("select", 2, 3, 4)],
        "softmax": [*p, n("reduce", 0, attr=("maximum", 1, float("-inf")), dims=(6,)), n("broadcast", 2, attr=(0,)), n("subtract", 0, 3), n("exponential", 4), n("reduce", 5, attr=("add", 1, 0.0), dims=(6,)), n("broadcast", 6, attr=(0,)), n("divide", 5, 7)],
        "product": [*p, n("dot", 0, 1), n("constant", attr=0.0), n("maximum", 2, 3), n("add", 4, 1), n("tanh", 5)],
        "mean": [*p, n("multiply", 0, 1), n("reduce", 2, attr=("add", 0, 0.0), dims=(6,)), n("broadcast", 3, attr=(1,)), n("constant", attr=6.0), n("divide", 4, 5), n("subtract", 0, 6)],
        "movement": [*p, n("transpose", 0, attr=(1, 0)), n("concatenate", 2, 1, attr=0, dims=(12, 6)), n("slice", 3, attr=(2, 0)), n("reverse", 4, attr=(0,)), n("add", 5, 1), n("negate", 6)],
    }  # fmt: skip


# The scales and offsets of the floats of one trial, and values with rules of their own in arithmetic.
_SCALES = (1.0, 1.0, 10.0, 1e2, 1e4, 1e-3, 1e-6, 1e12, 1e30)
_OFFSETS = (0, 0, 0, 0, 3, -3, 100, -100)
_SPECIAL = (np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5)
# Differences that f32 does not show: some units in the last place, and numbers that engines flush to 0.
_ROUNDING, _SMALLEST = 1e-6, float(np.finfo(np.float32).smallest_normal)
_INTEGERS = (0, 1, -1, 5, (1 << 31) - 1, -(1 << 31))


def _inputs(originals: Sequence[Program], rng: np.random.Generator) -> list[Array]:
    """Draws the inputs of one try; constants of all programs and their neighbours are among them."""
    constants = [node.attr for program in originals for node in program if node.op == "constant"]
    return [_drawn(node, constants, rng) for node in originals[0] if node.op == "parameter"]


def _drawn(node: Node, constants: list[Any], rng: np.random.Generator) -> Array:
    if node.kind == "s32":
        near = [int(c) + i for c in constants for i in (-1, 0, 1)] + list(_INTEGERS)
        pools = (rng.integers(-3, 7, node.dims), rng.integers(-(1 << 31), 1 << 31, node.dims))
        return (*pools, rng.choice(near, node.dims))[rng.integers(0, 3)].astype(np.int32)
    array = rng.standard_normal(node.dims) * rng.choice(_SCALES) + rng.choice(_OFFSETS)
    if rng.integers(0, 6) == 0:
        array = rng.integers(-3, 4, node.dims) / 2
    telling = np.array([np.float32(c) for c in constants] + [0.0], np.float32)
    if rng.integers(0, 3) == 0:
        exact = rng.choice(telling, node.dims)
        ends = np.float32(np.inf), np.float32(-np.inf)
        beside = (exact, np.nextafter(exact, ends[0]), np.nextafter(exact, ends[1]), exact * 1.0005)[rng.integers(0, 4)]
        array = np.where(rng.integers(0, 2, node.dims) == 0, beside, array)
    if rng.integers(0, 4) == 0:
        seldom = (2, 4, array.size)[rng.integers(0, 3)]
        array = np.where(rng.integers(0, seldom, node.dims) == 0, rng.choice(_SPECIAL, node.dims), array)
    return array.astype(np.float32)


def really_differ(a: Program, b: Program, tries: int = 400) -> bool:
    """Is true where numpy finds inputs on which the programs, in 64 bits, differ by more than 32 bits can round.

    Signs of zeros count but where the first takes a maximum or minimum, of which engines order the operands at will.
    """
    signed = not any(node.op in ("maximum", "minimum") or (node.op == "reduce" and node.attr[0] != "add") for node in a)
    for number in range(tries):
        inputs = _inputs([a, b], np.random.default_rng(number))
        x, y = (np.asarray(evaluate(each, inputs)).astype(np.float64) for each in (a, b))
        with np.errstate(invalid="ignore"):
            alike = (x == y) | (np.isnan(x) & np.isnan(y))
            if a[-1].kind == "f32":
                alike |= np.abs(x - y) <= _ROUNDING * np.maximum(np.abs(x), np.abs(y)) + _SMALLEST
        if signed:
            alike &= (x != 0) | (y != 0) | (np.signbit(x) == np.signbit(y))
        if not alike.all():
            return True
    return False


def module_of(program: Program, dialect: str, worker: Worker) -> Module:
    """Returns a program as a module; StableHLO is what XLA's own exporter makes of the HLO."""
    text = hlo(program)
    if dialect == "stablehlo":
        text = worker.convert("hlo-to-stablehlo", text.encode()).decode()
    return parse_bytes(text.encode(), f"program.{dialect}")
