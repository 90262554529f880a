"""Pipelines: passes in order, read from text, run with a check after each."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter

from dialect_utils.ir import Module
from dialect_utils.text import Diagnostic, DiagnosticError, Source, nearest
from passes.base import Pass, PassResult
from passes.options import parse_options
from passes.registry import is_pass, load_pass, pass_names
from passes.spec import PassText, parse_spec

VERIFIER = "verify-layouts"

_NAMED_PIPELINES = Path(__file__).parent / "pipelines.toml"


@dataclass(frozen=True, slots=True)
class NamedPipeline:
    """Is a pipeline that a spec may use like a pass."""

    name: str
    summary: str
    spec: str


@dataclass(frozen=True, slots=True)
class PassRun:
    """Says what one pass of a pipeline did: the module before it, its result, and the seconds it took."""

    index: int
    step: Pass
    before: Module
    result: PassResult
    seconds: float


@dataclass(frozen=True, slots=True)
class PipelineResult:
    """Holds the module after a pipeline, and what each pass did."""

    module: Module
    runs: tuple[PassRun, ...]

    @property
    def modified(self) -> bool:
        """Is true where a pass changed the module's text."""
        return any(run.result.modified for run in self.runs)

    @property
    def notes(self) -> tuple[Diagnostic, ...]:
        """Returns the notes and warnings of all passes in order."""
        return tuple(note for run in self.runs for note in run.result.notes)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Is a sequence of passes; `str()` writes the spec that parses back to it."""

    passes: tuple[Pass, ...]

    @classmethod
    def parse(
        cls, spec: str, *, name: str = "<pipeline>", pipelines: Mapping[str, NamedPipeline] | None = None
    ) -> Pipeline:
        """Reads a pipeline in MLIR's syntax: `annotate-layouts{target=tpu-v5e},expand-tiling`.

        A named pipeline (`pipelines`, by default `named_pipelines()`) stands for its passes.
        Raises DiagnosticError with a span in `spec` and the nearest known name.
        """
        known = named_pipelines() if pipelines is None else pipelines
        return cls(tuple(_read(Source(name, spec), known, ())))

    def run(
        self, module: Module, *, verify_each: bool = True, on_pass: Callable[[PassRun], None] | None = None
    ) -> PipelineResult:
        """Runs the passes in order on clones; `module` stays as it is.

        With `verify_each` the input and what each pass made are verified, and an error names
        the pass that broke the module. `on_pass` is called after each pass.
        """
        if verify_each:
            verify(module)
        runs: list[PassRun] = []
        for index, step in enumerate(self.passes):
            start = perf_counter()
            result = step.run(module)
            run = PassRun(index, step, module, result, perf_counter() - start)
            runs.append(run)
            # Before the check: what a pass broke is what one wants to see.
            if on_pass is not None:
                on_pass(run)
            if verify_each and result.modified:
                _verify_after(run)
            module = result.module
        return PipelineResult(module, tuple(runs))

    def __str__(self) -> str:
        """Returns the canonical spec."""
        return ",".join(map(str, self.passes))


def verify(module: Module) -> None:
    """Runs the verifier; raises DiagnosticError with everything it finds."""
    if is_pass(VERIFIER):
        load_pass(VERIFIER)().run(module)


def _verify_after(run: PassRun) -> None:
    try:
        verify(run.result.module)
    except DiagnosticError as error:
        broken = Diagnostic(f"the module no longer verifies after pass {run.step} (number {run.index + 1})")
        raise DiagnosticError((broken, *error.diagnostics)) from error


def named_pipelines(files: Iterable[Path] = ()) -> Mapping[str, NamedPipeline]:
    """Returns the shipped pipelines and those of the user's files, by name; a file's replaces a shipped one.

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
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise DiagnosticError(Diagnostic(f"{file}: {(error.strerror or str(error)).lower()}")) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DiagnosticError(Diagnostic(f"{file}: {error}")) from None
    return {name: _named_pipeline(file, name, table) for name, table in tables.items()}


def _named_pipeline(file: Path, name: str, table: object) -> NamedPipeline:
    if not isinstance(table, dict) or not isinstance(table.get("passes"), str):
        hint = f'[{name}]\nsummary = "..."\npasses = "annotate-layouts,expand-tiling"'
        raise DiagnosticError(Diagnostic(f"{file}: pipeline {name} has no text `passes`", hint=hint))
    return NamedPipeline(name, str(table.get("summary", "")), table["passes"])


def _read(source: Source, known: Mapping[str, NamedPipeline], inside: tuple[str, ...]) -> list[Pass]:
    passes: list[Pass] = []
    for written in parse_spec(source):
        name = str(written.name)
        if is_pass(name):
            passes.append(parse_options(load_pass(name), written.options, f"pass {name}"))
        elif name in known:
            passes += _expand_named(written, known[name], known, inside)
        else:
            raise _unknown(written, known)
    return passes


def _expand_named(
    written: PassText, pipeline: NamedPipeline, known: Mapping[str, NamedPipeline], inside: tuple[str, ...]
) -> list[Pass]:
    name = pipeline.name
    if written.options:
        raise written.options[0].name.error(f"pipeline {name} has no options", f"write its passes: {pipeline.spec}")
    if name in inside:
        raise written.name.error(f"pipeline {name} contains itself")
    return _read(Source(f"<pipeline {name}>", pipeline.spec), known, (*inside, name))


def _unknown(written: PassText, known: Mapping[str, NamedPipeline]) -> DiagnosticError:
    name = str(written.name)
    close = nearest(name.replace("_", "-"), [*pass_names(), *known])
    hint = f"did you mean {close}?" if close else "relayout opt --list-passes prints all passes"
    return written.name.error(f"unknown pass {name}", hint)
