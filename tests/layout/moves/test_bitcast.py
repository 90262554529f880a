from dataclasses import replace
from itertools import permutations, product
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from numpy.typing import NDArray

from dialect_utils.layout import ArrayShape, Layout, Reshape, Transpose, parse_array_shape, parse_element_type
from dialect_utils.layout.index.index_map import byte_size
from dialect_utils.layout.moves.bitcast import (
    Bitcast,
    BitcastWitness,
    classify_bitcast,
    is_bitcast,
    reads_padding,
    source_index,
)
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.layout.moves.relabel import try_relabel
from dialect_utils.layout.proof.bitcast_proof import prove_bitcast
from dialect_utils.layout.proof.witnesses import find_moved_element, find_padding_read
from tests.layout.interpret import run_plan
from tests.layout.packing import pack
from tests.layout.shapes import tiled_shapes

# source, destination, verdict, decomposition or counterexample
VERDICTS = [
    ("f32[4,6]{1,0:T(2,2)S(1)}", "f32[4,6]{1,0:T(2,2)}", "relabel", "f32[4,6]"),
    ("f32[4,6]{1,0}", "f32[24]{0}", "relabel", "f32[4,6] -> reshape[24]"),
    ("f32[4,6]{0,1}", "f32[6,4]{1,0}", "relabel", "f32[4,6] -> transpose{1,0}"),
    ("f32[3,4]{1,0}", "f32[6,2]{0,1}", "relabel", "f32[3,4] -> reshape[2,6] -> transpose{1,0}"),
    ("f32[7,33]{1,0:T(8,128)}", "f32[7,28]{1,0:T(8,128)}", "relabel", "f32[7,33] -> slice[0:7,0:28]"),
    (
        "s32[2,512]{1,0:T(2,128)}",
        "s32[1,4,2,128]{3,2,1,0:T(2,128)}",
        "relabel",
        "s32[2,512] -> reshape[1,2,4,128] -> transpose{0,2,1,3}",
    ),
    (
        "f32[4,8,3,512]{3,1,2,0:T(8,128)}",
        "f32[30,1536]{1,0:T(8,128)}",
        "relabel",
        "f32[4,8,3,512] -> reshape[32,1536] -> slice[0:30,0:1536]",
    ),
    (
        "bf16[2,64]{1,0:T(8,128)(2,1)}",
        "bf16[1,2,64]{2,1,0:T(8,128)(2,1)}",
        "relabel",
        "bf16[2,64] -> reshape[1,2,64]",
    ),
    (
        "bf16[16,256]{1,0:T(8,128)(2,1)}",
        "f32[8,256]{1,0:T(4,128)}",
        "relabel",
        "bf16[16,256] -> reshape[8,2,256] -> transpose{0,2,1} -> bitcast-convert[f32]",
    ),
    ("bf16[4,256]{1,0}", "s8[4,512]{1,0}", "relabel", "bf16[4,256] -> bitcast-convert[s8] -> reshape[4,512]"),
    ("s4[4,8]{1,0:E(4)}", "u8[4,4]{1,0}", "relabel", "s4[4,8] -> reshape[4,4,2] -> bitcast-convert[u8]"),
    ("pred[8]{0}", "u8[8]{0}", "relabel", "u8[8]"),
    ("f32[4,4]{1,0}", "f32[4,4]{0,1}", "relabel", "f32[4,4] -> transpose{1,0}"),
    ("f32[2,512]{1,0:T(2,128)}", "f32[2,512]{1,0}", "reorder", "(0,128) reads (1,0)"),
    ("f32[4,4]{1,0:T(2,2)}", "f32[4,4]{1,0}", "reorder", "(0,2) reads (1,0)"),
    ("f32[3,5]{1,0:T(2,2)}", "f32[4,6]{1,0:T(2,2)}", "reads-padding", "(0,5) reads padding"),
    ("s4[8]{0}", "u8[8]{0}", "reads-padding", "(0) reads padding"),
    ("s4[3]{0:E(4)}", "s8[2]{0}", "reads-padding", "(1) reads (2)"),
    ("f32[3,4]{1,0}", "f32[4,4]{1,0}", "size-mismatch", ""),
]


