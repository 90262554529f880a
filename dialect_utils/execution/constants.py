"""Reads the exact bits of constants from the text of either dialect."""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING

from dialect_utils.hlo.text.literals import parse_scalar
from dialect_utils.ir import Operation
from dialect_utils.layout import ArrayShape, ElementType
from dialect_utils.stablehlo.constants import literal_bits
from dialect_utils.text import without_comments

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BYTE = 8
_HEXADECIMAL = re.compile(r'dense<"0x([0-9A-Fa-f]*)">')
_DENSE = re.compile(r"dense<(.*)> : tensor<", re.DOTALL)
_COMPLEX = re.compile(r"\([^(){}]*(?:\(0x\w+\)[^(){}]*)*\)", re.ASCII)
_ELEMENT = re.compile(r"[\w.+\-]+(?:\(0x\w+\))?", re.ASCII)
_DECIMAL = re.compile(r"[-+]?\d[\d.]*(?:[eE][-+]?\d+)?", re.ASCII)


def contents(operation: Operation) -> bytes | None:
    """Returns the elements of a constant in row-major order, each little-endian in whole bytes.

    None where the text elides them or writes them in an unsupported form.
    """
    shape = operation.results[0].shape
    if not isinstance(shape, ArrayShape) or not shape.is_static:
        return None
    literal = getattr(operation, "literal", None)
    is_hlo = isinstance(literal, str)
    text = without_comments(literal) if isinstance(literal, str) else operation.attributes.get("value", "")
    if "..." in text:
        return None
    count, element_type = prod(shape.dimensions), shape.element_type
    packed = None if is_hlo else _HEXADECIMAL.match(text)
    if packed is not None:
        raw = bytes.fromhex(packed[1])
        is_plain = element_type.bits % _BYTE == 0 and len(raw) == count * element_type.storage_bytes
        return raw if is_plain else None
    if not is_hlo:
        dense = _DENSE.match(text)
        if dense is None:
            return None
        text = dense[1]
    found = (_COMPLEX if element_type.is_complex else _ELEMENT).findall(text)
    if len(found) != count:
        return None
    try:
        return _encoded(element_type, found, is_hlo=is_hlo)
    except ValueError:
        return None


def contents_of_leaves(operation: Operation) -> list[bytes] | None:
    """Returns the contents of each array of a constant tuple of HLO; None where the text is not read."""
    literal, leaves = getattr(operation, "literal", None), [*operation.results[0].shape.leaves()]
    arrays = [leaf for leaf in leaves if isinstance(leaf, ArrayShape) and leaf.is_static]
    if (
        not isinstance(literal, str)
        or len(arrays) < len(leaves)
        or any(each.element_type.is_complex for each in arrays)
    ):
        return None
    found = _ELEMENT.findall(without_comments(literal))
    counts = [prod(each.dimensions) for each in arrays]
    if "..." in literal or len(found) != sum(counts):
        return None
    rest = iter(found)
    try:
        return [
            _encoded(each.element_type, [next(rest) for _ in range(count)], is_hlo=True)
            for each, count in zip(arrays, counts, strict=True)
        ]
    except ValueError:
        return None


def repeated_bits(data: bytes, element_type: ElementType) -> int | None:
    """Returns the bits that all elements of a constant's contents have; None where they differ, or there are none."""
    size = element_type.storage_bytes
    is_repeated = bool(data) and data == data[:size] * (len(data) // size)
    return int.from_bytes(data[:size], "little") if is_repeated else None


def _encoded(element_type: ElementType, found: list[str], *, is_hlo: bool) -> bytes:
    import numpy as np

    from dialect_utils.layout.arrays.dtypes import dtype_of

    if element_type.name in ("f32", "f64") and all(map(_DECIMAL.fullmatch, found)):
        # A decimal is read as a double and rounded.
        with np.errstate(over="raise"):
            try:
                return np.array(list(map(float, found))).astype(dtype_of(element_type)).tobytes()
            except FloatingPointError as error:
                raise ValueError("a number does not fit its type") from error
    size = element_type.storage_bytes
    known: dict[str, bytes] = {}
    for text in found:
        if text not in known:
            bits = parse_scalar(element_type, text) if is_hlo else literal_bits(element_type, text.replace(" ", ""))
            known[text] = bits.to_bytes(size, "little")
    return b"".join(known[text] for text in found)


def bits_of(data: bytes, element_type: ElementType) -> list[int]:
    """Returns the bits of every element of a constant's contents."""
    size = element_type.storage_bytes
    return [int.from_bytes(data[i : i + size], "little") for i in range(0, len(data), size)]


def as_array(data: bytes, element_type: ElementType, dimensions: tuple[int, ...]) -> NDArray[np.generic]:
    """Returns a constant's contents as a numpy array."""
    import numpy as np

    from dialect_utils.layout.arrays.dtypes import dtype_of

    return np.frombuffer(data, dtype_of(element_type)).reshape(dimensions)
