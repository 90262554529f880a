"""Commands as values: a frozen dataclass whose fields are the options, with the work; and options that several have.

A command is a value because its options cross processes: the process that reads the command line, the children that
plan and work, and the machines of a cluster have the same ones.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar

from dialect_utils.io.files import STANDARD_INPUT, encode, function_of
from dialect_utils.io.inputs import Input, Selection, SelectionError, find_inputs, last_stages
from dialect_utils.processes import DEFAULT_MEMORY_BYTES
from relayout.batch.unit import Unit, Work
from relayout.console import COLOURS, DONE, FAILED, WRONG_COMMAND, Console, UsageError, print_failure
from relayout.options import Rule, argument, choice, count, flag, gigabytes, group, option, repeated, usage_error
from relayout.output import write_output
from relayout.process import REWRITING_SECONDS_PER_MEGABYTE, seconds_for_bytes

if TYPE_CHECKING:
    from relayout.supervisor.cache import Selected

T = TypeVar("T")
# The help of FILEs.
MODULES = "HLO or StableHLO in any format, or a dump directory; - is standard input"


def function_option() -> Any:
    """Returns the field of the option --function."""
    return option("NAME", "of StableHLO: the function that is the entry (default @main, or the only public one)")


@dataclass(frozen=True, kw_only=True)
class InputOptions:
    """The choice of modules of a directory, and of a function of each."""

    stage: tuple[str, ...] = repeated("NAME", "of a dump directory: before_optimizations, after_optimizations, a pass")
    module: tuple[str, ...] = repeated(
        "NAME", "of a dump directory, or of a log that prints several: jit_f, module_0003, jit_*"
    )
    function: str | None = function_option()

    def find(self, files: Sequence[str], console: Console | None, *, final: bool = False) -> list[Input]:
        """Returns the modules that files, directories and patterns name, and prints notes about skipped files.

        With `final` only the last stage of each program in a directory, unless --stage names others. Raises
        DiagnosticError for a directory without a module, UsageError where --stage or --module choose none.
        """
        try:
            found = find_inputs(files, Selection(self.stage, self.module))
        except SelectionError as error:
            raise UsageError(error.diagnostics) from error
        if console is not None:
            console.diagnose(found.notes)
        chosen, modules = function_of(self.function), found.modules
        last = last_stages(modules) if final and not self.stage else modules
        return [replace(each, wanted=(*each.wanted, *chosen)) for each in last]


@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """The limits of each process."""

    timeout: int | None = option("SECONDS", "for each FILE (default 9, more for large ones)", count)
    memory: int | None = option("GB", "what each process may take (default 4)", gigabytes)
    max_output: int | None = option("GB", "what may be printed and written for each FILE (default 2)", gigabytes)

    def seconds(self, inputs: Iterable[Input], per_megabyte: float) -> float:
        """Returns the time budget of modules: --timeout, or a default for their size."""
        return self.timeout or seconds_for_bytes(sum(each.size for each in inputs), per_megabyte)


@dataclass(frozen=True, kw_only=True)
class BatchOptions:
    """The work on several inputs."""

    jobs: int | None = option("N", "processes that share the FILEs (default: all cores, where it pays)", count)
    cluster: str | None = option("ADDRESS", "a Dask scheduler whose workers share the FILEs: tcp://HOST:8786")
    results: str | None = option("FILE", "write a row a module: .jsonl or .parquet, also a URL")
    resume: bool = flag("with --results: leave out modules that have a row already")

    def check(self) -> None:
        """Raises UsageError for options that exclude each other."""
        if self.cluster is not None and self.jobs is not None:
            raise usage_error("--jobs is of this machine, and --cluster works on others", "leave one of them out")
        if self.resume and self.results is None:
            raise usage_error("--resume goes on with a file of results, and there is none", "--results FILE names it")


@dataclass(frozen=True, kw_only=True)
class CiOptions:
    """Files for CI systems."""

    junit: str | None = option("FILE", "write a test case a module, as JUnit XML")
    sarif: str | None = option("FILE", "write each diagnostic with its place, as SARIF")


@dataclass(frozen=True, kw_only=True)
class Command:
    """One command line: its options are the fields that are declared as such, and sandboxed children do its work.

    For a unit whose child is lost, the exit code is `lost_status`. `endings` are those that the command adds to the
    names of the files that it writes. A command that is not supervised reads no input, and does its work in this
    process. With --json a command that `prints_files` prints an object for each file. `shared` are modules that the
    children and their workers need: they are imported once, before the first child is forked. `notes` end the help.
    """

    examples: ClassVar[tuple[str, str]] = ("", "")
    rules: ClassVar[tuple[Rule, ...]] = ()
    notes: ClassVar[str] = """exit codes:
  0  done
  1  the input is wrong
  2  the command is wrong, or a file is missing"""
    endings: ClassVar[tuple[str, ...]] = ("",)
    lost_status: ClassVar[int] = FAILED
    is_supervised: ClassVar[bool] = True
    prints_files: ClassVar[bool] = False
    shared: ClassVar[tuple[str, ...]] = ()

    color: str = option(
        "COLOR", "auto, always or never (default auto: on a terminal)", choice(*COLOURS), default="auto"
    )
    json: bool = flag("print one JSON object per input on a line of its own")
    traceback: bool = flag("show where in the program an error arose")
    force: bool = flag("replace existing files of other kinds, too, but never an input")

    # Options of several commands, with the values that others have.
    files: tuple[str, ...] | None = None
    batch: BatchOptions = BatchOptions(jobs=1)
    ci: CiOptions = CiOptions()
    limits: LimitOptions = LimitOptions()
    no_cache: bool = True
    oracle: str | None = None
    pairs: str | None = None
    # Facts of the process of the command: several units; the folder of what it has compiled, and folders in that.
    has_several: bool = False
    compiled: str | None = None
    compilations: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Returns the name on the command line."""
        return type(self).__name__.lower()

    @property
    def may_compile(self) -> bool:
        """Is true where the children of the command may start a compiler."""
        return False

    @contextmanager
    def prepared(self) -> Iterator[Self]:
        """Returns the command with what it needs as long as it runs, such as a directory."""
        yield self

    def plan(self, console: Console) -> Sequence[Unit]:
        """Returns the units of work, one unless a command divides it."""
        return [Unit()]

    @contextmanager
    def open(self, console: Console) -> Iterator[Work]:
        """Returns the function that works on a unit and returns its exit code; errors become diagnostics."""
        yield lambda unit: console.attempt(partial(self.work, unit, console), self.failed(unit))

    def work(self, unit: Unit, console: Console) -> int:
        """Works on one unit, and returns its exit code."""
        raise NotImplementedError

    def failed(self, unit: Unit) -> Callable[[str], None] | None:
        """Returns the function that prints the result of a unit with an error, by the error's message."""
        return None

    def lost(self, unit: Unit, reason: str) -> str:
        """Returns the output of a unit whose process was lost, for a reason: the JSON object of its file."""
        is_told = self.json and self.prints_files
        return json.dumps({"file": unit.inputs[0].path, "error": reason}) + "\n" if is_told else ""

    @staticmethod
    def combine(statuses: Iterable[int]) -> int:
        """Returns the exit code of the command, by those of all units."""
        return max(statuses, default=DONE)

    def cached(self, unit: Unit) -> Selected | None:
        """Returns the values and files that decide what a unit compiles, None where the cache keeps nothing of it."""
        return None

    def conclusion(self) -> Gatherer[Any] | None:
        """Returns the object that gathers the findings of all units, None where their output is shown unchanged."""
        return None

    def with_share(self, share: int | None) -> Self:
        """Returns the command for one of several processes: without FILEs, and with a share of the memory.

        `share` is in bytes; --memory takes precedence.
        """
        if self.limits.memory is not None or share is None:
            return replace(self, files=())
        return replace(self, files=(), limits=replace(self.limits, memory=min(DEFAULT_MEMORY_BYTES, share)))


