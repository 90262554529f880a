"""`relayout convert`: modules in another format, between HLO and StableHLO too."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence

from dialect_utils.io.dump_names import without_endings
from dialect_utils.io.files import decode
from dialect_utils.io.inputs import Input
from dialect_utils.tools.conversion import FORMS, Form, in_dialect_of, lost_layouts, write
from passes.framework.pipeline import verify
from relayout.arguments import Command, Parser, add_input_options, add_limits, choice, usage_error
from relayout.batch.run import add_batch_options
from relayout.console import DONE, Console, print_json
from relayout.output import COMPRESSED, STANDARD_OUTPUT, write_output
from relayout.per_module import each_module, output_files

# The endings of files of each form; the first is that of new files.
_ENDINGS: dict[Form, tuple[str, ...]] = {
    "hlo": (".hlo", ".txt"),
    "pb": (".hlo.pb", ".pb"),
    "stablehlo": (".mlir",),
    "bytecode": (".mlirbc", ".bc"),
    "portable": (".mlirbc", ".bc"),
}
_TEXTS: tuple[Form, ...] = ("hlo", "stablehlo")


def _add_arguments(parser: Parser) -> None:
    parser.option(
        "files",
        metavar="FILE",
        nargs="*",
        help="HLO or StableHLO in any format, or a dump directory; - is standard input",
    )
    parser.option(
        "--to",
        type=choice(*FORMS),
        help="hlo, pb (HloModuleProto), stablehlo, bytecode, portable (an artifact); default: by the ending of OUT",
    )
    add_input_options(parser)
    add_batch_options(parser)
    parser.option("-o", "--output", metavar="OUT", help="a file, or a directory for several modules: DIR/")
    parser.option("--locations", action="store_true", help="print StableHLO with locations: the names of HLO")
    add_limits(parser, "for each FILE (default 9, more for large ones)")


def _targets(inputs: Sequence[Input], arguments: Namespace) -> dict[str, str]:
    output, form = arguments.output, _form(arguments)
    if arguments.locations and FORMS[form][0] == "hlo":
        raise usage_error("--locations is for StableHLO, HLO always has its names")
    if output in (None, STANDARD_OUTPUT):
        if form not in _TEXTS and sys.stdout.isatty():
            raise usage_error(f"--to {form} writes no text for a terminal", "write it to a file with -o OUT")
        if form not in _TEXTS and arguments.json:
            raise usage_error(f"--json prints text, and --to {form} writes none", "write it to a file with -o OUT")
        return {}

    def check() -> None:
        if output.endswith(COMPRESSED):
            raise usage_error(f"-o {output}: what is written is not compressed", "leave the ending out")
        if _form_of(output) not in (None, form) and not output.endswith(_ENDINGS[form]):
            raise usage_error(f"-o {output}: {form} has another ending, such as {_ENDINGS[form][0]}")

    return output_files(inputs, output, lambda name: without_endings(name) + _ENDINGS[form][0], check)


def _form(arguments: Namespace) -> Form:
    """Returns the form that --to names, or that of the ending of OUT; raises UsageError for neither."""
    form: Form | None = arguments.to or _form_of(arguments.output or "")
    if form is None:
        raise usage_error("expected --to FORM, or an OUT with the ending of one", f"one of {', '.join(FORMS)}")
    return form


def _form_of(output: str) -> Form | None:
    return next((form for form, endings in _ENDINGS.items() if output.endswith(endings)), None)


def _run(read: Input, target: str | None, arguments: Namespace, console: Console) -> int:
    form = _form(arguments)
    module = read.with_constants().module()
    verify(module)
    notes = lost_layouts(module, form)
    console.diagnose(notes)
    converted = in_dialect_of(form, module)
    verify(converted)
    made = write(converted, form, locations=arguments.locations)
    if target is not None or not arguments.json:
        write_output(target, made)
    if arguments.json:
        text = {"module": decode(made)} if target is None else {}
        print_json({"file": read.path, "form": form, "notes": [note.message for note in notes], **text})
    return DONE


COMMAND = Command(
    name="convert",
    summary="writes modules in another format: HLO or StableHLO, text or binary",
    examples=(
        "relayout convert examples/negate.hlo --to stablehlo",
        "relayout convert examples/attention.mlir -o attention.hlo.pb --json",
    ),
    add_arguments=_add_arguments,
    **each_module(_run, _targets),
)
