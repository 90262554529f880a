"""Correct rewrites: each an edit at one node that leaves what a program computes, but for the order of sums."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from tests.campaign_verdict.programs import Edit, Node, Program, inserted, substituted

# Under these a comparison says the same with its operands swapped.
_MIRRORED = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "EQ": "EQ", "NE": "NE"}
_OPPOSITES = {"LT": "GE", "GE": "LT", "GT": "LE", "LE": "GT", "EQ": "NE", "NE": "EQ"}
_RANK = 2


def _is_matrix(node: Node) -> bool:
    return len(node.dims) == _RANK and node.kind != "pred"


def _after(make: Callable[[Node], list[Node] | None]) -> Edit:
    """Inserts nodes after any array of numbers with two dimensions."""

    def edit(program: Program, n: int, rng: random.Random) -> Program | None:
        made = make(program[n]) if _is_matrix(program[n]) else None
        return inserted(program, n, *made) if made else None

    return edit


def _twice(op: str, attr: object = None) -> Edit:
    def make(node: Node) -> list[Node]:
        return [replace(node, op=op, args=(-1,), attr=attr), replace(node, op=op, args=(0,), attr=attr)]

    return _after(make)


def _transposed_twice(node: Node) -> list[Node]:
    there = Node("transpose", (-1,), (1, 0), node.kind, node.dims[::-1])
    return [there, Node("transpose", (0,), (1, 0), node.kind, node.dims)]


def _cut_from_a_larger_one(node: Node) -> list[Node]:
    whole = Node("concatenate", (-1, -1), 0, node.kind, (2 * node.dims[0], node.dims[1]))
    return [whole, Node("slice", (0,), (node.dims[0], 0), node.kind, node.dims)]


def _joined_of_halves(node: Node) -> list[Node] | None:
    rows, columns = node.dims
    parts = [Node("slice", (-1,), (start, 0), node.kind, (rows // 2, columns)) for start in (0, rows // 2)]
    return [*parts, replace(node, op="concatenate", args=(0, 1), attr=0)] if rows % 2 == 0 else None


def _selected_alike(node: Node) -> list[Node]:
    compared = Node("compare", (-1, -1), "EQ", "pred", node.dims)
    return [compared, replace(node, op="select", args=(0, -1, -1), attr=None)]


def _with(op: str, value: float) -> Edit:
    def make(node: Node) -> list[Node] | None:
        if node.kind != "f32":
            return None
        return [Node("constant", (), value, "f32", node.dims), Node(op, (-1, 0), None, "f32", node.dims)]

    return _after(make)


def _at(op: str, make: Callable[[Node, Program], list[Node] | None]) -> Edit:
    """Replaces nodes of one opcode."""

    def edit(program: Program, n: int, rng: random.Random) -> Program | None:
        made = make(program[n], program) if program[n].op == op else None
        return substituted(program, n, *made) if made else None

    return edit


def _commuted(node: Node, program: Program) -> list[Node] | None:
    a, b = node.args
    return [replace(node, args=(b, a))] if a != b else None


def _mirrored(node: Node, program: Program) -> list[Node]:
    return [replace(node, args=node.args[::-1], attr=_MIRRORED[node.attr])]


def _negated_and_added(node: Node, program: Program) -> list[Node]:
    a, b = node.args
    return [replace(node, op="negate", args=(b,)), replace(node, op="add", args=(a, -1))]


def _sum_of_halves(node: Node, program: Program) -> list[Node] | None:
    if node.kind != "f32":
        return None
    return [replace(node, attr=node.attr / 2), replace(node, op="add", args=(-1, -1), attr=None)]


def _reduced_by_halves(node: Node, program: Program) -> list[Node]:
    combine, dimension, _ = node.attr
    source = program[node.args[0]]
    half = source.dims[dimension] // 2
    dims = tuple(half if i == dimension else size for i, size in enumerate(source.dims))
    starts = [tuple(start if i == dimension else 0 for i in range(_RANK)) for start in (0, half)]
    slices = [Node("slice", node.args, start, source.kind, dims) for start in starts]
    sums = [replace(node, args=(-1,)), replace(node, args=(-2,))]
    return [*slices, *sums, replace(node, op=combine, args=(-3, -4), attr=None)]


def _reduced_after_a_transpose(node: Node, program: Program) -> list[Node]:
    combine, dimension, init = node.attr
    source = program[node.args[0]]
    moved = Node("transpose", node.args, (1, 0), source.kind, source.dims[::-1])
    return [moved, replace(node, args=(-1,), attr=(combine, 1 - dimension, init))]


def _product_of_transposes(node: Node, program: Program) -> list[Node]:
    moved = [Node("transpose", (i,), (1, 0), node.kind, program[i].dims[::-1]) for i in node.args]
    product = replace(node, args=(-2, -1), dims=node.dims[::-1])
    return [*moved, product, Node("transpose", (-3,), (1, 0), node.kind, node.dims)]


def _product_in_halves(node: Node, program: Program) -> list[Node]:
    a, b = node.args
    (rows, depth), columns = program[a].dims, program[b].dims[1]
    half = depth // 2
    left = [Node("slice", (a,), (0, start), node.kind, (rows, half)) for start in (0, half)]
    right = [Node("slice", (b,), (start, 0), node.kind, (half, columns)) for start in (0, half)]
    products = [replace(node, args=(-1, -3)), replace(node, args=(-2, -4))]
    return [*left, *right, *products, replace(node, op="add", args=(-5, -6))]


def _opposite(node: Node, program: Program) -> list[Node] | None:
    """Takes the other branches of a select of the opposite comparison; floats have NaN, so of them only EQ and NE."""
    compare = program[node.args[0]]
    known = _OPPOSITES if program[compare.args[0]].kind == "s32" else {"EQ": "NE", "NE": "EQ"}
    if compare.attr not in known:
        return None
    return [replace(compare, attr=known[compare.attr]), replace(node, args=(-1, node.args[2], node.args[1]))]


REWRITES: dict[str, Edit] = {
    "copied": _after(lambda node: [replace(node, op="copy", args=(-1,), attr=None)]),
    "negated twice": _twice("negate"),
    "transposed twice": _after(_transposed_twice),
    "reversed twice": _twice("reverse", (0,)),
    "cut from a larger array": _after(_cut_from_a_larger_one),
    "joined of halves": _after(_joined_of_halves),
    "selected of two alike": _after(_selected_alike),
    "times 1": _with("multiply", 1.0),
    "divided by 1": _with("divide", 1.0),
    "minus 0": _with("subtract", 0.0),
    "at most infinity": _with("minimum", float("inf")),
    **{f"operands of {op} swapped": _at(op, _commuted) for op in ("add", "multiply", "maximum", "minimum")},
    "comparison from the other side": _at("compare", _mirrored),
    "opposite comparison": _at("select", _opposite),
    "subtraction as addition": _at("subtract", _negated_and_added),
    "constant of two halves": _at("constant", _sum_of_halves),
    "reduced by halves": _at("reduce", _reduced_by_halves),
    "reduced after a transpose": _at("reduce", _reduced_after_a_transpose),
    "product of transposes": _at("dot", _product_of_transposes),
    "product in halves": _at("dot", _product_in_halves),
}
