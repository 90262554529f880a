"""The common parts of commands that compare modules: the options of a comparison, and the exit codes of verdicts."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dialect_utils.engine_names import ENGINES, REQUIRED, suffices
from dialect_utils.io.inputs import Input
from dialect_utils.ir import Module
from relayout.command import LimitOptions
from relayout.console import DONE, FAILED, WRONG_COMMAND, Console
from relayout.options import choice, choices, count, excludes, flag, hexadecimal, natural, option, parsed
from relayout.process import CHECKING_SECONDS_PER_MEGABYTE

if TYPE_CHECKING:
    from dialect_utils.execution import SavedArray
    from dialect_utils.verdict import DotPrecision, Method, Options

_PROOF: Method = "proof"
_ENGINES: tuple[Method, ...] = (_PROOF, *ENGINES)
# Listed here, too, because the verdicts load numpy.
_PRECISIONS: tuple[DotPrecision, ...] = ("default", "highest")
UNKNOWN = 3
_EXIT_CODES = {"equal": DONE, "equal-if": DONE, "agrees": DONE, "close": DONE, "different": FAILED, "unknown": UNKNOWN}
# The most severe of several verdicts decides the exit code.
_SEVERITY = (DONE, UNKNOWN, WRONG_COMMAND, FAILED)
# The share of the time budget of files that a proof may take; the rest is for reading them and for passes.
_PROOF_SHARE = 0.6
# The time of this process that execution has besides: for choosing data, comparing outputs and measuring power.
_EXECUTION_SECONDS = 15.0
# Modules that prove, execute and compare, for `Command.shared`.
SHARED = (
    "dialect_utils.execution.process",
    "dialect_utils.hlo.verification.attributes",
    "dialect_utils.verdict.examination",
    "dialect_utils.verdict.replay",
    "numpy.random",
)
EXIT_CODES = """verdicts and exit codes:
  0  equal (proved, or executed on data that leaves nothing open), equal up to the engine's choices in brackets,
     equal if (proved for data without some values, such as NaN), agrees (executed, no difference found) or
     close (equal over the real numbers, and few units in the last place apart)
  1  different
  3  unknown, and answers below --require, which is equal, equal-up-to, equal-if, agrees or close (the default)
  2  the command is wrong, or a file cannot be read"""


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions:
    """Each comparison of modules."""

    engines: tuple[Method, ...] | None = option(
        "ENGINES",
        f"of {', '.join(_ENGINES)}: a,b (default proof,xla, and interpreter for small modules)",
        choices(*_ENGINES),
    )
    require: str = option(
        "REQUIRE",
        "the weakest answer with exit code 0: equal (without brackets), equal-up-to, equal-if, agrees or close",
        choice(*REQUIRED),
        default="close",
    )
    power: int | None = option("N", "plant N mistakes to measure the data; 0: none", natural)
    seeds: int = option("N", "how often each kind of data is drawn", count, default=1)
    field_seed: int | None = option(
        "HEX", "repeats a comparison over the reals: the seed of --json or --verbose (default a new one)", hexadecimal
    )
    compare: str = option(
        "COMPARE", "auto, bits, ulp:N, rel:X or of-largest:X (default auto: bits where guaranteed)", default="auto"
    )
    inputs: str | None = option("NPZ", "inputs in0, in1, ... or by names, in place of random ones")
    precision: DotPrecision = option(
        "PRECISION",
        "default: dots of f32 may have operands in bf16 where a dump has them; highest: they may not",
        choice(*_PRECISIONS),
        default=_PRECISIONS[0],
    )
    assume_elided_equal: bool = flag(
        "constants that both texts elide ({...}) are equal where they have one name and shape"
    )

    def checked(self, limits: LimitOptions) -> Options:
        """Returns the options of each comparison; raises UsageError for a wrong tolerance or an unreadable file."""
        from dialect_utils.execution import DEFAULT_MEMORY_BYTES, DEFAULT_TIMEOUT_SECONDS
        from dialect_utils.verdict import Options

        if self.compare != "auto":
            from dialect_utils.verdict import Tolerance

            parsed(Tolerance.parse, self.compare)
        if self.inputs is not None:
            from dialect_utils.execution.archives import read_archive

            # A file that cannot be read ends the command; the inputs of each pair are chosen by their names.
            read_archive(self.inputs, [""])
        return Options(
            engines=self.engines,
            seeds=self.seeds,
            compare=self.compare,
            timeout=limits.timeout or DEFAULT_TIMEOUT_SECONDS,
            memory=limits.memory or DEFAULT_MEMORY_BYTES,
            power=self.power,
            field_seed=self.field_seed,
            precision=self.precision,
        )

    def exit_code(self, verdict: str, choices: Collection[str]) -> int:
        """Returns the exit code of a verdict that leaves these choices open, by the value of --require."""
        code = _EXIT_CODES[verdict]
        return code if code != DONE or suffices(verdict, choices, self.require) else UNKNOWN


# Nothing is executed with these engines.
WITHOUT_EXECUTION = excludes(
    "engines",
    ("seeds", "power", "inputs", "precision"),
    "with --engines proof, which executes nothing",
    value=(_PROOF,),
)


def comparison_seconds(limits: LimitOptions, files: Iterable[Input]) -> float:
    """Returns the time budget for comparing files: --timeout, or a default for their sizes that includes execution."""
    return limits.timeout or limits.seconds(files, CHECKING_SECONDS_PER_MEGABYTE) + _EXECUTION_SECONDS


def proof_seconds(limits: LimitOptions, seconds: float) -> float:
    """Returns the time that a proof may take of the time budget of a comparison."""
    return _PROOF_SHARE * (limits.timeout or seconds - _EXECUTION_SECONDS)


def inputs_for(file: str | None, module: Module, console: Console) -> tuple[SavedArray, ...] | None:
    """Returns the arrays of a file in the order of a module's parameters, and prints notes about other arrays."""
    if file is None:
        return None
    from dialect_utils.execution.named import arguments_of, read_inputs

    arrays, notes = read_inputs([file], arguments_of(module))
    console.diagnose(notes)
    return tuple(arrays)


def most_severe(statuses: Iterable[int]) -> int:
    """Returns the most severe of the exit codes of several comparisons."""
    return max(statuses, key=_SEVERITY.index, default=DONE)
