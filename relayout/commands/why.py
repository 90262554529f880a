"""`relayout why`: the pass that introduced each copy of a compiled program, and what removes the copy."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from dialect_utils.io.files import encode, read_module
from dialect_utils.io.inputs import Input
from relayout.arguments import Command, Parser, add_limits, chosen_inputs, count, parsed, reject, usage_error
from relayout.batch.unit import Result, Unit, Work
from relayout.causes.result import SHOWN
from relayout.console import DONE, Console, print_json
from relayout.output import write_output
from relayout.process import CHECKING_SECONDS_PER_MEGABYTE, seconds_for_bytes
from relayout.validation.gathering import compiled_folder
from relayout.validation.steps import find_programs


def _add_arguments(parser: Parser) -> None:
    parser.option("file", metavar="DIR", help="a dump directory with the modules of all passes; a FILE with --target")
    parser.option(
        "value", metavar="VALUE", nargs="?", help="the name of an instruction of the final program, or a part"
    )
    parser.option(
        "--target", help="compile a FILE, StableHLO or HLO, for cpu or a TPU such as tpu-v5e, and explain that"
    )
    parser.option("--dump", metavar="DIR", help="with --target: keep the modules that the compiler writes")
    parser.option(
        "--module", metavar="NAME", action="append", default=[], help="explain these programs only: jit_f, module_0003"
    )
    parser.option("--top", metavar="N", type=count, default=SHOWN, help=f"the N most expensive (default {SHOWN})")
    add_limits(parser, "for each program (default 9, more for large ones)")


def _plan(arguments: Namespace, console: Console) -> Sequence[Unit]:
    if arguments.value is not None:
        reject(arguments, ("top",), "with a VALUE")
    if arguments.target is None:
        reject(arguments, ("dump",), "without --target")
    elif os.path.isdir(arguments.file):
        raise usage_error("--target compiles one FILE, and a directory holds what a compiler wrote", "leave it out")
    else:
        # Imported here: --help loads nothing of the execution.
        from dialect_utils.execution.pass_dumps import check_target
        from relayout.validation.run import dump_module

        target = parsed(check_target, arguments.target)
        dump_module(read_module(arguments.file), target, arguments.compiled)
    return [
        Unit(tuple(modules), seconds=_seconds(modules, arguments), label=name)
        for name, modules in _programs(arguments, console).items()
    ]


def _programs(arguments: Namespace, console: Console) -> dict[str, list[Input]]:
    folder = arguments.compiled or arguments.file
    arguments.stage = []
    # Of a directory that this command made nobody asks what else is in it.
    found = chosen_inputs([folder], arguments, console if arguments.compiled is None else None)
    if [each.path for each in found] == [folder]:
        # It raises MissingFileError.
        found[0].data()
        hint = f"relayout why {folder} --target cpu compiles it"
        raise usage_error(f"{folder} is one module, and passes are between the modules of a directory", hint)
    return find_programs(found, folder)


def _seconds(modules: Sequence[Input], arguments: Namespace) -> float:
    size = sum(each.size for each in modules)
    return arguments.timeout or seconds_for_bytes(size, CHECKING_SECONDS_PER_MEGABYTE)


@contextmanager
def _open(arguments: Namespace, console: Console) -> Iterator[Work]:
    yield lambda unit: console.attempt(partial(_explain, unit, arguments))


def _explain(unit: Unit, arguments: Namespace) -> int:
    # Imported here: --help reads no module.
    from relayout.causes.run import explain_modules

    found = explain_modules(unit.label, unit.inputs, arguments.value, arguments.top)
    if arguments.json:
        print_json(found.as_json())
    else:
        write_output(None, encode(f"{found}\n"))
    return DONE


@dataclass(slots=True)
class _Nothing:
    """The conclusion of a command that says nothing about all programs together."""

    def add(self, unit: Unit, result: Result) -> Result:
        return result

    def end(self) -> None:
        return


@contextmanager
def _compiled(arguments: Namespace) -> Iterator[_Nothing]:
    with compiled_folder(arguments) as folder:
        arguments.compiled = folder
        yield _Nothing()


COMMAND = Command(
    name="why",
    summary="names the pass that introduced each copy and each padded array of a compiled program, and what removes it",
    examples=(
        "relayout why examples/attention.mlir --target cpu",
        "relayout why examples/attention.hlo --target cpu --json",
    ),
    add_arguments=_add_arguments,
    plan=_plan,
    open=_open,
    conclusion=_compiled,
)
