"""Watches a pipeline: prints or dumps the module after each pass, and times them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TextIO

from dialect_utils.io.files import encode, write_file
from dialect_utils.ir import Module
from passes.framework.base import Pass
from passes.framework.pipeline import PassRun

Observer = Callable[[PassRun], None]

SUFFIX = {"hlo": "hlo", "stablehlo": "mlir"}


ALL = "all"


def print_after(stream: TextIO, names: Collection[str]) -> Observer:
    """Returns an observer that prints the module after the passes named (`all`: each), as `mlir-opt` does."""

    def observe(run: PassRun) -> None:
        if run.step.name in names or ALL in names:
            stream.write(_banner(f"after {run.step}") + f"{run.result.module.text()}\n")

    return observe


def print_changed(stream: TextIO) -> Observer:
    """Returns an observer that prints the module after each pass that changed it, and says which did not."""

    def observe(run: PassRun) -> None:
        if run.result.modified:
            stream.write(_banner(f"after {run.step}") + f"{run.result.module.text()}\n")
        else:
            stream.write(_banner(f"after {run.step} omitted: no change"))

    return observe


def print_before(stream: TextIO, names: Collection[str]) -> Callable[[Pass, Module], None]:
    """Returns what prints the module before the passes named (`all`: each), also where such a pass fails."""

    def observe(step: Pass, module: Module) -> None:
        if step.name in names or ALL in names:
            stream.write(_banner(f"before {step}") + f"{module.text()}\n")

    return observe


def _banner(what: str) -> str:
    return f"// -----// IR dump {what} //----- //\n"


def dump_to(directory: Path) -> Observer:
    """Returns an observer that writes one file per pass: `00-input.hlo`, `01-expand-tiling.hlo`, ..."""
    directory.mkdir(parents=True, exist_ok=True)

    def observe(run: PassRun) -> None:
        if run.index == 0:
            _write(directory / f"00-input.{SUFFIX[run.before.dialect]}", run.before.text())
        suffix = SUFFIX[run.result.module.dialect]
        _write(directory / f"{run.index + 1:02}-{run.step.name}.{suffix}", run.result.module.text())

    return observe


def _write(path: Path, text: str) -> None:
    write_file(path, encode(text))


def format_timing(runs: tuple[PassRun, ...]) -> str:
    """Formats milliseconds and share of each pass, one line a pass, and their sum."""
    total = sum(run.seconds for run in runs)
    lines = [_timing_line(run.seconds, total, str(run.step)) for run in runs]
    header = f"{'time':>13} {'share':>7}  pass"
    return "\n".join([header, *lines, _timing_line(total, total, "total")])


def _timing_line(seconds: float, total: float, what: str) -> str:
    share = 100 * seconds / total if total else 100.0
    return f"{1000 * seconds:10.1f} ms {share:5.1f} %  {what}"
