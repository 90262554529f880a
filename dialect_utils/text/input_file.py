"""Opening what a user names as input: files of a sensible size, and nothing that never ends or waits."""

from __future__ import annotations

import os
import stat
from typing import BinaryIO

from dialect_utils.text.diagnostics import Diagnostic, DiagnosticError

# The largest dumps that were seen have a few hundred thousand lines, some ten million bytes.
LARGEST_TEXT = 256 << 20
_KINDS = (
    (stat.S_ISDIR, "is a directory"),
    (stat.S_ISFIFO, "is a pipe"),
    (stat.S_ISSOCK, "is a socket"),
    (stat.S_ISCHR, "is a device"),
    (stat.S_ISBLK, "is a device"),
)


def read_input(path: str, largest: int = LARGEST_TEXT) -> bytes:
    """Returns a file's bytes; raises DiagnosticError where it is no regular file or has more than `largest` bytes."""
    try:
        with open_input(path, largest) as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(size + 1)
    except OSError as error:
        raise DiagnosticError(Diagnostic(f"{path}: {(error.strerror or str(error)).lower()}")) from None
    if len(data) > size:
        # The files of /proc say they are empty, and one that grows is not finished.
        raise DiagnosticError(Diagnostic(f"{path}: holds more than its size says, so it is no plain file"))
    return data


def read_start(path: str, size: int) -> bytes:
    """Returns at most `size` bytes from the start of a regular file; raises DiagnosticError for anything else."""
    try:
        with open_input(path, LARGEST_TEXT) as file:
            return file.read(size)
    except OSError as error:
        raise DiagnosticError(Diagnostic(f"{path}: {(error.strerror or str(error)).lower()}")) from None


def open_input(path: str, largest: int) -> BinaryIO:
    """Opens a regular file of at most `largest` bytes; raises DiagnosticError for anything else, at once."""
    try:
        # A pipe would wait for somebody who writes.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOCTTY", 0))
    except (OSError, ValueError) as error:
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        raise DiagnosticError(Diagnostic(f"{path}: {reason.lower()}")) from None
    try:
        # What fdopen says of a directory names a number.
        _check(path, os.fstat(descriptor), largest)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _check(path: str, status: os.stat_result, largest: int) -> None:
    for is_kind, what in _KINDS:
        if is_kind(status.st_mode):
            hint = None if what == "is a directory" else "- reads standard input"
            raise DiagnosticError(Diagnostic(f"{path}: {what}, no file", hint=hint))
    if status.st_size > largest:
        raise DiagnosticError(Diagnostic(f"{path}: has {status.st_size} bytes, more than the {largest} that are read"))
