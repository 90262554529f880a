"""Checks one step between two expressions, by the equations of its rule or by the procedure of a scalar rule.

A step is checked from its two expressions alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.ops import EXTREMES, Trait, with_trait
from dialect_utils.verdict.replay.polynomials import is_narrowed_ring, is_same_polynomial
from dialect_utils.verdict.rules import Equation, Level, Pattern, try_rule
from dialect_utils.verdict.rules.conditions import LEFT, RIGHT
from dialect_utils.verdict.rules.formats import has, is_nan, word_bits
from dialect_utils.verdict.rules.matching import Use, constant_bits, sizes_of
from dialect_utils.verdict.terms.constants import folded
from dialect_utils.verdict.terms.primitives import Term

# Whether a certificate has the condition on data that no element of a term is a value, such as NaN.
Given = Callable[[str, Any], bool]


def check_scalar(rule: str, before: Any, after: Any, given: Given | None = None) -> Level | None:
    """Returns the finest known equality in which a rule makes two expressions equal, or None where it does not."""
    if before.shape != after.shape or not isinstance(before.shape, ArrayShape):
        return None
    for first, second in ((before, after), (after, before)):
        for equation, left, right in _oriented(rule, _root(first)):
            use = Use[Term]()
            if use.matches(left, first) and use.matches(right, second) and equation.holds(use.types, use.constants):
                sides = (first, second) if left is equation.left else (second, first)
                named = {**use.values, **dict(zip((LEFT, RIGHT), sides, strict=True))}
                conditions = [(value, named[each.name]) for each in equation.given for value in each.values]
                if not conditions or (given is not None and all(given(*each) for each in conditions)):
                    return equation.level_of(use.types)
    procedure = _PROCEDURES.get(rule)
    return None if procedure is None else procedure(before, after)


@lru_cache(maxsize=4096)
def _oriented(rule: str, root: str) -> tuple[tuple[Equation, Pattern, Pattern], ...]:
    """Returns the equations of a rule as (equation, from, to), in every direction in which `from` has this root."""
    found = try_rule(rule)
    sides = [
        (each, *pair)
        for each in (found.equations if found else ())
        for pair in ((each.left, each.right), (each.right, each.left))
    ]
    return tuple(side for side in sides if side[1].kind in ("each", "whole") and side[1].name == root)


def _root(term: Term) -> str:
    label = term.label[0] if isinstance(term.label, tuple) and term.label else term.label
    return label if term.kind in ("each", "op") and isinstance(label, str) else ""


# Procedures


def _splat(before: Term, after: Term) -> Level | None:
    """Compares an operation on repeated scalars with the repeated operation on the scalars."""
    if before.kind == "splat":
        before, after = after, before
    inner = after.operands[0] if after.kind == "splat" else after
    is_lifted = (
        before.kind == inner.kind == "each"
        and after.kind == "splat"
        and before.label == inner.label
        and _type(before) == _type(inner)
        and len(before.operands) == len(inner.operands)
        and all(
            each.kind == "splat" and sizes_of(each) == sizes_of(before) and each.operands[0] is scalar
            for each, scalar in zip(before.operands, inner.operands, strict=True)
        )
    )
    return "bits" if is_lifted else None


def _type(term: Term) -> ElementType:
    assert isinstance(term.shape, ArrayShape)  # checked by the caller
    return term.shape.element_type


def _level(kind: ElementType) -> Level:
    return "nan" if has(kind, "nan") else "bits"


def _flat(term: Term, opcode: str) -> Iterator[Term]:
    """Yields the operands of an operation, with nested operations of the same opcode flattened."""
    pending, left = [term], _MOST_PARTS
    while pending:
        part, left = pending.pop(), left - 1
        is_same = part.kind == "each" and part.label in (opcode, ("sum", opcode)) and left > 0
        if is_same and part.operands:
            pending += part.operands
        else:
            yield part


# The most operations that a step flattens; a step of a proof has few.
_MOST_PARTS = 100_000
_EXTREMES, _BITWISE = EXTREMES, with_trait(Trait.BITWISE | Trait.IDEMPOTENT)


def _sets(before: Term, after: Term) -> Level | None:
    """Compares two expressions of an operation for which order, nesting and repetition do not matter."""
    kind = _type(before)
    is_logical = has(kind, "integer") or has(kind, "pred")
    allowed = (*(_EXTREMES if is_logical or has(kind, "float") else ()), *(_BITWISE if is_logical else ()))
    for opcode in {_opcode(before), _opcode(after)} & {*allowed}:
        first, second = ({*_flat(term, opcode)} for term in (before, after))
        if first == second and all(term.shape == before.shape for term in first):
            return _level(kind)
    return None


def _opcode(term: Term) -> str:
    """Returns the opcode of an operation or of a reduction by one."""
    if isinstance(term.label, tuple) and len(term.label) == len(("sum", "opcode")) and term.label[0] == "sum":
        return str(term.label[1])
    return _root(term)


def _parity(before: Term, after: Term) -> Level | None:
    """Compares the operands that occur an odd number of times in two exclusive ors; not x is x xor 1...1."""
    if not (has(_type(before), "integer") or has(_type(before), "pred")):
        return None
    first, second = _odd(before), _odd(after)
    return "bits" if first is not None and first == second else None


def _odd(term: Term) -> tuple[set[Term], int] | None:
    odd: set[Term] = set()
    constant, ones = 0, (1 << _type(term).bits) - 1
    pending = list(_flat(term, "xor"))
    while pending:
        part = pending.pop()
        if part.shape != term.shape:
            return None
        bits = constant_bits(part)
        if part.kind == "each" and part.label == "not":
            constant ^= ones
            pending += _flat(part.operands[0], "xor")
        elif bits is None:
            odd ^= {part}
        else:
            constant ^= bits
    return odd, constant


def _logical(before: Term, after: Term) -> Level | None:
    return _sets(before, after) or _parity(before, after)


def _ring(before: Term, after: Term) -> Level | None:
    return "bits" if is_same_polynomial(before, after) else None


def _narrowed(before: Term, after: Term) -> Level | None:
    return "bits" if is_narrowed_ring(before, after) or is_narrowed_ring(after, before) else None


def _one_sum(before: Term, after: Term) -> Level | None:
    """Compares two sums of the same terms in any order, or a sum and its only term."""
    if _is_sum(before) and before.label == after.label and before.kind == after.kind and _opcode(before) in _SUMS:
        fixed = int(_root(before) == "sum")
        same = before.operands[:fixed] == after.operands[:fixed]
        same &= Counter(before.operands[fixed:]) == Counter(after.operands[fixed:])
        return "order" if same and _type(before) == _type(after) else None
    return (
        _only_term(before, after) or _only_term(after, before) or _in_order(before, after) or _in_order(after, before)
    )


# Reductions and sums of products, which take their terms in any order.
_SUMS = (*with_trait(Trait.COMMUTATIVE), "sum-of-products", "product")


def _is_sum(term: Term) -> bool:
    return term.kind == "each" and _root(term) in ("sum", "sum-of-products", "product")


def _only_term(total: Term, single: Term) -> Level | None:
    """Compares -0 + x with x (1 * x for products), and a sum of one product with 0 + product."""
    if total.kind != "each" or not isinstance(total.label, tuple):
        return None
    match total.label:
        case ("sum", str(opcode)):
            initial, *rest = total.operands
            word = {"add": "-0.0", "multiply": "1"}.get(opcode)
            neutral = None if word is None else word_bits(_type(total), word)
            if not rest:
                return "bits" if single is initial else None
            is_whole = rest == [single] and neutral is not None and constant_bits(initial) == neutral
            return "nan" if is_whole and has(_type(total), "float") else None
        case ("sum-of-products", ()):
            is_sum = single.kind == "each" and single.label == ("sum", "add") and len(total.operands) == 1
            is_zero = is_sum and constant_bits(single.operands[0]) == 0
            is_same = is_zero and single.operands[1:] == total.operands and _root(total.operands[0]) != "product"
            return "order" if is_same else None
    return None


def _in_order(total: Term, nested: Term) -> Level | None:
    """Compares a reduction with its operation on the initial value and each term, one after the other."""
    opcode = total.label[1] if _root(total) == "sum" and isinstance(total.label, tuple) else None
    for term in reversed(total.operands[1:]):
        if nested.kind != "each" or nested.label != opcode or len(nested.operands) != len(("total", "term")):
            return None
        is_typed = nested.shape == total.shape
        nested, last = nested.operands
        if last is not term or not is_typed:
            return None
    return "order" if opcode is not None and nested is total.operands[0] else None


def _constants(before: Term, after: Term) -> Level | None:
    """Compares an operation on constants with its result, and two constants that are NaN."""
    if constant_bits(before) is not None:
        before, after = after, before
    pair = constant_bits(before), constant_bits(after)
    if pair[0] is not None and pair[1] is not None:
        return "nan" if all(is_nan(_type(before), bits) for bits in pair if bits is not None) else None
    known = [(_type(each), constant_bits(each)) for each in before.operands if sizes_of(each) == sizes_of(before)]
    operands = tuple((kind, bits) for kind, bits in known if bits is not None)
    if before.kind != "each" or len(operands) < len(before.operands) or not operands:
        return None
    found, bits = folded(before.label, _type(before), operands), constant_bits(after)
    if found is None or bits is None:
        return None
    if is_nan(_type(before), found) and is_nan(_type(before), bits):
        return "nan"
    return "bits" if found == bits else None


_PROCEDURES: dict[str, Callable[[Any, Any], Level | None]] = {
    "splat": _splat,
    "constants": _constants,
    "integer-ring": _ring,
    "max-min": _sets,
    "bitwise": _logical,
    "convert-narrower": _narrowed,
    "one-sum": _one_sum,
}
