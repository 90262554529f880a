"""Arrays in files: `in0`, `in1`, ... and `out0`, `out1`, ... of an NPZ, in parameter and result order."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import numpy as np

from dialect_utils.execution.arrays import Array, to_plain
from dialect_utils.layout import ArrayShape
from dialect_utils.text import Diagnostic, DiagnosticError

# Of an NPZ that holds other names than those that are read.
_SHOWN_NAMES = 5


def read_arrays(path: str, prefix: str) -> list[Array]:
    """Returns the arrays `<prefix>0`, `<prefix>1`, ... of an NPZ file, as saved.

    Raises DiagnosticError where the file cannot be read, or a number is missing between two.
    """
    try:
        with Path(path).open("rb") as raw:
            if not zipfile.is_zipfile(raw):
                raise DiagnosticError(Diagnostic(f"{path}: no NPZ file", hint="numpy.savez writes one"))
            with np.load(raw, allow_pickle=False) as file:
                found = {int(name[len(prefix) :]): file[name] for name in file.files if _is_numbered(name, prefix)}
                names = ", ".join(file.files[:_SHOWN_NAMES])
    except OSError as error:
        raise DiagnosticError(Diagnostic(f"{path}: {(error.strerror or str(error)).lower()}")) from None
    except (ValueError, TypeError, AttributeError, EOFError, zipfile.BadZipFile) as error:
        raise DiagnosticError(Diagnostic(f"{path}: no NPZ file of plain arrays: {error}")) from None
    if names and not found:
        raise DiagnosticError(Diagnostic(f"{path}: holds {names}, but no {prefix}0"))
    missing = next((number for number in range(len(found)) if number not in found), None)
    if missing is not None:
        raise DiagnosticError(Diagnostic(f"{path}: holds {prefix}{max(found)}, but no {prefix}{missing}"))
    return [found[number] for number in range(len(found))]


def _is_numbered(name: str, prefix: str) -> bool:
    return name.startswith(prefix) and name[len(prefix) :].isdecimal()


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
