"""Reading of input files: regular files of a bounded size, and nothing that could block; and the collector paused."""

from __future__ import annotations

import errno
import functools
import gc
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from operator import attrgetter
from typing import BinaryIO, ParamSpec, TypeVar

from dialect_utils.text.diagnostics import Diagnostic, DiagnosticError, nearest

P = ParamSpec("P")
R = TypeVar("R")

# The largest known dumps have a few hundred thousand lines, about ten million bytes.
LARGEST_TEXT = 256 << 20
_KINDS = (
    (stat.S_ISDIR, "is a directory"),
    (stat.S_ISFIFO, "is a pipe"),
    (stat.S_ISSOCK, "is a socket"),
    (stat.S_ISCHR, "is a device"),
    (stat.S_ISBLK, "is a device"),
)


# A directory of more files is not searched for a similar name.
_MOST_NAMES = 10_000

_directory = ""
_note: Callable[[str], object] | None = None


class MissingFileError(DiagnosticError):
    """A file that does not exist."""


def read_from(directory: str) -> None:
    """Makes this module find files with relative names in a directory other than the working directory."""
    global _directory
    _directory = directory


def note_reads(note: Callable[[str], object]) -> None:
    """Makes this module call a function with the name of each file before it is opened."""
    global _note
    _note = note


def located(path: str) -> str:
    """Returns the path of a file that the user named, absolute where `read_from` was called."""
    return os.path.join(_directory, path)


def read_input(path: str, largest: int = LARGEST_TEXT, within: str = "") -> bytes:
    """Returns the bytes of a file; raises DiagnosticError unless it is a regular file of at most `largest` bytes.

    `within` is as for `open_input`.
    """
    try:
        with open_input(path, largest, within) as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(size + 1)
    except OSError as error:
        raise DiagnosticError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    if len(data) > size:
        # Files of /proc report size 0, and a file that grows is still being written.
        raise DiagnosticError(f"{path}: holds more bytes than its size, so it is not a regular file")
    return data


def read_start(path: str, size: int, within: str = "") -> bytes:
    """Returns at most `size` bytes from the start of a regular file; raises DiagnosticError for anything else."""
    try:
        with open_input(path, LARGEST_TEXT, within) as file:
            return file.read(size)
    except OSError as error:
        raise DiagnosticError(f"{path}: {(error.strerror or str(error)).lower()}") from None


def open_input(path: str, largest: int, within: str = "") -> BinaryIO:
    """Opens a regular file of at most `largest` bytes; raises DiagnosticError for anything else, without blocking.

    `within` is the directory in which the file was found: a link is followed only to files in this directory.
    """
    if _note is not None:
        _note(path)
    # Without O_NONBLOCK, opening a pipe waits for a writer.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | getattr(os, "O_NOCTTY", 0)
    try:
        descriptor = _open_within(located(path), located(within), flags) if within else os.open(located(path), flags)
    except FileNotFoundError:
        raise missing_file(path) from None
    except (OSError, ValueError) as error:
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        raise DiagnosticError(f"{path}: {reason.lower()}") from None
    try:
        # The message of fdopen for a directory names the descriptor, not the path.
        _check(path, os.fstat(descriptor), largest)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def leaves_directory(path: str, within: str) -> bool:
    """Is true for a path that links lead out of the directory `within`."""
    return _inner_parts(path, within)[0] == os.pardir


def entries_below(path: str, *, hidden: bool = True) -> Iterator[os.DirEntry[str]]:
    """Yields what a directory has, by name, then what its folders have, of any depth; links are not followed.

    Without `hidden` names that begin with a point are left out, and what is below them.
    """
    waiting = [path]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as found:
            listed = sorted((each for each in found if hidden or not each.name.startswith(".")), key=attrgetter("name"))
            yield from listed
            waiting += [each.path for each in reversed(listed) if each.is_dir(follow_symlinks=False)]


def _inner_parts(path: str, within: str) -> list[str]:
    """Returns the parts of the path of a link's target, from a directory on; the first is `..` for other targets."""
    return os.path.relpath(os.path.realpath(path), os.path.realpath(within)).split(os.sep)


def missing_file(path: str) -> MissingFileError:
    """Returns the error about a file that does not exist; the hint names a similar one in its directory."""
    folder, name = os.path.split(path)
    try:
        names = os.listdir(located(folder) or os.curdir)
    except OSError:
        names = []
    ending = os.path.splitext(name)[1]
    # Of files that differ in the ending only, one with that of the name counts.
    ordered = sorted(names[:_MOST_NAMES], key=lambda each: each.endswith(ending))
    by_stem = {os.path.splitext(each)[0]: each for each in ordered}
    close = nearest(os.path.splitext(name)[0], by_stem)
    hint = None if close is None else f"did you mean {os.path.join(folder, by_stem[close])}?"
    return MissingFileError(Diagnostic(f"{path}: no such file or directory", hint=hint))


def _open_within(path: str, within: str, flags: int) -> int:
    *folders, name = _inner_parts(path, within)
    if os.pardir in (*folders, name):
        raise OSError(errno.ELOOP, "is a link that leaves the directory that was named", path)
    # The path has no links, but another process may replace any of its parts by a link.
    descriptor = os.open(within, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for folder in folders:
            outer = descriptor
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=outer)
            os.close(outer)
        return os.open(name, flags | os.O_NOFOLLOW, dir_fd=descriptor)
    finally:
        os.close(descriptor)


def _check(path: str, status: os.stat_result, largest: int) -> None:
    for is_kind, kind in _KINDS:
        if is_kind(status.st_mode):
            hint = "name a file in it" if kind == "is a directory" else "- reads standard input"
            raise DiagnosticError(f"{path}: {kind}, not a file", hint=hint)
    if status.st_size > largest:
        raise DiagnosticError(f"{path}: has {status.st_size} bytes, more than the {largest} that are read")


def collector_paused(function: Callable[P, R]) -> Callable[P, R]:
    """Runs a function with the garbage collector paused, which would walk the growing graph again and again."""

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        was_enabled = gc.isenabled()
        gc.disable()
        try:
            return function(*args, **kwargs)
        finally:
            if was_enabled:
                gc.enable()

    return run
