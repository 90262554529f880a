"""The common parts of commands that compare modules: the options of a comparison, and the exit codes of verdicts."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from dialect_utils.engine_names import ENGINES
from dialect_utils.io.inputs import Input
from dialect_utils.ir import Module
from relayout.arguments import Parser, choice, choices, count, hexadecimal, natural, parsed, reject
from relayout.console import DONE, FAILED, WRONG_COMMAND, Console
from relayout.process import CHECKING_SECONDS_PER_MEGABYTE, seconds_for_bytes

if TYPE_CHECKING:
    from dialect_utils.execution import SavedArray
    from dialect_utils.verdict import Options

_PROOF = "proof"
_ENGINES = (_PROOF, *ENGINES)
# Listed here, too, because the verdicts load numpy.
_PRECISIONS = ("default", "highest")
UNKNOWN = 3
_EXIT_CODES = {"equal": DONE, "agrees": DONE, "close": DONE, "different": FAILED, "unknown": UNKNOWN}
# The answers that suffice for exit code 0, by the value of --require.
_UP_TO = "equal-up-to"
_ANSWERS = ("equal", _UP_TO, "agrees", "close")
_ENOUGH = {answer: _ANSWERS[: number + 1] for number, answer in enumerate(_ANSWERS)}
# The most severe of several verdicts decides the exit code.
_SEVERITY = (DONE, UNKNOWN, WRONG_COMMAND, FAILED)
# The share of the time budget of files that a proof may take; the rest is for reading them and for passes.
_PROOF_SHARE = 0.6
# The time of this process that execution has besides: for choosing data, comparing outputs and measuring power.
_EXECUTION_SECONDS = 15.0
# Modules that prove, execute and compare, for `Command.shared`.
SHARED = (
    "dialect_utils.execution.process",
    "dialect_utils.hlo.verification.signatures",
    "dialect_utils.verdict.examination",
    "dialect_utils.verdict.replay",
    "numpy.random",
)
EXIT_CODES = """verdicts and exit codes:
  0  equal (proved, or executed on data that leaves nothing open), equal up to the engine's choices in brackets,
     agrees (executed, no difference found) or
     close (equal over the real numbers, and few units in the last place apart)
  1  different
  3  unknown, and answers below --require, which is equal, equal-up-to, agrees or close (the default)
  2  the command is wrong, or a file cannot be read"""


def add_comparison_options(parser: Parser) -> None:
    """Adds the options of each comparison."""
    parser.option(
        "--engines",
        type=choices(*_ENGINES),
        help=f"of {', '.join(_ENGINES)}: a,b (default proof,xla, and interpreter for small modules)",
    )
    parser.option(
        "--require",
        type=choice(*_ENOUGH),
        default="close",
        help="the weakest answer that ends with exit code 0: equal (without brackets), equal-up-to, agrees or close",
    )
    parser.option("--power", metavar="N", type=natural, help="plant N mistakes to measure the data; 0: none")
    parser.option("--seeds", metavar="N", type=count, default=1, help="how often each kind of data is drawn")
    parser.option(
        "--field-seed",
        metavar="HEX",
        type=hexadecimal,
        help="repeats a comparison over the reals: the seed of --json or --verbose (default a new one)",
    )
    parser.option(
        "--compare",
        default="auto",
        help="auto, bits, ulp:N, rel:X or of-largest:X (default auto: bits where guaranteed)",
    )
    parser.option("--inputs", metavar="NPZ", help="inputs in0, in1, ... or by names, in place of random ones")
    parser.option(
        "--precision",
        type=choice(*_PRECISIONS),
        default=_PRECISIONS[0],
        help="default: dots of f32 may have operands in bf16 where a dump has them; highest: they may not",
    )
    parser.option(
        "--assume-elided-equal",
        action="store_true",
        help="constants that both texts elide ({...}) are equal where they have one name and shape",
    )


def reject_without_execution(arguments: Namespace) -> None:
    """Raises UsageError for an option that has no effect where nothing is executed."""
    if arguments.engines == (_PROOF,):
        reject(arguments, ("seeds", "power", "inputs", "precision"), "with --engines proof, which executes nothing")


def comparison_options(arguments: Namespace) -> Options:
    """Returns the options of each comparison; raises UsageError for a tolerance or a file that cannot be read."""
    # Imported here: --help and wrong commands work without numpy and jaxlib.
    from dialect_utils.execution import DEFAULT_MEMORY_BYTES, DEFAULT_TIMEOUT_SECONDS
    from dialect_utils.verdict import Options

    if arguments.compare != "auto":
        from dialect_utils.verdict import Tolerance

        parsed(Tolerance.parse, arguments.compare)
    if arguments.inputs is not None:
        from dialect_utils.execution.archives import read_archive

        # A file that cannot be read ends the command; the inputs of each pair are chosen by their names.
        read_archive(arguments.inputs, [""])
    return Options(
        engines=arguments.engines,
        seeds=arguments.seeds,
        compare=arguments.compare,
        timeout=arguments.timeout or DEFAULT_TIMEOUT_SECONDS,
        memory=arguments.memory or DEFAULT_MEMORY_BYTES,
        power=arguments.power,
        field_seed=arguments.field_seed,
        precision=arguments.precision,
    )


def comparison_seconds(arguments: Namespace, files: Iterable[Input]) -> float:
    """Returns the time budget of the comparison of files: --timeout, or one by their sizes, with time for execution."""
    size = sum(each.size for each in files)
    limit: float = arguments.timeout or 0.0
    return limit or seconds_for_bytes(size, CHECKING_SECONDS_PER_MEGABYTE) + _EXECUTION_SECONDS


def proof_seconds(arguments: Namespace, seconds: float) -> float:
    """Returns the time that a proof may take of the time budget of a comparison."""
    limit: float = arguments.timeout or seconds - _EXECUTION_SECONDS
    return _PROOF_SHARE * limit


def own_inputs(arguments: Namespace, module: Module, console: Console) -> tuple[SavedArray, ...] | None:
    """Returns the user's inputs in the order of a module's parameters, and prints notes about other arrays."""
    if arguments.inputs is None:
        return None
    # Imported here: few checks have inputs of their own.
    from dialect_utils.execution.named import arguments_of, read_inputs

    arrays, notes = read_inputs([arguments.inputs], arguments_of(module))
    console.diagnose(notes)
    return tuple(arrays)


def exit_code(verdict: str, choices: Collection[str], required: str) -> int:
    """Returns the exit code of a verdict that leaves these choices open, by the value of --require."""
    code = _EXIT_CODES[verdict]
    answer = _UP_TO if choices else verdict
    return code if code != DONE or answer in _ENOUGH[required] else UNKNOWN


def most_severe(codes: Iterable[int]) -> int:
    """Returns the most severe of the exit codes of several comparisons."""
    return max(codes, key=_SEVERITY.index, default=DONE)
