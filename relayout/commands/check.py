"""`relayout check`: decides whether two modules compute the same, or whether passes keep the results of a module."""

from __future__ import annotations

import json
import shlex
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from dialect_utils.io.files import decode, display_name, read_bytes
from dialect_utils.io.inputs import Input, named_input, pair_inputs
from dialect_utils.ir import Module
from dialect_utils.text import Diagnostic
from passes.dumps.executable import is_optimized_dump
from passes.framework.pipeline import Pipeline, verify
from relayout.arguments import (
    Command,
    Parser,
    add_input_options,
    add_limits,
    chosen_inputs,
    files_or_input,
    reject,
    usage_error,
)
from relayout.batch.run import add_batch_options, add_ci_options
from relayout.batch.unit import Unit, Work
from relayout.comparison import (
    EXIT_CODES,
    SHARED,
    UNKNOWN,
    add_comparison_options,
    comparison_options,
    comparison_seconds,
    exit_code,
    most_severe,
    own_inputs,
    proof_seconds,
    reject_without_execution,
)
from relayout.console import DONE, WRONG_COMMAND, Console
from relayout.output import write_output
from relayout.pipelines import (
    NEEDS_PASSES,
    add_pipeline_options,
    first_breaking,
    read_pipeline,
    reproducer,
    run_pipeline,
)

if TYPE_CHECKING:
    from dialect_utils.execution import Worker
    from dialect_utils.verdict import Options, Verdict

# The JSON of a verdict without findings: the process of the command prints it, too, and loads no numpy for it.
_NOTHING_KNOWN: dict[str, Any] = {
    "verdict": "unknown",
    **dict.fromkeys(("up_to", "assumptions", "methods", "not_seen", "proved", "rules"), ()),
    "compared": "",
    **dict.fromkeys(("counterexample", "closeness", "rounded", "power", "power_interval")),
    "elided": 0,
    "seconds": 0.0,
}


def _add_arguments(parser: Parser) -> None:
    parser.option("files", metavar="FILE", nargs="*", help="two modules or dump directories, or with -p any number")
    add_pipeline_options(parser)
    add_input_options(parser)
    add_batch_options(parser)
    add_ci_options(parser)
    parser.option("--pairs", metavar="FILE", help="judge many pairs, one `A B` a line; - is standard input")
    parser.option("--bisect", action="store_true", help="with -p: name the first pass after which results differ")
    parser.option("--certificate", metavar="FILE", help="write the proof, which `relayout replay A B FILE` checks")
    add_comparison_options(parser)
    parser.option(
        "--verbose",
        action="store_true",
        help="say all that is known: data, planted mistakes, where proofs end, each output, rules",
    )
    add_limits(parser, "for each pair, all engines together (default 120)")


def _plan(arguments: Namespace, console: Console) -> Sequence[Unit]:
    _check_effects(arguments)
    console.diagnose(read_pipeline(arguments).notes)
    return [replace(unit, seconds=comparison_seconds(arguments, unit.inputs)) for unit in _units(arguments, console)]


def _check_effects(arguments: Namespace) -> None:
    """Raises UsageError for an option that has no effect with the others."""
    if not arguments.passes:
        reject(arguments, (*NEEDS_PASSES, "bisect"), "without -p SPEC")
    if arguments.pairs is not None:
        reject(arguments, ("stage", "module"), "with --pairs, which names files")
    reject_without_execution(arguments)


@contextmanager
def _open(arguments: Namespace, console: Console) -> Iterator[Work]:
    pipeline = read_pipeline(arguments)
    # Imported here: --help and wrong commands work without numpy and jaxlib.
    from dialect_utils.execution import Worker

    options = comparison_options(arguments)
    with Worker(memory=options.memory) as worker:
        yield _Check(arguments, pipeline, options, console, worker).report


