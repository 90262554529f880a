"""`relayout bisect`: finds the pass of XLA:CPU after which a module computes something else than it defines."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING

from dialect_utils.io.files import encode
from dialect_utils.io.inputs import Input
from passes.framework.pipeline import verify
from relayout import __version__
from relayout.arguments import (
    Command,
    Parser,
    add_input_options,
    add_limits,
    chosen_inputs,
    count,
    files_or_input,
    reject,
    usage_error,
)
from relayout.batch.run import add_batch_options, add_ci_options
from relayout.batch.unit import Unit, Work
from relayout.bisection.gathering import gathered, unknown_row
from relayout.console import DONE, FAILED, Console, print_json
from relayout.output import write_output
from relayout.process import CHECKING_SECONDS_PER_MEGABYTE, seconds_for_bytes

if TYPE_CHECKING:
    from dialect_utils.execution import SavedArray, Worker
    from dialect_utils.ir import Module
    from dialect_utils.verdict import Options
    from relayout.bisection.judging import Bisection

_UNKNOWN = 3
_EXIT_CODES = {"nowhere": DONE, "unknown": _UNKNOWN}
_TRIALS = 60
# A reduction tries many modules.
_LEAST_SECONDS = 120.0
_SUFFIX = {"hlo": ".hlo", "stablehlo": ".mlir"}


def _add_arguments(parser: Parser) -> None:
    parser.option("files", metavar="FILE", nargs="*", help="modules in any format, or dump directories")
    add_input_options(parser)
    add_batch_options(parser)
    add_ci_options(parser)
    parser.option(
        "--disable", metavar="PASS,...", help="only compare, with these passes of XLA:CPU disabled; no search"
    )
    parser.option("--inputs", metavar="NPZ", help="inputs in0, in1, ... or by names, in place of chosen ones")
    parser.option("--seeds", metavar="N", type=count, default=1, help="how often each kind of data is drawn")
    parser.option(
        "--trials",
        metavar="N",
        type=count,
        default=_TRIALS,
        help=f"modules to try for a smaller one (default {_TRIALS})",
    )
    parser.option("--no-reduce", action="store_true", help="search no smaller module that shows the difference")
    parser.option("-o", "--output", metavar="OUT", help="write the smaller module; a directory for several FILEs")
    add_limits(parser, "for each FILE, without the time of execution")


def _plan(arguments: Namespace, console: Console) -> Sequence[Unit]:
    if arguments.disable is not None:
        reject(arguments, ("no_reduce", "trials", "output"), "with --disable, which searches nothing")
        if not _disabled(arguments):
            raise usage_error("--disable names no pass", "--disable algsimp")
    if arguments.no_reduce:
        reject(arguments, ("trials", "output"), "with --no-reduce")
    if arguments.inputs is not None:
        reject(arguments, ("seeds",), "with --inputs, which gives the data")
        reject(arguments, ("trials", "output", "no_reduce"), "with --inputs, which fit no smaller module")
    inputs = chosen_inputs(files_or_input(arguments.files), arguments, console)
    if arguments.inputs is not None and len(inputs) > 1:
        raise usage_error(f"--inputs are those of one FILE, not of {len(inputs)}")
    return [Unit((each,), seconds=_seconds(each, arguments)) for each in inputs]


def _disabled(arguments: Namespace) -> tuple[str, ...]:
    """Returns the passes of --disable."""
    return tuple(name for each in (arguments.disable or "").split(",") if (name := each.strip()))


def _seconds(read: Input, arguments: Namespace) -> float:
    return arguments.timeout or max(_LEAST_SECONDS, seconds_for_bytes(read.size, CHECKING_SECONDS_PER_MEGABYTE))


@contextmanager
def _open(arguments: Namespace, console: Console) -> Iterator[Work]:
    # Imported here: --help and wrong commands work without numpy and jaxlib.
    from dialect_utils.execution import DEFAULT_MEMORY_BYTES, Worker
    from dialect_utils.verdict import Options

    options = Options(seeds=arguments.seeds, memory=arguments.memory or DEFAULT_MEMORY_BYTES, power=0)
    with Worker(memory=options.memory) as worker:
        yield _Runner(arguments, console, worker, options).attempt


@dataclass(frozen=True, slots=True)
class _Runner:
    """The bisection of one file, with the worker that all files share."""

    arguments: Namespace
    console: Console
    worker: Worker
    options: Options

    def attempt(self, unit: Unit) -> int:
        [read] = unit.inputs
        modules: list[Module] = []
        codes: list[int] = []

        def run() -> int:
            modules.append(read.with_constants().module())
            verify(modules[0])
            codes.append(self._run(read, modules[0]))
            return codes[0]

        status = self.console.attempt(run, partial(_print_unknown, read))
        if codes:
            return codes[0]
        return _UNKNOWN if modules else status

    def _run(self, read: Input, module: Module) -> int:
        from relayout.bisection.judging import Bisector

        options = replace(self.options, inputs=self._inputs(module))
        disabled = _disabled(self.arguments)
        found = Bisector(module, options, self.worker, read.name).run(disabled)
        small = module
        if not self.arguments.no_reduce and options.inputs is None and not disabled:
            small, found = self._reduced(module, found)
        self._print(read, small, found)
        return _EXIT_CODES.get(found.place, FAILED)

    def _reduced(self, module: Module, found: Bisection) -> tuple[Module, Bisection]:
        from relayout.bisection.reducing import reduced

        return reduced(module, found, self.options, self.worker, self.arguments.trials)

    def _print(self, read: Input, small: Module, found: Bisection) -> None:
        from relayout.bisection.reducing import operation_of

        print_json(
            {
                "file": read.path,
                **found.as_json(),
                "operation": operation_of(small, found.cause),
                "operations": sum(1 for _ in small.operations()),
                "reduced": self._write(read, small, found),
                "versions": _versions(),
            }
        )

    def _write(self, read: Input, small: Module, found: Bisection) -> str | None:
        """Writes the smaller module where -o names a file or a directory; returns its name."""
        if found.cause is None or not self.arguments.output:
            return None
        path: str = self.arguments.output
        if self.arguments.has_several:
            path = os.path.join(path, PurePath(read.name).stem + _SUFFIX[small.dialect])
        write_output(path, encode(small.text()))
        return path

    def _inputs(self, module: Module) -> tuple[SavedArray, ...] | None:
        """Returns the user's inputs in the order of a module's parameters, and prints notes about other arrays."""
        from dialect_utils.execution.named import arguments_of, read_inputs

        if self.arguments.inputs is None:
            return None
        arrays, notes = read_inputs([self.arguments.inputs], arguments_of(module))
        self.console.diagnose(notes)
        return tuple(arrays)


def _print_unknown(read: Input, reason: str) -> None:
    print_json(unknown_row(read.path, reason))


def _lost(arguments: Namespace, unit: Unit, reason: str) -> str:
    return json.dumps(unknown_row(unit.inputs[0].path, reason)) + "\n"


def _versions() -> dict[str, str]:
    # Imported here: it parses mail headers.
    from importlib.metadata import version

    return {"jaxlib": version("jaxlib"), "relayout": __version__}


COMMAND = Command(
    name="bisect",
    summary="finds the pass of XLA:CPU after which a module computes something else than it defines",
    examples=(
        "relayout bisect examples/attention.mlir",
        "relayout bisect examples/negate.hlo --disable algsimp --json",
    ),
    add_arguments=_add_arguments,
    plan=_plan,
    open=_open,
    lost=_lost,
    lost_status=_UNKNOWN,
    conclusion=gathered,
    notes="""The definition is that of the reference engine (relayout run --engine reference), on the data of `check`.

exit codes:
  0  XLA:CPU computes what each module defines
  1  it computes something else: the lines name the pass, or code generation, or the conversion before all passes
  3  unknown: a module cannot be executed by both, or only rounding decides
  2  the command is wrong, or a file cannot be read""",
)
