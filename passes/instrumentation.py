"""Watches a pipeline: prints or dumps the module after each pass, and times them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from passes.pipeline import PassRun

Observer = Callable[[PassRun], None]

SUFFIX = {"hlo": "hlo", "stablehlo": "mlir"}


def print_after_all(stream: TextIO) -> Observer:
    """Returns an observer that prints the module after each pass, as `mlir-opt` does."""

    def observe(run: PassRun) -> None:
        stream.write(f"// -----// IR dump after {run.step} //----- //\n{run.result.module.text()}\n")

    return observe


def dump_to(directory: Path) -> Observer:
    """Returns an observer that writes one file per pass: `00-input.hlo`, `01-expand-tiling.hlo`, ..."""
    directory.mkdir(parents=True, exist_ok=True)

    def observe(run: PassRun) -> None:
        if run.index == 0:
            _write(directory / f"00-input.{SUFFIX[run.before.form]}", run.before.text())
        suffix = SUFFIX[run.result.module.form]
        _write(directory / f"{run.index + 1:02}-{run.step.name}.{suffix}", run.result.module.text())

    return observe


def _write(path: Path, text: str) -> None:
    # Bytes that are no UTF-8 and CRLF come out as they came in.
    path.write_bytes(text.encode("utf-8", "surrogateescape"))


def format_timing(runs: tuple[PassRun, ...]) -> str:
    """Formats milliseconds and share of each pass, one line a pass, and their sum."""
    total = sum(run.seconds for run in runs)
    lines = [_timing_line(run.seconds, total, str(run.step)) for run in runs]
    return "\n".join([*lines, _timing_line(total, total, "total")])


def _timing_line(seconds: float, total: float, what: str) -> str:
    share = 100 * seconds / total if total else 100.0
    return f"{1000 * seconds:10.1f} ms {share:5.1f} %  {what}"
