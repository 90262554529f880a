"""The same program in both dialects is proved the same: every op of the opcode table, translated by XLA itself."""

from __future__ import annotations

import pytest
from jaxlib import _jax

from dialect_utils.ops.table import HLO_OPCODES
from dialect_utils.verdict.proof import try_prove
from tests.verdict.proof.dialects import parse

F, S, U, P, C = "tensor<4x4xf32>", "tensor<4x4xi32>", "tensor<4x4xui32>", "tensor<4x4xi1>", "tensor<4x4xcomplex<f32>>"
REGION = """({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.OP %x, %y : tensor<f32>
    stablehlo.return %s : tensor<f32>
  })"""
ADD, MAX, SUB = (REGION.replace("OP", name) for name in ("add", "maximum", "subtract"))
GE = """({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %s = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  })"""
GROUPS = "replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>"
CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>"
CONV = "dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"
NORM = "epsilon = 1.000000e-03 : f32, feature_index = 1 : i64"
V = "tensor<4xf32>"


def body(lines: str, result: str, **parameters: str) -> str:
    """Returns a module whose main has parameters a, b, ... and returns %r."""
    names = ", ".join(f"%{name}: {kind}" for name, kind in parameters.items())
    head = "module @m attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 1 : i32} {"
    return f"{head}\nfunc.func public @main({names}) -> {result} {{\n{lines}\nreturn %r : {result}\n}}\n}}\n"


def _unary(name: str, kind: str, result: str = "") -> str:
    result = result or kind
    return body(f'%r = "stablehlo.{name}"(%a) : ({kind}) -> {result}', result, a=kind)


def _binary(name: str, kind: str) -> str:
    return body(f"%r = stablehlo.{name} %a, %b : {kind}", kind, a=kind, b=kind)


def _generic(name: str, properties: str, result: str, region: str = "", **parameters: str) -> str:
    types = ", ".join(parameters.values())
    names = ", ".join(f"%{name}" for name in parameters)
    listed = f" <{{{properties}}}>" if properties else ""
    return body(f'%r = "stablehlo.{name}"({names}){listed} {region} : ({types}) -> {result}', result, **parameters)


