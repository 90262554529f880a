"""Indices of small and of large types: what they pick, and what they cannot reach."""

from __future__ import annotations

import pytest

from dialect_utils.verdict.certified import prove
from dialect_utils.verdict.proof import ProofResult, try_prove
from tests.verdict.field.test_types import program
from tests.verdict.proof.dialects import parse

ONE = "dynamic_slice_sizes={1}"


def proved(first: str, second: str) -> ProofResult:
    modules = [parse(first), parse(second)]
    return try_prove(modules)


@pytest.mark.parametrize("kind", ["u8", "s8"])
@pytest.mark.parametrize("sizes", [(300, 400), (400, 300)])
def test_one_index_picks_from_arrays_that_it_does_not_fill(kind: str, sizes: tuple[int, int]) -> None:
    parameters = f"f32[{sizes[0]}] f32[{sizes[1]}] {kind}[]"
    apart = [f"a = f32[1] dynamic-slice(p0, p2), {ONE}", f"b = f32[1] dynamic-slice(p1, p2), {ONE}"]
    joined = [
        "a = f32[300] slice(p0), slice={[0:300]}",
        "b = f32[300] slice(p1), slice={[0:300]}",
        "s = f32[300] add(a, b)",
        f"r = f32[1] dynamic-slice(s, p2), {ONE}",
    ]
    right = program(parameters, [*apart, "r = f32[1] add(a, b)"])
    assert proved(right, program(parameters, joined)).answer == "equal"
    wrong = program(parameters, [*apart, "n = f32[1] negate(b)", "r = f32[1] add(a, n)"])
    assert proved(wrong, program(parameters, joined)).answer != "equal"


def test_a_table_of_numbers_is_not_its_index_where_the_type_lacks_the_last_number() -> None:
    numbers = ", ".join(map(str, range(128)))
    table = [f"t = s8[128] constant({{{numbers}}})", "k = s8[129] concatenate(t, p0), dimensions={0}"]
    clamped = ["z = s32[] constant(0)", "l = s32[] constant(128)", "c = s32[] clamp(z, p1, l)", "r = s8[] convert(c)"]
    picked = program("s8[1] s32[]", [*table, f"d = s8[1] dynamic-slice(k, p1), {ONE}", "r = s8[] reshape(d)"])
    assert proved(picked, program("s8[1] s32[]", clamped)).answer != "equal"


def test_a_bound_below_zero_is_no_bound_of_an_index() -> None:
    bounded = [
        "z = s4[] constant(0)",
        "h = s4[] constant(-1)",
        "m = s4[] maximum(p1, z)",
        "p = s4[] minimum(m, h)",
    ]
    ends = ["c = s32[] convert(p)", "q = u4[] convert(p)", "u = s32[] convert(q)"]
    texts = [
        program("f32[12] s4[]", [*bounded, *ends, f"r = f32[1] dynamic-slice(p0, {index}), {ONE}"])
        for index in ("c", "u")
    ]
    assert proved(*texts).answer != "equal"


def gathered(start: int) -> str:
    numbers = "offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}"
    return program("f32[5]", [f"i = u64[1,1] constant({{{{{start}}}}})", f"r = f32[1] gather(p0, i), {numbers}"])


def test_a_start_index_that_no_signed_integer_holds_is_clamped_to_the_end() -> None:
    assert proved(gathered(2**63 + 1), gathered(4)).answer == "equal"
    assert proved(gathered(2**63 + 1), gathered(0)).answer != "equal"


def test_an_element_that_a_tuple_lacks_is_no_crash() -> None:
    texts = [
        program("f32[2]", ["t = (f32[2], f32[2]) tuple(p0, p0)", f"r = f32[2] get-tuple-element(t), index={index}"])
        for index in (1, 2)
    ]
    assert proved(*texts).reason == "element 2 is taken from a tuple of 2"


def sliced(limit: str, stride: int) -> str:
    return f"""func.func @main(%x: tensor<9x7xf32>, %at: tensor<2xi64>) -> tensor<3x3xf32> {{
  %size = stablehlo.constant dense<{limit}> : tensor<2xi64>
  %limit = stablehlo.add %at, %size : tensor<2xi64>
  %stride = stablehlo.constant dense<{stride}> : tensor<2xi64>
  %r = stablehlo.real_dynamic_slice %x, %at, %limit, %stride
    : (tensor<9x7xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}}
"""


def test_a_slice_to_its_start_plus_its_size_is_a_dynamic_slice() -> None:
    dynamic = """func.func @main(%x: tensor<9x7xf32>, %at: tensor<2xi64>) -> tensor<3x3xf32> {
  %0 = stablehlo.slice %at [0:1] : (tensor<2xi64>) -> tensor<1xi64>
  %1 = stablehlo.slice %at [1:2] : (tensor<2xi64>) -> tensor<1xi64>
  %i = stablehlo.reshape %0 : (tensor<1xi64>) -> tensor<i64>
  %j = stablehlo.reshape %1 : (tensor<1xi64>) -> tensor<i64>
  %r = stablehlo.dynamic_slice %x, %i, %j, sizes = [3, 3]
    : (tensor<9x7xf32>, tensor<i64>, tensor<i64>) -> tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}
"""
    modules = [parse(sliced("3", 1)), parse(dynamic)]
    assert prove(modules).answer == "equal"
    for limit, stride in (("2", 1), ("6", 2), ("[3, 4]", 1)):
        assert proved(sliced(limit, stride), dynamic).answer != "equal"
