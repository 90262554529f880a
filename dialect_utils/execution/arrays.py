"""Numpy arrays of XLA's element types, and their bits.

Types that numpy lacks come from ml_dtypes, which stores a sub-byte element in one byte. NPZ files hold arrays as
`in0`, `in1`, ... and `out0`, `out1`, ... in parameter and result order; their data is read late, because a small file
may hold very large arrays.
"""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedIOBase, BytesIO
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.text import Diagnostic, DiagnosticError, kind_of, open_input
from dialect_utils.text.input_file import located

Array = NDArray[Any]

_NUMPY_NAMES = frozenset(
    f"{letter}{bits}"
    for letter, widths in (("s", (8, 16, 32, 64)), ("u", (8, 16, 32, 64)), ("f", (16, 32, 64)), ("c", (64, 128)))
    for bits in widths
) | {"pred"}
_BYTE = 8
# The most names that a message about an NPZ with unknown names lists.
_SHOWN_NAMES = 5
_LARGEST_FILE = 1 << 40
# numpy rejects headers of more than 10,000 bytes after it has read them.
_LARGEST_HEADER = 10_100
_LARGEST_ELEMENT = 16
_STEP = 1 << 20
_MEMBER = ".npy"
# numpy writes these two. A member of another method could demand a dictionary of 4 GB.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def is_numpy_type(element_type: ElementType) -> bool:
    """Is true where numpy itself has the type, without ml_dtypes."""
    return element_type.name in _NUMPY_NAMES


def bits_type(element_type: ElementType) -> np.dtype[Any]:
    """Returns the unsigned integer of an element's storage width; for c128 it is u64, of which two form an element."""
    return np.dtype(f"uint{min(element_type.storage_bits, 64)}")


def to_bits(array: Array, element_type: ElementType) -> Array:
    """Returns the bits of an array as unsigned integers of the same dimensions, unused bits cleared.

    c128 gets a last dimension of two u64: real, imaginary.
    """
    array = np.ascontiguousarray(array, dtype_of(element_type)).reshape(np.shape(array))
    if element_type.name == "c128":
        return array.reshape(*array.shape, 1).view(np.uint64)
    bits = array.view(bits_type(element_type))
    if element_type.bits < _BYTE:
        bits = bits & np.uint8((1 << element_type.bits) - 1)
    return bits


def from_bits(bits: Array, element_type: ElementType) -> Array:
    """Returns the array with these bits; the inverse of `to_bits`."""
    bits = np.ascontiguousarray(bits, bits_type(element_type)).reshape(np.shape(bits))
    if element_type.name == "c128":
        return bits.view(np.complex128).reshape(bits.shape[:-1])
    if element_type.is_signed and element_type.bits < _BYTE:
        # ml_dtypes keeps a negative number sign-extended in its byte.
        unused = _BYTE - element_type.bits
        bits = ((bits << np.uint8(unused)).view(np.int8) >> np.int8(unused)).view(np.uint8)
    return bits.view(dtype_of(element_type))


def to_plain(array: Array, element_type: ElementType) -> Array:
    """Returns an array of a type that numpy can save: bf16 becomes uint16, f8 uint8, s4 int8."""
    if is_numpy_type(element_type):
        return array
    if element_type.is_integral:
        return array.astype(np.int8 if element_type.is_signed else np.uint8)
    return to_bits(array, element_type)


def as_array(value: object, shape: ArrayShape | None) -> Array:
    """Returns an array unchanged, lists and numbers as an array of the shape's element type (None: numpy's choice).

    Raises DiagnosticError for other values.
    """
    wanted = None if hasattr(value, "dtype") or shape is None else dtype_of(shape.element_type)
    try:
        array = None if value is None or isinstance(value, str | bytes) else np.asarray(value, wanted)
    except (TypeError, ValueError):  # ragged lists, objects that are no numbers
        array = None
    if array is None or array.dtype == np.object_:
        needed = "an array" if shape is None else f"an array or numbers for {shape.without_layout}"
        raise DiagnosticError(Diagnostic(f"expected {needed}, found {kind_of(value)}"))
    return array


