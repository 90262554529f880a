"""Steps of proofs, and each step with one part of its terms changed."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import permutations
from typing import Any

from dialect_utils.layout import ArrayShape, Pad, Reshape, Slice, Step as MovementStep, Transpose
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.certificate import Certificate, ReadTerm, Step, certificate_text, read_certificate
from dialect_utils.verdict.proof import try_prove
from tests.verdict.proof import expressions as ex
from tests.verdict.proof.dialects import parse
from tests.verdict.proof.rewrites import REWRITES, Case
from tests.verdict.proof.test_array_rules import INSTANCES
from tests.verdict.proof.test_own_rewrites import REWRITES as OWN
from tests.verdict.replay.forging import array, constant, in_order, moved, parameter, step, term

# Steps of one rule, the smallest ones, and changed forms of one step.
_STEPS, _DEEPEST = 6, 3
_SWAPPED = {
    "add": "subtract",
    "subtract": "add",
    "multiply": "add",
    "maximum": "minimum",
    "minimum": "maximum",
    "and": "or",
    "or": "and",
    "LT": "LE",
    "GT": "GE",
    "convert": "negate",
    "negate": "abs",
}


def _pairs() -> Iterator[tuple[str, str]]:
    for sides in OWN.values():
        yield _texts(*sides)
    rng = random.Random(1)
    for rewrite in REWRITES:
        if rewrite.exact:
            left, right, _ = rewrite.make(Case(rewrite.exact[0], max(rewrite.least_rank, 2), rng))
            yield _texts(left, right)
    for make in INSTANCES.values():
        for seed in range(3):
            first, second, _ = make(random.Random(seed))
            yield first, second


def _texts(*sides: ex.E) -> tuple[str, str]:
    parameters = ex.parameters_of(*sides)
    first, second = (ex.module(side, parameters=parameters) for side in sides)
    return first, second


LEFT, RIGHT = parameter(0, "f32", 1, 4, 6), parameter(1, "f32", 1, 6, 6)
MATRIX, TABLE, ROWS = parameter(0, "f32", 6, 6), parameter(0, "s32", 4, 4, 6), parameter(1, "s32", 3)
PRODUCT, ZERO, CHOICE = array("f32", 1, 4, 6), constant(0, "f32"), parameter(2, "pred")
NEGATED = term("each", "negate", array("f32", 6, 6), MATRIX)
_HALVES = (0, 2, 1)


def _dot(left: ReadTerm, right: ReadTerm) -> ReadTerm:
    return term("op", ("dot", ()), PRODUCT, left, right)


def _total(matrix: ReadTerm) -> ReadTerm:
    return term("op", ("reduce", "add"), array("f32", 6), matrix, ZERO)


def _gathered(table: ReadTerm) -> ReadTerm:
    return term("op", ("gather", (1, 1), ()), array("s32", 3, 1, 1, 6), table, ROWS, ROWS)


# Steps of rules that no pair above uses.
WRITTEN = (
    step("dot-order", _dot(LEFT, RIGHT), _dot(in_order(LEFT, (4, 2, 3), _HALVES), in_order(RIGHT, (6, 2, 3), _HALVES))),
    step(
        "dot-order",
        _dot(LEFT, RIGHT),
        moved(
            _dot(in_order(LEFT, (2, 2, 6), (1, 0, 2)), RIGHT),
            Reshape((2, 2, 6)),
            Transpose((1, 0, 2)),
            Reshape((1, 4, 6)),
        ),
    ),
    step("reduction-order", _total(MATRIX), _total(in_order(MATRIX, (6, 2, 3), _HALVES))),
    step(
        "reduction-order",
        _total(MATRIX),
        moved(_total(in_order(MATRIX, (2, 3, 6), (1, 0, 2))), Reshape((3, 2)), Transpose((1, 0)), Reshape((6,))),
    ),
    step(
        "window-order",
        _gathered(TABLE),
        moved(
            _gathered(in_order(TABLE, (4, 4, 2, 3), (0, 1, 3, 2))),
            Reshape((3, 3, 2)),
            Transpose((0, 2, 1)),
            Reshape((3, 1, 1, 6)),
        ),
    ),
    step(
        "branches",
        term("each", "select", array("f32", 6, 6), term("splat", None, array("pred", 6, 6), CHOICE), MATRIX, NEGATED),
        term("choice", None, array("f32", 6, 6), CHOICE, MATRIX, NEGATED),
    ),
    step("one-branch", term("choice", None, array("f32", 6, 6), CHOICE, MATRIX, MATRIX), MATRIX),
)


@cache
def steps_of_proofs() -> dict[str, list[Step]]:
    """Returns the smallest steps of each rule in proofs of our rewrites and of the instances of all rules."""
    found: dict[str, dict[str, Step]] = {}
    for written in WRITTEN:
        found.setdefault(written.rule, {})[str(len(found))] = written
    for first, second in _pairs():
        certificate = try_prove([parse(first), parse(second)]).certificate
        if certificate is not None:
            for one in read_certificate(certificate_text(certificate)).steps:
                text = certificate_text(Certificate((replace(one, place=None),), ({}, {})))
                found.setdefault(one.rule, {})[text] = one
    return {rule: [texts[text] for text in sorted(texts, key=len)[:_STEPS]] for rule, texts in sorted(found.items())}


def varied(one: Step) -> Iterator[Step]:
    """Yields the step with one part of one of its terms changed."""
    others = {id(part): part for side in (one.before, one.after) for part in _parts(side, _DEEPEST)}
    for before in _changed(one.before, [*others.values()], _DEEPEST):  # type: ignore[arg-type]  # read from a text
        yield replace(one, before=before)
    for after in _changed(one.after, [*others.values()], _DEEPEST):  # type: ignore[arg-type]
        yield replace(one, after=after)


def _parts(term: Any, depth: int) -> Iterator[ReadTerm]:
    yield term
    if depth:
        for operand in term.operands:
            yield from _parts(operand, depth - 1)


def _changed(term: ReadTerm, others: list[ReadTerm], depth: int) -> Iterator[ReadTerm]:
    """Yields forms of a term: replaced by a part of the step, with another label, type or operands."""
    yield from (each for each in others if each is not term and each.shape == term.shape)
    if isinstance(term.shape, ArrayShape) and term.kind in ("leaf", "constant"):
        yield ReadTerm("leaf", ("parameter", 7), term.shape, ())
        return
    for label in _labels(term.label):
        shape = ArrayShape(*label.result) if isinstance(label, Plan) else term.shape
        yield replace(term, label=label, shape=shape)
    for i, operand in enumerate(term.operands):
        if len(term.operands) > 1:
            yield replace(term, operands=(*term.operands[:i], *term.operands[i + 1 :]))
        for j in range(i):
            swapped = [*term.operands]
            swapped[i], swapped[j] = swapped[j], swapped[i]
            yield replace(term, operands=tuple(swapped))
        if depth:
            for other in _changed(operand, others, depth - 1):
                yield replace(term, operands=(*term.operands[:i], other, *term.operands[i + 1 :]))


def _labels(label: Hashable) -> Iterator[Any]:
    """Yields labels with one part changed."""
    if isinstance(label, bool):
        yield not label
    elif isinstance(label, int):
        yield from (label + 1, label - 1)
    elif isinstance(label, str):
        if label in _SWAPPED:
            yield _SWAPPED[label]
    elif isinstance(label, frozenset):
        yield from (label - {each} for each in label)
        yield from (label | {i} for i in range(3) if i not in label)
    elif isinstance(label, Plan):
        yield from _plans(label)
    elif isinstance(label, tuple):
        for i, part in enumerate(label):
            for other in _labels(part):
                yield (*label[:i], other, *label[i + 1 :])
        yield label[::-1]


def _plans(plan: Plan) -> Iterator[Plan]:
    """Yields plans with one step changed or left out, whose later steps still apply."""
    for i, movement in enumerate(plan.steps):
        for steps in ([], *([other] for other in _movements(movement))):
            paddings = plan.paddings[i : i + len(steps)]
            with suppress(ValueError, AssertionError, DiagnosticError, IndexError):
                made = Plan(
                    plan.element_type,
                    plan.dimensions,
                    (*plan.steps[:i], *steps, *plan.steps[i + 1 :]),
                    (*plan.paddings[:i], *paddings, *plan.paddings[i + 1 :]),
                )
                if made.result is not None:
                    yield made


def _movements(movement: MovementStep) -> Iterator[MovementStep]:
    match movement:
        case Transpose(permutation=order):
            yield from (Transpose(other) for other in permutations(order) if other != order)
        case Reshape(dimensions=sizes):
            yield from (Reshape(other) for other in sorted({*permutations(sizes)} - {sizes}))
        case Slice(start=start, limit=limit):
            for i in range(len(start)):
                for by in (1, -1):
                    yield replace(movement, start=_moved(start, i, by), limit=_moved(limit, i, by))
        case Pad(low=low, high=high):
            for i in range(len(low)):
                yield replace(movement, low=_moved(low, i, 1), high=_moved(high, i, -1))


def _moved(numbers: tuple[int, ...], i: int, by: int) -> tuple[int, ...]:
    return (*numbers[:i], numbers[i] + by, *numbers[i + 1 :])
