"""`relayout tune`: searches layouts and rewrites that make a program smaller or faster on a TPU."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from dialect_utils.io.files import STANDARD_INPUT, decode, encode
from dialect_utils.io.inputs import Input
from dialect_utils.layout.targets.tpu import parse_target
from dialect_utils.text import DiagnosticError, read_input
from passes.framework.pipeline import verify
from relayout.arguments import (
    Command,
    Parser,
    add_input_options,
    add_limits,
    choice,
    chosen_inputs,
    count,
    parsed,
    reject,
    usage_error,
)
from relayout.batch.unit import Unit, Work, lost_file
from relayout.console import DONE, Console, print_json
from relayout.output import COMPRESSED, STANDARD_OUTPUT, write_output

if TYPE_CHECKING:
    from dialect_utils.execution.tpu_figures import FigureCompiler, Figures
    from dialect_utils.stablehlo.module import StableHloModule
    from relayout.supervisor.cache import Selected
    from relayout.tuning.search import Search
    from relayout.tuning.trials import Measured, Trial

_OBJECTIVES = ("peak", "bytes", "time")
_BUDGET = 20
# Fewer than the processes that a child may have.
_MOST_JOBS = 15
# The time of this process, without that of the compiler.
_SECONDS = 600.0


def _add_arguments(parser: Parser) -> None:
    parser.option("files", metavar="PROGRAM", nargs=1, help="StableHLO in any format; - is standard input")
    add_input_options(parser)
    parser.option("--target", help="the TPU to compile for, e.g. tpu-v5e")
    parser.option(
        "--objective",
        type=choice(*_OBJECTIVES),
        default=_OBJECTIVES[0],
        help="make smaller: peak memory, bytes accessed, or the estimated time (default peak)",
    )
    parser.option("--budget", metavar="N", type=count, default=_BUDGET, help=f"programs to compile (default {_BUDGET})")
    parser.option("-o", "--output", metavar="OUT", help="write the best program, whenever a better one is found")
    parser.option("--trials", metavar="FILE", help="write the figures of all trials, after each compilation")
    parser.option("--resume", dest="go_on", action="store_true", help="with --trials: compile nothing that is in FILE")
    parser.option("--jobs", metavar="N", type=count, default=1, help="programs to compile at once (default 1)")
    parser.option("--no-cache", action="store_true", help="compile all programs, and keep no figures")
    parser.option(
        "--model-only", action="store_true", help="compile nothing: rank the changes by the model, and prove them"
    )
    parser.option("--width", metavar="N", type=count, help="columns of the page (default: the terminal's)")
    add_limits(parser, f"without the time of the compiler (default {_SECONDS:g})")


def _plan(arguments: Namespace, console: Console) -> Sequence[Unit]:
    _check(arguments)
    inputs = chosen_inputs(arguments.files, arguments, console)
    if len(inputs) > 1:
        hint = "--module NAME and --stage NAME choose one"
        raise usage_error(f"{arguments.files[0]} has {len(inputs)} modules, and a search changes one", hint)
    return [Unit((inputs[0],), seconds=arguments.timeout or _SECONDS)]


def _check(arguments: Namespace) -> None:
    if arguments.target is None:
        raise usage_error("expected a --target", "relayout tune PROGRAM --target tpu-v5e")
    parsed(parse_target, arguments.target)
    if arguments.go_on and arguments.trials is None:
        raise usage_error("--resume goes on with a file of trials, and there is none", "--trials FILE names it")
    if arguments.jobs > _MOST_JOBS:
        raise usage_error(f"--jobs {arguments.jobs}: at most {_MOST_JOBS} programs are compiled at once")
    if arguments.no_cache and arguments.trials is not None:
        raise usage_error("--no-cache has no effect with --trials, whose file is used instead", "leave it out")
    if arguments.model_only:
        reject(arguments, ("jobs", "trials", "go_on", "no_cache"), "with --model-only, which compiles nothing")
    if arguments.output == STANDARD_OUTPUT and arguments.json:
        raise usage_error("-o - and --json both print on standard output", "-o FILE writes the program")
    if arguments.json or arguments.output == STANDARD_OUTPUT:
        reject(arguments, ("width",), "where no page is printed")
    if arguments.output is not None and arguments.output.endswith(COMPRESSED):
        raise usage_error(f"-o {arguments.output}: what is written is not compressed", "leave the ending out")


@contextmanager
def _open(arguments: Namespace, console: Console) -> Iterator[Work]:
    work = _model if arguments.model_only else _tune
    yield lambda unit: console.attempt(partial(work, unit.inputs[0], arguments))


def _tune(read: Input, arguments: Namespace) -> int:
    # Imported here, as below: --help and wrong commands work without numpy and jaxlib.
    from dialect_utils.execution.tpu_figures import FigureCompiler
    from relayout.tuning.page import tuning_json, tuning_page
    from relayout.tuning.search import Search
    from relayout.tuning.solver import check_installed

    # Before any other file is read: a child stores only figures of its own file.
    known = _cached_figures(arguments)
    module = _program(read)
    check_installed()
    with FigureCompiler(arguments.target, arguments.jobs) as compiler:
        search = Search(module, _measured(arguments, compiler, known), arguments.objective, arguments.budget)
        search.told = partial(_show_progress, search, arguments)
        tuning = search.run()
    _print(arguments, tuning.program, {"file": read.path, **tuning_json(tuning)}, tuning_page(tuning, arguments.width))
    return DONE


def _model(read: Input, arguments: Namespace) -> int:
    """Ranks changes by the model, and writes the best one."""
    from relayout.tuning.modelled import model_changes
    from relayout.tuning.page import modelled_json, modelled_page
    from relayout.tuning.solver import check_installed

    module, target = _program(read), parse_target(arguments.target).name
    check_installed()
    modelled = model_changes(module, target, arguments.objective, arguments.budget)
    if arguments.output not in (None, STANDARD_OUTPUT):
        write_output(arguments.output, encode(modelled.program.text()))
    page = modelled_page(modelled, arguments.width)
    _print(arguments, modelled.program, {"file": read.path, **modelled_json(modelled)}, page)
    return DONE


def _program(read: Input) -> StableHloModule:
    from relayout.tuning.changes import as_stablehlo

    module = as_stablehlo(read.module())
    verify(module)
    return module


def _print(arguments: Namespace, program: StableHloModule, record: Mapping[str, object], page: str) -> None:
    """Prints a result as the command line wants: the program, JSON, or a page."""
    if arguments.output == STANDARD_OUTPUT:
        write_output(None, encode(program.text()))
    elif arguments.json:
        print_json(record)
    else:
        write_output(None, encode(page))


def _cached_figures(arguments: Namespace) -> Mapping[str, Figures]:
    """Returns the figures that the cache has for the programs of this file; none with --trials."""
    from relayout.supervisor.host import current
    from relayout.tuning.trials import read_trials

    host = current()
    data = None if host is None or arguments.trials is not None else host.cached()[0]
    try:
        return {} if data is None else read_trials(data.decode(), "the cache")
    except (DiagnosticError, UnicodeDecodeError):
        return {}


def _measured(arguments: Namespace, compiler: FigureCompiler, known: Mapping[str, Figures]) -> Measured:
    """Returns the figures that are known already, and keeps all of them after each compilation."""
    from dialect_utils.execution.tpu_figures import compiler_version
    from relayout.supervisor.host import current
    from relayout.tuning.trials import Measured, read_trials

    measured = Measured(compiler.compile_all, compiler.target, compiler_version(), known=dict(known))
    if arguments.trials is None:
        if (host := current()) is not None:
            measured.keep = lambda text: host.keep(encode(text))
        return measured
    measured.keep = lambda text: write_output(arguments.trials, encode(text))
    if arguments.go_on:
        measured.known = dict(read_trials(decode(read_input(arguments.trials)), arguments.trials))
    return measured


def _cached(arguments: Namespace, unit: Unit) -> Selected | None:
    """Returns the program of a search, whose figures the cache keeps; None with --trials, whose file has them."""
    from relayout.supervisor.cache import Selected

    [read] = unit.inputs
    files = [read.path, *filter(None, [read.proto])]
    if arguments.model_only or arguments.trials is not None or STANDARD_INPUT in files:
        return None
    return Selected(["tune", arguments.target, read.wanted], files, grows=True)


def _show_progress(search: Search, arguments: Namespace, trial: Trial, is_best: bool) -> None:
    """Prints a trial, and writes the best program, which stays if the command is ended."""
    from relayout.tuning.page import trial_line

    print(trial_line(trial, search.trials[0], is_best=is_best), file=sys.stderr, flush=True)
    if is_best and arguments.output not in (None, STANDARD_OUTPUT):
        write_output(arguments.output, encode(search.program(trial).text()))


COMMAND = Command(
    name="tune",
    summary="searches layouts and rewrites that make a program smaller or faster on a TPU",
    examples=(
        "relayout tune examples/attention.mlir --target tpu-v5e --budget 4",
        "relayout tune examples/attention.mlir --target tpu-v5e --objective bytes --budget 4 --json",
    ),
    add_arguments=_add_arguments,
    plan=_plan,
    open=_open,
    compiles=True,
    cached=_cached,
    lost=lost_file,
)
