"""`relayout reduce`: shrinks a difference between two modules, or one that a pipeline makes."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dialect_utils.io.files import read_module
from dialect_utils.ir import Module
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.dumps.executable import checked_form
from passes.framework.base import Pass
from passes.framework.pipeline import PassError, Pipeline, verify
from relayout.arguments import Command, Parser, choice, count, usage_error
from relayout.console import DONE, Console, print_json
from relayout.output import write_output
from relayout.pipelines import add_pipeline_options, read_pipeline
from relayout.reduction import DEFAULT_TRIALS, reduce_modules

if TYPE_CHECKING:
    from dialect_utils.execution import Worker

# The first word of a finding where a pass, not an engine, crashes.
_OF_PASS = "pass"
_FINDINGS = {"different": "difference", "crash": "crash"}
_SUFFIX = {"hlo": ".hlo", "stablehlo": ".mlir"}


def _add_arguments(parser: Parser) -> None:
    parser.option("files", metavar="FILE", nargs="+", help="two modules; one with -p, or with --keep crash")
    add_pipeline_options(parser)
    parser.option(
        "--keep",
        type=choice(*_FINDINGS),
        default="different",
        help="what stays: different (default) or crash",
    )
    parser.option("-o", "--output", metavar="PREFIX", default="reduced", help="begin of the files' names (reduced)")
    parser.option("--trials", metavar="N", type=count, default=DEFAULT_TRIALS, help="ask so often at most (500)")


def _run(arguments: Namespace, console: Console) -> int:
    pipeline = read_pipeline(arguments, console)
    # One module alone may crash an engine; a difference is between two.
    wanted = {1} if arguments.passes is not None else {1, 2} if arguments.keep == "crash" else {2}
    if len(arguments.files) not in wanted:
        hint = "two FILEs, or one FILE -p SPEC, or one FILE --keep crash"
        raise usage_error(f"expected {' or '.join(map(str, sorted(wanted)))} FILEs", hint)
    from dialect_utils.execution import Worker

    modules = [read_module(file) for file in arguments.files]
    for module in modules:
        verify(module)
    with Worker() as worker:
        if arguments.passes is None:
            return _reduce_modules(arguments, modules, worker)
        return _reduce_pass(arguments, modules[0], pipeline, worker)


def _reduce_modules(arguments: Namespace, modules: Sequence[Module], worker: Worker) -> int:
    """Reduces two modules that differ, or one or two modules that crash an engine."""
    finding = partial(_finding, worker, arguments.keep)
    found = finding(modules)
    if found is None:
        subject = "two modules show" if len(modules) > 1 else "module shows"
        raise DiagnosticError(Diagnostic(f"the {subject} no {_FINDINGS[arguments.keep]} to reduce"))
    small = reduce_modules(modules, lambda candidate: finding(candidate) == found, arguments.trials)
    files = _write(arguments.output, [".a", ".b"] if len(small) > 1 else [""], small)
    verb = "check" if len(small) > 1 else "run"
    return _report(arguments, files, f"relayout {verb} {' '.join(map(shlex.quote, files))}")


def _reduce_pass(arguments: Namespace, module: Module, pipeline: Pipeline, worker: Worker) -> int:
    first = _first_pass(module, pipeline, worker, arguments)
    if first is None:
        raise DiagnosticError(Diagnostic(f"no pass of the pipeline makes a {_FINDINGS[arguments.keep]} to reduce"))
    step, before, found = first

    def shows(candidate: Sequence[Module]) -> bool:
        return _finding_of_pass(step, candidate[0], worker, arguments) == found

    [small] = reduce_modules([before], shows, arguments.trials)
    files = _write(arguments.output, [""], [small])
    verb = "opt" if found.startswith(_OF_PASS) else "check"
    return _report(arguments, files, f"relayout {verb} {shlex.quote(files[0])} -p {shlex.quote(str(step))}")


def _first_pass(
    module: Module, pipeline: Pipeline, worker: Worker, arguments: Namespace
) -> tuple[Pass, Module, str] | None:
    """Returns the first pass with a finding, the module before it, and the finding."""
    for step in pipeline.passes:
        found = _finding_of_pass(step, module, worker, arguments)
        if found is not None:
            return step, module, found
        module = step.run(module).module
    return None


def _finding_of_pass(step: Pass, module: Module, worker: Worker, arguments: Namespace) -> str | None:
    try:
        result = Pipeline((step,)).run(module, verify_each=arguments.verify_each)
    except PassError as error:
        return f"{_OF_PASS}: {type(error.__cause__).__name__}" if arguments.keep == "crash" else None
    except DiagnosticError:
        return None
    return _finding(worker, arguments.keep, [module, result.module])


def _finding(worker: Worker, keep: str, modules: Sequence[Module]) -> str | None:
    """Returns `different` for modules that differ, or (`crash`) the engine's message as it crashes; else None.

    A reduction keeps the message, and so reduces one crash to the same crash.
    """
    from dialect_utils.execution import ExecutionError
    from dialect_utils.verdict import Options, compare_stages

    options = Options(engines=None if keep == "different" else ("xla",), power=0)
    try:
        verdict = compare_stages([modules[0], modules[-1]], options, worker, executable=checked_form)
    except ExecutionError as error:
        return error.message if keep == "crash" and error.failure == "crash" else None
    except DiagnosticError:
        return None
    if keep == "different":
        return keep if verdict.verdict == keep else None
    return verdict.reason if "crash" in verdict.reason else None


def _write(prefix: str, letters: Sequence[str], modules: Sequence[Module]) -> list[str]:
    """Writes `PREFIX.hlo`, or `PREFIX.a.hlo` and `PREFIX.b.hlo`; returns the names."""
    files = [prefix + letter + _SUFFIX[module.dialect] for letter, module in zip(letters, modules, strict=True)]
    for file, module in zip(files, modules, strict=True):
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        write_output(file, module.text().encode())
    return files


def _report(arguments: Namespace, files: Sequence[str], command: str) -> int:
    if arguments.json:
        print_json({"file": arguments.files[0], "reduced": list(files), "command": command})
    else:
        print(command)
    return DONE


COMMAND = Command(
    name="reduce",
    summary="shrinks a difference between two modules, or one that a pipeline makes",
    examples=(
        "sed 's/negate(/abs(/' examples/negate.hlo | relayout reduce examples/negate.hlo - -o small",
        "sed 's/cosine/sine/;s/maximum/minimum/' examples/training_step.hlo |"
        " relayout reduce examples/training_step.hlo - -o small --json",
    ),
    add_arguments=_add_arguments,
    run=_run,
    notes="""Prints the command that shows what is left, and writes PREFIX.a.*, PREFIX.b.* or PREFIX.*.

exit codes:
  0  reduced
  1  nothing to reduce: no difference, or no crash
  2  the command is wrong, or a file cannot be read""",
)
