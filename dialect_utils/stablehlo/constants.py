"""Literals with exact bits, written as MLIR's text and read from it.

MLIR's bindings give no bits, and fail on complex elements.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dialect_utils.layout import ElementType

if TYPE_CHECKING:
    # `literal_bits` must not load MLIR.
    from dialect_utils.stablehlo.bindings import ir

# With this limit MLIR prints only splats and single elements in full.
_ELIDE = 1
_VALUE = re.compile(r"value = (dense(?:_resource)?<.*> : tensor<[^>]*(?:<[^>]*>)?[^>]*>)", re.DOTALL)
_SPLAT = re.compile(r'dense<\[*([^\[\]"_]+)\]*> : ')


def literal(element_type: ElementType, bits: int) -> str:
    """Returns MLIR's literal of an element with exactly these bits (two's complement for integers).

    Raises ValueError where the bits do not fit the type.
    """
    if not 0 <= bits < 1 << element_type.bits:
        raise ValueError(f"{bits:#x} is no pattern of {element_type.bits} bits of {element_type}")
    if element_type.name == "pred":
        return "true" if bits else "false"
    if element_type.is_complex:
        half = element_type.part.bits
        real, imaginary = bits & ((1 << half) - 1), bits >> half
        return f"({real:#0{half // 4 + 2}x}, {imaginary:#0{half // 4 + 2}x})"
    if element_type.is_floating:
        return f"{bits:#0{-(-element_type.bits // 4) + 2}x}"
    is_negative = element_type.is_signed and bits >> (element_type.bits - 1)
    return str(bits - (1 << element_type.bits) if is_negative else bits)


def splat_literal(operation: ir.Operation) -> str | None:
    """Returns the literal that all elements of a constant have, or None where they differ."""
    found = _SPLAT.match(constant_text(operation, _ELIDE))
    parts = re.findall(r"\([^)]*\)|[^,\s]+", found[1]) if found else []
    literals = {part.replace(" ", "") for part in parts}
    return literals.pop() if len(literals) == 1 else None


def constant_text(operation: ir.Operation, limit: int | None = None) -> str:
    """Returns the elements, at most as many as `limit`, and the type of a constant as MLIR prints them."""
    text = str(operation.get_asm(print_generic_op_form=True, use_local_scope=True, large_elements_limit=limit))
    found = _VALUE.search(text)
    return found[1] if found else ""


def literal_bits(element_type: ElementType, text: str) -> int:
    """Returns the bits of MLIR's literal of an element; the inverse of `literal`."""
    if text in ("true", "false"):
        return int(text == "true")
    if element_type.is_complex:
        real, imaginary = text.strip("()").split(",")
        part = element_type.part
        return literal_bits(part, real) | literal_bits(part, imaginary) << part.bits
    if text.startswith("0x"):
        return int(text, 16)
    if element_type.is_floating:
        import numpy as np

        from dialect_utils.layout.arrays.dtypes import dtype_of

        data = np.array(float(text)).astype(dtype_of(element_type)).tobytes()
        return int.from_bytes(data, "little") & ((1 << element_type.bits) - 1)
    return int(text) % (1 << element_type.bits)
