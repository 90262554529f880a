"""How each case of an equation is verified: the method follows from its formats and operations alone."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Literal

import numpy as np

from dialect_utils.layout import ELEMENT_TYPES, ElementType
from dialect_utils.ops.choices import USES, Choice
from dialect_utils.verdict.rules import Pattern, Rule
from dialect_utils.verdict.rules.formats import is_lossless, value_of
from tests.rules import by_solver, exhaustive, ring
from tests.rules.cases import Case
from tests.rules.samples import random_bits, special_bits
from tests.rules.translation import UntranslatedError

Method = Literal["every bit pattern", "polynomial", "solver", "argument", "choice"]
METHODS: tuple[Method, ...] = ("every bit pattern", "polynomial", "solver", "argument", "choice")
# Operands of at most so many bits together are enumerated; the second number is for floats of at most 8 bits, many of
# which no solver has.
_FEW_BITS, _MANY_BITS = 16, 27
_SAMPLES = 4000
_NARROW_FLOAT = 8
_HALF = 16


@dataclass(frozen=True, slots=True)
class Argument:
    """A reason why a rule holds for formats that no other method decides; random bits have to agree with it.

    `is_first` says that solvers could be asked, but take too long.
    """

    rule: str
    text: str
    covers: Callable[[Mapping[str, ElementType]], bool]
    is_first: bool = False


def _is_narrow(kind: ElementType) -> bool:
    return kind.is_floating and kind.bits <= _NARROW_FLOAT


ARGUMENTS = (
    Argument(
        "convert-lossless",
        "U holds the number itself, so both sides round one number to V. A definition that rounds to f32 before it "
        "rounds to a V of at most 8 bits gives the same: f32 has more than twice the digits of V, and its range.",
        lambda types: "V" in types and _is_narrow(types["V"]),
    ),
    Argument(
        "whole-numbers",
        "Every number of U from an integer is whole: a U of at most 8 bits either holds the integer, or rounds it to a "
        "number so large that its distance to the next is at least 1, or to infinity or NaN.",
        lambda types: "U" in types and _is_narrow(types["U"]),
    ),
    Argument(
        "remainder-twice",
        "The remainder is exact, below the divisor, and has the sign of the dividend. The quotient of a number below "
        "the divisor is 0 after truncation, so its remainder is itself. NaN, infinities and zeros are sampled.",
        lambda types: types["T"].is_floating,
    ),
    Argument(
        "convert-exact",
        "Rounding to nearest, with ties to even, rounds a number and its opposite to opposites. A choice takes one of "
        "two values whole, before a conversion or after it.",
        lambda types: "U" in types and _is_narrow(types["U"]),
    ),
    Argument(
        "convert-computed-wider",
        "f32 has at least 2 p + 2 digits for p digits of f16 and bf16, so two roundings are one (Figueroa, 1995), also "
        "of subnormal results: a product has 2 p digits, a quotient is no nearer to a tie, and a remainder is exact. "
        "The definitions compute these types in f32, too.",
        lambda types: types["T"].bits == _HALF and types["U"].name == "f32",
        is_first=True,
    ),
    Argument(
        "convert-divided-wider",
        "U holds both operands and the quotient without its fraction, but for the lowest number divided by -1, whose "
        "quotient wraps around to the same bits. Divided by 0, all bits are set, and the dividend remains. A count of "
        "at least the width leaves 0, or copies of the sign.",
        lambda types: types["T"].bits > _NARROW_FLOAT,
        is_first=True,
    ),
)


def method_of(rule: Rule, case: Case) -> Method | None:
    """Returns the method that verifies a case, None where there is none."""
    if case.level == "order":
        return "choice"
    if case.bits <= (_MANY_BITS if any(map(_is_narrow, case.types.values())) else _FEW_BITS):
        return "every bit pattern"
    if _is_polynomial(case):
        return "polynomial"
    argument = argument_for(rule, case)
    if argument is not None and argument.is_first:
        return "argument"
    if _is_translated(case):
        return "solver"
    return "argument" if argument is not None else None


def argument_for(rule: Rule, case: Case) -> Argument | None:
    """Returns the argument that covers a case."""
    found = (each for each in ARGUMENTS if each.rule == rule.name and each.covers(case.types))
    return next(found, None)


def _is_polynomial(case: Case) -> bool:
    """Is true where both sides are polynomials over integers, of which no solver multiplies wide ones well."""
    return case.types.get("T", ELEMENT_TYPES["pred"]).is_integral and ring.is_equation_of_polynomials(case.equation)


def is_choice(case: Case) -> bool:
    """Is true where both sides are one function of one number, which the definition lets an engine round as it likes.

    Each conversion of an operand keeps the number; one of the result rounds it.
    """
    sides = [_unconverted(side) for side in (case.equation.left, case.equation.right)]
    opcodes = {part.name for part in sides[0].parts() if part.kind == "each"}
    is_kept = is_lossless(case.types["T"], case.types["U"])
    return str(sides[0]) == str(sides[1]) and opcodes <= USES[Choice.FUNCTION_ROUNDING] and is_kept


def _unconverted(pattern: Pattern) -> Pattern:
    """Returns a pattern without conversions."""
    if pattern.name == "convert":
        return _unconverted(pattern.operands[0])
    return replace(pattern, operands=tuple(map(_unconverted, pattern.operands)))


def _is_translated(case: Case) -> bool:
    try:
        by_solver.query(case, {})
    except UntranslatedError:
        return False
    return True


# Verification


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a verification: `holds`, `refuted` with the bits of variables and constants, or `undecided`."""

    outcome: str
    bits: tuple[tuple[str, int], ...] = ()
    seconds: float = 0.0


