"""Integer expressions as polynomials modulo 2^n over their parts, for steps of the rule `integer-ring`."""

from __future__ import annotations

from typing import Any

from dialect_utils.layout.proof.deadline import check_deadline
from dialect_utils.verdict.rules.matching import constant_bits

# The parts of a product with their powers; a polynomial gives every product its coefficient.
_Product = frozenset[tuple[Any, int]]
_Polynomial = dict[_Product, int]

_UNIT: _Product = frozenset()
# Levels of operations to expand on the left and right side of a step, the most frequent pairs first. They differ for a
# product that is too long to expand, which is one atom on the right and two levels on the left.
_DEPTHS = ((2, 2), (2, 1), (1, 1), (3, 3), (3, 2))
# The most products of an expansion.
_MOST_PRODUCTS = 20_000


class _TooLargeError(Exception):
    """Raised where an expansion has too many products."""


def is_same_polynomial(before: Any, after: Any) -> bool:
    """Is true where two integer expressions expand to one polynomial; even powers of abs(x) are even powers of x."""
    if not before.shape.element_type.is_integral:
        return False
    return any(_is_same(before, after, *depths) for depths in _DEPTHS)


def _is_same(before: Any, after: Any, depth: int, depth_after: int) -> bool:
    try:
        return _expanded(before, depth) == _expanded(after, depth_after)
    except (_TooLargeError, IndexError, TypeError, ValueError):
        # The last three types are errors for a malformed `ring` label.
        return False


def is_narrowed_ring(before: Any, after: Any) -> bool:
    """Is true for convert(x * y + z) to fewer bits and convert(x) * convert(y) + convert(z)."""
    inner = before.operands[0] if before.kind == "each" and before.label == "convert" else None
    if inner is None or inner.kind != "each" or after.kind != "each" or after.label != inner.label:
        return False
    kinds = inner.shape.element_type, after.shape.element_type
    return (
        isinstance(inner.label, tuple)
        and inner.label[0] == "ring"
        and all(kind.is_integral for kind in kinds)
        and kinds[1].bits <= kinds[0].bits
        and len(inner.operands) == len(after.operands)
        and all(
            each.kind == "each" and each.label == "convert" and each.operands == (part,)
            and part.shape == inner.shape and each.shape == after.shape
            for part, each in zip(inner.operands, after.operands, strict=True)
        )
    )  # fmt: skip


def _expanded(term: Any, depth: int) -> _Polynomial:
    """Returns the polynomial of a term over the terms `depth` levels below it."""
    modulus = 1 << term.shape.element_type.bits
    bits = constant_bits(term)
    if bits is not None:
        return _reduced({_UNIT: bits}, modulus)
    is_sum = depth > 0 and term.kind == "each" and all(each.shape == term.shape for each in term.operands)
    found = _of_operation(term, depth - 1, modulus) if is_sum else None
    return {frozenset([(term, 1)]): 1} if found is None else _reduced(found, modulus)


def _of_operation(term: Any, depth: int, modulus: int) -> _Polynomial | None:
    """Returns the polynomial of a sum or product; None for other operations."""
    match term.label:
        case ("ring", *products):
            return _total(_of_product(term, each, depth, modulus) for each in products)
        case "add" | ("sum", "add") | ("sum-of-products", _):
            return _total(_expanded(part, depth) for part in term.operands)
        case "multiply" | ("sum", "multiply"):
            product: _Polynomial = {_UNIT: 1}
            for part in term.operands:
                product = _times(product, _expanded(part, depth), modulus)
            return product
        case "subtract":
            left, right = term.operands
            return _total([_expanded(left, depth), _scaled(_expanded(right, depth), -1)])
        case "negate":
            return _scaled(_expanded(term.operands[0], depth), -1)
    return None


def _of_product(term: Any, written: tuple[int, Any], depth: int, modulus: int) -> _Polynomial:
    coefficient, powers = written
    product: _Polynomial = {_UNIT: coefficient}
    for position, power in powers:
        factor = _expanded(term.operands[position], depth)
        for _ in range(power):
            product = _times(product, factor, modulus)
    return product


def _total(parts: Any) -> _Polynomial:
    found: _Polynomial = {}
    for part in parts:
        for product, coefficient in part.items():
            found[product] = found.get(product, 0) + coefficient
    return found


def _scaled(found: _Polynomial, factor: int) -> _Polynomial:
    return {product: coefficient * factor for product, coefficient in found.items()}


def _times(first: _Polynomial, second: _Polynomial, modulus: int) -> _Polynomial:
    if len(first) * len(second) > _MOST_PRODUCTS:
        raise _TooLargeError
    found: _Polynomial = {}
    for one, factor in first.items():
        check_deadline()
        for other, coefficient in second.items():
            joined = _joined(one, other)
            found[joined] = found.get(joined, 0) + factor * coefficient
    return _reduced(found, modulus)


def _joined(first: _Product, second: _Product) -> _Product:
    powers: dict[Any, int] = {}
    for part, power in (*first, *second):
        powers[part] = powers.get(part, 0) + power
    for part, power in [*powers.items()]:
        if power > 1 and part.kind == "each" and part.label == "abs" and part.operands[0].shape == part.shape:
            inner = part.operands[0]
            powers[part] = power % 2
            powers[inner] = powers.get(inner, 0) + power - power % 2
    return frozenset(item for item in powers.items() if item[1])


def _reduced(found: _Polynomial, modulus: int) -> _Polynomial:
    return {product: each % modulus for product, each in found.items() if each % modulus}