def _units(arguments: Namespace, console: Console) -> list[Unit]:
    """Returns the pairs of files to compare, or the files whose pipeline is checked."""
    files = arguments.files
    if arguments.certificate is not None and (len(files) != 2 or arguments.passes):
        raise usage_error("--certificate is about two FILEs", "leave out -p and --pairs")
    if arguments.certificate is not None and arguments.assume_elided_equal:
        raise usage_error("--certificate is about modules as they are", "leave out --assume-elided-equal")
    if arguments.pairs is not None:
        if files or arguments.passes:
            raise usage_error("--pairs names all files itself", "leave out -p and other FILEs")
        listed = parse_pairs(decode(read_bytes(arguments.pairs)), display_name(arguments.pairs))
        return [Unit((named_input(a), named_input(b))) for a, b in listed]
    if arguments.passes:
        return [Unit((each,)) for each in chosen_inputs(files_or_input(files), arguments, console)]
    if len(files) != 2:
        there = f", and there is only {files[0]}" if len(files) == 1 else f", not {len(files)}" if files else ""
        hint = f"relayout check {files[0] if files else 'A'} B, or relayout check FILE... -p SPEC for a pipeline"
        raise usage_error(f"expected two FILEs to compare{there}", hint)
    return [Unit(pair) for pair in _paired(files, arguments, console)]


def _paired(files: Sequence[str], arguments: Namespace, console: Console) -> Sequence[tuple[Input, Input]]:
    """Returns the pairs of modules in two files or dump directories, and prints a note about modules without one."""
    first, second = (chosen_inputs([file], arguments, console) for file in files)
    found = pair_inputs(first, second)
    if not found.pairs:
        raise usage_error(f"no module of {files[0]} has the name and the stage of one of {files[1]}")
    if found.alone:
        names = ", ".join(each.path for each in found.alone[:3]) + (", ..." if len(found.alone) > 3 else "")
        message = f"{len(found.alone)} modules have no partner and are not compared: {names}"
        console.diagnose([Diagnostic(message, severity="note")])
    return found.pairs


def parse_pairs(text: str, name: str) -> list[tuple[str, str]]:
    """Returns the pairs of files that a text lists, one `A B` a line, quoted as in a shell; `#` begins a comment."""
    pairs = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise usage_error(f"{name}:{number}: {str(error).lower()}", "write `A B`") from None
        if len(words) not in (0, 2):
            raise usage_error(f"{name}:{number}: expected two files, found {len(words)}", "write `A B`")
        pairs += [(words[0], words[1])] if words else []
    return pairs


