"""`relayout print`: modules as short texts for people."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from dialect_utils.io.files import encode
from dialect_utils.io.inputs import Input
from dialect_utils.tools.printing import DETAILS, format_short
from relayout.arguments import Command, Parser, add_input_options, add_limits, choices
from relayout.batch.run import add_batch_options
from relayout.console import DONE, Console, print_json
from relayout.output import write_output
from relayout.per_module import each_module


def _add_arguments(parser: Parser) -> None:
    parser.option(
        "files",
        metavar="FILE",
        nargs="*",
        help="HLO or StableHLO in any format, or a dump directory; - is standard input",
    )
    parser.option("--computation", metavar="NAME", help="print this computation, function or region only")
    parser.option(
        "--keep",
        metavar="LIST",
        type=choices(*DETAILS),
        default=(),
        help=f"what is not left out or made shorter, of {','.join(DETAILS)}",
    )
    add_input_options(parser)
    add_batch_options(parser)
    add_limits(parser, "for each FILE (default 9, more for large ones)")


def _targets(inputs: Sequence[Input], arguments: Namespace) -> dict[str, str]:
    return {}


def _run(read: Input, target: str | None, arguments: Namespace, console: Console) -> int:
    text = format_short(read.module(), keep=arguments.keep, computation=arguments.computation)
    if arguments.json:
        print_json({"file": read.path, "module": text})
        return DONE
    # A comment distinguishes the texts of several modules.
    heading = f"// {read.name}\n" if arguments.has_several else ""
    write_output(target, encode(heading + text))
    return DONE


COMMAND = Command(
    name="print",
    summary="prints modules with short names and without metadata, or one computation",
    examples=(
        "relayout print examples/attention_tpu.hlo",
        "relayout print examples/attention_tpu.hlo --computation main.4 --keep names",
    ),
    add_arguments=_add_arguments,
    **each_module(_run, _targets),
)
