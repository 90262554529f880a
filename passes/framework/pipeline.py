"""Pipelines: passes in order, read from text, verified after each pass, and observed: printed, dumped or timed."""

from __future__ import annotations

import inspect
import linecache
import traceback
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import TextIO

from dialect_utils.io.files import encode
from dialect_utils.ir import Module
from dialect_utils.text import Diagnostic, DiagnosticError, Location, Source, Span, kind_of, nearest
from passes.framework.base import BUILTIN_PASSES, OLD_NAMES, Pass, PassResult, Report, is_pass, load_pass, pass_names
from passes.framework.options import parse_options
from passes.framework.spec import PassText, parse_spec

VERIFIER = "verify-layouts"

_SANDBOXED = "commands run passes in a sandbox; --no-sandbox lets your own use files, programs and the network"
_EXAMPLE = 'a pipeline is written\n[name]\nsummary = "..."\npasses = "annotate-layouts,expand-tiling"'
_NAMED_PIPELINES = Path(__file__).parent / "pipelines.toml"


@dataclass(frozen=True, slots=True)
class NamedPipeline:
    """A pipeline that a spec may use like a pass."""

    name: str
    summary: str
    spec: str


@dataclass(frozen=True, slots=True)
class PassRun:
    """One run of a pass of a pipeline: the module before it, the result, and the seconds it took."""

    index: int
    step: Pass
    before: Module
    result: PassResult
    seconds: float


@dataclass(frozen=True, slots=True)
class PipelineResult:
    """The module after a pipeline, and the run of each pass."""

    module: Module
    runs: tuple[PassRun, ...]

    @property
    def modified(self) -> bool:
        """Is true if a pass changed the module's text."""
        return any(run.result.modified for run in self.runs)

    @property
    def notes(self) -> tuple[Diagnostic, ...]:
        """Returns the notes and warnings of all passes in order."""
        return tuple(note for run in self.runs for note in run.result.notes)

    def _repr_html_(self) -> str:
        """Returns the HTML for notebooks: a table of the passes, and the module."""
        from dialect_utils.text.html import html_details, html_table, html_text

        rows = [
            (
                str(run.step),
                "changed" if run.result.modified else "",
                f"{run.seconds:.3f} s",
                str(len(run.result.notes)),
            )
            for run in self.runs
        ]
        text = html_details("the module", f"<pre>{html_text(self.module.text())}</pre>")
        return html_table(("pass", "module", "time", "notes"), rows) + text


class PassError(DiagnosticError):
    """An unexpected exception of a pass, or a module that does not verify after it.

    Running `step` on `before` reproduces the error. `raised` is the exception of the pass or of the verifier.
    """

    def __init__(self, step: Pass, before: Module, diagnostics: Iterable[Diagnostic], raised: BaseException) -> None:
        super().__init__(diagnostics)
        self.step = step
        self.before = before
        self.raised = raised


