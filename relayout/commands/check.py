"""`relayout check`: decides whether two modules compute the same, or whether passes keep the results of a module."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from dialect_utils.io.files import decode, display_name, function_of, is_url, read_bytes
from dialect_utils.io.inputs import Input, named_input, pair_inputs
from dialect_utils.ir import Module
from dialect_utils.ops.device_counts import devices_of, with_devices, wrong_count
from dialect_utils.text import Diagnostic
from passes.dumps.executable import is_optimized_dump
from passes.framework.pipeline import Pipeline, verify
from relayout.batch.unit import Unit, Work
from relayout.command import BatchOptions, CiOptions, Command, InputOptions, LimitOptions, files_or_input
from relayout.comparison import (
    EXIT_CODES,
    SHARED,
    UNKNOWN,
    WITHOUT_EXECUTION,
    ComparisonOptions,
    comparison_seconds,
    inputs_for,
    most_severe,
    proof_seconds,
)
from relayout.console import DONE, WRONG_COMMAND, Console
from relayout.options import argument, count, excludes, flag, group, no_pair, option, parsed, usage_error
from relayout.output import write_output
from relayout.pipelines import PipelineOptions, first_breaking, needs_passes, reproducer, run_pipeline

if TYPE_CHECKING:
    from dialect_utils.execution import Worker
    from dialect_utils.ops.sharding import Partition
    from dialect_utils.verdict import Options, Verdict

# The JSON of a verdict without findings: the process of the command prints it, too, and loads no numpy for it.
_NOTHING_KNOWN: dict[str, Any] = {
    "verdict": "unknown",
    **dict.fromkeys(("up_to", "conditions", "assumptions", "methods", "not_seen", "proved", "rules"), ()),
    "compared": "",
    **dict.fromkeys(("counterexample", "class", "ulps", "closeness", "rounded", "power", "power_interval")),
    "elided": 0,
    "seconds": 0.0,
}
# Options that --certificate and --sharded exclude.
_NOT_CERTIFIED = ("devices", "assume_elided_equal")
_NOT_SHARDED = ("functions", "passes", "pairs", "assume_elided_equal")


@dataclass(frozen=True, kw_only=True)
class Check(Command):
    """The verdict on each pair of modules, or on what a pipeline does to each module."""

    examples = (
        "relayout check examples/attention.mlir -p 'annotate-layouts{target=tpu-v5e},expand-tiling'",
        "relayout check examples/negate.hlo -p expand-for-tpu --engines xla,interpreter --json",
    )
    notes = EXIT_CODES
    lost_status = UNKNOWN
    combine = staticmethod(most_severe)
    shared = (*SHARED, "relayout.elided")
    rules = (
        needs_passes("bisect"),
        excludes("pairs", ("stage", "module", "function"), "with --pairs, which names files"),
        excludes("certificate", _NOT_CERTIFIED, "with --certificate, which is about modules as they are"),
        excludes("function", ("functions",), "with --function, which chooses one"),
        excludes("sharded", _NOT_SHARDED, "with --sharded, which compares two programs"),
        WITHOUT_EXECUTION,
    )

    files: tuple[str, ...] = argument("FILE", "two modules or dump directories, or with -p any number", "*")
    pipeline: PipelineOptions = group(PipelineOptions)
    selection: InputOptions = group(InputOptions)
    batch: BatchOptions = group(BatchOptions)
    ci: CiOptions = group(CiOptions)
    pairs: str | None = option("FILE", "judge many pairs, one `A B` a line; - is standard input")
    bisect: bool = flag("with -p: name the first pass after which results differ")
    functions: bool = flag("judge each pair of functions of one name, private ones too (default: the entry, if any)")
    sharded: bool = flag("the second module is for several devices, and computes on parts of the first one's arrays")
    placements: str | None = option("FILE", "with --sharded: JSON that says which device holds which part")
    certificate: str | None = option("FILE", "write the proof, which `relayout check --replay A B FILE` checks")
    devices: int | None = option("N", "host devices, where the modules do not say it", count)
    comparison: ComparisonOptions = group(ComparisonOptions)
    verbose: bool = flag("say all that is known: data, planted mistakes, where proofs end, each output, rules")
    limits: LimitOptions = group(LimitOptions, timeout="for each pair, all engines together (default 120)")

    @contextmanager
    def prepared(self) -> Iterator[Self]:
        """Adds a directory for what XLA's partitioner makes of one program, with --sharded."""
        if not self.sharded or len(self.files) != 1:
            yield self
            return
        from dialect_utils.io.temporary import temporary_directory

        with temporary_directory() as folder:
            yield replace(self, compiled=folder)

    def plan(self, console: Console) -> Sequence[Unit]:
        console.diagnose(self.pipeline.read().notes)
        compared = [each for inputs in self._compared(console) for each in self._by_function(inputs, console)]
        units = [Unit(inputs) for inputs in compared]
        return [replace(unit, seconds=comparison_seconds(self.limits, unit.inputs)) for unit in units]

    def _compared(self, console: Console) -> Iterable[tuple[Input, ...]]:
        """Returns the pairs of files to compare, or the files whose pipeline is checked."""
        files = self.files
        if self.compiled is not None:
            from relayout.validation.compilation import partition_program

            files = (*files, partition_program(files[0], self.compiled))
        if self.certificate is not None and (len(files) != 2 or self.pipeline.passes):
            raise usage_error("--certificate is about two FILEs", "leave out -p and --pairs")
        if self.pairs is not None:
            if files or self.pipeline.passes:
                raise usage_error("--pairs names all files itself", "leave out -p and other FILEs")
            listed = parse_pairs(decode(read_bytes(self.pairs)), display_name(self.pairs))
            if not listed:
                console.diagnose([Diagnostic(f"{display_name(self.pairs)} lists no pairs", None, "note")])
            return [(named_input(a), named_input(b)) for a, b in listed]
        if self.pipeline.passes:
            return [(each,) for each in self.selection.find(files_or_input(files), console)]
        if self.placements is not None and not self.sharded:
            raise usage_error("--placements says which device holds which part, so it needs --sharded")
        if len(files) != 2:
            there = f", and there is only {files[0]}" if len(files) == 1 else f", not {len(files)}" if files else ""
            hint = f"relayout check {files[0] if files else 'A'} B, or relayout check FILE... -p SPEC for a pipeline"
            only = files[0] if len(files) == 1 and os.path.isdir(files[0]) else ""
            raise usage_error(
                f"expected two FILEs to compare{there}", f"relayout validate {only} judges its passes" if only else hint
            )
        return self._paired(files, console)

    def _by_function(self, inputs: tuple[Input, ...], console: Console) -> Sequence[tuple[Input, ...]]:
        """Returns the inputs of each pair of functions of one name, where modules have no entry or with --functions."""
        if self.pairs is not None and any(is_url(each.path) for each in inputs):
            # The process that plans has no network for what a list names.
            return [inputs]
        if not any(each.functions(always=self.functions) for each in inputs):
            if self.functions:
                message = f"{inputs[0].name}: no functions of StableHLO in a file, so the entry is judged"
                console.diagnose([Diagnostic(message, severity="note")])
            return [inputs]
        listed = [each.functions(always=True) for each in inputs]
        if not all(listed):
            # Standard input, HLO, or a file that cannot be read.
            return [inputs]
        common = [name for name in listed[0] if name in listed[-1]]
        for read, defined in zip(inputs, listed, strict=True):
            alone = ", ".join(f"@{name}" for name in defined if name not in common)
            if alone:
                message = f"{read.name}: without a partner, and not compared: {alone}"
                console.diagnose([Diagnostic(message, severity="note" if common else "error")])
        return [
            tuple(replace(each, wanted=(*each.wanted, *function_of(name))) for each in inputs) for name in common
        ] or [inputs]

    def _paired(self, files: Sequence[str], console: Console) -> Sequence[tuple[Input, Input]]:
        """Returns the pairs of modules in two files or dump directories; prints a note about modules without one."""
        first, second = (self.selection.find([file], console) for file in files)
        found = pair_inputs(first, second)
        if not found.pairs:
            raise no_pair(files[0], files[1], [each.path for each in max(first, second, key=len)])
        if found.alone:
            names = ", ".join(each.path for each in found.alone[:3]) + (", ..." if len(found.alone) > 3 else "")
            message = f"{len(found.alone)} modules have no partner and are not compared: {names}"
            console.diagnose([Diagnostic(message, severity="note")])
        return found.pairs

    @contextmanager
    def open(self, console: Console) -> Iterator[Work]:
        pipeline = self.pipeline.read()
        from dialect_utils.execution import Worker

        options = self.comparison.checked(self.limits)
        with Worker(memory=options.memory) as worker:
            yield _Check(self, pipeline, options, console, worker).report

    def lost(self, unit: Unit, reason: str) -> str:
        return self.unknown(unit.inputs, reason) + "\n"

    def unknown(self, inputs: Sequence[Input], reason: str) -> str:
        """Returns the line of an unknown verdict."""
        return self.line(inputs, {**_NOTHING_KNOWN, "reason": reason}, f"unknown: {reason}")

    def line(self, inputs: Sequence[Input], described: dict[str, Any], line: str) -> str:
        """Returns the line about files: `line`, or the fields of a verdict as JSON."""
        if not self.json:
            return f"{' and '.join(' '.join(filter(None, (each.path, each.function))) for each in inputs)}: {line}"
        against = {"against": inputs[1].path} if len(inputs) > 1 else {}
        function = {"function": inputs[0].function.removeprefix("@")} if inputs[0].function else {}
        return json.dumps({"file": inputs[0].path, **against, **function, **described})


