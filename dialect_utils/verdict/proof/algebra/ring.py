"""Integers of n bits as the ring of numbers modulo 2^n."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.ops import named
from dialect_utils.verdict.rules.conversions import NARROWED
from dialect_utils.verdict.rules.integers import ABS_SQUARED, RING

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms


# A product of atoms with their powers, sorted; a polynomial gives every product its coefficient.
Monomial = tuple[tuple["Term", int], ...]
Polynomial = dict[Monomial, int]

# Products of longer sums stay products: expanding them takes long and proves little.
_LONGEST_PRODUCT = 4096

# Operations that become polynomials.
OPCODES = named("add subtract multiply negate")


def build(terms: Terms, opcode: str, element_type: ElementType, operands: Sequence[Term]) -> Term | None:
    """Returns a ring operation in normal form, or None for other operations."""
    if opcode not in OPCODES:
        return None
    before = terms.each_as_is(opcode, element_type, operands)
    found = [polynomial(terms, operand) for operand in operands]
    if opcode == "multiply":
        return from_polynomial(terms, _product(terms, operands, found), before)
    if opcode == "negate":
        return from_polynomial(terms, _scaled(found[0], -1), before)
    second = found[1] if opcode == "add" else _scaled(found[1], -1)
    return from_polynomial(terms, _sum(found[0], second), before)


def rebuilt(terms: Terms, label: tuple[Any, ...], operands: Sequence[Term]) -> Term:
    """Returns the polynomial of a `ring` label with the given operands as atoms."""
    total: Polynomial = {}
    for coefficient, powers in label[1:]:
        product: Polynomial = {(): coefficient}
        for position, power in powers:
            for _ in range(power):
                factor = operands[position]
                product = _product_of(terms, product, polynomial(terms, factor))
        total = _sum(total, product)
    return from_polynomial(terms, total, terms.each_as_is(label, operands[0].array.element_type, operands))


def sum_of(terms: Terms, before: Term) -> Term:
    """Returns the sum of all operands of a term, which are integers, as a polynomial."""
    if not before.is_specified:
        return before
    total: Polynomial = {}
    for item in before.operands:
        for monomial, coefficient in polynomial(terms, item).items():
            total[monomial] = total.get(monomial, 0) + coefficient
    return from_polynomial(terms, total, before)


def polynomial(terms: Terms, term: Term) -> Polynomial:
    """Returns a term as a polynomial in atoms, which are terms other than sums and products."""
    bits = terms.constant_bits(term)
    if bits is not None:
        return {(): bits} if bits else {}
    return terms.polynomials.get(term) or {((term, 1),): 1}


def from_polynomial(terms: Terms, found: Polynomial, before: Term) -> Term:
    """Returns the term of a polynomial, of the type and dimensions of `before`, which has the same value."""
    array = before.array
    modulus = 1 << array.element_type.bits
    kept = {monomial: c % modulus for monomial, c in found.items() if c % modulus}
    made = _plain(terms, kept, array)
    if made is None:
        return _of_atoms(terms, kept, before)
    terms.step(RING, before, made)
    return made


def _plain(terms: Terms, kept: Polynomial, array: ArrayShape) -> Term | None:
    """Returns the term of a polynomial that is a constant or an atom; None for other polynomials."""
    if not kept:
        return terms.literal(array.element_type, 0, array.dimensions)
    (monomial, coefficient), *others = kept.items()
    if others:
        return None
    if not monomial:
        return terms.literal(array.element_type, coefficient, array.dimensions)
    return monomial[0][0] if coefficient == 1 and len(monomial) == 1 and monomial[0][1] == 1 else None


def _of_atoms(terms: Terms, kept: Polynomial, before: Term) -> Term:
    array = before.array
    atoms = sorted({atom for monomial in kept for atom, _ in monomial}, key=lambda atom: atom.number)
    position = {atom: i for i, atom in enumerate(atoms)}
    label = sorted((tuple((position[atom], power) for atom, power in monomial), c) for monomial, c in kept.items())
    spoken = ("ring", *((c, powers) for powers, c in label))
    made = terms.each_as_is(spoken, array.element_type, atoms)
    terms.step(RING, before, made)
    if array.dimensions and all(atom.kind == "splat" for atom in atoms):
        return terms.of_splats(spoken, array.element_type, atoms)
    terms.polynomials[made] = kept
    return made


def _sum(first: Polynomial, second: Polynomial) -> Polynomial:
    total = dict(first)
    for monomial, coefficient in second.items():
        total[monomial] = total.get(monomial, 0) + coefficient
    return total


def _scaled(found: Polynomial, factor: int) -> Polynomial:
    return {monomial: coefficient * factor for monomial, coefficient in found.items()}


def _product(terms: Terms, operands: Sequence[Term], found: Sequence[Polynomial]) -> Polynomial:
    if min(map(len, found)) > 1 and len(found[0]) * len(found[1]) > _LONGEST_PRODUCT:
        found = [{((operand, 1),): 1} for operand in operands]
    return _product_of(terms, found[0], found[1])


def _product_of(terms: Terms, first: Polynomial, second: Polynomial) -> Polynomial:
    total: Polynomial = {}
    for monomial, coefficient in first.items():
        for other, factor in second.items():
            joined = _joined(terms, monomial, other)
            total[joined] = total.get(joined, 0) + coefficient * factor
    return total


def _joined(terms: Terms, first: Monomial, second: Monomial) -> Monomial:
    if not first or not second:
        return first or second
    powers: dict[Term, int] = {}
    for atom, power in (*first, *second):
        powers[atom] = powers.get(atom, 0) + power
    for atom, power in list(powers.items()):
        if power % 2 == 0 and atom.label == "abs" and atom.kind == "each" and atom.operands[0] not in terms.polynomials:
            terms.note(ABS_SQUARED)
            del powers[atom]
            inner = atom.operands[0]
            powers[inner] = powers.get(inner, 0) + power
    return tuple(sorted(powers.items(), key=lambda item: item[0].number))


def narrowed(terms: Terms, before: Term) -> Term | None:
    """Returns convert(x * y + z) to fewer bits as convert(x) * convert(y) + convert(z); None for other terms."""
    (operand,), kind = before.operands, before.array.element_type
    wide = operand.array.element_type
    if operand not in terms.polynomials or not kind.is_integral or kind.bits > wide.bits:
        return None
    written = [terms.each_as_is("convert", kind, [part]) for part in operand.operands]
    terms.step(NARROWED, before, terms.each_as_is(operand.label, kind, written))
    return terms.each(operand.label, kind, [terms.each("convert", kind, [part]) for part in operand.operands])
