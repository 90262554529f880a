"""Commands that work on each module by itself: their units, and the names of the files that they write."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

from dialect_utils.io.files import STANDARD_INPUT, is_url
from dialect_utils.io.inputs import Input
from relayout.batch.unit import Unit
from relayout.command import MODULES, Command, InputOptions, LimitOptions, files_or_input
from relayout.console import Console, print_failure
from relayout.options import argument, group, usage_error
from relayout.output import COMPRESSED
from relayout.process import REWRITING_SECONDS_PER_MEGABYTE

# Endings of files; a directory for several results has none of these.
_SUFFIXES = (".hlo", ".mlir", ".mlirbc", ".txt", ".pb")


@dataclass(frozen=True, kw_only=True)
class EachModule(Command):
    """A command that works on each module of its FILEs by itself."""

    prints_files: ClassVar[bool] = True

    files: tuple[str, ...] = argument("FILE", MODULES, "*")
    selection: InputOptions = group(InputOptions)
    limits: LimitOptions = group(LimitOptions)

    def plan(self, console: Console) -> Sequence[Unit]:
        inputs = self.selection.find(files_or_input(self.files), console)
        files = self.targets(inputs)
        return [Unit((each,), files.get(each.path), self.seconds(each)) for each in inputs]

    def seconds(self, read: Input) -> float:
        """Returns the time budget of a module."""
        return self.limits.seconds([read], REWRITING_SECONDS_PER_MEGABYTE)

    def targets(self, inputs: Sequence[Input]) -> dict[str, str]:
        """Returns the output file of each input by its path, empty for standard output."""
        return {}

    def work(self, unit: Unit, console: Console) -> int:
        [read] = unit.inputs
        return self.run(read, unit.target, console)

    def run(self, read: Input, target: str | None, console: Console) -> int:
        """Works on one module for an output file (None: standard output), and returns the exit code."""
        raise NotImplementedError

    def failed(self, unit: Unit) -> Callable[[str], None] | None:
        return partial(print_failure, {"file": unit.inputs[0].path}) if self.json else None


def check_uncompressed(output: str) -> None:
    """Raises UsageError for the name of a compressed file."""
    if output.endswith(COMPRESSED):
        raise usage_error(f"-o {output}: what is written is not compressed", "leave the ending out")


def output_files(
    inputs: Sequence[Input], output: str, name_of: Callable[[str], str], check: Callable[[], None]
) -> dict[str, str]:
    """Returns the output file of each input, by the input's path: `output`, or a file in it if it is a directory.

    `name_of` returns the name in a directory for the relative path of an input; `check` raises for a wrong name of one
    file. Raises UsageError where two inputs have the same output file.
    """
    if not (output.endswith(os.sep) or len(inputs) > 1 or Path(output).is_dir()):
        check()
        return {each.path: output for each in inputs}
    if any(each.path == STANDARD_INPUT for each in inputs):
        raise usage_error(f"-o {output} is a directory, and standard input has no name for a file in it")
    if Path(output).is_file() or (Path(output).suffix in _SUFFIXES and not Path(output).is_dir()):
        raise usage_error(f"{len(inputs)} modules need a directory, but -o {output} is not one", "-o NAME/ makes one")
    names = [name_of(each.relative) for each in inputs]
    check_unique(names, output)
    if is_url(output):
        return {each.path: f"{output.rstrip('/')}/{name}" for each, name in zip(inputs, names, strict=True)}
    return {each.path: os.path.join(output, name) for each, name in zip(inputs, names, strict=True)}


def check_unique(names: Sequence[str], directory: str | Path) -> None:
    """Raises UsageError where two inputs have the same output file in a directory."""
    repeated = next((name for name, count in Counter(names).items() if count > 1), None)
    if repeated is not None:
        raise usage_error(f"several FILEs would be written to {os.path.join(directory, repeated)}")
