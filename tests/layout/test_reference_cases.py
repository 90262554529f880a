"""The reference cases, if they are beside the repository: every answer is right, or XLA's mistake has a reason."""

import json
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dialect_utils.layout import ArrayShape, Layout, Tile, parse_array_shape, parse_element_type, parse_shape
from dialect_utils.layout.index.index_map import (
    byte_size,
    byte_size_of,
    final_dimensions,
    linear_index,
    logical_index,
    logical_indices,
    xla_byte_size,
)
from dialect_utils.layout.layout import COMBINE
from dialect_utils.layout.moves.bitcast import classify_bitcast
from dialect_utils.layout.targets.xla_compat import (
    align_layouts,
    decompose_bitcast,
    reshape_is_bitcast,
)
from dialect_utils.layout.text.foreign import read_shape
from dialect_utils.text import DiagnosticError
from tests.paths import SHARED_DATA

CASES = SHARED_DATA / "reference" / "cases.json"
READS_CASES = pytest.mark.shared(CASES)
Case = dict[str, Any]

# Invalid texts that XLA's text parser reads; loading the proto rejects them, or XLA aborts later.
XLA_ACCEPTS_WRONGLY = {
    "parser_measured-076": "minor_to_major {5,4} names no dimensions",
    "parser_measured-077": "minor_to_major {-1,0} names no dimension",
    "parser_measured-080": "T() has no dimension",
    "parser_measured-082": "a tile of 0 rows holds nothing",
    "parser_measured-088": "INT64_MIN is the internal code of *, not a size",
    "parser_measured-105": "E(-4) is negative",
    "parser_measured-118": "SC(9:2) splits a dimension that is not there",
    "parser_measured-135": "#(s32) is signed",
    "parser_measured-137": "*(f32) is no integer type",
}
# Valid texts that XLA rejects.
XLA_REJECTS_WRONGLY = {
    "proto_validate-003": "a proto cannot hold * in jaxlib 0.10",
    "proto_validate-010": "#(u32) is in dumps of arrays that are not sparse",
    "on_device_size-021": "T(2,*) combines nothing: the error is right, XLA's is an internal one",
}
# XLA's CPU client ignores E(n) without a tile: it stores one element a byte.
CPU_CLIENT_DROPS_E = {"on_device_size-014"}
# Functions of XLA that the product neither needs nor prints.
WITHOUT_A_FUNCTION = {
    "byte_strides",
    "delete_dimensions",
    "is_reshape_or_transpose_bitcast",
    "is_untiled_layout",
    "max_elements_in_per_split",
    "normalized_logical_transpose",
    "transpose_plan",
    "transpose_plan_error",
    "unmodified_dims",
}


def cases(*kinds: str) -> list[Any]:
    if not CASES.exists():
        return [pytest.param({}, marks=pytest.mark.shared(CASES))]
    found = json.loads(CASES.read_text())["cases"]
    return [
        pytest.param(case, id=case["id"], marks=pytest.mark.shared(CASES)) for case in found if case["kind"] in kinds
    ]


def shape_of(case: Case) -> ArrayShape:
    return parse_array_shape(case["input"]["shape"])


@pytest.mark.parametrize("case", cases("linear_index"))
def test_linear_index(case: Case) -> None:
    assert linear_index(shape_of(case), case["input"]["index"]) == case["expected"]


@pytest.mark.parametrize("case", cases("delinearize"))
def test_delinearize(case: Case) -> None:
    assert logical_index(shape_of(case), case["input"]["linear"]) == tuple(case["expected"])


@pytest.mark.parametrize("case", cases("physical_order"))
def test_physical_order(case: Case) -> None:
    found = logical_indices(shape_of(case)).ravel().tolist()
    assert [None if element < 0 else element for element in found] == case["expected"]


@pytest.mark.parametrize("case", cases("physical_elements"))
def test_physical_elements(case: Case) -> None:
    shape = shape_of(case)
    assert prod(final_dimensions(shape.dimensions, shape.effective_layout)) == case["expected"]


@pytest.mark.parametrize(
    "case", [case for case in cases("byte_size") if case.values[0].get("input", {}).get("function") != "ArrayDataSize"]
)
def test_byte_size(case: Case) -> None:
    functions: dict[str, Callable[[ArrayShape], int | None]] = {
        "ByteSizeOf": byte_size_of,
        "ArraySize": xla_byte_size,
    }
    assert functions[case["input"]["function"]](shape_of(case)) == case["expected"]


