"""The random choices of one comparison: primes, bases of exponentials, and keys of hashes, all from one seed.

The primes are safe primes of about 61 bits: P = 2 * Q + 1 with Q prime.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import gcd, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.verdict.field.arithmetic import Moduli, Words

# Independent evaluations, each with primes of its own: the first dimension of all residues.
ROUNDS = 3

# Bits of a seed: more than the bits of any error bound.
SEED_BITS = 128
_LOW = np.uint64((1 << 32) - 1)
_HIGH = np.uint64(((1 << 32) - 1) << 32)
# The multipliers of splitmix64's finalizer.
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
# Digits of an exponent of 60 bits, whose powers are in a table.
_DIGIT, _DIGITS = 10, 6

# Q is between 2^59 and 2^60, P between 2^60 and 2^61.
LEAST_Q_BITS = 59
# At least so many safe primes may be drawn: Hardy and Littlewood's conjecture estimates 4.4e14.
SAFE_PRIMES = 10**14

# Four times the bytes that SHAKE-256 computes at once.
_BLOCK_BYTES = 544
_SMALL = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)
_PRODUCT_OF_SMALL = prod(_SMALL)
# The test by Miller and Rabin with these bases is exact below 3.3e24 (Sorenson and Webster, 2015).
_BASES = (2, *_SMALL[:12])


def fresh_seed() -> int:
    """Returns a seed that nobody knows beforehand."""
    return secrets.randbits(SEED_BITS)


@dataclass(frozen=True, slots=True, eq=False)
class Hashes:
    """Functions of words that are random by secret keys.

    Two lists of words have the same 64 bits with a probability of 2^-64, also if an attacker chose them: these are the
    upper halves of two sums of key times half a word (multilinear hashing; Thorup, arXiv 1504.06804, section 3.5).
    """

    seed: int
    _keys: list[Words] = field(default_factory=list)
    # The number of the first word of each sequence.
    _starts: dict[tuple[int, int], int] = field(default_factory=dict)

    def mixed(self, *words: Words | np.uint64 | int) -> Words:
        """Returns a hash of the words at each index, in their order."""
        keys = self._keys_of(len(words))
        upper, lower = keys[len(words)][:2]
        with np.errstate(over="ignore"):
            for word, (_, _, a, b, c, d) in zip(words, keys, strict=False):
                halves = np.asarray(word, np.uint64)
                low, high = halves & _LOW, halves >> np.uint64(32)
                upper = upper + (low * a + high * b)
                lower = lower + (low * c + high * d)
            return finished((upper & _HIGH) | (lower >> np.uint64(32)))

    def sequence(self, word: int, count: int) -> Words:
        """Returns a hash for each element of a sequence, computed from a word and the element's position."""
        start = self._starts.setdefault((word, count), sum(size for _, size in self._starts))
        words = np.arange(start, start + count, dtype=np.uint64)
        with np.errstate(over="ignore"):
            words += self.mixed()
        return finished(words)

    def digest(self, array: NDArray[Any]) -> int:
        """Returns a hash of a whole array of words, its dimensions included."""
        flat = np.ascontiguousarray(array, np.uint64).reshape(-1)
        places = self.mixed(flat, np.arange(flat.size, dtype=np.uint64))
        with np.errstate(over="ignore"):
            folded = int(places.sum(dtype=np.uint64)), int(np.bitwise_xor.reduce(places)) if flat.size else 0
        return int(self.mixed(*folded, *map(int, array.shape)))

    def word_of(self, text: str) -> int:
        """Returns a hash of a text."""
        key = self.seed.to_bytes(SEED_BITS // 8, "little")
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8, key=key).digest(), "little")

    def _keys_of(self, count: int) -> list[Words]:
        """Returns the keys of positions 0 to `count`: two for a list that ends there, four for a word there."""
        while len(self._keys) <= count:
            bits = RandomBits(self.seed, f"hash {len(self._keys)}")
            self._keys.append(np.array([bits.take(64) for _ in range(6)], np.uint64))
        return self._keys


def finished(words: Words) -> Words:
    """Returns words that look independent of each other, one for each (splitmix64's finalizer)."""
    with np.errstate(over="ignore"):
        words = (words ^ (words >> np.uint64(30))) * _MIX[0]
        words = (words ^ (words >> np.uint64(27))) * _MIX[1]
        return np.asarray(words ^ (words >> np.uint64(31)))


