"""What a rule of the algebra is: an equation that holds in IEEE and machine integer arithmetic, declared once."""

from __future__ import annotations

from dataclasses import dataclass

# Types by which equations are written: every rule says for which of them it holds.
INTEGERS = ("s8", "u8", "s32", "u32", "s64")
FLOATS = ("f32", "f16", "bf16", "f64")
NUMBERS = INTEGERS + FLOATS
PREDICATE = ("pred",)
ANY = PREDICATE + NUMBERS

_BY_NAME: dict[str, Rule] = {}


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: its name, what it says, where it holds, why that is exact, and a wrong twin of it.

    `equations` are written `left = right` over variables x, y, z of one of `types` and predicates p, q:
    operators are opcodes with their attribute in brackets (`compare[LT](x, y)`), numbers are constants.
    They are executed with random data, and proved. `wrong` looks alike, and must be found to be wrong. Rules
    about whole arrays have no equations; their examples are modules.
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
