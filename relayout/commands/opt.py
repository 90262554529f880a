"""`relayout opt`: runs passes on modules and prints them."""

from __future__ import annotations

import shlex
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TextIO, cast

from dialect_utils.io.files import (
    TEXT_KINDS,
    Emit,
    decode,
    encode,
    find_kind,
    parse_bytes,
    serialize,
    show_locations,
)
from dialect_utils.io.inputs import Input
from dialect_utils.text import Diagnostic, DiagnosticError, PrintableStream, Source, nearest, printable
from passes.framework.pipeline import (
    ALL,
    Observer,
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
from relayout.arguments import (
    Command,
    Parser,
    add_input_options,
    add_limits,
    choice,
    chosen_inputs,
    files_or_input,
    reject,
    reject_others,
    usage_error,
)
from relayout.batch.run import CI_OPTIONS, add_batch_options, add_ci_options
from relayout.batch.unit import Unit, Work, lost_file
from relayout.comments import (
    Chunk,
    expectations,
    lit_test,
    relocate,
    relocate_diagnostic,
    split_input,
    strip_comments,
    unmet,
)
from relayout.console import DONE, FAILED, Console, print_failure, print_json
from relayout.output import COMPRESSED, STANDARD_OUTPUT, is_name_of, output_name, write_output
from relayout.per_module import check_unique, output_files
from relayout.pipelines import NEEDS_PASSES, add_pipeline_options, print_passes, read_pipeline, run_pipeline
from relayout.process import REWRITING_SECONDS_PER_MEGABYTE, seconds_for_bytes

_ABOUT_PASSES = (
    *(*NEEDS_PASSES, "print_before", "print_after", "print_changed"),
    *("dump_dir", "timing", "dump_pass_pipeline"),
)
# The options that have an effect with --verify-diagnostics.
_WHERE_VERIFIED = (
    *("verify_diagnostics", "passes", "pipelines", "verify_each", "no_sandbox", "dump_pass_pipeline"),
    *("stage", "module", "split_input_file", "jobs", "cluster", "results", "resume"),
    *(*CI_OPTIONS, "timeout", "memory", "max_output"),
)


def _add_arguments(parser: Parser) -> None:
    parser.option(
        "files",
        metavar="FILE",
        nargs="*",
        help="HLO or StableHLO in any format, or a dump directory; - is standard input",
    )
    add_pipeline_options(parser)
    add_input_options(parser)
    add_batch_options(parser)
    add_ci_options(parser)
    parser.option("-o", "--output", metavar="OUT", help="a file, or a directory for several modules: DIR/")
    parser.option("--emit", type=choice("text", "bytecode", "pb"), default="text", help="text, bytecode or pb")
    parser.option("--list-passes", action="store_true", help="print all passes and their options")
    parser.option("--strip-comments", action="store_true", help="drop // comments, FileCheck directives among them")
    parser.option("--generate-checks", action="store_true", help="print a lit test: FILE with FileCheck lines")
    parser.option("--split-input-file", action="store_true", help="treat parts between // ----- as modules")
    for when in ("before", "after"):
        what = f"print the module {when} this pass to stderr"
        parser.option(f"--print-{when}", metavar="PASS", action="append", default=[], help=what)
        parser.option(
            f"--print-{when}-all",
            dest=f"print_{when}",
            action="append_const",
            default=[],
            const=ALL,
            help=f"{when} each pass",
        )
    parser.option("--print-changed", action="store_true", help="print it after each pass that changed it")
    parser.option("--locations", action="store_true", help="print StableHLO with locations: what each op was made of")
    parser.option(
        "--verify-diagnostics",
        action="store_true",
        help="succeed where exactly what // expected-error {{...}} comments say comes up",
    )
    parser.option("--dump-dir", metavar="DIR", type=Path, help="write one numbered file per pass")
    parser.option("--timing", action="store_true", help="print the time each pass took to stderr")
    parser.option("--dump-pass-pipeline", action="store_true", help="print the pipeline that runs to stderr")
    add_limits(parser, "for each FILE (default 9, more for large ones)")
    parser.option("--allow-unverified", action="store_true", help="do not verify, not even the input")


def _plan(arguments: Namespace, console: Console) -> Sequence[Unit]:
    _check_effects(arguments)
    if arguments.list_passes:
        print_passes(arguments, console)
        return ()
    pipeline = read_pipeline(arguments)
    console.diagnose(pipeline.notes)
    _check_printed(arguments, pipeline)
    if arguments.dump_pass_pipeline:
        print(f"builtin.module({pipeline})", file=sys.stderr)
    inputs = chosen_inputs(files_or_input(arguments.files), arguments, console)
    targets = _output_names(inputs, arguments)
    return [Unit((each,), targets.get(each.path), _seconds(each, arguments)) for each in inputs]


def _check_effects(arguments: Namespace) -> None:
    """Raises UsageError for an option that has no effect with the others."""
    if arguments.list_passes:
        if arguments.files:
            raise usage_error("--list-passes reads no FILE")
        reject_others(arguments, ("list_passes", "pipelines"), "with --list-passes")
    if arguments.verify_diagnostics:
        reject_others(arguments, _WHERE_VERIFIED, "with --verify-diagnostics, which prints no module")
    if not arguments.passes:
        reject(arguments, _ABOUT_PASSES, "without -p SPEC")
    if arguments.emit != "text":
        reject(arguments, ("strip_comments", "locations", "generate_checks"), f"with --emit {arguments.emit}")
    if arguments.generate_checks:
        reject(arguments, ("strip_comments",), "with --generate-checks, which prints a test with comments")


def _seconds(read: Input, arguments: Namespace) -> float:
    return arguments.timeout or seconds_for_bytes(read.size, REWRITING_SECONDS_PER_MEGABYTE)


@contextmanager
def _open(arguments: Namespace, console: Console) -> Iterator[Work]:
    yield _Work(arguments, read_pipeline(arguments), console).attempt


def _check_printed(arguments: Namespace, pipeline: Pipeline) -> None:
    """Raises UsageError if --print-before or --print-after name a pass that does not run."""
    names = [step.name for step in pipeline.passes]
    for name in {*arguments.print_before, *arguments.print_after} - {*names, ALL}:
        close = nearest(name, names)
        hint = f"did you mean {close}?" if close else f"-p runs {', '.join(names) or 'no pass'}"
        raise usage_error(f"pass {name} does not run", hint)


def _output_names(inputs: Sequence[Input], arguments: Namespace) -> dict[str, str]:
    """Returns the output file of each input, by the input's path.

    The result is empty for standard output. Raises UsageError for the ending of another format, and where two inputs
    have the same output file.
    """
    output, emit = arguments.output, arguments.emit
    if arguments.split_input_file and emit != "text":
        raise usage_error(f"--emit {emit} writes one module, --split-input-file reads several")
    if len(inputs) > 1 and arguments.dump_dir is not None:
        check_unique([each.relative for each in inputs], arguments.dump_dir)
    if output in (None, STANDARD_OUTPUT):
        return {}
    return output_files(inputs, output, lambda name: output_name(name, emit), lambda: _check_name(output, emit))


def _check_name(output: str, emit: Emit) -> None:
    """Raises UsageError for a name with the ending of another format."""
    if output.endswith(COMPRESSED):
        raise usage_error(f"-o {output}: what is written is not compressed", "leave the ending out")
    if not is_name_of(output, emit):
        raise usage_error(f"-o {output}: text has another ending", "--emit pb or --emit bytecode writes no text")


@dataclass(frozen=True, slots=True)
class _Work:
    """The work on one file, with the arguments and the pipeline that all files share."""

    arguments: Namespace
    pipeline: Pipeline
    console: Console

    def attempt(self, unit: Unit) -> int:
        [read] = unit.inputs
        failed = partial(print_failure, {"file": read.path}) if self.arguments.json else None
        return self.console.attempt(partial(self._run, read, unit.target), failed)

    def _run(self, read: Input, target: str | None) -> int:
        data = read.data()
        if read.wanted and (self.arguments.verify_diagnostics or self.arguments.split_input_file):
            option = "--verify-diagnostics" if self.arguments.verify_diagnostics else "--split-input-file"
            raise usage_error(f"--module chooses one module of {read.name}, and {option} reads all of it")
        if self.arguments.verify_diagnostics:
            return self._run_expecting(read, data)
        if not self.arguments.split_input_file:
            output, result = self._optimize(data, read.name, self._dump_directory(read, 0), wanted=read.wanted)
            if self.arguments.generate_checks:
                output = lit_test(data, output, read.name, self._run_line())
            self._write(read, target, output, [result])
            return DONE
        return self._run_chunks(read, target, data)

    def _run_chunks(self, read: Input, target: str | None, data: bytes) -> int:
        """Runs every chunk of a file; errors of all chunks are reported together."""
        name = read.name
        whole = Source(name, decode(data))
        output = b""
        results: list[PipelineResult] = []
        errors: list[Diagnostic] = []
        for number, chunk in enumerate(split_input(data)):
            if not chunk.data.strip():
                output += chunk.data + chunk.separator
                continue
            try:
                text, result = self._optimize(chunk.data, name, self._dump_directory(read, number), (whole, chunk))
            except DiagnosticError as error:
                errors += relocate(error, whole, chunk).diagnostics
                continue
            if self.arguments.generate_checks:
                text = lit_test(chunk.data, text, name, "" if results else self._run_line())
            output += text + chunk.separator
            results.append(result)
        if errors and self.arguments.output is None and not self.arguments.json:
            write_output(None, output)
        if errors:
            raise DiagnosticError(errors)
        self._write(read, target, output, results)
        return DONE

    def _run_expecting(self, read: Input, data: bytes) -> int:
        """Runs a file and prints the differences between its diagnostics and those that its comments expect."""
        name, whole = read.name, Source(read.name, decode(data))
        expected = list(expectations(whole))
        chunks = split_input(data) if self.arguments.split_input_file else [Chunk(data, 0, b"")]
        found: list[Diagnostic] = []
        for chunk in chunks:
            try:
                module = parse_bytes(chunk.data, name)
                diagnostics = run_pipeline(self.pipeline, module, verify_each=self.arguments.verify_each).notes
            except DiagnosticError as error:
                diagnostics = error.diagnostics
            text = decode(chunk.data)
            found += (relocate_diagnostic(diagnostic, whole, text, chunk.start) for diagnostic in diagnostics)
        wrong = unmet(expected, found)
        self.console.diagnose(wrong)
        if self.arguments.json:
            print_json({"file": read.path, "expected": len(expected), "wrong": [each.message for each in wrong]})
        elif not wrong:
            self.console.diagnose([_as_expected(name, len(expected))])
        return FAILED if wrong else DONE

    def _optimize(
        self,
        data: bytes,
        name: str,
        dump: Path | None,
        part: tuple[Source, Chunk] | None = None,
        wanted: Sequence[str] = (),
    ) -> tuple[bytes, PipelineResult]:
        module = parse_bytes(data, name, wanted)
        verify_each = self.arguments.verify_each and not self.arguments.allow_unverified
        if not (verify_each or self.arguments.allow_unverified):
            verify(module)
        before = print_before(_errors(), self.arguments.print_before)
        on_pass = self._observer(dump)
        result = run_pipeline(self.pipeline, module, verify_each=verify_each, before_pass=before, on_pass=on_pass)
        notes = result.notes
        if part is not None:
            whole, chunk = part
            notes = tuple(relocate_diagnostic(note, whole, decode(chunk.data), chunk.start) for note in notes)
        self.console.diagnose(notes)
        if self.arguments.timing:
            print(printable(format_timing(result.runs)), file=sys.stderr)
        # An unchanged module is printed as the bytes of the input, lossless even where the dialect normalizes text.
        is_text = self.arguments.emit == "text" and find_kind(data, name) in TEXT_KINDS
        if is_text and not wanted and not result.modified and not self.arguments.locations:
            return data, result
        if self.arguments.locations:
            show_locations(result.module)
        return serialize(result.module, self.arguments.emit), result

    def _run_line(self) -> str:
        """Returns the command of a test that runs the same passes, without what is only printed or measured."""
        passes = ["-p", shlex.quote(str(self.pipeline))] if self.pipeline.passes else []
        flags = ("split_input_file", "allow_unverified", "locations")
        options = [f"--{name.replace('_', '-')}" for name in flags if getattr(self.arguments, name)]
        return " ".join(["relayout opt %s", *passes, *options, "--strip-comments | FileCheck %s"])

    def _observer(self, dump: Path | None) -> Observer:
        observers = [print_after(_errors(), self.arguments.print_after)] if self.arguments.print_after else []
        if self.arguments.print_changed:
            observers.append(print_changed(_errors()))
        if dump is not None:
            observers.append(dump_to(dump, write_output))

        def observe_all(run: PassRun) -> None:
            for observe in observers:
                observe(run)

        return observe_all

    def _dump_directory(self, read: Input, chunk: int) -> Path | None:
        directory: Path | None = self.arguments.dump_dir
        if directory is not None and self.arguments.has_several:
            directory /= read.relative
        if directory is not None and chunk:
            directory /= str(chunk)
        return directory

    def _write(self, read: Input, target: str | None, output: bytes, results: list[PipelineResult]) -> None:
        if self.arguments.strip_comments and self.arguments.emit == "text":
            output = encode(strip_comments(decode(output)))
        to_stdout = target is None
        if not (self.arguments.json and to_stdout):
            write_output(target, output)
        if self.arguments.json:
            print_json(_describe(read.path, output, results, with_text=to_stdout and self.arguments.emit == "text"))


def _as_expected(name: str, count: int) -> Diagnostic:
    """Returns the note about a file whose diagnostics are those that it expects."""
    found = "1 expected diagnostic came up" if count == 1 else f"{count} expected diagnostics came up"
    return Diagnostic(f"{name}: {found if count else 'expects no diagnostic, and none came up'}", severity="note")


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
        **({"module": decode(output)} if with_text else {}),
    }


COMMAND = Command(
    name="opt",
    summary="runs passes on modules and prints them",
    examples=(
        "relayout opt --list-passes",
        "relayout opt examples/attention.mlir -p 'annotate-layouts{target=tpu-v5e},expand-tiling{interface=physical}'",
    ),
    add_arguments=_add_arguments,
    plan=_plan,
    open=_open,
    lost=lost_file,
)
