"""Compiles the modules of XLA's own tests by XLA:CPU, and compares it with the definitions: `make campaign-validate`.

Each module is executed by XLA:CPU and by the reference evaluator on the same data. The rows of the results are kept in
a file, so that a later run goes on with the modules that are missing. Without the shared corpus it takes the modules of
this tree only.
"""

from __future__ import annotations

import argparse
import json
import lzma
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from dialect_utils import sandbox
from dialect_utils.execution import ExecutionError, Worker, prepare
from dialect_utils.io.files import parse_bytes
from dialect_utils.io.inputs import Input
from dialect_utils.ir import Module
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict import Options, compare_stages
from dialect_utils.verdict.work import work_of
from passes.dumps.executable import checked_form
from passes.framework.pipeline import verify
from relayout.bisection.judging import Bisector
from relayout.validation.judging import Judge
from relayout.validation.steps import Step, StepResult, find_steps
from tests.paths import ROOT, SHARED_DATA

_TESTS = SHARED_DATA / "corpus" / "xla_tests"
_FOLDERS = ("examples", "tests/corpus/hlo", "tests/corpus/stablehlo", "tests/corpus/programs", "tests/corpus/campaign")
_SHARED_FOLDER = "stablehlo_testdata"
_SUFFIXES = (".hlo", ".mlir")
# Seconds for a module, all engines together.
_SECONDS = 200.0
_ENGINE_SECONDS = 20.0
_STEPS_SECONDS, _PROOF_SECONDS = 60.0, 3.0
# A proof comes first. The reference evaluator takes its time, and would rarely contradict it.
_OPTIONS = (
    Options(engines=("proof",), power=0, proof_seconds=_PROOF_SECONDS),
    Options(engines=("reference",), power=0, timeout=_ENGINE_SECONDS),
)
_SETS = 12
_KNOWN: dict[bytes, StepResult] = {}
_LARGEST = 200_000
_MOST_ELEMENTS = 300_000
_MOST_WORDS = 300
_CONVERSION = "conversion to HLO"
Row = dict[str, Any]


def _entries(name: str) -> list[dict[str, Any]]:
    path = _TESTS / name
    if not path.exists():
        return []
    with lzma.open(path) if path.suffix == ".xz" else path.open("rb") as file:
        found: list[dict[str, Any]] = json.load(file)
    return found


def _texts() -> Iterator[tuple[str, str]]:
    for each in _entries("evaluator.json"):
        yield f"evaluator: {each['id']}", each["text"]
    for each in _entries("verifier.json"):
        if each["expect"] == "accept":
            yield f"verifier: {each['id']}", each["text"]
    for each in _entries("filecheck_pairs.json"):
        yield f"filecheck: {each['id']}", each["before"]
    for each in _entries("cpu_pass_pairs.json.xz"):
        yield f"before: {each['id']}", each["before"]
        yield f"after: {each['id']}", each["after"]
    folders = [*(ROOT / name for name in _FOLDERS), SHARED_DATA / "corpus" / _SHARED_FOLDER]
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in _SUFFIXES and path.stat().st_size <= _LARGEST:
                yield f"{folder.name}: {path.name}", path.read_text("utf-8", "surrogateescape")


def modules() -> dict[str, tuple[str, str]]:
    """Returns the name and the text of each module, by a digest of the text without spaces."""
    return {
        sha256(" ".join(text.split()).encode("utf-8", "surrogateescape")).hexdigest()[:16]: (name, text)
        for name, text in _texts()
    }


def judged(name: str, text: str, worker: Worker) -> Row:
    """Returns the row of a module: the place where XLA:CPU departs from its definition, and a verdict on each step."""
    try:
        module = parse_bytes(text.encode("utf-8", "surrogateescape"), name)
        verify(module)
        if work_of(module) > _MOST_ELEMENTS:
            return {"place": "not executed", "reason": f"more than {_MOST_ELEMENTS:,} elements"}
    except DiagnosticError as error:
        return {"place": "not executed", "reason": _message(error)}
    return {**_whole(module, name, worker), "steps": _steps(module, name, worker)}


def _whole(module: Module, name: str, worker: Worker) -> Row:
    try:
        return Bisector(module, Options(power=0, timeout=_ENGINE_SECONDS), worker, name, _SETS).run().as_json()
    except (DiagnosticError, ExecutionError) as error:
        return {"place": "not executed", "reason": _message(error)}


def _steps(module: Module, name: str, worker: Worker) -> list[list[str]]:
    """Returns the pass, the verdict and its reason for each step of a compilation, the conversion to HLO first.

    A proof decides, or else the reference evaluator: no step is judged by the compiler itself.
    """
    start = time.monotonic()
    try:
        dumped = worker.dump_passes(prepare(checked_form(module), name))
        inputs = [Input(path, path, kind="hlo text", content=text.encode()) for path, text in dumped]
        first = next(each for each in inputs if each.dump.is_stage("before_optimizations"))
        found = [_conversion(module, first.module(), worker)]
        judges = [Judge(options, worker) for options in _OPTIONS]
        for step in find_steps(inputs, name):
            if time.monotonic() - start > _STEPS_SECONDS:
                found.append([step.change, "left out", ""])
                continue
            result = _judged(judges, step)
            found.append([step.change, result.verdict, " ".join(result.said)[:_MOST_WORDS]])
        return found
    except (DiagnosticError, ExecutionError, StopIteration) as error:
        return [["compilation", "not compiled", _message(error)]]


