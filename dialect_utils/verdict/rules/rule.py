"""Rules of the algebra: equations that hold in IEEE and machine integer arithmetic, each declared once, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from dialect_utils.layout import ELEMENT_TYPES, ElementType
from dialect_utils.verdict.rules.conditions import Condition, Never
from dialect_utils.verdict.rules.formats import has
from dialect_utils.verdict.rules.pattern import Pattern, element_type, parse_pattern

# Equal bits; equal up to the sign and payload of a NaN; equal up to the engine's choices, too.
Level = Literal["bits", "nan", "order"]

_BY_NAME: dict[str, Rule] = {}


@dataclass(frozen=True, slots=True)
class Equation:
    """An equation `left = right` of two patterns, and the condition under which it holds.

    An arrow in place of the sign (`left -> right`) says that the prover rewrites instances of the left side. `level` is
    the finest equality that holds for all formats of the guard; without a NaN both sides have the same bits.
    """

    text: str
    guard: tuple[Condition, ...] = ()
    level: Level = "bits"
    left: Pattern = field(init=False)
    right: Pattern = field(init=False)
    # The type names that occur only on the right side.
    types_of_right: frozenset[str] = field(init=False)
    # The conditions on data; empty for an equation that holds for all data.
    given: tuple[Never, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "given", tuple(each for each in self.guard if isinstance(each, Never)))
        left, right = self.text.split(" -> " if self.is_rewriting else " = ")
        object.__setattr__(self, "left", parse_pattern(left))
        object.__setattr__(self, "right", parse_pattern(right))
        types = [{part.type for part in side.parts()} for side in (self.left, self.right)]
        object.__setattr__(self, "types_of_right", frozenset(types[1] - types[0] - ELEMENT_TYPES.keys()))

    @property
    def is_elementwise(self) -> bool:
        """Is true for an equation about the elements at one index."""
        return all(part.kind != "whole" for side in (self.left, self.right) for part in side.parts())

    @property
    def is_rewriting(self) -> bool:
        """Is true where the prover rewrites the left side to the right side."""
        return " -> " in self.text

    def holds(self, types: Mapping[str, ElementType], constants: Mapping[str, int]) -> bool:
        """Is true where all conditions of the guard hold."""
        return all(condition.holds(types, constants) for condition in self.guard)

    def level_of(self, types: Mapping[str, ElementType]) -> Level:
        """Returns the level of the equation over these types.

        Integers and truth values have no NaN. A float without one still shows the sign of a NaN that was converted.
        """
        kind = element_type(self.left.type, types)
        kinds = [*types.values()] if kind is None or has(kind, "float") else [kind]
        return self.level if self.level == "order" or any(has(each, "nan") for each in kinds) else "bits"


def bits(text: str, *guard: Condition) -> Equation:
    """Returns an equation whose sides have the same bits, also for NaN."""
    return Equation(text, guard)


def nan(text: str, *guard: Condition) -> Equation:
    """Returns an equation whose sides have the same bits, except for the bits of a NaN."""
    return Equation(text, guard, "nan")


def order(text: str, *guard: Condition) -> Equation:
    """Returns an equation whose sides differ by a choice that the definition leaves to the engine."""
    return Equation(text, guard, "order")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: its name, why it is exact, its equations, and examples.

    Patterns are written over variables x, y, z of a type T, truth values p, q and constants c, d: operators are opcodes
    with their attribute in brackets (`compare[LT](x, y)`, `convert[U](x)`), numbers are constants of T. Each equation
    is verified by itself. Tests execute the equations and `examples` with random data, for the formats of `domain`, and
    prove them; execution refutes each equation of `wrong`, which looks similar. A rule without equations has a
    procedure in the replay.
    """

    name: str
    why: str
    equations: tuple[Equation, ...] = ()
    wrong: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    domain: tuple[Condition, ...] = ()

    def __post_init__(self) -> None:
        if self.name in _BY_NAME:
            raise ValueError(f"two rules are named {self.name}")
        _BY_NAME[self.name] = self

    @property
    def is_conditional(self) -> bool:
        """Is true where an equation has conditions on data."""
        return any(equation.given for equation in self.equations)

    @property
    def is_elementwise(self) -> bool:
        """Is true where no equation is about whole arrays: then no step may read undefined padding."""
        return all(equation.is_elementwise for equation in self.equations)


@dataclass(frozen=True, slots=True)
class Definition(Rule):
    """A way in which operations become terms, such as the iterations of a loop.

    No step of a certificate uses it: the prover and the replay make the terms of a module by the same code, and the
    choices that a certificate makes (how often loops are unrolled, how a loop's state is read) are checked as claims.
    """


def all_rules() -> tuple[Rule, ...]:
    """Returns every declared rule, in the order of declaration."""
    return tuple(rule for rule in _BY_NAME.values() if not isinstance(rule, Definition))


def all_definitions() -> tuple[Definition, ...]:
    """Returns every declared definition, in the order of declaration."""
    return tuple(rule for rule in _BY_NAME.values() if isinstance(rule, Definition))


def try_rule(name: str) -> Rule | None:
    """Returns the rule or definition of a name, or None."""
    return _BY_NAME.get(name)
