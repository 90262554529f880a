"""`relayout count`: how many operations modules have, and the bytes that these make."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from dialect_utils.io.inputs import Input
from dialect_utils.tools.counting import KEYS, Counts, count_operations, sum_of
from dialect_utils.tools.extraction import find_function
from relayout.arguments import (
    Command,
    Parser,
    add_input_options,
    add_limits,
    choices,
    chosen_inputs,
    count,
    files_or_input,
    usage_error,
)
from relayout.batch.unit import Unit, Work
from relayout.console import DONE, Console, print_failure, print_json
from relayout.process import REWRITING_SECONDS_PER_MEGABYTE, seconds_for_bytes
from relayout.report.terminal import format_table


def _add_arguments(parser: Parser) -> None:
    parser.option(
        "files",
        metavar="FILE",
        nargs="*",
        help="HLO or StableHLO in any format, or a dump directory; - is standard input",
    )
    parser.option(
        "--by", metavar="LIST", type=choices(*KEYS), default=("opcode",), help=f"some of {','.join(KEYS)} (opcode)"
    )
    parser.option("--computation", metavar="NAME", help="count this computation, function or region only")
    parser.option("--top", metavar="N", type=count, help="print the N most frequent rows")
    add_input_options(parser)
    add_limits(parser, "for all FILEs (default 9, more for large ones)")


def _plan(arguments: Namespace, console: Console) -> Sequence[Unit]:
    """Returns one unit of all modules: their operations are counted together."""
    if len(set(arguments.by)) < len(arguments.by):
        raise usage_error(f"--by {','.join(arguments.by)} names a key twice")
    inputs = chosen_inputs(files_or_input(arguments.files), arguments, console)
    size = sum(each.size for each in inputs)
    seconds = arguments.timeout or seconds_for_bytes(size, REWRITING_SECONDS_PER_MEGABYTE)
    return [Unit(tuple(inputs), seconds=seconds)]


@contextmanager
def _open(arguments: Namespace, console: Console) -> Iterator[Work]:
    yield lambda unit: _run(unit.inputs, arguments, console)


def _run(inputs: Sequence[Input], arguments: Namespace, console: Console) -> int:
    together = Counts(arguments.by)
    statuses = [_attempt(each, together, arguments, console) for each in inputs]
    if not arguments.json and DONE in statuses:
        _print_table(together, statuses.count(DONE), arguments.top)
    return max(statuses)


def _attempt(read: Input, together: Counts, arguments: Namespace, console: Console) -> int:
    failed = partial(print_failure, {"file": read.path}) if arguments.json else None
    return console.attempt(lambda: _count(read, together, arguments), failed)


def _count(read: Input, together: Counts, arguments: Namespace) -> int:
    module = read.module()
    functions = None if arguments.computation is None else [find_function(module, arguments.computation)]
    counts = count_operations(module, arguments.by, functions)
    together.add(counts)
    if arguments.json:
        total = counts.total
        rows = [
            {**dict(zip(counts.keys, names, strict=True)), "operations": tally.operations, "bytes": tally.bytes}
            for names, tally in counts.sorted()[: arguments.top]
        ]
        print_json({"file": read.path, "operations": total.operations, "bytes": total.bytes, "rows": rows})
    return DONE


def _print_table(counts: Counts, modules: int, top: int | None) -> None:
    rows = counts.sorted()
    shown, others = rows[:top], [tally for _, tally in rows[len(rows[:top]) :]]
    blanks = [""] * (len(counts.keys) - 1)
    listed = [(tally, list(names)) for names, tally in shown]
    if others:
        listed.append((sum_of(others), [f"{len(others)} others", *blanks]))
    listed.append((counts.total, ["total" if modules == 1 else f"total of {modules} modules", *blanks]))
    width = max(len("bytes"), *(len(str(tally.bytes)) for tally, _ in listed))
    cells = [[str(tally.operations), str(tally.bytes).rjust(width), *names] for tally, names in listed]
    print("\n".join(format_table(["operations", "bytes".rjust(width), *counts.keys], cells)))


COMMAND = Command(
    name="count",
    summary="counts operations by opcode, shape, element type or computation, and the bytes that they make",
    examples=(
        "relayout count examples/attention_tpu.hlo",
        "relayout count examples --by opcode,type --top 5",
    ),
    add_arguments=_add_arguments,
    plan=_plan,
    open=_open,
)
