"""Looks up equations by the operation that they are about: rewrites, commutative laws, laws of conversions."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from functools import lru_cache

from dialect_utils.layout import ELEMENT_TYPES, ElementType
from dialect_utils.ops import named
from dialect_utils.verdict.rules.conditions import Condition
from dialect_utils.verdict.rules.formats import word_bits
from dialect_utils.verdict.rules.matching import Node
from dialect_utils.verdict.rules.pattern import Pattern, element_type
from dialect_utils.verdict.rules.rule import Equation, Rule, all_rules

Found = tuple[Rule, Equation]
Kinds = tuple[ElementType, ...]
Roots = tuple[Hashable, ...]

_PAIR = 2
# Operations looked up by opcode alone, because their labels hold types or coefficients.
_OF_ATTRIBUTES = ("bitcast-convert", "ring")
# Operations that may equal a constant, and operations that may equal a polynomial.
_OF_CONSTANTS, _OF_POLYNOMIALS = named("negate convert"), named("add subtract multiply negate")


def root_of(term: Node) -> Hashable:
    """Returns the lookup key of a term: the operation, `constant` for numbers, None for others."""
    if term.kind == "splat":
        return root_of(term.operands[0])
    if term.kind != "each":
        return "constant" if term.kind == "constant" else None
    return term.label[0] if isinstance(term.label, tuple) and term.label[0] in _OF_ATTRIBUTES else term.label


@lru_cache(maxsize=65536)
def rewrites(
    root: Hashable, kind: str, operands: tuple[str, ...], operand_roots: Roots, has_equal_operands: bool
) -> tuple[Found, ...]:
    """Returns the equations that may rewrite an operation of types of some names on operations of some roots."""
    kinds = tuple(ELEMENT_TYPES[name] for name in (kind, *operands))
    is_pair = len(operands) == _PAIR and commutative_law(root, kind, operands[0]) is not None
    orders = [operand_roots, operand_roots[::-1]] if is_pair else [operand_roots]
    return tuple(
        (rule, equation)
        for rule, equation in _equations()
        if equation.is_rewriting
        and (has_equal_operands or len({*equation.left.operands}) == len(equation.left.operands))
        and _may_be(equation, equation.left, root, kinds)
        and any(_may_match(equation.left, order) for order in orders)
    )


def _may_match(pattern: Pattern, roots: Roots) -> bool:
    """Is true where terms with some roots may match the operands of a pattern."""
    return len(roots) != len(pattern.operands) or all(map(_may_have, pattern.operands, roots))


def _may_have(pattern: Pattern, root: Hashable) -> bool:
    if pattern.kind != "each":
        return pattern.kind == "variable" or root == "constant"
    if root in (pattern.root, "constant", "ring"):
        # A constant may match `negate` or `convert`.
        return root == pattern.root or pattern.name in (_OF_CONSTANTS if root == "constant" else _OF_POLYNOMIALS)
    return pattern.name == "convert" and has_conversion_law(root)


@lru_cache(maxsize=4096)
def commutative_law(root: Hashable, kind: str, operand: str) -> Rule | None:
    """Returns the rule that an operation commutes for operands of a type, by name; None for other operations."""
    kinds = ELEMENT_TYPES[kind], *[ELEMENT_TYPES[operand]] * _PAIR
    laws = (found for found in _equations() if is_commutative_law(found[1]))
    return next((rule for rule, law in laws if _may_be(law, law.left, root, kinds)), None)


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


def completed(equation: Equation, types: dict[str, ElementType]) -> dict[str, ElementType] | None:
    """Extends the types of the left side's names to all names such that the guard may hold; None if impossible."""
    if not equation.types_of_right:
        return types
    (name,) = equation.types_of_right
    candidates = ({**types, name: kind} for kind in ELEMENT_TYPES.values())
    return next((each for each in candidates if _is_possible(equation, each)), None)


@lru_cache(maxsize=1)
def _equations() -> tuple[Found, ...]:
    return tuple((rule, equation) for rule in all_rules() for equation in rule.equations)


def is_commutative_law(equation: Equation) -> bool:
    """Is true for `f(x, y) = f(y, x)`."""
    left, right = equation.left, equation.right
    is_of_variables = [each.kind for each in left.operands] == ["variable"] * _PAIR
    return is_of_variables and left.root == right.root and left.operands == right.operands[::-1]


def _is_conversion_law(equation: Equation, root: Hashable) -> bool:
    left, right = equation.left, equation.right
    return (left.name, left.type) == ("convert", "U") and right.root == left.operands[0].root == root


def _may_be(equation: Equation, pattern: Pattern, root: Hashable, kinds: Kinds) -> bool:
    """Is true where an operation with some root and types may match one side of an equation."""
    if pattern.kind != "each" or pattern.root != root:
        return False
    types: dict[str, ElementType] = {}
    for part, kind in zip((pattern, *pattern.operands), kinds, strict=False):
        if (element_type(part.type, types) or types.setdefault(part.type, kind)) != kind:
            return False
    return _is_possible(equation, types)


def _is_possible(equation: Equation, types: Mapping[str, ElementType]) -> bool:
    """Is true where the guard may hold for some types, and the types have the numbers of the right side."""
    return all(_may_hold(condition, types) for condition in equation.guard) and all(
        word_bits(types[part.type], part.name) is not None for part in _numbers(equation.right) if part.type in types
    )


def _numbers(pattern: Pattern) -> Iterator[Pattern]:
    return (part for part in pattern.parts() if part.kind == "number")


def _may_hold(condition: Condition, types: Mapping[str, ElementType]) -> bool:
    """Is true where a condition holds or cannot be decided yet, without constants or with unknown types."""
    try:
        return condition.holds(types, {})
    except KeyError:
        return True
