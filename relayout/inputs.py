"""What commands share that read modules: their options, and the list of modules that the user named."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from dialect_utils.io.inputs import Input, Selection, SelectionError, find_inputs
from relayout.arguments import Parser
from relayout.console import Console, UsageError


def add_input_options(parser: Parser) -> None:
    """Adds what chooses modules of a directory."""
    parser.option(
        "--stage",
        metavar="NAME",
        action="append",
        default=[],
        help="of a dump directory: before_optimizations, after_optimizations, a pass",
    )
    parser.option(
        "--module", metavar="NAME", action="append", default=[], help="of a dump directory: jit_f, module_0003, jit_*"
    )


def chosen_inputs(files: Sequence[str], arguments: Namespace, console: Console) -> list[Input]:
    """Returns the modules that files, directories and patterns name, and shows what was passed over.

    Raises DiagnosticError for a directory that holds no module, UsageError where --stage or --module choose none of it.
    """
    try:
        found = find_inputs(files, Selection(tuple(arguments.stage), tuple(arguments.module)))
    except SelectionError as error:
        raise UsageError(error.diagnostics) from error
    console.diagnose(found.notes)
    return list(found.modules)
