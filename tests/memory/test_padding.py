"""The dimensions that tiles enlarge."""

from __future__ import annotations

import pytest

from dialect_utils.hlo import parse_module
from dialect_utils.layout import parse_array_shape
from dialect_utils.layout.index.index_map import final_dimensions
from dialect_utils.memory.allocation import guess_compiler, guess_target, padded_dimensions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f32[5,3]{1,0:T(8,128)}", ["dimension 1: 3 -> 128 (tile 128, 42.7x)", "dimension 0: 5 -> 8 (tile 8, 1.6x)"]),
        ("f32[5,3]{0,1:T(8,128)}", ["dimension 0: 5 -> 128 (tile 128, 25.6x)", "dimension 1: 3 -> 8 (tile 8, 2.67x)"]),
        ("f32[8,128]{1,0:T(8,128)}", []),
        (
            "bf16[7,30,200]{2,1,0:T(8,128)(2,1)}",
            ["dimension 2: 200 -> 256 (tile 128, 1.28x)", "dimension 1: 30 -> 32 (tile 8, 1.07x)"],
        ),
        ("f32[100]{0:T(128)}", ["dimension 0: 100 -> 128 (tile 128, 1.28x)"]),
        ("f32[5,3]{1,0}", []),
        ("f32[0,3]{1,0:T(8,128)}", []),
    ],
)
def test_the_dimensions_that_grow(text: str, expected: list[str]) -> None:
    assert [str(each) for each in padded_dimensions(parse_array_shape(text))] == expected


@pytest.mark.parametrize(
    "text", ["f32[5,3]{1,0:T(8,128)}", "s8[3,9,70]{0,2,1:T(8,128)(4,1)}", "bf16[9,9]{1,0:T(2,128)(2,1)}"]
)
def test_the_factors_multiply_to_the_whole(text: str) -> None:
    shape = parse_array_shape(text)
    assert shape.layout is not None
    whole = 1
    for size in final_dimensions(shape.dimensions, shape.layout):
        whole *= size
    product = 1.0
    for each in padded_dimensions(shape):
        product *= each.factor
    assert product == pytest.approx(whole / shape.element_count)


@pytest.mark.parametrize(
    ("scalars", "target"),
    [
        (["bf16[]{:T(256)}", "f32[]{:T(128)}"], "tpu-v5e"),
        (["bf16[]{:T(512)}", "f32[]{:T(256)}"], "tpu-v3"),
        (["f32[]{:T(256)}"], "tpu-v3"),
        (["pred[]{:T(512)S(6)}"], "tpu-v5e"),
        (["pred[]{:T(1024)S(6)}"], "tpu-v3"),
        # A tile that neither generation has says nothing; the next scalar does.
        (["f32[]{:T(64)}", "s8[]{:T(1024)}"], "tpu-v3"),
        (["f32[5,3]{1,0:T(8,128)}"], "tpu-v5e"),
        (["f32[5,3]{1,0}"], None),
    ],
)
def test_the_tile_of_a_scalar_depends_on_the_generation_and_the_type(scalars: list[str], target: str | None) -> None:
    lines = [f"p{i} = {shape} parameter({i})\nc{i} = {shape} copy(p{i})" for i, shape in enumerate(scalars)]
    assert guess_target(parse_module("ENTRY e {\n" + "\n".join(lines) + "\n}\n")) == target


@pytest.mark.parametrize(
    ("head", "line", "compiler"),
    [
        ("", "p = f32[] constant(1)\nc = f32[5,3]{1,0:T(8,128)} broadcast(p), dimensions={}", "tpu"),
        ("", "p = f32[5,3]{1,0} parameter(0)", None),
        (', frontend_attributes={fingerprint_before_lhs="0f"}', "p = f32[5,3]{1,0} parameter(0)", "gpu"),
        ("", 'p = f32[5,3]{1,0} custom-call(), custom_call_target="__cudnn$convForward"', "gpu"),
        ("", 'p = f32[5,3]{1,0} custom-call(), custom_call_target="TopK"', None),
        ("", 'p = f32[] custom-call(), custom_call_target="f", backend_config={"operation_queue_id":"0"}', "gpu"),
        (
            "",
            'p = f32[] custom-call(), custom_call_target="f", backend_config={"outer_dimension_partitions":["2"]}',
            None,
        ),
    ],
)
def test_the_compiler_that_wrote_a_text(head: str, line: str, compiler: str | None) -> None:
    assert guess_compiler(parse_module(f"HloModule m{head}\n\nENTRY e {{\n{line}\n}}\n")) == compiler
