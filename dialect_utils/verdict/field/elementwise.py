"""Elementwise operations in the field."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from dialect_utils.ops import named
from dialect_utils.verdict.field import functions, integers
from dialect_utils.verdict.field.arithmetic import Words
from dialect_utils.verdict.field.constants import exponent_of
from dialect_utils.verdict.field.conventions import Convention, name_of
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
from dialect_utils.verdict.rules.formats import is_lossless
from dialect_utils.verdict.terms.primitives import is_ordered

if TYPE_CHECKING:
    from dialect_utils.verdict.field.lift import Lift

# Functions whose laws hold for complex numbers, too; another one is any function.
_OF_COMPLEX = named("exponential exponential-minus-one log log-plus-one logistic tanh sine cosine sqrt rsqrt")
LOGARITHMS = named("log log-plus-one")
# The largest exponent of a power that is a product.
MOST_FACTORS = 64


def each(lift: Lift, term: Term) -> Value:
    """Returns an elementwise operation."""
    operands = [lift.array(operand) for operand in term.operands]
    label, element_type = term.label, term.array.element_type
    if isinstance(label, tuple) and label[0] == "compare":
        return _compare(lift, term, label, operands)
    if is_ordered(label):
        return operands[0]
    if label == "select":
        return _select(operands)
    if isinstance(label, tuple) and label[0] == "pick" and is_real(element_type):
        index = lift.index_at(term.operands[0])
        return _picked(index, [value for value in operands[1:] if isinstance(value, Real)])
    if label == "convert":
        return _convert(lift, term, operands[0])
    if is_real(element_type) and all(isinstance(value, Real) for value in operands):
        reals = [value for value in operands if isinstance(value, Real)]
        found = _logic(lift, term, reals) if element_type.name == "pred" else _arithmetic(lift, term, reals)
        return found if found is not None else _random_each(lift, term, operands)
    if (isinstance(label, tuple) and label[0] == "ring") or isinstance(label, str):
        integer_operands = [value for value in operands if isinstance(value, Whole)]
        if len(integer_operands) == len(operands) and not is_real(element_type):
            return integers.apply(label, element_type, integer_operands)
    return _random_each(lift, term, operands)


def _random_each(lift: Lift, term: Term, operands: Sequence[Value]) -> Value:
    """Returns a random function of the operands' elements."""
    types = [each.array.element_type for each in (term, *term.operands)]
    is_of_bits = is_reread(term.label)
    name = types_text(types) if is_of_bits else types_over_reals(types)
    text = f"{term.label!r} {name}"
    if is_of_bits and not lift.have_known_bits(term.operands):
        text = f"{text} {term.number}"
    hashes = lift.draw.hashes
    words: list[Words | int] = [hashes.word_of(text), *map(words_of, operands)]
    if is_real(term.array.element_type):
        return random_reals(lift.draw, *words)
    return unknown(lift.draw, hashes.mixed(*words))


def is_reread(label: Hashable) -> bool:
    """Is true for operations that read bits as another type: equal reals may have different bits."""
    return name_of(label) in ("bitcast-convert", "part", "joined")


def _arithmetic(lift: Lift, term: Term, values: list[Real]) -> Real | None:
    """Returns the value of an operation on floats, or None for an operation without laws in the field."""
    match term.label:
        case "add":
            return functions.add(*values)
        case "subtract":
            return functions.add(values[0], functions.negate(values[1]))
        case "negate":
            return functions.negate(values[0])
        case "multiply":
            return functions.multiply(*values)
        case "divide":
            return _quotient(lift, term, *values)
        case "complex":
            return functions.complex_of(*values)
        case "maximum" | "minimum":
            return functions.extreme(term.label, values)
        case ("sum", "multiply") | "product":
            return reduce(functions.multiply, values)
        case ("sum", "add") | ("sum-of-products", _):
            return reduce(functions.add, values)
    return _power(lift, term, *values) if term.label == "power" else _function(lift, term.label, values)


def _quotient(lift: Lift, term: Term, numerator: Real, divisor: Real) -> Real | None:
    if lift.is_constant(term.operands[1]) or lift.assumes(Convention.QUOTIENT):
        return functions.divide(numerator, divisor)
    return None


def _power(lift: Lift, term: Term, base: Real, exponent: Real) -> Real | None:
    """Returns a power by its constant exponent: a product, a root, or by the logarithm of the base."""
    number = exponent_of(term.operands[1])
    if number is not None and number.denominator == 1 and abs(number) <= MOST_FACTORS:
        return functions.power(base, int(number)) if number >= 0 or lift.assumes(Convention.QUOTIENT) else None
    if number is not None and abs(number) == Fraction(1, 2):
        root = functions.apply("sqrt" if number > 0 else "rsqrt", base)
        return root if lift.assumes(Convention.ROOT, Convention.POWER) else None
    if lift.expands and lift.assumes(Convention.POWER):
        return functions.exponential(functions.multiply(exponent, functions.log_of(base)))
    return None


