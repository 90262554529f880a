"""The cases of an equation: every choice of formats that its guard admits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

from dialect_utils.execution.reference import elementwise
from dialect_utils.layout import ELEMENT_TYPES, ElementType
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.ops.domain import UndefinedError
from dialect_utils.verdict.rules.conditions import Types
from dialect_utils.verdict.rules.formats import word_bits
from dialect_utils.verdict.rules.pattern import Pattern, element_type
from dialect_utils.verdict.rules.rule import Equation, Level
from tests.rules.samples import special_bits

_TYPE_NAMES = "TUV"


@dataclass(frozen=True, slots=True)
class Case:
    """An equation over given formats."""

    equation: Equation
    formats: tuple[tuple[str, ElementType], ...]

    @property
    def types(self) -> dict[str, ElementType]:
        """Returns the format of each type name."""
        return dict(self.formats)

    @property
    def level(self) -> Level:
        """Returns the equality that the equation claims for these formats."""
        return self.equation.level_of(self.types)

    @property
    def leaves(self) -> dict[str, ElementType]:
        """Returns the variables and the constants of the equation, by name, and their types."""
        found = {
            part.name: required_type(part, self.types)
            for side in (self.equation.left, self.equation.right)
            for part in side.parts()
            if part.kind in ("variable", "constant")
        }
        return dict(sorted(found.items()))

    @property
    def constants(self) -> list[str]:
        """Returns the names of the equation's constants."""
        return [
            name
            for name in self.leaves
            if any(
                part.kind == "constant" and part.name == name
                for side in (self.equation.left, self.equation.right)
                for part in side.parts()
            )
        ]

    @property
    def bits(self) -> int:
        """Returns the bits of all variables and constants together."""
        return sum(kind.bits for kind in self.leaves.values())

    def __str__(self) -> str:
        return f"{self.equation.text} over {', '.join(f'{name} = {kind}' for name, kind in self.formats)}"


def required_type(pattern: Pattern, types: Mapping[str, ElementType]) -> ElementType:
    """Returns the type of a pattern's value."""
    found = element_type(pattern.type, types)
    assert found is not None  # types binds every name of an equation
    return found


def type_names(equation: Equation) -> list[str]:
    """Returns the names of types that occur in an equation: T, U and V."""
    used = {part.type for side in (equation.left, equation.right) for part in side.parts()}
    return [name for name in _TYPE_NAMES if name in used]


def cases(equation: Equation) -> Iterator[Case]:
    """Yields the equation over all formats for which it has a meaning and its guard may hold."""
    names = type_names(equation)
    for kinds in product(ELEMENT_TYPES.values(), repeat=len(names)):
        types = dict(zip(names, kinds, strict=True))
        if _may_hold(equation, types) and _has_meaning(equation, types):
            case = Case(equation, tuple(types.items()))
            if has_constants(case):
                yield case


def has_constants(case: Case) -> bool:
    """Is true where the guard admits some special constants of the format, or the equation has none."""
    choices = [special_bits(case.leaves[name]) for name in case.constants]
    return any(
        case.equation.holds(case.types, dict(zip(case.constants, bits, strict=True))) for bits in product(*choices)
    )


def _may_hold(equation: Equation, types: Types) -> bool:
    """Is true where the conditions of the guard that name no constant hold."""
    return all(condition.holds(types, {}) for condition in equation.guard if not names_constant(condition))


def names_constant(condition: object) -> bool:
    """Is true for a condition on constants."""
    fields = getattr(condition, "__dataclass_fields__", {})
    return bool({"constant", "constants", "first", "low"} & {*fields})


def _has_meaning(equation: Equation, types: Types) -> bool:
    """Is true where each operation is defined for its operands, and each number is one of its type."""
    return all(_is_defined(part, types) for side in (equation.left, equation.right) for part in side.parts())


def _is_defined(part: Pattern, types: Types) -> bool:
    kind = required_type(part, types)
    if part.kind == "number":
        return word_bits(kind, part.name) is not None
    if part.kind != "each" or part.name in ("compare", "bitcast-convert"):
        return True
    return is_defined(part.name, kind, tuple(required_type(operand, types) for operand in part.operands))


@cache
def is_defined(opcode: str, result: ElementType, operands: tuple[ElementType, ...]) -> bool:
    """Is true where an operation has a definition for operands of some types."""
    try:
        elementwise.each(opcode, result, [np.zeros(1, dtype_of(kind)) for kind in operands])
    except (UndefinedError, TypeError):  # numpy raises TypeError where a complex number is made in another type
        return False
    return True
