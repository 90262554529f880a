"""XLA's own modules: StableHLO compiled for the CPU or a TPU by a process that writes the module after every pass.

Run as a program, this module compiles StableHLO from standard input for the target that its argument names, and has
XLA write its modules into a directory.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from dialect_utils import processes, sandbox
from dialect_utils.execution.tpu_compiler import TOPOLOGIES, check_installed, compile_module, last_lines
from dialect_utils.layout.targets.tpu import parse_target
from dialect_utils.text import Diagnostic, DiagnosticError

CPU = "cpu"
_SECONDS = 900
# The proto of a module has the constants that its text leaves out.
_FLAGS = "--xla_dump_to={} --xla_dump_hlo_pass_re=.* --xla_dump_hlo_as_text --xla_dump_hlo_as_proto"


def check_target(name: str) -> str:
    """Returns the name of a target: cpu or a TPU; raises DiagnosticError for others, and for a TPU without libtpu."""
    if name == CPU:
        return CPU
    try:
        target = parse_target(name).name
    except DiagnosticError as error:
        first = error.diagnostics[0]
        raise DiagnosticError(replace(first, hint=f"{first.hint}; or {CPU}")) from None
    check_installed()
    return target


def dump_passes(text: str, target: str, directory: str) -> None:
    """Compiles StableHLO, and writes the module after every pass into a directory.

    A compilation that ends with an error has written the modules of its passes up to there. Raises DiagnosticError
    where it has written none, with the compiler's last lines.
    """
    process = processes.start(processes.PASS_DUMPER, check_target(target), directory)
    try:
        ended = processes.communicate(process, text.encode(), _SECONDS)
    except TimeoutError as error:
        raise DiagnosticError(Diagnostic(f"the compiler took more than {_SECONDS} seconds")) from error
    if ended.code and not any(Path(directory).iterdir()):
        message = f"the compiler for {target} refused the module: {last_lines(ended)}"
        raise DiagnosticError(Diagnostic(message))


def _compile(text: str, target: str, directory: str) -> None:
    # XLA reads it once, before the first compilation.
    flags = os.environ.get("XLA_FLAGS", "")
    os.environ["XLA_FLAGS"] = f"{flags} {_FLAGS.format(directory)}".strip()
    if target != CPU:
        compile_module(text, TOPOLOGIES[target])
        return
    from dialect_utils.execution import adapter

    adapter.compile_module(adapter.cpu_client(), text, {})


if __name__ == "__main__":
    if parent := int(sys.argv[1]):
        sandbox.die_with_parent(parent)
    _compile(sys.stdin.read(), *sys.argv[2:4])
