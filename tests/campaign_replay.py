"""Attacks on the replay: certificates of many proofs, changed at random, for programs that are equal and that differ.

`python -m tests.campaign_replay [COUNT]` replays about COUNT changed certificates (2000) and prints a table; the exit
code is 1 where one is accepted for two programs that differ when they are executed, or where a replay raises an error.
"""

from __future__ import annotations

import json
import lzma
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, seed, settings

from dialect_utils.execution import Worker
from dialect_utils.ir import Module
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.certificate import Certificate, certificate_text, read_certificate
from dialect_utils.verdict.proof import try_prove
from dialect_utils.verdict.replay import Replayed, replay
from dialect_utils.verdict.sampling.faults import choose_mutants
from passes.framework.pipeline import Pipeline
from tests import campaign_proof
from tests.passes.random_modules import modules
from tests.paths import SHARED_DATA
from tests.verdict.proof import expressions as ex
from tests.verdict.proof.dialects import parse
from tests.verdict.proof.rewrites import REWRITES, Case
from tests.verdict.proof.test_own_rewrites import REWRITES as OWN

_COUNT = 2000
# Changes of one certificate, for the equal pair and for one that differs.
_CHANGES = 6
_CORPORA = ("cpu_pass_pairs.json.xz", "tpu_pass_pairs.json.xz", "stablehlo_pass_pairs.json")
_LONGEST = 20_000
_SECONDS = 5


@dataclass(frozen=True)
class Pair:
    """Two programs that are equal, and changed forms of the second one."""

    name: str
    first: Module
    second: Module
    others: tuple[Module, ...]


@dataclass
class Tally:
    """The counts of a campaign: changed certificates by what became of them."""

    found: Counter[tuple[str, str]] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        return self.found.total()

    def report(self, start: float) -> int:
        """Prints the counts and the CPU time since `start`; returns the exit code."""
        for (name, said), number in sorted(self.found.items()):
            print(f"{name}: {said} {number}")
        if self.kinds:
            print(f"kinds of changes: {dict(self.kinds.most_common(12))}")
        print(*self.wrong, sep="\n")
        print(f"{self.total} certificates, {len(self.wrong)} wrong, {time.process_time() - start:.0f} CPU seconds")
        return int(bool(self.wrong))


# Programs


def pairs(rng: random.Random, count: int) -> Iterator[Pair]:
    """Yields pairs of every source in turn."""
    sources = [_own(rng), _rewrites(rng), _random(rng, count), *(_corpus(name, rng) for name in _CORPORA)]
    while sources:
        for source in [*sources]:
            found = next(source, None)
            if found is None:
                sources.remove(source)
            else:
                yield found


def _changed(text: str, rng: random.Random) -> tuple[Module, ...]:
    """Returns mutants of a module's text, and the text with a number or flag changed."""
    module = parse(text)
    made = [mutant.plant(module) for mutant in choose_mutants(module, 2)]
    found = [each for each in made if each is not None]
    with suppress(DiagnosticError, ValueError, IndexError):
        found.append(campaign_proof.read(campaign_proof.flipped(text, rng)))
    return tuple(found)


def _own(rng: random.Random) -> Iterator[Pair]:
    names = [*OWN]
    rng.shuffle(names)
    for name in names:
        parameters = ex.parameters_of(*OWN[name])
        first, second = (ex.module(side, parameters=parameters) for side in OWN[name])
        yield Pair(name, parse(first), parse(second), _changed(second, rng))


def _rewrites(rng: random.Random) -> Iterator[Pair]:
    while True:
        rewrite = rng.choice(REWRITES)
        if not rewrite.exact or rewrite.least_rank > 3:
            continue
        case = Case(rng.choice(rewrite.exact), rng.randint(rewrite.least_rank, 3), rng)
        sides = rewrite.make(case)
        parameters = ex.parameters_of(*sides)
        left, right, wrong = (parse(ex.module(side, parameters=parameters)) for side in sides)
        yield Pair(rewrite.text, left, right, (wrong,))


