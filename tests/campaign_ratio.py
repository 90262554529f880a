"""Searches for the inputs that cost most memory and time for their bytes: `python -m tests.campaign_ratio [KIND ...]`.

Each generator of `tests.ratio_inputs` has two sizes. A search doubles and halves them, keeps what costs more for each
byte, and stays below 100 KB. An input is read, verified and printed in a child process with limits. The table shows the
worst input of each generator, and how its costs grow where it becomes twice as long.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dialect_utils.io.decompression import decompressed
from dialect_utils.io.files import parse_bytes
from dialect_utils.text import DiagnosticError
from passes.framework.pipeline import verify
from tests.ratio_inputs import FAMILIES

_SMALLEST, _LARGEST = 1_000, 100_000
_SECONDS = 20
_BYTES = 4 << 30
_STEPS = 24
Generator = Callable[[int, int], bytes]


@dataclass(frozen=True, slots=True)
class Cost:
    """The costs of one input: bytes, CPU seconds, bytes of memory that the reader's process grew, and its end."""

    size: int
    seconds: float
    memory: int
    ending: str

    @property
    def memory_ratio(self) -> float:
        """Returns the bytes of memory for each byte of the input."""
        return self.memory / self.size

    @property
    def speed_ratio(self) -> float:
        """Returns the CPU seconds for each megabyte of the input."""
        return self.seconds / self.size * 1e6

    @property
    def score(self) -> float:
        """Returns the larger of both ratios, in units of ordinary text."""
        return max(self.memory_ratio / 50, self.speed_ratio / 5)


def measure(data: bytes, work: Callable[[bytes], str]) -> Cost:
    """Returns the cost of some work on an input in a forked child with limits."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(reader)
            os.write(writer, _worked(data, work).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        said = stream.read().decode()
    _, status, usage = os.wait4(child, 0)
    memory, ending = said.split(" ", 1) if said else (str(_BYTES), "")
    if os.WIFSIGNALED(status):
        ending = signal.Signals(os.WTERMSIG(status)).name
    return Cost(len(data), usage.ru_utime + usage.ru_stime, int(memory), ending)


def _worked(data: bytes, work: Callable[[bytes], str]) -> str:
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    resource.setrlimit(resource.RLIMIT_DATA, (_BYTES, _BYTES))
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        ending = work(data)
    except Exception as error:  # for the table
        ending = f"{type(error).__name__}: {error}"[:60]
    return f"{(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10} {ending}"


def read_and_print(data: bytes) -> str:
    """Reads, verifies and prints a module as `opt` does; returns how that ended."""
    try:
        module = parse_bytes(decompressed(data, "x"), "x")
        verify(module)
        return f"{len(module.text())} bytes"
    except DiagnosticError as error:
        return str(error.diagnostics[0].message)[:60]
    except (MemoryError, RecursionError) as error:
        return type(error).__name__


def search(make: Generator) -> Iterator[tuple[Cost, tuple[int, int]]]:
    """Yields better and better sizes for a generator; each step doubles or halves one of them."""
    sizes = (64, 64)
    while len(make(*sizes)) > _LARGEST // 2:
        sizes = (sizes[0], sizes[1] // 2) if sizes[1] > 4 else (sizes[0] // 2, sizes[1])
    best = _measured(make, sizes)
    yield best, sizes
    tried = {sizes}
    for _ in range(_STEPS):
        a, b = sizes
        around = ((a * 4, b), (a, b * 4), (a * 4, b // 4), (a // 4, b * 4))
        found = None
        for each in around:
            if min(each) < 1 or each in tried:
                continue
            tried.add(each)
            cost = _measured(make, each)
            if cost.score > best.score:
                best, found = cost, each
                if cost.seconds > 1:
                    break
        if found is None:
            return
        sizes = found
        yield best, sizes
        if best.seconds > 10:
            return


def _measured(make: Generator, sizes: tuple[int, int]) -> Cost:
    data = make(*sizes)
    if len(data) > _LARGEST:
        return Cost(len(data), 0, 0, "too long")
    cost = measure(data, read_and_print)
    # Small inputs are dominated by costs that do not depend on them.
    own = max(0.0, cost.seconds - _BASE.seconds), max(0, cost.memory - _BASE.memory)
    return Cost(max(len(data), _SMALLEST), *own, cost.ending)


_PLAIN = b"HloModule m\n\nENTRY e {\n  p = f32[4]{0} parameter(0)\n  ROOT r = f32[4]{0} negate(p)\n}\n"
_BASE = Cost(1, 0.0, 0, "")


def measure_files(paths: Sequence[str]) -> None:
    """Prints the bytes, the memory, the CPU seconds and the path of each file."""
    for path in paths:
        cost = measure(Path(path).read_bytes(), read_and_print)
        print(cost.size, cost.memory, cost.seconds, path, flush=True)


def main(arguments: Sequence[str]) -> int:
    """Prints the table, or the costs of files after `--files`; returns the exit code."""
    global _BASE
    for plain in (_PLAIN, b"module {\n}\n"):
        read_and_print(plain)
    if arguments[:1] == ["--files"]:
        measure_files(arguments[1:])
        return 0
    _BASE = measure(_PLAIN, read_and_print)
    for kind, generators in FAMILIES.items():
        if arguments and kind not in arguments:
            continue
        for name, make in generators.items():
            best, sizes = list(search(make))[-1]
            print(
                f"{kind:10} {name:36} {sizes!s:16} {best.size:7} bytes {best.memory_ratio:9.0f} x memory "
                f"{best.speed_ratio:9.1f} s/MB  {best.ending}",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
