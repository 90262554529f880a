"""The program `relayout`: finds the command, parses its arguments, turns errors into exit codes."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, TextIO, cast

from dialect_utils.text import Diagnostic, PrintableStream, nearest
from relayout import __version__
from relayout.console import COLOURS, DONE, WRONG_COMMAND, Console, UsageError
from relayout.options import choice, usage_error
from relayout.process import ended_by_signals, exit_code, interrupt_before

if TYPE_CHECKING:
    from relayout.arguments import Parser

_COST, _SAME, _SHAPE = "What does it cost, and why?", "Do both compute the same?", "What does a layout mean?"
_TEXT, _RUN, _SETUP = "Change, convert and print texts", "Run", "Set up"
# The commands, each with the question that it answers, and what it does.
COMMANDS = {
    "report": (_COST, "says whether a program fits, and where its memory goes: the peak, padding, relayouts"),
    "tune": (_COST, "searches layouts and rewrites that make a program smaller or faster on a TPU"),
    "check": (_SAME, "decides whether modules compute the same, or whether passes keep what a module computes"),
    "validate": (_SAME, "judges each pass of a compilation by the modules that the compiler dumped"),
    "reduce": (_SAME, "shrinks a difference between two modules, or a failure of one that a command finds"),
    "explain": (_SHAPE, "says what a shape with a layout means"),
    "opt": (_TEXT, "runs passes on modules and prints them"),
    "convert": (_TEXT, "writes modules in another format: HLO or StableHLO, text or binary"),
    "extract": (_TEXT, "makes a module of one operation or computation, or of what is around it"),
    "print": (_TEXT, "prints modules with short names and without metadata, or one computation"),
    "run": (_RUN, "executes a module on this machine"),
    "doctor": (_SETUP, "says what is installed, what hides what, and whether the sandbox and a small module work"),
}
# Forms of a command, each with options of its own, which an option of this name chooses; most were commands.
FORMS = {
    "why": ("report", "names the pass that introduced each copy and padded array, and what removes it"),
    "replay": ("check", "checks the certificate of a proof that two modules are equal, without the proof's code"),
    "bisect": ("validate", "finds the pass of XLA:CPU after which a module computes something else"),
    "index": ("explain", "prints linear indices of logical ones, and back"),
    "bitcast": ("explain", "says what reading one shape's bytes as another does"),
    "inside": ("opt", "runs the passes inside of a compiler, and compares the compilation with that without them"),
    "count": ("print", "counts operations by opcode, shape, type or computation, and the bytes that they make"),
}
# The option of these has a value.
_WITH_VALUE = ("inside",)
_QUESTIONS = (_COST, _SAME, _SHAPE, _TEXT, _RUN, _SETUP)

# The exit code that a shell reports for a program ended by SIGPIPE.
_CLOSED_PIPE = 141

_HELP_NAMES = ("-h", "--help", "help")
_OPTIONS = ("--help", "--version", "--print-completion")

_SHELLS = ("bash", "zsh", "tcsh")

# Arguments with these names are completed with files and directories.
_FILES = ("FILE", "OUT", "NPZ", "TOML", "OLD")
_DIRECTORIES = ("DIR",)

_HELP = """usage: relayout COMMAND ...

Layout passes for XLA HLO text and StableHLO: annotate tiles, rewrite them explicitly, check bit for bit.

{commands}

options:
  -h, --help [COMMAND|PASS]   show this help, or that of a command or a pass; COMMAND --help-all has every option
  --version                   show the version
  --print-completion SHELL    print what completes commands in bash, zsh or tcsh

exit codes: 0 done, 1 the input is wrong or a check failed, 2 the command is wrong or a file is missing

examples:
  relayout explain 'f32[3,5]{{1,0:T(2,2)}}'
  relayout opt --help"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line and returns the exit code: 0 done, 1 the input is wrong, 2 the command is wrong."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    # The caller may have closed them (`>&-`).
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 (open as long as the process)
    with _printable_output(), ended_by_signals():
        return _status(arguments)


def _status(arguments: Sequence[str]) -> int:
    # Errors found while the arguments are parsed are coloured, too.
    given = [b if a == "--color" else a.partition("--color=")[2] for a, b in zip_longest(arguments, arguments[1:])]
    console = Console("--traceback" in arguments, next((each for each in reversed(given) if each in COLOURS), "auto"))
    try:
        status = _run(arguments, console)
        sys.stdout.flush()
    except UsageError as error:
        console.diagnose(error.diagnostics)
        return WRONG_COMMAND
    except KeyboardInterrupt as interrupt:
        if console.show_traceback:
            traceback.print_exc()
        return exit_code(interrupt)
    except BrokenPipeError:
        _drop_output()
        return _CLOSED_PIPE
    except OSError as error:  # a full disk
        _drop_output()
        return console.fail(error)
    except Exception as error:
        # If a signal comes while arguments are parsed, a `finally` clause of argparse raises another error.
        lost = interrupt_before(error)
        return console.fail(error) if lost is None else exit_code(lost)
    return status


@contextmanager
def _printable_output() -> Iterator[None]:
    """Escapes control characters of a file wherever they are printed to a terminal."""
    stream = sys.stdout
    sys.stdout = cast(TextIO, PrintableStream(sys.stdout))
    try:
        yield
    finally:
        sys.stdout = stream