def _judged(judges: Sequence[Judge], step: Step) -> StepResult:
    """Returns the verdict of a proof, or else of the reference evaluator; each pair of texts is judged once."""
    key = sha256(step.before.data() + step.after.data()).digest()
    if key not in _KNOWN:
        for judge in judges:
            _KNOWN[key] = judge.judge(step, _PROOF_SECONDS)
            if _KNOWN[key].verdict != "unknown":
                break
    return _KNOWN[key]


def _conversion(module: Module, converted: Module, worker: Worker) -> list[str]:
    for options in _OPTIONS:
        try:
            verdict = compare_stages([module, converted], options, worker, executable=checked_form)
        except (DiagnosticError, ExecutionError) as error:
            return [_CONVERSION, "unknown", _message(error)]
        if verdict.verdict != "unknown":
            break
    return [_CONVERSION, verdict.verdict, " ".join(verdict.lines(("before", "after"))[1:])[:_MOST_WORDS]]


def _message(error: Exception) -> str:
    if isinstance(error, DiagnosticError):
        return error.diagnostics[0].message[:_MOST_WORDS]
    return str(error)[:_MOST_WORDS]


def _serve(connection: Connection, parent: int) -> None:
    sandbox.die_with_parent(parent)
    with Worker(timeout=_ENGINE_SECONDS) as worker:
        while True:
            name, text = connection.recv()
            try:
                row = judged(name, text, worker)
            except Exception as error:  # an error of this program is a finding, too
                row = {"place": "internal error", "reason": f"{type(error).__name__}: {error}"[:300]}
            connection.send(row)


class Judging:
    """A process that judges modules, and is replaced where one takes too long."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self._connection, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.get_context("fork").Process(
            target=_serve, args=(theirs, os.getpid()), daemon=True
        )
        self._process.start()
        theirs.close()

    def row(self, name: str, text: str) -> Row:
        self._connection.send((name, text))
        try:
            if self._connection.poll(_SECONDS):
                found: Row = self._connection.recv()
                return found
            reason = f"no result in {_SECONDS:g} seconds"
        except EOFError:
            reason = "the process ended"
        self.end()
        self._start()
        return {"place": "not executed", "reason": reason}

    def end(self) -> None:
        self._process.kill()
        self._process.join()


def main() -> int:
    """Judges all modules that have no row yet, and prints the table; returns 1 for disagreements."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--results", type=Path, default=Path("campaign-validate.jsonl"))
    parser.add_argument("--part", default="0/1", help="only a part of the modules: 0/2 and 1/2 are both halves")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    arguments = parser.parse_args()
    arguments.results.parent.mkdir(parents=True, exist_ok=True)
    if not _TESTS.is_dir():
        print("the shared corpus is not here: only the modules of this tree are compiled")
    part, of = map(int, arguments.part.split("/"))
    known = {row["id"]: row for row in _rows(arguments.results)}
    found, end = modules(), time.monotonic() + arguments.seconds
    judge = Judging()
    with arguments.results.open("a") as file:
        for digest, (name, text) in found.items():
            if digest in known or int(digest, 16) % of != part or time.monotonic() > end:
                continue
            start = time.perf_counter()
            row = {
                "id": digest,
                "name": name,
                **judge.row(name, text),
                "seconds": round(time.perf_counter() - start, 2),
            }
            known[digest] = row
            file.write(json.dumps(row) + "\n")
            file.flush()
    judge.end()
    rows = [known[digest] for digest in found if digest in known]
    _print_tables(rows, len(found))
    return 1 if any(_is_finding(row) for row in rows) else 0


def _is_finding(row: Row) -> bool:
    """Is true for a row that shows a difference, or an error of this program."""
    is_wrong = row["place"] not in ("nowhere", "unknown", "not executed") and not row["choices"]
    return is_wrong or any(verdict == "different" for _, verdict, _ in row.get("steps", ()))


def _print_tables(rows: Sequence[Row], count: int) -> None:
    print(f"{len(rows)} of {count} modules; XLA:CPU departs from the definition:")
    for place, number in Counter(row["place"] for row in rows).most_common():
        print(f"  {number:5} {place}")
    steps = [step for row in rows for step in row.get("steps", ())]
    verdicts = Counter((name, verdict) for name, verdict, _ in steps)
    known = list(dict.fromkeys(verdict for _, verdict in verdicts))
    print(f"{len(steps)} steps", *(f"{verdict:>12}" for verdict in known))
    for name, number in Counter(name for name, _, _ in steps).most_common():
        print(f"{number:6}", *(f"{verdicts[name, verdict]:12}" for verdict in known), f" {name}")
    print("disagreements:")
    for row in filter(_is_finding, rows):
        print(f"  {row['id']} {row['name']}: {row['place']} {row.get('broken', '')} {row.get('difference', '')}")
        for name, verdict, said in row.get("steps", ()):
            if verdict == "different":
                print(f"    {name}: {said}")


def _rows(path: Path) -> Iterator[Row]:
    if path.exists():
        yield from map(json.loads, path.read_text().splitlines())


if __name__ == "__main__":
    sys.exit(main())