_FLOATS = """abs cbrt ceil cosine exponential exponential_minus_one floor log log_plus_one logistic negate
round_nearest_afz round_nearest_even rsqrt sign sine sqrt tan tanh"""
PROGRAMS: dict[str, str] = {
    **{name: _unary(name, F) for name in _FLOATS.split()},
    **{name: _unary(name, S) for name in ("count_leading_zeros", "not", "popcnt")},
    **{
        name: _binary(name, F)
        for name in ["add", "atan2", "divide", "maximum", "minimum", "multiply", "power", "remainder", "subtract"]
    },
    **{
        name: _binary(name, U)
        for name in ["and", "or", "xor", "shift_left", "shift_right_arithmetic", "shift_right_logical"]
    },
    "is_finite": _unary("is_finite", F, P),
    "real": _unary("real", C, F),
    "imag": _unary("imag", C, F),
    "convert": _unary("convert", F, S),
    "bitcast_convert": _unary("bitcast_convert", F, "tensor<4x4x2xf16>"),
    "complex": _generic("complex", "", C, a=F, b=F),
    "compare": _generic("compare", "comparison_direction = #stablehlo<comparison_direction LE>", P, a=F, b=F),
    "select": _generic("select", "", F, p=P, a=F, b=F),
    "clamp": _generic("clamp", "", F, a=F, b=F, c=F),
    "reduce_precision": _generic("reduce_precision", "exponent_bits = 5 : i32, mantissa_bits = 10 : i32", F, a=F),
    "constant": body(
        "%c = stablehlo.constant dense<[[1.5, -0.0], [0x7F800000, 1.0e-40]]> : tensor<2x2xf32>\n"
        "%d = stablehlo.constant dense<[[true, false], [true, true]]> : tensor<2x2xi1>\n"
        "%z = stablehlo.constant dense<0.0> : tensor<2x2xf32>\n"
        "%r = stablehlo.select %d, %c, %z : tensor<2x2xi1>, tensor<2x2xf32>",
        "tensor<2x2xf32>",
    ),
    "broadcast_in_dim": _generic(
        "broadcast_in_dim", "broadcast_dimensions = array<i64: 2, 0>", "tensor<4x2x4xf32>", a=F
    ),
    "concatenate": _generic("concatenate", "dimension = 1 : i64", "tensor<4x8xf32>", a=F, b=F),
    "dynamic_slice": _generic(
        "dynamic_slice", "slice_sizes = array<i64: 2, 3>", "tensor<2x3xf32>", a=F, i="tensor<i32>", j="tensor<i32>"
    ),
    "dynamic_update_slice": _generic(
        "dynamic_update_slice", "", F, a=F, u="tensor<2x3xf32>", i="tensor<i32>", j="tensor<i32>"
    ),
    "gather": _generic(
        "gather",
        "dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], "
        "index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>",
        "tensor<3x4xf32>",
        a=F,
        i="tensor<3x1xi32>",
    ),
    "scatter": _generic(
        "scatter",
        "indices_are_sorted = false, unique_indices = true, scatter_dimension_numbers = #stablehlo.scatter<"
        "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
        "index_vector_dim = 1>",
        F,
        ADD,
        a=F,
        i="tensor<3x1xi32>",
        u="tensor<3x4xf32>",
    ),
    "iota": body("%r = stablehlo.iota dim = 1 : tensor<3x4xi32>", "tensor<3x4xi32>"),
    "pad": _generic(
        "pad",
        "edge_padding_high = array<i64: 2, -1>, edge_padding_low = array<i64: 1, 0>, "
        "interior_padding = array<i64: 0, 1>",
        "tensor<7x6xf32>",
        a=F,
        z="tensor<f32>",
    ),
    "reshape": _unary("reshape", F, "tensor<2x8xf32>"),
    "reverse": _generic("reverse", "dimensions = array<i64: 1>", F, a=F),
    "slice": _generic(
        "slice",
        "limit_indices = array<i64: 4, 3>, start_indices = array<i64: 1, 0>, strides = array<i64: 2, 1>",
        "tensor<2x3xf32>",
        a=F,
    ),
    "transpose": _generic("transpose", "permutation = array<i64: 1, 0>", F, a=F),
    "dot_general": _generic(
        "dot_general",
        "dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], "
        "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>, "
        "precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT>]",
        "tensor<2x3x5xf32>",
        a="tensor<2x3x4xf32>",
        b="tensor<5x2x4xf32>",
    ),
    "dot": _generic("dot", "", "tensor<3x5xf32>", a="tensor<3x4xf32>", b="tensor<4x5xf32>"),
    "convolution": body(
        f"%r = stablehlo.convolution(%a, %b) {CONV}, window = {{stride = [2, 1], pad = [[1, 0], [1, 1]], "
        "lhs_dilate = [1, 2], rhs_dilate = [2, 1], reverse = [false, true]} "
        "{batch_group_count = 1 : i64, feature_group_count = 2 : i64} "
        ": (tensor<1x6x4x4xf32>, tensor<3x3x2x6xf32>) -> tensor<1x2x7x6xf32>",
        "tensor<1x2x7x6xf32>",
        a="tensor<1x6x4x4xf32>",
        b="tensor<3x3x2x6xf32>",
    ),
    "reduce": _generic("reduce", "dimensions = array<i64: 1>", V, SUB, a=F, z="tensor<f32>"),
    "reduce_window": _generic(
        "reduce_window",
        "window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 1, 2>, base_dilations = array<i64: 2, 1>, "
        "window_dilations = array<i64: 1, 1>, padding = dense<[[0, 1], [1, 1]]> : tensor<2x2xi64>",
        "tensor<7x2xf32>",
        MAX,
        a=F,
        z="tensor<f32>",
    ),
    "select_and_scatter": _generic(
        "select_and_scatter",
        "window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>, padding = dense<0> : tensor<2x2xi64>",
        F,
        f"({GE[1:-1]}, {ADD[1:-1]})",
        a=F,
        u="tensor<2x2xf32>",
        z="tensor<f32>",
    ),
    "sort": _generic("sort", "dimension = 0 : i64, is_stable = true", F, GE.replace("GE", "LT"), a=F),
    "map": _generic("map", "dimensions = array<i64: 0, 1>", F, SUB, a=F, b=F),
    "fft": _generic(
        "fft", "fft_length = array<i64: 4>, fft_type = #stablehlo<fft_type RFFT>", "tensor<4x3xcomplex<f32>>", a=F
    ),
    "cholesky": _generic("cholesky", "lower = true", F, a=F),
    "triangular_solve": _generic(
        "triangular_solve",
        "left_side = true, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false",
        F,
        a=F,
        b=F,
    ),
    "batch_norm_inference": _generic("batch_norm_inference", NORM, F, a=F, s=V, o=V, m=V, v=V),
    "batch_norm_training": body(
        f'%r, %m, %v = "stablehlo.batch_norm_training"(%a, %s, %o) <{{{NORM}}}> : ({F}, {V}, {V}) -> ({F}, {V}, {V})',
        F,
        a=F,
        s=V,
        o=V,
    ),
    "batch_norm_grad": body(
        f'%r, %x, %y = "stablehlo.batch_norm_grad"(%a, %s, %m, %v, %g) <{{{NORM}}}> '
        f": ({F}, {V}, {V}, {V}, {F}) -> ({F}, {V}, {V})",
        F,
        a=F,
        s=V,
        m=V,
        v=V,
        g=F,
    ),
    "rng": body(
        "%d = stablehlo.constant dense<[4, 4]> : tensor<2xi64>\n"
        "%r = stablehlo.rng %a, %b, %d, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> " + F,
        F,
        a="tensor<f32>",
        b="tensor<f32>",
    ),
    "rng_bit_generator": body(
        "%s, %r = stablehlo.rng_bit_generator %a, algorithm = PHILOX : "
        "(tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)",
        "tensor<4xui32>",
        a="tensor<2xui64>",
    ),
    "all_gather": _generic(
        "all_gather", f"all_gather_dim = 1 : i64, {CHANNEL}, {GROUPS}, use_global_device_ids", "tensor<4x8xf32>", a=F
    ),
    "all_reduce": _generic("all_reduce", GROUPS, F, ADD, a=F),
    "all_to_all": _generic(
        "all_to_all",
        f"concat_dimension = 0 : i64, split_count = 2 : i64, split_dimension = 0 : i64, {GROUPS}",
        F,
        a=F,
    ),
    "collective_broadcast": _generic("collective_broadcast", GROUPS, F, a=F),
    "collective_permute": _generic(
        "collective_permute", "source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>", F, a=F
    ),
    "reduce_scatter": _generic("reduce_scatter", f"{GROUPS}, scatter_dimension = 0 : i64", "tensor<2x4xf32>", ADD, a=F),
    "partition_id": body("%r = stablehlo.partition_id : tensor<ui32>", "tensor<ui32>"),
    "replica_id": body("%r = stablehlo.replica_id : tensor<ui32>", "tensor<ui32>"),
    "optimization_barrier": body(f"%r, %s = stablehlo.optimization_barrier %a, %b : {F}, {F}", F, a=F, b=F),
    "get_dimension_size": _generic("get_dimension_size", "dimension = 1 : i64", "tensor<i32>", a=F),
    "custom_call": body(
        f"%r = stablehlo.custom_call @f(%a) {{api_version = 4 : i32, backend_config = {{x = 1 : i64}}}} : ({F}) -> {F}",
        F,
        a=F,
    ).replace("api_version = 4 : i32, backend_config = {x = 1 : i64}", 'api_version = 2 : i32, backend_config = "abc"'),
    "if": body(
        f'%r = "stablehlo.if"(%p) ({{\n  stablehlo.return %a : {F}\n}}, {{\n'
        f"  %n = stablehlo.negate %a : {F}\n  stablehlo.return %n : {F}\n}}) : (tensor<i1>) -> {F}",
        F,
        p="tensor<i1>",
        a=F,
    ),
    "case": body(
        f'%r = "stablehlo.case"(%i) ({{\n  stablehlo.return %a : {F}\n}}, {{\n'
        f"  %n = stablehlo.negate %a : {F}\n  stablehlo.return %n : {F}\n}}) : (tensor<i32>) -> {F}",
        F,
        i="tensor<i32>",
        a=F,
    ),
    "while": body(
        f"""%n = stablehlo.constant dense<100> : tensor<i32>
%one = stablehlo.constant dense<1> : tensor<i32>
%z = stablehlo.constant dense<0> : tensor<i32>
%w, %r = stablehlo.while(%i = %z, %x = %a) : tensor<i32>, {F}
 cond {{
  %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %c : tensor<i1>
}} do {{
  %j = stablehlo.add %i, %one : tensor<i32>
  %y = stablehlo.cosine %x : {F}
  stablehlo.return %j, %y : tensor<i32>, {F}
}}""",
        F,
        a=F,
    ),
}
# Tokens, other programs, and what StableHLO has in another way: their order is kept, their attributes differ in kind.
NOT_HERE = {
    "after_all", "create_token", "infeed", "outfeed", "send", "recv", "set_dimension_size", "tuple", "call", "copy",
    "composite", "broadcast", "dynamic_reshape", "async_start", "async_done", "get_tuple_element",
}  # fmt: skip


def as_hlo(text: str) -> str:
    """Returns a module as XLA translates it."""
    computation = _jax.mlir.mlir_module_to_xla_computation(text, use_tuple_args=False, return_tuple=False)
    return str(computation.as_hlo_text(True))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_the_same_in_both_dialects(name: str) -> None:
    text = PROGRAMS[name]
    modules = [parse(text), parse(as_hlo(text))]
    found = try_prove(modules)
    assert found.answer == "equal", found.reason


def test_every_op_of_the_table_is_there() -> None:
    named = {name for opcode in HLO_OPCODES for name in opcode.mlir}
    assert named - NOT_HERE <= PROGRAMS.keys()