def _drop_output() -> None:
    """Discards buffered output; otherwise Python reports the same error again when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: Sequence[str], console: Console) -> int:
    if not arguments:
        raise usage_error("expected a command", f"one of {', '.join(COMMANDS)}; relayout --help shows more")
    name, rest = arguments[0], arguments[1:]
    if name == "--version":
        print(f"relayout {__version__}")
        return DONE
    if name == "--print-completion":
        return _print_completion(rest)
    if name in _HELP_NAMES:
        return _show_help(rest)
    name, rest = _form(name, rest, console)
    parser = parser_of(name, is_shown="--help" in rest or "-h" in rest or "--help-all" in rest)
    if "--help-all" in rest:
        print(parser.format_every_option(), end="")
        return DONE
    about = _pass_asked(rest) if "--passes" in parser.option_names else None
    if about is not None:
        return _show_help([about])
    try:
        command = parser.read(rest)
    except SystemExit:  # argparse printed the help
        return DONE
    # Imported here: --version and --help start no process.
    if not command.is_supervised:
        from relayout.batch.unit import Unit

        with command.open(console) as work:
            return work(Unit())
    from relayout.batch.run import supervise

    return console.attempt(lambda: supervise(command, console))


def _form(name: str, arguments: Sequence[str], console: Console) -> tuple[str, Sequence[str]]:
    """Returns the form of a command that an option chooses, and the other arguments; a note is about its old name."""
    if name in FORMS:
        console.diagnose([Diagnostic(f"relayout {name} is relayout {FORMS[name][0]} --{name}", severity="note")])
        return name, arguments
    for form in FORMS:
        if FORMS[form][0] != name:
            continue
        if form in _WITH_VALUE:
            if f"--{form}" in arguments or f"\n--{form}=" in "\n" + "\n".join(arguments):
                return form, arguments
        elif f"--{form}" in arguments:
            return form, [each for each in arguments if each != f"--{form}"]
    return name, arguments


def parser_of(name: str, *, is_shown: bool = True) -> Parser:
    """Returns the parser of a command or of a form, in full if its help is shown; raises UsageError."""
    if name not in {*COMMANDS, *FORMS}:
        what = "option" if name.startswith("-") else "command"
        raise usage_error(f"unknown {what} {name}", _command_hint(name))
    from relayout.arguments import Parser

    kind = getattr(importlib.import_module(f"relayout.commands.{name}"), name.capitalize())
    owner, summary = FORMS[name] if name in FORMS else (name, COMMANDS[name][1])
    forms = {f"--{form}": FORMS[form][1] for form in FORMS if FORMS[form][0] == name}
    parser = Parser(kind, summary, owner if owner == name else f"{owner} --{name}", forms, is_shown=is_shown)
    parser.owners = lambda option: [each for each in COMMANDS if option in parser_of(each).option_names]
    return parser


def _show_help(names: Sequence[str]) -> int:
    """Prints the help of the program, of a command, or of a pass."""
    if not names:
        print(_HELP.format(commands="\n".join(map(_answers, _QUESTIONS))))
    elif names[0] in {*COMMANDS, *FORMS}:
        print(parser_of(names[0]).format_help(), end="")
    else:
        from relayout.pipelines import describe_pass

        print(describe_pass(names[0], (*COMMANDS, *FORMS)))
    return DONE


def _answers(question: str) -> str:
    """Returns a question as a heading, and the commands that answer it with their forms."""
    lines = [question]
    for name in (each for each, (answered, _) in COMMANDS.items() if answered == question):
        lines.append(f"  {name:11} {COMMANDS[name][1]}")
        lines += [f"    --{form:7} {summary}" for form, (owner, summary) in FORMS.items() if owner == name]
    return "\n".join(lines)


def _pass_asked(arguments: Sequence[str]) -> str | None:
    """Returns the name after --help, or None."""
    asked = [after for before, after in pairwise(arguments) if before in _HELP_NAMES]
    return next((name for name in asked if not name.startswith("-")), None)


def _print_completion(shells: Sequence[str]) -> int:
    """Prints the script that completes `relayout` in a shell; raises UsageError for another shell."""
    if len(shells) != 1:
        raise usage_error("expected a shell", "relayout --print-completion bash")
    try:
        choice(*_SHELLS)(shells[0])
    except argparse.ArgumentTypeError as error:
        raise usage_error(str(error)) from None
    import shtab

    from passes.framework.base import pass_names

    parsers = {name: parser_of(name) for name in COMMANDS}
    made = iter(parsers.values())
    root = argparse.ArgumentParser(prog="relayout", add_help=True)
    root.add_argument("--version", action="store_true", help="show the version")
    below = root.add_subparsers(parser_class=lambda **_: next(made))  # type: ignore[call-overload]  # makes parsers
    for name, parser in parsers.items():
        below.add_parser(name, help=COMMANDS[name][1])
        for action in parser.added:
            if action.metavar in _FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined]  # the interface of shtab
            elif action.metavar in _DIRECTORIES:
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]  # the interface of shtab
            elif action.dest == "passes":
                action.choices = pass_names()  # a shell completes only the first pass of a pipeline
    print(shtab.complete(root, shells[0]).rstrip("\n"))
    return DONE


def _command_hint(name: str) -> str:
    from passes.framework.base import is_pass
    from relayout.habits import COMMANDS as OTHER_COMMANDS

    if is_pass(name):
        return f"passes are given with -p: relayout opt FILE -p {name}"
    if os.path.exists(name):
        return f"a command comes first: relayout opt {name}"
    if name in OTHER_COMMANDS:
        return f"there is {OTHER_COMMANDS[name]}"
    if name.startswith("-"):
        owner = next((each for each in COMMANDS if name in parser_of(each).option_names), None)
        if owner is not None:
            return f"a command comes first: relayout {owner} {name}"
        known = [option for each in COMMANDS for option in parser_of(each).option_names]
        close = nearest(name, (*known, *_OPTIONS))
        if close is not None:
            return f"did you mean {close}? a command comes first: relayout COMMAND {close}"
    close = nearest(name, (*COMMANDS, *_OPTIONS, "help"))
    return f"did you mean {close}?" if close else f"one of {', '.join(COMMANDS)}"
