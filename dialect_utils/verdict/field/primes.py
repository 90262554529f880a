"""Random safe primes: P = 2 * Q + 1 with Q prime, of about 61 bits."""

from __future__ import annotations

import hashlib
from math import gcd, prod

# Q is between 2^59 and 2^60, P between 2^60 and 2^61.
LEAST_Q_BITS = 59
# At least so many may be drawn: Hardy and Littlewood's conjecture estimates 4.4e14.
SAFE_PRIMES = 10**14

# Four times the bytes that SHAKE-256 computes at once.
_BLOCK_BYTES = 544
_SMALL = (3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47)
_PRODUCT_OF_SMALL = prod(_SMALL)
# The test by Miller and Rabin with these bases is exact below 3.3e24 (Sorenson and Webster, 2015).
_BASES = (2, *_SMALL[:12])


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
