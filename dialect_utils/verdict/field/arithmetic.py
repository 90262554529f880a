"""Arithmetic on arrays of residues, and random functions of 64-bit words."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

# P = 2 * Q + 1, both prime: Q is the order of the squares modulo P, so 4 ** x is a function of x modulo Q.
P = 2147483579
Q = (P - 1) // 2
GENERATOR = 4

_HALF = 16
# Products of 16-bit halves summed in float64 stay exact up to so many terms.
_MOST_TERMS = 1 << 20
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB), np.uint64(0x9E3779B97F4A7C15))


def add(a: Words, b: Words, prime: int) -> Words:
    """Returns the sum modulo a prime."""
    return (a + b) % np.uint64(prime)


def negate(a: Words, prime: int) -> Words:
    """Returns the negative modulo a prime."""
    return (np.uint64(prime) - a) % np.uint64(prime)


def multiply(a: Words, b: Words, prime: int) -> Words:
    """Returns the product modulo a prime."""
    return (a * b) % np.uint64(prime)


def power(base: Words, exponent: Words | int, prime: int) -> Words:
    """Returns powers modulo a prime, element by element."""
    rest = np.broadcast_to(np.asarray(exponent, np.uint64), base.shape).copy()
    result = np.ones(base.shape, np.uint64)
    factor = base.copy()
    while rest.any():
        result = np.where(rest & np.uint64(1), multiply(result, factor, prime), result)
        factor = multiply(factor, factor, prime)
        rest >>= np.uint64(1)
    return result


def inverse(a: Words, prime: int) -> Words:
    """Returns inverses modulo a prime; 0 for 0."""
    return power(a, prime - 2, prime)


def total(a: Words, axis: int, prime: int) -> Words:
    """Returns the sum along a dimension modulo a prime."""
    found: Words = a.sum(axis=axis, dtype=np.uint64) % np.uint64(prime)
    return found


def product(a: Words, axis: int, prime: int) -> Words:
    """Returns the product along a dimension modulo a prime."""
    result = np.ones(a.shape[:axis] + a.shape[axis + 1 :], np.uint64)
    for i in range(a.shape[axis]):
        result = multiply(result, np.take(a, i, axis), prime)
    return result


def matmul(a: Words, b: Words, prime: int) -> Words:
    """Returns [batch, rows, columns] of [batch, rows, summed] and [batch, columns, summed] modulo a prime."""
    count = a.shape[2]
    if count > _MOST_TERMS:
        parts = [
            matmul(a[:, :, i : i + _MOST_TERMS], b[:, :, i : i + _MOST_TERMS], prime)
            for i in range(0, count, _MOST_TERMS)
        ]
        return total(np.stack(parts), 0, prime)
    mask = np.uint64((1 << _HALF) - 1)
    halves = [(x & mask, x >> np.uint64(_HALF)) for x in (a, b)]
    (low, high), (other_low, other_high) = ((x.astype(np.float64), y.astype(np.float64)) for x, y in halves)
    columns = other_low.transpose(0, 2, 1), other_high.transpose(0, 2, 1)
    lows, middles, highs = (
        (each.astype(np.uint64)) % np.uint64(prime)
        for each in (low @ columns[0], low @ columns[1] + high @ columns[0], high @ columns[1])
    )
    shift = np.uint64((1 << _HALF) % prime)
    return (lows + (middles + highs * shift % np.uint64(prime)) % np.uint64(prime) * shift) % np.uint64(prime)


def rational(value: Fraction, prime: int) -> int:
    """Returns the residue of a rational number; raises ValueError where the prime divides its denominator."""
    return value.numerator * pow(value.denominator, -1, prime) % prime


def dyadic(values: NDArray[Any], prime: int) -> Words:
    """Returns the residues of finite floats: each is a whole number times a power of two."""
    mantissas, exponents = np.frexp(values.astype(np.float64))
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    residues = np.mod(whole, prime).astype(np.uint64)
    shifts = exponents.astype(np.int64) - 53
    powers = {int(k): pow(2, int(k), prime) for k in np.unique(shifts)}
    factors = np.array([powers[int(k)] for k in shifts.reshape(-1)], np.uint64).reshape(shifts.shape)
    return multiply(residues, factors, prime)


def mixed(*words: Words | np.uint64 | int) -> Words:
    """Returns a hash of the words at each index, in their order (splitmix64's finalizer, chained)."""
    shape = np.broadcast_shapes(*(np.shape(word) for word in words))
    state = np.full(shape, 0x243F6A8885A308D3, np.uint64)
    with np.errstate(over="ignore"):
        for word in words:
            state = state ^ np.asarray(word, np.uint64)
            state = (state + _MIX[2]) * _MIX[0]
            state = (state ^ (state >> np.uint64(29))) * _MIX[1]
            state = state ^ (state >> np.uint64(32))
            state = (state ^ (state >> np.uint64(30))) * _MIX[0]
            state = state ^ (state >> np.uint64(27))
    return state


def digest(array: NDArray[Any]) -> int:
    """Returns a hash of a whole array of words, its dimensions included."""
    flat = np.ascontiguousarray(array, np.uint64).reshape(-1)
    places = mixed(flat, np.arange(flat.size, dtype=np.uint64))
    with np.errstate(over="ignore"):
        folded = int(places.sum(dtype=np.uint64)), int(np.bitwise_xor.reduce(places)) if flat.size else 0
    return int(mixed(np.uint64(folded[0]), np.uint64(folded[1]), *map(int, array.shape)))


def word_of(text: str) -> int:
    """Returns a hash of a text."""
    import hashlib

    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
