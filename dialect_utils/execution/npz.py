"""Arrays in files: `in0`, `in1`, ... and `out0`, `out1`, ... of an NPZ, in parameter and result order."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from io import BytesIO

import numpy as np

from dialect_utils.execution.arrays import Array, to_plain
from dialect_utils.execution.saved import SavedArray, damaged, readable
from dialect_utils.layout import ArrayShape
from dialect_utils.text import Diagnostic, DiagnosticError, open_input

# Of an NPZ that holds other names than those that are read.
_SHOWN_NAMES = 5
_LARGEST_FILE = 1 << 40
# numpy itself refuses headers of more than 10,000 bytes, once it has read them.
_LARGEST_HEADER = 10_100
_LARGEST_ELEMENT = 16


def read_arrays(path: str, prefix: str) -> list[SavedArray]:
    """Returns the arrays `<prefix>0`, `<prefix>1`, ... of an NPZ file; nothing but their headers is read yet.

    Raises DiagnosticError where the file cannot be read, a number is missing between two, or a name occurs twice.
    """
    pattern = re.compile(rf"{prefix}(0|[1-9][0-9]{{0,6}})\.npy", re.ASCII)
    with open_input(path, _LARGEST_FILE) as raw:
        if not zipfile.is_zipfile(raw):
            raise DiagnosticError(Diagnostic(f"{path}: no NPZ file", hint="numpy.savez writes one"))
        with readable(path), zipfile.ZipFile(raw) as file:
            names = [member.filename for member in file.infolist()]
            numbers = {name: int(match[1]) for name in names if (match := pattern.fullmatch(name))}
            repeated = next((name for name in numbers if names.count(name) > 1), None)
            if repeated is not None:
                raise damaged(path, f"{repeated} occurs twice")
            found = {number: _read_header(path, file, name) for name, number in numbers.items()}
    if names and not found:
        shown = ", ".join(name.removesuffix(".npy") for name in names[:_SHOWN_NAMES])
        raise DiagnosticError(Diagnostic(f"{path}: holds {shown}, but no {prefix}0"))
    missing = next((number for number in range(len(found)) if number not in found), None)
    if missing is not None:
        raise DiagnosticError(Diagnostic(f"{path}: holds {prefix}{max(found)}, but no {prefix}{missing}"))
    return [found[number] for number in range(len(found))]


def _read_header(path: str, file: zipfile.ZipFile, member: str) -> SavedArray:
    with file.open(member) as stream:
        start = BytesIO(stream.read(_LARGEST_HEADER))
    version = np.lib.format.read_magic(start)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise damaged(path, f"{member} has version {version[0]}.{version[1]} of the format")
    shape, is_column_major, dtype = read(start)
    if dtype.hasobject or dtype.itemsize > _LARGEST_ELEMENT:
        raise damaged(path, f"{member} has elements of type {dtype}")
    return SavedArray(path, member, tuple(map(int, shape)), dtype, is_column_major, start.tell())


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
