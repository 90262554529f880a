"""Parsing of arguments: a wrong one is a diagnostic with the nearest known name, and exit code 2."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from dialect_utils.text import Diagnostic, DiagnosticError, nearest
from relayout import __version__
from relayout.console import COLOURS, DONE, FAILED, Console, UsageError
from relayout.habits import option_hint, with_two_dashes

if TYPE_CHECKING:
    from dialect_utils.io.inputs import Input
    from relayout.batch.unit import Conclusion, Unit, Work
    from relayout.supervisor.cache import Selected

T = TypeVar("T")

EXIT_CODES = """exit codes:
  0  done
  1  the input is wrong
  2  the command is wrong, or a file is missing"""

_MOST_GIGABYTES = 1e6
_SEED_DIGITS = 32
# The values that LLVM's tools accept for a flag.
_TRUE, _FALSE = ("true", "1"), ("false", "0")


def parsed(parse: Callable[[str], T], text: str) -> T:
    """Returns an argument as a value; raises UsageError where `parse` raises DiagnosticError."""
    try:
        return parse(text)
    except DiagnosticError as error:
        raise UsageError(error.diagnostics) from error


def usage_error(message: str, hint: str | None = None) -> UsageError:
    """Returns an error about the command."""
    return UsageError(Diagnostic(message, hint=hint))


def reject(arguments: argparse.Namespace, names: Iterable[str], reason: str, hint: str | None = None) -> None:
    """Raises UsageError if one of the options was given, which have no effect for this reason: `without -p SPEC`."""
    for name in names:
        if name in arguments.given:
            raise usage_error(f"{arguments.given[name]} has no effect {reason}", hint)


def reject_others(arguments: argparse.Namespace, names: Iterable[str], reason: str, hint: str | None = None) -> None:
    """Raises UsageError if an option was given besides `names` and those that every command has."""
    reject(arguments, (name for name in arguments.given if name not in {*names, *_SHARED}), reason, hint)


def examples_heading() -> str:
    """Returns `examples:`, with the folder of their files unless it is the working directory."""
    if os.path.isdir("examples"):
        return "examples:"
    checkout = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    installed = os.path.join(sys.prefix, "share", "relayout")  # pyproject.toml, data-files
    for folder in (checkout, installed):
        if os.path.isfile(os.path.join(folder, "examples", "negate.hlo")):
            return f"examples (files: {os.path.join(folder, 'examples')}):"
    return "examples:"


def _worst(statuses: Iterable[int]) -> int:
    return max(statuses, default=DONE)


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its arguments, two examples that run, and its work, which sandboxed children do.

    `plan` returns the units of work, and `open` the function that works on one of them. `combine` makes one exit code
    of those of all units. For a unit whose child is lost, the exit code is `lost_status`, and `lost` returns what the
    command prints on standard output, from its arguments, the unit and the reason. `endings` are those that the command
    adds to the names of the files that it writes. A command that is not supervised reads no input, and does its work in
    this process. The children of a command that `compiles` may start the TPU compiler. `cached` returns the values and
    the files of a command line that decide what a unit compiles, None where the cache keeps no such unit. `conclusion`
    returns what the command says about all units together. `shared` are modules that the children and their workers
    need: they are imported once, before the first child is forked.
    """

    name: str
    summary: str
    examples: tuple[str, str]
    add_arguments: Callable[[Parser], None]
    plan: Callable[[argparse.Namespace, Console], Sequence[Unit]]
    open: Callable[[argparse.Namespace, Console], AbstractContextManager[Work]]
    notes: str = ""
    combine: Callable[[Iterable[int]], int] = _worst
    lost: Callable[[argparse.Namespace, Unit, str], str] | None = None
    lost_status: int = FAILED
    endings: tuple[str, ...] = ("",)
    is_supervised: bool = True
    compiles: bool = False
    cached: Callable[[argparse.Namespace, Unit], Selected | None] | None = None
    conclusion: Callable[[argparse.Namespace], AbstractContextManager[Conclusion]] | None = None
    shared: tuple[str, ...] = ()