@dataclass(frozen=True, slots=True, eq=False)
class Powers:
    """The powers of one base for each round, from a table of the powers of each digit: [round, position, digit]."""

    moduli: Moduli
    table: Words

    @classmethod
    def of(cls, moduli: Moduli, bases: Sequence[int]) -> Powers:
        """Computes the table of powers of a base."""
        table = np.ones((len(bases), _DIGITS, 1), np.uint64)
        for doubling in range(_DIGIT):
            steps = [1 << (_DIGIT * position + doubling) for position in range(_DIGITS)]
            factors = [[pow(b, step, p) for step in steps] for b, p in zip(bases, moduli.primes, strict=True)]
            column = np.array(factors, np.uint64)[..., np.newaxis]
            table = np.concatenate([table, moduli.multiply(table, np.broadcast_to(column, table.shape))], -1)
        return cls(moduli, table)

    def of_exponents(self, exponents: Words) -> Words:
        """Returns the powers of exponents below 2^60, [round, ...]."""
        found = self._digit(exponents, 0)
        for position in range(1, _DIGITS):
            found = self.moduli.multiply(found, self._digit(exponents, position))
        return found

    def _digit(self, exponents: Words, position: int) -> Words:
        digits = (exponents >> np.uint64(_DIGIT * position)) & np.uint64((1 << _DIGIT) - 1)
        rows = self.table[:, position]
        return np.stack([row[each.astype(np.int64)] for row, each in zip(rows, digits, strict=True)])


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """Everything that is random in one comparison: P = 2 * Q + 1 and the base of exponentials for each round, hashes.

    The base has order Q modulo P, so base ** x is a function of x modulo Q.
    """

    seed: int
    first: Moduli
    second: Moduli
    powers: Powers
    hashes: Hashes
    _spread: Words

    @classmethod
    def of(cls, seed: int) -> Draw:
        """Draws all random numbers from a seed."""
        primes = tuple(safe_prime(RandomBits(seed, f"prime {i}")) for i in range(ROUNDS))
        bases = [_square(RandomBits(seed, f"base {i}"), prime) for i, prime in enumerate(primes)]
        moduli = Moduli(primes)
        bits = RandomBits(seed, "rounds")
        keys = np.array([[bits.take(64) for _ in range(ROUNDS)] for _ in range(4)], np.uint64)
        orders = Moduli(tuple((prime - 1) // 2 for prime in primes))
        return cls(seed, moduli, orders, Powers.of(moduli, bases), Hashes(seed), keys)

    def residues(self, words: Words) -> tuple[Words, Words]:
        """Returns random residues modulo P and Q: functions of words [round, ...], or [1, ...] for all rounds."""
        return self._spread_by(self._spread[0], words), self._spread_by(self._spread[1], words, self.second)

    def residues_of_inputs(self, words: Words) -> tuple[Words, Words]:
        """Returns random residues by separate keys, so that inputs and functions never share a number."""
        return self._spread_by(self._spread[2], words), self._spread_by(self._spread[3], words, self.second)

    def _spread_by(self, keys: Words, words: Words, moduli: Moduli | None = None) -> Words:
        columns = (moduli or self.first).columns(words.ndim)
        return finished(words ^ keys.reshape(columns.shape)) % columns


def _square(bits: RandomBits, prime: int) -> int:
    """Returns a random square modulo a safe prime, of order (prime - 1) / 2."""
    while True:
        found = pow(bits.take(64), 2, prime)
        if found > 1:
            return found


class RandomBits:
    """A stream of random bits: blocks of SHAKE-256 of a seed, a name, and a counter."""

    def __init__(self, seed: int, name: str) -> None:
        self._text = f"{seed} {name}"
        self._blocks = 0
        self._left = b""

    def take(self, bits: int) -> int:
        """Returns the next number of so many bits, 512 at most."""
        size = -(-bits // 8)
        if len(self._left) < size:
            self._blocks += 1
            self._left = hashlib.shake_256(f"{self._text} {self._blocks}".encode()).digest(_BLOCK_BYTES)
        found, self._left = self._left[:size], self._left[size:]
        return int.from_bytes(found, "little") >> (8 * size - bits)


def is_prime(number: int) -> bool:
    """Is true for primes; exact for odd numbers between 47 and 3.3e24."""
    if gcd(number, _PRODUCT_OF_SMALL) != 1:
        return False
    twos = ((number - 1) & -(number - 1)).bit_length() - 1
    return all(_may_be_prime(number, twos, base) for base in _BASES)


def _may_be_prime(number: int, twos: int, base: int) -> bool:
    """Is true where a base does not witness that a number is composite; 2^`twos` is the even part of number - 1."""
    power = pow(base, (number - 1) >> twos, number)
    if power in (1, number - 1):
        return True
    for _ in range(twos - 1):
        power = power * power % number
        if power == number - 1:
            return True
    return False


def safe_prime(bits: RandomBits) -> int:
    """Returns a random safe prime P: each one with the same probability."""
    while True:
        # Q of 60 bits, the highest and the lowest of which are set.
        q = (1 << LEAST_Q_BITS) + 2 * bits.take(LEAST_Q_BITS - 1) + 1
        p = 2 * q + 1
        # Most numbers fail at the first base.
        if gcd(q * p, _PRODUCT_OF_SMALL) == 1 and pow(2, q - 1, q) == 1 and is_prime(p) and is_prime(q):
            return p
