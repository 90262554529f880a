"""Searches inputs whose time grows faster than their size: `python -m tests.fuzzing.growth TARGET SECONDS`.

A few tokens of a kept input are repeated until it is long, and twice as long. Coverage does not show such inputs.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from random import Random

from dialect_utils.text import DiagnosticError
from tests.fuzzing.findings import LIVE, TooSlowError, cpu_limit, write_down
from tests.fuzzing.mutation import split_tokens
from tests.fuzzing.targets import TARGETS, Target

_BYTES = 60_000
# Marks that open what nothing closes.
OPENING = (
    *b'( [ { < " \' / * # % , = : . - _ a 1 // /* */ \\" -> {{ }} loc( T(2) =( s8[ (1 ){ b( /*('.split(),
    *(b'\\"(', b"='s'|"),
    *(b" ", b"\t", b"\n"),
)
# Twice the size may take twice the time, sorting a little more; measured times vary.
_MOST = 3.2
# Shorter times are noise.
_LEAST_SECONDS = 0.4
_LIMIT_SECONDS = 20.0


def stretched(data: bytes, size: int, draw: Random) -> bytes:
    """Returns an input in which a few tokens are repeated until it has about `size` bytes."""
    tokens = split_tokens(data)
    start = draw.randrange(len(tokens) + 1)
    part = b"".join(tokens[start : start + draw.choice((1, 1, 2, 3, 5, 12, 40))])
    if draw.randrange(2) or not part:
        tokens.insert(start, draw.choice((b"", b'"', b"x", b" ")))
        part = b"".join(draw.choices(OPENING, k=draw.choice((1, 1, 2, 3))))
    return b"".join([*tokens[:start], part * (size // len(part)), *tokens[start:]])


def seconds_for(target: Target, data: bytes) -> float:
    """Returns the CPU seconds that the check takes."""
    start = time.process_time()
    with suppress(DiagnosticError):
        target.check(data)
    return time.process_time() - start


def find_growth(target: Target, data: bytes, seed: int) -> float | None:
    """Returns how much longer twice the input takes, where that is more than twice as long; None otherwise."""
    # An eighth of the size takes at least a 64th of the time, unless work grows even faster.
    if seconds_for(target, stretched(data, _BYTES // 4, Random(seed))) < _LEAST_SECONDS / 64:
        return None
    short = seconds_for(target, stretched(data, _BYTES, Random(seed)))
    long = seconds_for(target, stretched(data, 2 * _BYTES, Random(seed)))
    ratio = long / max(short, 1e-9)
    return ratio if long > _LEAST_SECONDS and ratio > _MOST else None


def _native(name: str) -> Target:
    from tests.fuzzing.native import NATIVE

    return Target(NATIVE[name].check)


def search(name: str, seconds: float) -> None:
    """Searches for some seconds, and writes down what it finds."""
    target, draw = TARGETS[name] if name in TARGETS else _native(name), Random(time.time_ns())
    pool = [path.read_bytes() for path in sorted((LIVE / name).iterdir())]
    end, count = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        data, seed = draw.choice(pool), draw.randrange(1 << 30)
        count += 1
        try:
            with cpu_limit(_LIMIT_SECONDS):
                ratio = find_growth(target, data, seed)
            if ratio is not None:
                raise AssertionError(f"twice the input takes {ratio:.1f} times as long")
        except (Exception, TooSlowError) as error:
            write_down(f"growth_{name}", stretched(data, _BYTES, Random(seed)), error)
    sys.stderr.write(f"stat::number_of_executed_units: {count}\nstat::new_units_added: 0\n")


if __name__ == "__main__":
    search(sys.argv[1], float(sys.argv[2]))
