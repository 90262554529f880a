"""What stands in for ops that other backends lack computes the same; numpy says what that is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dialect_utils.execution import Worker, prepare
from dialect_utils.hlo import parse_module
from dialect_utils.layout import parse_array_shape
from passes import tpu_linalg
from passes.bitcast_positions import agrees, atom_bits, defined_positions, planned_positions
from passes.cpu_hazards import reduce_whole_windows, separate_scatter_operands
from passes.elementary_functions import expand_elementary_functions
from passes.expand_bitcasts import prove_padded
from passes.replicate_partitions import try_groups

Array = NDArray[Any]


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker() as found:
        yield found


def run(worker: Worker, text: str, *inputs: Array) -> list[Array]:
    return worker.run(prepare(parse_module(text), "<test>"), [list(inputs)])[0]


def matrices(*dims: int) -> Array:
    return np.random.default_rng(0).standard_normal(dims).astype(np.float32)


def test_lu_is_a_permuted_product(worker: Worker) -> None:
    a = matrices(2, 9, 6)
    factors, pivots, permutation = run(worker, tpu_linalg.lu(parse_array_shape("f32[2,9,6]")), a)
    assert pivots.shape == (2, 6)
    for lu, order, matrix in zip(factors, permutation, a, strict=True):
        lower, upper = np.tril(lu, -1)[:, :6] + np.eye(9, 6), np.triu(lu)[:6]
        assert np.abs(lower).max() <= 1 + 1e-6
        assert np.allclose(lower @ upper, matrix[order], atol=1e-5)


def test_qr_and_its_compact_form_agree_on_the_reflectors(worker: Worker) -> None:
    a = matrices(9, 6)
    packed, taus = run(worker, tpu_linalg.qr(parse_array_shape("f32[9,6]")), a)
    v = np.tril(packed, -1)[:, :6] + np.eye(9, 6)
    q = np.eye(9)
    for k in range(6):
        q = q @ (np.eye(9) - taus[k] * np.outer(v[:, k], v[:, k]))
    assert np.allclose(q @ np.triu(packed), a, atol=1e-5)
    x = ((np.triu(v.T @ v, 1) + np.eye(6)) * -taus).astype(np.float32)
    (t,) = run(worker, tpu_linalg.compact_wy(parse_array_shape("f32[6,6]")), x)
    assert np.allclose(np.eye(9) + v @ t @ v.T, q, atol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_eigenvectors_of_four_blocks(worker: Worker, n: int) -> None:
    a = matrices(2 * n, 2 * n)
    a = a + a.T
    blocks = [np.ascontiguousarray(part) for half in np.split(a, 2) for part in np.split(half, 2, axis=1)]
    upper, lower, *vectors = run(worker, tpu_linalg.eigh(parse_array_shape(f"f32[{n},{n}]")), *blocks)
    values, rows = np.concatenate([upper, lower]), np.block([vectors[:2], vectors[2:]])
    assert np.allclose(rows @ a, values[:, None] * rows, atol=1e-5)
    assert np.allclose(rows @ rows.T, np.eye(2 * n), atol=1e-5)


def test_triangles(worker: Worker) -> None:
    shape = parse_array_shape("f32[2,5,5]")
    lower = np.tril(matrices(2, 5, 5)).astype(np.float32) + 4 * np.eye(5, dtype=np.float32)
    (factor,) = run(worker, tpu_linalg.cholesky(shape), lower @ lower.swapaxes(1, 2))
    assert np.allclose(factor, lower, atol=1e-4)
    (inverse,) = run(worker, tpu_linalg.invert_triangular(shape, lower=True), lower)
    assert np.allclose(inverse @ lower, np.eye(5), atol=1e-5)
    upper = np.ascontiguousarray(lower.swapaxes(1, 2))
    (inverse,) = run(worker, tpu_linalg.invert_triangular(shape, lower=False), upper)
    assert np.allclose(inverse @ upper, np.eye(5), atol=1e-5)


EDGES = [-np.inf, -1e30, -7.0, -1.0, -0.25, -1e-6, -0.0, 0.0, 0.5, 1.0, 1.5, 20.0, 1e30, np.inf, np.nan]


@pytest.mark.parametrize(
    ("opcode", "function"),
    [
        ("sinh", np.sinh),
        ("cosh", np.cosh),
        ("asinh", np.arcsinh),
        ("acosh", np.arccosh),
        ("atanh", np.arctanh),
        ("asin", np.arcsin),
        ("acos", np.arccos),
    ],
)
def test_functions_are_their_formulas(worker: Worker, opcode: str, function: Any) -> None:
    module = parse_module(f"ENTRY e {{\n  x = f32[15] parameter(0)\n  ROOT r = f32[15] {opcode}(x)\n}}\n")
    expand_elementary_functions(module)
    assert f" {opcode}(" not in module.text()
    x = np.array(EDGES, np.float32)
    with np.errstate(all="ignore"):
        wanted = function(x)
    (found,) = run(worker, module.text(), x)
    assert np.allclose(found, wanted, rtol=3e-6, atol=0, equal_nan=True)


SCATTER = """HloModule m
pair {
  a = u32[] parameter(0)
  b = u32[] parameter(1)
  c = u32[] parameter(2)
  d = u32[] parameter(3)
  low = u32[] add(a, c)
  high = u32[] add(b, d)
  ROOT t = (u32[], u32[]) tuple(low, high)
}
ENTRY e {
  i = s32[6] parameter(0)
  zero = u32[] constant(0)
  one = u32[] constant(1)
  x = u32[4] broadcast(zero), dimensions={}
  y = u32[4] broadcast(zero), dimensions={}
  u = u32[6] broadcast(one), dimensions={}
  v = u32[6] broadcast(zero), dimensions={}
  ROOT s = (u32[4], u32[4]) scatter(x, y, i, u, v), update_window_dims={}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=pair
}
"""


def test_a_scatter_of_two_equal_arrays_keeps_them_apart(worker: Worker) -> None:
    module = parse_module(SCATTER)
    separate_scatter_operands(module)
    low, high = run(worker, module.text(), np.array([1, 2, 2, 2, 3, 4], np.int32))
    assert low.tolist() == [0, 1, 3, 1]
    assert high.tolist() == [0, 0, 0, 0]


def test_windows_of_everything_are_one_reduction(worker: Worker) -> None:
    text = """HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  x = f32[3,5] parameter(0)
  z = f32[] constant(START)
  ROOT w = f32[3,5] reduce-window(x, z), window={size=1x9 pad=0_0x4_4}, to_apply=sum
}
"""
    module = parse_module(text.replace("START", "0"))
    reduce_whole_windows(module)
    assert "reduce-window(" not in module.text()
    x = np.arange(15, dtype=np.float32).reshape(3, 5)
    assert (run(worker, module.text(), x)[0] == x.sum(1, keepdims=True)).all()
    kept = parse_module(text.replace("START", "1"))
    reduce_whole_windows(kept)
    assert "reduce-window(" in kept.text()


def test_groups_in_every_notation() -> None:
    assert try_groups("mesh['x'=4] {'x'}") == [[0, 1, 2, 3]]
    assert try_groups("mesh['x'=2,'y'=2] {'x'}") == [[0, 2], [1, 3]]
    assert try_groups("mesh['x'=2,'y'=2] {'y'}") == [[0, 1], [2, 3]]
    assert try_groups("mesh['x'=2,'y'=3] {'y','x'}") == [[0, 3, 1, 4, 2, 5]]
    assert try_groups("[2,2]<=[4]") == [[0, 1], [2, 3]]
    assert try_groups("[2,2]<=[2,2]T(1,0)") == [[0, 2], [1, 3]]
    assert try_groups("mesh['x'=4] {'y'}") is None
    assert try_groups("somehow") is None


def test_a_wrong_plan_does_not_pass_for_a_bitcast() -> None:
    source, destination = parse_array_shape("f32[4,5]{1,0:T(4,128)}"), parse_array_shape("f32[4,8]{1,0:T(4,128)}")
    from dialect_utils.layout import Pad, Plan

    right = Plan(source.element_type, (4, 5), (Pad((0, 0), (0, 3)),))
    wrong = Plan(source.element_type, (4, 5), (Pad((0, 1), (0, 2)),))
    assert prove_padded(source, destination, right) == "enumeration"
    assert prove_padded(source, destination, wrong) is None


def test_positions_follow_the_bytes_of_other_types() -> None:
    from dialect_utils.layout import ELEMENT_TYPES, BitcastConvert, Plan, Reshape

    source, destination = parse_array_shape("u32[2,3]{1,0}"), parse_array_shape("u16[2,6]{1,0}")
    steps = (BitcastConvert(ELEMENT_TYPES["u16"]), Reshape((2, 6)))
    plan = Plan(source.element_type, (2, 3), steps)
    atom = atom_bits(source, destination, plan)
    defined = defined_positions(source, destination, atom)
    assert defined.reshape(2, 6).tolist() == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]
    assert agrees(defined, planned_positions(source, plan, atom))