@dataclass(frozen=True, slots=True)
class _Check:
    """The check of one unit, with the arguments, pipeline and worker that all units share."""

    arguments: Namespace
    pipeline: Pipeline
    options: Options
    console: Console
    worker: Worker

    def report(self, unit: Unit) -> int:
        """Prints one verdict and returns its exit code; modules that cannot be compared are `unknown`."""
        files = [each.path for each in unit.inputs]
        modules: list[Module] = []
        codes: list[int] = []

        def compare_and_print() -> int:
            modules.extend(map(_read, unit.inputs))
            inputs = own_inputs(self.arguments, modules[0], self.console)
            options = replace(self.options, proof_seconds=proof_seconds(self.arguments, unit.seconds), inputs=inputs)
            if len(modules) > 1:
                verdict = self._compare(modules, options)
            else:
                verdict = self._compare_with_pipeline(modules[0], options)
            if self.arguments.certificate is not None:
                self._write_certificate(verdict)
            codes.append(exit_code(verdict.verdict, verdict.choices, self.arguments.require))
            self._print(files, verdict.as_json(), "\n  ".join(self._lines(files, verdict)))
            return DONE

        self.console.attempt(compare_and_print, partial(self._print_unknown, files))
        if not codes:
            return UNKNOWN if len(modules) == len(files) else WRONG_COMMAND
        return codes[0]

    def _write_certificate(self, verdict: Verdict) -> None:
        from dialect_utils.verdict.certificate import certificate_text
        from dialect_utils.verdict.outcome import PROOF

        if verdict.certificate is None or PROOF not in verdict.methods or verdict.verdict != "equal":
            message = f"{self.arguments.certificate} is not written: the modules are not proved equal"
            self.console.diagnose([Diagnostic(message, severity="warning")])
            return
        write_output(self.arguments.certificate, certificate_text(verdict.certificate).encode())

    def _lines(self, files: Sequence[str], verdict: Verdict) -> list[str]:
        """Returns the verdict, its reasons in plain words, and with --verbose all details."""
        sides = ("in the first", "in the second") if len(files) > 1 else ("before the passes", "after them")
        lines = verdict.lines(sides)
        if self.arguments.verbose:
            lines += ["details: " + verdict.details.replace("\n", "\n  ")]
            lines += [*verdict.outputs, *verdict.unreached, *map(str, verdict.rules)]
        return lines

    def _compare_with_pipeline(self, module: Module, options: Options) -> Verdict:
        """Compares a module with the output of the pipeline."""
        result = run_pipeline(self.pipeline, module, verify_each=self.arguments.verify_each)
        self.console.diagnose(result.notes)
        stages = [module, *(run.result.module for run in result.runs)]
        verdict = self._compare(stages, options)
        if self.arguments.bisect and verdict.verdict == "different":
            self._name_breaking_pass(stages, options)
        return verdict

    def _name_breaking_pass(self, stages: Sequence[Module], options: Options) -> None:
        def differs(part: Sequence[Module]) -> bool:
            return self._verdict(part, options).verdict == "different"

        number = first_breaking(stages, differs)
        step = self.pipeline.passes[number - 1]
        message = f"pass {step} (number {number}) is the first after which results differ"
        found = Diagnostic(message, severity="note")
        self.console.diagnose([found, reproducer("check", step, stages[number - 1])])

    def _compare(self, stages: Sequence[Module], options: Options) -> Verdict:
        first, last = stages[0], stages[-1]
        for module in {id(first): first, id(last): last}.values():
            if is_optimized_dump(module):
                message = f"{module.name} is an optimized dump, executed as make-portable rewrites it"
                self.console.diagnose([Diagnostic(message, severity="note")])
        return self._verdict(stages, options)

    def _verdict(self, stages: Sequence[Module], options: Options) -> Verdict:
        from relayout.elided import compare_forms

        return compare_forms(stages, options, self.worker, assume_equal=self.arguments.assume_elided_equal)

    def _print_unknown(self, files: Sequence[str], reason: str) -> None:
        print(_unknown_line(files, reason, self.arguments), flush=True)

    def _print(self, files: Sequence[str], described: dict[str, Any], line: str) -> None:
        print(_line(files, described, line, self.arguments), flush=True)


def _lost(arguments: Namespace, unit: Unit, reason: str) -> str:
    return _unknown_line([each.path for each in unit.inputs], reason, arguments) + "\n"


def _unknown_line(files: Sequence[str], reason: str, arguments: Namespace) -> str:
    described = {**_NOTHING_KNOWN, "reason": reason}
    return _line(files, described, f"unknown: {reason}", arguments)


def _line(files: Sequence[str], described: dict[str, Any], line: str, arguments: Namespace) -> str:
    if not arguments.json:
        return f"{' and '.join(files)}: {line}"
    against = {"against": files[1]} if len(files) > 1 else {}
    return json.dumps({"file": files[0], **against, **described})


def _read(read: Input) -> Module:
    module = read.with_constants().module()
    verify(module)
    return module


COMMAND = Command(
    name="check",
    summary="decides whether modules compute the same, or whether passes keep what a module computes",
    examples=(
        "relayout check examples/attention.mlir -p 'annotate-layouts{target=tpu-v5e},expand-tiling'",
        "relayout check examples/negate.hlo -p expand-for-tpu --engines xla,interpreter --json",
    ),
    add_arguments=_add_arguments,
    plan=_plan,
    open=_open,
    combine=most_severe,
    lost=_lost,
    lost_status=UNKNOWN,
    notes=EXIT_CODES,
    shared=(*SHARED, "relayout.elided"),
)
