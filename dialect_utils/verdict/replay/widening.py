"""Steps about operations on converted arrays: movement, functions, and precision that the engine chooses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.verdict.certificate import Step
from dialect_utils.verdict.replay.equality import Level
from dialect_utils.verdict.terms.combinations import is_exact
from dialect_utils.verdict.terms.primitives import Term
from dialect_utils.verdict.terms.wellformed import demand

# Operations that move elements, with the number of leading operands that hold elements (None: all).
_MOVES: Mapping[str, int | None] = {
    "concatenate": None,
    "dynamic-update-slice": 2,
}
_FACTORS = 2
_REDUCTIONS = ("reduce", "reduce-window")


def _type(term: Term) -> ElementType:
    demand(isinstance(term.shape, ArrayShape), "a term is no array")
    assert isinstance(term.shape, ArrayShape)  # checked above
    return term.shape.element_type


def _is_converted(wide: Term, narrow: Term) -> bool:
    return wide.kind == "each" and wide.label == "convert" and wide.operands == (narrow,)


def _name(term: Term) -> str:
    """Returns the opcode of an operation, or an empty text."""
    label: Any = term.label
    if term.kind != "op" or not isinstance(label, tuple):
        return ""
    return str(label[0][0] if isinstance(label[0], tuple) else label[0])


def _pair(step: Step) -> tuple[Term, Term]:
    """Returns both operations of a step f(convert(x)) = convert(g(x))."""
    wide, narrow = step.before, _unconverted(step.after)
    if wide.kind == "out":
        demand(narrow.kind == "out" and narrow.label == wide.label, "another result")
        wide, narrow = wide.operands[0], narrow.operands[0]
    demand(wide.kind == narrow.kind and len(wide.operands) == len(narrow.operands), "another operation")
    return wide, narrow


def _unconverted(term: Term) -> Term:
    return term.operands[0] if term.kind == "each" and term.label == "convert" else term


def converted_movement(step: Step) -> Level:
    """Checks move(convert(x)) = convert(move(x))."""
    wide, narrow = _pair(step)
    demand(_is_converted(step.after, narrow), "the result is not converted")
    if wide.kind == "moved":
        first, second = wide.label, narrow.label
        assert isinstance(first, Plan)  # moved terms have plans as labels
        assert isinstance(second, Plan)
        is_same = (first.dimensions, first.steps, first.paddings) == (second.dimensions, second.steps, second.paddings)
        demand(is_same and not first.regroups_bits, "another movement")
        count = len(wide.operands)
    else:
        demand(_name(wide) in _MOVES and wide.label == narrow.label, "no movement, or another one")
        count = _MOVES[_name(wide)] or len(wide.operands)
    for number, (first_, second_) in enumerate(zip(wide.operands, narrow.operands, strict=True)):
        demand(_is_converted(first_, second_) if number < count else first_ is second_, "another operand")
        demand(number >= count or (_type(first_), _type(second_)) == (_type(step.before), _type(narrow)), "other types")
    return Level.BITS


def _label(term: Term) -> tuple[Any, ...]:
    assert isinstance(term.label, tuple)  # the opcode comes first
    return term.label


# Functions


def converted_function(step: Step) -> tuple[Level, tuple[Term, Term]]:
    """Returns the level at which reduce(convert(x)) = convert(reduce(x)) may hold, and the functions of both sides.

    The condition is f(convert(a), convert(b)) = convert(g(a, b)) for the functions f and g. Then all intermediate
    values are conversions of each other.
    """
    wide, narrow = _pair(step)
    demand(_name(wide) == _name(narrow) and wide.label == narrow.label, "another operation")
    operands = [*zip(wide.operands, narrow.operands, strict=True)]
    functions = [pair for pair in operands if _name(pair[0]) == "function"]
    arrays = operands[: len(operands) - len(functions)]
    demand(len(functions) == 1 and operands[-1] == functions[0], "no operation by one function")
    for first, second in arrays:
        demand(first is second or _is_converted(first, second), "another operand")
    kinds = [_kinds(_name(wide), [pair[side] for pair in arrays]) for side in (0, 1)]
    for side in (0, 1):
        _, _, shapes, count = _label(functions[0][side])
        scalars = [*(ArrayShape(kind, ()) for kind in kinds[side][0])]
        demand([*shapes] == scalars, "a function of other values")
        results = [_type(each) for each in functions[0][side].operands]
        demand(len(results) == count and results == kinds[side][1], "a function with other results")
    demand(_type(step.before) == _result(step.before, kinds[0][1]), "another result")
    result = _unconverted(step.after)
    demand(_type(result) == _result(result, kinds[1][1]), "another result")
    return _level_of_function(functions[0][1], kinds[0][1]), functions[0]


def labels_of(*functions: Term) -> list[tuple[Any, ...]]:
    """Returns the labels of functions: their level, the shapes of their parameters, and the count of results."""
    return [*map(_label, functions)]


def _result(term: Term, kinds: Sequence[ElementType]) -> ElementType:
    return kinds[int(str(term.label))] if term.kind == "out" else kinds[0]


def _kinds(name: str, arrays: Sequence[Term]) -> tuple[list[ElementType], list[ElementType]]:
    """Returns the parameter and result types of the function that reduces arrays."""
    kinds = [_type(each) for each in arrays]
    demand(name in _REDUCTIONS, "an operation whose function is not known")
    count = len(kinds) // 2
    demand(kinds[:count] == kinds[count:], "initial values of other types")
    return [*kinds[:count], *kinds[:count]], kinds[:count]


def _level_of_function(function: Term, results: Sequence[ElementType]) -> Level:
    """Returns `ENGINE` for a sum of floats, whose order may depend on the type, else a finer level."""
    if not any(kind.is_inexact for kind in results):
        return Level.BITS
    (body, *others) = function.operands
    is_plain = not others and body.kind == "each" and isinstance(body.label, str) and len(body.operands) == _FACTORS
    leaves = is_plain and all(each.kind == "leaf" for each in body.operands)
    is_of_both = leaves and body.operands[0] is not body.operands[1]
    return Level.NAN if is_of_both and is_exact(str(body.label), results[0]) else Level.ENGINE


WIDENINGS: Mapping[str, Callable[[Step], Level]] = {
    "converted": converted_movement,
}
OF_FUNCTIONS = ("converted-function",)
