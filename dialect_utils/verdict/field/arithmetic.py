"""Arithmetic on arrays of residues: the first dimension has one prime of up to 61 bits for each round.

A product of 61 and 61 bits does not fit any type of numpy. So one factor is split at 31 bits, the quotients by the
prime are found in f64, which is exact to within 1, and the rests are exact modulo 2^64. Arrays of a few elements are
computed by Python's integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.layout.proof.deadline import check_deadline

Words = NDArray[np.uint64]
_Signed = NDArray[np.int64]

_HALF = 31
_MASK = (1 << _HALF) - 1
# The most residues of an array that Python's integers compute faster.
_FEW = 24
# Residues of one prime that are multiplied at once, so that all intermediate arrays stay in the cache.
_BLOCK = 4096
# Limbs of a residue for sums of products: two of 21 bits, with a sign, and the rest.
_LIMB = 21
# Products of limbs are at most 2^40, of which a coefficient sums three: these sums stay exact in f64.
_MOST_TERMS = 1 << 11


@dataclass(frozen=True, slots=True, eq=False)
class Moduli:
    """Primes between 2^59 and 2^61, one for each round."""

    primes: tuple[int, ...]

    def columns(self, dimensions: int) -> Words:
        """Returns the primes as an array of a number of dimensions: the first one is the round."""
        return np.array(self.primes, np.uint64).reshape(-1, *[1] * (dimensions - 1))

    def alone(self) -> list[Moduli]:
        """Returns the primes of each round as single numbers."""
        return [Moduli((prime,)) for prime in self.primes]

    def add(self, a: Words, b: Words) -> Words:
        """Returns the sum."""
        return self._below(a + b)

    def negate(self, a: Words) -> Words:
        """Returns the negative."""
        return self._below(self.columns(a.ndim) - a)

    def _below(self, a: Words) -> Words:
        """Returns the residues of words below twice the prime."""
        with np.errstate(over="ignore"):
            # A negative number is a large word.
            found: Words = np.minimum(a, a - self.columns(a.ndim))
        return found

    def multiply(self, a: Words, b: Words) -> Words:
        """Returns the product of two arrays of the same dimensions."""
        if a.size <= _FEW:
            return self._multiplied_one_by_one(a, b)
        rows, others = a.reshape(len(a), -1), b.reshape(len(a), -1)
        if rows.shape[1] <= _BLOCK:
            return self._multiplied(rows, others).reshape(a.shape)
        found = np.empty(rows.shape, np.uint64)
        for part in _blocks(rows.shape[1]):
            found[:, part] = self._multiplied(rows[:, part], others[:, part])
        return found.reshape(a.shape)

    def _multiplied_one_by_one(self, a: Words, b: Words) -> Words:
        rows, others = (each.reshape(len(a), -1).tolist() for each in (a, b))
        pairs = zip(self.primes, rows, others, strict=True)
        found = [[x * y % prime for x, y in zip(row, other, strict=True)] for prime, row, other in pairs]
        return np.array(found, np.uint64).reshape(a.shape)

    def _multiplied(self, a: Words, b: Words) -> Words:
        """Returns a * (high * 2^31 + low): each quotient is found in f64, and each rest is exact modulo 2^64."""
        left, right = a.view(np.int64), b.view(np.int64)
        prime = self.columns(a.ndim).view(np.int64)
        inverse = 1.0 / prime
        high, low = right >> _HALF, right & _MASK
        floats = left.astype(np.float64)
        rest = left * high - (floats * (high * inverse)).astype(np.int64) * prime
        floats *= low
        floats += rest * float(1 << _HALF)
        quotient = (floats * inverse).astype(np.int64)
        return self._near((rest << _HALF) + left * low - quotient * prime)

    def _near(self, a: _Signed) -> Words:
        """Returns the residues of numbers from minus the prime to the prime."""
        words, prime = a.view(np.uint64), self.columns(a.ndim)
        return self._below(np.minimum(words, words + prime))

    def _shifted(self, a: Words, bits: int, addend: _Signed) -> Words:
        """Returns a * 2^bits + addend, for up to 31 bits and addends up to 2^60."""
        prime = self.columns(a.ndim).view(np.int64)
        left = a.view(np.int64)
        quotient = ((left * float(1 << bits) + addend) * (1.0 / prime)).astype(np.int64)
        return self._near((left << bits) + addend - quotient * prime)

    def inverse(self, a: Words) -> Words:
        """Returns inverses; 0 for 0."""
        rows = a.reshape(len(a), -1)
        found = self._inverses(np.where(rows == 0, np.uint64(1), rows))
        return np.where(rows == 0, np.uint64(0), found).reshape(a.shape)

    def _inverses(self, a: Words) -> Words:
        """Returns the inverses of [rounds, numbers]: of two numbers each is the other one over their product."""
        half = a.shape[1] // 2
        if a.size <= _FEW or not half:
            pairs = zip(self.primes, a.tolist(), strict=True)
            return np.array([[pow(x, -1, prime) for x in row] for prime, row in pairs], np.uint64).reshape(a.shape)
        left, right, rest = a[:, :half], a[:, half : 2 * half], a[:, 2 * half :]
        found = self._inverses(np.concatenate([self.multiply(left, right), rest], 1))
        inner = found[:, :half]
        return np.concatenate([self.multiply(inner, right), self.multiply(inner, left), found[:, half:]], 1)

    def total(self, a: Words, axis: int) -> Words:
        """Returns the sum along a dimension (the round does not count) of up to 2^30 numbers."""
        low = (a & np.uint64(_MASK)).sum(axis + 1, np.uint64)
        high = (a >> np.uint64(_HALF)).sum(axis + 1, np.uint64)
        return self._shifted(high % self.columns(high.ndim), _HALF, (low % self.columns(low.ndim)).view(np.int64))

    def product(self, a: Words, axis: int) -> Words:
        """Returns the product along a dimension; the round does not count."""
        result = np.ones(a.shape[: axis + 1] + a.shape[axis + 2 :], np.uint64)
        for i in range(a.shape[axis + 1]):
            check_deadline()
            result = self.multiply(result, np.take(a, i, axis + 1))
        return result

    def matmul(self, a: Words, b: Words) -> Words:
        """Returns [round, batch, rows, columns] of [.., rows, summed] and [.., columns, summed]."""
        found = np.zeros((*a.shape[:3], b.shape[2]), np.uint64)
        for start in range(0, a.shape[3], _MOST_TERMS):
            check_deadline()
            part = slice(start, start + _MOST_TERMS)
            found = self.add(found, self._matmul(a[..., part], b[..., part].swapaxes(2, 3)))
        return found

    def _matmul(self, a: Words, b: Words) -> Words:
        """Returns the product of matrices from products of their limbs."""
        left, right = _limbs(a), _limbs(b)
        found = np.zeros((*a.shape[:3], b.shape[3]), np.uint64)
        for place in reversed(range(2 * len(left) - 1)):
            check_deadline()
            used = range(max(0, place - len(left) + 1), min(place + 1, len(left)))
            sums = sum((left[i] @ right[place - i] for i in used), np.zeros(()))
            found = self._shifted(found, _LIMB, sums.astype(np.int64))
        return found

    def whole(self, values: NDArray[Any]) -> Words:
        """Returns the residues of integers of 64 bits, a number for each round."""
        primes = self.columns(values.ndim + 1)
        found: Words = np.mod(values, primes.view(np.int64) if values.dtype == np.int64 else primes).astype(np.uint64)
        return found

    def rationals(self, values: list[Fraction]) -> Words:
        """Returns the residues of rational numbers; raises ValueError where a prime divides a denominator."""
        rows = [[each.numerator * pow(each.denominator, -1, p) % p for each in values] for p in self.primes]
        return np.array(rows, np.uint64).reshape(len(self.primes), len(values))

    def dyadic(self, values: NDArray[Any]) -> Words:
        """Returns the residues of finite floats: each is a whole number times a power of two."""
        mantissas, exponents = np.frexp(values.astype(np.float64))
        whole = self.whole(np.asarray(np.ldexp(mantissas, 53)).astype(np.int64))
        shifts, places = np.unique(exponents.astype(np.int64) - 53, return_inverse=True)
        powers = self.rationals([Fraction(2) ** int(shift) for shift in shifts])
        return self.multiply(whole, powers[:, places.reshape(values.shape)])


def _blocks(size: int) -> Iterator[slice]:
    for start in range(0, size, _BLOCK):
        check_deadline()
        yield slice(start, start + _BLOCK)


def _limbs(a: Words) -> list[NDArray[np.float64]]:
    """Returns three numbers l with a = l[0] + l[1] * 2^21 + l[2] * 2^42, between -2^20 and 2^20."""
    rest, found = a.view(np.int64), []
    for _ in range(2):
        limb = ((rest + (1 << (_LIMB - 1))) & ((1 << _LIMB) - 1)) - (1 << (_LIMB - 1))
        rest = (rest - limb) >> _LIMB
        found.append(limb.astype(np.float64))
    return [*found, rest.astype(np.float64)]
