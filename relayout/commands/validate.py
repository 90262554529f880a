"""`relayout validate`: judges each pass of a compilation by the modules that the compiler dumped."""

from __future__ import annotations

import json
import os
import re
from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from dialect_utils.io.files import read_module
from relayout.arguments import Command, Parser, add_limits, chosen_inputs, parsed, reject, usage_error
from relayout.batch.run import add_batch_options, add_ci_options
from relayout.batch.unit import Unit, Work
from relayout.comparison import (
    EXIT_CODES,
    SHARED,
    UNKNOWN,
    add_comparison_options,
    comparison_options,
    comparison_seconds,
    exit_code,
    most_severe,
    own_inputs,
    proof_seconds,
    reject_without_execution,
)
from relayout.console import Console, print_json
from relayout.validation.gathering import LOST, gathered
from relayout.validation.judging import Judge
from relayout.validation.run import REDUCTION_SECONDS, dump_module
from relayout.validation.steps import Step, chosen_steps, find_steps

_PAGE = ".html"


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise ArgumentTypeError(f"{text} is no regular expression: {error}") from None


def _add_arguments(parser: Parser) -> None:
    parser.option(
        "files", metavar="DIR", nargs="+", help="dump directories with the modules of all passes; a FILE with --target"
    )
    parser.option("--target", help="compile a FILE, StableHLO or HLO, for cpu or a TPU such as tpu-v5e, and judge that")
    parser.option("--dump", metavar="DIR", help="with --target: keep the modules that the compiler writes")
    parser.option("-o", "--output", metavar="OUT", help="write a page: a row a step, with the difference of its texts")
    parser.option("--only", metavar="REGEX", type=_pattern, help="judge these passes or pipelines only")
    parser.option(
        "--module", metavar="NAME", action="append", default=[], help="judge these programs only: jit_f, module_0003"
    )
    parser.option("--no-reduce", action="store_true", help="do not search a smaller pair for a step that is different")
    parser.option(
        "--reduced-dir", metavar="DIR", help="where smaller pairs are written (default: beside the page or the results)"
    )
    add_comparison_options(parser)
    add_batch_options(parser)
    add_ci_options(parser)
    add_limits(parser, "for each step, all engines together (default 120)")


def _plan(arguments: Namespace, console: Console) -> Sequence[Unit]:
    _check(arguments)
    if arguments.target is not None:
        # Imported here: --help loads nothing of the execution.
        from dialect_utils.execution.pass_dumps import check_target

        target = parsed(check_target, arguments.target)
        dump_module(read_module(arguments.files[0]), target, arguments.compiled)
    folders = arguments.files if arguments.compiled is None else [arguments.compiled]
    steps = [step for folder in folders for step in _steps(folder, len(folders) > 1, arguments, console)]
    own = _reduction(arguments)
    units = []
    for each in parsed(partial(chosen_steps, steps), arguments.only):
        pair = (each.before, each.after)
        units.append(Unit(pair, seconds=comparison_seconds(arguments, pair) + own, label=each.label))
    return units


def _check(arguments: Namespace) -> None:
    """Raises UsageError for options without effect, and for --target with a directory."""
    reject_without_execution(arguments)
    if arguments.no_reduce:
        reject(arguments, ("reduced_dir",), "with --no-reduce")
    if arguments.output is not None and not arguments.output.endswith(_PAGE):
        raise usage_error(f"-o {arguments.output} is no page", f"-o page{_PAGE}")
    if arguments.target is None:
        reject(arguments, ("dump",), "without --target")
        return
    reject(arguments, ("resume", "cluster"), "with --target, which compiles on this machine")
    if len(arguments.files) > 1 or os.path.isdir(arguments.files[0]):
        raise usage_error("--target compiles one FILE, and a directory holds what a compiler wrote", "leave it out")


def _steps(folder: str, is_one_of_several: bool, arguments: Namespace, console: Console) -> list[Step]:
    arguments.stage = []
    # Of a directory that this command made nobody asks what else is in it.
    found = chosen_inputs([folder], arguments, console if arguments.compiled is None else None)
    if [each.path for each in found] == [folder]:
        # It raises MissingFileError.
        found[0].data()
        hint = f"relayout validate {folder} --target cpu compiles it"
        raise usage_error(f"{folder} is one module, and steps are between the modules of a directory", hint)
    prefix = os.path.basename(os.path.abspath(folder)) if is_one_of_several else ""
    return find_steps([replace(each, prefix=prefix) for each in found], folder)


def _reduction(arguments: Namespace) -> float:
    return 0.0 if arguments.no_reduce else REDUCTION_SECONDS


@contextmanager
def _open(arguments: Namespace, console: Console) -> Iterator[Work]:
    # Imported here: --help and wrong commands work without numpy and jaxlib.
    from dialect_utils.execution import Worker

    options = comparison_options(arguments)
    # A measured power takes as long as the check, for each of a hundred steps.
    options = replace(options, power=options.power or 0)
    with Worker(memory=options.memory) as worker:
        own = partial(own_inputs, arguments, console=console)
        judge = Judge(
            options,
            worker,
            is_shown=arguments.output is not None,
            inputs_of=own,
            is_elided_equal=arguments.assume_elided_equal,
        )
        yield partial(_report, judge, arguments)


def _report(judge: Judge, arguments: Namespace, unit: Unit) -> int:
    """Prints the result of one step as JSON, again with a smaller pair if one was found, and returns its exit code."""
    step, own = Step.of(unit.label, unit.inputs), _reduction(arguments)
    result = judge.judge(step, proof_seconds(arguments, unit.seconds - own))
    print_json(result.as_json())
    if own:
        reduced = judge.reduced(step, result, own)
        if reduced != result:
            print_json(reduced.as_json())
    return exit_code(result.verdict, result.up_to, arguments.require)


def _lost(arguments: Namespace, unit: Unit, reason: str) -> str:
    return "\n" + json.dumps({LOST: reason}) + "\n"


COMMAND = Command(
    name="validate",
    summary="judges each pass of a compilation by the modules that the compiler dumped",
    examples=(
        "relayout validate examples/negate.hlo --target cpu",
        "relayout validate examples/negate.hlo --target cpu --only fusion-wrapper -o page.html",
    ),
    add_arguments=_add_arguments,
    plan=_plan,
    open=_open,
    combine=most_severe,
    lost=_lost,
    lost_status=UNKNOWN,
    conclusion=gathered,
    notes=EXIT_CODES,
    shared=SHARED,
)
