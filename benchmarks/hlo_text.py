"""Times reading, linking and printing about 100,000 HLO instructions, against jaxlib's C++.

Run it with `python -m benchmarks.hlo_text`. Ours: parse, def-use links and print. jaxlib's:
parse and print. Both in one process, in turns; the fastest of several rounds counts.
"""

from __future__ import annotations

import argparse
import gc
import re
import time
from collections.abc import Callable
from pathlib import Path

from dialect_utils.hlo import parse_module

CORPUS = Path(__file__).resolve().parent.parent / "tests" / "corpus" / "tpu"
_COMPUTATION = re.compile(r"^(?:ENTRY )?%(\S+) .*?^\}$", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"%([A-Za-z_][\w.\-]*)")
# Tables of file names belong to one dump each; their numbers mean nothing in another.
_FRAME = re.compile(r" ?stack_frame_id=\d+")


def big_module(instructions: int) -> str:
    """Returns one module text of the corpus' computations, repeated under new names."""
    dumps = [path.read_text() for path in sorted(CORPUS.glob("*/tpu.hlo"))]
    # XLA prints this opcode with more operands than its own parser takes.
    dumps = [dump for dump in dumps if " custom-call-update(" not in dump]
    parts: list[str] = []
    count = copy = 0
    while count < instructions:
        for number, dump in enumerate(dumps):
            body = renamed_computations(dump, f".c{copy}d{number}")
            parts.append(body)
            count += body.count(" = ")
        copy += 1
    entry = "ENTRY %big.entry (big.p: f32[]) -> f32[] {\n  ROOT %big.p = f32[] parameter(0)\n}\n"
    return "HloModule big, is_scheduled=true\n\n" + "\n\n".join(parts) + "\n\n" + entry


def renamed_computations(dump: str, suffix: str) -> str:
    """Returns a dump's computations with a suffix on every name and no ENTRY mark."""
    text = "\n\n".join(match[0].removeprefix("ENTRY ") for match in _COMPUTATION.finditer(dump))
    # The signature's parameters have no `%` and need no new names: XLA does not look at them.
    return _FRAME.sub("", _NAME.sub(rf"%\1{suffix}", text))


def fastest(work: Callable[[], object], rounds: int) -> float:
    """Returns the CPU seconds of the fastest of several rounds."""
    seconds = []
    for _ in range(rounds):
        gc.collect()
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instructions", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()

    import jaxlib._hlo as _hlo

    text = big_module(options.instructions)
    module = parse_module(text)
    count = sum(len(computation.instructions) for computation in module.computations)
    assert module.text() == text
    del module
    ours = fastest(lambda: parse_module(text).text(), options.rounds)
    print_options = _hlo.HloPrintOptions()
    theirs = fastest(lambda: _hlo.hlo_module_from_text(text).to_string(print_options), options.rounds)
    print(f"{count} instructions, {len(text) / count:.0f} characters each")
    print(f"ours   {ours:.3f} s, {ours / count * 1e6:.1f} us each: parse, link, print")
    print(f"jaxlib {theirs:.3f} s, {theirs / count * 1e6:.1f} us each: parse, print")
    print(f"ratio  {ours / theirs:.2f}")


if __name__ == "__main__":
    main()