@pytest.mark.parametrize("case", cases("on_device_size_measured"))
def test_on_device_size(case: Case) -> None:
    if str(case["expected"]).startswith("EXC"):
        with pytest.raises(DiagnosticError):
            shape_of(case)
        return
    shape = shape_of(case)
    if case["id"] in CPU_CLIENT_DROPS_E:
        assert shape.layout is not None
        assert xla_byte_size(shape) != case["expected"]
        shape = shape.with_layout(shape.layout.replace(element_size_in_bits=0))
    assert xla_byte_size(shape) == case["expected"]
    assert byte_size(shape) == case["expected"]


@pytest.mark.parametrize("case", cases("to_string"))
def test_to_string(case: Case) -> None:
    given = case["input"]
    tiles = tuple(Tile(tuple(COMBINE if d == "*" else d for d in tile)) for tile in given.get("tiles", ()))
    pointer = parse_element_type(given["pointer"]) if "pointer" in given else None
    layout = Layout(
        tuple(given["m2m"]),
        tiles,
        given.get("L", 1),
        pointer_primitive_type=pointer,
        element_size_in_bits=given.get("E", 0),
        memory_space=given.get("S", 0),
    )
    assert str(layout) == case["expected"]


@pytest.mark.parametrize("case", cases("round_trip"))
def test_round_trip(case: Case) -> None:
    assert str(parse_shape(case["input"])) == case["expected"]


@pytest.mark.parametrize("case", cases("parser_measured"))
def test_parser(case: Case) -> None:
    is_wrong = case["id"] in XLA_ACCEPTS_WRONGLY
    if is_wrong or not case["expected"].startswith("OK "):
        assert is_wrong == case["expected"].startswith("OK ")
        with pytest.raises(DiagnosticError):
            parse_shape(case["input"])
        return
    # XLA prints the descending layout where none was written.
    shape = read_shape(case["input"])[0].with_effective_layout
    assert str(shape) == str(parse_shape(case["expected"][3:]).with_effective_layout)
    assert str(parse_shape(case["input"])) in (case["expected"][3:], case["input"])


@pytest.mark.parametrize("case", cases("proto_validate_measured"))
def test_validation(case: Case) -> None:
    if case["expected"] == "ok" or case["id"] in XLA_REJECTS_WRONGLY:
        assert str(parse_shape(case["input"])) == case["input"]
        return
    with pytest.raises(DiagnosticError):
        parse_shape(case["input"])


@pytest.mark.parametrize("case", cases("reshape_is_bitcast"))
def test_reshape_is_bitcast(case: Case) -> None:
    given = case["input"]
    source, result = parse_array_shape(given["input"]), parse_array_shape(given["output"])
    found = reshape_is_bitcast(source, result, ignore_element_type=given.get("ignore_element_type", False))
    assert found == case["expected"]


@pytest.mark.parametrize("case", cases("decompose_bitcast"))
def test_decompose_bitcast(case: Case) -> None:
    found = decompose_bitcast(parse_array_shape(case["input"]["input"]), parse_array_shape(case["input"]["output"]))
    if case["expected"] is None:
        assert found is None
        return
    for name, value in case["expected"].items():
        answer = getattr(found, name)
        assert (str(answer) if isinstance(value, str) else list(answer)) == value


@pytest.mark.parametrize("case", cases("align_layouts"))
def test_align_layouts(case: Case) -> None:
    source = parse_array_shape(case["input"]["input"])
    found = align_layouts(source, tuple(case["input"]["output_dims"]))
    if case["expected"] is None:
        assert found is None
        return
    assert found is not None
    assert reshape_is_bitcast(source, found)
    if isinstance(case["expected"], list):
        assert list(found.effective_layout.minor_to_major) == case["expected"]


@pytest.mark.parametrize("case", cases("tpu_bitcast_measured"))
def test_tpu_bitcast(case: Case) -> None:
    source, result = parse_array_shape(case["input"]["operand"]), parse_array_shape(case["input"]["result"])
    found = classify_bitcast(source, result)
    assert found.verdict == "relabel"
    assert found.decomposition is not None
    assert "-".join(found.decomposition.opcodes) in ("", case["expected"]["kind"])
    same_places = np.array_equal(logical_indices(source).ravel() < 0, logical_indices(result).ravel() < 0)
    assert same_places == case["expected"]["valid_physical_sets_equal"]


@READS_CASES
def test_every_kind_is_tested_here_or_with_its_pass() -> None:
    kinds = {case["kind"] for case in json.loads(CASES.read_text())["cases"]}
    # Layout normalization is a pass; its cases are with its tests.
    text = Path(__file__).read_text()
    assert {kind for kind in kinds if f'cases("{kind}")' not in text} == {"layout_normalization", *WITHOUT_A_FUNCTION}