def undivided(
    run: Callable[[argparse.Namespace, Console], int],
    files: Callable[[argparse.Namespace], Sequence[str]] | None = None,
    seconds: Callable[[argparse.Namespace], float] | None = None,
) -> dict[str, Any]:
    """Returns `plan` and `open` of a command that is one unit; `files` returns its files, `seconds` its time limit.

    Without `files` the command has items, such as lines of standard input, and a limit for each.
    """

    def plan(arguments: argparse.Namespace, console: Console) -> Sequence[Unit]:
        # Imported here: units know of inputs, and this module is loaded for --help.
        from dialect_utils.io.inputs import named_input
        from relayout.batch.unit import Unit

        unit = Unit() if files is None else Unit(tuple(map(named_input, files(arguments))))
        return [unit if seconds is None else replace(unit, seconds=seconds(arguments))]

    @contextmanager
    def open_(arguments: argparse.Namespace, console: Console) -> Iterator[Work]:
        yield lambda unit: console.attempt(lambda: run(arguments, console))

    return {"plan": plan, "open": open_}


class Parser(argparse.ArgumentParser):
    """A parser that raises UsageError where argparse would exit, and remembers option names for hints."""

    def __init__(self, command: Command) -> None:
        examples = "\n".join(f"  {example}" for example in command.examples)
        super().__init__(
            prog=f"relayout {command.name}",
            description=command.summary,
            epilog="\n\n".join([command.notes or EXIT_CODES, f"{examples_heading()}\n{examples}"]),
            # Without a width argparse asks for the terminal's with each option.
            formatter_class=partial(argparse.RawDescriptionHelpFormatter, width=get_terminal_size().columns - 2),
            allow_abbrev=False,
        )
        self.option_names: list[str] = ["-h", "--help"]
        self.added: list[argparse.Action] = []

    def option(self, *names: str, **settings: Any) -> None:
        """Adds an option or a positional argument, as `add_argument` does."""
        self.option_names += [name for name in names if name.startswith("-")]
        self.added.append(self.add_argument(*names, **settings))

    def read(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parses arguments; raises UsageError for unknown and missing ones."""
        written = [each for argument in with_two_dashes(arguments, self.option_names) for each in self._flag(argument)]
        foreign = next((each for each in written if self._is_foreign(each)), None)
        namespace, unknown = self.parse_known_intermixed_args(written)
        unknown = unknown if foreign is None else [foreign]
        if not unknown:
            values = vars(namespace)
            changed = [each for each in self.added if each.dest in values and values[each.dest] != each.default]
            given = (each for each in changed if _is_given(each, values[each.dest]))
            namespace.given = {each.dest: each.option_strings[0] for each in given}
            return namespace
        if not unknown[0].startswith("-"):
            raise usage_error(f"unexpected argument {unknown[0]}", f"{self.prog} --help shows what it takes")
        name = unknown[0].partition("=")[0]
        raise usage_error(f"unknown option {name}", self._hint(name))

    def _flag(self, argument: str) -> list[str]:
        """Returns `--verify-each` for `--verify-each=true`, `--no-verify-each` or nothing for `--verify-each=false`."""
        name, _, value = argument.partition("=")
        if value not in (*_TRUE, *_FALSE) or not any(
            each.nargs == 0 and name in each.option_strings for each in self.added
        ):
            return [argument]
        if value in _TRUE:
            return [name]
        opposite = name.replace("--no-", "--") if name.startswith("--no-") else name.replace("--", "--no-", 1)
        return [opposite] if opposite in self.option_names else []

    def _is_foreign(self, argument: str) -> bool:
        """Is true for an option of another program that begins like a short option here: -print-ir-after-all, -out."""
        name = argument.partition("=")[0]
        is_attached = not name.startswith("--") and name[:2] in self.option_names and len(name) > 2
        return is_attached and option_hint(name, self.option_names) is not None

    def _hint(self, name: str) -> str:
        # Imported here: most commands are correct, and some run no passes.
        from passes.framework.base import is_pass, pass_names

        if "--passes" in self.option_names and is_pass(name.lstrip("-")):
            return f"passes are given with -p: {self.prog} FILE -p {name.lstrip('-')}"
        if name in ("-p", "--passes"):
            return "passes make a module of their own: relayout opt FILE -p SPEC -o NEW"
        if re.fullmatch(r"-\d[\d,]*", name):
            return "an index is not negative: the first is 0"
        if name == "->":
            return "write the two shapes without it"
        meant = option_hint(name, self.option_names)
        if meant is not None:
            return meant
        close = nearest(name, self.option_names)
        if close is None and "--passes" in self.option_names:
            step = nearest(name.lstrip("-"), pass_names())
            close = None if step is None else f"-p {step}"
        return f"did you mean {close}?" if close else f"{self.prog} --help shows all options"

    def error(self, message: str) -> NoReturn:
        """Raises UsageError with the message of argparse."""
        raise usage_error(message[:1].lower() + message[1:], f"{self.prog} --help shows what it takes")


def _is_given(action: argparse.Action, value: object) -> bool:
    """Is true for an option, and of several that set one value for the one that sets this value."""
    if not action.option_strings:
        return False
    return action.nargs != 0 or action.const in (value if isinstance(value, list) else [value])


def choice(*known: str) -> Callable[[str], str]:
    """Returns an argument type that accepts one of the names; an error names the nearest."""

    def parse(text: str) -> str:
        if text in known:
            return text
        close = nearest(text, known)
        suggestion = f"; did you mean {close}?" if close else ""
        raise argparse.ArgumentTypeError(f"{text} is not one of {', '.join(known)}{suggestion}")

    return parse


def choices(*known: str) -> Callable[[str], tuple[str, ...]]:
    """Returns an argument type that accepts a comma-separated list of the names."""
    one = choice(*known)
    return lambda text: tuple(one(part.strip()) for part in text.split(","))


def count(text: str) -> int:
    """Reads a positive integer."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive integer")
    return int(text)


