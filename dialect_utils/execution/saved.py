"""Arrays in NPZ files, whose data is read late: a small file may hold very large ones."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.text import Diagnostic, DiagnosticError


@dataclass(frozen=True, slots=True)
class SavedArray:
    """An array in an NPZ file: its header is read, its data only when it is asked for as an array."""

    path: str
    member: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_column_major: bool
    offset: int

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Reads the data: as many bytes as the header says; raises DiagnosticError for more, fewer or damaged ones."""
        size = prod(self.shape) * self.dtype.itemsize
        with readable(self.path), zipfile.ZipFile(self.path) as file, file.open(self.member) as stream:
            stream.read(self.offset)
            # One byte more reaches the end, where the sum over all bytes is compared.
            data = stream.read(size + 1)
        if len(data) != size:
            raise damaged(self.path, f"{self.member} has other data than its header says")
        order: Any = "F" if self.is_column_major else "C"
        array = np.frombuffer(data, self.dtype).reshape(self.shape, order=order)
        return array if dtype is None else array.astype(dtype)


@contextmanager
def readable(path: str) -> Iterator[None]:
    """Turns what zipfile and numpy raise for damaged files, which is many things, into a diagnostic."""
    try:
        yield
    except (DiagnosticError, MemoryError):
        raise
    except OSError as error:
        raise DiagnosticError(Diagnostic(f"{path}: {(error.strerror or str(error)).lower()}")) from None
    except Exception as error:
        raise damaged(path, str(error) or type(error).__name__) from None


def damaged(path: str, reason: str) -> DiagnosticError:
    """Returns the error for a file that holds no plain arrays."""
    return DiagnosticError(Diagnostic(f"{path}: no NPZ file of plain arrays: {reason.splitlines()[0]}"))
