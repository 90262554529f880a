"""Commands that work on each module by itself: their units, and the names of the files that they write."""

from __future__ import annotations

import os
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from dialect_utils.io.files import STANDARD_INPUT, is_url
from dialect_utils.io.inputs import Input
from relayout.arguments import chosen_inputs, files_or_input, usage_error
from relayout.batch.unit import Unit, Work, lost_file
from relayout.console import Console, print_failure
from relayout.process import REWRITING_SECONDS_PER_MEGABYTE, seconds_for_bytes

# Endings of files; a directory for several results has none of these.
_SUFFIXES = (".hlo", ".mlir", ".mlirbc", ".txt", ".pb")

Run = Callable[[Input, str | None, Namespace, Console], int]
Targets = Callable[[Sequence[Input], Namespace], dict[str, str]]


def each_module(run: Run, targets: Targets) -> dict[str, Any]:
    """Returns `plan`, `open` and `lost` of a command that works on each module of its FILEs by itself.

    `run` gets the input, its output file (None: standard output), the arguments and the console. `targets` returns the
    output file of each input by its path, and raises UsageError for options that exclude each other.
    """

    def plan(arguments: Namespace, console: Console) -> Sequence[Unit]:
        inputs = chosen_inputs(files_or_input(arguments.files), arguments, console)
        files = targets(inputs, arguments)
        return [Unit((each,), files.get(each.path), _seconds(each.size, arguments)) for each in inputs]

    @contextmanager
    def open_(arguments: Namespace, console: Console) -> Iterator[Work]:
        def work(unit: Unit) -> int:
            [read] = unit.inputs
            failed = partial(print_failure, {"file": read.path}) if arguments.json else None
            return console.attempt(lambda: run(read, unit.target, arguments, console), failed)

        yield work

    return {"plan": plan, "open": open_, "lost": lost_file}


def _seconds(size: int, arguments: Namespace) -> float:
    limit: float = arguments.timeout or seconds_for_bytes(size, REWRITING_SECONDS_PER_MEGABYTE)
    return limit


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
