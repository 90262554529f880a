"""Elementwise functions of reals in the field."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce

import numpy as np
from numpy.typing import NDArray

from dialect_utils.ops import Trait, by_opcode, named, with_trait
from dialect_utils.verdict.field.arithmetic import Moduli, Words
from dialect_utils.verdict.field.draw import Draw
from dialect_utils.verdict.field.values import (
    Extreme,
    Extremum,
    Real,
    Root,
    UnliftedError,
    random_reals,
    where,
    whole_reals,
)

# f(-x) = -f(x), and f(-x) = f(x). (sin, tan ... of floats have the symmetry of the real functions.)
_ODD = with_trait(Trait.ODD)
_EVEN = with_trait(Trait.EVEN)
# Square roots: sqrt(x) * sqrt(x) is x, so multiples of one root are remembered.
ROOTS = named("sqrt rsqrt")


_OPPOSITE: dict[Extreme, Extreme] = {"maximum": "minimum", "minimum": "maximum"}


def constant(value: int, like: Real) -> Real:
    """Returns a small whole number."""
    return whole_reals(like.draw, np.full(like.dimensions, value, np.uint64))


def _each(operation: Callable[..., Words], *values: Real) -> Real:
    draw = values[0].draw
    first = operation(draw.first, *(value.first for value in values))
    return Real(draw, first, operation(draw.second, *(value.second for value in values)))


def add(a: Real, b: Real) -> Real:
    """Returns the sum; a * sqrt(x) + b * sqrt(x) stays a multiple of sqrt(x)."""
    found = _each(Moduli.add, a, b)
    root = _common_root(a, b)
    return found if root is None else replace(found, root=root)


def _common_root(a: Real, b: Real) -> Root | None:
    """Returns the square root of which a sum is a multiple, or None; 0 is a multiple of every root."""
    if a.root is None and b.root is None:
        return None
    if a.root is None or b.root is None:
        multiple, other = (a, b) if b.root is None else (b, a)
        return multiple.root if other.is_zero.all() and not other.second.any() else None
    if not np.array_equal(a.root.words, b.root.words):
        return None
    return replace(a.root, factor=add(a.root.factor, b.root.factor))


def total(a: Real, axis: int) -> Real:
    """Returns the sum along a dimension; a sum of multiples of one square root stays a multiple of this root."""
    found = _each(partial(Moduli.total, axis=axis), a)
    if a.root is None or not a.dimensions[axis]:
        return found
    words = np.moveaxis(a.root.words, axis, 0)
    if not (words == words[0]).all():
        return found
    square = a.root.square.moved(lambda x: x.take(0, axis))
    return replace(found, root=Root(words[0], square, total(a.root.factor, axis)))


def product(a: Real, axis: int) -> Real:
    """Returns the product along a dimension."""
    return _each(partial(Moduli.product, axis=axis), a)


def negate(a: Real) -> Real:
    """Returns the negative."""
    root = None if a.root is None else replace(a.root, factor=negate(a.root.factor))
    extremum = None if a.extremum is None else replace(a.extremum, opcode=_OPPOSITE[a.extremum.opcode])
    return replace(_each(Moduli.negate, a), root=root, extremum=extremum)


def multiply(a: Real, b: Real) -> Real:
    """Returns the product; a * sqrt(x) times b * sqrt(x) is a * b * x."""
    return replace(_multiplied(a, b), log=lambda: add(log_of(a), log_of(b)))


def log_of(a: Real) -> Real:
    """Returns the logarithm of the magnitude, of a product or power as a sum."""
    return _random("log", _sign_and_size(a)[1]) if a.log is None else a.log()


def power(a: Real, count: int) -> Real:
    """Returns a product of equal numbers, or 1 over it for a negative count."""
    found = reduce(multiply, [a] * abs(count), constant(1, a))
    return inverse(found) if count < 0 else found


def complex_of(a: Real, b: Real) -> Real:
    """Returns a + i b for a random number i."""
    unit = random_reals(b.draw, b.draw.hashes.word_of("imaginary unit"))
    return add(a, multiply(unit.moved(partial(np.broadcast_to, shape=b.dimensions)), b))


def _multiplied(a: Real, b: Real) -> Real:
    if a.root is not None and b.root is not None:
        if np.array_equal(a.root.words, b.root.words):
            return multiply(multiply(a.root.factor, b.root.factor), a.root.square)
        # A product of two different roots is remembered as a multiple of the first root.
        b = Real(b.draw, b.first, b.second)
    found = _each(Moduli.multiply, a, b)
    for one, other in ((a, b), (b, a)):
        if one.root is not None:
            return replace(found, root=replace(one.root, factor=multiply(one.root.factor, other)))
    return found


def inverse(a: Real) -> Real:
    """Returns 1 / a; for a multiple f * s of a square root s, s / (f * s * s). Raises UnliftedError for 1 / 0."""
    if a.is_zero.any():
        raise UnliftedError("something is divided by 0 everywhere")
    if a.root is None:
        found = _each(Moduli.inverse, a)
    else:
        found = _multiple(replace(a.root, factor=inverse(multiply(a.root.factor, a.root.square))))
    return replace(found, log=lambda: negate(log_of(a)))


def _multiple(root: Root) -> Real:
    """Returns the multiples of a square root, which is one random number for each argument."""
    draw = root.square.draw
    found = _each(
        Moduli.multiply, random_reals(draw, draw.hashes.word_of("sqrt"), root.words, of=root.square), root.factor
    )
    return replace(found, root=root)


def divide(a: Real, b: Real) -> Real:
    """Returns the quotient."""
    return multiply(a, inverse(b))


def exponential(a: Real) -> Real:
    """Returns exp(a), for which exp(a + b) = exp(a) * exp(b) holds."""
    draw = a.draw
    words = draw.hashes.mixed(draw.hashes.word_of("exponential"), a.second)
    return Real(draw, draw.powers.of_exponents(a.second), draw.residues(words)[1], log=lambda: a)


def _sign_and_size(a: Real) -> tuple[NDArray[np.bool_], Real]:
    """Returns a sign and a size, the same size for a and -a: of both numbers the one with the smaller hash."""
    opposite = negate(a)
    is_negative = opposite.words < a.words
    return is_negative, where(is_negative, opposite, a)


def apply(opcode: str, a: Real) -> Real:
    """Returns a function of one real: defined by others, or random with its symmetry, such as sin(-x) = -sin(x)."""
    if opcode in _DEFINED:
        return _DEFINED[opcode](a)
    return _symmetric(opcode, a) if opcode in _ODD or opcode in _EVEN else _random(opcode, a)


def _symmetric(opcode: str, a: Real) -> Real:
    is_negative, size = _sign_and_size(a)
    found = _random(opcode, size)
    if opcode in _EVEN:
        return found
    return where(a.is_zero, constant(0, a), where(is_negative, negate(found), found))


def _random(name: str, a: Real) -> Real:
    return random_reals(a.draw, a.draw.hashes.word_of(name), of=a)


def _square_root(a: Real) -> Real:
    argument = Real(a.draw, a.first, a.second)
    return replace(_multiple(Root(a.words, argument, constant(1, argument))), log=lambda: _half(log_of(a)))


def _cube_root(a: Real) -> Real:
    return replace(_symmetric("cbrt", a), log=lambda: divide(log_of(a), constant(3, a)))


def _tanh(a: Real) -> Real:
    twice = exponential(add(a, a))
    one = constant(1, a)
    return divide(add(twice, negate(one)), add(twice, one))


def _logistic(a: Real) -> Real:
    one = constant(1, a)
    return inverse(add(one, exponential(negate(a))))


def _half(a: Real) -> Real:
    return divide(a, constant(2, a))


# Functions that others define, such as tanh by exp; any other function is random.
_DEFINED: Mapping[str, Callable[[Real], Real]] = by_opcode(
    {
        "exponential": exponential,
        "exponential-minus-one": lambda a: add(exponential(a), negate(constant(1, a))),
        "log-plus-one": lambda a: apply("log", add(a, constant(1, a))),
        "logistic": _logistic,
        "tanh": _tanh,
        "sinh": lambda a: _half(add(exponential(a), negate(exponential(negate(a))))),
        "cosh": lambda a: _half(add(exponential(a), exponential(negate(a)))),
        "sqrt": _square_root,
        "rsqrt": lambda a: inverse(_square_root(a)),
        "cbrt": _cube_root,
        "abs": lambda a: replace(_symmetric("abs", a), log=lambda: log_of(a)),
    }
)


def below(a: Real, b: Real) -> Real:
    """Returns a < b as a truth value: a random function of the difference, false where the difference is 0."""
    difference = add(a, negate(b))
    return where(difference.is_zero, constant(0, a), _random("below", difference))


def equal(a: Real, b: Real) -> Real:
    """Returns a = b as a truth value."""
    difference = add(a, negate(b))
    _, size = _sign_and_size(difference)
    return where(difference.is_zero, constant(1, a), _random("equal", size))


def extreme(opcode: Extreme, values: Sequence[Real]) -> Real:
    """Returns the maximum or minimum of several numbers, without the identity (-inf in a maximum)."""
    parts = [_counted(opcode, value) for value in values]
    with np.errstate(over="ignore"):
        total = sum((part.total for part in parts[1:]), parts[0].total)
        count = sum((part.count for part in parts[1:]), parts[0].count)
    return _of_extremum(values[0].draw, Extremum(opcode, total, count), values)


def reduced_extreme(opcode: Extreme, value: Real, axis: int) -> Real:
    """Returns the maximum or minimum along a dimension."""
    part = _counted(opcode, value)
    count = part.count.sum(axis=axis, dtype=np.uint64)
    with np.errstate(over="ignore"):
        found = Extremum(opcode, part.total.sum(axis=axis, dtype=np.uint64), count)
    rows = [
        Real(value.draw, np.take(value.first, i, axis + 1), np.take(value.second, i, axis + 1))
        for i in range(value.dimensions[axis])
    ]
    return _of_extremum(value.draw, found, rows)


def _counted(opcode: Extreme, value: Real) -> Extremum:
    if value.extremum is not None and value.extremum.opcode == opcode:
        return value.extremum
    hashes = value.draw.hashes
    # A minimum is the negative of the maximum of the negatives.
    words = value.words if opcode == "maximum" else negate(value).words
    counts = value.words != infinity(value.draw, opcode == "minimum").words
    hashed = hashes.mixed(hashes.word_of("maximum"), words)
    return Extremum(opcode, np.where(counts, hashed, 0).astype(np.uint64), counts.astype(np.uint64))


def _of_extremum(draw: Draw, found: Extremum, values: Sequence[Real]) -> Real:
    """Returns an extremum of no number (the identity), of one (itself), or of more (a random function of the set)."""
    made = random_reals(draw, draw.hashes.word_of("of maximum"), found.total)
    made = made if found.opcode == "maximum" else negate(made)
    result = where(found.count == 0, infinity(draw, found.opcode == "minimum", made.dimensions), made)
    for value in values:
        alone = (found.count == 1) & (_counted(found.opcode, value).count == 1)
        result = where(alone, value, result)
    return replace(result, extremum=found)


def infinity(draw: Draw, is_positive: bool, dimensions: tuple[int, ...] = ()) -> Real:
    """Returns the random number that represents an infinity; it is not the negative of the other infinity."""
    found = random_reals(draw, draw.hashes.word_of("infinity"), int(is_positive))
    return found.moved(partial(np.broadcast_to, shape=dimensions))
