"""Attacks on proofs: mutants and attribute flips of many programs, those called equal executed on hostile data.

`python -m tests.campaign_proof [COUNT]` makes about COUNT attacks (1500), compares COUNT random expressions of each
type, and COUNT / 60 programs of each family, with each other, and prints a table; the exit code is 1 where a proof, or
the field, calls two programs equal that differ when they are executed.
"""

from __future__ import annotations

import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from dialect_utils.execution import Array, ExecutionError, Worker, prepare
from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Module
from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.layout.arrays.dtypes import as_bits
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.proof import ProofResult, try_prove
from dialect_utils.verdict.sampling.faults import choose_mutants
from passes.framework.pipeline import verify
from tests import attack_families, expression_classes
from tests.paths import SHARED_DATA
from tests.styled_inputs import styled_inputs
from tests.verdict.proof import expressions as ex
from tests.verdict.proof.rewrites import REWRITES, Case

_COUNT = 1500
_NUMBER = re.compile(r"(?<![\w.%])(\d+)(?![\w.])|\b(true|false)\b|\b(LT|LE|GT|GE|EQ|NE)\b")
_DIRECTIONS = ("LT", "LE", "GT", "GE", "EQ", "NE")
_SEEDS = range(4)
# Doubles that agree to so many digits are taken for one real number.
_DIGITS = 1e-9


@dataclass
class Score:
    """The counts of the attacks of one kind."""

    attacks: int = 0
    told_equal: int = 0
    told_real: int = 0
    executed: int = 0
    wrong: list[str] = field(default_factory=list)


def programs(rng: random.Random) -> Iterator[tuple[str, str]]:
    """Yields the names and texts of programs, in both dialects, without an end."""
    shared = sorted((SHARED_DATA / "corpus" / "stablehlo_testdata").glob("*.mlir"))
    while True:
        rewrite = rng.choice(REWRITES)
        kinds = (*rewrite.exact, *rewrite.reals)
        if kinds:
            kind = rng.choice(kinds)
            case = Case(kind, rng.randint(rewrite.least_rank, 3) if rewrite.least_rank < 4 else 4, rng)
            yield rewrite.text, ex.module(rng.choice(rewrite.make(case)))
        if shared:
            file = rng.choice(shared)
            yield file.name, file.read_text("utf-8")


def flipped(text: str, rng: random.Random) -> str:
    """Returns a text in which one number, flag or direction of an operation is another one."""
    parts = text.split("\n")
    found = [
        (i, match)
        for i, line in enumerate(parts)
        if re.search(r"stablehlo\.|chlo\.|\), ", line) and "constant" not in line
        for match in _NUMBER.finditer(line, 0 if "stablehlo" in line or "chlo" in line else line.index("), "))
    ]
    if found:
        at, match = rng.choice(found)
        parts[at] = parts[at][: match.start()] + _other(match[0], rng) + parts[at][match.end() :]
    return "\n".join(parts)


def _other(word: str, rng: random.Random) -> str:
    if word in ("true", "false"):
        return "false" if word == "true" else "true"
    if word in _DIRECTIONS:
        return rng.choice([each for each in _DIRECTIONS if each != word])
    return str(max(0, int(word) + rng.choice((-1, 1))))


def read(text: str) -> Module:
    module = parse_bytes(text.encode(), "m")
    verify(module)
    return module


def prove(first: Module, second: Module) -> ProofResult | None:
    """Returns what a proof says, or None for modules that have no common signature."""
    try:
        return try_prove([first, second], over_reals=True)
    except DiagnosticError:
        return None


def differs(worker: Worker, first: Module, second: Module, *, as_reals: bool) -> bool | None:
    """Returns whether two modules differ in StableHLO's interpreter; None where it cannot execute them."""
    shapes = [value.shape for value in first.entry.parameters]
    if not all(isinstance(shape, ArrayShape) for shape in shapes):
        return None
    try:
        if as_reals:
            first, second = _widened(first), _widened(second)
            shapes = [value.shape for value in first.entry.parameters]
        outputs = [_run(worker, module, shapes, as_reals=as_reals) for module in (first, second)]
    except (ExecutionError, DiagnosticError, ValueError):
        return None
    return any(not _same(a, b, as_reals=as_reals) for a, b in zip(*outputs, strict=True))


def _widened(module: Module) -> Module:
    text = re.sub(r"(?:(?<=x)|\b)(f32|bf16|f16|f8\w+)\b", "f64", module.text())
    return parse_bytes(text.encode(), "m")


