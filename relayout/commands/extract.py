"""`relayout extract`: a part of a module as a module of its own."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from dialect_utils.io.files import encode
from dialect_utils.io.inputs import Input
from dialect_utils.ir import Value
from dialect_utils.tools.extraction import find_part, part_as_module
from passes.framework.pipeline import verify
from relayout.arguments import Command, Parser, add_input_options, add_limits, count, natural, usage_error
from relayout.console import DONE, Console, print_json
from relayout.output import COMPRESSED, STANDARD_OUTPUT, write_output
from relayout.per_module import each_module


def _add_arguments(parser: Parser) -> None:
    parser.option("files", metavar="FILE", nargs=1, help="HLO or StableHLO in any format; - is standard input")
    parser.option("value", metavar="VALUE", nargs="?", help="the name of an operation or of a computation")
    parser.option("--computation", metavar="NAME", help="where VALUE is; without VALUE: what is extracted")
    parser.option("--up-to", action="store_true", help="with all operations that VALUE needs")
    parser.option("--before", metavar="N", type=natural, help="with the operations up to N steps before VALUE")
    parser.option("--around", metavar="N", type=count, help="with the operations up to N steps before and after VALUE")
    add_input_options(parser)
    parser.option("-o", "--output", metavar="OUT", help="write the text here")
    add_limits(parser, "for FILE (default 9, more for a large one)")


def _targets(inputs: Sequence[Input], arguments: Namespace) -> dict[str, str]:
    _check(arguments)
    if len(inputs) > 1:
        hint = "--module NAME and --stage NAME choose one"
        raise usage_error(f"{arguments.files[0]} has {len(inputs)} modules, and VALUE is in one", hint)
    if arguments.output in (None, STANDARD_OUTPUT):
        return {}
    if arguments.output.endswith(COMPRESSED):
        raise usage_error(f"-o {arguments.output}: what is written is not compressed", "leave the ending out")
    return {inputs[0].path: arguments.output}


def _check(arguments: Namespace) -> None:
    """Raises UsageError for options that exclude each other."""
    if arguments.value is None and arguments.computation is None:
        raise usage_error("expected a VALUE", "relayout print FILE shows the names")
    steps = {"--up-to": arguments.up_to or None, "--before": arguments.before, "--around": arguments.around}
    given = [name for name, value in steps.items() if value is not None]
    if len(given) > 1:
        raise usage_error(f"{' and '.join(given)} choose different operations", "leave one of them out")
    if given and arguments.value is None:
        raise usage_error(f"{given[0]} is about a VALUE, and a whole computation is extracted", "name a VALUE in it")


def _run(read: Input, target: str | None, arguments: Namespace, console: Console) -> int:
    module = read.module()
    verify(module)
    before = None if arguments.up_to else arguments.around or arguments.before or 0
    try:
        part = find_part(
            module,
            arguments.value,
            computation=arguments.computation,
            before=before,
            after=arguments.around or 0,
        )
    except ValueError as error:
        raise usage_error(f"{arguments.value} is not an operation: {error}") from None
    made = part_as_module(module, part)
    verify(made)
    if target is not None or not arguments.json:
        write_output(target, encode(made.text()))
    if arguments.json:
        text = {} if target is not None else {"module": made.text()}
        described = {"inputs": _described(part.inputs), "results": _described(part.results)}
        print_json({"file": read.path, "computation": part.function.name, **described, **text})
    return DONE


def _described(values: Sequence[Value]) -> list[dict[str, str]]:
    return [{"name": value.name, "shape": str(value.shape)} for value in values]


COMMAND = Command(
    name="extract",
    summary="makes a module of one operation or computation, or of what is around it",
    examples=(
        "relayout extract examples/attention_tpu.hlo fusion.17",
        "relayout extract examples/attention.mlir 10 --up-to --json",
    ),
    add_arguments=_add_arguments,
    **each_module(_run, _targets),
)
