"""Combinations: terms whose elements combine elements of other terms, its parts, by one operation.

A reduction, a reduction of windows and an elementwise operation combine elements; movement between them selects
elements. For example, element i of a cumulative sum of x combines x[0], ..., x[i]. Two terms that combine the same
elements are equal where the operation is exact; sums of floats are equal up to their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops import Trait, by_opcode, has
from dialect_utils.verdict.rules.formats import value_of, word_bits
from dialect_utils.verdict.terms.constants import folded
from dialect_utils.verdict.terms.primitives import Term

# Neutral elements of integers and truth values, in words of the rules.
_NEUTRAL = by_opcode(
    {"add": "zeros", "or": "zeros", "xor": "zeros", "and": "ones", "maximum": "lowest", "minimum": "highest"}
)
# The most terms of one combination.
_MOST_TERMS = 200


def neutral(opcode: str, kind: ElementType) -> int | None:
    """Returns the bits of a neutral element, which a combination may combine any number of times, or None."""
    if kind.is_complex:
        return None
    if opcode == "multiply":
        return word_bits(kind, "true" if kind.name == "pred" else "1")
    word = "-0.0" if opcode == "add" and kind.is_floating else _NEUTRAL.get(opcode)
    return None if word is None else word_bits(kind, word)


def is_exact(opcode: str, kind: ElementType) -> bool:
    """Is true where a combination does not depend on how its elements are grouped."""
    if opcode in ("maximum", "minimum"):
        return not kind.is_complex
    return kind.is_integral or kind.name == "pred"


def absorbs(opcode: str, kind: ElementType, bits: int | None) -> bool:
    """Is true for an initial value that may be combined twice: any in a maximum, a neutral element, +0 in a sum."""
    if has(opcode, Trait.IDEMPOTENT):
        return True
    is_zero = opcode == "add" and bits == 0 and value_of(kind, bits) == 0
    return bits is not None and (bits == neutral(opcode, kind) or is_zero)


@dataclass(frozen=True, slots=True)
class Combination:
    """The structure of a combination: the arrays below its parts, and the number of operations that combine the parts.

    `reductions` counts the reductions among these operations; only a reduction has an order of elements.
    """

    bases: frozenset[Term]
    operations: int
    reductions: int


def try_combination(term: Term, opcode: str) -> Combination | None:
    """Returns the structure of a term as a combination by an operation; None where it is not one."""
    if not isinstance(term.shape, ArrayShape) or not has(opcode, Trait.COMMUTATIVE) or kind_of(term).is_complex:
        return None
    combining, parts = _walked([term], lambda part: operands_of(part, opcode))
    reductions = [part for part in combining if label_of(part)[0] in ("reduce", "reduce-window")]
    operations = len(reductions) + sum(part.kind == "each" for part in combining)
    bases = frozenset(part for part in _walked(parts, _inner)[1] if bits_of_scalar(part) is None)
    return Combination(bases, operations, len(reductions)) if operations and len(combining) <= _MOST_TERMS else None


def opcode_of_combination(term: Term) -> str | None:
    """Returns the opcode by which a term's outermost operation combines elements; None for other terms."""
    match term.kind, label_of(term):
        case "op", ("reduce" | "reduce-window", str(opcode), *_):
            return opcode
        case "each", (str(opcode),) if has(opcode, Trait.COMMUTATIVE):
            return opcode
        case "each", ("ring", *products) if _is_plain_sum(products, len(term.operands)):
            return "add"
    return None


def inner_combinations(term: Term, opcode: str) -> frozenset[Term]:
    """Returns the nested combinations by the same opcode below a combination's outermost operation, moved or not."""
    while (selected := selected_by(term)) is not None:
        (term,) = selected

    def inner(part: Term) -> Sequence[Term] | None:
        return operands_of(part, opcode) if part is term or not _is_combining(part) else None

    found = _walked([term], inner)[1]
    return frozenset(part for part in found if _is_combining(part) and operands_of(part, opcode) is not None)


def _is_combining(term: Term) -> bool:
    return term.kind == "each" or label_of(term)[0] in ("reduce", "reduce-window")


