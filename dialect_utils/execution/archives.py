"""Files of arrays: NPZ, flax's msgpack and orbax's checkpoints. The content decides the format, never the name.

The arrays of NPZ files are read late, because a small file may hold very large arrays.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from io import BufferedIOBase, BytesIO
from math import prod
from typing import Any, cast

import numpy as np

from dialect_utils.execution.arrays import Array, SavedArray, damaged, readable, to_plain
from dialect_utils.execution.checkpoints import MAPS, read_msgpack, read_orbax
from dialect_utils.layout import ArrayShape
from dialect_utils.text import Diagnostic, DiagnosticError, open_input
from dialect_utils.text.input_file import located

LARGEST_FILE = 1 << 40
# numpy rejects headers of more than 10,000 bytes after it has read them.
_LARGEST_HEADER = 10_100
_LARGEST_ELEMENT = 16
_STEP = 1 << 20
_MEMBER = ".npy"
# The compression methods that numpy writes. Decompressing another method could demand a dictionary of 4 GB.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def read_npz(path: str, choose: Callable[[Sequence[str]], Sequence[str]]) -> tuple[list[str], dict[str, SavedArray]]:
    """Returns the names of all members of an NPZ file, and the arrays that `choose` picks; reads only their headers.

    Raises DiagnosticError for an unreadable file, and for a name that occurs twice.
    """
    with open_input(path, LARGEST_FILE) as raw, readable(path), zipfile.ZipFile(raw) as file:
        members = [member.filename for member in file.infolist()]
        chosen = choose([name.removesuffix(_MEMBER) for name in members if name.endswith(_MEMBER)])
        repeated = next((name for name, count in Counter(chosen).items() if count > 1), None)
        if repeated is not None:
            raise damaged(path, f"{repeated}{_MEMBER} occurs twice")
        found = {name: _read_header(path, file, name + _MEMBER) for name in chosen}
    return [name.removesuffix(_MEMBER) for name in members], found


def _read_header(path: str, file: zipfile.ZipFile, member: str) -> SavedArray:
    if file.getinfo(member).compress_type not in _METHODS:
        raise damaged(path, f"{member} is compressed with a method that numpy does not write")
    with file.open(member) as stream:
        start = BytesIO(stream.read(_LARGEST_HEADER))
    version = np.lib.format.read_magic(start)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise damaged(path, f"{member} has version {version[0]}.{version[1]} of the format")
    shape, is_column_major, dtype = read(start)
    if dtype.hasobject or dtype.itemsize > _LARGEST_ELEMENT:
        raise damaged(path, f"{member} has elements of type {dtype}")
    order = "F" if is_column_major else "C"
    dimensions = tuple(map(int, shape))
    return SavedArray(dimensions, dtype, partial(_load, path, member, dimensions, dtype, order, start.tell()))


def _load(path: str, member: str, shape: tuple[int, ...], dtype: np.dtype[Any], order: Any, offset: int) -> Array:
    """Returns the array of a member, whose data begins at `offset`, and takes the memory of the array once.

    Raises DiagnosticError where the data's size is not the header's, and for damaged data.
    """
    size = prod(shape) * dtype.itemsize
    with readable(path), zipfile.ZipFile(located(path)) as file, cast(BufferedIOBase, file.open(member)) as stream:
        if file.getinfo(member).file_size != offset + size:
            raise damaged(path, f"{member} has other data than its header says")
        stream.read(offset)
        data = np.empty(size, np.uint8)
        found = sum(stream.readinto(data[start : start + _STEP].data) for start in range(0, size, _STEP))
        # With the last byte of the member, zipfile compares the checksum.
        if found != size:
            raise damaged(path, f"{member} has other data than its header says")
    return data.view(dtype).reshape(shape, order=order)


def arrays_to_npz(prefix: str, arrays: Sequence[Array], shapes: Sequence[ArrayShape]) -> bytes:
    """Returns the bytes of an NPZ file that holds the arrays as `<prefix>0`, `<prefix>1`, ...

    Types numpy lacks become unsigned integers of the same width, 4-bit integers int8 and uint8.
    """
    named = {
        f"{prefix}{i}": to_plain(array, shape.element_type)
        for i, (array, shape) in enumerate(zip(arrays, shapes, strict=True))
    }
    buffer = BytesIO()
    np.savez(buffer, allow_pickle=False, **named)
    return buffer.getvalue()


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
