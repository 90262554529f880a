"""Fuzzes all readers in turns: `python -m tests.fuzzing --hours 8 hlo`; a target that grows comes again sooner."""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.fuzzing.findings import FOUND, LIVE, WORK, violation, write_new
from tests.fuzzing.native import NATIVE
from tests.fuzzing.targets import KEPT, TARGETS
from tests.paths import ROOT

_LOG = WORK / "turns.jsonl"
_HOUR = 3600
# A target without new coverage still gets a turn from time to time.
_LEAST_GROWTH = 0.02
# The search for superlinear work belongs to the readers of long files, and comes as often as coverage does.
_GROWTH = "growth_"
_GROWING = ("hlo", "attributes", "headers", "shapes", "logs", "files", "comments", "pipelines", "tables", "stablehlo")
_NAMES = (*TARGETS, *NATIVE, *(_GROWTH + name for name in _GROWING))
_KEPT_BYTES = 36_000
_FOUND_PREFIX = "found-"
_SECONDS_AGAIN = 5.0


def _run(name: str, seconds: int) -> tuple[int, str]:
    module = "growth" if name.startswith(_GROWTH) else "native" if name in NATIVE else "instrumented"
    command = [sys.executable, "-m", f"tests.fuzzing.{module}", name.removeprefix(_GROWTH), str(seconds)]
    result = subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    said = result.stderr.decode(errors="replace")
    if result.returncode:
        sys.stderr.write(f"{name}: ended with {result.returncode}\n{said[-2000:]}\n")
    return result.returncode, said


def turn(name: str, seconds: int) -> dict[str, float]:
    """Runs one target for some seconds; returns the CPU seconds, the executions and the new inputs."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    status, said = _run(name, seconds)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    figures = dict(re.findall(r"stat::(\w+):\s+(\d+)", said))
    ended = {kind: int(count) for kind, count in figures.items() if kind.startswith("SIG")}
    return {
        "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "executions": int(figures.get("number_of_executed_units", 0)),
        "new": int(figures.get("new_units_added", 0)),
        "status": status,
        **ended,
    }


def fuzz(names: Sequence[str], hours: float, seconds: int) -> None:
    """Fuzzes the targets in turns until the CPU hours are spent."""
    WORK.mkdir(parents=True, exist_ok=True)
    urgency = dict.fromkeys(names, float("inf"))
    spent = 0.0
    while spent < hours * _HOUR:
        name = max(urgency, key=lambda each: urgency[each])
        found = turn(name, seconds)
        spent += found["cpu"]
        with _LOG.open("a") as log:
            log.write(json.dumps({"target": name, **found}) + "\n")
        # The others become more urgent with every turn that they wait.
        urgency = {each: value * 2 + _LEAST_GROWTH for each, value in urgency.items()}
        urgency[name] = found["new"] / max(1.0, found["cpu"])


def keep(name: str) -> None:
    """Keeps the short inputs that execute the most, and every finding that is mended."""
    kept, live = KEPT / name, LIVE / name
    for folder in (kept, live):
        folder.mkdir(parents=True, exist_ok=True)
    # Inputs that were kept earlier take part again.
    for path in _chosen(kept):
        write_new(live, path.read_bytes())
        path.unlink()
    if name in TARGETS:
        _run(name, 0)
    else:
        for path in live.iterdir():
            write_new(kept, path.read_bytes())
    for path in _findings(name):
        data = path.read_bytes()
        if name in NATIVE or violation(TARGETS[name].check, data, _SECONDS_AGAIN) is None:
            write_new(kept, data, _FOUND_PREFIX)
    total = 0
    for path in sorted(_chosen(kept), key=lambda path: (path.stat().st_size, path.name)):
        total += path.stat().st_size
        if total > _KEPT_BYTES:
            path.unlink()


def _chosen(kept: Path) -> list[Path]:
    return [path for path in kept.iterdir() if not path.name.startswith(_FOUND_PREFIX)]


def _findings(name: str = "*") -> list[Path]:
    return [path.with_suffix("") for path in sorted(FOUND.glob(f"{name}/*.json"))]


def main(arguments: Sequence[str]) -> int:
    """Fuzzes, or keeps inputs; the exit code is 1 where a reader violates its property."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzzing", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(_NAMES)}; all by default")
    parser.add_argument("--hours", type=float, default=1.0, help="CPU hours in all (1)")
    parser.add_argument("--turn", type=int, default=60, metavar="SECONDS", help="length of a turn (60)")
    parser.add_argument("--keep", action="store_true", help="copy inputs to tests/fuzzing/corpus instead")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.targets if name not in _NAMES]
    if unknown:
        parser.error(f"no target is called {unknown[0]}")
    if options.keep:
        for name in options.targets or (*TARGETS, *NATIVE):
            keep(name)
        return 0
    fuzz(options.targets or _NAMES, options.hours, options.turn)
    for path in _findings():
        print(f"{path.relative_to(ROOT)}: {json.loads(path.with_suffix('.json').read_text())['kind']}")
    return 1 if _findings() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
