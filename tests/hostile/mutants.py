"""Modules that verify although they were changed: which of them end the worker, and why.

`python -m tests.hostile.mutants [COUNT [SEED]]` changes opcodes, types, sizes, numbers, operands and attributes of
this project's own modules until COUNT of them verify, executes each, and ends with 1 if any ends the worker for a
reason that docs/security.md does not give.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator

from dialect_utils.execution import ExecutionError, Program, Worker, entry_arrays, prepare
from dialect_utils.io.files import parse_bytes
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict import random_inputs
from passes.dumps.executable import executable_form
from passes.framework.pipeline import verify
from tests.hostile.valid import BODIES, valid_module
from tests.paths import OWN_CORPUS, ROOT

_COUNT, _SEED = 1000, 11
_LARGEST_FILE = 9000
_SECONDS = 5.0
# docs/security.md: How a module that passes the verifier may still end the worker.
_REASONS = ("an integer was divided by 0", "GB of memory")
_UNOPTIMIZED: dict[str, bool | int | str] = {"xla_backend_optimization_level": 0}

# fmt: off
_OPCODES = (
    "abs", "add", "and", "atan2", "bitcast-convert", "broadcast", "cbrt", "ceil", "clamp", "compare",
    "concatenate", "convert", "copy", "divide", "erf", "exponential", "floor", "imag", "iota", "is-finite", "log",
    "logistic", "maximum", "minimum", "multiply", "negate", "not", "or", "popcnt", "power", "real", "remainder",
    "reshape", "reverse", "rsqrt", "select", "shift-left", "sign", "sine", "sqrt", "subtract", "tanh",
    "transpose", "xor",
)
# fmt: on
_TYPES = ("f32", "s32", "u32", "pred", "f16", "bf16", "f64", "s8", "u8", "s64", "c64", "u64", "s4", "f8e5m2")
_ATTRIBUTES = ("direction=EQ", "direction=LT", "direction=NE", "index=0", "index=1", "to_apply=add", "to_apply=less")
_OPERAND = re.compile(r"(?<=[( ])%?[a-z][\w.]*(?=[,)])")
_PLACES: tuple[tuple[re.Pattern[str], Callable[[random.Random, str], str]], ...] = (
    (re.compile(rf"\b(?:{'|'.join(_OPCODES)})(?=\()"), lambda chance, _: chance.choice(_OPCODES)),
    (re.compile(r"(?<=[\[,])\d+(?=[\],])"), lambda chance, _: str(chance.choice((0, 1, 2, 3, 4, 6, 8)))),
    (re.compile(r"(?<=[{=_x:,])\d+(?=[}_x:,\]\n ])"), lambda chance, _: str(chance.choice((0, 1, 2, 3, 4, 5, -1)))),
    (_OPERAND, lambda chance, text: chance.choice(_OPERAND.findall(text))),
    (re.compile(r"direction=\w\w|index=\d|to_apply=\w+"), lambda chance, _: chance.choice(_ATTRIBUTES)),
)


def mutants(seed: int) -> Iterator[str]:
    """Yields texts with one to three changes each, for ever."""
    chance, seeds = random.Random(seed), _seeds()
    while True:
        text = chance.choice(seeds)
        for _ in range(chance.choice((1, 1, 2, 3))):
            text = changed(text, chance)
        yield text


def _seeds() -> list[str]:
    files = [*sorted(OWN_CORPUS.rglob("*.hlo")), *sorted((ROOT / "examples").glob("*.hlo"))]
    texts = [path.read_text() for path in files if path.stat().st_size < _LARGEST_FILE]
    return [text for text in texts if "is_scheduled" not in text] + [valid_module(body) for body in BODIES.values()]


def changed(text: str, chance: random.Random) -> str:
    """Returns a text with one change to an opcode, a size, a number, an operand, an attribute or a type."""
    kind = chance.randrange(len(_PLACES) + 1)
    if kind == len(_PLACES):
        old, new = chance.choice(("f32", "s32")), chance.choice(_TYPES)
        return re.sub(rf"\b{old}(?=\[)", new, text)
    pattern, replacement = _PLACES[kind]
    found = list(pattern.finditer(text))
    if not found:
        return text
    place = chance.choice(found)
    return text[: place.start()] + replacement(chance, text) + text[place.end() :]


def verified(seed: int) -> Iterator[tuple[Program, str]]:
    """Yields the mutants that the verifier and the guard let through, and their texts."""
    for text in mutants(seed):
        try:
            module = parse_bytes(text.encode(), "mutant")
            verify(module)
            yield prepare(executable_form(module), "mutant"), text
        except DiagnosticError:
            continue


def outcome(worker: Worker, program: Program, text: str) -> tuple[str, str]:
    """Executes a mutant and returns what came of it: `ran` or a failure; and its message."""
    try:
        parameters, _ = entry_arrays(parse_bytes(text.encode(), "mutant"))
        worker.run(program, [random_inputs(parameters, 0)], options=_UNOPTIMIZED, timeout=_SECONDS)
    except ExecutionError as error:
        notes = "; ".join(note.message for note in error.diagnostics[0].notes)
        return error.failure, f"{error.message} {notes}"
    except DiagnosticError as error:
        return "refused", str(error)
    return "ran", ""


def is_explained(failure: str, message: str) -> bool:
    """Is true for what docs/security.md names: all but a crash for another reason."""
    return failure != "crash" or any(reason in message for reason in _REASONS)


def main(count: int = _COUNT, seed: int = _SEED) -> int:
    """Runs the campaign, prints what came of it, and returns the exit code."""
    found: Counter[str] = Counter()
    unexplained = 0
    with Worker() as worker:
        for (program, text), _ in zip(verified(seed), range(count), strict=False):
            failure, message = outcome(worker, program, text)
            found[failure] += 1
            if not is_explained(failure, message):
                unexplained += 1
                print(f"{message}\n{text}", flush=True)
    told = ", ".join(f"{number} {failure}" for failure, number in found.most_common())
    print(f"{sum(found.values())} mutants that verify: {told}; {unexplained} end the worker for no reason written down")
    return int(unexplained > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
