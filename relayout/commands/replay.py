"""`relayout replay`: checks the certificate of a proof that two modules are equal."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from dialect_utils.io.files import read_bytes, read_module
from dialect_utils.io.inputs import named_input
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.framework.pipeline import verify
from relayout.arguments import Command, Parser, add_limits, undivided
from relayout.console import DONE, Console, print_json
from relayout.process import CHECKING_SECONDS_PER_MEGABYTE, seconds_for_bytes


def _add_arguments(parser: Parser) -> None:
    parser.option("first", metavar="FILE", help="the first module")
    parser.option("last", metavar="FILE", help="the module that computes the same")
    parser.option("certificate", metavar="CERTIFICATE", help="what `relayout check --certificate` wrote for both")
    add_limits(parser, "for the whole check (default 9, more for large files)")


def _files(arguments: Namespace) -> Sequence[str]:
    return arguments.first, arguments.last, arguments.certificate


def _seconds(arguments: Namespace) -> float:
    size = sum(named_input(file).size for file in _files(arguments))
    return arguments.timeout or seconds_for_bytes(size, CHECKING_SECONDS_PER_MEGABYTE)


def _run(arguments: Namespace, console: Console) -> int:
    modules = [read_module(file) for file in (arguments.first, arguments.last)]
    for module in modules:
        verify(module)
    # Imported here: --help and wrong commands work without numpy.
    from dialect_utils.verdict.certificate import read_certificate
    from dialect_utils.verdict.outcome import up_to
    from dialect_utils.verdict.replay import replay

    certificate = read_certificate(read_bytes(arguments.certificate).decode(errors="replace"))
    replayed = replay(modules, certificate)
    if not replayed.is_equal:
        open_ = [f"output {i}" for i, level in enumerate(replayed.outputs) if level is None]
        open_ += [] if replayed.effects is not None else ["the side effects"]
        reason = replayed.refused or f"the steps do not prove {', '.join(open_)} equal"
        raise DiagnosticError(Diagnostic(f"{arguments.certificate} does not replay: {reason}"))
    choices = replayed.all_choices
    if arguments.json:
        print_json({"verdict": "equal", "up_to": list(choices), "steps": len(certificate.steps)})
    else:
        print(f"equal{up_to(choices)}: all {len(certificate.steps)} steps replay")
    return DONE


COMMAND = Command(
    name="replay",
    summary="checks the certificate of a proof that two modules are equal, without the proof's code",
    examples=(
        "relayout check examples/negate.hlo examples/negate.hlo --certificate p.json && "
        "relayout replay examples/negate.hlo examples/negate.hlo p.json",
        "relayout check examples/negate.hlo examples/negate.hlo --engines proof --certificate q.json && "
        "relayout replay examples/negate.hlo examples/negate.hlo q.json --json",
    ),
    add_arguments=_add_arguments,
    **undivided(_run, _files, _seconds),
)
