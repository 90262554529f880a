"""Mistakes: each an edit that a wrong rewrite could make at one node of a program."""

# ruff: noqa: E501  # a table: one row for each kind of mistake

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from tests.campaign_verdict.programs import Edit, Node, Program, changed, inserted


def _renamed(old: str, new: str) -> Edit:
    return lambda program, n, rng: changed(program, n, op=new) if program[n].op == old else None


def _direction(old: str, new: str) -> Edit:
    def mutate(program: Program, n: int, rng: random.Random) -> Program | None:
        node = program[n]
        return changed(program, n, attr=new) if node.op == "compare" and node.attr == old else None

    return mutate


def _constant(change: Callable[[Any], Any]) -> Edit:
    def mutate(program: Program, n: int, rng: random.Random) -> Program | None:
        node = program[n]
        if node.op != "constant" or node.kind == "pred" or change(node.attr) == node.attr:
            return None
        return changed(program, n, attr=change(node.attr))

    return mutate


def _through(kind: str) -> Edit:
    def mutate(program: Program, n: int, rng: random.Random) -> Program | None:
        node = program[n]
        if node.kind != "f32" or node.op == "constant":
            return None
        there = Node("convert", (-1,), None, kind, node.dims)
        return inserted(program, n, there, Node("convert", (0,), None, "f32", node.dims))

    return mutate


def _scaled(op: str, factor: float) -> Edit:
    def mutate(program: Program, n: int, rng: random.Random) -> Program | None:
        node = program[n]
        if node.kind != "f32":
            return None
        return inserted(
            program, n, Node("constant", (), factor, "f32", node.dims), Node(op, (-1, 0), None, "f32", node.dims)
        )

    return mutate


def _unary(op: str) -> Edit:
    def mutate(program: Program, n: int, rng: random.Random) -> Program | None:
        node = program[n]
        return inserted(program, n, Node(op, (-1,), None, node.kind, node.dims)) if node.kind == "f32" else None

    return mutate


def _operands(op: str, order: tuple[int, ...]) -> Edit:
    def mutate(program: Program, n: int, rng: random.Random) -> Program | None:
        node = program[n]
        if node.op != op or len(node.args) != len(order):
            return None
        args = tuple(node.args[i] for i in order)
        if any(program[a].dims != program[b].dims for a, b in zip(args, node.args, strict=True)) or args == node.args:
            return None
        return changed(program, n, args=args)

    return mutate


def _reduce(change: Callable[[Any, Any, Any], Any]) -> Edit:
    def mutate(program: Program, n: int, rng: random.Random) -> Program | None:
        node = program[n]
        if node.op != "reduce" or change(*node.attr) == node.attr:
            return None
        return changed(program, n, attr=change(*node.attr))

    return mutate


def _attribute(op: str, change: Callable[[Node, Program], Any]) -> Edit:
    def mutate(program: Program, n: int, rng: random.Random) -> Program | None:
        node = program[n]
        made = change(node, program) if node.op == op else None
        return None if made is None or made == node.attr else changed(program, n, attr=made)

    return mutate


def _omitted(program: Program, n: int, rng: random.Random) -> Program | None:
    node = program[n]
    alike = [i for i in node.args if (program[i].kind, program[i].dims) == (node.kind, node.dims)]
    return changed(program, n, op="copy", args=(alike[0],), attr=None) if alike and node.op != "copy" else None


def _nan_to_zero(program: Program, n: int, rng: random.Random) -> Program | None:
    node = program[n]
    if node.kind != "f32":
        return None
    zero = Node("constant", (), 0.0, "f32", node.dims)
    return inserted(
        program,
        n,
        zero,
        Node("compare", (-1, -1), "EQ", "pred", node.dims),
        Node("select", (1, -1, 0), None, "f32", node.dims),
    )


