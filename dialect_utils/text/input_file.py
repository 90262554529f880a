"""Opening of input files: regular files of a bounded size, and nothing that could block."""

from __future__ import annotations

import os
import stat
from typing import BinaryIO

from dialect_utils.text.diagnostics import Diagnostic, DiagnosticError

# The largest known dumps have a few hundred thousand lines, about ten million bytes.
LARGEST_TEXT = 256 << 20
_KINDS = (
    (stat.S_ISDIR, "is a directory"),
    (stat.S_ISFIFO, "is a pipe"),
    (stat.S_ISSOCK, "is a socket"),
    (stat.S_ISCHR, "is a device"),
    (stat.S_ISBLK, "is a device"),
)


_directory = ""


def read_from(directory: str) -> None:
    """Makes this module find files with relative names in a directory other than the working directory."""
    global _directory
    _directory = directory


def located(path: str) -> str:
    """Returns the path of a file that the user named, absolute where `read_from` was called."""
    return os.path.join(_directory, path)


def read_input(path: str, largest: int = LARGEST_TEXT) -> bytes:
    """Returns the bytes of a file; raises DiagnosticError unless it is a regular file of at most `largest` bytes."""
    try:
        with open_input(path, largest) as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(size + 1)
    except OSError as error:
        raise DiagnosticError(Diagnostic(f"{path}: {(error.strerror or str(error)).lower()}")) from None
    if len(data) > size:
        # Files of /proc report size 0, and a file that grows is still being written.
        raise DiagnosticError(Diagnostic(f"{path}: holds more bytes than its size, so it is not a regular file"))
    return data


def read_start(path: str, size: int) -> bytes:
    """Returns at most `size` bytes from the start of a regular file; raises DiagnosticError for anything else."""
    try:
        with open_input(path, LARGEST_TEXT) as file:
            return file.read(size)
    except OSError as error:
        raise DiagnosticError(Diagnostic(f"{path}: {(error.strerror or str(error)).lower()}")) from None


def open_input(path: str, largest: int) -> BinaryIO:
    """Opens a regular file of at most `largest` bytes; raises DiagnosticError for anything else, without blocking."""
    try:
        # Without O_NONBLOCK, opening a pipe waits for a writer.
        descriptor = os.open(located(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOCTTY", 0))
    except (OSError, ValueError) as error:
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        raise DiagnosticError(Diagnostic(f"{path}: {reason.lower()}")) from None
    try:
        # The message of fdopen for a directory names the descriptor, not the path.
        _check(path, os.fstat(descriptor), largest)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def _check(path: str, status: os.stat_result, largest: int) -> None:
    for is_kind, kind in _KINDS:
        if is_kind(status.st_mode):
            hint = None if kind == "is a directory" else "- reads standard input"
            raise DiagnosticError(Diagnostic(f"{path}: {kind}, not a file", hint=hint))
    if status.st_size > largest:
        raise DiagnosticError(Diagnostic(f"{path}: has {status.st_size} bytes, more than the {largest} that are read"))
