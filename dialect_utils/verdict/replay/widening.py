"""Steps about operations on converted arrays: movement, reductions by functions, and reductions among devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.verdict.certificate import Step
from dialect_utils.verdict.replay.equality import Level
from dialect_utils.verdict.replay.moving import (
    is_converted,
    label_of,
    level_of_function,
    type_of,
    without_conversion,
)
from dialect_utils.verdict.rules import Level as NamedLevel
from dialect_utils.verdict.rules.arrays import REDUCTIONS, promotion_level
from dialect_utils.verdict.terms.combinations import is_exact
from dialect_utils.verdict.terms.primitives import Term
from dialect_utils.verdict.terms.wellformed import RefusedError, demand

_FACTORS = 2
_REDUCTIONS = ("reduce", "reduce-window")


def _name(term: Term) -> str:
    """Returns the opcode of an operation with a definition, or another text."""
    return str(term.label[0]) if term.kind == "op" and isinstance(term.label, tuple) else ""


def _pair(step: Step) -> tuple[Term, Term]:
    """Returns both operations of a step f(convert(x)) = convert(g(x))."""
    wide, narrow = step.before, without_conversion(step.after)
    if wide.kind == "out":
        demand(narrow.kind == "out" and narrow.label == wide.label, "another result")
        wide, narrow = wide.operands[0], narrow.operands[0]
    demand(wide.kind == narrow.kind, "another operation")
    return wide, narrow


# Functions


def promoted(step: Step) -> tuple[NamedLevel, tuple[Term, str, ElementType, int]]:
    """Returns the level at which an all-reduce in a wider type, converted back, equals the narrow all-reduce.

    Also returns the narrow function, and the opcode, type and level that it must have.
    """
    result = without_conversion(step.after)
    before, after = _reduction(step.before), _reduction(result)
    (array, function), (converted, wide_function) = before.operands, after.operands
    demand(before.label == after.label, "another exchange")
    demand(is_converted(converted, array) and is_converted(step.after, result), "another operand, or no conversion")
    narrow, wide = type_of(array), type_of(converted)
    demand(type_of(step.before) == type_of(step.after) == narrow and type_of(result) == wide, "other types")
    level = level_of_function(function, narrow)
    demand(level_of_function(wide_function, wide) == level, "functions of another level")
    (body,) = wide_function.operands
    variables = [("leaf", ("bound", level, i), ()) for i in range(2)]
    found = [(each.kind, each.label, each.operands) for each in body.operands]
    demand(body.kind == "each" and isinstance(body.label, str) and found == variables, "no operation of both variables")
    opcode = str(body.label)
    equality = promotion_level(opcode, narrow, wide)
    if equality is None:
        raise RefusedError(f"{opcode} is another function in {wide}")
    return equality, (function.operands[0], opcode, narrow, level)


def _reduction(term: Term) -> Term:
    """Returns the operation whose only result a term is."""
    demand(term.kind == "out", "no result")
    (made,) = term.operands
    is_exchange = isinstance(made.label, tuple) and isinstance(made.label[0], tuple) and made.label[0][0] in REDUCTIONS
    demand(is_exchange and len(made.operands) == len(("array", "function")), "no reduction of one array")
    demand([*made.shape.leaves()] == [term.shape], "several results")
    return made


def converted_function(step: Step) -> tuple[Level, tuple[Term, Term]]:
    """Returns the level at which reduce(convert(x)) = convert(reduce(x)) may hold, and the functions of both sides.

    The condition is f(convert(a), convert(b)) = convert(g(a, b)) for the functions f and g. Then all intermediate
    values are conversions of each other.
    """
    wide, narrow = _pair(step)
    demand(_name(wide) == _name(narrow) and wide.label == narrow.label, "another operation")
    operands = [*zip(wide.operands, narrow.operands, strict=True)]
    functions = [pair for pair in operands if {*map(_name, pair)} == {"function"}]
    arrays = operands[: len(operands) - len(functions)]
    demand(len(functions) == 1 and operands[-1] == functions[0], "no operation by one function")
    for first, second in arrays:
        demand(first is second or is_converted(first, second), "another operand")
    kinds = [_kinds(_name(wide), [pair[side] for pair in arrays]) for side in (0, 1)]
    for side in (0, 1):
        _, _, shapes, count = label_of(functions[0][side])
        scalars = [*(ArrayShape(kind, ()) for kind in kinds[side] * 2)]
        demand([*shapes] == scalars, "a function of other values")
        results = [type_of(each) for each in functions[0][side].operands]
        demand(len(results) == count and results == kinds[side], "a function with other results")
    demand(type_of(step.before) == _result(step.before, kinds[0]), "another result")
    result = without_conversion(step.after)
    demand(type_of(result) == _result(result, kinds[1]), "another result")
    return _level_of_function(functions[0][1], kinds[0]), functions[0]


def labels_of(*functions: Term) -> list[tuple[Any, ...]]:
    """Returns the labels of functions: their level, the shapes of their parameters, and the count of results."""
    return [*map(label_of, functions)]


def _result(term: Term, kinds: Sequence[ElementType]) -> ElementType:
    return kinds[int(str(term.label))]


def _kinds(name: str, arrays: Sequence[Term]) -> list[ElementType]:
    """Returns the result types of the function that reduces arrays; its parameters have them twice."""
    kinds = [type_of(each) for each in arrays]
    demand(name in _REDUCTIONS, "an operation whose function is not known")
    count = len(kinds) // 2
    demand(kinds[:count] == kinds[count:], "initial values of other types")
    return kinds[:count]


def _level_of_function(function: Term, results: Sequence[ElementType]) -> Level:
    """Returns `ENGINE` for a sum of floats, whose order may depend on the type, else a finer level."""
    if not any(kind.is_inexact for kind in results):
        return Level.BITS
    (body, *others) = function.operands
    is_plain = not others and body.kind == "each" and isinstance(body.label, str) and len(body.operands) == _FACTORS
    leaves = is_plain and all(each.kind == "leaf" for each in body.operands)
    is_of_both = leaves and body.operands[0] is not body.operands[1]
    return Level.NAN if is_of_both and is_exact(str(body.label), results[0]) else Level.ENGINE


OF_FUNCTIONS = ("converted-function",)
