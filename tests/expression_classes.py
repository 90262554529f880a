"""Random scalar expressions by the thousand: those that a proof makes one term are executed on the ends of the range.

Every pair of expressions of one type is an attack: n expressions are n * (n - 1) / 2 pairs, of which a proof
calls equal those that share a term.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dialect_utils.execution import Array, Worker, prepare
from dialect_utils.layout import ELEMENT_TYPES
from dialect_utils.layout.arrays.dtypes import as_bits, dtype_of
from dialect_utils.verdict.proof.cases import Cases
from dialect_utils.verdict.proof.rewriter import Rewriter
from dialect_utils.verdict.proof.terms import Term, Terms
from dialect_utils.verdict.terms.walker import walk
from tests.verdict.proof import expressions as ex
from tests.verdict.proof.dialects import parse
from tests.verdict.proof.expressions import E

INTEGERS = ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64")
FLOATS = ("f16", "bf16", "f32", "f64")
KINDS = (*INTEGERS, *FLOATS, "pred")
_DIRECTIONS = ("LT", "LE", "GT", "GE", "EQ", "NE")
_UNARY = {
    "integer": ("negate", "abs", "sign", "not", "popcnt", "count-leading-zeros"),
    "float": ("negate", "abs", "sign", "floor", "ceil", "round-nearest-even", "round-nearest-afz", "sqrt"),
    "pred": ("not",),
}
_BINARY = {
    "integer": (
        *("add", "subtract", "multiply", "maximum", "minimum", "and", "or", "xor", "divide", "remainder"),
        *("shift-left", "shift-right-arithmetic", "shift-right-logical"),
    ),
    "float": ("add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum"),
    "pred": ("and", "or", "xor", "maximum", "minimum", "add", "multiply"),
}
_FLOAT_ENDS = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.0, -2.5, 127.5, 300.0, -300.0, np.inf, -np.inf, np.nan)
_FLOAT_CONSTANTS = ("0", "-0", "1", "-1", "2", "0.5", "-2", "4", "3", "inf", "-inf", "nan", "0.1")


def family(kind: str) -> str:
    return "pred" if kind == "pred" else "integer" if kind in INTEGERS else "float"


def ends(kind: str) -> np.ndarray:
    """Returns the numbers at which rules break: both zeros, the ends of the range, subnormals, NaN."""
    if kind == "pred":
        return np.array([False, True])
    dtype = dtype_of(ELEMENT_TYPES[kind])
    if kind in INTEGERS:
        info = np.iinfo(dtype)
        near = {0, 1, 2, 3, 7, info.bits - 1, info.bits, info.max, info.max - 1, info.min, info.min + 1, info.max // 2}
        return np.array(sorted(near | ({-1, -2, -3} if info.min else set())), dtype)
    bits = np.dtype(f"u{dtype.itemsize}")
    subnormal = np.array([1, 3], bits).view(dtype)
    with np.errstate(over="ignore"):
        found = np.array([*_FLOAT_ENDS, {"f16": 65504.0}.get(kind, 3e38), 6e-5], np.float64).astype(dtype)
    return np.concatenate([found, -found, subnormal, -subnormal])


class Source:
    """Random expressions over x, y (all pairs of ends of a type), p and q."""

    def __init__(self, rng: random.Random, kind: str) -> None:
        self.rng = rng
        self.values = ends(kind)
        count = len(self.values) ** 2
        self.leaves = {kind: [ex.parameter(0, kind, (count,)), ex.parameter(1, kind, (count,))]}
        self.leaves.setdefault("pred", []).extend(ex.parameter(i, "pred", (count,)) for i in (2, 3))
        self.dims = (count,)
        self.made: dict[str, list[E]] = {kind: list(leaves) for kind, leaves in self.leaves.items()}

    @property
    def parameters(self) -> list[E]:
        return sorted((e for leaves in self.leaves.values() for e in leaves), key=lambda e: int(e.literal))

    def inputs(self, seed: int) -> list[Array]:
        rng = np.random.default_rng(seed)
        first, second = np.meshgrid(self.values, self.values)
        truths = rng.integers(0, 2, (2, *self.dims)).astype(bool)
        return [first.reshape(-1), second.reshape(-1), truths[0], truths[1]]

    def grown(self, kind: str) -> E:
        """Returns a new expression of a type over those that there are."""
        rng = self.rng
        choice = rng.random()
        if choice < 0.12 and family(kind) != "pred":
            return ex.convert(self.taken(rng.choice(KINDS)), kind)
        if choice < 0.24:
            return ex.select(self.taken("pred"), self.taken(kind), self.taken(kind))
        if kind == "pred" and choice < 0.75:
            compared = rng.choice([each for each in self.made if self.made[each]])
            return ex.compare(rng.choice(_DIRECTIONS), self.taken(compared), self.taken(compared))
        if kind != "pred" and choice < 0.3:
            return ex.clamp(self.taken(kind), self.taken(kind), self.taken(kind))
        if choice < 0.45:
            opcode = rng.choice(_UNARY[family(kind)])
            is_own = opcode in ("abs", "sign") and kind[0] == "u"
            return self.taken(kind) if is_own else ex.unary(opcode, self.taken(kind))
        opcode = rng.choice(_BINARY[family(kind)])
        second = self.taken(kind)
        if opcode in ("divide", "remainder") and family(kind) == "integer":
            # The result of a division by 0 is undefined.
            second = ex.full(kind, rng.choice((1, 2, 3, 7)), self.dims)
        return ex.binary(opcode, self.taken(kind), second)

    def taken(self, kind: str) -> E:
        """Returns an expression: a leaf or a constant as often as something that was made."""
        pool, leaves = self.made.get(kind, []), self.leaves.get(kind, [])
        choice = self.rng.random()
        if leaves and choice < 0.4:
            return self.rng.choice(leaves)
        if pool and choice < 0.8:
            return self.rng.choice(pool)
        return self.constant(kind)

    def constant(self, kind: str) -> E:
        found = {"pred": ("true", "false"), "float": _FLOAT_CONSTANTS}.get(family(kind))
        if found is None:
            low, high = np.iinfo(dtype_of(ELEMENT_TYPES[kind])).min, np.iinfo(dtype_of(ELEMENT_TYPES[kind])).max
            found = tuple(map(str, (0, 1, 2, 3, low, high, high // 2, *((-1, -2) if low else ()))))
        return ex.full(kind, self.rng.choice(found), self.dims)

    def expressions(self, count: int) -> list[E]:
        """Returns that many new expressions of any type."""
        found = []
        kinds = [self.parameters[0].type] * 4 + ["pred"] + [self.rng.choice(KINDS) for _ in range(2)]
        for _ in range(count):
            kind = self.rng.choice(kinds)
            made = self.grown(kind)
            self.made.setdefault(kind, []).append(made)
            found.append(made)
        return found


def terms_of(text: str) -> tuple[Terms, list[Term]]:
    """Returns the terms of a module's results, of one graph."""
    module, terms = parse(text), Terms()
    inputs = [
        terms.make("leaf", ("parameter", i), p.shape.without_layout) for i, p in enumerate(module.entry.parameters)
    ]
    results, _ = walk(Rewriter(terms), module, inputs)
    return terms, [*map(terms.term, results)]


