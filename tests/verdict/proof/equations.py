"""Instances of equations: element types and constants that the guard allows, written as expressions over arrays."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from dialect_utils.hlo.text.literals import format_scalar
from dialect_utils.layout import ELEMENT_TYPES, ElementType
from dialect_utils.verdict.rules import Equation, Pattern, Rule
from dialect_utils.verdict.rules.formats import word_bits
from dialect_utils.verdict.rules.pattern import element_type
from tests.verdict.proof import expressions as ex
from tests.verdict.proof.expressions import E

# Element types for which equations are tested; `make rules` verifies them for all types.
KINDS = ("pred", "s8", "u8", "s32", "u32", "s64", "f32", "f16", "bf16", "f64", "c64")
_OTHERS = ("s8", "u16", "s32", "f16", "f32", "f64", "c64")
_WORDS = ("0", "1", "2", "3", "4", "0.5", "-1", "-0.0", "lowest", "highest")
_SIZE = 64
_VARIABLES = {"x": 0, "y": 1, "z": 2, "p": 3, "q": 4}
_DIVISIONS = ("divide", "remainder")
# Instances of one equation for one type T.
_MOST = 2
_MOST_UNGUARDED = 8


@dataclass(frozen=True)
class Instance:
    """Both sides of an equation, and the types and the constants that its names stand for."""

    left: Pattern
    right: Pattern
    types: Mapping[str, ElementType]
    constants: Mapping[str, int]

    def __str__(self) -> str:
        names = {name: kind for name, kind in self.types.items() if name.isupper()}
        return f"{self.left} = {self.right} for {names} {dict(self.constants)}"

    @property
    def is_safe(self) -> bool:
        """Is true where no integer is divided by a variable, which may be 0."""
        divided = [part for side in (self.left, self.right) for part in side.parts() if part.name in _DIVISIONS]
        return not any(part.operands[1].kind == "variable" and _type(part, self.types).is_integral for part in divided)

    def sides(self) -> tuple[E, E]:
        """Returns both sides as expressions over arrays."""
        return self.expression(self.left), self.expression(self.right)

    def expression(self, pattern: Pattern) -> E:
        kind = _type(pattern, self.types)
        if pattern.kind == "variable":
            key = (pattern.name, kind.name)
            return _PARAMETERS.setdefault(key, ex.parameter(_VARIABLES[pattern.name], kind.name, (_SIZE,)))
        if pattern.kind == "each":
            operands = tuple(map(self.expression, pattern.operands))
            order = ", type=TOTALORDER" if pattern.is_total else ""
            attributes = f"direction={pattern.direction}{order}" if pattern.direction else ""
            return E(pattern.name, kind.name, operands[-1].dims, operands, attributes)
        bits = self.constants[pattern.name] if pattern.kind == "constant" else word_bits(kind, pattern.name)
        assert bits is not None  # so instances are chosen
        return ex.full(kind.name, format_scalar(kind, bits), (_SIZE,))


_PARAMETERS: dict[tuple[str, str], E] = {}


def instances(equation: Equation, kind: str) -> list[Instance]:
    """Returns some instances of an equation whose T is a type."""
    parts = [*equation.left.parts(), *equation.right.parts()]
    found = [each for each in _all(equation, parts, kind) if equation.holds(each.types, each.constants)]
    return random.Random(f"{equation.text} {kind}").sample(found, min(_MOST, len(found)))


def unguarded(equation: Equation, kind: str) -> list[Instance]:
    """Returns some instances of an equation whose T is a type, whether its guard holds or not."""
    found = [*_all(equation, [*equation.left.parts(), *equation.right.parts()], kind)]
    return random.Random(f"{equation.text} {kind}").sample(found, min(_MOST_UNGUARDED, len(found)))


def written(text: str, kind: str) -> list[Instance]:
    """Returns the instance of an equation without a guard for a type T; none where the type lacks a number of it."""
    equation = Equation(text)
    return [*_all(equation, [*equation.left.parts(), *equation.right.parts()], kind)]


def kinds_of(rule: Rule) -> list[str]:
    """Returns the types for which the examples of a rule are meant."""
    found = []
    for kind in KINDS:
        types = {"T": ELEMENT_TYPES[kind]}
        is_used = not rule.equations or any(instances(equation, kind) for equation in rule.equations)
        if is_used and all(condition.holds(types, {}) for condition in rule.domain):
            found.append(kind)
    return found


def _all(equation: Equation, parts: Sequence[Pattern], kind: str) -> Iterator[Instance]:
    free = sorted({part.type for part in parts if part.type in "UV"})
    names = sorted({part.name for part in parts if part.kind == "constant"})
    main = ELEMENT_TYPES[kind]
    candidates = {word_bits(main, word) for word in _WORDS if "." not in word or main.is_floating} - {None}
    if kind == "c64":
        candidates = {0}
    for others in product(_OTHERS, repeat=len(free)):
        types = {"T": main, **{name: ELEMENT_TYPES[other] for name, other in zip(free, others, strict=True)}}
        if not all(map(is_valid, parts, [types] * len(parts))):
            continue
        for bits in product(sorted(each for each in candidates if each is not None), repeat=len(names)):
            yield Instance(equation.left, equation.right, types, dict(zip(names, bits, strict=True)))


def is_valid(part: Pattern, types: Mapping[str, ElementType]) -> bool:
    """Is true where a module may hold an operation on its types, and a type has a number."""
    kind = _type(part, types)
    if part.kind == "number":
        return word_bits(kind, part.name) is not None
    if part.kind != "each":
        return True
    operand = _type(part.operands[0], types)
    match part.name:
        case "compare":
            return not operand.is_complex and (operand.is_floating or not part.is_total)
        case "bitcast-convert":
            return operand.bits == kind.bits and operand.is_complex == kind.is_complex and kind.name != "pred"
        case "convert":
            return operand.is_complex == kind.is_complex
        case "complex" | "real" | "imag":
            whole, single = (kind, operand) if part.name == "complex" else (operand, kind)
            return whole.is_complex and single.name == f"f{whole.bits // 2}"
        case "abs":
            return not kind.is_unsigned and kind.name != "pred"
    return True


def _type(part: Pattern, types: Mapping[str, ElementType]) -> ElementType:
    found = element_type(part.type, types)
    assert found is not None  # names of types are T, U, V
    return found
