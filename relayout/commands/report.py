"""`relayout report`: the memory of a dump.

Longer than most: one command prints, writes, compares and gathers reports, of one module and of compilations.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePath
from typing import TYPE_CHECKING

from dialect_utils.io.files import encode
from dialect_utils.io.inputs import Input, find_inputs, pair_inputs
from dialect_utils.ir import Module
from dialect_utils.memory.messages import memory_messages, message_in
from dialect_utils.ops.device_counts import devices_of
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.framework.pipeline import verify
from relayout.batch.unit import Unit
from relayout.command import BatchOptions, Command, Gatherer, InputOptions, LimitOptions, Result, read_finding, show
from relayout.console import DONE, FAILED, Console, print_json
from relayout.options import (
    argument,
    count,
    excludes,
    flag,
    given,
    group,
    no_pair,
    option,
    parsed,
    reject,
    repeated,
    usage_error,
)
from relayout.output import STANDARD_OUTPUT, check_unique, is_directory, write_output
from relayout.process import CHECKING_SECONDS_PER_MEGABYTE
from relayout.reporting.export import FORMATS
from relayout.reporting.gate import CONTRACTS, figures_row, parse_condition
from relayout.reporting.gathering import INDEX, Gathered, contracts_text, index_page, other_modules
from relayout.validation.steps import find_programs, program_key

# Imported where they are used, by the child that has read a module: the process that plans a command needs none.
if TYPE_CHECKING:
    from dialect_utils.memory import MemoryReport
    from relayout.reporting.contracts import Contract
    from relayout.reporting.first_screen import Passes

# The labels of units that are gathered: for standard output, for a directory of pages, and for JSON; and the start of
# the label of one page about a compilation.
_PRINTED, _WRITTEN, _LISTED, _PAGE_OF = "gathered", "page", "row", "memory of"
# Modules before and after a compilation; one with more has modules of passes.
_STAGES = 2
# The most bytes of modules of all passes of which a printed report names the passes; --why reads more.
_MOST_BYTES = 1 << 24
_PAGE = ".html"
_COMPARED = (_PAGE, ".json")


@dataclass(frozen=True, kw_only=True)
class Report(Command):
    """The memory of each dump, as a page, as JSON, or as a comparison with another dump."""

    examples = ("relayout report examples/attention_tpu.hlo", "relayout report examples/attention_tpu.hlo --json")
    prints_files = True
    rules = (
        excludes("json", ("width",), "where no page is printed to standard output"),
        excludes("trial", ("fail_if", "results"), "with --try, which compiles the program twice"),
        excludes("results", ("output", "all", "width"), "with --results, which writes a row a module"),
        excludes("target", ("cluster",), "with --target, which compiles on this machine"),
    )

    files: tuple[str, ...] = argument("FILE", "dumps, dump directories or StableHLO; - is standard input", "+")
    selection: InputOptions = group(InputOptions)
    all: bool = flag("of a directory: print the report of every module, largest peak first")
    output: str | None = option(
        "OUT", f"write a file: {', '.join(FORMATS)}; DIR/: a page for each module", str, "-o", "--output"
    )
    against: str | None = option("OLD", "say what changed since another dump of the program")
    fail_if: tuple[str, ...] = repeated(
        "CONDITION",
        'exit code 1 where it holds: "peak > 1.02 * old", "copies > old", "all-gather bytes > 0" (may be repeated)',
    )
    target: str | None = option(
        "TARGET", "compile a program for it: tpu-v5e, gpu-h100, cpu; of a compiled one, the chip that it is for"
    )
    trial: bool = flag("compile StableHLO with the advised entry layouts", "--try")
    width: int | None = option("N", "columns of the page (default: the terminal's)", count)
    batch: BatchOptions = group(BatchOptions, results="write a row of figures a module: .jsonl or .parquet, also a URL")
    limits: LimitOptions = group(LimitOptions)

    def plan(self, console: Console) -> Sequence[Unit]:
        self._check()
        pairs = self._pairs(console)
        targets = self._targets([new for new, _ in pairs])
        label = self._label([new for new, _ in pairs])
        compilations = self._compilations()
        units = []
        for (new, old), target in zip(pairs, targets, strict=True):
            own = label if new.within or target is not None else ""
            if (modules := compilations.get((new.within, *program_key(new)))) is not None:
                units.append(
                    Unit((new, *modules), target, self._seconds(modules), label=f"{own or _PAGE_OF} {new.name}")
                )
            else:
                inputs = (new,) if old is None else (new, old)
                units.append(Unit(inputs, target, self._seconds(inputs), label=own))
        return units

    def _compilations(self) -> dict[tuple[object, ...], list[Input]]:
        """Returns the modules of all passes that a report is also about, by the key of the compilation."""
        output = self.written
        if self.against is not None or self.trial or self.batch.results is not None:
            return {}
        if output is not None and not is_directory(output) and PurePath(output).suffix != _PAGE:
            return {}
        found: dict[tuple[object, ...], list[Input]] = {}
        for folder in filter(os.path.isdir, self.files):
            with suppress(DiagnosticError):
                for modules in find_programs(find_inputs([folder]).modules, folder).values():
                    if len(modules) > _STAGES:
                        found[folder, *program_key(modules[0])] = modules
        size = sum(each.size for modules in found.values() for each in modules)
        return found if output is not None or size <= _MOST_BYTES else {}

    def _label(self, inputs: Sequence[Input]) -> str:
        """Returns the label of units that are gathered: modules of a directory, and pages that are written to one."""
        if self.batch.results is not None:
            return ""
        if self.written is not None:
            return _WRITTEN if is_directory(self.written) else ""
        is_printed = self.against is None and not self.trial and not self.json
        has_several = sum(bool(each.within) for each in inputs) > 1
        if self.all and not (is_printed and has_several):
            reason = "where one module is reported" if is_printed else "with options that report every module"
            raise usage_error(f"--all has no effect {reason}")
        if self.json and has_several and self.against is None:
            return _LISTED
        return _PRINTED if is_printed and has_several else ""

    def _seconds(self, inputs: Sequence[Input]) -> float:
        return self.limits.seconds(inputs, CHECKING_SECONDS_PER_MEGABYTE)

    @property
    def may_compile(self) -> bool:
        return self.target is not None

    def work(self, unit: Unit, console: Console) -> int:
        new, *rest = unit.inputs
        old = rest[0] if rest and self.against is not None else None
        # A name distinguishes the pages of several modules.
        heading = f"{new.name}:\n" if self.has_several else ""
        return self._report_one(new, old, unit, heading, console)

    def conclusion(self) -> Reports:
        return Reports(command=self)

    def _pairs(self, console: Console) -> list[tuple[Input, Input | None]]:
        """Returns the modules to report, of the last stage unless --stage names one, each with its old module."""
        new = self.selection.find(self.files, console, final=True)
        if self.against is None:
            return [(each, None) for each in new]
        # Several dumps may be compared with one old dump.
        old = self.selection.find([self.against], console, final=True)
        pairs = [(old[0], each) for each in new] if len(old) == 1 else pair_inputs(old, new).pairs
        if not pairs:
            raise no_pair(self.against, "the FILEs", [each.path for each in old])
        return [(after, before) for before, after in pairs]

    def _targets(self, inputs: Sequence[Input]) -> list[str | None]:
        """Returns the output file of each report (None: standard output)."""
        output = self.written
        if output is None:
            return [None] * len(inputs)
        if not is_directory(output):
            if len(inputs) > 1:
                raise usage_error(
                    f"-o {output} is one file for {len(inputs)} modules", "-o DIR/ writes a page for each"
                )
            return [output]
        names = [f"{each.stem}{_PAGE}" for each in inputs]
        check_unique([*names, INDEX], output)
        return [os.path.join(output, name) for name in names]

    def _check(self) -> None:
        """Raises UsageError for options that exclude each other."""
        if self.width is not None and self.written is not None:
            raise usage_error("--width has no effect where no page is printed to standard output")
        if self.target is not None:
            from dialect_utils.execution.compilers import known_target

            parsed(known_target, self.target)
        conditions = [parsed(parse_condition, each) for each in self.fail_if]
        has_several = not (self.against or self.batch.results) and any(map(os.path.isdir, self.files))
        if not has_several and any(each.figure == CONTRACTS for each in conditions):
            raise usage_error("contracts are those of several programs", "relayout report DIR --fail-if ...")
        if self.against is None and any(each.needs_old for each in conditions):
            raise usage_error(
                "a condition on old figures needs an old dump", "relayout report NEW --against OLD --fail-if ..."
            )
        if self.trial and (self.target is None or self.json or self.output or self.against):
            raise usage_error("--try prints a page for a --target", "relayout report FILE --try --target tpu-v5e")
        if self.written is not None:
            self._check_output(self.written)

    @property
    def written(self) -> str | None:
        """Returns the file or directory that is written, None for standard output."""
        return None if self.output == STANDARD_OUTPUT else self.output

    def _check_output(self, output: str) -> None:
        """Raises UsageError for an output file or directory that cannot hold the reports."""
        found = given(self)
        if not is_directory(output) and PurePath(output).suffix not in FORMATS:
            raise usage_error(f"{output} has no known ending", f"one of {', '.join(FORMATS)}")
        if len(self.files) > 1 and not is_directory(output):
            raise usage_error("-o writes the report of one FILE", "-o DIR/ writes a page for each")
        if not is_directory(output) and PurePath(output).suffix not in _COMPARED:
            reject(found, ("against",), f"with -o {output}", f"a comparison is {' or '.join(_COMPARED)}")
        reject(found, ("all",), "with -o: -o DIR/ writes a page for each module")
        if self.json:
            raise usage_error("-o writes a file, and --json prints on standard output", "-o report.json writes it")

    def _report_one(self, new: Input, old: Input | None, unit: Unit, heading: str, console: Console) -> int:
        # Standard input is read once.
        new = replace(new, content=new.data())
        if (text := message_in(new.data())) is not None:
            return self._report_message(new, text, heading)
        if self.trial:
            return self._try(new, heading, console)
        from relayout.reporting.first_screen import report_json
        from relayout.validation.measured import measured

        report = measured(_verified(new), self.target, console.diagnose)
        if old is not None:
            before = measured(_verified(old), self.target, console.diagnose)
            sides = [
                [each.without_layout for side in of.module.entry_layout for each in side] for of in (before, report)
            ]
            if sides[0] != sides[1]:
                message = (
                    f"the old program, {before.module.name}, takes or returns other arrays than {report.module.name}"
                )
                console.diagnose([Diagnostic(message, None, "note")])
            return _ended(self._compare(new, report, old, before, unit, heading), new, console)
        failures, failed = self._gate(report, None)
        if self.batch.results is not None:
            print_json({"file": new.path, **figures_row(report), **failed})
        elif unit.target is not None:
            suffix = PurePath(unit.target).suffix
            write_output(unit.target, _page(report, unit) if suffix == _PAGE else FORMATS[suffix](report))
            if unit.label.startswith(_WRITTEN):
                _send(new, report, report.headline)
        elif self.json:
            from relayout.reporting.contracts import texts_of_arrays

            is_listed = unit.label.startswith(_LISTED)
            arrays = texts_of_arrays(report.module, new.stem, report.named_target) if is_listed else ()
            entry = {"entry": [*map(json.loads, arrays)]} if is_listed else {}
            print_json({"file": new.path, **report_json(report, _passes(unit)), **entry, **failed})
        else:
            from relayout.reporting.terminal import terminal_page

            page = terminal_page(report, self.width, _passes(unit))
            if unit.label.startswith(_PRINTED):
                _send(new, report, report.headline, page)
            else:
                write_output(None, encode(heading + page))
        return _ended(failures, new, console)

    def _gate(self, report: MemoryReport, old: MemoryReport | None) -> tuple[list[str], dict[str, list[str]]]:
        """Returns a sentence for each condition of --fail-if that holds, and the field of JSON about them."""
        failures = [*filter(None, (parse_condition(each).failure(report, old) for each in self.fail_if))]
        return failures, {"failed": failures} if self.fail_if else {}

    def _report_message(self, new: Input, text: str, heading: str) -> int:
        from relayout.reporting.out_of_memory import messages_json, messages_page

        reject(
            given(self), ("against", "fail_if", "target", "trial"), f"for {new.name}, which is a message and no module"
        )
        if self.written is not None:
            raise usage_error(f"-o writes the report of a module, and {new.name} is a message")
        messages = memory_messages(text)
        if self.json:
            print_json({"file": new.path, "messages": messages_json(messages)})
        else:
            write_output(None, encode(heading + messages_page(messages, self.width)))
        return DONE

    def _try(self, new: Input, heading: str, console: Console) -> int:
        from relayout.causes.trial import trial_page, try_advice

        module = new.module()
        console.diagnose(devices_of(module).notes_of_compilation)
        page = trial_page(try_advice(module, self.target or ""), self.width)
        write_output(None, encode(heading + page))
        return DONE

    def _compare(
        self, new: Input, report: MemoryReport, old: Input, before: MemoryReport, unit: Unit, heading: str
    ) -> list[str]:
        """Prints or writes a comparison, and returns the conditions that hold."""
        from relayout.reporting.against import compare_reports, comparison_html, comparison_page, comparison_sentence

        comparison = compare_reports(before, report)
        failures, failed = self._gate(report, before)
        fields = {"file": new.path, "against": old.path, **comparison.as_json(), **failed}
        if unit.target is None and not self.json:
            write_output(None, encode(heading + comparison_page(comparison, self.width)))
        elif unit.target is None:
            print_json(fields)
        else:
            is_page = PurePath(unit.target).suffix == _PAGE
            text = comparison_html(comparison, old.name, new.name) if is_page else json.dumps(fields, indent=1) + "\n"
            write_output(unit.target, encode(text))
            if unit.label:
                _send(new, report, comparison_sentence(comparison))
        return failures


def _ended(failures: Sequence[str], new: Input, console: Console) -> int:
    """Prints the conditions that hold as errors, and returns the exit code."""
    console.diagnose(Diagnostic(f"{new.name}: {each}") for each in failures)
    return FAILED if failures else DONE


def _verified(read: Input) -> Module:
    verify(module := read.module())
    return module


def _passes(unit: Unit) -> Passes | None:
    """Returns the function that names the passes of waste, None without the modules of passes."""
    if len(unit.inputs) == 1:
        return None
    # Imported here, as below: most reports are about one module.
    from relayout.causes.run import with_passes

    return partial(with_passes, modules=unit.inputs[1:])


def _page(report: MemoryReport, unit: Unit) -> bytes:
    """Returns the page about a module, and about the compilation that it belongs to."""
    from relayout.reporting.html import html_page

    if len(unit.inputs) == 1:
        return encode(html_page(report, ""))
    from relayout.causes.run import section_about

    return encode(html_page(report, section_about(unit.label, unit.inputs[1:])))


def _send(new: Input, report: MemoryReport, sentence: str, page: str = "") -> None:
    """Sends a report to the process that gathers those of all modules."""
    from relayout.reporting.contracts import texts_of_arrays

    arrays = texts_of_arrays(report.module, new.stem, report.named_target)
    print_json(Gathered.of(new, report.usage.main_memory_peak_bytes, sentence, page, arrays).as_json())


def _contracts(found: Sequence[Gathered]) -> list[Contract]:
    """Returns the arrays on which modules disagree; raises ValueError for texts that are no arrays of an entry."""
    from relayout.reporting.contracts import ProgramArray, find_contracts

    return find_contracts([read_finding(ProgramArray, json.loads(text)) for each in found for text in each.arrays])


@dataclass(slots=True)
class Reports(Gatherer[Gathered]):
    """The reports of all gathered modules so far."""

    command: Report = field(default_factory=lambda: Report(files=()))
    _are_written: bool = field(default=False, init=False)
    _notes: dict[str, bytes] = field(default_factory=dict, init=False)

    def add(self, unit: Unit, result: Result) -> Result:
        if not unit.label.startswith((_PRINTED, _WRITTEN, _LISTED)):
            return result
        self._are_written = unit.label.startswith(_WRITTEN)
        self.is_json = unit.label.startswith(_LISTED)
        added = Gatherer.add(self, unit, result)
        if self.is_json:
            return result
        # A note is about a page, and only one is printed.
        if not (self._are_written or self.command.all) and added.status == DONE and self.found:
            self._notes[self.found[-1].name] = added.diagnostics
            added = replace(added, diagnostics=b"")
        return replace(added, output=b"")

    def read(self, unit: Unit, result: Result) -> Gathered | None:
        try:
            said = json.loads(result.output)
            if self.is_json:
                found = Gathered(unit.inputs[0].stem, 0, 0, "", arrays=tuple(map(json.dumps, said["entry"])))
            else:
                found = read_finding(Gathered, said)
            _contracts([found])
        except (ValueError, KeyError, TypeError):
            return None
        return found

    def end(self) -> None:
        """Prints the pages, or writes the list of those in a directory; says on which arrays the modules disagree."""
        found = sorted(self.found, key=lambda each: each.order)
        if not found:
            return
        contracts = _contracts(found)
        conditions = map(parse_condition, self.command.fail_if)
        failed = [*filter(None, (each.failure_of(len(contracts)) for each in conditions))]
        self.has_failed = bool(failed)
        Console(colour=self.command.color).diagnose(map(Diagnostic, failed))
        if self.is_json:
            if contracts or failed:
                print_json({"contracts": [each.as_json() for each in contracts], "failed": failed})
        elif self._are_written:
            write_output(os.path.join(self.command.output or "", INDEX), encode(index_page(found, contracts)))
        elif self.command.all:
            pages = "\n".join(f"{each.name}:\n{each.page}" for each in found)
            write_output(None, encode(pages + contracts_text(contracts)))
        else:
            show(Result(DONE, diagnostics=self._notes.get(found[0].name, b"")))
            rest = other_modules(found[1:], self.command.width) + contracts_text(contracts)
            write_output(None, encode(f"{found[0].name}:\n{found[0].page}{rest}"))
