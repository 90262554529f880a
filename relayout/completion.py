"""Completion of the command line in shells, made by shtab from the parsers of all commands."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from relayout.arguments import Command, Parser, choice

SHELLS = ("bash", "zsh", "tcsh")

# What the arguments of these names hold: files and directories.
_FILES = ("FILE", "OUT", "NPZ", "TOML", "OLD")
_DIRECTORIES = ("DIR",)


def completion(commands: Mapping[str, tuple[Parser, Command]], shell: str) -> str:
    """Returns the script that completes `relayout` in a shell; raises UsageError for another shell."""
    # Imported here: only this command needs it.
    import shtab

    from passes.framework.registry import pass_names
    from relayout.arguments import usage_error

    try:
        choice(*SHELLS)(shell)
    except argparse.ArgumentTypeError as error:
        raise usage_error(str(error)) from None
    root = argparse.ArgumentParser(prog="relayout", add_help=True)
    root.add_argument("--version", action="store_true", help="show the version")
    made = iter(commands.values())
    below = root.add_subparsers(parser_class=lambda **_: next(made)[0])  # type: ignore[call-overload]  # makes parsers
    for name, (parser, command) in commands.items():
        below.add_parser(name, help=command.summary)
        for action in parser.added:
            if action.metavar in _FILES:
                action.complete = shtab.FILE  # type: ignore[attr-defined]  # shtab's way to say so
            elif action.metavar in _DIRECTORIES:
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]  # shtab's way to say so
            elif action.dest == "passes":
                action.choices = pass_names()  # the first pass of a pipeline, as far as a shell can know
    script: str = shtab.complete(root, shell)
    return script.rstrip("\n")
