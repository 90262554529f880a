"""Shapes in the notation of MLIR, JAX and lines of dumps."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.experimental.layout import Layout as JaxLayout

from dialect_utils.layout import ArrayShape
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.layout.element_type import ELEMENT_TYPES
from dialect_utils.layout.text.foreign import read_shape
from dialect_utils.text import DiagnosticError


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("tensor<3x5xf32>", "f32[3,5]"),
        ("tensor<f32>", "f32[]"),
        ("tensor<?x5xi32>", "s32[?,5]"),
        ("tensor<4xui8>", "u8[4]"),
        ("tensor<4xi1>", "pred[4]"),
        ("tensor<2xcomplex<f32>>", "c64[2]"),
        ("tensor<2xf8E4M3FN>", "f8e4m3fn[2]"),
        ("tensor<2x3xbf16>", "bf16[2,3]"),
        ("float32[3,5]", "f32[3,5]"),
        ("ShapedArray(int4[3,5])", "s4[3,5]"),
        ("ShapedArray(f32[3,5])", "f32[3,5]"),
        ("ShapeDtypeStruct(shape=(3,), dtype=uint16)", "u16[3]"),
        ("  ROOT %add.1 = f32[3,5]{1,0:T(2,2)} add(f32[3,5] %a, f32[3,5] %b), metadata={}", "f32[3,5]{1,0:T(2,2)}"),
        ("t = (f32[3]{0}, (s32[], token[])) tuple(a, b)", "(f32[3]{0}, (s32[], token[]))"),
        ("f32[3,5] Layout(major_to_minor=(1, 0), tiling=((8, 128), (2, 1)))", "f32[3,5]{0,1:T(8,128)(2,1)}"),
        (f"float32[3,5] {JaxLayout((0, 1), ((8, 128),))!r}", "f32[3,5]{1,0:T(8,128)}"),
        (f"int4[3,5]{JaxLayout((0, 1), None, 4)!r}", "s4[3,5]{1,0:E(4)}"),
    ],
)
def test_shapes_in_foreign_notation_are_read_with_a_note(text: str, shape: str) -> None:
    found, notes = read_shape(text)
    assert str(found) == shape
    assert [note.message for note in notes] == [f"read as {shape}"]


@pytest.mark.parametrize("name", [name for name in ELEMENT_TYPES if name not in ("token", "opaque")])
def test_jax_names_of_every_element_type_are_read(name: str) -> None:
    try:
        dtype = dtype_of(ELEMENT_TYPES[name])
        with jax.enable_x64(True):
            struct = jax.ShapeDtypeStruct((3, 5), dtype)
            printed = [repr(struct), f"{dtype.name}[3,5]"]
    except (TypeError, ValueError) as error:
        pytest.skip(str(error))
    for text in printed:
        assert str(read_shape(text)[0]) == f"{name}[3,5]", text


def test_the_repr_of_a_jax_array_is_read() -> None:
    array: Any = jnp.ones((3, 5), jnp.bfloat16)
    found, _ = read_shape(f"{array.aval} {array.format}")
    assert isinstance(found, ArrayShape)
    assert str(found) == "bf16[3,5]{1,0}"


@pytest.mark.parametrize("text", ["f32[3,5]", "f32[3,5]{1,0:T(2,2)}", "(f32[3], token[])", "pred[]"])
def test_the_grammar_needs_no_note(text: str) -> None:
    assert read_shape(text)[1] == ()


@pytest.mark.parametrize(
    "text", ["tensor<3x5xq7>", "Layout(major_to_minor=(1, 0))", "x = f32[3", "float33[3]", "tensor<3x5xf32", "%a ="]
)
def test_other_texts_are_rejected_with_a_span(text: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        read_shape(text)
    assert caught.value.diagnostics[0].location is not None


def test_a_mistake_in_a_line_of_hlo_has_its_span() -> None:
    with pytest.raises(DiagnosticError) as caught:
        read_shape("p = f32[3]{1} parameter(0)")
    location = caught.value.diagnostics[0].location
    assert location is not None
    assert (location.span.start, location.span.end) == (4, 13)
