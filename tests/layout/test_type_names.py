"""Names of element types in other tools, which are read back."""

from __future__ import annotations

import pytest

from dialect_utils.layout import ELEMENT_TYPES
from dialect_utils.layout.type_names import element_type_name, mlir_name, numpy_name


@pytest.mark.parametrize("name", ELEMENT_TYPES)
def test_each_name_is_read_back(name: str) -> None:
    kind = ELEMENT_TYPES[name]
    assert element_type_name(numpy_name(kind)) == name
    # MLIR has one name for integers of one bit.
    assert element_type_name(mlir_name(kind)) == ("pred" if name == "s1" else name)


def test_names_as_the_tools_write_them() -> None:
    names = {name: (numpy_name(ELEMENT_TYPES[name]), mlir_name(ELEMENT_TYPES[name])) for name in ("pred", "u8", "c64")}
    assert names == {"pred": ("bool", "i1"), "u8": ("uint8", "ui8"), "c64": ("complex64", "complex<f32>")}
    assert (numpy_name(ELEMENT_TYPES["bf16"]), mlir_name(ELEMENT_TYPES["f8e4m3fn"])) == ("bfloat16", "f8E4M3FN".upper())
    assert element_type_name("torch.float32") is None
