"""`relayout opt`: runs passes on modules and prints them."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from dialect_utils.files import (
    STANDARD_INPUT,
    TEXT_KINDS,
    decode,
    display_name,
    encode,
    find_kind,
    parse_bytes,
    read_bytes,
    serialize,
)
from dialect_utils.text import Diagnostic, DiagnosticError, Source
from passes.instrumentation import Observer, dump_to, format_timing, print_after_all
from passes.pipeline import PassRun, Pipeline, PipelineResult, verify
from relayout.arguments import Command, Parser, choice, usage_error
from relayout.comments import strip_comments
from relayout.console import DONE, Console, print_json
from relayout.output import STANDARD_OUTPUT, write_output
from relayout.pipelines import add_pipeline_options, print_passes, read_pipeline
from relayout.splitting import Chunk, relocate, relocate_diagnostic, split_input


def _add_arguments(parser: Parser) -> None:
    parser.option("files", metavar="FILE", nargs="*", help="HLO or StableHLO in any form; - is standard input")
    add_pipeline_options(parser)
    parser.option("-o", "--output", metavar="OUT", help="a file, or a directory for several FILEs")
    parser.option("--emit", type=choice("text", "bytecode", "pb"), default="text", help="text, bytecode or pb")
    parser.option("--list-passes", action="store_true", help="print all passes and their options")
    parser.option("--strip-comments", action="store_true", help="drop // comments, FileCheck directives among them")
    parser.option("--split-input-file", action="store_true", help="treat parts between // ----- as modules")
    parser.option("--print-after-all", action="store_true", help="print the module after each pass to stderr")
    parser.option("--dump-dir", metavar="DIR", type=Path, help="write one numbered file per pass")
    parser.option("--timing", action="store_true", help="print the time each pass took to stderr")
    parser.option("--allow-unverified", action="store_true", help="do not verify, not even the input")


def _run(arguments: Namespace, console: Console) -> int:
    if arguments.list_passes:
        print_passes(arguments)
        return DONE
    if not arguments.files:
        raise usage_error("expected a FILE", "- reads standard input")
    work = _Work(arguments, read_pipeline(arguments), console)
    _check_output(arguments)
    status = DONE
    for file in console.track(arguments.files, "opt"):
        status = max(status, console.attempt(partial(work.run, file), _json_failure(arguments, file)))
    return status


def _check_output(arguments: Namespace) -> None:
    output, files = arguments.output, arguments.files
    if arguments.split_input_file and arguments.emit != "text":
        raise usage_error(f"--emit {arguments.emit} writes one module, --split-input-file reads several")
    if len(files) > 1 and arguments.dump_dir is not None:
        _check_names(files, arguments.dump_dir)
    if output in (None, STANDARD_OUTPUT):
        return
    if Path(output).is_dir():
        if STANDARD_INPUT in files:
            raise usage_error(f"-o {output} is a directory, and standard input has no name for a file in it")
        _check_names(files, Path(output))
    elif len(files) > 1:
        raise usage_error(f"{len(files)} FILEs need a directory, but -o {output} is none")


def _check_names(files: Sequence[str], directory: Path) -> None:
    """Raises UsageError where two files would overwrite each other's output in a directory."""
    names = [Path(file).name for file in files]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise usage_error(f"several FILEs would be written to {directory / repeated}")


def _json_failure(arguments: Namespace, file: str) -> Callable[[str], None] | None:
    if not arguments.json:
        return None
    return lambda message: print_json({"file": file, "error": message})