def _run(worker: Worker, module: Module, shapes: list[Shape], *, as_reals: bool) -> list[Array]:
    program = prepare(module, "m")
    arrays = [shape for shape in shapes if isinstance(shape, ArrayShape)]
    outputs: list[Array] = []
    for seed in _SEEDS:
        style = "random" if as_reals else ("special", "integers", "random")[seed % 3]
        inputs = styled_inputs(arrays, seed, style)  # type: ignore[arg-type]  # one of the styles
        [found] = worker.run(program, [inputs], engine="interpreter")
        outputs += found
    return outputs


def _same(a: Array, b: Array, *, as_reals: bool) -> bool:
    if as_reals and a.dtype == np.float64:
        with np.errstate(all="ignore"):
            is_close = np.abs(a - b) <= _DIGITS * (np.abs(a) + np.abs(b) + 1)
        return bool((is_close | ~np.isfinite(a) | ~np.isfinite(b)).all())
    with np.errstate(invalid="ignore"):
        both_nan = (a != a) & (b != b)
    return bool(np.all((as_bits(a) == as_bits(b)) | both_nan))


def attack(worker: Worker, kind: str, name: str, pair: tuple[Module, Module], score: Score) -> None:
    """Tries one pair, and executes it where a proof or the field calls it equal."""
    found = prove(*pair)
    score.attacks += 1
    if found is None:
        return
    is_equal, is_real = found.answer == "equal", found.is_equal_over_reals
    score.told_equal += is_equal
    score.told_real += is_real and not is_equal
    if not is_equal and not is_real:
        return
    verdict = differs(worker, *pair, as_reals=not is_equal)
    score.executed += verdict is not None
    if verdict:
        word = "equal" if is_equal else "equal over the reals"
        score.wrong.append(f"{kind} of {name}: told {word}\n{pair[0].text()}\n{pair[1].text()}")


def main(count: int) -> int:
    rng = random.Random(7)
    scores = {"mutant": Score(), "flip": Score()}
    refused: Counter[str] = Counter()
    start = time.process_time()
    with Worker() as worker:
        for name, text in programs(rng):
            if sum(score.attacks for score in scores.values()) >= count:
                break
            try:
                module = read(text)
            except DiagnosticError:
                refused["program"] += 1
                continue
            for mutant in choose_mutants(module, 3):
                other = mutant.plant(module)
                if other is not None:
                    attack(worker, "mutant", f"{name} ({mutant.planted})", (module, other), scores["mutant"])
            for _ in range(3):
                edited = flipped(text, rng)
                try:
                    other = read(edited)
                except (DiagnosticError, ValueError):
                    refused["flip"] += 1
                    continue
                if edited != text:
                    attack(worker, "flip", name, (module, other), scores["flip"])
    for kind, score in scores.items():
        print(
            f"{kind}: {score.attacks} attacks, {score.told_equal} proved equal, {score.told_real} more over the reals, "
            f"{score.executed} of both executed, {len(score.wrong)} wrong"
        )
        print(*score.wrong, sep="\n")
    wrong = _expressions(count) | _families(count // 60)
    print(f"refused by the verifier: {dict(refused)}; {time.process_time() - start:.0f} CPU seconds")
    return int(wrong or any(score.wrong for score in scores.values()))


def _families(count: int) -> bool:
    """Compares so many programs of each family with each other; is true where one is wrongly told."""
    is_wrong = False
    with Worker() as worker:
        for name in attack_families.FAMILIES:
            found = attack_families.attacks(worker, name, count)
            print(
                f"{name}: {found.pairs} pairs, {found.differing} differ, {found.told_equal} told equal, "
                f"{len(found.wrong)} wrong"
            )
            print(*found.wrong, sep="\n", end="")
            is_wrong |= bool(found.wrong)
    return is_wrong


def _expressions(count: int) -> bool:
    """Compares random expressions of each type with each other; is true where two are wrongly told equal."""
    pairs = told = 0
    wrong: list[str] = []
    with Worker() as worker:
        for kind in expression_classes.KINDS:
            found = expression_classes.attacks(worker, kind, 0, count)
            pairs, told, wrong = pairs + found.pairs, told + found.told_equal, [*wrong, *found.wrong]
    print(f"expressions: {pairs} pairs, {told} told equal, {len(wrong)} wrong")
    print(*wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else _COUNT))
