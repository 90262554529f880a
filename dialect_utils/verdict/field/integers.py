"""Integers next to the field: computed exactly where known, else represented by a hash of their expression."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.execution.reference.elementwise import each as evaluate
from dialect_utils.layout import ElementType
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.ops import Trait, named, with_trait
from dialect_utils.verdict.field.draw import Draw
from dialect_utils.verdict.field.values import Real, Whole, random_reals, unknown, where, whole_reals, words_of

SORTED = with_trait(Trait.COMMUTATIVE)


def known(draw: Draw, values: NDArray[np.int64], element_type: ElementType) -> Whole:
    """Returns integers whose values are known."""
    mask = (1 << element_type.bits) - 1
    words = values.astype(np.uint64) & np.uint64(mask)
    return Whole(draw, words, np.ones(words.shape, bool))


def numbers(value: Whole, element_type: ElementType) -> NDArray[np.int64]:
    """Returns the values of known integers (64 unsigned bits are read as signed)."""
    shift = np.int64(64 - element_type.bits)
    signed = value.words.astype(np.int64)
    return (signed << shift) >> shift if element_type.is_signed else signed


def indices(value: Whole, element_type: ElementType) -> NDArray[np.int64]:
    """Returns known integers as signed 64-bit indices; larger unsigned ones become the largest index."""
    found = numbers(value, element_type)
    return np.where((found < 0) & element_type.is_unsigned, np.iinfo(np.int64).max, found)


def apply(label: Any, element_type: ElementType, values: list[Whole]) -> Whole:
    """Returns an elementwise operation."""
    draw = values[0].draw
    if all(value.is_known for value in values):
        found = _computed(label, element_type, [numbers(value, element_type) for value in values])
        if found is not None:
            return known(draw, found, element_type)
    words = [words_of(value) for value in values]
    if isinstance(label, str) and label in SORTED:
        words = list(np.sort(np.stack(words), axis=0))
    return unknown(draw, draw.hashes.mixed(draw.hashes.word_of(f"{label!r} {element_type}"), *words))


def _computed(label: Any, element_type: ElementType, values: list[NDArray[np.int64]]) -> NDArray[np.int64] | None:
    """Returns a polynomial of known integers, or an operation by its definition; None for other operations."""
    if isinstance(label, tuple):
        total = np.zeros(values[0].shape, np.int64)
        for coefficient, powers in label[1:]:
            signed = coefficient - (1 << 64) if coefficient >= 1 << 63 else coefficient
            product = np.full(values[0].shape, signed, np.int64)
            with np.errstate(over="ignore"):
                for position, power in powers:
                    for _ in range(power):
                        product = product * values[position]
                total = total + product
        return total
    if label not in _EXACT or (element_type.is_unsigned and element_type.bits == 64):
        return None
    if label in _DIVISIONS and any((value == 0).any() for value in values[1:]):
        return None
    arrays = [value.astype(dtype_of(element_type)) for value in values]
    return reduce(lambda a, b: evaluate(label, element_type, [a, b]), arrays).astype(np.int64)


# Operations on known integers; sums and products are polynomials of the ring.
_EXACT = named("maximum minimum and or xor divide remainder")
_DIVISIONS = named("divide remainder")


def compare(direction: str, element_type: ElementType, first: Whole, second: Whole) -> Real:
    """Returns EQ or LT of two integers as a truth value."""
    draw, words = first.draw, (words_of(first), words_of(second))
    if direction == "EQ":
        words = np.minimum(*words), np.maximum(*words)
    found = random_reals(draw, draw.hashes.word_of(f"{direction} {element_type}"), *words)
    both = first.known & second.known
    a, b = numbers(first, element_type), numbers(second, element_type)
    if direction == "LT" and element_type.is_unsigned and min(a.min(initial=0), b.min(initial=0)) < 0:
        return found
    answer = (a == b) if direction == "EQ" else a < b
    return where(both, whole_reals(draw, answer.astype(np.uint64)), found)


def select(predicate: Real, first: Whole, second: Whole) -> Whole:
    """Returns one of two arrays of integers."""
    hashes = predicate.draw.hashes
    is_true, is_false = (predicate.first == 1).all(0), predicate.is_zero
    same = (first.words == second.words) & (first.known == second.known)
    mixed = hashes.mixed(hashes.word_of("select"), predicate.words, words_of(first), words_of(second))
    words = np.where(is_true | same, first.words, np.where(is_false, second.words, mixed))
    is_known = np.where(is_true | same, first.known, np.where(is_false, second.known, False))
    return Whole(predicate.draw, words, is_known)


def as_real(element_type: ElementType, value: Whole) -> Real:
    """Returns integers as reals."""
    draw, values = value.draw, numbers(value, element_type)
    found = random_reals(draw, draw.hashes.word_of(f"{element_type} as real"), value.words)
    # The values of 64 unsigned bits are read as signed.
    is_read = value.known & (values >= 0) if element_type.is_unsigned else value.known
    return where(is_read, whole_reals(draw, values), found)


def convert(source: ElementType, target: ElementType, value: Whole) -> Whole:
    """Returns integers of another width."""
    draw = value.draw
    if value.is_known and (target.bits >= source.bits):
        return known(draw, numbers(value, source), target)
    words = draw.hashes.mixed(draw.hashes.word_of(f"{source} to {target}"), words_of(value))
    return unknown(draw, words)


def positions(value: Whole, element_type: ElementType) -> Whole:
    """Returns indices; known indices of all integer types become the same 64-bit words."""
    words = np.where(value.known, indices(value, element_type).astype(np.uint64), value.words)
    return Whole(value.draw, words, value.known)
