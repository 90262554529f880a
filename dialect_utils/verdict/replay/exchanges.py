"""Steps about reductions among devices. Each step is checked from its two terms alone."""

from __future__ import annotations

from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.ops.domain import static_array
from dialect_utils.verdict.certificate import Step
from dialect_utils.verdict.rules import Level
from dialect_utils.verdict.rules.arrays import REDUCTIONS, promotion_level
from dialect_utils.verdict.terms.primitives import Term
from dialect_utils.verdict.terms.wellformed import RefusedError, demand


def promoted(step: Step) -> tuple[Level, tuple[Term, str, ElementType, int]]:
    """Returns the level at which an all-reduce in a wider type, converted back, equals the narrow all-reduce.

    Also returns the narrow function, and the opcode, type and level that it must have.
    """
    demand(_is_conversion(step.after), "no conversion")
    before, after = _reduction(step.before), _reduction(step.after.operands[0])
    (array, function), (converted, wide_function) = before.operands, after.operands
    demand(before.label == after.label, "another exchange")
    demand(_is_conversion(converted) and converted.operands == (array,), "another operand")
    narrow, wide = _kind(array), _kind(converted)
    demand(_kind(step.before) == _kind(step.after) == narrow and _kind(step.after.operands[0]) == wide, "other types")
    level = _level(function, narrow)
    demand(_level(wide_function, wide) == level, "functions of another level")
    (body,) = wide_function.operands
    variables = [("leaf", ("bound", level, i), ()) for i in range(2)]
    found = [(each.kind, each.label, each.operands) for each in body.operands]
    demand(body.kind == "each" and isinstance(body.label, str) and found == variables, "no operation of both variables")
    opcode = str(body.label)
    equality = promotion_level(opcode, narrow, wide)
    if equality is None:
        raise RefusedError(f"{opcode} is another function in {wide}")
    return equality, (function.operands[0], opcode, narrow, level)


def _is_conversion(term: Term) -> bool:
    return (term.kind, term.label, len(term.operands)) == ("each", "convert", 1)


def _reduction(term: Term) -> Term:
    """Returns the operation whose only result a term is."""
    demand(term.kind == "out" and term.label == 0, "no result")
    (made,) = term.operands
    is_exchange = isinstance(made.label, tuple) and isinstance(made.label[0], tuple) and made.label[0][0] in REDUCTIONS
    demand(is_exchange and len(made.operands) == len(("array", "function")), "no reduction of one array")
    demand([*made.shape.leaves()] == [term.shape], "several results")
    return made


def _level(function: Term, kind: ElementType) -> int:
    """Returns the level of the variables of a function of two scalars of a type."""
    demand(isinstance(function.label, tuple) and len(function.operands) == 1, "no function of one result")
    assert isinstance(function.label, tuple)  # checked above
    tag, level, shapes, count = function.label
    scalar = ArrayShape(kind, ())
    demand((tag, shapes, count) == ("function", (scalar, scalar), 1), "no function of two scalars")
    return int(level)


def _kind(term: Term) -> ElementType:
    return static_array(term.shape).element_type