@pytest.mark.parametrize(("source", "destination", "verdict", "detail"), VERDICTS)
def test_verdicts(source: str, destination: str, verdict: str, detail: str) -> None:
    found = classify_bitcast(parse_array_shape(source), parse_array_shape(destination))
    assert found.verdict == verdict
    if verdict == "relabel":
        assert str(found.decomposition) == detail
    elif verdict == "reorder":
        assert str(found.counterexample) == detail
    assert prove_bitcast(found.source, found.destination).holds


def numbered(shape: ArrayShape) -> NDArray[np.unsignedinteger]:
    return np.arange(1, shape.element_count + 1, dtype=f"u{shape.element_type.storage_bytes}").reshape(shape.dimensions)


def check_verdict(found: Bitcast) -> None:
    """States the meaning of every verdict, element by element."""
    source, destination = found.source, found.destination
    indices = list(product(*map(range, destination.dimensions)))
    origins = [source_index(source, destination, index) for index in indices]
    padding = [index for index in indices if reads_padding(source, destination, index)]
    assert (found.verdict == "reads-padding") == bool(padding)
    assert (find_padding_read(source, destination) in padding) if padding else True
    if not padding:
        assert find_padding_read(source, destination) is None
        assert found.decomposition is not None
        flat = [0 if o is None else numbered(source)[o] for o in origins]
        assert run_plan(found.decomposition, numbered(source)).ravel().tolist() == flat
    if found.verdict == "relabel":
        assert found.decomposition is not None
        assert [type(s) for s in found.decomposition.steps].count(Transpose) <= 2
    if found.counterexample is not None:
        index = found.counterexample.destination_index
        assert origins[indices.index(index)] == found.counterexample.source_index
    assert prove_bitcast(source, destination).holds


@given(tiled_shapes(element_types=("f32",), largest=6), st.booleans(), st.booleans(), st.data())
@settings(max_examples=100, deadline=None)
def test_verdicts_on_drawn_shapes(source: ArrayShape, merged: bool, shrunk: bool, data: st.DataObject) -> None:
    assume(0 < byte_size(source) <= 2400)
    dims: tuple[int, ...] = tuple(data.draw(st.permutations(source.dimensions)))
    if dims and merged:
        dims = (prod(dims[:2]), *dims[2:])
    order = tuple(data.draw(st.permutations(range(len(dims)))))
    tiles = data.draw(st.sampled_from((source.effective_layout.tiles, ())))
    destination = ArrayShape(source.element_type, dims, Layout(order, tiles))
    if shrunk and dims:
        destination = replace(destination, dimensions=(max(1, dims[0] - 1), *dims[1:]))
    assume(byte_size(source) == byte_size(destination))
    check_verdict(classify_bitcast(source, destination))


@pytest.mark.parametrize(
    ("source", "destination", "planted"),
    [
        ("f32[3,5]{1,0:T(2,2)}", "f32[24]", {"verdict": "reorder"}),
        ("f32[3,5]{1,0:T(2,2)}", "f32[24]", {"counterexample": BitcastWitness((0,), None)}),
        ("f32[4,4]{1,0:T(2,2)}", "f32[4,4]", {"verdict": "reads-padding"}),
        (
            "f32[3,4]{1,0}",
            "f32[6,2]{0,1}",
            {"decomposition": Plan(parse_element_type("f32"), (3, 4), (Reshape((6, 2)),))},
        ),
        ("f32[4,4]{1,0:T(2,2)}", "f32[4,4]", {"counterexample": BitcastWitness((0, 2), (0, 2))}),
    ],
)
def test_a_planted_verdict_is_noticed(source: str, destination: str, planted: dict[str, Any]) -> None:
    found = classify_bitcast(parse_array_shape(source), parse_array_shape(destination))
    check_verdict(found)
    with pytest.raises(AssertionError):
        check_verdict(replace(found, **planted))


