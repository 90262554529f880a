"""Proves pairs of programs before and after an optimizer, and changes each proved pair: `make campaign-pairs`.

`python -m tests.campaign_pairs [PAIRS] [--all] [--jobs N]` reads a list of {id, before, after} in JSON (`.xz`
too), by default the pairs of Enzyme-JAX's rewrites in the reference data. It prints how many are proved, each pair that
is not with the reason, and for each proved pair whether a small change of the program after is proved, too: another
dimension, constant, bound, direction or operation. XLA:CPU runs a changed pair that is proved. Returns 1 where its
results differ, and 0 with a sentence where the pairs are not present.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import re
import resource
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from multiprocessing import TimeoutError as OutOfTimeError, get_context
from pathlib import Path
from typing import Any

from dialect_utils.ir import Module
from dialect_utils.stablehlo import parse_module
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict import Options, compare_modules
from dialect_utils.verdict.certified import prove
from dialect_utils.verdict.proof import ProofResult
from tests.paths import SHARED_DATA

PAIRS = SHARED_DATA / "corpus/enzyme_pairs/pairs.json.xz"
# CPU seconds for the proof of a pair, seconds until its process ends, and the memory of the process in bytes.
_SECONDS, _ALARM, _MEMORY = 20.0, 400, 16 << 30
_REASON = 150
# Small changes of a program's text: a pattern, and what a match may become.
_CHANGES = (
    (re.compile(r"(?<=dims = \[)(\d+), (\d+)(?=[\],])"), r"\2, \1"),
    (re.compile(r"(?<=\[)(\d+):(\d+)(?=[\],:])"), None),
    (re.compile(r"(?<=dense<)-?\d+(?=>)"), None),
    (re.compile(r"(?<=dense<)-?\d+\.\d+e[+-]\d+(?=>)"), "1.250000e+00"),
    (re.compile(r"\b(LT|LE|GT|GE|EQ|NE)\b"), None),
    (re.compile(r"(?<=low = \[)(\d+), (\d+)(?=[\],])"), r"\2, \1"),
    (re.compile(r"stablehlo\.(add|subtract|multiply|maximum|minimum)\b"), None),
    (re.compile(r"(?<=dim = )(\d)"), None),
)
_DIRECTIONS, _OPERATIONS = ("LT", "LE", "GT", "GE", "EQ", "NE"), ("add", "subtract", "multiply", "maximum", "minimum")


def changed(text: str, rng: random.Random) -> Iterator[str]:
    """Yields a program with one small change, in random order; some changes leave its meaning, or do not parse."""
    found = [(match, to) for pattern, to in _CHANGES for match in pattern.finditer(text)]
    rng.shuffle(found)
    for match, to in found:
        yield text[: match.start()] + _other(match, to, rng) + text[match.end() :]


def _other(match: re.Match[str], to: str | None, rng: random.Random) -> str:
    written = match.group()
    if to is not None:
        return match.expand(to)
    if written in _DIRECTIONS:
        return rng.choice([each for each in _DIRECTIONS if each != written])
    if "." in written:
        return "stablehlo." + rng.choice([each for each in _OPERATIONS if each != match.group(1)])
    if ":" in written:
        low, high = int(match.group(1)), int(match.group(2))
        return f"{low + 1}:{high + 1}" if low == 0 or rng.random() < 0.5 else f"{low - 1}:{high - 1}"
    return str(int(written) + 1)


def _proved(before: Module, after: Module) -> ProofResult | str:
    try:
        return prove([before, after], seconds=_SECONDS)
    except DiagnosticError as error:
        return error.diagnostics[0].message


def judged(pair: dict[str, str]) -> dict[str, Any]:
    """Returns the answer about a pair, and about one change of it where the pair is proved."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    signal.alarm(_ALARM)
    try:
        modules = [parse_module(pair[side], f"{pair['id']}.{side}") for side in ("before", "after")]
        found = _proved(*modules)
    except (DiagnosticError, MemoryError) as error:
        found = str(error).partition("\n")[0] or "out of memory"
    if isinstance(found, str):
        return {"id": pair["id"], "answer": "not compared", "reason": found}
    result = {"id": pair["id"], "answer": found.answer, "reason": found.reason}
    if found.answer == "equal":
        result["change"] = _attacked(pair, modules)
    return result


def _attacked(pair: dict[str, str], modules: Sequence[Module]) -> str:
    """Returns what a proof and, where it finds the programs equal, XLA say about one change of a proved pair."""
    for text in changed(pair["after"], random.Random(pair["id"])):
        try:
            module = parse_module(text, f"{pair['id']}.changed")
            if module.text() == modules[1].text():
                continue
            found = _proved(modules[0], module)
        except DiagnosticError:
            continue
        if isinstance(found, str):
            continue
        if found.answer != "equal":
            return "not proved"
        try:
            verdict = compare_modules(modules[0], module, Options(engines=("xla",))).verdict
        except DiagnosticError:
            return "proved, not executed"
        return "WRONG" if verdict == "different" else f"proved: {verdict} in XLA"
    return "no change parses"


def main() -> int:
    """Prints the tables; see the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pairs", nargs="?", type=Path, default=PAIRS)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if not options.pairs.exists():
        print(f"{options.pairs} is not present: no pair is proved")
        return 0
    data = options.pairs.read_bytes()
    pairs = json.loads(lzma.decompress(data) if options.pairs.suffix == ".xz" else data)
    with get_context("fork").Pool(options.jobs, maxtasksperchild=1) as pool:
        waiting = [(pair["id"], pool.apply_async(judged, (pair,))) for pair in pairs]
        found: list[dict[str, Any]] = []
        for name, result in waiting:
            try:
                found.append(result.get(_ALARM + 30))
            except (MemoryError, OutOfTimeError):  # the process ended, or took too much
                found.append({"id": name, "answer": "not compared", "reason": "out of time or memory"})
    for each in found:
        if each["answer"] != "equal" or "WRONG" in each["change"]:
            print(each["id"], each["answer"], each.get("change", ""), each["reason"][:_REASON].replace("\n", " "))
    print(Counter(each["answer"] for each in found))
    print("changes:", Counter(each["change"] for each in found if "change" in each))
    return int(any(each.get("change") == "WRONG" for each in found))


if __name__ == "__main__":
    sys.exit(main())