def _function(lift: Lift, label: Hashable, values: list[Real]) -> Real | None:
    """Returns a function of one number."""
    if not isinstance(label, str) or len(values) != 1:
        return None
    if lift.is_complex and label not in _OF_COMPLEX:
        return None
    if label in LOGARITHMS and lift.expands and lift.assumes(Convention.LOGARITHM):
        one = functions.constant(1, values[0])
        return functions.log_of(values[0] if label == "log" else functions.add(values[0], one))
    if label in functions.ROOTS and not lift.assumes(Convention.ROOT):
        return None
    return functions.apply(label, values[0])


def _logic(lift: Lift, term: Term, values: list[Real]) -> Real | None:
    label = term.label
    if label == "is-finite":
        return functions.constant(1, values[0]) if lift.are_numbers(term.operands, Convention.FINITE) else None
    return logic(label, values)


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
    return None


def _picked(index: Value, values: Sequence[Real]) -> Real:
    """Returns one of several numbers, by a dynamic index, as a weighted sum whose weights depend on the index."""
    hashes = index.draw.hashes
    return _weighted(hashes.mixed(hashes.word_of("pick"), words_of(index), len(values)), values)


def _weighted(words: Words, values: Sequence[Real]) -> Real:
    """Returns a sum of arrays, with random weights whose sum is 1."""
    total = last = values[-1]
    for number, value in enumerate(values[:-1]):
        weight = random_reals(last.draw, words, number).moved(partial(np.broadcast_to, shape=last.dimensions))
        difference = functions.add(value, functions.negate(last))
        total = functions.add(total, functions.multiply(weight, difference))
    return total


def _compare(lift: Lift, term: Term, label: Any, operands: list[Value]) -> Value:
    """Returns the truth value of EQ, LT or LE; a <= b is not (b < a), which holds without NaN."""
    first, second = operands
    element_type = term.operands[0].array.element_type
    _, direction, is_total = label
    if isinstance(first, Whole) and isinstance(second, Whole):
        return integers.compare(direction, element_type, first, second)
    if not isinstance(first, Real) or not isinstance(second, Real):
        raise UnliftedError("integers are mixed with floats")
    if element_type.is_inexact and not _is_of_numbers(lift, term, direction, is_total):
        return _random_each(lift, term, operands)
    if direction == "EQ":
        return functions.equal(first, second)
    return functions.below(first, second) if direction == "LT" else _opposite(functions.below(second, first))


def _is_of_numbers(lift: Lift, term: Term, direction: str, is_total: bool) -> bool:
    """Is true where floats may be compared as reals; a NaN changes the results of EQ and LE only."""
    if is_total and not lift.assumes(Convention.TOTAL_ORDER):
        return False
    return direction == "LT" or lift.are_numbers(term.operands, Convention.NOT_NAN)


def _opposite(value: Real) -> Real:
    return functions.add(functions.constant(1, value), functions.negate(value))


def _select(operands: list[Value]) -> Value:
    predicate, first, second = operands
    assert isinstance(predicate, Real)  # truth values are reals
    if isinstance(first, Real) and isinstance(second, Real):
        chosen = functions.multiply(predicate, first)
        return functions.add(chosen, functions.multiply(_opposite(predicate), second))
    if isinstance(first, Whole) and isinstance(second, Whole):
        return integers.select(predicate, first, second)
    raise UnliftedError("integers are mixed with floats")


def _convert(lift: Lift, term: Term, value: Value) -> Value:
    source, element_type = term.operands[0].array.element_type, term.array.element_type
    if isinstance(value, Real) and source.name == "pred" and element_type.is_floating:
        return value
    if element_type.is_inexact and not is_lossless(source, element_type) and not lift.assumes(Convention.CONVERSIONS):
        return _random_each(lift, term, [value])
    if isinstance(value, Real) and element_type.is_inexact and (source.is_complex <= element_type.is_complex):
        return value
    if isinstance(value, Whole) and element_type.is_floating:
        return integers.as_real(source, value)
    if isinstance(value, Real) and source.name == "pred" and element_type.is_integral:
        is_known = np.asarray((value.first <= 1).all(axis=0))
        words = np.where(is_known, value.first[0], lift.draw.hashes.mixed(4, value.words))
        return Whole(lift.draw, words, is_known)
    if isinstance(value, Whole) and element_type.is_integral:
        return integers.convert(source, element_type, value)
    return _random_each(lift, term, [value])


def choice(lift: Lift, term: Term) -> Value:
    """Returns one of several arrays, as a weighted sum whose weights depend on the selector."""
    selector, *branches = (lift.array(operand) for operand in term.operands)
    hashes = lift.draw.hashes
    words = hashes.mixed(hashes.word_of(repr(term.label)), words_of(selector))
    reals = [branch for branch in branches if isinstance(branch, Real)]
    if len(reals) == len(branches) > 1:
        return _weighted(words, reals)
    return unknown(lift.draw, hashes.mixed(words, *map(words_of, branches)))


def _exclusive(a: Real, b: Real) -> Real:
    both = functions.multiply(a, b)
    return functions.add(functions.add(a, b), functions.negate(functions.add(both, both)))