def verify(case: Case, method: Method, limit_s: float) -> Result:
    """Verifies a case by a method."""
    if method == "solver":
        found = by_solver.answer(case, limit_s)
        return Result(found.outcome, found.bits, found.seconds)
    if method == "choice":
        return Result("holds" if is_choice(case) else "undecided")
    if method == "polynomial":
        return Result("holds" if _is_polynomial(case) else "undecided")
    counterexample = exhaustive.counterexample(case) if method == "every bit pattern" else sampled(case)
    return Result("holds") if counterexample is None else Result("refuted", tuple(sorted(counterexample.items())))


def is_confirmed(case: Case, bits: Mapping[str, int]) -> bool:
    """Is true where the definitions give two results for the bits of a counterexample, which the guard admits."""
    values = {name: _column([bits[name]], kind) for name, kind in case.leaves.items()}
    return _is_admitted(case, bits) and bool(len(exhaustive.differences(case, values)))


def _is_admitted(case: Case, bits: Mapping[str, int]) -> bool:
    return case.equation.holds(case.types, {name: bits[name] for name in case.constants})


def _column(bits: Sequence[int], kind: ElementType) -> exhaustive.Bits:
    """Returns numbers as an array of the bits of a type."""
    if kind.name != "c128":
        return np.array(bits, np.uint64)
    low = (1 << 64) - 1
    return np.array([(each & low, each >> 64) for each in bits], np.uint64).view(exhaustive.WIDE).reshape(-1)


def sampled(case: Case) -> dict[str, int] | None:
    """Returns random bits for which both sides differ, None where none were found."""
    rng = random.Random(str(case))
    rows = [bits for bits in _samples(case, rng) if _is_admitted(case, bits)]
    values = {name: _column([bits[name] for bits in rows], kind) for name, kind in case.leaves.items()}
    at = exhaustive.differences(case, values)
    return rows[at[0]] if len(at) else None


def _samples(case: Case, rng: random.Random) -> Iterator[dict[str, int]]:
    leaves = case.leaves
    narrow = [kind for kind in case.types.values() if _is_narrow(kind)]
    for name, kind in leaves.items():
        near = [bits for target in narrow for bits in _near_ties(target, kind)]
        for bits in (*special_bits(kind), *near):
            yield {other: random_bits(leaves[other], rng) for other in leaves} | {name: bits}
    for _ in range(_SAMPLES):
        yield {name: random_bits(kind, rng) for name, kind in leaves.items()}


@cache
def _near_ties(target: ElementType, source: ElementType) -> tuple[int, ...]:
    """Returns the bits of a wider type at the numbers of a narrow one, between two of them, and next to both."""
    if source.is_complex:
        return ()
    found = (value_of(target, bits) for bits in range(1 << target.bits))
    numbers = sorted({Fraction(value) for value in found if isinstance(value, Fraction | int)})
    middles = [(low + high) / 2 for low, high in pairwise(numbers)]
    beyond = [2 * numbers[-1] - numbers[-2], 2 * numbers[0] - numbers[1]]
    bits = set()
    for value in (*numbers, *middles, *beyond):
        at = _bits_near(source, value)
        bits |= {(at + step) & ((1 << source.bits) - 1) for step in (-2, -1, 0, 1, 2)}
    return tuple(sorted(bits))


def _bits_near(kind: ElementType, value: Fraction) -> int:
    """Returns the bits of a number of a wide type that is near a value."""
    if kind.is_integral or kind.name == "pred":
        return int(value) & ((1 << kind.bits) - 1)
    with np.errstate(over="ignore"):
        wide = np.array([float(value)]).astype(f"f{kind.storage_bytes}")
    return int(exhaustive.bits_of(wide, kind)[0])
