"""Fuzzes one reader with atheris: `python -m tests.fuzzing.instrumented TARGET SECONDS`; 0 seconds: keeps inputs.

Atheris takes over the process, so each turn of a target is a process of its own.
"""

from __future__ import annotations

import sys
from random import Random

import atheris

_INSTRUMENTED = ["dialect_utils", "passes", "relayout", "tomllib", "zipfile"]

with atheris.instrument_imports(include=_INSTRUMENTED):
    from tests.fuzzing.findings import LIVE, WORK, violation, write_down, write_new
    from tests.fuzzing.mutation import mutate_tokens
    from tests.fuzzing.targets import KEPT, TARGETS

# Most inputs take milliseconds; instrumented code is about three times slower.
_SECONDS_PER_INPUT = 3.0
_LARGEST = 1 << 13
_MEGABYTES = 3000
_POOL = 400
_OWN_ARGUMENTS = 3


def fuzz(name: str, seconds: int) -> None:
    """Fuzzes a target; never returns."""
    target, live, kept = TARGETS[name], LIVE / name, KEPT / name
    for folder in (live, kept):
        folder.mkdir(parents=True, exist_ok=True)
    for data in (*target.seeds(), *(path.read_bytes() for path in sorted(kept.iterdir()))):
        write_new(live, data)
    pool = [path.read_bytes() for path in sorted(live.iterdir(), key=lambda path: path.stat().st_size)[:_POOL]]

    def check(data: bytes) -> None:
        found = violation(target.check, data, _SECONDS_PER_INPUT)
        if found is not None:
            write_down(name, data, found)

    def mutate(data: bytes, largest: int, seed: int) -> bytes:
        draw = Random(seed)
        if draw.randrange(2):
            return bytes(atheris.Mutate(data, largest))
        return mutate_tokens(data, pool, draw)[:largest]

    options = [f"-max_len={_LARGEST}", f"-rss_limit_mb={_MEGABYTES}", "-timeout=100"]
    if seconds:
        options += [f"-max_total_time={seconds}", "-print_final_stats=1", str(live)]
    else:
        # The inputs that together execute all that the whole corpus executes.
        options += ["-merge=1", str(kept), str(live)]
    again = sys.argv[_OWN_ARGUMENTS:]
    atheris.Setup([_program(name), *(again or options)], check, custom_mutator=mutate)
    # Readers import some modules late.
    with atheris.instrument_imports(include=_INSTRUMENTED):
        atheris.Fuzz()


def _program(name: str) -> str:
    """Returns a program that runs this one: libFuzzer starts the first argument again, with options of its own."""
    path = WORK / "again"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -m tests.fuzzing.instrumented {name} 0 "$@"\n')
    path.chmod(0o755)
    return str(path)


if __name__ == "__main__":
    fuzz(sys.argv[1], int(sys.argv[2]))
