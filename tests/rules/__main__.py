"""Verifies every equation of every rule, and writes the list and the table of docs/proofs.md where all of them hold.

`python -m tests.rules [RULE ...]` verifies all rules, or the named ones without a new table. The exit code is 1 where
an equation is refuted or undecided; the bits of a counterexample are printed, and confirmed by the definitions.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence

from dialect_utils.verdict.rules import Rule, all_rules
from tests.rules import array_instances, lemmas, solvers, table, whole_arrays
from tests.rules.cases import Case
from tests.rules.plan import METHODS, Method, Result, is_confirmed, verify

# Seconds that a solver may take for one query. Equations take less than five; sums of bf16 rounded twice take 50.
_LIMIT_S = 300.0


def main(names: Sequence[str]) -> int:
    """Verifies the rules of some names, or all of them; returns the exit code."""
    missing = solvers.missing_packages()
    if missing:
        print(f"not installed: {', '.join(missing)} (pip install 'relayout[rules]')", file=sys.stderr)
        return 1
    failures = [] if names else [text for lemma in lemmas.LEMMAS for text in decided(*lemma)]
    failures += [text for rule in all_rules() if not names or rule.name in names for text in verified(rule)]
    failures += [
        text for name in array_instances.INSTANCES if not names or name in names for text in instantiated(name)
    ]
    if not names and not failures:
        table.write_page()
    print("\n".join(failures) or "all equations hold")
    return int(bool(failures))


def decided(name: str, opcode: str, count: int) -> list[str]:
    """Decides a lemma of the translation, prints a line about it, and returns a line if it does not hold."""
    found = lemmas.answer(name, opcode, count, _LIMIT_S)
    text = f"{opcode} of {name} rounded twice is {opcode} rounded once: {found.outcome} ({found.seconds:.1f} s)"
    print(text, flush=True)
    return [] if found.outcome == "holds" else [text]


def verified(rule: Rule) -> list[str]:
    """Verifies the equations of a rule, prints a line about them, and returns those that do not hold."""
    if not rule.is_elementwise:
        count, failed, refuted = whole_arrays.check(rule)
        print(f"{rule.name}: {count} programs, {refuted} wrong ones refuted", flush=True)
        return [f"{rule.name}: these differ: {text}" for text in failed]
    start, counts, failures = time.perf_counter(), Counter[Method](), []
    for _, case, method in table.planned(rule):
        if method is None:
            failures.append(f"{rule.name}: {case}: no method")
            continue
        counts[method] += 1
        result = verify(case, method, _LIMIT_S)
        if result.outcome != "holds":
            failures.append(f"{rule.name}: {case}, {method}: {described(case, result)}")
    text = ", ".join(f"{counts[method]} by {method}" for method in METHODS if counts[method])
    print(f"{rule.name}: {text or 'no equations'} ({time.perf_counter() - start:.1f} s)", flush=True)
    return failures


def described(case: Case, result: Result) -> str:
    """Returns an outcome, the counterexample as bits, and whether the definitions confirm it."""
    if result.outcome != "refuted":
        return result.outcome
    bits = ", ".join(f"{name} = {value:#x}" for name, value in result.bits)
    confirmed = is_confirmed(case, dict(result.bits))
    return f"refuted by {bits}" + ("" if confirmed else ", which the definitions do not confirm")


def instantiated(name: str) -> list[str]:
    """Compares the instances of a rule about arrays, prints a line about them, and returns those that differ."""
    count, failed, refuted = array_instances.check(name)
    print(f"{name}: {count} instances, {refuted} wrong ones refuted", flush=True)
    return [f"{name}: these differ:\n{text}" for text in failed] or [f"{name}: nothing refuted"] * (not refuted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