@dataclass(frozen=True, slots=True)
class Job:
    """The work on every unit: a command, and the colour of diagnostics.

    With `keeps_results` a unit with known content is skipped.
    """

    command: Command
    colour: str = "never"
    keeps_results: bool = False

    def planned(self, units: Sequence[Unit]) -> Job:
        """Returns the job once its units are known."""
        return replace(self, command=replace(self.command, has_several=len(units) > 1))


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one unit: its exit code, its output and diagnostics, and its time in seconds.

    `ends_batch` is set for a wrong command, with which no unit can succeed. Where results are kept, `content` is the
    unit's content, and `is_known` is set for a unit that was skipped.
    """

    status: int
    output: bytes = b""
    diagnostics: bytes = b""
    seconds: float = 0.0
    ends_batch: bool = False
    content: str = ""
    is_known: bool = False

    @property
    def header(self) -> dict[str, Any]:
        """Returns the fields by name, without output and diagnostics, which a process sends beside them."""
        return {name: value for name, value in asdict(self).items() if name not in ("output", "diagnostics")}


# The execution of all units of a job, which yields their results in their order.
Execute = Callable[[Job, Sequence[Unit]], Generator[Result]]


class Finding(Protocol):
    """The finding of a unit: a frozen dataclass, whose fields a child prints as an object of JSON."""

    def as_json(self) -> Mapping[str, Any]:
        """Returns the fields by name."""


F = TypeVar("F", bound=Finding)


@dataclass(slots=True)
class Gatherer(Generic[F]):
    """The findings of all units so far, in the process of the command, and whether the conclusion makes that fail."""

    is_json: bool = False
    found: list[F] = field(default_factory=list, init=False)
    has_failed: bool = field(default=False, init=False)

    def add(self, unit: Unit, result: Result) -> Result:
        """Adds the finding of a unit; returns the result with the output that the user sees."""
        found = self.read(unit, result)
        if found is None:
            return result
        text = json.dumps(found.as_json()) + "\n" if self.is_json else self.text(found)
        self.found.append(found)
        return replace(result, output=encode(text), status=self.status(found, result))

    def read(self, unit: Unit, result: Result) -> F | None:
        """Returns the finding that a unit printed, None where its output is shown unchanged."""
        raise NotImplementedError

    def text(self, found: F) -> str:
        """Returns the lines about the next finding."""
        return ""

    def status(self, found: F, result: Result) -> int:
        """Returns the exit code of a unit."""
        return result.status

    def end(self) -> None:
        """Prints and writes the conclusion, after the last unit."""


_FITS: Mapping[str, Callable[[Any], bool]] = {
    "str": lambda value: isinstance(value, str),
    "str | None": lambda value: isinstance(value, str | None),
    "int": lambda value: type(value) is int,
    "bool": lambda value: type(value) is bool,
    "float": lambda value: isinstance(value, int | float),
    "tuple[str, ...]": lambda value: isinstance(value, list) and all(isinstance(each, str) for each in value),
    "Reduced | None": lambda value: value is None,
    "Scalars | None": lambda value: (
        value is None or all(isinstance(each, str | int | float | None) for each in value.values())
    ),
}


def read_finding(kind: type[T], said: Any) -> T:
    """Returns the finding with the values of an object of JSON; raises ValueError for values of other types.

    A sandboxed process, which a file may have taken over, has made the object.
    """
    try:
        values = {each.name: said[each.name] for each in fields(kind)}  # type: ignore[arg-type]  # a dataclass
        wrong = next((each.name for each in fields(kind) if not _FITS[str(each.type)](values[each.name])), None)  # type: ignore[arg-type]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no result: {error}") from None
    if wrong is not None:
        raise ValueError(f"no result: {wrong} is {values[wrong]!r}")
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in values.items()})


def with_conclusion(execute: Execute, conclusion: Gatherer[Any]) -> Execute:
    """Returns `execute` with the output of each unit, new or recorded, replaced by that of a conclusion."""

    def run(job: Job, units: Sequence[Unit]) -> Generator[Result]:
        with closing(execute(job, units)) as results:
            for unit, result in zip(units, results, strict=True):
                yield conclusion.add(unit, replace(result, output=unit.recorded) if result.is_known else result)

    return run


def worked(work: Work, unit: Unit, job: Job, console: Console) -> Result:
    """Runs a unit unless a result of its content is known, and returns its result without its output."""
    content = ""
    if job.keeps_results:
        unit = unit.with_contents()
        content = unit.content()
        if content and content == unit.known:
            return Result(DONE, content=content, is_known=True)
    start = perf_counter()
    try:
        status, ends_batch = work(unit), False
    except UsageError as error:
        console.diagnose(error.diagnostics)
        status, ends_batch = WRONG_COMMAND, True
    return Result(status, seconds=perf_counter() - start, ends_batch=ends_batch, content=content)


def show(result: Result) -> None:
    """Prints the output and diagnostics of a unit that ran in another process."""
    if result.diagnostics:
        sys.stderr.flush()
        sys.stderr.buffer.write(result.diagnostics)
        sys.stderr.flush()
    if result.output:
        write_output(None, result.output)


def files_or_input(files: Sequence[str]) -> Sequence[str]:
    """Returns the files, or standard input where it is not a terminal; raises UsageError."""
    if not files and sys.stdin.isatty():
        raise usage_error("expected a FILE", "- reads standard input")
    return files or [STANDARD_INPUT]


@dataclass(frozen=True, kw_only=True)
class EachModule(Command):
    """A command that works on each module of its FILEs by itself, or with `takes_final` on the last of each program."""

    prints_files: ClassVar[bool] = True
    takes_final: ClassVar[bool] = False

    files: tuple[str, ...] = argument("FILE", MODULES, "*")
    selection: InputOptions = group(InputOptions)
    limits: LimitOptions = group(LimitOptions)

    def plan(self, console: Console) -> Sequence[Unit]:
        inputs = self.selection.find(files_or_input(self.files), console, final=self.takes_final)
        files = self.targets(inputs)
        return [Unit((each,), files.get(each.path), self.seconds(each)) for each in inputs]

    def seconds(self, read: Input) -> float:
        """Returns the time budget of a module."""
        return self.limits.seconds([read], REWRITING_SECONDS_PER_MEGABYTE)

    def targets(self, inputs: Sequence[Input]) -> dict[str, str]:
        """Returns the output file of each input by its path, empty for standard output."""
        return {}

    def work(self, unit: Unit, console: Console) -> int:
        [read] = unit.inputs
        return self.run(read, unit.target, console)

    def run(self, read: Input, target: str | None, console: Console) -> int:
        """Works on one module for an output file (None: standard output), and returns the exit code."""
        raise NotImplementedError

    def failed(self, unit: Unit) -> Callable[[str], None] | None:
        return partial(print_failure, {"file": unit.inputs[0].path}) if self.json else None
