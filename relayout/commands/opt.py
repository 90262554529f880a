"""`relayout opt`: runs passes on modules and prints them."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TextIO, cast, get_args

import relayout.comments as comments
from dialect_utils.io import files
from dialect_utils.io.inputs import Input
from dialect_utils.text import Diagnostic, DiagnosticError, PrintableStream, Source, meant, printable
from passes.framework.pipeline import (
    ALL,
    PassRun,
    Pipeline,
    PipelineResult,
    dump_to,
    format_timing,
    print_after,
    print_before,
    print_changed,
    verify,
)
from relayout.batch.unit import Unit, Work
from relayout.command import BatchOptions, CiOptions, EachModule
from relayout.console import DONE, FAILED, Console, print_json
from relayout.options import Option, Rule, choice, excludes, flag, group, option, repeated, usage_error
from relayout.output import (
    STANDARD_OUTPUT,
    check_uncompressed,
    check_unique,
    is_name_of,
    output_files,
    output_name,
    write_output,
)
from relayout.pipelines import PipelineOptions, needs_passes, print_passes, run_pipeline

# The options that have an effect with --verify-diagnostics.
_WHERE_VERIFIED = (
    *("passes", "pipelines", "verify_each", "no_sandbox", "dump_pass_pipeline"),
    *("stage", "module", "split_input_file", "jobs", "cluster", "results", "resume"),
    *("junit", "sarif", "timeout", "memory", "max_output"),
)


@dataclass(frozen=True, kw_only=True)
class Opt(EachModule):
    """A pipeline of passes on each module."""

    examples = (
        "relayout opt --list-passes",
        "relayout opt examples/attention.mlir -p 'annotate-layouts{target=tpu-v5e},expand-tiling{interface=physical}'",
    )
    rules = (
        Rule(None, ("list_passes",), "with --list-passes", kept=("pipelines",)),
        Rule(None, ("verify_diagnostics",), "with --verify-diagnostics, which prints no module", kept=_WHERE_VERIFIED),
        needs_passes("print_before", "print_after", "print_changed", "dump_dir", "timing", "dump_pass_pipeline"),
        excludes("emit", ("strip_comments", "locations", "generate_checks"), "with --emit {emit}"),
        excludes("generate_checks", ("strip_comments",), "with --generate-checks, which prints a test with comments"),
    )

    pipeline: PipelineOptions = group(PipelineOptions)
    batch: BatchOptions = group(BatchOptions)
    ci: CiOptions = group(CiOptions)
    output: str | None = option("OUT", "a file, or a directory for several modules: DIR/", str, "-o", "--output")
    emit: files.Emit = option("EMIT", "text, bytecode or pb", choice(*get_args(files.Emit)), default="text")
    list_passes: bool = flag("print all passes and their options")
    strip_comments: bool = flag("drop // comments, FileCheck directives among them")
    generate_checks: bool = flag("print a lit test: FILE with FileCheck lines")
    split_input_file: bool = flag("treat parts between // ----- as modules")
    print_before: tuple[str, ...] = repeated(
        "PASS",
        "print the module before this pass to stderr",
        more=(Option("before each pass", names=("--print-before-all",), constant=ALL, is_repeated=True),),
    )
    print_after: tuple[str, ...] = repeated(
        "PASS",
        "print the module after this pass to stderr",
        more=(Option("after each pass", names=("--print-after-all",), constant=ALL, is_repeated=True),),
    )
    print_changed: bool = flag("print it after each pass that changed it")
    locations: bool = flag("print StableHLO with locations: what each op was made of")
    verify_diagnostics: bool = flag("succeed where exactly what // expected-error {{...}} comments say comes up")
    dump_dir: Path | None = option("DIR", "write one numbered file per pass", Path)
    timing: bool = flag("print the time each pass took to stderr")
    dump_pass_pipeline: bool = flag("print the pipeline that runs to stderr")
    allow_unverified: bool = flag("do not verify, not even the input")

    def plan(self, console: Console) -> Sequence[Unit]:
        if self.list_passes:
            if self.files:
                raise usage_error("--list-passes reads no FILE")
            print_passes(self.pipeline.pipelines, console, json=self.json)
            return ()
        pipeline = self.pipeline.read()
        console.diagnose(pipeline.notes)
        names = [step.name for step in pipeline.passes]
        for name in {*self.print_before, *self.print_after} - {*names, ALL}:
            hint = meant(name, names, f"-p runs {', '.join(names) or 'no pass'}")
            raise usage_error(f"pass {name} does not run", hint)
        if self.dump_pass_pipeline:
            print(f"builtin.module({pipeline})", file=sys.stderr)
        return EachModule.plan(self, console)

    def targets(self, inputs: Sequence[Input]) -> dict[str, str]:
        output, emit = self.output, self.emit
        if self.split_input_file and emit != "text":
            raise usage_error(f"--emit {emit} writes one module, --split-input-file reads several")
        if len(inputs) > 1 and self.dump_dir is not None:
            check_unique([each.relative for each in inputs], self.dump_dir)
        if output is None or output == STANDARD_OUTPUT:
            return {}

        def check() -> None:
            check_uncompressed(output)
            if not is_name_of(output, emit):
                hint = "--emit pb or --emit bytecode writes no text"
                raise usage_error(f"-o {output}: text has another ending", hint)

        return output_files(inputs, output, lambda name: output_name(name, emit), check)

    @contextmanager
    def open(self, console: Console) -> Iterator[Work]:
        work = _Work(self, self.pipeline.read(), console)
        yield lambda unit: console.attempt(partial(work.run, unit.inputs[0], unit.target), self.failed(unit))


_OTHER_ENDING = {"hlo": (".mlir", ".mlirbc"), "stablehlo": (".hlo", ".hlo.pb")}


@dataclass(frozen=True, slots=True)
class _Work:
    """The work on one file, with the options and the pipeline that all files share."""

    options: Opt
    pipeline: Pipeline
    console: Console

    def run(self, read: Input, target: str | None) -> int:
        """Runs the pipeline on one file, prints or writes the result, and returns the exit code."""
        data = read.data()
        if read.wanted and (self.options.verify_diagnostics or self.options.split_input_file):
            option = "--verify-diagnostics" if self.options.verify_diagnostics else "--split-input-file"
            chosen = "--function chooses a function" if read.function else "--module chooses one module"
            raise usage_error(f"{chosen} of {read.name}, and {option} reads all of it")
        if self.options.verify_diagnostics:
            return self._run_expecting(read, data)
        if not self.options.split_input_file:
            output, result = self._optimize(data, read.name, self._dump_directory(read, 0), wanted=read.wanted)
            if self.options.generate_checks:
                output = comments.lit_test(data, output, read.name, self._run_line())
            self._write(read, target, output, [result])
            return DONE
        return self._run_chunks(read, target, data)

    def _run_chunks(self, read: Input, target: str | None, data: bytes) -> int:
        """Runs every chunk of a file; errors of all chunks are reported together."""
        name = read.name
        whole = Source(name, files.decode(data))
        output = b""
        results: list[PipelineResult] = []
        errors: list[Diagnostic] = []
        for number, chunk in enumerate(comments.split_input(data)):
            if not chunk.data.strip():
                output += chunk.data + chunk.separator
                continue
            try:
                text, result = self._optimize(chunk.data, name, self._dump_directory(read, number), (whole, chunk))
            except DiagnosticError as error:
                errors += comments.relocate(error, whole, chunk).diagnostics
                continue
            if self.options.generate_checks:
                text = comments.lit_test(chunk.data, text, name, "" if results else self._run_line())
            output += text + chunk.separator
            results.append(result)
        if errors and self.options.output is None and not self.options.json:
            write_output(None, output)
        if errors:
            raise DiagnosticError(errors)
        self._write(read, target, output, results)
        return DONE

    def _run_expecting(self, read: Input, data: bytes) -> int:
        """Runs a file and prints the differences between its diagnostics and those that its comments expect."""
        name, whole = read.name, Source(read.name, files.decode(data))
        expected = list(comments.expectations(whole))
        chunks = comments.split_input(data) if self.options.split_input_file else [comments.Chunk(data, 0, b"")]
        found: list[Diagnostic] = []
        for chunk in chunks:
            try:
                module = files.parse_bytes(chunk.data, name)
                diagnostics = run_pipeline(self.pipeline, module, verify_each=self.options.pipeline.verify_each).notes
            except DiagnosticError as error:
                diagnostics = error.diagnostics
            text = files.decode(chunk.data)
            found += (comments.relocate_diagnostic(diagnostic, whole, text, chunk.start) for diagnostic in diagnostics)
        wrong = comments.unmet(expected, found)
        self.console.diagnose(wrong)
        if self.options.json:
            print_json({"file": read.path, "expected": len(expected), "wrong": [each.message for each in wrong]})
        elif not wrong:
            count = len(expected)
            told = "1 expected diagnostic came up" if count == 1 else f"{count} expected diagnostics came up"
            told = told if count else "expects no diagnostic, and none came up"
            self.console.diagnose([Diagnostic(f"{name}: {told}", severity="note")])
        return FAILED if wrong else DONE

    def _optimize(
        self,
        data: bytes,
        name: str,
        dump: Path | None,
        part: tuple[Source, comments.Chunk] | None = None,
        wanted: Sequence[str] = (),
    ) -> tuple[bytes, PipelineResult]:
        module = files.parse_bytes(data, name, wanted)
        verify_each = self.options.pipeline.verify_each and not self.options.allow_unverified
        if not (verify_each or self.options.allow_unverified):
            verify(module)
        before = print_before(_errors(), self.options.print_before)
        observers = [print_after(_errors(), self.options.print_after)] if self.options.print_after else []
        if self.options.print_changed:
            observers.append(print_changed(_errors()))
        if dump is not None:
            observers.append(dump_to(dump, write_output))

        def on_pass(run: PassRun) -> None:
            for observe in observers:
                observe(run)

        result = run_pipeline(self.pipeline, module, verify_each=verify_each, before_pass=before, on_pass=on_pass)
        notes = result.notes
        if part is not None:
            whole, chunk = part
            notes = tuple(
                comments.relocate_diagnostic(note, whole, files.decode(chunk.data), chunk.start) for note in notes
            )
        self.console.diagnose(notes)
        if self.options.timing:
            print(printable(format_timing(result.runs)), file=sys.stderr)
        # An unchanged module is printed as the bytes of the input, lossless even where the dialect normalizes text.
        is_text = self.options.emit == "text" and files.find_kind(data, name) in files.TEXT_KINDS
        if is_text and not wanted and not result.modified and not self.options.locations:
            return data, result
        if self.options.locations:
            files.show_locations(result.module)
        return files.serialize(result.module, self.options.emit), result

    def _run_line(self) -> str:
        """Returns the command of a test that runs the same passes, without options that only print or measure."""
        passes = ["-p", shlex.quote(str(self.pipeline))] if self.pipeline.passes else []
        flags = ("split_input_file", "allow_unverified", "locations")
        options = [f"--{name.replace('_', '-')}" for name in flags if getattr(self.options, name)]
        return " ".join(["relayout opt %s", *passes, *options, "--strip-comments | FileCheck %s"])

    def _dump_directory(self, read: Input, chunk: int) -> Path | None:
        directory = self.options.dump_dir
        if directory is not None and self.options.has_several:
            directory /= read.relative
        if directory is not None and chunk:
            directory /= str(chunk)
        return directory

    def _write(self, read: Input, target: str | None, output: bytes, results: list[PipelineResult]) -> None:
        if self.options.strip_comments and self.options.emit == "text":
            output = files.encode(comments.strip_comments(files.decode(output)))
        to_stdout = target is None
        other = _OTHER_ENDING[results[0].module.dialect] if results else ()
        if target is not None and target.endswith(other) and not read.path.endswith(other):
            message = f"{target} holds {results[0].module.dialect}, unlike its ending"
            self.console.diagnose([Diagnostic(message, severity="warning", hint="relayout convert changes the format")])
        if not (self.options.json and to_stdout):
            write_output(target, output)
        if self.options.json:
            print_json(_describe(read.path, output, results, with_text=to_stdout and self.options.emit == "text"))


def _errors() -> TextIO:
    return cast(TextIO, PrintableStream(sys.stderr))


def _describe(file: str, output: bytes, results: list[PipelineResult], *, with_text: bool) -> dict[str, object]:
    runs = [run for result in results for run in result.runs]
    passes = [
        {"pass": str(run.step), "modified": run.result.modified, "seconds": round(run.seconds, 6)} for run in runs
    ]
    notes = [note.message for result in results for note in result.notes]
    return {
        "file": file,
        "modified": any(result.modified for result in results),
        "passes": passes,
        "notes": notes,
        **({"module": files.decode(output)} if with_text else {}),
    }