def from_plain(array: Array | SavedArray, shape: ArrayShape, name: str) -> Array:
    """Returns a new array of exactly the type and dimensions of `shape`; the inverse of `to_plain`.

    Raises DiagnosticError, with `name`, for other dimensions, another type, and numbers outside a sub-byte type.
    """
    # Before a saved array's data is read: it may be much larger than its file.
    if np.shape(array) != shape.dimensions:
        message = f"{name} has the dimensions {list(np.shape(array))}, but {shape.without_layout} is needed"
        raise DiagnosticError(Diagnostic(message))
    array = np.asarray(array)
    element_type = shape.element_type
    wanted = dtype_of(element_type)
    if array.dtype == wanted:
        return array.astype(wanted, copy=True)
    if is_numpy_type(element_type):
        return _checked_pred(array, name) if element_type.name == "pred" else _reject(array, shape, name)
    is_raw = array.dtype == bits_type(element_type) or array.dtype == np.dtype(f"V{element_type.storage_bytes}")
    if element_type.is_integral and array.dtype in (np.int8, np.uint8):
        return _checked_integers(array, element_type, name)
    if is_raw and not element_type.is_integral:
        return from_bits(array.view(bits_type(element_type)), element_type).copy()
    return _reject(array, shape, name)


def from_plain_all(
    arrays: Sequence[Array | SavedArray], shapes: Sequence[ArrayShape], prefix: str = "in"
) -> list[Array]:
    """Returns `from_plain` of `<prefix>0`, `<prefix>1`, ...; raises DiagnosticError where the counts differ, too.

    The prefix is `in` for parameters and `out` for results.
    """
    if len(arrays) != len(shapes):
        given, entry = ("inputs", "parameters") if prefix == "in" else ("outputs", "results")
        raise DiagnosticError(Diagnostic(f"{len(arrays)} {given} were given, but the entry has {len(shapes)} {entry}"))
    pairs = enumerate(zip(arrays, shapes, strict=True))
    return [from_plain(array, shape, f"{prefix}{i}") for i, (array, shape) in pairs]


def _checked_pred(array: Array, name: str) -> Array:
    if array.dtype not in (np.int8, np.uint8) or not np.isin(array, (0, 1)).all():
        raise DiagnosticError(Diagnostic(f"{name} is pred, but holds other {array.dtype} than 0 and 1"))
    return array.astype(np.bool_)


def _checked_integers(array: Array, element_type: ElementType, name: str) -> Array:
    bits = element_type.bits
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if element_type.is_signed else (0, (1 << bits) - 1)
    values = array.astype(np.int64)
    if array.size and not (low <= values.min() and values.max() <= high):
        message = f"{name} is {element_type}, but holds numbers outside {low} to {high}"
        raise DiagnosticError(Diagnostic(message))
    return array.astype(dtype_of(element_type))


def _reject(array: Array, shape: ArrayShape, name: str) -> Array:
    element_type = shape.element_type
    accepted = f"{dtype_of(element_type)}"
    if not is_numpy_type(element_type):
        accepted += " or " + ("int8" if element_type.is_signed else str(bits_type(element_type)))
    message = f"{name} has the type {array.dtype}, but {shape.without_layout} is needed"
    raise DiagnosticError(Diagnostic(message, hint=f"give {accepted}"))


