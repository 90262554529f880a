"""Files of arrays: NPZ, flax's msgpack and orbax's checkpoints. The content decides the format, never the name."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from dialect_utils.execution.arrays import SavedArray
from dialect_utils.execution.checkpoints import MAPS, read_msgpack, read_orbax
from dialect_utils.execution.npz import LARGEST_FILE, read_npz
from dialect_utils.text import Diagnostic, DiagnosticError, open_input
from dialect_utils.text.input_file import located

# The most names that a message about unknown names lists.
_SHOWN_NAMES = 5
_HINT = "numpy.savez writes an NPZ file, flax.serialization.to_bytes msgpack, and orbax a directory"


def read_arrays(path: str, prefix: str) -> list[SavedArray]:
    """Returns the arrays `<prefix>0`, `<prefix>1`, ... of a file; their data is read when it is used.

    Raises DiagnosticError for an unreadable file, a gap in the numbers, and a name that occurs twice.
    """
    return in_order(path, prefix, *read_archive(path, [prefix]))


def in_order(path: str, prefix: str, names: Sequence[str], arrays: Mapping[str, SavedArray]) -> list[SavedArray]:
    """Returns the arrays of an archive of these names by their numbers; raises DiagnosticError for a gap."""
    found = {int(name[len(prefix) :]): array for name, array in arrays.items()}
    if names and not found:
        shown = ", ".join(names[:_SHOWN_NAMES]) + (", ..." if len(names) > _SHOWN_NAMES else "")
        what = "output" if prefix == "out" else "input"
        hint = f"{prefix}0, {prefix}1, ... are the {what}s in their order"
        raise DiagnosticError(Diagnostic(f"{path}: holds {shown}, but no {prefix}0", hint=hint))
    missing = next((number for number in range(len(found)) if number not in found), None)
    if missing is not None:
        raise DiagnosticError(Diagnostic(f"{path}: holds {prefix}{max(found)}, but no {prefix}{missing}"))
    return [found[number] for number in range(len(found))]


def numbered(prefix: str) -> re.Pattern[str]:
    """Returns the pattern of the names `<prefix>0`, `<prefix>1`, ..."""
    return re.compile(rf"{prefix}(?:0|[1-9][0-9]{{0,6}})", re.ASCII)


def read_archive(path: str, prefixes: Sequence[str]) -> tuple[list[str], dict[str, SavedArray]]:
    """Returns the names of all arrays of a file, and some of the arrays, whose data is read when it is used.

    These are the arrays numbered after the first of the prefixes that any name has; all for an empty prefix. Raises
    DiagnosticError for an unreadable file, and for a name that occurs twice.
    """
    choose = partial(_chosen, prefixes=prefixes)
    read = _reader(path)
    if read is None:
        names, chosen = read_npz(path, choose)
    else:
        arrays = read(path)
        names, chosen = list(arrays), {name: arrays[name] for name in choose(list(arrays))}
    return names, {name: replace(array, file=path) for name, array in chosen.items()}


def _chosen(names: Sequence[str], prefixes: Sequence[str]) -> Sequence[str]:
    return next(filter(None, (_numbered_among(names, prefix) for prefix in prefixes)), [])


def _numbered_among(names: Sequence[str], prefix: str) -> list[str]:
    """Returns the names that a prefix and a number form; all for an empty prefix."""
    pattern = numbered(prefix)
    return [name for name in names if not prefix or pattern.fullmatch(name)]


def _reader(path: str) -> Callable[[str], dict[str, SavedArray]] | None:
    """Returns the function that reads a checkpoint, None for an NPZ file; raises DiagnosticError for other files."""
    if os.path.isdir(located(path)):
        return read_orbax
    with open_input(path, LARGEST_FILE) as file:
        try:
            is_zip = zipfile.is_zipfile(file)
        except zipfile.BadZipFile:
            # An archive of several disks, which the reader of NPZ files rejects.
            is_zip = True
        if is_zip:
            return None
        file.seek(0)
        if file.read(1) in MAPS:
            return read_msgpack
    raise DiagnosticError(Diagnostic(f"{path}: no NPZ file, msgpack or checkpoint", hint=_HINT))
