"""The program `relayout`: finds the command, parses its arguments, turns errors into exit codes."""

from __future__ import annotations

import importlib
import os
import sys
import traceback
from collections.abc import Sequence

from dialect_utils.text import nearest
from relayout import __version__
from relayout.arguments import Command, Parser, add_shared_options, usage_error
from relayout.console import DONE, WRONG_COMMAND, Console, UsageError

COMMANDS = ("opt", "check", "run", "explain", "index", "bitcast")

# What a shell reports for a program ended by SIGINT and by SIGPIPE.
_INTERRUPTED = 130
_CLOSED_PIPE = 141

_HELP = """usage: relayout COMMAND ...

Layout passes for XLA HLO text and StableHLO: annotate tiles, rewrite them explicitly, check bit for bit.

commands:
{commands}

options:
  -h, --help  show this help
  --version   show the version

examples:
  relayout explain 'f32[3,5]{{1,0:T(2,2)}}'
  relayout opt --help"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line and returns the exit code: 0 done, 1 the input is wrong, 2 the command is."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    _open_closed_streams()
    console = Console(show_traceback="--traceback" in arguments)
    try:
        status = _run(arguments, console)
        sys.stdout.flush()
    except UsageError as error:
        console.diagnose(error.diagnostics)
        return WRONG_COMMAND
    except KeyboardInterrupt:
        if console.show_traceback:
            traceback.print_exc()
        return _INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return _CLOSED_PIPE
    except OSError as error:  # a full disk
        _drop_output()
        return console.fail(error)
    return status


def _open_closed_streams() -> None:
    """Gives streams that the caller closed (`>&-`) something to read from and write to."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 (open as long as the process)


def _drop_output() -> None:
    """Sends what is still buffered nowhere: Python would complain once more when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(arguments: Sequence[str], console: Console) -> int:
    if not arguments:
        raise usage_error("expected a command", f"one of {', '.join(COMMANDS)}; relayout --help shows more")
    name, rest = arguments[0], arguments[1:]
    if name in ("-h", "--help", "help"):
        print(_help())
        return DONE
    if name == "--version":
        print(f"relayout {__version__}")
        return DONE
    command = _load(name)
    parser = Parser(command)
    command.add_arguments(parser)
    add_shared_options(parser)
    try:
        parsed = parser.read(rest)
    except SystemExit:  # argparse printed the help
        return DONE
    return console.attempt(lambda: command.run(parsed, console))


def _load(name: str) -> Command:
    if name not in COMMANDS:
        close = nearest(name, COMMANDS)
        what = "option" if name.startswith("-") else "command"
        hint = f"did you mean {close}?" if close else f"one of {', '.join(COMMANDS)}"
        raise usage_error(f"unknown {what} {name}", hint)
    command: Command = importlib.import_module(f"relayout.commands.{name}").COMMAND
    return command


def _help() -> str:
    commands = [_load(name) for name in COMMANDS]
    return _HELP.format(commands="\n".join(f"  {command.name:9} {command.summary}" for command in commands))
