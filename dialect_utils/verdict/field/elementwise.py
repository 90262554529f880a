"""Elementwise operations in the field."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from dialect_utils.verdict.field import functions, integers
from dialect_utils.verdict.field.arithmetic import Words, mixed, word_of
from dialect_utils.verdict.field.values import (
    Real,
    UnliftedError,
    Value,
    Whole,
    is_real,
    random_reals,
    types_over_reals,
    types_text,
    unknown,
    words_of,
)
from dialect_utils.verdict.proof.terms import Term

if TYPE_CHECKING:
    from dialect_utils.verdict.field.lift import Lift


def each(lift: Lift, term: Term) -> Value:
    """Returns an elementwise operation."""
    operands = [lift.array(operand) for operand in term.operands]
    label, kind = term.label, term.array.element_type
    if isinstance(label, tuple) and label[0] == "compare":
        return _compare(lift, term, label, operands)
    if label == "select":
        return _select(lift, operands)
    if isinstance(label, tuple) and label[0] == "pick" and is_real(kind):
        return _picked(lift, operands[0], [value for value in operands[1:] if isinstance(value, Real)])
    if label == "convert":
        return _convert(lift, term, operands[0])
    if is_real(kind) and all(isinstance(value, Real) for value in operands):
        reals = [value for value in operands if isinstance(value, Real)]
        found = logic(label, reals) if kind.name == "pred" else _arithmetic(lift, label, reals)
        return found if found is not None else _random_each(lift, term, operands)
    if (isinstance(label, tuple) and label[0] == "ring") or isinstance(label, str):
        wholes = [value for value in operands if isinstance(value, Whole)]
        if len(wholes) == len(operands) and not is_real(kind):
            return integers.apply(label, kind, wholes)
    return _random_each(lift, term, operands)


def _random_each(lift: Lift, term: Term, operands: Sequence[Value]) -> Value:
    """Returns a random function of the operands' elements."""
    types = [each.array.element_type for each in (term, *term.operands)]
    name = types_text(types) if is_reread(term.label) else types_over_reals(types)
    words: list[Words | int] = [word_of(f"{term.label!r} {name}"), *map(words_of, operands)]
    if is_real(term.array.element_type):
        return random_reals(lift.seed, *words)
    return unknown(mixed(lift.seed, *words))


def is_reread(label: Hashable) -> bool:
    """Is true for elements whose bits are read as another type: it matters which floats they are of."""
    name = label[0] if isinstance(label, tuple) else label
    return name in ("bitcast-convert", "part", "joined")


def _arithmetic(lift: Lift, label: Any, values: list[Real]) -> Real | None:
    match label:
        case "add":
            return functions.add(*values)
        case "subtract":
            return functions.add(values[0], functions.negate(values[1]))
        case "negate":
            return functions.negate(values[0])
        case "multiply":
            return functions.multiply(*values)
        case "divide":
            _check_divisor(values[1])
            return functions.divide(*values)
        case "maximum" | "minimum":
            return functions.extreme(lift.seed, label, values)
    if isinstance(label, tuple) and label[0] in ("sum", "sum-of-products"):
        is_product = label == ("sum", "multiply")
        return reduce(functions.multiply if is_product else functions.add, values)
    if label == "product":
        return reduce(functions.multiply, values)
    if isinstance(label, str) and len(values) == 1:
        return functions.apply(lift.seed, label, values[0])
    return None


def _check_divisor(value: Real) -> None:
    if value.is_zero.any():
        raise UnliftedError("something is divided by 0 everywhere")


def logic(label: Any, values: list[Real]) -> Real | None:
    """Returns and, or, xor or not of truth values as polynomials in them; None for other operations."""
    if label == "not":
        return functions.add(functions.constant(1, values[0]), functions.negate(values[0]))
    if label == "and":
        return reduce(functions.multiply, values)
    if label == "or":
        opposite = [logic("not", [value]) for value in values]
        return logic("not", [reduce(functions.multiply, [each for each in opposite if each is not None])])
    if label == "xor":
        return reduce(_exclusive, values)
    if label == "is-finite":
        return functions.constant(1, values[0])
    return None


def _picked(lift: Lift, index: Value, values: Sequence[Real]) -> Real:
    """Returns a sum of the numbers that an index picks from, with weights whose sum is 1."""
    total = values[-1]
    for number, value in enumerate(values[:-1]):
        weight = random_reals(lift.seed, word_of("pick"), words_of(index), len(values), number)
        difference = functions.add(value, functions.negate(values[-1]))
        total = functions.add(total, functions.multiply(weight, difference))
    return total


def _compare(lift: Lift, term: Term, label: Any, operands: list[Value]) -> Value:
    first, second = operands
    if isinstance(first, Whole) and isinstance(second, Whole):
        return integers.compare(lift.seed, label[1], term.operands[0].array.element_type, first, second)
    if not isinstance(first, Real) or not isinstance(second, Real):
        raise UnliftedError("integers are mixed with floats")
    if label[1] == "EQ":
        return functions.equal(lift.seed, first, second)
    if label[1] == "LE":
        return _opposite(functions.below(lift.seed, second, first))
    return functions.below(lift.seed, first, second)


def _opposite(value: Real) -> Real:
    return functions.add(functions.constant(1, value), functions.negate(value))


def _select(lift: Lift, operands: list[Value]) -> Value:
    predicate, first, second = operands
    assert isinstance(predicate, Real)  # truth values are
    if isinstance(first, Real) and isinstance(second, Real):
        chosen = functions.multiply(predicate, first)
        return functions.add(chosen, functions.multiply(_opposite(predicate), second))
    if isinstance(first, Whole) and isinstance(second, Whole):
        return integers.select(predicate, first, second)
    raise UnliftedError("integers are mixed with floats")


def _convert(lift: Lift, term: Term, value: Value) -> Value:
    source, kind = term.operands[0].array.element_type, term.array.element_type
    if isinstance(value, Real) and kind.is_floating:
        return value
    if isinstance(value, Whole) and kind.is_floating:
        return integers.as_real(lift.seed, source, value)
    if isinstance(value, Real) and source.name == "pred" and kind.is_integral:
        is_known = np.asarray((value.first <= 1).all(axis=-1))
        return Whole(np.where(is_known, value.first[..., 0], mixed(4, value.words)), is_known)
    if isinstance(value, Whole) and kind.is_integral:
        return integers.convert(source, kind, value)
    return _random_each(lift, term, [value])


def choice(lift: Lift, term: Term) -> Value:
    """Returns one of several arrays, weighted by what stands for the choice."""
    selector, *branches = (lift.array(operand) for operand in term.operands)
    words = mixed(word_of(repr(term.label)), words_of(selector))
    if all(isinstance(branch, Real) for branch in branches) and len(branches) > 1:
        reals = [branch for branch in branches if isinstance(branch, Real)]
        total = reals[-1]
        for number, branch in enumerate(reals[:-1]):
            weight = random_reals(lift.seed, words, number).moved(partial(np.broadcast_to, shape=branch.dimensions))
            difference = functions.add(branch, functions.negate(reals[-1]))
            total = functions.add(total, functions.multiply(weight, difference))
        return total
    return unknown(mixed(words, *map(words_of, branches)))


def _exclusive(a: Real, b: Real) -> Real:
    both = functions.multiply(a, b)
    return functions.add(functions.add(a, b), functions.negate(functions.add(both, both)))