# Two paths are shorter on every system.
_LONGEST_LINE = 1 << 14


def parse_pairs(text: str, name: str) -> list[tuple[str, str]]:
    """Returns the pairs of files that a text lists, one `A B` a line, quoted as in a shell; `#` begins a comment."""
    pairs = []
    for number, line in enumerate(text.split("\n"), 1):
        # The time of shlex grows with the square of a word.
        if len(line) > _LONGEST_LINE:
            raise usage_error(f"{name}:{number}: has {len(line)} characters, too many for two files", "write `A B`")
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
    """The check of one unit, with the options, pipeline and worker that all units share."""

    command: Check
    pipeline: Pipeline
    options: Options
    console: Console
    worker: Worker

    def report(self, unit: Unit) -> int:
        """Prints one verdict and returns its exit code; modules that cannot be compared are `unknown`."""
        modules: list[Module] = []
        codes: list[int] = []

        def compare_and_print() -> int:
            modules.extend(map(self._read, unit.inputs))
            self._check_devices(modules)
            inputs = inputs_for(self.command.comparison.inputs, modules[0], self.console)
            options = replace(
                self.options, proof_seconds=proof_seconds(self.command.limits, unit.seconds), inputs=inputs
            )
            if self.command.sharded:
                verdict = self._compare_parts(modules, options)
            elif len(modules) > 1:
                verdict = self._compare(modules, options)
            else:
                verdict = self._compare_with_pipeline(modules[0], options)
            if self.command.certificate is not None:
                self._write_certificate(self.command.certificate, verdict)
            codes.append(self.command.comparison.exit_code(verdict.verdict, verdict.choices))
            lines = "\n  ".join(self._lines(verdict, is_pair=len(modules) > 1))
            print(self.command.line(unit.inputs, verdict.as_json(), lines), flush=True)
            return DONE

        def print_unknown(reason: str) -> None:
            print(self.command.unknown(unit.inputs, reason), flush=True)

        self.console.attempt(compare_and_print, print_unknown)
        if not codes:
            return UNKNOWN if len(modules) == len(unit.inputs) else WRONG_COMMAND
        return codes[0]

    def _read(self, read: Input) -> Module:
        """Returns a module, verified; on the devices of --devices where its results depend on these."""
        module = read.with_constants().module()
        if self.command.devices and devices_of(module).dependent is not None:
            module = with_devices(module, self.command.devices)
        verify(module)
        self.console.diagnose(devices_of(module).notes_of_run())
        return module

    def _write_certificate(self, file: str, verdict: Verdict) -> None:
        from dialect_utils.verdict.certificate import certificate_text
        from dialect_utils.verdict.outcome import PROOF

        if verdict.certificate is None or PROOF not in verdict.methods or verdict.verdict not in ("equal", "equal-if"):
            reason = "a proof assumes how parameters match" if verdict.matched else "the modules are not proved equal"
            message = f"{file} is not written: {reason}"
            self.console.diagnose([Diagnostic(message, severity="warning")])
            return
        write_output(file, certificate_text(verdict.certificate).encode())

    def _lines(self, verdict: Verdict, *, is_pair: bool) -> list[str]:
        """Returns the verdict, its reasons in plain words, and with --verbose all details."""
        sides = ("in the first", "in the second") if is_pair else ("before the passes", "after them")
        lines = verdict.lines(sides)
        if self.command.verbose:
            lines += ["details: " + verdict.details.replace("\n", "\n  ")]
            lines += [*verdict.outputs, *verdict.unreached, *map(str, verdict.rules)]
        return lines

    def _compare_with_pipeline(self, module: Module, options: Options) -> Verdict:
        """Compares a module with the output of the pipeline."""
        result = run_pipeline(self.pipeline, module, verify_each=self.command.pipeline.verify_each)
        self.console.diagnose(result.notes)
        stages = [module, *(run.result.module for run in result.runs)]
        verdict = self._compare(stages, options)
        if self.command.bisect and verdict.verdict == "different":
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

    def _check_devices(self, modules: Sequence[Module]) -> None:
        """Raises DiagnosticError where --devices is a number that no module is for."""
        if (wanted := self.command.devices) is None:
            return
        found = [*map(devices_of, modules)]
        if all(wanted not in (each.count, each.needed) for each in found):
            raise wrong_count(modules[-1], found[-1], wanted)

    def _compare_parts(self, modules: Sequence[Module], options: Options) -> Verdict:
        """Compares a program with one for several devices, by each placement of arrays that may be meant."""
        from dialect_utils.verdict.partition import compare_parts, read_partition

        first, last = modules

        def compare(partition: Partition) -> Verdict:
            return self._compare([first, last], replace(options, partition=partition))

        file = self.command.placements
        if file is None:
            return compare_parts(first, last, compare)
        return compare(parsed(partial(read_partition, name=display_name(file)), decode(read_bytes(file))))

    def _compare(self, stages: Sequence[Module], options: Options) -> Verdict:
        first, last = stages[0], stages[-1]
        for module in {id(first): first, id(last): last}.values():
            if is_optimized_dump(module):
                message = f"{module.name} is an optimized dump, executed as make-portable rewrites it"
                self.console.diagnose([Diagnostic(message, severity="note")])
        return self._verdict(stages, options)

    def _verdict(self, stages: Sequence[Module], options: Options) -> Verdict:
        from relayout.elided import compare_forms

        return compare_forms(stages, options, self.worker, assume_equal=self.command.comparison.assume_elided_equal)
