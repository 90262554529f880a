"""Runs many random programs by definition, in XLA:CPU and in StableHLO's interpreter: `make campaign-reference`."""

from __future__ import annotations

import sys
from collections import Counter
from time import perf_counter

from dialect_utils.execution import ExecutionError, Worker
from tests.execution.reference.programs import FAMILIES, cases
from tests.execution.reference.test_engines import disagreements


def main() -> int:
    """Prints disagreements and a table; returns 1 where an engine and the reference evaluator disagree."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    counts: Counter[tuple[str, str]] = Counter()
    with Worker() as worker:
        for family in FAMILIES:
            start = perf_counter()
            for seed in range(seeds):
                for case in cases(seed, family):
                    counts[family, "programs"] += 1
                    try:
                        found = disagreements(worker, case, case.engines)
                    except ExecutionError as error:
                        counts[family, "not executed"] += 1
                        print(f"{case.name}: {error.message}")
                        continue
                    counts[family, "disagree"] += bool(found)
                    print(*(f"seed {seed}: {line}" for line in found), sep="\n", end="\n" if found else "")
            numbers = ", ".join(f"{counts[family, what]} {what}" for what in ("programs", "not executed", "disagree"))
            print(f"{family}: {numbers}; {perf_counter() - start:.0f} s", flush=True)
    return 1 if any(counts[family, "disagree"] for family in FAMILIES) else 0


if __name__ == "__main__":
    sys.exit(main())
