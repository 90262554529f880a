"""Runs jaxlib's own passes of StableHLO on all programs of a folder, and judges each step: `make campaign-passes`.

Each row of the table is a pass, or a round trip through another dialect, on every program by itself.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from relayout.cli import main as relayout
from tests.paths import SHARED_DATA

PIPELINES = (
    "chlo-legalize-to-stablehlo",
    "chlo-legalize-to-high-level-mhlo",
    "stablehlo-legalize-deprecated-ops",
    "stablehlo-canonicalize-dynamism",
    "stablehlo-refine-shapes",
    "stablehlo-legalize-quant-to-math",
    "stablehlo-legalize-quantized-op-to-qdq",
    "stablehlo-legalize-qdq-to-quantized-op",
    "stablehlo-legalize-composite-to-call",
    "stablehlo-compatibility-expander{target=1.0.0}",
    "stablehlo-complex-math-expander",
    "stablehlo-check-shape-assertions",
    "shape-legalize-to-stablehlo",
    "chlo-legalize-to-stablehlo,stablehlo-complex-math-expander",
    "stablehlo-legalize-to-vhlo,vhlo-legalize-to-stablehlo",
    "stablehlo-legalize-to-vhlo,vhlo-to-version{target=1.9.0},vhlo-legalize-to-stablehlo",
    "stablehlo-legalize-to-hlo,hlo-legalize-to-stablehlo",
    "stablehlo-legalize-to-hlo,mhlo-legalize-dot-to-dot-general,hlo-legalize-to-stablehlo",
    "stablehlo-legalize-to-hlo,mhlo-legalize-einsum-to-dot-general,hlo-legalize-to-stablehlo",
    "stablehlo-legalize-to-hlo,mhlo-test-unfuse-batch-norm,hlo-legalize-to-stablehlo",
    "stablehlo-legalize-to-hlo,mhlo-test-materialize-broadcasts,hlo-legalize-to-stablehlo",
    "stablehlo-legalize-to-hlo,mhlo-legalize-trigonometric-to-approximation,hlo-legalize-to-stablehlo",
    "mhlo-flatten-tuple",
    "expand-hlo-tuples",
)
_VERDICTS = ("text", "equal", "agrees", "close", "unknown", "different", "failed")


def judged(files: Sequence[str], pipeline: str, seconds: int, jobs: int) -> list[dict[str, Any]]:
    """Returns the rows of all steps of a pipeline on all programs."""
    with TemporaryDirectory() as folder:
        results = Path(folder, "rows.jsonl")
        options = ["--timeout", str(seconds), "--jobs", str(jobs), "--no-reduce", "--results", str(results)]
        relayout(["validate", *files, "--with", "jaxlib", "--passes", pipeline, *options])
        lines = results.read_text("utf-8").splitlines() if results.exists() else []
        return [json.loads(line)["figures"] for line in lines]


def answer(row: dict[str, Any]) -> str:
    """Returns the column of a row."""
    return str(row["methods"][0]) if row["methods"] in (["text"], ["failed"]) else str(row["verdict"])


def main() -> None:
    """Prints a line for each step that is different, and a table of counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="*", default=[str(SHARED_DATA / "corpus" / "stablehlo_testdata")])
    parser.add_argument("--timeout", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    files = [str(file) for folder in arguments.folder for file in sorted(Path(folder).glob("*.mlir"))]
    if not files:
        parser.error(f"no programs in {', '.join(arguments.folder)}")
    table: dict[str, Counter[str]] = {}
    for pipeline in PIPELINES:
        for row in judged(files, pipeline, arguments.timeout, arguments.jobs):
            table.setdefault(str(row["change"]), Counter())[answer(row)] += 1
            if answer(row) in ("different", "unknown"):
                print(row["program"], row["change"], row["verdict"], row["said"], flush=True)
    print(f"| pass | {' | '.join(_VERDICTS)} |\n|{'---|' * (len(_VERDICTS) + 1)}")
    for name, counts in table.items():
        print(f"| `{name}` | {' | '.join(str(counts[each]) for each in _VERDICTS)} |")


if __name__ == "__main__":
    main()
