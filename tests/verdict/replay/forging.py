"""Forged certificates: terms that nobody computed, steps between them, and a replay of two programs with them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, Reshape, Shape, Step as MovementStep, Transpose, parse_element_type
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.verdict.certificate import Certificate, Reading, ReadTerm, Step
from dialect_utils.verdict.replay import Replayed, replay
from dialect_utils.verdict.terms.primitives import Kind
from tests.verdict.proof.dialects import parse

Pair = tuple[Module, Module]


def array(kind: str, *dimensions: int) -> ArrayShape:
    return ArrayShape(parse_element_type(kind), dimensions)


def term(kind: Kind, label: Hashable, shape: Shape, *operands: ReadTerm) -> ReadTerm:
    return ReadTerm(kind, label, shape, operands)


def parameter(number: int, kind: str, *dimensions: int) -> ReadTerm:
    return term("leaf", ("parameter", number), array(kind, *dimensions))


def constant(bits: Hashable, kind: str) -> ReadTerm:
    return term("constant", bits, array(kind))


def each(label: Hashable, shape: Shape, *operands: ReadTerm) -> ReadTerm:
    return term("each", label, shape, *operands)


def step(rule: str, before: ReadTerm, after: ReadTerm, predicate: ReadTerm | None = None) -> Step:
    return Step(rule, None, before, after, predicate)


def told(pair: Pair, *steps: Step, readings: tuple[Mapping[int, Reading], ...] = ({}, {})) -> Replayed:
    return replay(pair, Certificate(steps, readings))


def hlo(body: str, head: str = "") -> Module:
    return parse(f"HloModule m\n{head}\nENTRY e {{\n{body}\n}}\n")


TRUE = hlo("x = pred[] parameter(0)\n ROOT r = pred[] constant(true)")
FALSE = hlo("x = pred[] parameter(0)\n ROOT r = pred[] constant(false)")


def moved(array_: ReadTerm, *steps: MovementStep) -> ReadTerm:
    assert isinstance(array_.shape, ArrayShape)
    plan = Plan(array_.shape.element_type, array_.shape.dimensions, steps, (None,) * len(steps))
    return term("moved", plan, ArrayShape(*plan.result), array_)


def in_order(operand: ReadTerm, sizes: tuple[int, ...], order: tuple[int, ...]) -> ReadTerm:
    """Returns an array with the parts of its dimensions in another order."""
    assert isinstance(operand.shape, ArrayShape)
    return moved(operand, Reshape(sizes), Transpose(order), Reshape(operand.shape.dimensions))