@dataclass(frozen=True, slots=True, repr=False)
class Pipeline:
    """A sequence of passes; `str()` returns a spec that parses to an equal pipeline.

    `notes` report former names of passes in the spec.

    >>> pipeline = relayout.Pipeline.parse("annotate-layouts{target=tpu-v5e},expand-tiling")
    >>> result = pipeline.run(relayout.read("examples/attention.mlir"))
    >>> [(run.step, run.result.modified) for run in result.runs]
    [(annotate_layouts(target='tpu-v5e'), True), (expand_tiling, True)]
    """

    passes: tuple[Pass, ...]
    notes: tuple[Diagnostic, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if not all(isinstance(step, Pass) for step in self.passes):
            raise TypeError("a Pipeline is made of a tuple of passes; Pipeline.parse(...) reads its text")

    @classmethod
    def parse(
        cls, spec: str, *, name: str = "<pipeline>", pipelines: Mapping[str, NamedPipeline] | None = None
    ) -> Pipeline:
        """Reads a pipeline in MLIR's syntax: `annotate-layouts{target=tpu-v5e},expand-tiling`.

        The name of one of `pipelines` (by default `named_pipelines()`) stands for the passes of that pipeline.
        Raises DiagnosticError with a span in `spec` and the nearest known name.
        """
        if not isinstance(spec, str):
            raise TypeError(f"expected the text of a pipeline, not {kind_of(spec)}")
        notes: list[Diagnostic] = []
        passes = tuple(_read(Source(name, spec), pipelines, (), notes))
        return cls(passes, tuple(notes))

    @classmethod
    def joined(cls, parts: Iterable[Pipeline]) -> Pipeline:
        """Returns one pipeline of the passes of several, in their order."""
        parts = tuple(parts)
        steps = tuple(step for part in parts for step in part.passes)
        return cls(steps, tuple(note for part in parts for note in part.notes))

    def run(
        self,
        module: Module,
        *,
        verify_each: bool = True,
        before_pass: Callable[[Pass, Module], None] | None = None,
        on_pass: Callable[[PassRun], None] | None = None,
    ) -> PipelineResult:
        """Runs the passes in order on clones; `module` does not change.

        `verify_each` verifies the input and the module after each pass. `before_pass` is called before each pass,
        `on_pass` after it. Raises PassError for a pass that broke the module or raised an unexpected exception,
        DiagnosticError for a module that a pass does not support.
        """
        if not hasattr(module, "dialect"):
            raise TypeError(f"expected a module, which relayout.read(...) returns, not {kind_of(module)}")
        if verify_each:
            verify(module)
        runs: list[PassRun] = []
        for index, step in enumerate(self.passes):
            start = perf_counter()
            if before_pass is not None:
                before_pass(step, module)
            result = _run(step, index, module)
            run = PassRun(index, step, module, result, perf_counter() - start)
            runs.append(run)
            # Observers come before the verifier, so that they print a broken module, too.
            if on_pass is not None:
                on_pass(run)
            if verify_each and result.modified:
                _verify_after(run)
            module = result.module
        return PipelineResult(module, tuple(runs))

    def __str__(self) -> str:
        return ",".join(map(str, self.passes))

    def __repr__(self) -> str:
        return f"Pipeline.parse({str(self)!r})"


def verify(module: Module) -> None:
    """Runs the verifier; raises DiagnosticError with all errors that it finds."""
    if is_pass(VERIFIER):
        # The verifier edits nothing, so it needs no clone.
        load_pass(VERIFIER).apply(module, Report())


def _run(step: Pass, index: int, module: Module) -> PassResult:
    try:
        return step.run(module)
    except (DiagnosticError, MemoryError):
        raise  # caused by the input or the machine, not by the pass
    except (Exception, SystemExit) as error:
        # The passes of this project read files that options name, and nest as deep as modules do.
        if isinstance(error, OSError | RecursionError) and step.is_builtin:
            raise
        what = f"pass {step} (number {index + 1}) raised {type(error).__name__} on module {module.name}: {error}"
        hint = _SANDBOXED if isinstance(error, PermissionError) else "this is a mistake of the pass, not of the module"
        found = Diagnostic(what, _place(error, step), hint=hint)
        # One exception with the traceback of the pass: a chain of two would say the same twice.
        trace = error.__traceback__.tb_next if error.__traceback__ else None
        raise PassError(step, module, [found], error).with_traceback(trace) from None


def _place(error: BaseException, step: Pass) -> Location | None:
    """Returns the location where a pass raised: the last line of its own file in the traceback, or its first line."""
    code = inspect.unwrap(step.function).__code__
    frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename == code.co_filename]
    frame = frames[-1] if frames else traceback.FrameSummary(code.co_filename, code.co_firstlineno, code.co_name)
    text = "".join(linecache.getlines(frame.filename))
    if not text or frame.lineno is None:
        return None
    source = Source(frame.filename, text)
    line = source.line(frame.lineno)
    # Python counts columns in bytes of UTF-8, and has none for some lines.
    ends = (frame.colno, frame.end_colno if frame.end_lineno == frame.lineno else None)
    first, last = (None if end is None else len(line.encode()[:end].decode(errors="replace")) for end in ends)
    first = len(line) - len(line.lstrip()) if first is None else first
    start = source.offset(frame.lineno, 1)
    return Location(source, Span(start + first, start + (len(line) if last is None else last)))


def _verify_after(run: PassRun) -> None:
    try:
        verify(run.result.module)
    except DiagnosticError as error:
        broken = Diagnostic(f"the module no longer verifies after pass {run.step} (number {run.index + 1})")
        raise PassError(run.step, run.before, (broken, *error.diagnostics), error) from None


def named_pipelines(files: Iterable[Path] = ()) -> Mapping[str, NamedPipeline]:
    """Returns the shipped pipelines and those of the user's files, by name; later ones replace earlier ones.

    Raises DiagnosticError for a file that is not TOML of tables with `summary` and `passes`.
    """
    pipelines = dict(_shipped_pipelines())
    for file in files:
        pipelines.update(read_pipelines(file))
    return pipelines


@cache
def _shipped_pipelines() -> Mapping[str, NamedPipeline]:
    return read_pipelines(_NAMED_PIPELINES)


def read_pipelines(file: Path) -> Mapping[str, NamedPipeline]:
    """Reads a TOML file with one table a pipeline: `[name]`, `summary = "..."`, `passes = "a,b{x=1}"`."""
    from dialect_utils.text.toml import read_toml

    found, top = {}, read_toml(str(file), _EXAMPLE)
    if not top.values:
        raise DiagnosticError(f"{file} holds no pipeline", hint=_EXAMPLE)
    for name in top.values:
        for table in top.tables(name):
            table.check({"summary": str, "passes": str}, ("passes",))
            if name in BUILTIN_PASSES:
                raise table.error(name, f"{name} is the name of a pass, which the pipeline cannot replace", "rename it")
            found[name] = NamedPipeline(name, table.values.get("summary", ""), table.values["passes"])
    return found


