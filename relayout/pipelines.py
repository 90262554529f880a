"""Pipelines of `opt`, `check` and `reduce`: from the command line, and the list of passes."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from dialect_utils.io.files import encode
from dialect_utils.ir import Module
from dialect_utils.text import Diagnostic, DiagnosticError, meant
from passes.framework.base import Pass, is_pass, load_pass, pass_names
from passes.framework.options import describe_options
from passes.framework.pipeline import (
    SUFFIX,
    NamedPipeline,
    Observer,
    PassError,
    Pipeline,
    PipelineResult,
    named_pipelines,
)
from relayout.console import Console, UsageError, print_json
from relayout.options import Rule, flag, needs, repeated, switch
from relayout.output import new_file, write_to_file
from relayout.supervisor.host import current

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class PipelineOptions:
    """The passes that run."""

    passes: tuple[str, ...] = repeated(
        "SPEC",
        "passes as MLIR writes them: a,b{x=1 y=2}; several -p run in their order",
        # mlir-opt's names, too.
        *("-p", "--passes", "--pass-pipeline"),
    )
    pipelines: tuple[Path, ...] = repeated("TOML", "a file with named pipelines", read=Path)
    verify_each: bool = switch(
        "verify the module after each pass (the default)", "verify the input only", "verify-each"
    )
    no_sandbox: bool = flag("your own passes may use files, programs and the network; limits of time and memory stay")

    def read(self) -> Pipeline:
        """Returns the pipeline of the command line, empty without `-p`; raises UsageError."""
        if any(not spec.strip() for spec in self.passes):
            raise UsageError(Diagnostic("-p names no pass: its text is empty", hint="leave it out to run none"))
        try:
            known = named_pipelines(self.pipelines) if self.pipelines else None
            return Pipeline.joined(Pipeline.parse(spec, pipelines=known) for spec in self.passes)
        except DiagnosticError as error:
            raise UsageError(error.diagnostics) from error


def needs_passes(*names: str) -> Rule:
    """Returns the rule for options without effect where no pass runs: these, and those of every pipeline."""
    return needs(("pipelines", "verify_each", "no_sandbox", *names), "passes", reason="without -p SPEC")


def run_pipeline(
    pipeline: Pipeline,
    module: Module,
    *,
    verify_each: bool,
    before_pass: Callable[[Pass, Module], None] | None = None,
    on_pass: Observer | None = None,
) -> PipelineResult:
    """Runs a pipeline; if a pass fails, writes a file that reproduces the failure, and names it in the error."""
    try:
        if all(step.is_builtin for step in pipeline.passes):
            return pipeline.run(module, verify_each=verify_each, before_pass=before_pass, on_pass=on_pass)
        enter = partial(_enter, before_pass)
        # Standard output is for modules: a pass prints beside its notes.
        with redirect_stdout(sys.stderr):
            result = pipeline.run(module, verify_each=verify_each, before_pass=enter, on_pass=on_pass)
        _enter(None, None, module)
        return result
    except PassError as error:
        named = DiagnosticError((*error.diagnostics, reproducer("opt", error.step, error.before)))
        raise named.with_traceback(error.__traceback__) from None


def _enter(before_pass: Callable[[Pass, Module], None] | None, step: Pass | None, module: Module) -> None:
    """Names the pass that runs now, None for none, to the process of the command: this one may end within it."""
    if before_pass is not None and step is not None:
        before_pass(step, module)
    if (host := current()) is not None:
        host.enter("" if step is None else f"pass {step}")


def reproducer(command: str, step: Pass, before: Module) -> Diagnostic:
    """Writes the module before a pass to a new file, under the command as a comment; returns a note with both."""
    name = new_file(f"relayout-{step.name}-", f".{SUFFIX[before.dialect]}")
    line = f"relayout {command} {name} -p {shlex.quote(str(step))}"
    write_to_file(name, encode(f"// {line}\n{before.text()}"))
    return Diagnostic(f"to reproduce: {line}", severity="note")


def first_breaking(stages: Sequence[T], is_broken: Callable[[Sequence[T]], bool]) -> int:
    """Returns, by bisection, the index of a broken stage after one that is not; the last stage must be broken."""
    kept, broken = 0, len(stages) - 1
    while broken - kept > 1:
        middle = (kept + broken) // 2
        if is_broken(stages[: middle + 1]):
            broken = middle
        else:
            kept = middle
    return broken


def _loaded_passes(console: Console) -> Iterator[tuple[str, Pass]]:
    """Yields every pass with its name; prints a note for a pass of another package that cannot be loaded."""
    for name in pass_names():
        try:
            yield name, load_pass(name)
        except DiagnosticError as error:
            console.diagnose(replace(diagnostic, severity="note") for diagnostic in error.diagnostics)


def describe_pass(name: str, commands: Sequence[str] = ()) -> str:
    """Returns the page of a pass or a named pipeline: description, dialects, options.

    Raises UsageError with the nearest name for another one; `commands` are names that also have a page.
    """
    if not is_pass(name):
        pipeline = named_pipelines().get(name)
        if pipeline is not None:
            return _pipeline_line(pipeline)
        known = [*commands, *pass_names(), *named_pipelines()]
        hint = meant(name.replace("_", "-"), known, "relayout opt --list-passes prints all passes")
        raise UsageError(f"no command, pass or pipeline is called {name}", hint=hint)
    step = load_pass(name)
    lines = [f"{step.name}: {step.doc}", "", f"Reads {' and '.join(step.dialects)}."]
    options = _option_lines(step)
    return "\n".join([*lines, *(["", "options:"] if options else ["It has no options."]), *options])


def _option_lines(step: Pass) -> list[str]:
    described = describe_options(step.options)
    return [f"  {option}={kind}{f' (default {default})' if default else ''}" for option, kind, default in described]


def print_passes(files: Sequence[Path], console: Console, *, json: bool) -> None:
    """Prints all passes with their options, then the named pipelines, those of files, too."""
    if json:
        for name, step in _loaded_passes(console):
            options = [
                dict(zip(("name", "type", "default"), each, strict=True)) for each in describe_options(step.options)
            ]
            print_json({"pass": name, "summary": step.summary, "dialects": list(step.dialects), "options": options})
        return
    print(f"{'pass':22} what it does, and its options")
    for name, step in _loaded_passes(console):
        print("\n".join([f"{name:22} {step.summary}", *(f"{'':22}{line}" for line in _option_lines(step))]))
    if pipelines := named_pipelines(files):
        print(f"\n{'named pipeline':22} what it does, and its passes")
    for pipeline in pipelines.values():
        print(_pipeline_line(pipeline))


def _pipeline_line(pipeline: NamedPipeline) -> str:
    return f"{pipeline.name:22} {pipeline.summary}\n{'':24}{pipeline.spec}"
