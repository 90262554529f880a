"""Compares this project's parser and verifier of HLO with XLA's on mutated texts: `make campaign-verifier`.

`python -m tests.campaign_verifier [COUNT [SEED]]` prints each difference without a known reason, then how often each
outcome and each reason occurred, and returns 1 if a difference has no reason.
"""

from __future__ import annotations

import difflib
import sys
from collections import Counter
from itertools import islice

from dialect_utils.execution import Worker
from tests.campaign_verifier.comparison import SECONDS, Comparer, Comparison
from tests.campaign_verifier.mutations import Mutant, mutants
from tests.campaign_verifier.reasons import reason_for

_COUNT, _SEED = 2000, 1
_LONGEST = 300


def main(count: int = _COUNT, seed: int = _SEED) -> int:
    """Runs the campaign; returns the exit code."""
    outcomes: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    unexplained = crashes = 0
    with Worker(timeout=SECONDS) as worker:
        comparer = Comparer(worker)
        for mutant in islice(mutants(seed), count):
            found = comparer.compare(mutant)
            outcomes[found.outcome] += 1
            crashes += found.theirs is not None and found.theirs.failure == "crash"
            if found.outcome not in ("accepted here", "refused here"):
                continue
            reason = reason_for(found, mutant.text)
            if reason is None:
                unexplained += 1
                print(_described(mutant, found), flush=True)
            else:
                reasons[f"{found.outcome}: {reason}"] += 1
    for outcome, number in outcomes.most_common():
        print(f"{number:6} {outcome}")
    print(f"{crashes:6} of all ended XLA's process")
    for reason, number in sorted(reasons.items()):
        print(f"{number:6} {reason}")
    print(f"{unexplained:6} differences without a known reason")
    return int(unexplained > 0)


def _described(mutant: Mutant, found: Comparison) -> str:
    """Returns a mutation as the lines that it changed, and both answers."""
    lines = difflib.unified_diff(mutant.original.splitlines(), mutant.text.splitlines(), n=0, lineterm="")
    changed = [line[:_LONGEST] for line in lines if not line.startswith(("---", "+++", "@@"))]
    return "\n".join([f"{found.outcome} ({mutant.names})", *changed, f"  here: {found.ours}", f"  XLA: {found.theirs}"])


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