def _walked(
    start: Sequence[Term], inner: Callable[[Term], Sequence[Term] | None]
) -> tuple[Sequence[Term], Sequence[Term]]:
    """Returns the visited terms for which `inner` returns operands, and the leaves; stops at too many."""
    seen: dict[Term, bool] = {}
    pending = [*start]
    while pending and len(seen) <= _MOST_TERMS:
        part = pending.pop()
        if part not in seen:
            operands = inner(part)
            seen[part] = operands is not None
            pending += operands or ()
    apart = [part for part, is_apart in seen.items() if is_apart]
    return apart, [part for part, is_apart in seen.items() if not is_apart]


def kind_of(term: Term) -> ElementType:
    """Returns the element type of an array."""
    assert isinstance(term.shape, ArrayShape)  # only arrays have parts
    return term.shape.element_type


def sizes_of(term: Term) -> tuple[int, ...]:
    """Returns the dimensions of an array."""
    assert isinstance(term.shape, ArrayShape)  # only arrays have parts
    return term.shape.dimensions


def label_of(term: Term) -> tuple[Any, ...]:
    """Returns the label of a term as a tuple."""
    return term.label if isinstance(term.label, tuple) else (term.label,)


def operands_of(term: Term, opcode: str) -> Sequence[Term] | None:
    """Returns the operands whose elements a term combines or moves; None for other operations, which are parts.

    A window padded with the initial value is a part, unless the initial value may be combined again.
    """
    match term.kind, label_of(term):
        case "moved", (Plan() as plan,) if not plan.regroups_bits and not _is_undefined(term):
            return term.operands
        case "each", (name, *rest):
            is_plain = name == opcode and not rest
            is_sum = name == "ring" and opcode == "add" and _is_plain_sum(rest, len(term.operands))
            is_one_type = all(each.shape == term.shape for each in term.operands)
            return term.operands if (is_plain or is_sum) and is_one_type else None
        case "op", ("concatenate", _) if 0 not in sizes_of(term):
            return term.operands
        case "op", ("reduce", name) if name == opcode:
            return term.operands
        case "op", ("reduce-window", name, window, has_padding) if name == opcode:
            is_padded = has_padding and any(dimension.has_padding for dimension in window)
            return None if is_padded and not may_repeat(term.operands[1], opcode) else term.operands
    return selected_by(term)


def selected_by(term: Term) -> Sequence[Term] | None:
    """Returns the one operand whose elements a term rearranges (broadcast, reverse, movement); else None."""
    match term.kind, label_of(term):
        case "splat", _:
            return term.operands
        case "moved", (Plan() as plan,) if not plan.regroups_bits and len(term.operands) == 1:
            return term.operands
        case "op", ("broadcast" | "reverse", _) if 0 not in sizes_of(term):
            return term.operands
    return None


def _inner(term: Term) -> Sequence[Term] | None:
    """Returns the operands of an elementwise operation or a rearrangement; None for other terms."""
    return term.operands if term.kind == "each" else selected_by(term)


def _is_undefined(term: Term) -> bool:
    return any(each.shape != ArrayShape(kind_of(term), ()) for each in term.operands[1:])


def _is_plain_sum(products: Sequence[Any], size: int) -> bool:
    """Is true for a polynomial that adds each of its operands once."""
    return sorted(products) == [(1, ((i, 1),)) for i in range(size)]


def may_repeat(part: Term, opcode: str) -> bool:
    """Is true for a part that may be combined twice instead of once: 0 in a sum, anything in a maximum."""
    if has(opcode, Trait.IDEMPOTENT):
        return True
    bits = bits_of_scalar(part)
    if bits is None:
        return False
    kind = kind_of(part)
    is_stable = is_exact(opcode, kind) and folded(opcode, kind, ((kind, bits), (kind, bits))) == bits
    return is_stable or absorbs(opcode, kind, bits)


def bits_of_scalar(part: Term) -> int | None:
    """Returns the bits of a constant scalar, None for other terms."""
    return part.label if part.kind == "constant" and isinstance(part.label, int) else None