@dataclass(frozen=True)
class Attacks:
    """The number of pairs, the number of pairs called equal, and those of them whose results differ."""

    pairs: int
    told_equal: int
    wrong: list[str]


def attacks(worker: Worker, kind: str, seed: int, count: int) -> Attacks:
    """Compares random expressions over inputs of a type with each other."""
    source = Source(random.Random(f"{kind} {seed}"), kind)
    roots = [*source.leaves[kind], *source.expressions(count)]
    text = ex.module(*roots, parameters=source.parameters)
    graph, terms = terms_of(text)
    [found] = worker.run(prepare(parse(text), "m"), [source.inputs(seed)], engine="interpreter", timeout=600)
    pairs = [*_of_one_term(terms), *_by_cases(graph, terms, source.rng)]
    wrong = []
    for one, other in pairs:
        at = _apart(found[one], found[other])
        if at is not None:
            data = [each[at] for each in source.inputs(seed)]
            texts = [ex.module(roots[i], parameters=source.parameters) for i in (one, other)]
            wrong.append(f"{kind}: at {data}: {found[one][at]} and {found[other][at]}\n" + "\n".join(texts))
    return Attacks(len(roots) * (len(roots) - 1) // 2, len(pairs), wrong)


def _of_one_term(terms: Sequence[Term]) -> list[tuple[int, int]]:
    """Returns pairs of expressions that are one term."""
    first: dict[Term, int] = {}
    return [(first[term], i) for i, term in enumerate(terms) if first.setdefault(term, i) != i]


def _by_cases(graph: Terms, terms: Sequence[Term], rng: random.Random) -> list[tuple[int, int]]:
    """Returns pairs of expressions that are told equal by cases, of some neighbours in the order of their terms."""
    cases = Cases(graph, lambda first, second: first is second)
    order = sorted(range(len(terms)), key=lambda i: (str(terms[i].shape), rng.random()))
    return [
        (one, other)
        for one, other in pairwise(order)
        if terms[one] is not terms[other] and terms[one].shape == terms[other].shape
        if cases.same(terms[one], terms[other])
    ]


def _apart(first: Array, second: Array) -> int | None:
    """Returns a place at which two arrays differ, any NaN like any other, or None."""
    with np.errstate(invalid="ignore"):
        both_nan = (first != first) & (second != second)
    differing = np.flatnonzero((as_bits(first) != as_bits(second)) & ~both_nan)
    return int(differing[0]) if differing.size else None
