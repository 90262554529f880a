"""Operands of comparisons, made simpler: conversions and signs on both sides, ends of the range, equal differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dialect_utils.layout import ELEMENT_TYPES
from dialect_utils.verdict.proof.algebra import ring
from dialect_utils.verdict.proof.algebra.conversions import is_lossless
from dialect_utils.verdict.proof.algebra.numbers import highest_bits, lowest_bits, number_bits, sign_bit
from dialect_utils.verdict.proof.algebra.rule import FLOATS, INTEGERS, PREDICATE, Rule

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms

CONVERTED = Rule(
    "compare-converted",
    "A conversion that loses nothing keeps the order, and what is equal.",
    (
        "compare[LT](convert[f64](x), convert[f64](y)) = compare[LT](x, y)",
        "compare[EQ](convert[f64](x), convert[f64](y)) = compare[EQ](x, y)",
    ),
    ("compare[LT](convert[s8](x), convert[s8](y)) = compare[LT](x, y)",),
    ("s32", "u8", "f32", "bf16", "f16"),
)
NEGATIVES = Rule(
    "compare-negatives",
    "A change of both signs turns the order of floats around.",
    (
        "compare[LT](negate(x), negate(y)) = compare[LT](y, x)",
        "compare[EQ](negate(x), negate(y)) = compare[EQ](x, y)",
    ),
    ("compare[LT](negate(x), negate(y)) = compare[LT](x, y)",),
    FLOATS,
)
ENDS = Rule(
    "compare-with-ends",
    "Nothing is below the lowest number; below the next integer is only the lowest, below the highest all others.",
    (
        "compare[LT](x, lowest) = false",
        "compare[LT](x, highest) = compare[NE](x, highest)",
        "compare[LE](x, lowest) = compare[EQ](x, lowest)",
    ),
    ("compare[LE](x, lowest) = false",),
    INTEGERS,
)
DIFFERENCES = Rule(
    "compare-differences",
    "Two integers are equal where the same added to both is.",
    (
        "compare[EQ](add(x, z), add(y, z)) = compare[EQ](x, y)",
        "compare[EQ](subtract(x, y), 0) = compare[EQ](x, y)",
        "compare[NE](add(x, 3), 5) = compare[NE](x, 2)",
    ),
    ("compare[EQ](add(x, y), 0) = compare[EQ](x, y)", "compare[EQ](multiply(x, 2), 4) = compare[EQ](x, 2)"),
    INTEGERS,
)
TRUTH = Rule(
    "compare-truth",
    "A truth value as a number is 0 or 1.",
    ("compare[NE](convert[s32](p), convert[s32](false)) = p", "compare[EQ](convert[f32](p), convert[f32](true)) = p"),
    ("compare[EQ](convert[s32](p), convert[s32](false)) = p",),
    PREDICATE,
)

TRUTH_TYPE = ELEMENT_TYPES["pred"]

# The label of an order that leaves NaN out.
_BELOW = ("compare", "LT", False)


def simpler(terms: Terms, direction: str, left: Term, right: Term) -> tuple[Term, Term] | None:
    """Returns two others of which a comparison says the same; None where none are known."""
    if left.kind == right.kind == "each" and left.label == right.label:
        first, second = left.operands[0], right.operands[0]
        kinds = first.array.element_type, second.array.element_type
        if left.label == "negate" and sign_bit(left.array.element_type) is not None:
            terms.note(NEGATIVES)
            return second, first
        if left.label == "convert" and kinds[0] == kinds[1] and is_lossless(kinds[0], left.array.element_type):
            terms.note(CONVERTED)
            return first, second
    return _of_difference(terms, left, right) if direction == "EQ" else None


def _of_difference(terms: Terms, left: Term, right: Term) -> tuple[Term, Term] | None:
    """Returns x and y where x - y is what two integers differ by, or its opposite; each a constant or no sum."""
    if not left.array.element_type.is_integral or not {left, right} & terms.polynomials.keys():
        return None
    kind, sizes = left.array.element_type, left.array.dimensions
    mask = (1 << kind.bits) - 1
    found = dict(ring.polynomial(terms, left))
    for monomial, coefficient in ring.polynomial(terms, right).items():
        found[monomial] = found.get(monomial, 0) - coefficient
    found = {monomial: coefficient & mask for monomial, coefficient in found.items() if coefficient & mask}
    constant = found.pop((), 0)
    atoms = [monomial[0][0] for monomial in found if len(monomial) == 1 and monomial[0][1] == 1]
    signs = [*found.values()]
    if len(atoms) < len(found) or not {*signs} <= {1, mask}:
        return None
    if len(atoms) == 1:
        # x + c, or -x + c, is 0 where x is -c, or c.
        bits = -constant if signs[0] == 1 else constant
        terms.note(DIFFERENCES)
        return atoms[0], terms.literal(kind, bits & mask, sizes)
    if len(atoms) == len(("x", "y")) and not constant and signs[0] != signs[1]:
        terms.note(DIFFERENCES)
        return atoms[0], atoms[1]
    return None


def decided(terms: Terms, direction: str, left: Term, right: Term) -> Term | None:
    """Returns a comparison with an end of the range, or of a truth value, as what it asks; None for others."""
    if direction == "EQ":
        found = _of_truth(terms, left, right)
        return found if found is not None else _with_end(terms, left, right)
    bits, element_type = terms.constant_bits(right), left.array.element_type
    if direction != "LT" or bits is None or not element_type.is_integral or bits != lowest_bits(element_type):
        return None
    terms.note(ENDS)
    return terms.literal(TRUTH_TYPE, 0, left.array.dimensions)


def _with_end(terms: Terms, left: Term, right: Term) -> Term | None:
    """Returns x = lowest as x < lowest + 1, and x = highest as what x < highest is not; None for others."""
    kind, sizes = left.array.element_type, left.array.dimensions
    lowest, highest = (lowest_bits(kind), highest_bits(kind)) if kind.is_integral else (None, None)
    for value, other in ((left, right), (right, left)):
        bits = terms.constant_bits(other)
        if bits is None or bits not in (lowest, highest):
            continue
        terms.note(ENDS)
        if bits == highest:
            return terms.each("not", TRUTH_TYPE, [terms.each(_BELOW, TRUTH_TYPE, (value, other))])
        above = terms.literal(kind, (bits + 1) % (1 << kind.bits), sizes)
        return terms.each(_BELOW, TRUTH_TYPE, (value, above))
    return None


def _of_truth(terms: Terms, left: Term, right: Term) -> Term | None:
    for value, other in ((left, right), (right, left)):
        bits = terms.constant_bits(other)
        is_converted = value.kind == "each" and value.label == "convert"
        is_truth = is_converted and value.operands[0].array.element_type == TRUTH_TYPE
        if bits is None or not is_truth:
            continue
        kind, inner = value.array.element_type, value.operands[0]
        terms.note(TRUTH)
        if bits == number_bits(kind, 1):
            return inner
        return terms.each("not", TRUTH_TYPE, [inner]) if bits == number_bits(kind, 0) else None
    return None
