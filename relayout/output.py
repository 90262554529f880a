"""Output files: their names, and writing of results, where a file is written whole or not at all."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from dialect_utils.io.files import STANDARD_INPUT, Emit, decode, encode, is_url, write_file
from dialect_utils.io.inputs import Input
from dialect_utils.io.remote import write_url
from dialect_utils.text import printable
from relayout.options import usage_error
from relayout.supervisor.host import current

# Endings of modules' files; a directory for several results has none of these.
SUFFIXES = (".hlo", ".mlir", ".mlirbc", ".txt", ".pb")

STANDARD_OUTPUT = "-"

COMPRESSED = (".gz", ".xz", ".zst")
# Endings of binary files, with the ending of the same module as text; `.txt` is XLA's.
_BINARY = {".hlo.pb": ".txt", ".pb": ".txt", ".mlirbc": ".mlir", ".bc": ".mlir"}
_TEXTUAL = {"pb": (".hlo.pb", (".txt", ".hlo")), "bytecode": (".mlirbc", (".mlir",))}


def output_name(name: str, emit: Emit) -> str:
    """Returns the name of the output for an input's name: text never gets the ending of a proto.

    >>> output_name("module_0003.jit_f.before_optimizations.hlo.pb.gz", "text")
    'module_0003.jit_f.before_optimizations.txt'
    """
    name = next((name.removesuffix(ending) for ending in COMPRESSED if name.endswith(ending)), name)
    binary = next((ending for ending in _BINARY if name.endswith(ending)), None)
    if emit == "text":
        return name if binary is None else name.removesuffix(binary) + _BINARY[binary]
    wanted, textual = _TEXTUAL[emit]
    if binary is not None:
        return name
    return next((name.removesuffix(ending) for ending in textual if name.endswith(ending)), name) + wanted


def is_name_of(name: str, emit: Emit) -> bool:
    """Is false for the ending of a compressed file, and for text under the ending of a proto or bytecode."""
    return not name.endswith((*COMPRESSED, *(_BINARY if emit == "text" else ())))


class Guard(Protocol):
    """The keeper of the files that this process reads."""

    def check(self, path: str) -> None:
        """Raises UsageError for a file that must not be written."""

    def note_read(self, path: str) -> None:
        """Adds a file that is read."""


_guard: Guard | None = None


def guard_with(guard: Guard | None) -> None:
    """Makes this process ask before it writes a file; None: no longer."""
    global _guard
    _guard = guard


def note_read(path: str) -> None:
    """Notes a file that a child of this process reads."""
    if _guard is not None:
        _guard.note_read(path)


def write_to_file(path: str, data: bytes | memoryview) -> None:
    """Writes to a file or URL, whole or not at all; a sandboxed child asks its parent to, which makes directories."""
    host = current()
    if host is not None:
        host.write_file(path, data)
        return
    if _guard is not None:
        _guard.check(path)
    if is_url(path):
        write_url(path, bytes(data))
    else:
        write_file(Path(path), data)


def new_file(prefix: str, suffix: str) -> str:
    """Returns the name of a new empty file in the directory for temporary files."""
    host = current()
    if host is not None:
        return host.new_file(prefix, suffix)
    import tempfile

    handle, name = tempfile.mkstemp(prefix=prefix, suffix=suffix)
    os.close(handle)
    return name


def write_output(path: str | None, data: bytes) -> None:
    """Writes to a file or URL (whole or not at all), or to standard output for None and `-`.

    Control characters are escaped on a terminal; a file or a pipe gets every byte.
    """
    if path is not None and path != STANDARD_OUTPUT:
        write_to_file(path, data)
        return
    if sys.stdout.isatty():
        data = encode(printable(decode(data)))
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def check_uncompressed(output: str) -> None:
    """Raises UsageError for the name of a compressed file."""
    if output.endswith(COMPRESSED):
        raise usage_error(f"-o {output}: what is written is not compressed", "leave the ending out")


def is_directory(output: str) -> bool:
    """Is true for an OUT that is a directory: its name ends in `/`, or it is there already."""
    return output.endswith(os.sep) or Path(output).is_dir()


def output_file(output: str, name: str) -> str:
    """Returns the one file of an OUT: itself, or a file of this name in a directory."""
    return os.path.join(output, name) if is_directory(output) else output


def output_files(
    inputs: Sequence[Input], output: str, name_of: Callable[[str], str], check: Callable[[], None]
) -> dict[str, str]:
    """Returns the output file of each input, by the input's path: `output`, or a file in it if it is a directory.

    `name_of` returns the name in a directory for the relative path of an input; `check` raises for a wrong name of one
    file. Raises UsageError where two inputs have the same output file.
    """
    if not (len(inputs) > 1 or is_directory(output)):
        check()
        return {each.path: output for each in inputs}
    if any(each.path == STANDARD_INPUT for each in inputs):
        raise usage_error(f"-o {output} is a directory, and standard input has no name for a file in it")
    if not Path(output).is_dir() and (Path(output).exists() or Path(output).suffix in SUFFIXES):
        raise usage_error(f"{len(inputs)} modules need a directory, but -o {output} is not one", "-o NAME/ makes one")
    names = [name_of(each.relative) for each in inputs]
    check_unique(names, output)
    if is_url(output):
        return {each.path: f"{output.rstrip('/')}/{name}" for each, name in zip(inputs, names, strict=True)}
    return {each.path: os.path.join(output, name) for each, name in zip(inputs, names, strict=True)}


def text_files(inputs: Sequence[Input], output: str) -> dict[str, str]:
    """Returns the output files of `output_files` for modules that are written as text."""
    return output_files(inputs, output, lambda name: output_name(name, "text"), lambda: check_uncompressed(output))


def check_unique(names: Sequence[str], directory: str | Path) -> None:
    """Raises UsageError where two inputs have the same output file in a directory."""
    repeated = next((name for name, count in Counter(names).items() if count > 1), None)
    if repeated is not None:
        raise usage_error(f"several FILEs would be written to {os.path.join(directory, repeated)}")
