"""Command lines as commands: a wrong one is a diagnostic with the nearest known name, and exit code 2."""

from __future__ import annotations

import argparse
import os
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from shutil import get_terminal_size
from textwrap import fill
from typing import Any, NoReturn

from dialect_utils.text import nearest
from relayout import __version__
from relayout.command import Command
from relayout.options import Option, declared, given, made, usage_error, values_of

# The values that LLVM's tools accept for a flag.
_TRUE, _FALSE = ("true", "1"), ("false", "0")
_ALL = "--help-all"
# The lines of a help, and how a usage line writes a positional argument by its `nargs`.
_SCREEN = 40
_NUMBERS = {None: "{0}", "?": "[{0}]", "*": "[{0} ...]", "+": "{0} ...", 1: "{0}"}
# The options of many commands come last in the help.
_LAST = ("selection", "batch", "ci", "limits", "force", "color", "json", "traceback")


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


class Parser(argparse.ArgumentParser):
    """The reader of a command's options. Raises UsageError where argparse would exit."""

    def __init__(
        self, kind: type[Command], summary: str, name: str, forms: Mapping[str, str], *, is_shown: bool
    ) -> None:
        examples = "\n".join(f"  {example}" for example in kind.examples)
        super().__init__(
            prog=f"relayout {name}",
            description=summary,
            epilog=f"{kind.notes}\n\n{examples_heading()}\n{examples}",
            # Without a width argparse asks for the terminal's with each option.
            formatter_class=partial(argparse.RawDescriptionHelpFormatter, width=get_terminal_size().columns - 2),
            allow_abbrev=False,
        )
        self.kind = kind
        # The commands that have an option.
        self.owners: Callable[[str], Sequence[str]] = lambda _: ()
        self.option_names: list[str] = ["-h", "--help", _ALL]
        self.added: list[argparse.Action] = []
        # The program reads the options that choose a form before a command's own.
        if is_shown:
            self.added += [self.add_argument(each, action="store_true", help=said) for each, said in forms.items()]
        for each in sorted(declared(kind), key=lambda each: (each.group or each.name) in _LAST):
            for one in each.options:
                self._add(each.name, one, each.default)
        version = f"relayout {__version__}"
        self.added.append(self.add_argument("--version", action="version", version=version, help="show the version"))
        self.option_names += [*forms, "--version"]
        if is_shown:
            self.added.sort(key=lambda each: bool(each.option_strings))

    def format_every_option(self) -> str:
        """Returns the help of all options."""
        return super().format_help()

    def format_help(self) -> str:
        """Returns a screen of help: the first options in the order of their declaration, the names of the others."""
        counts = range(len(self.added) + 1)
        count = bisect_right(counts, _SCREEN, key=lambda count: self._help(count).count("\n")) - 1
        return self._help(max(count, 0))

    def _help(self, count: int) -> str:
        formatter = self._get_formatter()
        positional = [each.options[0] for each in declared(self.kind) if each.options[0].is_positional]
        words = [_NUMBERS[each.number].format(each.metavar) for each in positional]
        formatter.add_usage(" ".join([self.prog, "[OPTION ...]", *words]), [], [])
        formatter.add_text(self.description)
        formatter.start_section("arguments and options")
        formatter.add_arguments(self.added[:count])
        formatter.end_section()
        rest = ", ".join(each.option_strings[-1] for each in self.added[count:])
        width = get_terminal_size().columns - 2
        formatter.add_text(
            fill(f"{self.prog} {_ALL} explains also: {rest}", width, break_on_hyphens=False) if rest else None
        )
        formatter.add_text(self.epilog)
        return formatter.format_help()

    def _add(self, dest: str, one: Option, default: object) -> None:
        """Adds an option, or a positional argument, as argparse declares it."""
        settings: dict[str, Any] = {"help": one.help}
        if one.is_positional:
            settings |= {"nargs": one.number, "metavar": one.metavar}
        else:
            settings |= {"dest": dest, "default": [] if one.is_repeated else default}
        if one.metavar and one.names:
            settings |= {"metavar": one.metavar, "type": one.read, "action": "append" if one.is_repeated else "store"}
        elif one.names:
            settings |= {"const": one.constant, "action": "append_const" if one.is_repeated else "store_const"}
        self.added.append(self.add_argument(*(one.names or [dest]), **settings))
        self.option_names += one.names

    def read(self, arguments: Sequence[str]) -> Command:
        """Returns the command of a command line; raises UsageError for a wrong one."""
        written = [self._known_form(argument) for argument in arguments]
        written = [each for argument in written for each in self._flag(argument)]
        foreign = next((each for each in written if self._is_foreign(each)), None)
        namespace, unknown = self.parse_known_intermixed_args(written)
        if foreign is not None:
            unknown = [foreign]
        if unknown and not unknown[0].startswith("-"):
            raise usage_error(f"unexpected argument {unknown[0]}", f"{self.prog} --help shows what it takes")
        if unknown:
            name = unknown[0].partition("=")[0]
            raise usage_error(f"unknown option {name}", self._hint(name))
        command = made(self.kind, vars(namespace))
        if command.rules:
            values, found = values_of(command), given(command)
            for rule in command.rules:
                rule.check(values, found)
        return command

    def _known_form(self, argument: str) -> str:
        """Returns a known long option with two dashes: LLVM's tools take `-split-input-file`."""
        written = _two_dashes(argument)
        return written if written.partition("=")[0] in self.option_names else argument

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
        return is_attached and self.counterpart(name) is not None

    def counterpart(self, name: str) -> str | None:
        """Returns a hint for an option that another program spells differently, or None."""
        from relayout.habits import ANSWERS, OPTIONS

        written = _two_dashes(name)
        meant = OPTIONS.get(name, OPTIONS.get(written))
        if meant is not None and meant.replace(";", " ").replace(",", " ").split()[0] in self.option_names:
            return f"write {meant}"
        return ANSWERS.get(written) if "--passes" in self.option_names else None

    def _hint(self, name: str) -> str:
        from passes.framework.base import is_pass, pass_names

        if "--passes" in self.option_names and is_pass(name.lstrip("-")):
            return f"passes are given with -p: {self.prog} FILE -p {name.lstrip('-')}"
        if name in ("-p", "--passes"):
            return "passes make a module of their own: relayout opt FILE -p SPEC -o NEW"
        if re.fullmatch(r"-\d[\d,]*", name):
            return "an index is not negative: the first is 0"
        if name == "->":
            return "write the two shapes without it"
        meant = self.counterpart(name)
        if meant is not None:
            return meant
        if name == "--target" and "--passes" in self.option_names:
            return "a pass gives arrays the layouts of a target: -p annotate-layouts{target=NAME}"
        if owners := self.owners(name):
            return f"{name} is an option of {', '.join(owners)}"
        close = nearest(name, self.option_names)
        if close is None and "--passes" in self.option_names:
            step = nearest(name.lstrip("-"), pass_names())
            close = None if step is None else f"-p {step}"
        return f"did you mean {close}?" if close else f"{self.prog} --help shows all options"

    def error(self, message: str) -> NoReturn:
        """Raises UsageError with the message of argparse."""
        raise usage_error(message[:1].lower() + message[1:], f"{self.prog} --help shows what it takes")


def _two_dashes(argument: str) -> str:
    return argument if argument.startswith("--") or not argument.startswith("-") else f"-{argument}"
