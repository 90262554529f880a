"""Replacements of ops that other backends lack equal numpy's results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dialect_utils.execution import Worker, prepare
from dialect_utils.hlo import parse_module
from dialect_utils.layout import parse_array_shape
from dialect_utils.layout.proof.bitcast_positions import agrees, atom_bits, defined_positions, planned_positions
from dialect_utils.text import DiagnosticError
from passes.bitcasts.expand_bitcasts import prove_padded
from passes.dumps.inline_fusions import inline_fusions
from passes.dumps.portable_ops import (
    expand_elementary_functions,
    keep_roundings,
    reduce_whole_windows,
    separate_scatter_operands,
)
from tests.passes.dump_files import UNOPTIMIZED

Array = NDArray[Any]


def run(worker: Worker, text: str, *inputs: Array) -> list[Array]:
    return worker.run(prepare(parse_module(text), "<test>"), [list(inputs)], options=UNOPTIMIZED)[0]


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


@pytest.mark.parametrize("kind", ["uint8", "int16", "uint32", "int32", "uint64", "int64"])
def test_the_upper_half_of_a_product(worker: Worker, kind: str) -> None:
    info = np.iinfo(kind)
    edges = np.array([info.min, info.max, 0, 1, info.max // 3, info.min // 7], kind)
    name = f"{kind[0]}{info.bits}".replace("i", "s")
    a, b = (side.ravel() for side in np.meshgrid(edges, edges))
    shape = f"{name}[{a.size}]"
    text = f"ENTRY e {{\n  a = {shape} parameter(0)\n  b = {shape} parameter(1)\n  ROOT r = {shape} mulhi(a, b)\n}}\n"
    module = parse_module(text)
    expand_elementary_functions(module)
    (found,) = run(worker, module.text(), a, b)
    assert found.tolist() == [int(x) * int(y) >> info.bits for x, y in zip(a, b, strict=True)]


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


def test_a_wrong_plan_does_not_pass_for_a_bitcast() -> None:
    source, destination = parse_array_shape("f32[4,5]{1,0:T(4,128)}"), parse_array_shape("f32[4,8]{1,0:T(4,128)}")
    from dialect_utils.layout import Pad
    from dialect_utils.layout.moves.plan import Plan

    right = Plan(source.element_type, (4, 5), (Pad((0, 0), (0, 3)),))
    wrong = Plan(source.element_type, (4, 5), (Pad((0, 1), (0, 2)),))
    assert prove_padded(source, destination, right) == "enumeration"
    assert prove_padded(source, destination, wrong) is None


def test_positions_follow_the_bytes_of_other_types() -> None:
    from dialect_utils.layout import ELEMENT_TYPES, BitcastConvert, Reshape
    from dialect_utils.layout.moves.plan import Plan

    source, destination = parse_array_shape("u32[2,3]{1,0}"), parse_array_shape("u16[2,6]{1,0}")
    steps = (BitcastConvert(ELEMENT_TYPES["u16"]), Reshape((2, 6)))
    plan = Plan(source.element_type, (2, 3), steps)
    atom = atom_bits(source, destination, plan)
    defined = defined_positions(source, destination, atom)
    assert defined.reshape(2, 6).tolist() == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]
    assert agrees(defined, planned_positions(source, plan, atom))


def test_the_rounding_error_of_a_sum_is_not_simplified_away(worker: Worker) -> None:
    """Adds a constant and takes it away again; the same with products: f32 rounds in between.

    jaxlib 0.10 simplifies that; 0.12 no longer does.
    """
    text = """ENTRY e {
  x = f32[40] parameter(0)
  c = f32[] constant(12582912)
  cs = f32[40] broadcast(c), dimensions={}
  sum = f32[40] add(cs, x)
  whole = f32[40] subtract(sum, cs)
  i = f32[] constant(0.3)
  is = f32[40] broadcast(i), dimensions={}
  j = f32[] constant(0.7)
  js = f32[40] broadcast(j), dimensions={}
  third = f32[40] multiply(x, is)
  product = f32[40] multiply(js, third)
  ROOT both = (f32[40], f32[40]) tuple(whole, product)
}
"""
    x = np.linspace(-9, 9, 40).astype(np.float32)
    wanted = [np.round(x), x * np.float32(0.3) * np.float32(0.7)]
    module = parse_module(text)
    keep_roundings(module)
    assert module.text().count("opt-barrier(") == 2
    assert all(map(np.array_equal, run(worker, module.text(), x), wanted))


def test_a_fusion_of_another_number_of_operands_is_refused() -> None:
    text = "HloModule m\nbody {\n  ROOT p = f32[3] parameter(0)\n}\nENTRY e {\n  p = f32[3] parameter(0)\n"
    text += "  ROOT f = f32[3] fusion(p, p), kind=kLoop, calls=body\n}\n"
    with pytest.raises(DiagnosticError, match="%body takes 1 operands, but f has 2"):
        inline_fusions(parse_module(text))
