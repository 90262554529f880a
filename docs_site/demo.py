"""The demo: `make demo`, or `python -m docs_site.demo` in a checkout.

Asks six questions about the real programs in examples/, and answers each with a `relayout` command. Writes into
build/demo. It ends with an error where an answer is not the expected one.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

OUTPUT = Path("build/demo")

_EXPANDED = "annotate-layouts{target=tpu-v5e},expand-tiling"
_DUMP = "examples/attention_tpu"
_PROGRAMS = tuple(f"examples/{name}" for name in ("attention", "training_step"))

# The dimensions of a transpose and its result's sizes, in StableHLO and in HLO text.
_TRANSPOSES = {
    ".mlir": re.compile(r"stablehlo\.transpose [^\n]*dims = \[(?P<order>[\d, ]+)\][^\n]*-> tensor<(?P<sizes>[\dx]+)x"),
    ".hlo": re.compile(r"= \w+\[(?P<sizes>[\d,]+)\]\S* transpose\([^\n]*dimensions=\{(?P<order>[\d,]+)\}"),
}


@dataclass(frozen=True, slots=True)
class Step:
    """One command of the demo: its question, the lines of its output to show, their number, and the exit code."""

    question: str
    command: tuple[str, ...]
    shown: str
    lines: int = 1
    exit_code: int = 0


STEPS = (
    Step(
        "Which array takes the memory of this TPU program, and which line of Python makes it?",
        ("report", "examples/forces_tpu.hlo"),
        r"^  1000 MiB of padding: |^    line +make_examples\.py:\d+ jit\(forces\)/gather$",
        lines=2,
    ),
    Step(
        "Does an optimized TPU dump give the recorded results on this machine?",
        ("run", f"{_DUMP}.hlo", "--inputs", f"{_DUMP}.npz", "--expect", f"{_DUMP}.npz"),
        "equal bits$",
    ),
    Step(
        "If all tiles become pad, reshape and transpose, do four programs keep their results?",
        ("check", *(f"{name}{suffix}" for suffix in (".mlir", ".hlo") for name in _PROGRAMS), "-p", _EXPANDED),
        ": equal ",
        lines=4,
    ),
    Step(
        "And if callers pass the tiled bytes themselves?",
        ("check", *(f"{name}.hlo" for name in _PROGRAMS), "-p", f"{_EXPANDED}{{interface=physical}}"),
        # A sum of transposed bytes may have another order, which a comparison of the training step reads: no proof.
        r"/attention\.hlo: equal |/training_step\.hlo: agrees ",
        lines=2,
    ),
)


def planted(suffix: str) -> Step:
    """Swaps two dimensions of one transpose of the expanded attention block; returns the step that must find this."""
    original, wrong = f"{_PROGRAMS[0]}{suffix}", OUTPUT / f"attention_wrong{suffix}"
    expanded = subprocess.run(
        [sys.executable, "-m", "relayout", "opt", original, "-p", _EXPANDED], stdout=subprocess.PIPE, check=True
    )
    text, line, before, after = swap_two_dimensions(expanded.stdout.decode(), suffix)
    wrong.write_text(text, "utf-8")
    question = f"Line {line} of the rewritten module now has the dimensions {after}, not {before}. Is this found?"
    return Step(question, ("check", original, str(wrong)), "^ +output 0 at ", exit_code=1)


def swap_two_dimensions(text: str, suffix: str) -> tuple[str, int, str, str]:
    """Swaps two dimensions of equal size in a transpose, so that every type still fits.

    Returns the text, the line, and the dimensions before and after. Raises ValueError where no
    transpose has two such dimensions.
    """
    for match in _TRANSPOSES[suffix].finditer(text):
        order, sizes = re.findall(r"\d+", match["order"]), re.findall(r"\d+", match["sizes"])
        for i, j in combinations(range(len(sizes)), 2):
            if not sizes[i] == sizes[j] != "1":
                continue
            swapped = list(order)
            swapped[i], swapped[j] = order[j], order[i]
            start, end = match.span("order")
            edited = text[:start] + (", " if " " in match["order"] else ",").join(swapped) + text[end:]
            line = text.count("\n", 0, start) + 1
            return edited, line, f"{{{','.join(order)}}}", f"{{{','.join(swapped)}}}"
    raise ValueError("no transpose has two dimensions of one size")


def run(step: Step) -> None:
    """Runs a step and prints its question, its command, and the shown lines; exits where these are not as expected."""
    print(f"# {step.question}\n$ {shlex.join(('relayout', *step.command))}", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "relayout", *step.command], stdout=subprocess.PIPE, encoding="utf-8", check=False
    )
    lines = [line for line in done.stdout.splitlines() if re.search(step.shown, line)]
    print("\n".join(lines), flush=True)
    if (done.returncode, len(lines)) != (step.exit_code, step.lines):
        sys.exit(f"demo: not the expected answer; exit code {done.returncode}\n{done.stdout}")


def main() -> None:
    """Runs every step."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    print("(excerpts: each command prints more than the lines below it)")
    for step in STEPS:
        run(step)
    for suffix in (".mlir", ".hlo"):
        run(planted(suffix))
    print(
        f"Done in {time.monotonic() - start:.0f} s: the padded array has a name and a line, the dump gives the recorded"
        " bits, five rewrites are proved to keep every output, no data tells a sixth from its original, and both"
        " planted mistakes are found."
    )


if __name__ == "__main__":
    main()
