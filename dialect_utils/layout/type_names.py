"""The names of element types in numpy, JAX and MLIR."""

from __future__ import annotations

import re

from dialect_utils.layout.element_type import ELEMENT_TYPES, ElementType

# Names of element types in NumPy and MLIR that differ from XLA's.
_NAMES = {
    "bool": "pred",
    "i1": "pred",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "complex64": "c64",
    "complex128": "c128",
    "complex<f32>": "c64",
    "complex<f64>": "c128",
}
_INTEGERS = {"int": "s", "uint": "u", "i": "s", "si": "s", "ui": "u"}


def element_type_name(name: str) -> str | None:
    """Returns XLA's name of an element type of another tool, None for an unknown one."""
    if name in _NAMES:
        return _NAMES[name]
    integer = re.fullmatch(r"(int|uint|i|si|ui)(\d+)", name)
    small = re.fullmatch(r"float([468])_(\w+)", name)
    found = name.lower()
    if integer is not None:
        found = f"{_INTEGERS[integer[1]]}{integer[2]}"
    elif small is not None:
        found = f"f{small[1]}{small[2]}"
    return found if found in ELEMENT_TYPES else None


def numpy_name(element_type: ElementType) -> str:
    """Returns the name of an element type in numpy and JAX, such as `float32`."""
    names = {own: name for name, own in _NAMES.items() if name[-1].isdigit() and name != "i1"} | {"pred": "bool"}
    kind, bits = element_type.name[0], element_type.name[1:]
    integer = {"s": "int", "u": "uint"}.get(kind)
    small = {"f4": "float4_", "f6": "float6_", "f8": "float8_"}.get(element_type.name[:2])
    if integer is not None:
        return integer + bits
    return names.get(element_type.name) or f"{small}{element_type.name[2:]}"


def mlir_name(element_type: ElementType) -> str:
    """Returns the name of an element type in MLIR, such as `i32` for s32 and `ui8` for u8."""
    names = {"pred": "i1", "c64": "complex<f32>", "c128": "complex<f64>"}
    name = element_type.name
    integer = {"s": "i", "u": "ui"}.get(name[0])
    if integer is not None:
        return integer + name[1:]
    return names.get(name) or (name.upper() if name[:2] in ("f4", "f6", "f8") else name)
