import json
import re

import pytest

from dialect_utils.layout import ArrayShape, parse_array_shape, parse_element_type
from dialect_utils.layout.targets.known import (
    TARGETS,
    allocation_bytes,
    default_layout,
    laid_out,
    parse_target,
    tile_for,
)
from dialect_utils.text import DiagnosticError
from tests.paths import SHARED_DATA

MEASURED = SHARED_DATA / "reference" / "tpu_default_layouts.jsonl"

# Answers of libtpu 0.0.51: target, shape with the chosen layout, allocated bytes.
CASES = [
    ("tpu-v2", "c64[]{:T(256)}", 2048),
    ("tpu-v2", "u4[300]{0:T(1024)(128)(4,1)}", 1024),
    ("tpu-v2", "f16[513]{0:T(1024)(128)(2,1)}", 2048),
    ("tpu-v5e", "pred[]{:T(512)}", 512),
    ("tpu-v5e", "pred[0]{0}", 0),
    ("tpu-v5e", "s4[3,0]{1,0:E(4)}", 0),
    ("tpu-v6e", "u2[0,5,6]{2,1,0:E(2)}", 0),
    ("tpu-v3", "s4[3,0]{1,0}", 0),
    ("tpu-v5e", "s2[3]{0:T(2048)(128)(16,1)E(2)}", 512),
    ("tpu-v5e", "s64[257]{0:T(512)}", 4096),
    ("tpu-v3", "u16[17,5,129,1,7]{2,4,3,1,0:T(8,128)(2,1)}", 348160),
    ("tpu-v4", "s16[17,16,8,9]{0,2,3,1:T(8,128)(2,1)}", 294912),
    ("tpu-v5e", "s2[127,8]{0,1:T(16,128)(16,1)E(2)}", 512),
    ("tpu-v5e", "s2[127,1000,33]{0,1,2:T(16,128)(16,1)E(2)}", 1064448),
    ("tpu-v6e", "f4e2m1fn[256,256]{1,0:T(64,128)(8,1)E(4)}", 32768),
]


@pytest.mark.parametrize(("target", "text", "size"), CASES)
def test_default_layout_and_allocation(target: str, text: str, size: int) -> None:
    shape = parse_array_shape(text)
    assert default_layout(shape.element_type, shape.dimensions, target) == shape.layout
    assert allocation_bytes(shape, target) == size
    assert allocation_bytes(shape.without_layout, target) == size


def test_a_wrong_expectation_fails() -> None:
    shape = parse_array_shape("f32[8,128]{0,1:T(8,128)}")
    assert default_layout(shape.element_type, shape.dimensions, "tpu-v5e") != shape.layout
    assert allocation_bytes(shape, "tpu-v5e") != 4096


@pytest.mark.shared(MEASURED)
def test_measured_defaults() -> None:
    failed = []
    for line in MEASURED.read_text().splitlines():
        row = json.loads(line)
        shape = parse_array_shape(row["layout"])
        target = row["platform"] if row["platform"] in TARGETS else f"tpu-{row['platform']}"
        chosen = ArrayShape(
            shape.element_type, shape.dimensions, default_layout(shape.element_type, shape.dimensions, target)
        )
        if (str(chosen), allocation_bytes(chosen, target)) != (row["layout"], row["arg_bytes"]):
            failed.append((row, str(chosen), allocation_bytes(chosen, target)))
    assert not failed


@pytest.mark.parametrize(
    ("text", "target"),
    [("f32[30,1536]{1,0:T(8,128)}", "tpu-v5e"), ("bf16[4,2,64]{2,1,0:T(2,128)(2,1)}", "tpu-v4")],
)
def test_tiles_for_a_given_order(text: str, target: str) -> None:
    shape = parse_array_shape(text)
    assert shape.layout is not None
    found = tile_for(shape.element_type, shape.dimensions, shape.layout.minor_to_major, target)
    assert found == shape.layout.tiles


def test_an_unknown_target_gets_the_nearest_name() -> None:
    with pytest.raises(DiagnosticError, match=re.escape("did you mean tpu7x?")):
        parse_target("tpu-v7x")
    with pytest.raises(DiagnosticError, match="unknown target 'gpu'"):
        default_layout(parse_element_type("f32"), (3, 5), "gpu")


def test_unbounded_dimensions_have_no_size() -> None:
    with pytest.raises(ValueError, match="unbounded"):
        allocation_bytes(parse_array_shape("f32[?]{0:T(128)}"), "tpu-v5e")


@pytest.mark.parametrize("target", TARGETS)
def test_four_bit_elements_are_packed_in_every_order(target: str) -> None:
    s4, sizes = parse_element_type("s4"), (1024, 2048)
    expected = 1024 * 2048 if target in ("tpu-v2", "tpu-v3") else 1024 * 2048 // 2
    for order in ((1, 0), (0, 1)):
        shape = laid_out(ArrayShape(s4, sizes), order, target)
        assert allocation_bytes(shape, target) == expected