def natural(text: str) -> int:
    """Reads an integer of 0 or more."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} is not an integer of 0 or more")
    return int(text)


def hexadecimal(text: str) -> int:
    """Reads a seed: a hexadecimal number of up to 32 digits."""
    digits = text.lower().removeprefix("0x")
    if not digits or len(digits) > _SEED_DIGITS or not set(digits) <= set("0123456789abcdef"):
        raise argparse.ArgumentTypeError(f"{text} is not a hexadecimal number of up to {_SEED_DIGITS} digits")
    return int(digits, 16)


def files_or_input(files: Sequence[str]) -> Sequence[str]:
    """Returns the files, or standard input where it is not a terminal; raises UsageError."""
    # Imported here: --version and --help read nothing.
    from dialect_utils.io.files import STANDARD_INPUT

    if not files and sys.stdin.isatty():
        raise usage_error("expected a FILE", "- reads standard input")
    return files or [STANDARD_INPUT]


def add_input_options(parser: Parser) -> None:
    """Adds the options that choose modules of a directory."""
    parser.option(
        "--stage",
        metavar="NAME",
        action="append",
        default=[],
        help="of a dump directory: before_optimizations, after_optimizations, a pass",
    )
    parser.option(
        "--module",
        metavar="NAME",
        action="append",
        default=[],
        help="of a dump directory, or of a log that prints several: jit_f, module_0003, jit_*",
    )


def chosen_inputs(files: Sequence[str], arguments: argparse.Namespace, console: Console | None) -> list[Input]:
    """Returns the modules that files, directories and patterns name, and prints notes about skipped files to a console.

    Raises DiagnosticError for a directory without a module, UsageError where --stage or --module choose none.
    """
    # Imported here: --help reads nothing.
    from dialect_utils.io.inputs import Selection, SelectionError, find_inputs

    try:
        found = find_inputs(files, Selection(tuple(arguments.stage), tuple(arguments.module)))
    except SelectionError as error:
        raise UsageError(error.diagnostics) from error
    if console is not None:
        console.diagnose(found.notes)
    return list(found.modules)


def gigabytes(text: str) -> int:
    """Reads a size in gigabytes and returns bytes."""
    try:
        size = float(text)
    except ValueError:
        size = 0.0
    if not 0 < size < _MOST_GIGABYTES:
        raise argparse.ArgumentTypeError(f"{text} is not a number of gigabytes")
    return int(size * 1e9)


def add_limits(parser: Parser, seconds: str) -> None:
    """Adds the limits of each process; `seconds` describes --timeout."""
    parser.option("--timeout", metavar="SECONDS", type=count, help=seconds)
    parser.option("--memory", metavar="GB", type=gigabytes, help="what each process may take (default 4)")
    parser.option(
        "--max-output", metavar="GB", type=gigabytes, help="what may be printed and written for each FILE (default 2)"
    )


_SHARED = ("color", "json", "traceback")


def add_shared_options(parser: Parser) -> None:
    """Adds the options that every command has."""
    parser.option("--version", action="version", version=f"relayout {__version__}", help="show the version")
    parser.option(
        "--color", type=choice(*COLOURS), default="auto", help="auto, always or never (default auto: on a terminal)"
    )
    parser.option("--json", action="store_true", help="print one JSON object per input on a line of its own")
    parser.option("--traceback", action="store_true", help="show where in the program an error arose")
