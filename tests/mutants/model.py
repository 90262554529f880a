"""One-line mistakes to plant in the product's own code, and the tests that must notice each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module

from tests.paths import ROOT

# A list for each package, in tests/mutants/in_<package>.py.
LISTS = (
    *("text", "layout", "ops", "hlo", "stablehlo", "mosaic", "execution", "verdict", "memory", "history"),
    *("passes", "relayout", "io", "tools"),
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A mistake: in a file, a fragment that occurs once, and what replaces it.

    `tests` are files of tests (or nodes of pytest) that must fail; `survives` says why none can.
    """

    file: str
    fragment: str
    replacement: str
    tests: tuple[str, ...]
    survives: str = ""

    def applied(self, code: str) -> str:
        """Returns the code with the mistake; raises ValueError where the fragment does not occur exactly once."""
        count = code.count(self.fragment)
        if count != 1:
            raise ValueError(f"{self.file}: the fragment {self.fragment!r} occurs {count} times, not once")
        return code.replace(self.fragment, self.replacement)

    def __str__(self) -> str:
        line = (ROOT / self.file).read_text("utf-8").partition(self.fragment)[0].count("\n") + 1
        return f"{self.file}:{line}: {self.fragment.strip()!r} -> {self.replacement.strip()!r}"


def mutants_of(name: str) -> tuple[Mutant, ...]:
    """Returns the mutants of one list."""
    found: tuple[Mutant, ...] = import_module(f"tests.mutants.in_{name}").MUTANTS
    return found


def all_mutants() -> Iterator[Mutant]:
    for name in LISTS:
        yield from mutants_of(name)
