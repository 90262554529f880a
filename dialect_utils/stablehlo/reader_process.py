"""Runs a reader of MLIR bytecode in a process of its own, because bytecode can kill its reader."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from dialect_utils.text import Diagnostic, DiagnosticError

_SECONDS = 120


def run_reader(reader: str, data: bytes, name: str, what: str) -> bytes:
    """Returns what the module `reader` writes for `data`; raises DiagnosticError where it refuses, dies or hangs.

    `name` is the file's name in diagnostics, `what` what it should have been.
    """
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    try:
        result = subprocess.run(
            [sys.executable, "-P", "-m", reader],
            input=data,
            capture_output=True,
            timeout=_SECONDS,
            env={**os.environ, "PYTHONPATH": path},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _refused(name, what, f"its reader takes more than {_SECONDS} seconds") from None
    if result.returncode == 0:
        return result.stdout
    if result.returncode < 0:
        raise _refused(name, what, "its reader dies of it")
    # MLIR itself may have written lines before the reason.
    raise _refused(name, what, result.stderr.decode(errors="replace").strip().rpartition("\n")[2])


def _refused(name: str, what: str, reason: str) -> DiagnosticError:
    return DiagnosticError(Diagnostic(f"{name} is not a valid {what}: {reason}"))
