"""Solvers that decide scripts: bitwuzla, and z3 for formats that bitwuzla lacks. Both are optional packages."""

from __future__ import annotations

import time
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

from tests.rules.script import Script

Outcome = Literal["holds", "refuted", "undecided"]
Solver = Literal["bitwuzla", "z3"]
_OF_BITWUZLA = frozenset({"f16", "f32", "f64"})
_SHORTEST_LEMMA = 16
PACKAGES: dict[Solver, str] = {"bitwuzla": "bitwuzla", "z3": "z3"}


@dataclass(frozen=True, slots=True)
class Answer:
    """The outcome of a query: the bits of each variable where an equation is refuted, and the seconds it took."""

    outcome: Outcome
    bits: tuple[tuple[str, int], ...] = ()
    seconds: float = 0.0


def missing_packages() -> list[str]:
    """Returns the packages of solvers that are not installed."""
    return [package for package in PACKAGES.values() if find_spec(package) is None]


def solver_for(script: Script) -> Solver:
    """Returns the solver for a script: bitwuzla has the floats f16, f32 and f64 only."""
    return "bitwuzla" if script.formats <= _OF_BITWUZLA else "z3"


def decide(script: Script, solver: Solver, limit_s: float) -> Answer:
    """Returns `holds` where nothing fulfils the conditions of a script, `refuted` with an assignment that does."""
    start = time.perf_counter()
    outcome, bits = (_by_bitwuzla if solver == "bitwuzla" else _by_z3)(script, int(1000 * limit_s))
    return Answer(outcome, tuple(sorted(bits.items())), time.perf_counter() - start)


def _by_bitwuzla(script: Script, limit_ms: int) -> tuple[Outcome, dict[str, int]]:
    import bitwuzla

    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    options.set(bitwuzla.Option.TIME_LIMIT_PER, limit_ms)
    # Lemmas about products and quotients, which bitwuzla takes for wider words only by default, help here too.
    options.set(bitwuzla.Option.ABSTRACTION, True)
    options.set(bitwuzla.Option.ABSTRACTION_BV_SIZE, _SHORTEST_LEMMA)
    parser = bitwuzla.Parser(bitwuzla.TermManager(), options)
    parser.parse(f"(set-logic ALL)\n{script.text()}", True, False)
    solver = parser.bitwuzla()
    result = solver.check_sat()
    if result == bitwuzla.Result.SAT:
        values = {name: solver.get_value(parser.parse_term(name)).value(2) for name in script.variables}
        return "refuted", {name: int(value, 2) for name, value in values.items()}
    return ("holds" if result == bitwuzla.Result.UNSAT else "undecided"), {}


def _by_z3(script: Script, limit_ms: int) -> tuple[Outcome, dict[str, int]]:
    import z3

    context = z3.Context()
    solver = z3.Solver(ctx=context)
    solver.set("timeout", limit_ms)
    solver.from_string(script.text())
    result = solver.check()
    if result == z3.sat:
        return "refuted", _z3_values(z3, solver.model(), context, script)
    return ("holds" if result == z3.unsat else "undecided"), {}


def _z3_values(z3: Any, model: Any, context: Any, script: Script) -> dict[str, int]:
    found = {}
    for name, width in script.variables.items():
        value = model.eval(z3.BitVec(name, width, ctx=context), model_completion=True)
        found[name] = value.as_long()
    return found