@dataclass(frozen=True, slots=True)
class SavedArray:
    """An array in an NPZ file whose header was read; numpy reads the data when it uses the array."""

    path: str
    member: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    is_column_major: bool
    offset: int

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Reads the data; raises DiagnosticError where its size is not the header's, and for damaged data.

        Takes the memory of the array once.
        """
        size = prod(self.shape) * self.dtype.itemsize
        with readable(self.path), zipfile.ZipFile(located(self.path)) as file, _opened(file, self.member) as stream:
            if file.getinfo(self.member).file_size != self.offset + size:
                raise damaged(self.path, f"{self.member} has other data than its header says")
            stream.read(self.offset)
            data = np.empty(size, np.uint8)
            found = sum(stream.readinto(data[start : start + _STEP].data) for start in range(0, size, _STEP))
            # With the last byte of the member, zipfile compares the checksum.
            if found != size:
                raise damaged(self.path, f"{self.member} has other data than its header says")
        order: Any = "F" if self.is_column_major else "C"
        array = data.view(self.dtype).reshape(self.shape, order=order)
        return array if dtype is None else array.astype(dtype)


def _opened(file: zipfile.ZipFile, member: str) -> BufferedIOBase:
    """Returns the stream of a member under the type that zipfile gives it, which has `readinto`."""
    return cast(BufferedIOBase, file.open(member))


@contextmanager
def readable(path: str) -> Iterator[None]:
    """Raises DiagnosticError for the errors of zipfile and numpy about damaged files, which have many types."""
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


def read_arrays(path: str, prefix: str) -> list[SavedArray]:
    """Returns the arrays `<prefix>0`, `<prefix>1`, ... of an NPZ file; reads only their headers.

    Raises DiagnosticError for an unreadable file, a gap in the numbers, and a name that occurs twice.
    """
    return in_order(path, prefix, *read_archive(path, [prefix]))


def in_order(path: str, prefix: str, names: Sequence[str], arrays: Mapping[str, SavedArray]) -> list[SavedArray]:
    """Returns the arrays of an archive of these names by their numbers; raises DiagnosticError for a gap."""
    found = {int(name[len(prefix) :]): array for name, array in arrays.items()}
    if names and not found:
        raise DiagnosticError(Diagnostic(f"{path}: holds {', '.join(names[:_SHOWN_NAMES])}, but no {prefix}0"))
    missing = next((number for number in range(len(found)) if number not in found), None)
    if missing is not None:
        raise DiagnosticError(Diagnostic(f"{path}: holds {prefix}{max(found)}, but no {prefix}{missing}"))
    return [found[number] for number in range(len(found))]


def numbered(prefix: str) -> re.Pattern[str]:
    """Returns the pattern of the names `<prefix>0`, `<prefix>1`, ..."""
    return re.compile(rf"{prefix}(?:0|[1-9][0-9]{{0,6}})", re.ASCII)


def read_archive(path: str, prefixes: Sequence[str]) -> tuple[list[str], dict[str, SavedArray]]:
    """Returns the names of all members of an NPZ file, and the arrays of some; reads only their headers.

    These are the arrays numbered after the first of the prefixes that any name has. Raises DiagnosticError for an
    unreadable file, and for a name that occurs twice.
    """
    with open_input(path, _LARGEST_FILE) as raw, readable(path):
        if not zipfile.is_zipfile(raw):
            raise DiagnosticError(Diagnostic(f"{path}: no NPZ file", hint="numpy.savez writes one"))
        with zipfile.ZipFile(raw) as file:
            members = [member.filename for member in file.infolist()]
            arrays = [name.removesuffix(_MEMBER) for name in members if name.endswith(_MEMBER)]
            chosen = next(filter(None, (_numbered_among(arrays, prefix) for prefix in prefixes)), [])
            repeated = next((name for name, count in Counter(chosen).items() if count > 1), None)
            if repeated is not None:
                raise damaged(path, f"{repeated}{_MEMBER} occurs twice")
            found = {name: _read_header(path, file, name + _MEMBER) for name in chosen}
    return [name.removesuffix(_MEMBER) for name in members], found


def _numbered_among(names: Sequence[str], prefix: str) -> list[str]:
    """Returns the names that a prefix and a number form; all for an empty prefix."""
    pattern = numbered(prefix)
    return [name for name in names if not prefix or pattern.fullmatch(name)]


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
