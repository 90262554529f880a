"""Numpy arrays of XLA's element types, and their bits.

Types that numpy lacks come from ml_dtypes, which stores a sub-byte element in one byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.text import DiagnosticError, kind_of

Array = NDArray[Any]

_NUMPY_NAMES = frozenset(
    f"{letter}{bits}"
    for letter, widths in (("s", (8, 16, 32, 64)), ("u", (8, 16, 32, 64)), ("f", (16, 32, 64)), ("c", (64, 128)))
    for bits in widths
) | {"pred"}
# Limits of numpy, and of XLA, whose sizes and indices are signed 64-bit numbers.
LARGEST_SIZE = (1 << 63) - 1
LARGEST_RANK = 64
# The most arrays that a message lists.
_LISTED = 12
_BYTE = 8
# tensorstore's messages hold whole specifications.
_LONGEST_REASON = 200


@dataclass(frozen=True, slots=True)
class SavedArray:
    """An array in a file, of which only the dimensions and the type were read; `load` reads the data.

    `is_number`: the file holds a Python number, which has no type of its own. `file` is the file's name for messages.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    load: Callable[[], Array]
    is_number: bool = False
    file: str = ""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Reads the data; raises DiagnosticError for damaged data."""
        array = self.load()
        return array if dtype is None else array.astype(dtype)


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
    except (TypeError, ValueError, OverflowError):  # ragged lists, objects that are not numbers, too large numbers
        array = None
    if array is None or array.dtype == np.object_:
        needed = "an array" if shape is None else f"an array or numbers for {shape.without_layout}"
        raise DiagnosticError(f"expected {needed}, found {kind_of(value)}")
    return array


def from_plain(array: Array | SavedArray, shape: ArrayShape, name: str, hint: str | None = None) -> Array:
    """Returns a new array of exactly the type and dimensions of `shape`; the inverse of `to_plain`.

    Raises DiagnosticError, with `name`, for other dimensions (there with `hint`), another type, and numbers outside a
    sub-byte type.
    """
    name = f"{array.file}: {name}" if isinstance(array, SavedArray) and array.file else name
    # Before a saved array's data is read: it may be much larger than its file.
    if np.shape(array) != shape.dimensions:
        message = f"{name} has the dimensions {list(np.shape(array))}, but {shape.without_layout} is needed"
        raise DiagnosticError(message, hint=hint)
    element_type = shape.element_type
    wanted = dtype_of(element_type)
    is_number = isinstance(array, SavedArray) and array.is_number
    array = _typed_number(np.asarray(array), element_type) if is_number else np.asarray(array)
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
    arrays: Sequence[Array | SavedArray], shapes: Sequence[ArrayShape], prefix: str = "in", devices: int = 1
) -> list[Array]:
    """Returns `from_plain` of `<prefix>0`, `<prefix>1`, ...; raises DiagnosticError where the counts differ, too.

    The prefix is `in` for parameters and `out` for results. The hint of an error lists all arrays.
    """
    given, entry = ("inputs", "parameters") if prefix == "in" else ("outputs", "results")
    listed = [f"{prefix}{i} {shape.without_layout}" for i, shape in enumerate(shapes[:_LISTED])]
    hint = f"the {given}: {', '.join(listed)}{', ...' if len(shapes) > _LISTED else ''}" if shapes else None
    if devices > 1:
        hint = f"{hint}; the first dimension counts the {devices} devices, and with --sharded auto arrays may be whole"
    if len(arrays) != len(shapes):
        file = next((f"{each.file}: " for each in arrays if isinstance(each, SavedArray) and each.file), "")
        message = f"{file}{len(arrays)} {given} were given, but the entry has {len(shapes)} {entry}"
        raise DiagnosticError(message, hint=hint)
    pairs = enumerate(zip(arrays, shapes, strict=True))
    return [from_plain(array, shape, f"{prefix}{i}", hint) for i, (array, shape) in pairs]


def _typed_number(number: Array, element_type: ElementType) -> Array:
    """Returns a number in a type, floats rounded; returns it unchanged where the type does not hold it."""
    wanted = dtype_of(element_type)
    is_discrete = element_type.is_integral or element_type.name == "pred"
    if number.dtype.kind == "c" and not element_type.is_complex:
        return number
    with np.errstate(all="ignore"):
        typed: Array = number.astype(wanted)
    return number if is_discrete and typed.astype(number.dtype) != number else typed


def _checked_pred(array: Array, name: str) -> Array:
    if array.dtype not in (np.int8, np.uint8) or not np.isin(array, (0, 1)).all():
        raise DiagnosticError(f"{name} is pred, but holds other {array.dtype} than 0 and 1")
    return array.astype(np.bool_)


def _checked_integers(array: Array, element_type: ElementType, name: str) -> Array:
    low, high = element_type.integer_range
    values = array.astype(np.int64)
    if array.size and not (low <= values.min() and values.max() <= high):
        message = f"{name} is {element_type}, but holds numbers outside {low} to {high}"
        raise DiagnosticError(message)
    return array.astype(dtype_of(element_type))


def _reject(array: Array, shape: ArrayShape, name: str) -> Array:
    element_type = shape.element_type
    accepted = f"{dtype_of(element_type)}"
    if not is_numpy_type(element_type):
        accepted += " or " + ("int8" if element_type.is_signed else str(bits_type(element_type)))
    message = f"{name} has the type {array.dtype}, but {shape.without_layout} is needed"
    raise DiagnosticError(message, hint=f"give {accepted}")


_OTHER_STRUCTURE = "it has another structure"


@contextmanager
def readable(path: str, kind: str = "NPZ file of plain arrays") -> Iterator[None]:
    """Raises DiagnosticError for the errors of libraries about damaged files of a kind, which have many types."""
    try:
        yield
    except (DiagnosticError, MemoryError):
        raise
    except OSError as error:
        raise DiagnosticError(f"{path}: {(error.strerror or str(error)).lower()}") from None
    except Exception as error:
        # Python's own words say nothing of the file.
        is_pythons = isinstance(error, TypeError | AttributeError | LookupError | SyntaxError) or "<ast." in str(error)
        raise damaged(path, _OTHER_STRUCTURE if is_pythons else str(error) or _OTHER_STRUCTURE, kind) from None


def damaged(path: str, reason: str, kind: str = "NPZ file of plain arrays") -> DiagnosticError:
    """Returns the error for a file without the expected content: `x.npz: no NPZ file: ...`."""
    return DiagnosticError(f"{path}: no {kind}: {reason.splitlines()[0][:_LONGEST_REASON]}")
