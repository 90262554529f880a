"""Every family of hostile commands: thousands of files that code makes, the same in each run."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tests.hostile import bytecode, calls, containers, places, proofs, texts
from tests.hostile.case import CHECK, EXPAND, OPT, Case, Command, Data
from tests.hostile.table import cases as table
from tests.paths import ROOT

_NEGATE = str(ROOT / "examples/negate.hlo")
_RUN: Command = ("run", "{F}")
_PROOF: Command = ("check", "{F}", "{F}", "--engines", "proof")
_CALLS, _PROOFS = 324, 60
_SEED = 23

FAMILIES: dict[str, Callable[[], Iterator[Case]]] = {
    "bytecode": lambda: _of("bytecode", bytecode.files(), (OPT, _PROOF)),
    "StableHLO": lambda: _of("StableHLO", texts.stablehlo(), (OPT, CHECK, EXPAND)),
    "HLO": lambda: _of("HLO", texts.hlo(), (OPT, CHECK, ("opt", "{F}", "-p", "make-portable"))),
    "compressed": lambda: _of("compressed", containers.compressed(), (OPT, _PROOF)),
    "npz": lambda: _of("npz", containers.npz(), (("run", _NEGATE, "--inputs", "{F}", "--engine", "reference"),)),
    "protos": lambda: _of("protos", containers.protos(), (OPT, CHECK)),
    "calls": lambda: _of("calls", calls.modules(_CALLS), (_RUN, CHECK, ("opt", "{F}", "-p", "expand-custom-calls"))),
    "places": places.cases,
    "proofs": lambda: _proofs(),
    "table": lambda: iter(table()),
}
# One or more of each kind that has crashed, looped or grown, and its valid neighbours.
TELLING = (
    "bytecode: valid",
    "bytecode: call sites 60 deep",
    "bytecode: call sites 100000 deep",
    "bytecode: named locations 100000 deep",
    "bytecode: fused locations with data 60 deep",
    "bytecode: arrays 34 deep",
    "bytecode: dictionaries 3000 deep",
    "bytecode: tuples 34 deep",
    "bytecode: single tuples 100000 deep",
    "bytecode: functions 60 deep",
    "bytecode: call sites of each other",
    "bytecode: arrays of itself",
    "bytecode: tuples of itself",
    "bytecode: 1099511627776 attributes",
    "bytecode: 2305843009213693951 operands",
    "bytecode: 2147483648 values",
    "bytecode: 1099511627776 ir length",
    "bytecode: version 99",
    "bytecode: text of a type: tuples",
    "bytecode: text: a splat",
    "bytecode: dense strings",
    "bytecode: damage 3",
    "StableHLO: all_reduce in groups -1 1000000000x1000000000",
    "StableHLO: all_to_all in groups 0 0x9223372036854775807",
    "StableHLO: collective_permute 9223372036854775807",
    f"StableHLO: dense<1.0> of {'x'.join(['1'] * 1000)[:30]}",
    'StableHLO: dense<"0x0000803F"> of 1000000000x1000000000',
    "StableHLO: pad inside 4611686018427387904",
    "StableHLO: reduce_window 4611686018427387904",
    "StableHLO: convolution 9223372036854775807",
    "StableHLO: regions 3000 deep",
    "StableHLO: locations that double 40 times",
    "StableHLO: types that double 40 times",
    "StableHLO: calls that double",
    "HLO: a tuple that doubles 500 times",
    "HLO: operands 50000 deep",
    "HLO: fusions 5000 deep",
    "HLO: async-start that doubles 30 times",
    f"HLO: groups {'9' * 24}",
    "HLO: many control dependencies",
    "compressed: xz of 4 GB of zeros",
    "compressed: gzip of 1 GB of comments after a module",
    "compressed: xz of 128 MB of StableHLO",
    "compressed: gzip 40 times",
    "compressed: xz of gzip of 256 MB",
    "npz: valid",
    "npz: 200 MB of zeros",
    "npz: members that overlap",
    "npz: a pickle",
    "npz: many members",
    "protos: valid",
    "protos: calls that double",
    "protos: a tuple 4000 deep",
    "protos: a call of itself",
    "calls: hlo async version 0 number 1",
    "calls: hlo start version 4 number 43",
    "calls: stablehlo while version 0 number 3",
    "name: an option 0",
    "name: braces 5",
    "name: bytes 0",
    "link: passwords opt 4",
    "link: itself opt 4",
    "option: pipelines brackets",
    "option: certificate a certificate of itself",
    "option: pairs paths",
    "formula: {{data}} mlir x.html",
    "proofs: reshapes 0",
)
# Commands with these words have no limit of time to set.
_TIMED = ("opt", "check", "run")


def commands(count: int, seconds: float, only: str = "", seed: int = _SEED) -> Iterator[tuple[Case, Command]]:
    """Yields up to `count` cases with one command each, families in turn; `only` is part of the names to yield."""
    chance = random.Random(seed)
    queues = [list(_pairs(make)) for make in FAMILIES.values()]
    for queue in queues:
        chance.shuffle(queue)
    made = _in_turn(queues, only)
    yield from ((case, timed(command, seconds)) for (case, command), _ in zip(made, range(count), strict=False))


def telling(seconds: float) -> Iterator[tuple[Case, Command]]:
    """Yields the cases that tell most, with one command each."""
    wanted = set(TELLING)
    for make in FAMILIES.values():
        for case in make():
            if case.name in wanted:
                wanted.remove(case.name)
                yield case, timed(case.commands[0], seconds)
    assert not wanted, f"there are no cases {sorted(wanted)}"


def _in_turn(queues: list[list[tuple[Case, Command]]], only: str) -> Iterator[tuple[Case, Command]]:
    while any(queues):
        for queue in queues:
            while queue:
                found = queue.pop()
                if only in found[0].name:
                    yield found
                    break


def timed(command: Command, seconds: float) -> Command:
    """Returns a command with a time limit."""
    if command[0] not in _TIMED or "--timeout" in command:
        return command
    return (*command, "--timeout", f"{seconds:g}")


def _pairs(make: Callable[[], Iterator[Case]]) -> Iterator[tuple[Case, Command]]:
    for case in make():
        for command in case.commands:
            yield case, command


def _of(family: str, files: Iterator[tuple[str, Data]], given: tuple[Command, ...]) -> Iterator[Case]:
    for name, data in files:
        yield Case(f"{family}: {name}", data, given)


def _proofs() -> Iterator[Case]:
    for number, (kind, pair) in zip(range(_PROOFS), proofs.pairs(), strict=False):
        check: Command = ("check", "{D}/a.hlo", "{D}/b.hlo", "--engines", "proof")
        yield Case(f"proofs: {kind} {number}", commands=(check,), make=partial(_write_pair, pair))


def _write_pair(pair: proofs.Pair, path: Path) -> None:
    for name, text in zip(("a.hlo", "b.hlo"), pair, strict=True):
        (path.parent / name).write_text(text)
