"""The demo: `make demo`, or `python -m relayout.demo` in a checkout.

Runs one `relayout` command per step on the programs in examples/, and plants a mistake that the
check must find. Writes into build/demo.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

OUTPUT = Path("build/demo")

_LAYOUTS = "annotate-layouts{target=tpu-v5e}"
_EXPANDED = f"{_LAYOUTS},expand-tiling"
_PHYSICAL = f"{_LAYOUTS},expand-tiling{{interface=physical}}"

# The dimensions of a transpose and its result's sizes, in StableHLO and in HLO text.
_TRANSPOSES = {
    ".mlir": re.compile(r"stablehlo\.transpose [^\n]*dims = \[(?P<order>[\d, ]+)\][^\n]*-> tensor<(?P<sizes>[\dx]+)x"),
    ".hlo": re.compile(r"= \w+\[(?P<sizes>[\d,]+)\]\S* transpose\([^\n]*dimensions=\{(?P<order>[\d,]+)\}"),
}


@dataclass(frozen=True, slots=True)
class Step:
    """One command of the demo, its purpose, and its expected exit code."""

    why: str
    command: tuple[str, ...]
    exit_code: int = 0


def steps(suffix: str) -> tuple[Step, ...]:
    """Returns the steps for the examples of one dialect (`.mlir` or `.hlo`), up to the planted mistake."""
    attention, training = f"examples/attention{suffix}", f"examples/training_step{suffix}"
    annotated, expanded = (str(OUTPUT / f"attention_{what}{suffix}") for what in ("annotated", "expanded"))
    return (
        Step(
            "Give every tensor of an attention block the layout that a TPU v5e would choose.",
            ("opt", attention, "-p", _LAYOUTS, "-o", annotated),
        ),
        Step(
            "Rewrite the tiling as explicit pad, reshape and transpose ops.",
            ("opt", annotated, "-p", "expand-tiling", "-o", expanded),
        ),
        Step(
            "Execute the program before and after on this machine: are the outputs the same, bit for bit?",
            ("check", attention, expanded, "--verbose"),
        ),
        Step(
            "The same in one go, for a training step with its gradient too. Where a sum in another order may round "
            "otherwise, the report says so.",
            ("check", attention, training, "-p", _EXPANDED, "--verbose"),
        ),
        Step(
            "Now callers hand over the tiled bytes themselves, packed by the index formula, which shares no code with "
            "the rewrite.",
            ("check", attention, training, "-p", _PHYSICAL, "--verbose"),
        ),
    )


def find_planted(suffix: str) -> Step:
    """Swaps two dimensions of one transpose of the expanded module; returns the step that must find the mistake."""
    expanded, wrong = (OUTPUT / f"attention_{what}{suffix}" for what in ("expanded", "wrong"))
    text, line, before, after = swap_two_dimensions(expanded.read_text("utf-8"), suffix)
    wrong.write_text(text, "utf-8")
    why = (
        f"A planted mistake: in line {line} of the rewritten module the transpose {before} becomes {after}. "
        "Shapes and types still fit. Is it found, and where do the outputs differ first?"
    )
    return Step(why, ("check", f"examples/attention{suffix}", str(wrong)), exit_code=1)


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
    """Prints and runs one step; ends the demo on an unexpected exit code."""
    print(f"\n# {step.why}\n$ {shlex.join(('relayout', *step.command))}", flush=True)
    result = subprocess.run([sys.executable, "-m", "relayout", *step.command], check=False)
    if result.returncode != step.exit_code:
        sys.exit(f"demo: expected exit code {step.exit_code}, got {result.returncode}")


def main() -> None:
    """Runs the demo on both dialects."""
    OUTPUT.mkdir(parents=True, exist_ok=True)
    run(Step("What a tiled layout means: 3x5 floats in 2x2 tiles.", ("explain", "f32[3,5]{1,0:T(2,2)}")))
    for suffix, dialect in ((".mlir", "StableHLO"), (".hlo", "HLO text")):
        print(f"\n==== {dialect} ====")
        for step in steps(suffix):
            run(step)
        run(find_planted(suffix))
    print(f"\nDone: every rewrite kept every output, and both planted mistakes were found. Files: {OUTPUT}")


if __name__ == "__main__":
    main()
