"""Conventions: equations that hold for most real numbers, but not for all."""

from __future__ import annotations

from collections.abc import Hashable
from enum import StrEnum

from dialect_utils.ops import Trait, has, is_opcode, named, with_trait
from dialect_utils.verdict.proof.terms import Term


class Convention(StrEnum):
    """A convention of the field, by the text with which a verdict names it (`x/x = 1`)."""

    QUOTIENT = "x/x = 1"
    ROOT = "sqrt(x) squared = x"
    LOGARITHM = "log(x y) = log(x) + log(y)"
    POWER = "x^y = exp(y log(x))"
    CONVERSIONS = "float conversions"
    FINITE = "is-finite"
    NOT_NAN = "no NaN"
    TOTAL_ORDER = "total order"
    INFINITY = "infinity is a number"
    NAN = "NaN is a number"


# Under these conventions `x == x` is true, so a program that tests for NaN equals a program that does not.
WITHOUT_NAN = frozenset((Convention.NOT_NAN, Convention.FINITE, Convention.NAN))
# Maximum and minimum.
EXTREMES = with_trait(Trait.IDEMPOTENT | Trait.BOUNDED)
# Operations that forward their operands' elements. A `pick` (one of several elements, by an index) is made by proofs
# only.
_FORWARDING = named("convert select broadcast concatenate gather") | {"pick"}


def name_of(label: Hashable) -> Hashable:
    """Returns the opcode in a term's label; for a reduction, the opcode that combines its elements."""
    if not isinstance(label, tuple) or not label:
        return label
    found: Hashable = label[1] if label[0] in ("reduce", "reduce-window") else label[0]
    return found


def is_forwarding(term: Term) -> bool:
    """Is true for terms whose elements are elements of the operands, converted or not."""
    name = name_of(term.label)
    is_movement = isinstance(name, str) and is_opcode(name) and has(name, Trait.MOVES_DATA)
    return term.kind in ("splat", "moved", "choice") or name in _FORWARDING or is_movement


def is_extreme(term: Term) -> bool:
    """Is true for maxima and minima, of which an infinity is the identity."""
    return name_of(term.label) in EXTREMES
