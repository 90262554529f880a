"""Mistakes to plant in the product's own code, and the tests that must notice each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module

from tests.mutants.edits import Edit

# A list for each package, in tests/mutants/in_<package>.py.
LISTS = (
    *("text", "layout", "ops", "hlo", "stablehlo", "mosaic", "execution", "verdict", "memory", "history"),
    *("passes", "relayout", "io", "tools"),
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mistake: the edit of a function, and the tests that must notice it.

    `tests` are files of tests (or nodes of pytest) that must fail; `survives` says why none can.
    """

    where: str
    old: str
    new: str
    tests: tuple[str, ...]
    survives: str = ""
    occurrence: int = 0

    @property
    def edit(self) -> Edit:
        return Edit(self.where, self.old, self.new, self.occurrence)

    def __str__(self) -> str:
        return str(self.edit)


def mutants_of(name: str) -> tuple[Mutant, ...]:
    """Returns the mutants of one list."""
    found: tuple[Mutant, ...] = import_module(f"tests.mutants.in_{name}").MUTANTS
    return found


def all_mutants() -> Iterator[Mutant]:
    for name in LISTS:
        yield from mutants_of(name)
