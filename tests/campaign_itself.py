"""Every program is equal to itself, and to itself behind a pass that changes only names and notation.

`python -m tests.campaign_itself [COUNT] [DIR ...]` proves up to COUNT programs (2000) of the corpora, drawn at random,
and prints a table; the exit code is 1 where a proof is found that does not replay, or two programs are `different`.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dialect_utils.io.files import parse_bytes, read_module
from dialect_utils.ir import Module
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.certified import choices_of, prove
from dialect_utils.verdict.outcome import up_to
from passes.framework.pipeline import Pipeline, verify
from tests.campaign import PROGRAMS, files
from tests.paths import ROOT

_COUNT = 2000
_SECONDS = 20.0
# A module printed and read again, and what passes make of it that change names and notation.
PASSES = ("", "inline-fusions", "inline-fusions{into=call}", "convert-async-to-sync", "strip-layouts{keep=order}")
_NO_REPLAY = "does not replay"


@dataclass
class Tally:
    """The counts of a campaign, by pass and answer, and the programs without a proof."""

    found: Counter[tuple[str, str]] = field(default_factory=Counter)
    unproved: list[str] = field(default_factory=list)

    @property
    def wrong(self) -> list[str]:
        """Returns the programs with a proof that does not replay, or called different from themselves."""
        return [each for each in self.unproved if _NO_REPLAY in each or ": different" in each]


def forms(module: Module) -> Iterator[tuple[str, Module]]:
    """Yields the module read again, and after each pass that reads it."""
    for name in PASSES:
        try:
            changed = Pipeline.parse(name).run(module).module if name else module
            yield name or "itself", parse_bytes(changed.text().encode(), "m")
        except DiagnosticError:
            continue


def judge(path: Path, tally: Tally) -> None:
    """Proves the forms of one program equal to it."""
    try:
        module = read_module(str(path))
        verify(module)
    except (DiagnosticError, OSError):
        tally.found["itself", "not read"] += 1
        return
    known: dict[str, str] = {}
    for name, other in forms(module):
        text = other.text()
        if text not in known:
            known[text] = _answer(module, other)
        answer = known[text]
        tally.found[name, answer.split(":")[0]] += 1
        if answer != "equal":
            tally.unproved.append(f"{path}: {name}: {answer}")


def _answer(module: Module, other: Module) -> str:
    try:
        found = prove([module, other], seconds=_SECONDS)
    except DiagnosticError as error:
        return f"refused: {error.diagnostics[0].message}"
    return f"equal{up_to(choices_of(found.outputs))}" if found.answer == "equal" else f"{found.answer}: {found.reason}"


def run(paths: Sequence[Path]) -> Tally:
    """Returns the counts of programs."""
    tally = Tally()
    for path in paths:
        judge(path, tally)
    return tally


def main(count: int, roots: Sequence[Path]) -> int:
    """Prints the counts; returns 1 where a proof does not replay."""
    paths = [*files(roots)]
    random.Random(1).shuffle(paths)
    tally = run(paths[:count])
    print(*tally.unproved, sep="\n")
    print(*(f"{number:6} {name}: {answer}" for (name, answer), number in sorted(tally.found.items())), sep="\n")
    print(f"{len(tally.wrong)} proofs found that do not replay, or programs called different")
    return int(bool(tally.wrong))


if __name__ == "__main__":
    numbers = [int(each) for each in sys.argv[1:] if each.isdigit()]
    listed = [Path(each) for each in sys.argv[1:] if not each.isdigit()]
    places = (*PROGRAMS, "lit_tests", "tests/corpus")
    sys.exit(main(numbers[0] if numbers else _COUNT, listed or [ROOT / place for place in places]))