def _random(rng: random.Random, count: int) -> Iterator[Pair]:
    texts: list[str] = []
    drawn = settings(
        max_examples=max(10, count // 40), database=None, deadline=None, suppress_health_check=[*HealthCheck]
    )

    def keep(text: str) -> None:
        texts.append(text)

    seed(rng.randrange(1 << 30))(drawn(given(modules(is_tiled=True))(keep)))()
    for text in texts:
        try:
            module = campaign_proof.read(text)
            changed = [mutant.plant(module) for mutant in choose_mutants(module, 2)]
            second, *others = (_piped(each) for each in (module, *changed) if each is not None)
        except (DiagnosticError, ValueError):
            continue
        yield Pair("random", module, second, tuple(others))


def _piped(module: Module) -> Module:
    return Pipeline.parse("expand-tiling,propagate-physical,cancel-relayouts").run(module).runs[-1].result.module


def _corpus(name: str, rng: random.Random) -> Iterator[Pair]:
    path = SHARED_DATA / "corpus" / "xla_tests" / name
    if not path.exists():
        return
    data = path.read_bytes()
    entries = json.loads(lzma.decompress(data) if path.suffix == ".xz" else data)
    rng.shuffle(entries)
    for entry in entries:
        if len(entry["after"]) > _LONGEST:
            continue
        try:
            yield Pair(entry["id"], parse(entry["before"]), parse(entry["after"]), _changed(entry["after"], rng))
        except (DiagnosticError, ValueError):
            continue


# Certificates


@contextmanager
def unsound() -> Iterator[None]:
    """Lets the prover take every two values for equal, while it is open."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dialect_utils.verdict.proof.decide._Comparison._same", lambda *_: True)
        yield


def proved(first: Module, second: Module) -> Certificate | None:
    """Returns the certificate of a prover; None where it has none."""
    try:
        return try_prove([first, second]).certificate
    except DiagnosticError:
        return None


def replayed(first: Module, second: Module, certificate: Certificate) -> Replayed:
    """Returns what a replay says of two modules."""
    return replay([first, second], certificate)


Plain = dict[str, Any]


def _words(text: str) -> list[str]:
    return text.split()


def _other(value: Any, rng: random.Random) -> Any:
    """Returns a label, a shape or a list of numbers with one part changed."""
    if isinstance(value, bool):
        return rng.choice([not value, int(value)])
    if isinstance(value, int):
        return rng.choice([value + 1, value - 1, 0, 1, -1, 1 << 31, value ^ 1, value + 0.5])
    if isinstance(value, str):
        return rng.choice(_WORDS)
    if isinstance(value, list) and value:
        at = rng.randrange(len(value))
        kind = rng.randrange(6)
        if kind == 0:
            return [*value[:at], *value[at + 1 :]]
        if kind == 1:
            return value[::-1]
        return [*value[:at], _other(value[at], rng), *value[at + 1 :]]
    if isinstance(value, dict) and "of" in value:
        return {**value, "of": _other(value["of"], rng)}
    if isinstance(value, dict) and "term" in value:
        return {"term": rng.randrange(max(1, value["term"]))}
    return rng.choice([None, 0, "add", [0], {"set": [0]}])


_KINDS = _words("leaf constant splat each choice moved op out element array")
_WORDS = _words(
    "add multiply subtract maximum minimum and or xor negate convert select broadcast reverse reduce iota LT GE EQ "
    "compare ring sum unspecified bound parameter s32 f32 pred u8 Reshape Transpose Slice"
)


def _of_term(plain: Plain, rng: random.Random) -> str:
    number = rng.randrange(len(plain["terms"]))
    row = plain["terms"][number]
    what = rng.choice(["kind", "label", "shape", "operand", "operands"])
    if what == "kind":
        row[0] = rng.choice(_KINDS)
    elif what == "label":
        row[1] = _other(row[1], rng)
    elif what == "shape":
        row[2] = rng.choice([_other(row[2], rng), rng.choice(plain["terms"])[2]])
    elif what == "operands":
        row[3] = rng.choice([row[3][::-1], row[3][1:], row[3] + row[3][:1], []])
    elif row[3]:
        row[3][rng.randrange(len(row[3]))] = rng.randrange(number)
    return f"{what} of a term"


def _of_rule(plain: Plain, rng: random.Random) -> str:
    rng.choice(plain["steps"])[0] = rng.choice([*(step[0] for step in plain["steps"]), *_RULES])
    return "rule"


_RULES = _words(
    "moved through broadcast cases elements splat constants integer-ring max-min bitwise commuted neutral one-branch "
    "branches dynamic-slice reduce window one-sum convert-lossless select negation initial-value"
)


def _of_step(plain: Plain, rng: random.Random) -> str:
    one, other = rng.choice(plain["steps"]), rng.choice(plain["steps"])
    at = rng.choice((2, 3))
    one[at], other[at] = other[at], one[at]
    return "terms of two steps"


def _of_index(plain: Plain, rng: random.Random) -> str:
    rng.choice(plain["steps"])[rng.choice((2, 3))] = rng.randrange(len(plain["terms"]))
    return "term of a step"


def _without_step(plain: Plain, rng: random.Random) -> str:
    del plain["steps"][rng.randrange(len(plain["steps"]))]
    return "step left out"


def _of_predicate(plain: Plain, rng: random.Random) -> str:
    step = rng.choice(plain["steps"])
    step[4:] = rng.choice([[], [rng.randrange(len(plain["terms"]))]])
    return "predicate"


def _of_reading(plain: Plain, rng: random.Random) -> str:
    side = rng.randrange(2)
    if plain["readings"][side]:
        at = rng.randrange(len(plain["readings"][side]))
        plain["readings"][side][at] = _other(plain["readings"][side][at], rng)
    else:
        plain["decomposed"] = not plain["decomposed"]
    return "reading of a loop"


_CHANGE: tuple[Callable[[Plain, random.Random], str], ...] = (
    *(_of_term,) * 5,
    _of_rule,
    _of_step,
    _of_index,
    _without_step,
    _of_predicate,
    _of_reading,
)


def changed(text: str, rng: random.Random) -> tuple[str, str]:
    """Returns the text of a certificate with one part changed, or a few, and the kinds of the changes."""
    plain = json.loads(text)
    kinds = []
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if plain["terms"] and plain["steps"]:
            kinds.append(rng.choice(_CHANGE)(plain, rng))
    return json.dumps(plain), " and ".join(kinds)


# Attacks


def _said(first: Module, second: Module, text: str) -> str:
    """Returns what becomes of a certificate's text: `unreadable`, `refused`, `not proved` or `accepted`."""
    try:
        certificate = read_certificate(text)
    except DiagnosticError:
        return "unreadable"
    found = replayed(first, second, certificate)
    return "accepted" if found.is_equal else "refused" if found.refused else "not proved"


def attack(pair: Pair, rng: random.Random, differs: Callable[[Module, Module], bool | None], tally: Tally) -> None:
    """Changes the certificate of a pair, and tries it on the pair and on forms of it that differ."""
    certificate = proved(pair.first, pair.second)
    if certificate is None or not certificate.steps:
        return
    if not replayed(pair.first, pair.second, certificate).is_equal:
        return
    text = certificate_text(certificate)
    for _ in range(_CHANGES):
        other, kind = changed(text, rng)
        tally.kinds[kind] += 1
        tally.found["equal", _said(pair.first, pair.second, other)] += 1
    for second in pair.others:
        if differs(pair.first, second):
            _attack_other(pair, second, certificate, rng, tally)


def _attack_other(pair: Pair, second: Module, certificate: Certificate, rng: random.Random, tally: Tally) -> None:
    with unsound():
        made = proved(pair.first, second)
    if made is None:
        return
    both = replace(made, steps=(*certificate.steps, *made.steps))
    texts = []
    for each in (certificate, made, both):
        texts.append(certificate_text(each))
    for number in range(_CHANGES + len(texts)):
        text = texts[number % len(texts)]
        other, kind = (text, "none") if number < len(texts) else changed(text, rng)
        said = _said(pair.first, second, other)
        tally.kinds[kind] += 1
        tally.found["different", said] += 1
        if said == "accepted":
            tally.wrong.append(f"{pair.name}, {kind}\n{pair.first.text()}\n{second.text()}\n{other}")


def campaign(count: int, number: int, sources: Callable[[random.Random, int], Iterator[Pair]] = pairs) -> Tally:
    """Makes so many attacks."""
    rng, tally = random.Random(number), Tally()
    # A change may make a loop endless.
    with Worker(timeout=_SECONDS) as worker:

        def differs(first: Module, second: Module) -> bool | None:
            return campaign_proof.differs(worker, first, second, as_reals=False)

        for pair in sources(rng, count):
            attack(pair, rng, differs, tally)
            if tally.total >= count:
                break
    return tally


def main(count: int) -> int:
    start = time.process_time()
    return campaign(count, 7).report(start)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else _COUNT))
