"""`relayout report --why`: the pass that introduced each copy of a compiled program, and what removes the copy."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Self

from dialect_utils.io.files import decode, encode, function_of, is_url, read_module
from dialect_utils.text import Diagnostic
from dialect_utils.text.input_file import missing_file
from relayout.batch.unit import Unit
from relayout.command import BatchOptions, Command, LimitOptions
from relayout.console import DONE, Console, print_json
from relayout.options import argument, count, excludes, flag, given, group, needs, option, reject, usage_error
from relayout.output import SUFFIXES, write_output
from relayout.process import CHECKING_SECONDS_PER_MEGABYTE
from relayout.reporting.causes import SHOWN
from relayout.validation.compilation import NEEDS_TARGET, CompilationOptions
from relayout.validation.steps import find_programs


@dataclass(frozen=True, kw_only=True)
class Why(Command):
    """The causes of moved and padded arrays, for each program of a compilation."""

    examples = (
        "relayout report --why examples/attention.mlir --target cpu",
        "relayout report --why examples/attention.hlo --target cpu --json",
    )
    rules = (
        needs(("trial",), "target", reason="without --target"),
        NEEDS_TARGET,
        excludes("target", ("resume", "cluster"), "with --target, which compiles on this machine"),
    )

    files: tuple[str, ...] = argument(
        "DIR", "dump directories, FILEs with --target; then an instruction, or a part", "+"
    )
    compilation: CompilationOptions = group(
        CompilationOptions,
        target="compile a FILE, StableHLO or HLO, for cpu, tpu-v5e, gpu-h100 or another chip, and explain that",
        module="explain these programs only: jit_f, module_0003",
    )
    top: int = option("N", f"the N most expensive (default {SHOWN})", count, default=SHOWN)
    trial: bool = flag("compile the program again with each advised change, and say the costs", "--try")
    batch: BatchOptions = group(BatchOptions, results="write a row a program: .jsonl or .parquet, also a URL")
    value: str | None = None
    limits: LimitOptions = group(LimitOptions, timeout="for each program (default 9, more for large ones)")

    @contextmanager
    def prepared(self) -> Iterator[Self]:
        *files, last = self.files
        found = self
        is_file = os.path.lexists(last) or is_url(last) or os.sep in last or last.endswith(SUFFIXES)
        if files and not is_file:
            reject(given(self), ("top",), "with a VALUE")
            found = replace(self, files=tuple(files), value=last)
        parts = tuple(map(str, range(len(found.files)))) if len(found.files) > 1 else ()
        if self.trial and parts:
            raise usage_error("--try compiles one FILE again")
        with self.compilation.folder(is_made=self.compilation.target is not None) as folder:
            for each in parts if folder is not None else ():
                os.mkdir(os.path.join(folder or "", each))
            yield replace(found, compiled=folder, compilations=parts)

    def plan(self, console: Console) -> Sequence[Unit]:
        units = []
        for each in self.files if self.compilations else ():
            if not (os.path.lexists(each) or is_url(each)):
                raise missing_file(each)  # before the others are compiled
        for file, part in zip(self.files, self.compilations or ("",), strict=True):
            made = os.path.join(self.compiled, part) if self.compiled and part else self.compiled
            self.compilation.compile([file], made, console)
            folder = made or file
            found = self.compilation.find(folder, console if made is None else None, "passes")
            for name, modules in find_programs(found, folder).items():
                seconds = self.limits.seconds(modules, CHECKING_SECONDS_PER_MEGABYTE)
                label = name if len(self.files) == 1 else f"{file}: {name}"
                units.append(Unit(tuple(modules), seconds=seconds, label=label))
        return units

    @property
    def may_compile(self) -> bool:
        return self.trial

    def work(self, unit: Unit, console: Console) -> int:
        from dialect_utils.memory.relayouts import notes_of_lines
        from relayout.causes.run import explain_modules

        found = explain_modules(unit.label, unit.inputs, self.value, self.top)
        if self.trial and self.compilation.target is not None:
            from relayout.causes.collectives import try_changes
            from relayout.causes.trying import try_advice

            target = self.compilation.target
            program = read_module(self.files[0], function_of(self.compilation.function))
            found = try_advice(try_changes(found, program, target), program, target)
        elif self.compilation.target is not None and any(each.change is not None for each in found.causes):
            console.diagnose([Diagnostic("--try says what the program costs with each advised change", None, "note")])
        if self.compilation.target is not None:
            console.diagnose(notes_of_lines(decode(unit.inputs[-1].data())))
        if self.json:
            print_json(found.as_json())
        else:
            write_output(None, encode(f"{found}\n"))
        return DONE
