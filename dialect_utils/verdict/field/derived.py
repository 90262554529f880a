"""Constants of one program that round a number made of the other program's constants, such as 1/1.7 for 1.7."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from math import exp, isfinite, log, sqrt
from operator import add, mul, sub, truediv

from dialect_utils.layout import ElementType
from dialect_utils.layout.arrays.floats import ulps_of
from dialect_utils.ops import by_opcode, named
from dialect_utils.verdict.field import functions
from dialect_utils.verdict.field.values import Real
from dialect_utils.verdict.proof.terms import Term
from dialect_utils.verdict.rules.formats import value_of

# A constant by its type and bits, and an operation on such constants that it rounds.
Known = tuple[ElementType, int]
Formula = tuple[str, tuple[Known, ...]]
# The operations that a compiler folds into a constant, in double precision: those of the definition round to its type.
_UNARY: Mapping[str, Callable[[float], float]] = {
    "1/x": lambda x: 1 / x,
    **by_opcode({"log": log, "sqrt": sqrt, "rsqrt": lambda x: 1 / sqrt(x), "exponential": exp}),
}
# The same of two constants.
_BINARY: Mapping[str, Callable[[float, float], float]] = by_opcode(
    {"multiply": mul, "divide": truediv, "add": add, "subtract": sub}
)
# The same for the values of a finite field, which has no roots and no powers.
_REALS: Mapping[str, Callable[..., Real]] = {
    "1/x": functions.inverse,
    **by_opcode(
        {
            "multiply": functions.multiply,
            "divide": functions.divide,
            "add": functions.add,
            "subtract": lambda x, y: functions.add(x, functions.negate(y)),
            "log": functions.log_of,
        }
    ),
}
# Functions that a library rounds to one of two neighbours.
_ROUNDED = named("log exponential rsqrt")
# Half a unit, and the rounding of a double.
_HALF = 0.5 * (1 + 2.0**-20)
# The most constants of a program that are combined.
_MOST = 12


def derived_constants(first: Iterable[Term], last: Iterable[Term]) -> tuple[tuple[Known, Formula], ...]:
    """Returns the constants of either program that the other one lacks, each with a formula of the other's constants.

    The constant is the formula's number rounded to its type, or its neighbour for functions that libraries round.
    """
    sides = [_constants(terms) for terms in (first, last)]
    found: dict[Known, Formula] = {}
    for own, others in (sides, sides[::-1]):
        formulas = [*_formulas({key: value for key, value in others.items() if key not in found})]
        for (kind, bits), value in own.items():
            if (kind, bits) in others or not value:
                continue
            unit = float(ulps_of(value, kind))
            for formula, number in formulas:
                distance = unit if formula[0] in _ROUNDED else unit * _HALF
                if (kind, bits) not in found and formula[1][0][0] == kind and abs(number - value) <= distance:
                    found[kind, bits] = formula
    return tuple(found.items())


def made(formula: Formula, constant: Callable[[Known], Real]) -> Real:
    """Returns the number of a formula; `constant` returns that of a constant."""
    name, operands = formula
    reals = [constant(each) for each in operands]
    return _REALS[name](*reals) if name in _REALS else functions.apply(name, *reals)


def _constants(terms: Iterable[Term]) -> dict[Known, float]:
    found = ((each.array.element_type, each.label) for each in terms if each.kind == "constant")
    known = {(kind, bits): value_of(kind, bits) for kind, bits in found if isinstance(bits, int) and kind.is_floating}
    return {key: float(value) for key, value in known.items() if value is not None and isfinite(value)}


def _formulas(constants: Mapping[Known, float]) -> Iterator[tuple[Formula, float]]:
    """Yields formulas with their numbers, those of one constant first."""
    items = [*constants.items()][:_MOST]
    pairs = [(x, y) for x in items for y in items if x[0][0] == y[0][0]]
    tried: list[tuple[str, tuple[tuple[Known, float], ...], Callable[..., float]]]
    tried = [(name, (x,), compute) for x in items for name, compute in _UNARY.items()]
    tried += [(name, pair, compute) for pair in pairs for name, compute in _BINARY.items()]
    for name, operands, compute in tried:
        try:
            yield (name, tuple(key for key, _ in operands)), compute(*(value for _, value in operands))
        except (ArithmeticError, ValueError):
            continue
