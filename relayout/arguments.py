"""Parsing of arguments: wrong ones are diagnostics with the nearest known name, and exit code 2."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from dialect_utils.text import Diagnostic, nearest
from relayout.console import Console, UsageError


def usage_error(message: str, hint: str | None = None) -> UsageError:
    """Returns an error about the command."""
    return UsageError(Diagnostic(message, hint=hint))


@dataclass(frozen=True, slots=True)
class Command:
    """Is one command: its arguments, what it does with them, and two examples that run."""

    name: str
    summary: str
    examples: tuple[str, str]
    add_arguments: Callable[[Parser], None]
    run: Callable[[argparse.Namespace, Console], int]


class Parser(argparse.ArgumentParser):
    """Raises UsageError where argparse would exit, and remembers option names for hints."""

    def __init__(self, command: Command) -> None:
        examples = "\n".join(f"  {example}" for example in command.examples)
        super().__init__(
            prog=f"relayout {command.name}",
            description=command.summary,
            epilog=f"examples:\n{examples}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self._option_names: list[str] = ["-h", "--help"]

    def option(self, *names: str, **settings: Any) -> None:
        """Adds an option or a positional argument, as `add_argument` does."""
        self._option_names += [name for name in names if name.startswith("-")]
        self.add_argument(*names, **settings)

    def read(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Parses arguments; raises UsageError for what is unknown or missing."""
        namespace, unknown = self.parse_known_intermixed_args(arguments)
        if not unknown:
            return namespace
        if not unknown[0].startswith("-"):
            raise usage_error(f"unexpected argument {unknown[0]}", f"{self.prog} --help shows what it takes")
        name = unknown[0].partition("=")[0]
        close = nearest(name, self._option_names)
        hint = f"did you mean {close}?" if close else f"{self.prog} --help shows all options"
        raise usage_error(f"unknown option {name}", hint)

    def error(self, message: str) -> NoReturn:
        """Raises what argparse finds wrong."""
        raise usage_error(message[:1].lower() + message[1:], f"{self.prog} --help shows what it takes")


def choice(*known: str) -> Callable[[str], str]:
    """Returns an argument type that takes one of the names; an error names the nearest."""

    def parse(text: str) -> str:
        if text in known:
            return text
        close = nearest(text, known)
        suggestion = f"; did you mean {close}?" if close else ""
        raise argparse.ArgumentTypeError(f"{text} is none of {', '.join(known)}{suggestion}")

    return parse


def choices(*known: str) -> Callable[[str], tuple[str, ...]]:
    """Returns an argument type that takes a comma-separated list of the names."""
    one = choice(*known)
    return lambda text: tuple(one(part.strip()) for part in text.split(","))


def count(text: str) -> int:
    """Is the argument type of a positive integer."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive integer")
    return int(text)


def add_shared_options(parser: Parser) -> None:
    """Adds what every command understands."""
    parser.option("--json", action="store_true", help="print one JSON object per input on a line of its own")
    parser.option("--traceback", action="store_true", help="show where in the program an error arose")
