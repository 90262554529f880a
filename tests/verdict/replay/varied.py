"""Steps of proofs, and each step with one part of its terms changed."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import permutations
from typing import Any

from dialect_utils.hlo.parse import parse_module
from dialect_utils.layout import (
    ArrayShape,
    Pad,
    Reshape,
    Slice,
    Step as MovementStep,
    Transpose,
    TupleShape,
    parse_element_type,
)
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.certificate import Certificate, ReadTerm, Step, certificate_text, read_certificate
from dialect_utils.verdict.partition import partitions_of
from dialect_utils.verdict.proof import try_prove
from tests.verdict.proof import expressions as ex
from tests.verdict.proof.dialects import parse
from tests.verdict.proof.rewrites import REWRITES, Case
from tests.verdict.proof.test_array_rules import INSTANCES
from tests.verdict.proof.test_own_rewrites import REWRITES as OWN
from tests.verdict.replay.forging import array, constant, in_order, moved, parameter, step, term
from tests.verdict.test_partitioned import UNEVEN, WHOLE_UNEVEN

# For each rule, so many kinds of steps, and steps of one kind; and the depth of the parts that change.
_STEPS, _ALIKE, _DEEPEST = 8, 2, 3
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


# Element types that hold other numbers.
_OTHER_TYPES = {"f32": "bf16", "bf16": "f32", "f16": "bf16", "s32": "s8", "s8": "s32", "u8": "u32", "u32": "u8"}


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
LINES = parameter(2, "s32", 3)
SQUARE, UPDATES = parameter(0, "s32", 4, 4, 4), parameter(3, "s32", 3, 1, 1, 4)
_BOUND = [term("leaf", ("bound", 0, i), array("s32")) for i in range(2)]
ADDED = term(
    "op", ("function", 0, (array("s32"), array("s32")), 1), TupleShape(()), term("each", "add", array("s32"), *_BOUND)
)
TURNED = (1, 0, 2)
NEGATED = term("each", "negate", array("f32", 6, 6), MATRIX)
_HALVES = (0, 2, 1)


def _dot(left: ReadTerm, right: ReadTerm) -> ReadTerm:
    return term("op", ("dot", ()), PRODUCT, left, right)


def _total(matrix: ReadTerm) -> ReadTerm:
    return term("op", ("reduce", "add"), array("f32", 6), matrix, ZERO)


def _scattered(into: ReadTerm, columns: tuple[ReadTerm, ...], updates: ReadTerm) -> ReadTerm:
    made = term("op", ("scatter", 1, ()), TupleShape((into.shape,)), into, *columns, updates, ADDED)
    return term("out", 0, into.shape, made)


def _gathered(table: ReadTerm) -> ReadTerm:
    return term("op", ("gather", (1, 1), ()), array("s32", 3, 1, 1, 6), table, ROWS, ROWS)


WINDOW = term("op", ("dynamic-slice",), array("f32", 2, 3), MATRIX, *(parameter(i, "s32") for i in (3, 4)))
# Steps that no pair above uses.
WRITTEN = (
    step("dynamic-slice", WINDOW, moved(WINDOW, Reshape((2, 3)))),
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
        "indexed-dimensions",
        _scattered(SQUARE, (ROWS, LINES), UPDATES),
        moved(
            _scattered(moved(SQUARE, Transpose(TURNED)), (LINES, ROWS), moved(UPDATES, Transpose((0, 2, 1, 3)))),
            Transpose(TURNED),
        ),
    ),
    step(
        "window-order",
        _scattered(SQUARE, (ROWS, LINES), UPDATES),
        moved(
            _scattered(
                in_order(SQUARE, (4, 4, 2, 2), (0, 1, 3, 2)), (ROWS, LINES), in_order(UPDATES, (3, 2, 2), (0, 2, 1))
            ),
            Reshape((4, 4, 2, 2)),
            Transpose((0, 1, 3, 2)),
            Reshape((4, 4, 4)),
        ),
    ),
    step(
        "columns",
        _scattered(SQUARE, (ROWS, LINES), UPDATES),
        term(
            "op",
            ("concatenate", 2),
            array("s32", 4, 4, 4),
            *(
                _scattered(
                    moved(SQUARE, Slice((0, 0, i), (4, 4, i + 1))),
                    (ROWS, LINES),
                    moved(UPDATES, Slice((0, 0, 0, i), (3, 1, 1, i + 1))),
                )
                for i in range(4)
            ),
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
        texts = found.setdefault(written.rule, {})
        texts[str(len(texts))] = written
    for first, second in _pairs():
        certificate = try_prove([parse(first), parse(second)]).certificate
        if certificate is not None:
            for one in read_certificate(certificate_text(certificate)).steps:
                text = certificate_text(Certificate((replace(one, place=None),), ({}, {})))
                found.setdefault(one.rule, {})[text] = one
    for one in partitioned_steps():
        text = certificate_text(Certificate((replace(one, place=None),), ({}, {})))
        found.setdefault(one.rule, {})[text] = one
    return {rule: _chosen(texts) for rule, texts in sorted(found.items())}


def partitioned_steps() -> Iterator[Step]:
    """Yields the steps of a proof about a program for several devices, whose parts are padded."""
    modules = [parse_module(text, "m.hlo") for text in (WHOLE_UNEVEN, UNEVEN)]
    certificate = try_prove(modules, partition=next(partitions_of(*modules))).certificate
    assert certificate is not None
    yield from read_certificate(certificate_text(certificate)).steps


def _chosen(texts: dict[str, Step]) -> list[Step]:
    """Returns the smallest steps for each pair of kinds of operations, and not too many."""
    chosen: dict[str, list[Step]] = {}
    for text in sorted(texts, key=len):
        kinds = str([_head(part) for side in (texts[text].before, texts[text].after) for part in parts(side, 1)])
        if len(same := chosen.setdefault(kinds, [])) < _ALIKE:
            same.append(texts[text])
    return [one for same in [*chosen.values()][:_STEPS] for one in same]


def _head(term: ReadTerm) -> tuple[str, str]:
    """Returns the kind and the operation of a term."""
    head = term.label[0] if isinstance(term.label, tuple) and term.label else term.label
    return term.kind, head if isinstance(head, str) else ""


def varied(one: Step) -> Iterator[Step]:
    """Yields the step with one part of one of its terms changed."""
    others = {id(part): part for side in (one.before, one.after) for part in parts(side, _DEEPEST)}
    for before in _changed(one.before, [*others.values()], _DEEPEST):  # type: ignore[arg-type]  # read from a text
        yield replace(one, before=before)
    for after in _changed(one.after, [*others.values()], _DEEPEST):  # type: ignore[arg-type]
        yield replace(one, after=after)


def parts(term: Any, depth: int) -> Iterator[ReadTerm]:
    """Yields a term and the terms up to some levels below it."""
    yield term
    if depth:
        for operand in term.operands:
            yield from parts(operand, depth - 1)


def _changed(term: ReadTerm, others: list[ReadTerm], depth: int) -> Iterator[ReadTerm]:
    """Yields forms of a term: replaced by a part of the step, with another label, type or operands."""
    yield from (each for each in others if each is not term and each.shape == term.shape)
    if isinstance(term.shape, ArrayShape):
        yield ReadTerm("leaf", ("parameter", 7), term.shape, ())
    if term.kind in ("leaf", "constant"):
        yield from (ReadTerm("leaf", ("parameter", 7), shape, ()) for shape in _shapes(term))
        return
    for label in _labels(term.label):
        shape = ArrayShape(*label.result) if isinstance(label, Plan) else term.shape
        yield replace(term, label=label, shape=shape)
        if depth == _DEEPEST and not isinstance(label, Plan):
            yield from (replace(term, label=label, shape=shape) for shape in _shapes(term))
    yield from (replace(term, shape=shape) for shape in _shapes(term))
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


def _shapes(term: ReadTerm) -> Iterator[ArrayShape]:
    """Yields shapes with one size or the element type changed."""
    if isinstance(term.shape, ArrayShape):
        kind, sizes = term.shape.element_type, term.shape.dimensions
        for i, size in enumerate(sizes):
            for other in (size - 1, size + 1) if size else (1,):
                yield ArrayShape(kind, (*sizes[:i], other, *sizes[i + 1 :]))
        yield ArrayShape(parse_element_type(_OTHER_TYPES.get(kind.name, "f32")), sizes)


def _labels(label: Hashable) -> Iterator[Any]:
    """Yields labels with one part changed."""
    match label:
        case bool():
            yield not label
        case int():
            yield from (label + 1, label - 1)
        case str():
            yield from (_SWAPPED[each] for each in [label] if each in _SWAPPED)
        case frozenset():
            yield from (label ^ {i} for i in range(3))
        case Plan():
            yield from _plans(label)
        case tuple():
            yield label[::-1] if label else (("algorithm", "dot_bf16_bf16_f32"),)
            for i, part in enumerate(label):
                yield from ((*label[:i], other, *label[i + 1 :]) for other in _labels(part))


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
