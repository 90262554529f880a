"""Prints one table of ratios, each measured in one run against the reference beside it.

`python -m benchmarks.ratios [--quick] [--processes N] [--json FILE] [--docs] [NAME ...]`. A row is measured in fresh
processes of its own, ours and the reference in turns; the fastest of each counts. CPU seconds: others on the machine
matter less.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from benchmarks.commands import Pair
from benchmarks.rows import ROWS

DOCS = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
_TABLE = re.compile(r"(?<=<!-- figures -->\n).*?(?=<!-- end -->)", re.DOTALL)
# A row that takes longer has something quadratic in it.
_LONGEST = 900
Figures = dict[str, dict[str, object]]


def measured(name: str, processes: int) -> Pair | str:
    """Returns the fastest of several processes, or why there is none."""
    pairs = []
    for _ in range(processes):
        command = [sys.executable, "-m", "benchmarks.ratios", "--row", name]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_LONGEST, check=False)
        except subprocess.TimeoutExpired:
            return f"took more than {_LONGEST} s"
        if done.returncode:
            return (done.stderr.strip().splitlines() or ["failed"])[-1][:200]
        pairs.append(json.loads(done.stdout))
    return min(pair[0] for pair in pairs), min(pair[1] for pair in pairs)


def machine() -> str:
    """Returns the machine and the versions of the measurement."""
    model = next((line.split(":")[1].strip() for line in _cpu_lines() if line.startswith("model name")), "unknown")
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}, jaxlib {version('jaxlib')}"


def _cpu_lines() -> list[str]:
    file = Path("/proc/cpuinfo")
    return file.read_text().splitlines() if file.exists() else []


def table(figures: Figures) -> str:
    """Returns the figures as a table in Markdown."""
    lines = ["| what | reference | ratio | goal |", "|---|---|---|---|"]
    for each in figures.values():
        ratio = each["ratio"]
        shown = f"{ratio:.3g}" if isinstance(ratio, float) else ratio
        lines.append(f"| {each['what']} | {each['reference']} | {shown} | {each['goal']} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Measures the rows that the arguments name, or all; returns 1 where one failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"rows: {', '.join(ROWS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="the rows that are fast, one process each")
    parser.add_argument("--processes", type=int, default=3, help="processes for a row, the fastest counts (default: 3)")
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument("--docs", action="store_true", help="keep the table in docs/performance.md")
    parser.add_argument("--row", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.row:
        print(json.dumps(ROWS[arguments.row].measure()))
        return 0
    names = arguments.names or [name for name, row in ROWS.items() if row.is_quick or not arguments.quick]
    figures: Figures = {}
    for name in names:
        found, row = measured(name, 1 if arguments.quick else arguments.processes), ROWS[name]
        ratio = found if isinstance(found, str) else found[0] / found[1]
        seconds = None if isinstance(found, str) else list(found)
        figures[name] = {
            "what": row.what,
            "reference": row.reference,
            "goal": row.goal,
            "ratio": ratio,
            "seconds": seconds,
        }
        print(f"{row.what}: {ratio if isinstance(ratio, str) else format(ratio, '.3g')} (goal {row.goal})", flush=True)
    text = f"{machine()}\n\n{table(figures)}"
    print(f"\n{text}")
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps({"machine": machine(), "rows": figures}, indent=1) + "\n")
    if arguments.docs:
        DOCS.write_text(_TABLE.sub(lambda _: f"{text}\n", DOCS.read_text()))
    return int(any(isinstance(each["ratio"], str) for each in figures.values()))


if __name__ == "__main__":
    sys.exit(main())
