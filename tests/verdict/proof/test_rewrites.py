"""Rewrites of XLA's algebraic simplifier: proved where they hold exactly; no negative example is.

The tests prove each rewrite on each type in one rank. `python -m tests.verdict.proof.test_rewrites`, a part of
`make campaign-proof`, proves all instantiations, writes the table in docs/proofs.md, and ends with 1 where one fails.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

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
    return try_prove(modules, over_reals=True)


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


def row(rewrite: Rewrite, *, is_sample: bool = False) -> Row:
    """Proves all instantiations of a rewrite, or one for each type, and tries its negative examples."""
    made = Row()
    for number, kind in enumerate((*rewrite.exact, *rewrite.reals)):
        every = list(cases(rewrite, kind))
        chosen = random.Random(f"{rewrite.text} {number}").sample(every, 1) if is_sample else every
        for rank, (left, right, wrong) in chosen:
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


def expected(rewrite: Rewrite) -> Row:
    """Returns the row of a rewrite of which no instantiation fails."""
    exact, reals = (sum(len(list(cases(rewrite, kind))) for kind in kinds) for kinds in (rewrite.exact, rewrite.reals))
    return Row(exact, exact, reals, reals, exact + reals, exact + reals)


def name_of(rewrite: Rewrite) -> str:
    return f"{rewrite.section}: {rewrite.text}".replace("|", "\\|")


def line(name: str, row: Row) -> str:
    """Returns the line of a rewrite in the table of docs/proofs.md."""
    return (
        f"| {name} | {_share(row.proved, row.exact)} | {_share(row.decided, row.reals)} "
        f"| {_share(row.found, row.twins)} |"
    )


def _share(count: int, whole: int) -> str:
    return f"{count} of {whole}" if whole else "-"


def table(rows: Sequence[Row]) -> str:
    """Returns the table of docs/proofs.md."""
    lines = ["| rewrite | exact: proved | over the reals: decided | negative examples found |", "|---|---|---|---|"]
    total = Row()
    for rewrite, each in zip(REWRITES, rows, strict=True):
        lines.append(line(name_of(rewrite), each))
        for name in ("proved", "exact", "decided", "reals", "found", "twins"):
            setattr(total, name, getattr(total, name) + getattr(each, name))
    return "\n".join([*lines, line(f"all {len(REWRITES)}", total)])


def written_table() -> str:
    return PAGE.read_text("utf-8").split(_BEGIN)[1].split(_END)[0].strip()


@pytest.mark.parametrize("rewrite", REWRITES, ids=lambda rewrite: rewrite.text)
def test_a_rewrite_is_proved_where_it_is_exact_and_decided_over_the_reals(rewrite: Rewrite) -> None:
    assert row(rewrite, is_sample=True).failed == ()


def test_the_table_of_the_page_is_the_one_of_rewrites_that_do_not_fail() -> None:
    assert written_table() == table([expected(each) for each in REWRITES])


def main() -> int:
    """Measures all instantiations, writes the table into the page, and returns the exit code."""
    rows = {rewrite: row(rewrite) for rewrite in REWRITES}
    head, rest = PAGE.read_text("utf-8").split(_BEGIN)
    PAGE.write_text(f"{head}{_BEGIN}\n{table([*rows.values()])}\n{_END}{rest.split(_END)[1]}", "utf-8")
    failed = [f"{rewrite.text}: {each}" for rewrite, made in rows.items() for each in made.failed]
    print("\n".join(failed) or f"all {len(rows)} rewrites are proved in each type and rank")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
