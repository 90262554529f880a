"""Plants mistakes of many kinds, makes correct rewrites, and counts what `check` says: `make campaign-verdict`.

`python -m tests.campaign_verdict [MISTAKES [REWRITES]]` (1500 and 240). Prints a row for each kind; returns 1 for a
wrong `equal`, `close` or `different`, and where fewer than 99 of 100 mistakes are seen.
"""

from __future__ import annotations

import random
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from dialect_utils.execution import Worker
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict import Options, compare_stages
from passes.framework.pipeline import Pipeline
from tests.campaign_verdict.mistakes import MISTAKES
from tests.campaign_verdict.programs import Edit, Program, module_of, programs, really_differ
from tests.campaign_verdict.rewrites import REWRITES

PIPELINES = (
    "",
    "expand-for-tpu",
    "annotate-layouts{target=tpu-v5e},expand-tiling{interface=physical}",
    "annotate-layouts{target=tpu-v5e},normalize-layouts",
)
DIALECTS = ("hlo", "stablehlo")
SEEN_SHARE = 0.99
# So many mistakes are planted in programs that agree though they differ.
_POWER = 24
# How often it is told how far it is.
_TOLD = 100
# Most correct rewrites are proved equal; engines must not find a difference either.
EXECUTED = Options(engines=("xla", "interpreter"), power=0)


@dataclass(frozen=True)
class Case:
    """One edited program: which kind of edit, in which program, dialect and after which pipeline."""

    kind: str
    source: str
    original: Program
    edited: Program
    dialect: str
    pipeline: str

    def __str__(self) -> str:
        return f"{self.kind} in {self.source} ({self.dialect}, {self.pipeline or 'no pipeline'})"


@dataclass
class Table:
    """The verdicts of all cases."""

    rows: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    wrong: list[str] = field(default_factory=list)
    # Measured where programs agree though they differ: what was not seen must be told.
    powers: list[float] = field(default_factory=list)

    @property
    def total(self) -> Counter[str]:
        return sum((row for row in self.rows.values()), Counter[str]())

    def note(self, case: Case, answer: str, power: float) -> None:
        """Counts an answer; says at once what is wrong and what is not seen."""
        differs = really_differ(case.original, case.edited)
        said = f"{answer}, {'differs' if differs else 'the same'}"
        self.rows[case.kind][said] += 1
        is_wrong = answer in (("equal", "close") if differs else ("different",))
        if differs and answer == "agrees":
            self.powers.append(power)
        if is_wrong or (differs and answer == "agrees" and power == 1):
            self.wrong.append(f"{case}: {said}")
        if is_wrong or (differs and answer != "different"):
            print(f"{case}: {said}, power {power:.0%}", flush=True)

    def print(self, what: str) -> None:
        """Prints a row for each kind, and the sum."""
        for kind, row in sorted(self.rows.items()):
            print(f"{kind:36} {', '.join(f'{each} {said}' for said, each in sorted(row.items()))}")
        total = self.total
        print(f"{len(self.rows)} kinds of {what}, {total.total()} in all: {dict(sorted(total.items()))}", flush=True)


def cases(edits: dict[str, Edit], count: int, seed: int) -> Iterator[Case]:
    """Yields so many cases: every kind in turn, anywhere by chance, in both dialects and after each pipeline."""
    rng, sources = random.Random(seed), programs()
    sites = {kind: list(_sites(edit, sources, rng)) for kind, edit in edits.items()}
    kinds = [kind for kind in edits if sites[kind]]
    for number in range(count):
        kind = kinds[number % len(kinds)]
        name, edited = rng.choice(sites[kind])
        turn = number // len(kinds) + number % len(kinds)
        dialect, pipeline = DIALECTS[turn % 2], PIPELINES[turn // 2 % len(PIPELINES)]
        yield Case(kind, name, sources[name], edited, dialect, pipeline)


def _sites(edit: Edit, sources: dict[str, Program], rng: random.Random) -> Iterator[tuple[str, Program]]:
    for name, program in sources.items():
        for place in range(len(program)):
            edited = edit(program, place, rng)
            if edited is not None:
                yield name, edited


def judged(case: Case, worker: Worker, *, also: Options | None = None) -> tuple[str, float]:
    """Returns the verdict on the two programs, the second after the pipeline, and the measured power.

    What is equal is judged once more by the options `also`.
    """
    first, second = (module_of(each, case.dialect, worker) for each in (case.original, case.edited))
    try:
        runs = Pipeline.parse(case.pipeline).run(second).runs if case.pipeline else ()
        stages = [first, second, *(run.result.module for run in runs)]
        verdict = compare_stages(stages, Options(power=0), worker)
        if also is not None and verdict.verdict == "equal":
            verdict = compare_stages(stages, also, worker)
        if verdict.verdict == "agrees" and really_differ(case.original, case.edited):
            verdict = compare_stages(stages, Options(power=_POWER), worker)
    except DiagnosticError as error:
        return f"refused: {error.diagnostics[0].message[:60]}", 1.0
    return verdict.verdict, verdict.power.share if verdict.power else 1.0


def run(edits: dict[str, Edit], count: int, what: str, judge: Callable[[Case], tuple[str, float]]) -> Table:
    """Judges so many cases and prints their table."""
    table = Table()
    for number, case in enumerate(cases(edits, count, seed=0)):
        table.note(case, *judge(case))
        if number % _TOLD == 0:
            print(f"{number} of {count} {what}", flush=True)
    table.print(what)
    return table


def main() -> int:
    """Prints both tables and what is wrong in them."""
    counts = [int(word) for word in sys.argv[1:]]
    mistakes, rewrites = (counts + [1500, 240][len(counts) :])[:2]
    with Worker() as worker:
        of_mistakes = run(MISTAKES, mistakes, "mistakes", lambda case: judged(case, worker))
        of_rewrites = run(REWRITES, rewrites, "correct rewrites", lambda case: judged(case, worker, also=EXECUTED))
    total = of_mistakes.total
    differing = sum(each for said, each in total.items() if said.endswith("differs"))
    share = total["different, differs"] / max(1, differing)
    # A rewrite whose results differ in numpy is a mistake of the table, not of the check.
    broken = [said for said in of_rewrites.total if said.endswith("differs")]
    print(f"{share:.2%} of the {differing} mistakes that differ are seen")
    powers = ", ".join(f"{power:.0%}" for power in sorted(of_mistakes.powers))
    print(f"{len(of_mistakes.powers)} agree; their measured power: {powers or 'none to measure'}")
    print("\n".join(["wrong:", *of_mistakes.wrong, *of_rewrites.wrong, *broken]))
    return int(bool(of_mistakes.wrong or of_rewrites.wrong or broken or share < SEEN_SHARE))


if __name__ == "__main__":
    sys.exit(main())
