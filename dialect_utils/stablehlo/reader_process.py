"""Reads MLIR bytecode in a separate process: MLIR's reader trusts its input, and a damaged file can crash it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from dialect_utils.text import Diagnostic, DiagnosticError

_SECONDS = 120


def run_reader(reader: str, data: bytes, name: str, what: str) -> bytes:
    """Returns the bytes that the module `reader`, run as a program, writes for `data`.

    `name` is the file's name in diagnostics, `what` the expected format. Raises DiagnosticError where the reader
    rejects the data, crashes or exceeds its time limit.
    """
    root = str(Path(__file__).parents[2])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-P", "-m", reader]
    try:
        result = subprocess.run(
            command,
            input=data,
            capture_output=True,
            timeout=_SECONDS,
            env={**os.environ, "PYTHONPATH": path},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _rejected(name, what, f"its reader takes more than {_SECONDS} seconds") from None
    if result.returncode == 0:
        return result.stdout
    if result.returncode < 0:
        raise _rejected(name, what, "its reader crashes")
    # MLIR itself may have written lines before the reason.
    raise _rejected(name, what, result.stderr.decode(errors="replace").strip().rpartition("\n")[2])


def _rejected(name: str, what: str, reason: str) -> DiagnosticError:
    return DiagnosticError(Diagnostic(f"{name} is not a valid {what}: {reason}"))


def answer(read: Callable[[bytes], str]) -> None:
    """Writes what `read` returns for standard input; where it raises, exits with the reason in one line."""
    try:
        text = read(sys.stdin.buffer.read())
    except Exception as error:
        sys.exit(" ".join(str(error).split()))
    sys.stdout.buffer.write(text.encode())
