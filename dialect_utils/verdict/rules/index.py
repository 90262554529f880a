"""Looks up equations by the operation that they are about: rewrites, commutative laws, laws of conversions."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from functools import lru_cache

from dialect_utils.layout import ELEMENT_TYPES, ElementType
from dialect_utils.verdict.rules.conditions import Condition
from dialect_utils.verdict.rules.formats import word_bits
from dialect_utils.verdict.rules.pattern import Pattern, element_type
from dialect_utils.verdict.rules.rule import Equation, Rule, all_rules

Found = tuple[Rule, Equation]
Kinds = tuple[ElementType, ...]


@lru_cache(maxsize=4096)
def rewrites(root: Hashable, kind: ElementType, operands: Kinds) -> tuple[Found, ...]:
    """Returns the equations that rewrite an operation with a result and operands of some types, in their order."""
    return tuple(
        (rule, equation)
        for rule, equation in _equations()
        if equation.is_rewriting and _may_be(equation, equation.left, root, (kind, *operands))
    )


@lru_cache(maxsize=4096)
def commutative_law(root: Hashable, kind: ElementType, operand: ElementType) -> Rule | None:
    """Returns the rule by which an operation of two operands commutes; None for others."""
    for rule, equation in _equations():
        left, right = equation.left, equation.right
        is_law = left.operands == right.operands[::-1] and [each.kind for each in left.operands] == ["variable"] * 2
        if is_law and left.root == right.root and _may_be(equation, left, root, (kind, operand, operand)):
            return rule
    return None


@lru_cache(maxsize=4096)
def conversion_laws(root: Hashable, narrow: ElementType, wide: ElementType) -> tuple[Found, ...]:
    """Returns the equations `convert[U](f(x)) = f(convert[U](x))` of an operation in two types."""
    return tuple(
        (rule, equation)
        for rule, equation in _equations()
        if _is_conversion_law(equation, root)
        and all(_may_hold(condition, {"T": narrow, "U": wide}) for condition in equation.guard)
    )


@lru_cache(maxsize=4096)
def has_conversion_law(root: Hashable) -> bool:
    """Is true for an operation that commutes with some conversions."""
    return any(_is_conversion_law(equation, root) for _, equation in _equations())


@lru_cache(maxsize=4096)
def completed(equation: Equation, types: tuple[tuple[str, ElementType], ...]) -> dict[str, ElementType] | None:
    """Returns types of all names of an equation for which the guard may hold, given those of some; None without any."""
    known = dict(types)
    missing = {part.type for part in equation.right.parts()} - known.keys() - ELEMENT_TYPES.keys()
    if not missing:
        return known
    (name,) = missing
    candidates = ({**known, name: kind} for kind in ELEMENT_TYPES.values())
    return next((each for each in candidates if _is_possible(equation, each)), None)


@lru_cache(maxsize=1)
def _equations() -> tuple[Found, ...]:
    return tuple((rule, equation) for rule in all_rules() for equation in rule.equations)


def _is_conversion_law(equation: Equation, root: Hashable) -> bool:
    left, right = equation.left, equation.right
    return (left.name, left.type) == ("convert", "U") and right.root == left.operands[0].root == root


def _may_be(equation: Equation, pattern: Pattern, root: Hashable, kinds: Kinds) -> bool:
    """Is true where an operation of some types may be an instance of one side of an equation."""
    if pattern.kind != "each" or pattern.root != root:
        return False
    types: dict[str, ElementType] = {}
    for part, kind in zip((pattern, *pattern.operands), kinds, strict=False):
        if (element_type(part.type, types) or types.setdefault(part.type, kind)) != kind:
            return False
    return _is_possible(equation, types)


def _is_possible(equation: Equation, types: Mapping[str, ElementType]) -> bool:
    """Is true where the guard may hold for some types, which have the numbers of the right side."""
    return all(_may_hold(condition, types) for condition in equation.guard) and all(
        word_bits(types[part.type], part.name) is not None for part in _numbers(equation.right) if part.type in types
    )


def _numbers(pattern: Pattern) -> Iterator[Pattern]:
    return (part for part in pattern.parts() if part.kind == "number")


def _may_hold(condition: Condition, types: Mapping[str, ElementType]) -> bool:
    """Is true where a condition holds, and where it is about constants or about types that are not known."""
    try:
        return condition.holds(types, {})
    except KeyError:
        return True
