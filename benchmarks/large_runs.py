"""Prints the cost of `relayout run` for large dumps, compared with JAX, in CPU seconds of all processes.

`python -m benchmarks.large_runs [--rounds N] [--json FILE] FOLDER [NAME ...]` measures pairs NAME.hlo and NAME.mlir,
which `python -m benchmarks.large_programs FOLDER` makes. The reference is a process that imports JAX, reads the
StableHLO text, compiles it for the CPU and runs it once on random inputs. All three run in turns: the reference, a run
with an empty cache, and a second run.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.commands import COMPILE_RUN, children_seconds


def round_of(folder: Path, name: str) -> tuple[float, float, float]:
    """Returns the CPU seconds of the reference, of a first run and of a second run."""
    reference = children_seconds([sys.executable, "-c", COMPILE_RUN, str(folder / f"{name}.mlir")], rounds=1)
    command = [sys.executable, "-m", "relayout", "run", "--inputs", "random", str(folder / f"{name}.hlo")]
    with TemporaryDirectory() as cache:
        os.environ["RELAYOUT_CACHE_DIR"] = cache
        first = children_seconds(command, rounds=1)
        return reference, first, children_seconds(command, rounds=1)


def measured(folder: Path, name: str, rounds: int) -> dict[str, float]:
    """Returns the medians of several rounds, and the medians of the ratios of each round."""
    found = [round_of(folder, name) for _ in range(rounds)]
    return {
        "lines": len((folder / f"{name}.hlo").read_text().splitlines()),
        "reference": statistics.median(reference for reference, _, _ in found),
        "first": statistics.median(first / reference for reference, first, _ in found),
        "second": statistics.median(second / first for _, first, second in found),
    }


def main() -> int:
    """Measures the programs that the arguments name, or all of the folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs (default: all of the folder)")
    parser.add_argument("--rounds", type=int, default=3, help="the median of so many counts (default: 3)")
    parser.add_argument("--json", type=Path, help="file for the figures")
    arguments = parser.parse_args()
    print("| program | lines | JAX, s | first run / JAX | second run / first |\n|---|---|---|---|---|")
    figures = {}
    for name in arguments.names or sorted(each.stem for each in arguments.folder.glob("*.hlo")):
        row = figures[name] = measured(arguments.folder, name, arguments.rounds)
        print(
            f"| {name} | {row['lines']} | {row['reference']:.2f} | {row['first']:.2f} | {row['second']:.2f} |",
            flush=True,
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