@dataclass(frozen=True, slots=True)
class _Work:
    """Holds what is the same for every file."""

    arguments: Namespace
    pipeline: Pipeline
    console: Console

    def run(self, file: str) -> int:
        data, name = read_bytes(file), display_name(file)
        if not self.arguments.split_input_file:
            output, result = self._optimize(data, name, self._dump_directory(file, 0))
            self._write(file, output, [result])
            return DONE
        return self._run_chunks(file, name, data)

    def _run_chunks(self, file: str, name: str, data: bytes) -> int:
        """Runs every chunk; errors of all are shown before the first of them fails the file."""
        whole = Source(name, decode(data))
        output = b""
        results: list[PipelineResult] = []
        errors: list[Diagnostic] = []
        for number, chunk in enumerate(split_input(data)):
            if not chunk.data.strip():
                output += chunk.data + chunk.separator
                continue
            try:
                text, result = self._optimize(chunk.data, name, self._dump_directory(file, number), (whole, chunk))
            except DiagnosticError as error:
                errors += relocate(error, whole, chunk).diagnostics
                continue
            output += text + chunk.separator
            results.append(result)
        if errors and self.arguments.output is None and not self.arguments.json:
            write_output(None, output)
        if errors:
            raise DiagnosticError(errors)
        self._write(file, output, results)
        return DONE

    def _optimize(
        self, data: bytes, name: str, dump: Path | None, place: tuple[Source, Chunk] | None = None
    ) -> tuple[bytes, PipelineResult]:
        module = parse_bytes(data, name)
        verify_each = self.arguments.verify_each and not self.arguments.allow_unverified
        if not (verify_each or self.arguments.allow_unverified):
            verify(module)
        result = self.pipeline.run(module, verify_each=verify_each, on_pass=self._observer(dump))
        notes = result.notes
        if place is not None:
            whole, chunk = place
            notes = tuple(relocate_diagnostic(note, whole, decode(chunk.data), chunk.start) for note in notes)
        self.console.diagnose(notes)
        if self.arguments.timing:
            print(format_timing(result.runs), file=sys.stderr)
        # Where nothing changed the input is the output: lossless even for what a form prints its own way.
        if not result.modified and self.arguments.emit == "text" and find_kind(data, name) in TEXT_KINDS:
            return data, result
        return serialize(result.module, self.arguments.emit), result

    def _observer(self, dump: Path | None) -> Observer:
        observers: list[Observer] = []
        if self.arguments.print_after_all:
            observers.append(print_after_all(sys.stderr))
        if dump is not None:
            observers.append(dump_to(dump))

        def observe_all(run: PassRun) -> None:
            for observe in observers:
                observe(run)

        return observe_all

    def _dump_directory(self, file: str, chunk: int) -> Path | None:
        directory: Path | None = self.arguments.dump_dir
        if directory is not None and len(self.arguments.files) > 1:
            directory /= Path(file).name
        if directory is not None and chunk:
            directory /= str(chunk)
        return directory

    def _write(self, file: str, output: bytes, results: list[PipelineResult]) -> None:
        if self.arguments.strip_comments and self.arguments.emit == "text":
            output = encode(strip_comments(decode(output)))
        target = self.arguments.output
        if target and target != STANDARD_OUTPUT and Path(target).is_dir():
            target = str(Path(target) / Path(file).name)
        to_stdout = target in (None, STANDARD_OUTPUT)
        if not (self.arguments.json and to_stdout):
            write_output(target, output)
        if self.arguments.json:
            print_json(_describe(file, output, results, with_text=to_stdout and self.arguments.emit == "text"))


def _describe(file: str, output: bytes, results: list[PipelineResult], *, with_text: bool) -> dict[str, object]:
    runs = [run for result in results for run in result.runs]
    passes = [
        {"pass": str(run.step), "modified": run.result.modified, "seconds": round(run.seconds, 6)} for run in runs
    ]
    notes = [note.message for result in results for note in result.notes]
    described: dict[str, object] = {
        "file": file,
        "modified": any(result.modified for result in results),
        "passes": passes,
        "notes": notes,
    }
    return {**described, "module": decode(output)} if with_text else described


COMMAND = Command(
    name="opt",
    summary="runs passes on modules and prints them",
    examples=(
        "relayout opt --list-passes",
        "relayout opt examples/attention.mlir -p 'annotate-layouts{target=tpu-v5e},expand-tiling{interface=physical}'",
    ),
    add_arguments=_add_arguments,
    run=_run,
)
