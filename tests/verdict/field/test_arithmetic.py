"""Residues of 61 bits against Python's integers: at all ends of the ranges, in small and in large arrays."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from dialect_utils.verdict.field.arithmetic import Moduli, Words
from dialect_utils.verdict.field.draw import Draw, Powers, RandomBits, is_prime, safe_prime


def prime_near(start: int, step: int) -> int:
    """Returns the next odd prime in a direction."""
    number = start | 1
    while not is_prime(number):
        number += step
    return number


# The smallest and the largest possible Q and P, and drawn ones.
SMALLEST, LARGEST = prime_near(1 << 59, 2), prime_near((1 << 61) - 1, -2)
MIDDLE = prime_near(1 << 60, 2)
DRAW = Draw.of(1)
CHOICES = [Moduli((SMALLEST, MIDDLE, LARGEST)), DRAW.first, DRAW.second]


def ends(prime: int) -> list[int]:
    """Returns the residues at which a limb, a half or a quotient is an end of its range."""
    near = {0, 1, 2, prime - 1, prime - 2, prime // 2, prime // 2 + 1, prime // 3, isqrt(prime), isqrt(prime) + 1}
    for bits in (20, 21, 30, 31, 32, 41, 42, 52, 53, 59, 60):
        for edge in (1 << bits, prime - (1 << bits), prime >> bits << bits):
            near |= {edge - 1, edge, edge + 1}
    # All limbs of 21 bits at their ends.
    near |= {
        sum(limb << (21 * i) for i, limb in enumerate(limbs))
        for limbs in product((0, 1 << 20, (1 << 21) - 1), repeat=3)
    }
    return sorted(each for each in near if 0 <= each < prime)


def isqrt(number: int) -> int:
    return int(number**0.5)


def rows_of(moduli: Moduli) -> list[list[int]]:
    rows = [ends(prime) for prime in moduli.primes]
    size = min(map(len, rows))
    return [row[: size // 2] + row[-size // 2 :] for row in rows]


def words(rows: object) -> Words:
    return np.array(rows, np.uint64)


def pairs(moduli: Moduli) -> tuple[list[list[int]], list[list[int]]]:
    """Returns every end with every end."""
    rows = rows_of(moduli)
    return [[a for a in row for _ in row] for row in rows], [[b for _ in row for b in row] for row in rows]


OPERATIONS: dict[str, tuple[Callable[[Moduli, Words, Words], Words], Callable[[int, int, int], int]]] = {
    "add": (Moduli.add, lambda a, b, p: (a + b) % p),
    "multiply": (Moduli.multiply, lambda a, b, p: a * b % p),
    "negate": (lambda moduli, a, _: moduli.negate(a), lambda a, _, p: -a % p),
    "inverse": (lambda moduli, a, _: moduli.inverse(a), lambda a, _, p: pow(a, -1, p) if a else 0),
}


@pytest.mark.parametrize("moduli", CHOICES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_every_end_with_every_end(name: str, moduli: Moduli) -> None:
    operation, expected = OPERATIONS[name]
    first, second = pairs(moduli)
    found = operation(moduli, words(first), words(second)).tolist()
    for row, a, b, prime in zip(found, first, second, moduli.primes, strict=True):
        assert row == [expected(x, y, prime) for x, y in zip(a, b, strict=True)]


@pytest.mark.parametrize("size", [0, 1, 2, 7, 8, 9, 25, 4096, 4097, 10001])
@pytest.mark.parametrize("name", OPERATIONS)
def test_arrays_of_any_size(name: str, size: int) -> None:
    operation, expected = OPERATIONS[name]
    moduli, draw = CHOICES[0], random.Random(size)
    first, second = ([[draw.randrange(p) for _ in range(size)] for p in moduli.primes] for _ in "ab")
    found = operation(moduli, words(first).reshape(3, 1, size), words(second).reshape(3, 1, size))
    assert found.shape == (3, 1, size)
    for row, a, b, prime in zip(found.reshape(3, size).tolist(), first, second, moduli.primes, strict=True):
        assert row == [expected(x, y, prime) for x, y in zip(a, b, strict=True)]


def largest(moduli: Moduli, shape: tuple[int, ...]) -> Words:
    return np.broadcast_to(moduli.columns(1 + len(shape)) - np.uint64(1), (3, *shape)).copy()


@pytest.mark.parametrize("moduli", CHOICES)
@pytest.mark.parametrize("count", [1, 3, 8, 9, 1000, 70000])
def test_sums_and_products_of_the_largest_residues(moduli: Moduli, count: int) -> None:
    found = moduli.total(largest(moduli, (2, count)), 1)
    assert found.tolist() == [[-count % p] * 2 for p in moduli.primes]
    made = moduli.product(largest(moduli, (min(count, 50), 2)), 0)
    assert made.tolist() == [[(-1) ** min(count, 50) % p] * 2 for p in moduli.primes]


def exact_products(a: Words, b: Words, primes: tuple[int, ...]) -> list[object]:
    return [
        [[[sum(map(int.__mul__, row, column)) % prime for column in right] for row in left] for left, right in batches]
        for batches, prime in zip(
            (zip(x, y, strict=True) for x, y in zip(a.tolist(), b.tolist(), strict=True)), primes, strict=True
        )
    ]


@pytest.mark.parametrize("moduli", CHOICES)
@pytest.mark.parametrize("count", [0, 1, 2, 2047, 2048, 2049, 8191])
def test_matrices_whose_limbs_are_all_at_an_end(moduli: Moduli, count: int) -> None:
    for a, b in product(matrices(moduli, count), repeat=2):
        found = moduli.matmul(a, b)
        assert found.shape == (3, 1, 2, 2)
        assert found.tolist() == exact_products(a, b, moduli.primes)


def matrices(moduli: Moduli, count: int) -> Iterator[Words]:
    """Yields matrices of the largest residues, of limbs of the largest magnitude, and of random ones."""
    yield largest(moduli, (1, 2, count))
    for limbs in ((1 << 20, 1 << 20, 0), ((1 << 20) - 1, (1 << 20) - 1, (1 << 18) - 1)):
        yield np.full((3, 1, 2, count), sum(limb << (21 * i) for i, limb in enumerate(limbs)), np.uint64)
    yield np.random.default_rng(count).integers(0, SMALLEST, (3, 1, 2, count), np.uint64)


def test_batches_of_matrices() -> None:
    a, b = (np.random.default_rng(n).integers(0, SMALLEST, (3, 4, n, 5), np.uint64) for n in (2, 3))
    assert CHOICES[0].matmul(a, b).tolist() == exact_products(a, b, CHOICES[0].primes)


FLOATS = [0.0, -0.0, 1.0, -1.0, 0.1, 5e-324, -5e-324, 1.7976931348623157e308, 2.0**53 - 1, -(2.0**61), 2.0**31, 69.0]


def test_floats_are_exact() -> None:
    for moduli in CHOICES:
        found = moduli.dyadic(np.array(FLOATS).reshape(3, 4)).reshape(3, 12).tolist()
        fractions = [Fraction(each) for each in FLOATS]
        assert found == [[f.numerator * pow(f.denominator, -1, p) % p for f in fractions] for p in moduli.primes]
        assert moduli.rationals(fractions).tolist() == found
        assert moduli.dyadic(np.array(0.5)).tolist() == [(p + 1) // 2 for p in moduli.primes]


def test_integers_are_exact() -> None:
    signed = [0, 1, -1, (1 << 63) - 1, -(1 << 63), (1 << 61), -(1 << 61)]
    unsigned = [0, 1, (1 << 64) - 1, 1 << 63]
    for moduli in CHOICES:
        assert moduli.whole(np.array(signed)).tolist() == [[x % p for x in signed] for p in moduli.primes]
        found = moduli.whole(np.array(unsigned, np.uint64)).tolist()
        assert found == [[x % p for x in unsigned] for p in moduli.primes]


def test_powers_of_a_base() -> None:
    exponents = [0, 1, 2, 1023, 1024, 1025, (1 << 60) - 1, 1 << 59, (1 << 50) - 1, 0x123456789ABCDEF]
    moduli, bases = DRAW.first, [2, 3, 5]
    found = Powers.of(moduli, bases).of_exponents(words([exponents] * 3)).tolist()
    assert found == [[pow(b, e, p) for e in exponents] for b, p in zip(bases, moduli.primes, strict=True)]


# Draws


# Composite numbers that pass the test with the first four, nine and twelve primes as bases, and a Carmichael number.
PSEUDOPRIMES = (
    3215031751,
    3825123056546413051,
    318665857834031151167461,
    2152302898747,
    341550071728321,
    101 * 103 * 107,
)


def test_primes() -> None:
    small = [n for n in range(73, 5000, 2) if all(n % d for d in range(3, 72, 2))]
    assert [n for n in range(73, 5000, 2) if is_prime(n)] == small
    assert not any(is_prime(n) for n in PSEUDOPRIMES)
    assert is_prime((1 << 61) - 1)
    assert not is_prime(((1 << 31) - 1) * (prime_near(1 << 29, 2)))


@pytest.mark.parametrize("seed", range(5))
def test_a_draw_has_safe_primes_of_61_bits_and_bases_of_their_order(seed: int) -> None:
    draw = Draw.of(seed)
    for p, q in zip(draw.first.primes, draw.second.primes, strict=True):
        assert p == 2 * q + 1
        assert is_prime(p)
        assert is_prime(q)
        assert p.bit_length() == 61
    assert len({*draw.first.primes}) == 3
    one = words([[1]] * 3)
    base = draw.powers.of_exponents(one)
    assert (base > 4).all()
    assert (
        draw.powers.moduli.multiply(draw.powers.of_exponents(words(draw.second.primes).reshape(3, 1) - one), base) == 1
    ).all()


def test_a_draw_follows_from_its_seed_alone() -> None:
    assert Draw.of(7).first.primes == Draw.of(7).first.primes
    assert not {*Draw.of(7).first.primes} & {*Draw.of(8).first.primes}
    assert [safe_prime(RandomBits(3, "prime 0"))] == list(Draw.of(3).first.primes[:1])


def test_there_are_as_many_safe_primes_as_the_bound_counts() -> None:
    """One of 1,300 odd numbers q of 60 bits and 2 * q + 1 are prime: 4.4e14 of 2^58; the bound counts a quarter."""
    bits = RandomBits(5, "share")
    numbers = [(1 << 59) + 2 * bits.take(58) + 1 for _ in range(40_000)]
    found = sum(is_prime(q) and is_prime(2 * q + 1) for q in numbers)
    assert found / len(numbers) * 2**58 > 2e14


def test_hashes_of_equal_parts_differ() -> None:
    hashes = DRAW.hashes
    numbers = np.arange(1 << 16, dtype=np.uint64)
    found = [
        hashes.mixed(numbers),
        hashes.mixed(numbers, 0),
        hashes.mixed(0, numbers),
        hashes.mixed(numbers << np.uint64(48)),
        hashes.mixed(numbers, numbers),
        hashes.mixed(numbers, numbers, 1),
    ]
    # The number 0 has one hash, shifted or not, and so have two zeros.
    assert np.unique(np.concatenate(found)).size == 6 * (1 << 16) - 3
    assert abs(float(found[0].astype(np.float64).mean()) / 2**63 - 1) < 0.02


def test_a_digest_depends_on_the_places_and_dimensions() -> None:
    a = np.array([[3, 5], [7, 9]], np.uint64)
    found = {DRAW.hashes.digest(x) for x in (a, a.T, a[::-1], a.reshape(4), a.reshape(1, 4), a[:1], a[:0])}
    assert len(found) == 7
    assert Draw.of(2).hashes.digest(a) not in found