def is_transpose_reshape_transpose(source: ArrayShape, destination: ArrayShape) -> bool:
    """Is true for some transpose of the dimensions on each side; tries all."""
    array = numbered(source)
    wanted = [array[source_index(source, destination, i) or ()] for i in product(*map(range, destination.dimensions))]
    for first in permutations(range(source.rank)):
        for last in permutations(range(destination.rank)):
            middle = [destination.dimensions[i] for i in last]
            moved = array.transpose(first).reshape(middle).transpose(np.argsort(last))
            if moved.ravel().tolist() == wanted:
                return True
    return False


DIMS = [(12,), (3, 4), (2, 6), (6, 2), (2, 2, 3), (2, 3, 2), (3, 2, 2), (1, 12)]


@given(st.sampled_from(DIMS), st.sampled_from(DIMS), st.sampled_from(["", "T(2)", "T(2,2)", "T(2,2)(2,1)"]), st.data())
@settings(max_examples=100, deadline=None)
def test_relabels_are_found_exactly_where_they_are(
    a: tuple[int, ...], b: tuple[int, ...], tiles: str, data: st.DataObject
) -> None:
    def draw(dims: tuple[int, ...], tiles: str) -> ArrayShape:
        order = data.draw(st.permutations(range(len(dims))))
        return parse_array_shape(f"f32[{','.join(map(str, dims))}]{{{','.join(map(str, order))}:{tiles}}}")

    source, destination = draw(a, tiles), draw(b, "")
    assume(byte_size(source) == byte_size(destination))
    is_relabel = classify_bitcast(source, destination).verdict == "relabel"
    assert is_relabel == is_transpose_reshape_transpose(source, destination)


def test_a_wrong_decomposition_is_noticed() -> None:
    source, destination = parse_array_shape("f32[3,4]{1,0}"), parse_array_shape("f32[6,2]{0,1}")
    array = numbered(source)
    wrong = run_plan(Plan(source.element_type, (3, 4), (Reshape((6, 2)),)), array)
    assert pack(wrong, destination).tobytes() != pack(array, source).tobytes()


def test_large_shapes_take_no_time() -> None:
    source = parse_array_shape("bf16[100008,70016]{1,0:T(8,128)(2,1)}")
    assert classify_bitcast(source, parse_array_shape("bf16[12501,8,70016]{2,1,0:T(8,128)(2,1)}")).verdict == "relabel"
    grown = parse_array_shape("bf16[100003,70001]{1,0:T(8,128)(2,1)}")
    found = classify_bitcast(grown, source)
    assert found.verdict == "reads-padding"
    assert find_padding_read(grown, source) is not None
    assert find_moved_element(source, source) is None


def test_steps_that_pad_are_no_relabel() -> None:
    f32 = parse_element_type("f32")
    assert try_relabel(Plan(f32, (12,), (Reshape((2, 6)), Transpose((1, 0)), Reshape((12,))))) is None


def test_dynamic_shapes_are_rejected() -> None:
    with pytest.raises(ValueError, match="dynamic"):
        classify_bitcast(parse_array_shape("f32[<=4]{0}"), parse_array_shape("f32[4]{0}"))


@pytest.mark.parametrize(
    ("destination", "expected"),
    [
        (
            "f32[1,2]{0,1:T(3)(*,2)}",
            True,
        ),  # each dimension keeps its bytes, including padding split across the last tile
        ("f32[1,2]{1,0:T(3)(*,2)}", False),
        ("f32[1,2]{0,1:T(3)(*,3)}", False),
    ],
)
def test_a_transpose_of_padding_that_a_second_tile_splits(destination: str, expected: bool) -> None:
    source = parse_array_shape("f32[2,1]{1,0:T(3)(*,2)}")
    plan = Plan(source.element_type, source.dimensions, (Transpose((1, 0)),))
    assert is_bitcast(source, plan, parse_array_shape(destination)) is expected