def _saturated(limit: float) -> Edit:
    def mutate(program: Program, n: int, rng: random.Random) -> Program | None:
        node = program[n]
        if node.kind != "f32":
            return None
        bound = Node("constant", (), limit, "f32", node.dims)
        return inserted(program, n, bound, Node("minimum", (-1, 0), None, "f32", node.dims))

    return mutate


def _shifted_slice(node: Node, program: Program) -> Any:
    source = program[node.args[0]].dims
    starts = tuple(a + 1 if a + n < size else a for a, n, size in zip(node.attr, node.dims, source, strict=True))
    return starts


MISTAKES: dict[str, Edit] = {
    **{f"{a} for {b}": _renamed(b, a) for a, b in [("subtract", "add"), ("add", "subtract"), ("divide", "multiply"), ("multiply", "divide"), ("minimum", "maximum"), ("maximum", "minimum"), ("maximum", "add"), ("exponential-minus-one", "exponential"), ("sine", "tanh"), ("cosine", "sine"), ("abs", "negate"), ("negate", "abs"), ("ceil", "floor"), ("sign", "tanh")]},
    **{f"{b} for {a}": _direction(a, b) for a, b in [("LT", "LE"), ("LE", "LT"), ("GT", "GE"), ("GE", "GT"), ("EQ", "NE"), ("LT", "GT"), ("GT", "LT")]},
    "constant + 1": _constant(lambda c: c + 1),
    "constant - 1": _constant(lambda c: c - 1),
    "constant negated": _constant(lambda c: -c),
    "constant doubled": _constant(lambda c: c * 2),
    "constant zero": _constant(lambda c: type(c)(0)),
    "constant a little larger": _constant(lambda c: c * 1.001 if isinstance(c, float) else c),
    "through bf16": _through("bf16"),
    "through f16": _through("f16"),
    "through s32": _through("s32"),
    "times 1.02": _scaled("multiply", 1.02),
    "times 1.003": _scaled("multiply", 1.003),
    "plus 1e-3": _scaled("add", 1e-3),
    "at least 0": _scaled("maximum", 0.0),
    "at most 8": _saturated(8.0),
    "at most 1e4": _saturated(1e4),
    "absolute": _unary("abs"),
    "negated": _unary("negate"),
    "floored": _unary("floor"),
    "NaN becomes 0": _nan_to_zero,
    "omitted": _omitted,
    "operands of subtract swapped": _operands("subtract", (1, 0)),
    "operands of divide swapped": _operands("divide", (1, 0)),
    "operands of compare swapped": _operands("compare", (1, 0)),
    "branches of select swapped": _operands("select", (0, 2, 1)),
    "one branch of select": _operands("select", (0, 1, 1)),
    "add of one operand": _operands("add", (0, 0)),
    "multiply of one operand": _operands("multiply", (1, 1)),
    "operands of concatenate swapped": _operands("concatenate", (1, 0)),
    "slice shifted": _attribute("slice", _shifted_slice),
    "transpose left as it was": _attribute("transpose", lambda n, p: tuple(sorted(n.attr)) if len(set(n.dims)) == 1 else None),
    "other iota dimension": _attribute("iota", lambda n, p: 1 - n.attr),
    "other dimension reversed": _attribute("reverse", lambda n, p: tuple(1 - i for i in n.attr)),
    "other dimension broadcast": _attribute("broadcast", lambda n, p: tuple(1 - i for i in n.attr) if n.dims[0] == n.dims[1] else None),
    "sum for maximum": _reduce(lambda c, d, i: ("add", d, 0.0) if c == "maximum" else (c, d, i)),
    "maximum for sum": _reduce(lambda c, d, i: ("maximum", d, float("-inf")) if c == "add" else (c, d, i)),
    "other initial value": _reduce(lambda c, d, i: (c, d, 1.0 if c == "add" else 0.0)),
    "initial value 20": _reduce(lambda c, d, i: (c, d, 20.0) if c == "maximum" else (c, d, i)),
}  # fmt: skip
