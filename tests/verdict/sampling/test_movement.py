"""Execution on tagged inputs decides modules that only move data; tests of that analysis and of the inputs."""

from __future__ import annotations

import numpy as np
import pytest

from dialect_utils.execution import Worker, to_bits
from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Module
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape
from dialect_utils.verdict import Options, compare_modules
from dialect_utils.verdict.sampling.inputs import only_moves_data, tagged_inputs

MOVES = {
    "gather at constant indices": "i = s32[4] constant({3,1,0,2})\n ROOT g = T[4,6] gather(x, i), offset_dims={1}, "
    "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}",
    "select by a constant": "i = s32[4,6] iota(), iota_dimension=0\n j = s32[4,6] iota(), iota_dimension=1\n"
    " p = pred[4,6] compare(i, j), direction=LT\n r = T[4,6] reverse(x), dimensions={1}\n"
    " ROOT s = T[4,6] select(p, x, r)",
    "update at a computed place": "a = s32[] constant(1)\n b = s32[] add(a, a)\n"
    " u = T[1,6] slice(x), slice={[0:1],[0:6]}\n ROOT d = T[4,6] dynamic-update-slice(x, u, b, a)",
}
OTHERS = {
    "indices from the input": "i = s32[4] slice(y), slice={[0:4]}\n ROOT g = T[4,6] gather(x, i), offset_dims={1}, "
    "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}",
    "predicate from the input": "z = s32[6] constant({1,2,3,4,5,6})\n p = pred[6] compare(y, z), direction=LT\n"
    " q = pred[4,6] broadcast(p), dimensions={1}\n r = T[4,6] reverse(x), dimensions={1}\n"
    " ROOT s = T[4,6] select(q, x, r)",
    "arithmetic": "ROOT s = T[4,6] add(x, x)",
    "other bits": "b = u32[4,6] bitcast-convert(x)\n ROOT s = T[4,6] bitcast-convert(b)",
    "rounded constants": "c = f32[] constant(2)\n d = f32[] sqrt(c)\n ROOT s = T[4,6] pad(u, d), padding=0_0x0_3"
    "\n".replace("u, d", "w, d").replace("ROOT", "w = T[4,3] slice(x), slice={[0:4],[0:3]}\n ROOT"),
}
CALLED = "f { p = T[4,6] parameter(0)\n ROOT t = T[4,6] %s }\n"


def module(body: str, kind: str = "f32", function: str = "") -> Module:
    entry = f"ENTRY e {{\n x = T[4,6] parameter(0)\n y = s32[6] parameter(1)\n {body}\n}}\n"
    return parse_bytes(f"HloModule m\n{function}{entry}".replace("T[", f"{kind}[").encode(), "m.hlo")


@pytest.mark.parametrize("name", MOVES)
def test_data_movement(name: str) -> None:
    assert only_moves_data(module(MOVES[name]))


@pytest.mark.parametrize("name", OTHERS)
def test_no_data_movement(name: str) -> None:
    assert not only_moves_data(module(OTHERS[name]))


@pytest.mark.parametrize(("inner", "moves"), [("reverse(p), dimensions={0}", True), ("negate(p)", False)])
def test_what_is_called_counts(inner: str, moves: bool) -> None:
    assert only_moves_data(module("ROOT c = T[4,6] call(x), to_apply=f", function=CALLED % inner)) is moves


@pytest.mark.parametrize(
    "kind", ["pred", "s2", "u4", "s8", "f8e4m3fn", "f4e2m1fn", "bf16", "f16", "s32", "f32", "f64", "c64"]
)
@pytest.mark.parametrize("sizes", [(1,), (3, 2), (40, 7), (300,)])
def test_tagged_inputs_are_distinct_and_not_constant(kind: str, sizes: tuple[int, ...]) -> None:
    """No two elements of a type have the same values in all sets, and no element has the same value in each set."""
    element_type = ELEMENT_TYPES[kind]
    sets = tagged_inputs([ArrayShape(element_type, (size,)) for size in sizes])
    codes = np.stack([np.concatenate([to_bits(array, element_type) for array in arrays]) for arrays in sets])
    assert codes.shape == (len(sets), sum(sizes))
    assert len({tuple(code) for code in codes.T}) == sum(sizes)
    assert all(len(set(code)) > 1 for code in codes.T.tolist())


@pytest.mark.parametrize("kind", ["bf16", "f8e5m2", "f4e2m1fn", "f32"])
def test_tagged_inputs_are_normal_numbers(kind: str) -> None:
    import ml_dtypes

    [first, *_] = tagged_inputs([ArrayShape(ELEMENT_TYPES[kind], (50,))])
    [values] = [array.astype(np.float64) for array in first]
    assert (np.isfinite(values) & (np.abs(values) >= float(ml_dtypes.finfo(first[0].dtype).smallest_normal))).all()


def test_arrays_of_one_type_share_no_carrier() -> None:
    shapes = [ArrayShape(ELEMENT_TYPES[name], (5,)) for name in ("f32", "s8", "f32")]
    sets = tagged_inputs(shapes)
    codes = {tuple(float(arrays[i][j]) for arrays in sets) for i in (0, 2) for j in range(5)}
    assert len(codes) == 10


@pytest.mark.parametrize("kind", ["f32", "pred", "s4"])
def test_executed_movement_is_decided(kind: str, worker: Worker) -> None:
    options = Options(engines=("xla",), power=0)
    gather = MOVES["gather at constant indices"]
    slices = "".join(f"r{i} = T[1,6] slice(x), slice={{[{i}:{i + 1}],[0:6]}}\n " for i in range(4))
    right = slices + "ROOT g = T[4,6] concatenate(r3, r1, r0, r2), dimensions={0}"
    wrong = slices + "ROOT g = T[4,6] concatenate(r3, r0, r1, r2), dimensions={0}"
    found = compare_modules(module(gather, kind), module(right, kind), options, worker)
    assert (found.verdict, "tagged" in found.data) == ("equal", True), found
    assert compare_modules(module(gather, kind), module(wrong, kind), options, worker).verdict == "different"