def _read(
    source: Source, given: Mapping[str, NamedPipeline] | None, inside: tuple[str, ...], notes: list[Diagnostic]
) -> list[Pass]:
    passes: list[Pass] = []
    for written in parse_spec(source):
        name = str(written.name)
        if is_pass(name):
            if name in OLD_NAMES:
                notes.append(written.name.note(f"pass {name} is called {OLD_NAMES[name]} now"))
            step = load_pass(name)
            options = parse_options(step.options, written.options, f"pass {name}")
            passes.append(replace(step.with_options(**options), written=written.options))
        # The file of the pipelines that come with the program is read where it is needed.
        elif name in (known := named_pipelines() if given is None else given):
            passes += _expand_named(written, known[name], known, inside, notes)
        else:
            raise _unknown(written, known)
    return passes


def _expand_named(
    written: PassText,
    pipeline: NamedPipeline,
    known: Mapping[str, NamedPipeline],
    inside: tuple[str, ...],
    notes: list[Diagnostic],
) -> list[Pass]:
    name = pipeline.name
    if written.options:
        raise written.options[0].name.error(f"pipeline {name} has no options", f"write its passes: {pipeline.spec}")
    if name in inside:
        raise written.name.error(f"pipeline {name} contains itself")
    return _read(Source(f"<pipeline {name}>", pipeline.spec), known, (*inside, name), notes)


def _unknown(written: PassText, known: Mapping[str, NamedPipeline]) -> DiagnosticError:
    name = str(written.name)
    close = nearest(name.replace("_", "-"), [*pass_names(), *known])
    hint = f"did you mean {close}?" if close else "relayout opt --list-passes prints all passes"
    return written.name.error(f"unknown pass {name}", hint)


Observer = Callable[[PassRun], None]

SUFFIX = {"hlo": "hlo", "stablehlo": "mlir"}


ALL = "all"


def print_after(stream: TextIO, names: Collection[str]) -> Observer:
    """Returns an observer that prints the module after each pass of `names` (`all`: every pass), as `mlir-opt` does."""

    def observe(run: PassRun) -> None:
        if run.step.name in names or ALL in names:
            stream.write(_banner(f"after {run.step}") + f"{run.result.module.text()}\n")

    return observe


def print_changed(stream: TextIO) -> Observer:
    """Returns an observer that prints the module after each pass that changed it, and names the other passes."""

    def observe(run: PassRun) -> None:
        if run.result.modified:
            stream.write(_banner(f"after {run.step}") + f"{run.result.module.text()}\n")
        else:
            stream.write(_banner(f"after {run.step} omitted: no change"))

    return observe


def print_before(stream: TextIO, names: Collection[str]) -> Callable[[Pass, Module], None]:
    """Returns an observer that prints the module before each pass of `names` (`all`: every pass), even if it fails."""

    def observe(step: Pass, module: Module) -> None:
        if step.name in names or ALL in names:
            stream.write(_banner(f"before {step}") + f"{module.text()}\n")

    return observe


def _banner(what: str) -> str:
    return f"// -----// IR dump {what} //----- //\n"


def dump_to(directory: Path, write: Callable[[str, bytes], None]) -> Observer:
    """Returns an observer that writes one file per pass: `00-input.hlo`, `01-expand-tiling.hlo`, ...

    `write` takes a path and bytes, and makes the directories of the path.
    """

    def write_text(name: str, text: str) -> None:
        write(str(directory / name), encode(text))

    def observe(run: PassRun) -> None:
        if run.index == 0:
            write_text(f"00-input.{SUFFIX[run.before.dialect]}", run.before.text())
        suffix = SUFFIX[run.result.module.dialect]
        write_text(f"{run.index + 1:02}-{run.step.name}.{suffix}", run.result.module.text())

    return observe


def format_timing(runs: tuple[PassRun, ...]) -> str:
    """Returns a table of the milliseconds and the share of each pass, and the total."""
    total = sum(run.seconds for run in runs)
    lines = [_timing_line(run.seconds, total, str(run.step)) for run in runs]
    header = f"{'time':>13} {'share':>7}  pass"
    return "\n".join([header, *lines, _timing_line(total, total, "total")])


def _timing_line(seconds: float, total: float, what: str) -> str:
    share = 100 * seconds / total if total else 100.0
    return f"{1000 * seconds:10.1f} ms {share:5.1f} %  {what}"
