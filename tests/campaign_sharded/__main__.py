"""Judges pairs of programs for one device and for several by `relayout check --sharded`: `make campaign-sharded`.

`python -m tests.campaign_sharded PAIRS [--mistakes DIR] [--jobs N]` reads pairs as make_sharded writes them, and
mistakes as planting does. Prints a table for each kind: verdicts, how each was reached, and seconds; then each pair
that is not proved and each mistake that is not seen. Returns 1 for a pair called `different` and for a mistake called
`equal`, `agrees` or `close`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tests.corpus.sharded.running import program_file

_PROVED, _WRONG_PAIR, _UNSEEN = ("equal",), ("different",), ("equal", "agrees", "close")
_REASON = 260
# Seconds for starting the command, besides the time of the check.
_START = 30


@dataclass(frozen=True, slots=True)
class Judged:
    """The answer of the command about one pair."""

    folder: Path
    meta: dict[str, Any]
    verdict: str
    reached: str
    reason: str
    seconds: float

    @property
    def kind(self) -> str:
        """Returns the kind of the mistake, or of the program."""
        found: str = self.meta.get("mistake", self.meta["kind"])
        return found


def judge(folder: Path, timeout: int, more: Sequence[str], *, places: bool) -> Judged:
    """Runs the command on one pair."""
    meta = json.loads((folder / "meta.json").read_text("utf-8"))
    files = [str(folder / meta.get("a", "a.mlir")), str(program_file(folder))]
    options = ["--sharded", "--json", "--timeout", str(timeout), *more]
    if places:
        options += ["--placements", str(folder / "placements.json")]
    command = [sys.executable, "-m", "relayout", "check", *options, *files]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout + _START, check=False)
    except subprocess.TimeoutExpired:
        return Judged(folder, meta, "no answer", "", f"no answer after {timeout + _START} s", timeout + _START)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        errors = [line for line in done.stderr.splitlines() if "error" in line.lower()]
        said = (errors or done.stderr.splitlines() or [f"exit code {done.returncode}"])[0]
        return Judged(folder, meta, "error", "", said[:_REASON], 0.0)
    read = json.loads(lines[-1])
    if "verdict" not in read:
        return Judged(folder, meta, "error", "", str(read)[:_REASON], 0.0)
    verdict, seconds = read["verdict"], float(read.get("seconds", 0))
    return Judged(folder, meta, verdict, _reached(read), str(read.get("reason", ""))[:_REASON], seconds)


def _reached(read: dict[str, Any]) -> str:
    """Returns how a verdict was reached."""
    by = "+".join(read["methods"]) or "nothing"
    proved = read.get("proved") or ()
    if "proof" not in read["methods"] and proved:
        equal = sum(bool(each["equal"] or (each.get("over_reals") or {}).get("equal")) for each in proved)
        by += f", {equal} of {len(proved)} outputs equal over the reals"
    return f"{by}, up to {' and '.join(read['up_to'])}" if read["up_to"] else by


def judge_all(folders: Iterable[Path], jobs: int, one: Callable[[Path], Judged], told: Path | None) -> list[Judged]:
    """Judges many pairs at a time; `told` gets a line for each as soon as it is known."""
    found = []
    with ThreadPoolExecutor(jobs) as pool:
        for number, each in enumerate(pool.map(one, folders)):
            found.append(each)
            if told is not None:
                with told.open("a") as file:
                    print(
                        f"{each.folder.name}\t{each.verdict}\t{each.reached}\t{each.seconds}\t{each.reason}", file=file
                    )
            if number % 50 == 49:
                print(f"{number + 1} judged", flush=True)
    return found


def print_table(found: list[Judged], good: tuple[str, ...], key: Callable[[Judged], str]) -> None:
    """Prints a row for each kind, and the sum."""
    rows: dict[str, list[Judged]] = defaultdict(list)
    for each in found:
        rows[key(each)].append(each)
    for kind, judged in [*sorted(rows.items()), ("all", found)]:
        verdicts = Counter(each.verdict for each in judged)
        share = sum(verdicts[verdict] for verdict in good)
        most = max((each.seconds for each in judged), default=0)
        counts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
        print(f"{kind:32} {share:3} of {len(judged):3}  {most:5.1f} s at most  {counts}")
    for how, count in Counter((each.verdict, each.reached) for each in found).most_common():
        print(f"  {count:3} {how[0]}: {how[1]}")


def main() -> int:
    """Runs the campaign."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, nargs="?", default=Path("build/sharded"), help="folder of correct pairs")
    parser.add_argument("--mistakes", type=Path, metavar="DIR", help="folder of planted mistakes")
    parser.add_argument("--only", default="", metavar="TEXT", help="pairs whose names have this text")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each N-th pair and mistake only")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="so many at a time (default: 2)")
    parser.add_argument("--timeout", type=int, default=60, metavar="SECONDS", help="for each pair (default: 60)")
    parser.add_argument("--engines", metavar="ENGINES", help="as `relayout check` has it")
    parser.add_argument("--placements", action="store_true", help="name the placements instead of reading the texts")
    parser.add_argument("--lines", type=Path, metavar="FILE", help="a line for each judgement, at once")
    given = parser.parse_args()
    more = ["--engines", given.engines] if given.engines else []
    one = partial(judge, timeout=given.timeout, more=more, places=given.placements)

    def folders(root: Path) -> list[Path]:
        names = sorted(path.parent for path in root.glob("*/meta.json") if given.only in path.parent.name)
        return names[:: given.every]

    print("correct pairs, proved:")
    pairs = judge_all(folders(given.pairs), given.jobs, one, given.lines)
    print_table(pairs, _PROVED, lambda each: each.kind)
    print_table(pairs, _PROVED, lambda each: each.meta["form"])
    wrong = [each for each in pairs if each.verdict in _WRONG_PAIR]
    open_pairs = [each for each in pairs if each.verdict not in _PROVED]
    mistakes: list[Judged] = []
    if given.mistakes is not None:
        print("mistakes, seen:")
        mistakes = judge_all(folders(given.mistakes), given.jobs, one, given.lines)
        print_table(mistakes, _WRONG_PAIR, lambda each: each.kind)
        wrong += [each for each in mistakes if each.verdict in _UNSEEN]
    for each in [*wrong, *open_pairs, *(one for one in mistakes if one.verdict not in _WRONG_PAIR)]:
        print(f"{'WRONG ' if each in wrong else ''}{each.folder.name}: {each.verdict}: {each.reason}")
    print(f"{len(wrong)} wrong verdicts")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
