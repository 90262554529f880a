"""Rewrites of XLA's algebraic simplifier: proved where they hold exactly; no negative example is.

The table in docs/proofs.md is made here: `python -m tests.verdict.proof.test_rewrites` writes it.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from dialect_utils.verdict.ports import entry_ports
from dialect_utils.verdict.proof import ProofResult, try_prove
from tests.verdict.proof import expressions as ex
from tests.verdict.proof.dialects import parse
from tests.verdict.proof.rewrites import FLOATS, REWRITES, Case, Rewrite, Triple

PAGE = Path(__file__).parents[3] / "docs" / "proofs.md"
_BEGIN, _END = "<!-- rewrites: begin -->", "<!-- rewrites: end -->"
_HIGHEST_RANK = 4


def cases(rewrite: Rewrite, kind: str) -> Iterator[tuple[int, Triple]]:
    """Yields instantiations of a rewrite in every rank."""
    for rank in range(rewrite.least_rank, _HIGHEST_RANK + 1):
        yield rank, rewrite.make(Case(kind, rank, random.Random(f"{rewrite.text} {kind} {rank}")))
    if rewrite.least_rank == _HIGHEST_RANK - 1:
        yield rewrite.least_rank, rewrite.make(Case(kind, rewrite.least_rank, random.Random(f"{rewrite.text} {kind}")))


def prove(left: ex.E, right: ex.E, *others: ex.E) -> ProofResult:
    parameters = ex.parameters_of(left, right, *others)
    modules = [parse(ex.module(side, parameters=parameters)) for side in (left, right)]
    return try_prove(modules, *entry_ports(modules), over_reals=True)


@dataclass
class Row:
    """The counts of all instantiations of a rewrite, and the names of those that failed."""

    exact: int = 0
    proved: int = 0
    reals: int = 0
    decided: int = 0
    twins: int = 0
    found: int = 0
    failed: tuple[str, ...] = ()

    def fail(self, what: str) -> None:
        self.failed += (what,)


@cache
def row(rewrite: Rewrite) -> Row:
    """Proves all instantiations of a rewrite, and tries its negative examples."""
    made = Row()
    for kind in (*rewrite.exact, *rewrite.reals):
        for rank, (left, right, wrong) in cases(rewrite, kind):
            name = f"{kind}, rank {rank}"
            found, twin = prove(left, right, wrong), prove(left, wrong, right)
            if kind in rewrite.exact:
                made.exact += 1
                made.proved += found.answer == "equal"
                if found.answer != "equal":
                    made.fail(f"{name}: {found.reason}")
            else:
                made.reals += 1
                made.decided += found.is_equal_over_reals
                if found.answer == "equal" or not found.is_equal_over_reals:
                    made.fail(f"{name} over the reals: {found.answer}, {[str(each) for each in found.outputs]}")
            made.twins += 1
            # Integers wrap around: only floats have a meaning over the reals.
            is_missed = twin.answer == "equal" or (kind in FLOATS and twin.is_equal_over_reals)
            made.found += not is_missed
            if is_missed:
                made.fail(f"{name}: the wrong twin is told equal")
    return made


@pytest.mark.parametrize("rewrite", REWRITES, ids=lambda rewrite: rewrite.text)
def test_a_rewrite_is_proved_where_it_is_exact_and_decided_over_the_reals(rewrite: Rewrite) -> None:
    assert row(rewrite).failed == ()


def table() -> str:
    """Returns the table of docs/proofs.md."""
    lines = ["| rewrite | exact: proved | over the reals: decided | negative examples found |", "|---|---|---|---|"]
    total = Row()
    for rewrite in REWRITES:
        each = row(rewrite)
        text = f"{rewrite.section}: {rewrite.text}".replace("|", "\\|")
        lines.append(
            f"| {text} | {_share(each.proved, each.exact)} | {_share(each.decided, each.reals)} "
            f"| {_share(each.found, each.twins)} |"
        )
        for name in ("proved", "exact", "decided", "reals", "found", "twins"):
            setattr(total, name, getattr(total, name) + getattr(each, name))
    lines.append(
        f"| all {len(REWRITES)} | {_share(total.proved, total.exact)} "
        f"| {_share(total.decided, total.reals)} | {_share(total.found, total.twins)} |"
    )
    return "\n".join(lines)


def _share(count: int, whole: int) -> str:
    return f"{count} of {whole}" if whole else "-"


def test_the_table_of_the_page_is_the_one_that_is_measured() -> None:
    text = PAGE.read_text("utf-8")
    assert text.split(_BEGIN)[1].split(_END)[0].strip() == table()


def write_table() -> None:
    """Writes the measured table into the page."""
    head, rest = PAGE.read_text("utf-8").split(_BEGIN)
    PAGE.write_text(f"{head}{_BEGIN}\n{table()}\n{_END}{rest.split(_END)[1]}", "utf-8")


if __name__ == "__main__":
    write_table()
    sys.exit(0)
