"""Arrays in the field: reals as residues [round, ...], integers as words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dialect_utils.layout import ElementType
from dialect_utils.verdict.field.arithmetic import Words
from dialect_utils.verdict.field.draw import Draw

Extreme = Literal["maximum", "minimum"]


def is_real(element_type: ElementType) -> bool:
    """Is true for types whose arrays are `Real`: floats, complex numbers and truth values."""
    return element_type.is_inexact or element_type.name == "pred"


def types_text(types: Iterable[ElementType]) -> str:
    """Returns the names of element types."""
    return " ".join(each.name for each in types)


def types_over_reals(types: Iterable[ElementType]) -> str:
    """Returns the names of element types, with one name for all floats, because each of them holds reals."""
    return " ".join("real" if each.is_floating else "complex" if each.is_complex else each.name for each in types)


class UnliftedError(Exception):
    """Raised for a value without a meaning over the reals."""


@dataclass(frozen=True, slots=True, eq=False)
class Extremum:
    """The set of numbers of which a maximum was taken, as the sum of their hashes; the identity is left out.

    A minimum is the negative of the maximum of the negatives, and holds the hashes of the negatives.
    """

    opcode: Extreme
    total: Words
    count: Words


@dataclass(frozen=True, slots=True, eq=False)
class Root:
    """The square root of which numbers are multiples: a hash of the root, its square, and the factors."""

    words: Words
    square: Real
    factor: Real

    def moved(self, move: Callable[[NDArray[Any]], NDArray[Any]]) -> Root:
        """Returns the roots after data movement."""
        return Root(move(self.words), self.square.moved(move), self.factor.moved(move))


@dataclass(frozen=True, slots=True, eq=False)
class Real:
    """Real numbers, or truth values as 0 and 1, as residues modulo P and modulo Q, one for each round.

    `extremum` holds the numbers of which these are the maximum, so that max(max(a, b), c) = max(a, b, c). `root` holds
    the square root of which these are multiples, so that sqrt(x) * sqrt(x) = x. `log` returns the logarithm of a
    product or power as a sum. Complex numbers are elements of the field, too, in which i is a random number.
    """

    draw: Draw
    first: Words
    second: Words
    extremum: Extremum | None = None
    root: Root | None = None
    log: Callable[[], Real] | None = None

    @property
    def dimensions(self) -> tuple[int, ...]:
        """Returns the dimensions of the array."""
        return self.first.shape[1:]

    @property
    def words(self) -> Words:
        """Returns words that differ for different numbers."""
        return self.draw.hashes.mixed(*self.first)

    @property
    def is_zero(self) -> NDArray[np.bool_]:
        """Is true at the indices of zeros."""
        found: NDArray[np.bool_] = (self.first == 0).all(axis=0)
        return found

    def moved(self, move: Callable[[NDArray[Any]], NDArray[Any]]) -> Real:
        """Returns the numbers after data movement."""
        extremum = self.extremum
        if extremum is not None:
            extremum = replace(extremum, total=move(extremum.total), count=move(extremum.count))
        root = None if self.root is None else self.root.moved(move)
        log = self.log
        moved_log = None if log is None else lambda: log().moved(move)
        return Real(self.draw, in_rounds(move, self.first), in_rounds(move, self.second), extremum, root, moved_log)


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """Integers: the bits of known ones, and a hash of the expression of unknown ones."""

    draw: Draw
    words: Words
    known: NDArray[np.bool_]

    @property
    def dimensions(self) -> tuple[int, ...]:
        """Returns the dimensions of the array."""
        return self.words.shape

    def moved(self, move: Callable[[NDArray[Any]], NDArray[Any]]) -> Whole:
        """Returns the numbers after data movement."""
        return Whole(self.draw, move(self.words), move(self.known))

    @property
    def is_known(self) -> bool:
        """Is true where all values are known."""
        return bool(self.known.all())


Value = Real | Whole


def in_rounds(move: Callable[..., NDArray[Any]], *arrays: Words) -> Words:
    """Returns the array that a function makes of the residues of each evaluation."""
    return np.stack([move(*rows) for rows in zip(*arrays, strict=True)])


def random_reals(draw: Draw, *words: Words | int, of: Real | None = None) -> Real:
    """Returns the values of a random function of the words at each index, and of a number.

    `of` adds residues to its hash, because the hashes of two numbers may collide (2^-64).
    """
    mixed = draw.hashes.mixed
    found = mixed(*words)[None] if of is None else mixed(mixed(*words, of.words)[None], of.first)
    return Real(draw, *draw.residues(found))


def whole_reals(draw: Draw, values: NDArray[Any]) -> Real:
    """Returns 64-bit integers as reals, signed or unsigned by their type."""
    return Real(draw, draw.first.whole(values), draw.second.whole(values))


def where(condition: NDArray[Any], a: Real, b: Real) -> Real:
    """Returns a where a condition is true, else b."""
    return Real(a.draw, np.where(condition, a.first, b.first), np.where(condition, a.second, b.second))


def unknown(draw: Draw, words: Words) -> Whole:
    """Returns unknown integers, which are equal where their hashes are equal."""
    return Whole(draw, words, np.zeros(words.shape, bool))


def words_of(value: Value) -> Words:
    """Returns words that differ for different values."""
    if isinstance(value, Real):
        return value.words
    return np.where(value.known, value.words, value.draw.hashes.mixed(3, value.words))


def merged(parts: list[Value], join: Callable[[list[Any]], NDArray[Any]]) -> Value:
    """Returns several arrays as one."""
    draw = parts[0].draw
    if all(isinstance(part, Real) for part in parts):
        reals = [part for part in parts if isinstance(part, Real)]
        return Real(
            draw,
            in_rounds(lambda *each: join(list(each)), *(part.first for part in reals)),
            in_rounds(lambda *each: join(list(each)), *(part.second for part in reals)),
        )
    integer_parts = [part for part in parts if isinstance(part, Whole)]
    return Whole(draw, join([part.words for part in integer_parts]), join([part.known for part in integer_parts]))
