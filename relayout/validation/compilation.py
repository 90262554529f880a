"""The compilation that a command is about: the modules of a directory, or those of a file that it compiles itself."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from glob import escape as glob_escape, glob

from dialect_utils.io.files import function_of, read_module
from dialect_utils.io.inputs import Input
from dialect_utils.io.temporary import temporary_directory
from dialect_utils.ir import Module
from dialect_utils.ops.device_counts import devices_of
from dialect_utils.text import DiagnosticError
from passes.dumps.executable import as_program, is_optimized_dump
from passes.framework.pipeline import verify
from relayout.command import InputOptions, function_option
from relayout.console import Console
from relayout.options import needs, option, parsed, repeated, usage_error

NEEDS_TARGET = needs(("dump", "function"), "target", reason="without --target")


def dump_module(module: Module, target: str, folder: str) -> None:
    """Compiles a module for a target: the modules of all passes are then in a folder. Raises DiagnosticError."""
    from dialect_utils.execution.compilers import dump_passes

    verify(module)
    dump_passes(as_program(module).text(), target, folder)


def partition_program(file: str, folder: str) -> str:
    """Writes what XLA:CPU's partitioner makes of a program into a folder; returns the name of the file.

    Raises DiagnosticError for a program that the partitioner does not change.
    """
    dump_module(read_module(file), "cpu", folder)
    found = sorted(glob(os.path.join(glob_escape(folder), "*.after_spmd-partitioning.*.txt")))
    if not found:
        hint = "--sharded with one FILE needs shardings, and a number of devices (mhlo.num_partitions)"
        raise DiagnosticError(f"the partitioner makes no parts of {file}", hint=hint)
    return found[0]


def new_folder(dump: str, *parts: str) -> str:
    """Makes the directory of --dump with its parts; returns its absolute path. Raises UsageError for files in it."""
    named = os.path.abspath(dump)
    if os.path.exists(named) and (not os.path.isdir(named) or os.listdir(named)):
        raise usage_error(f"--dump {dump} is there already", "name a new directory")
    for each in parts or ("",):
        os.makedirs(os.path.join(named, each), exist_ok=True)
    return named


@dataclass(frozen=True, kw_only=True)
class CompilationOptions:
    """The programs of a compilation."""

    target: str | None = option(
        "TARGET", "compile a FILE, StableHLO or HLO, for cpu, tpu-v5e, gpu-h100 or another chip"
    )
    dump: str | None = option("DIR", "with --target: keep the modules that the compiler writes")
    module: tuple[str, ...] = repeated("NAME", "only these programs: jit_f, module_0003")
    function: str | None = function_option()

    @contextmanager
    def folder(self, *, is_made: bool) -> Iterator[str | None]:
        """Returns a directory for the modules that this command makes, None where it makes none.

        Raises UsageError for --dump with files in it. Without --dump the directory is removed in the end.
        """
        if not is_made:
            yield None
        elif self.dump is None:
            with temporary_directory() as made:
                yield made
        else:
            yield new_folder(self.dump)

    def compile(self, files: Sequence[str], folder: str | None, console: Console) -> None:
        """Compiles a file into a folder with --target; raises UsageError for a directory, and for an unknown target."""
        if self.target is None or folder is None:
            return
        from dialect_utils.execution.compilers import check_target

        module = self.program(files, "--target", console)
        dump_module(module, parsed(check_target, self.target), folder)

    def program(self, files: Sequence[str], name: str, console: Console) -> Module:
        """Returns the program that an option compiles; raises UsageError for a directory and for several files."""
        if len(files) > 1 or os.path.isdir(files[0]):
            raise usage_error(f"{name} compiles one FILE, and a directory holds what a compiler wrote", "leave it out")
        module = read_module(files[0], function_of(self.function))
        console.diagnose(devices_of(module).notes_of_compilation)
        return module

    def find(self, folder: str, console: Console | None, parts: str) -> list[Input]:
        """Returns the modules of a directory; raises UsageError for a file that is one of them.

        `parts` are what the command finds between the modules. Skipped files are noted in the user's own directory,
        not in one that this command made (`console` of None).
        """
        found = InputOptions(module=self.module).find([folder], console)
        if [each.path for each in found] == [folder]:
            # It raises MissingFileError; standard input is read once.
            module = replace(found[0], content=found[0].data()).module()
            command = {"steps": "validate", "passes": "report --why"}[parts]
            hint = f"relayout {command} {folder} --target cpu compiles it"
            if is_optimized_dump(module):
                hint = "XLA_FLAGS='--xla_dump_to=DIR --xla_dump_hlo_pass_re=.*' makes XLA write them (docs/why.md)"
            raise usage_error(f"{folder} is one module, and {parts} are between the modules of a directory", hint)
        return found
