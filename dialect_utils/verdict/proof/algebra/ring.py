"""Integers of n bits as the ring of numbers modulo 2^n; shifts; sums and products of many scalars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from dialect_utils.layout import ElementType
from dialect_utils.ops import named
from dialect_utils.verdict.proof.algebra.numbers import is_exact, neutral_bits
from dialect_utils.verdict.proof.algebra.rule import INTEGERS, Rule

if TYPE_CHECKING:
    from dialect_utils.verdict.proof.terms import Term, Terms


# A product of atoms with their powers, sorted; a polynomial gives every product its coefficient.
Monomial = tuple[tuple["Term", int], ...]
Polynomial = dict[Monomial, int]

# Products of longer sums stay products: expanding them takes long and proves little.
_LONGEST_PRODUCT = 4096

RING = Rule(
    "integer-ring",
    "Integer add, subtract, multiply and negate wrap around, so they are a commutative ring modulo 2^n.",
    (
        "add(x, y) = add(y, x)",
        "multiply(x, y) = multiply(y, x)",
        "add(add(x, y), z) = add(x, add(y, z))",
        "multiply(multiply(x, y), z) = multiply(x, multiply(y, z))",
        "add(multiply(x, z), multiply(y, z)) = multiply(add(x, y), z)",
        "subtract(x, x) = 0",
        "subtract(x, y) = add(x, negate(y))",
        "multiply(x, 0) = 0",
        "multiply(add(x, 3), 2) = add(multiply(x, 2), 6)",
        "negate(negate(x)) = x",
    ),
    ("add(multiply(x, z), multiply(y, z)) = multiply(add(x, y), y)", "subtract(x, y) = subtract(y, x)"),
    INTEGERS,
)
NOT = Rule(
    "not-as-arithmetic",
    "In two's complement the bits of not x are those of -1 - x.",
    ("not(x) = subtract(-1, x)", "not(not(x)) = x", "not(add(x, y)) = subtract(not(x), y)"),
    ("not(x) = negate(x)",),
    ("s8", "s32", "s64"),
)
SHIFT = Rule(
    "shift-as-product",
    "Shifting left by k bits, k below the width, multiplies by 2^k modulo 2^n.",
    ("shift-left(x, 3) = multiply(x, 8)", "shift-left(shift-left(x, 1), 2) = shift-left(x, 3)"),
    ("shift-left(x, 3) = multiply(x, 6)",),
    INTEGERS,
)
ABS_SQUARED = Rule(
    "abs-squared",
    "The sign cancels in a square; -2^(n-1) is its own absolute value.",
    ("multiply(abs(x), abs(x)) = multiply(x, x)",),
    ("multiply(abs(x), abs(y)) = multiply(x, y)",),
    ("s8", "s32", "s64", "f32", "f16", "f64"),
)

# Operations that are written with sums and products.
OPCODES = named("add subtract multiply negate not shift-left")


def build(terms: Terms, opcode: str, element_type: ElementType, operands: Sequence[Term]) -> Term | None:
    """Returns a ring operation in normal form, or None for other operations."""
    if opcode == "shift-left":
        count = terms.constant_bits(operands[1])
        if count is None or count >= element_type.bits:
            return None
        terms.note(SHIFT)
        return from_polynomial(terms, _scaled(polynomial(terms, operands[0]), 1 << count), operands[0])
    if opcode not in OPCODES:
        return None
    found = [polynomial(terms, operand) for operand in operands]
    if opcode == "not":
        terms.note(NOT)
        return from_polynomial(terms, _sum({(): -1}, _scaled(found[0], -1)), operands[0])
    terms.note(RING)
    if opcode == "multiply":
        return from_polynomial(terms, _product(terms, operands, found), operands[0])
    if opcode == "negate":
        return from_polynomial(terms, _scaled(found[0], -1), operands[0])
    second = found[1] if opcode == "add" else _scaled(found[1], -1)
    return from_polynomial(terms, _sum(found[0], second), operands[0])


def rebuilt(terms: Terms, label: tuple[Any, ...], operands: Sequence[Term]) -> Term:
    """Returns the polynomial of a label (see `from_polynomial`) in other operands."""
    total: Polynomial = {}
    for coefficient, powers in label[1:]:
        product: Polynomial = {(): coefficient}
        for position, power in powers:
            for _ in range(power):
                factor = operands[position]
                product = _product_of(terms, product, polynomial(terms, factor))
        total = _sum(total, product)
    return from_polynomial(terms, total, operands[0])


def sum_of(terms: Terms, items: Sequence[Term]) -> Term:
    """Returns the sum of integers, of any number of them."""
    total: Polynomial = {}
    for item in items:
        for monomial, coefficient in polynomial(terms, item).items():
            total[monomial] = total.get(monomial, 0) + coefficient
    return from_polynomial(terms, total, items[0])


def polynomial(terms: Terms, term: Term) -> Polynomial:
    """Returns a term as a polynomial in terms that are no sums or products."""
    bits = terms.constant_bits(term)
    if bits is not None:
        return {(): bits} if bits else {}
    return terms.polynomials.get(term) or {((term, 1),): 1}


def from_polynomial(terms: Terms, found: Polynomial, like: Term) -> Term:
    """Returns the term of a polynomial, of the type and dimensions of `like`."""
    array = like.array
    bits = array.element_type.bits
    kept = {monomial: c % (1 << bits) for monomial, c in found.items() if c % (1 << bits)}
    if not kept:
        return terms.literal(array.element_type, 0, array.dimensions)
    if len(kept) == 1:
        ((monomial, coefficient),) = kept.items()
        if not monomial:
            return terms.literal(array.element_type, coefficient, array.dimensions)
        if coefficient == 1 and len(monomial) == 1 and monomial[0][1] == 1:
            return monomial[0][0]
    atoms = sorted({atom for monomial in kept for atom, _ in monomial}, key=lambda atom: atom.number)
    position = {atom: i for i, atom in enumerate(atoms)}
    label = sorted((tuple((position[atom], power) for atom, power in monomial), c) for monomial, c in kept.items())
    if array.dimensions and all(atom.kind == "splat" for atom in atoms):
        scalars = [atom.operands[0] for atom in atoms]
        spoken = ("ring", *((c, powers) for powers, c in label))
        return terms.splat(rebuilt(terms, spoken, scalars), array.dimensions)
    made = terms.each_as_is(("ring", *((c, powers) for powers, c in label)), array.element_type, atoms)
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


_SHIFT = "shift-right-logical"
HALVED = Rule(
    "unsigned-power-of-two",
    "Dividing an unsigned integer by 2^k drops its last k bits, which are the remainder.",
    ("divide(x, 8) = shift-right-logical(x, 3)", "remainder(x, 8) = and(x, 7)"),
    ("divide(x, 6) = shift-right-logical(x, 3)", "remainder(x, 6) = and(x, 5)"),
    ("u8", "u32"),
)
SHIFTED_TWICE = Rule(
    "shifted-twice",
    "Shifting right by j and by k bits is shifting by j + k, both below the width.",
    ("shift-right-logical(shift-right-logical(x, 3), 2) = shift-right-logical(x, 5)",),
    ("shift-right-logical(shift-right-logical(x, 3), 2) = shift-right-logical(x, 6)",),
    ("u8", "s8", "s32", "u32", "s64"),
)


def build_unsigned(terms: Terms, opcode: str, operands: Sequence[Term]) -> Term | None:
    """Returns a division, remainder or shift by a constant in normal form; None where nothing is known of it."""
    left, right = operands[0], operands[-1]
    kind, bits = left.array.element_type, terms.constant_bits(right)
    if bits is None:
        return None
    if opcode in ("divide", "remainder") and kind.is_unsigned and bits and not bits & (bits - 1):
        terms.note(HALVED)
        if opcode == "remainder":
            return terms.each("and", kind, (left, terms.literal(kind, bits - 1, left.array.dimensions)))
        return terms.each(_SHIFT, kind, (left, terms.literal(kind, bits.bit_length() - 1, left.array.dimensions)))
    if opcode != _SHIFT or left.kind != "each" or left.label != _SHIFT:
        return None
    first = terms.constant_bits(left.operands[1])
    if first is None or max(first, bits, first + bits) >= kind.bits:
        return None
    terms.note(SHIFTED_TWICE)
    return terms.each(_SHIFT, kind, (left.operands[0], terms.literal(kind, first + bits, left.array.dimensions)))


ONE_SUM = Rule(
    "one-sum", "The engine chooses the order in which one reduction by a commutative operation takes its elements."
)


def sum_of_products(terms: Terms, kind: ElementType, texts: Any, pairs: Iterable[tuple[Term, Term]]) -> Term:
    """Returns a sum of products, each rounded or not as the engine likes: of integers one number, else a set."""
    products = [_term_of_product(terms, kind, a, b) for a, b in pairs]
    if not products:
        return terms.literal(kind, 0, ())
    if kind.is_integral:
        return sum_of(terms, products)
    if len(products) == 1 and products[0].label != "product" and not texts:
        return _one_sum(terms, "add", products, terms.literal(kind, 0, ()))
    return terms.each_as_is(("sum-of-products", texts), kind, _sorted(products))


def _term_of_product(terms: Terms, kind: ElementType, left: Term, right: Term) -> Term:
    types = {left.array.element_type, right.array.element_type}
    if types == {kind}:
        return terms.each("multiply", kind, (left, right))
    if kind.is_integral and all(each.is_integral for each in types):
        converted = [terms.each("convert", kind, [item]) for item in (left, right)]
        return terms.each("multiply", kind, converted)
    return terms.each_as_is("product", kind, _sorted((left, right)))


def reduced(terms: Terms, opcode: str, items: Sequence[Term], initial: Term) -> Term:
    """Returns the reduction of scalars by a commutative operation."""
    kind = initial.array.element_type
    if not is_exact(opcode, kind):
        return _one_sum(terms, opcode, items, initial)
    if not items:
        return initial
    if opcode == "add" and kind.is_integral:
        return sum_of(terms, [initial, *items])
    if opcode == "multiply" and kind.is_integral:
        for item in items:
            initial = terms.each("multiply", kind, (initial, item))
        return initial
    return terms.each(opcode, kind, [initial, *items])


def _one_sum(terms: Terms, opcode: str, items: Sequence[Term], initial: Term) -> Term:
    """Returns a float sum or product whose terms the engine takes in an order of its own."""
    kind = initial.array.element_type
    if not items:
        return initial
    if len(items) == 1 and terms.constant_bits(initial) == neutral_bits(opcode, kind):
        return items[0]
    terms.note(ONE_SUM)
    return terms.each_as_is(("sum", opcode), kind, (initial, *_sorted(items)))


def _sorted(items: Sequence[Term]) -> list[Term]:
    return sorted(items, key=lambda item: item.number)
