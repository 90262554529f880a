"""Rules of the algebra: equations that hold in IEEE and machine integer arithmetic, each declared once."""

from __future__ import annotations

from dataclasses import dataclass

# Element types for which equations are tested; every rule lists those for which it holds.
INTEGERS = ("s8", "u8", "s32", "u32", "s64")
FLOATS = ("f32", "f16", "bf16", "f64")
NUMBERS = INTEGERS + FLOATS
PREDICATE = ("pred",)
ANY = PREDICATE + NUMBERS

_BY_NAME: dict[str, Rule] = {}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: its name, why it is exact, its equations and their types, and negative examples.

    `equations` are written `left = right` over variables x, y, z of one of `types` and predicates p, q:
    operators are opcodes with their attribute in brackets (`compare[LT](x, y)`), numbers are constants.
    Tests execute the equations with random data, and prove them. Execution refutes each equation of `wrong`, which
    looks similar. A rule about whole arrays has no equations; its examples are modules.
    """

    name: str
    why: str
    equations: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    types: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.name in _BY_NAME:
            raise ValueError(f"two rules are named {self.name}")
        _BY_NAME[self.name] = self


def all_rules() -> tuple[Rule, ...]:
    """Returns every declared rule, in the order of declaration."""
    return tuple(_BY_NAME.values())
