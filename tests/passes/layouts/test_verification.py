# ruff: noqa: E501
"""One mistake in a module that is right, for each rule; XLA rejects it or crashes, and accepts the module without the mistake."""

from __future__ import annotations

import pytest

from dialect_utils.hlo import HloModule
from dialect_utils.io.files import parse_bytes
from dialect_utils.ops import HLO_NAMES
from passes.layouts.verify_layouts import find_problems
from tests.hostile.valid import BODIES, valid_module

# A body's name, what is replaced in it by what, and a part of what the verifier says.
MISTAKES = [
    ("abs", "abs(a)", "abs(u)", "abs takes signed numbers, found u32"),
    ("sign", "sign(a)", "sign(p)", "sign takes signed numbers, found pred"),
    ("divide", "f32[4,6] divide(a, b)", "pred[4,6] divide(p, p)", "divide takes numbers"),
    ("acosh", "f32[4,6] acosh(a)", "s32[4,6] acosh(c)", "acosh takes floats or complex numbers"),
    ("real", "real(k)", "real(c)", "real takes floats or complex numbers, found s32"),
    ("real", "f32[4,6]", "f64[4,6]", "real gives f32[4,6]"),
    ("imag", "f32[4,6]", "s32[4,6]", "imag gives f32[4,6]"),
    ("complex", "c64[4,6]", "c128[4,6]", "complex gives c64[4,6]"),
    ("complex", "complex(a, b)", "complex(c, c)", "complex takes f32 or f64"),
    ("compare", "type=FLOAT", "type=SIGNED", "compare of f32 has the type FLOAT or TOTALORDER, found SIGNED"),
    ("compare", "compare(a, b)", "compare(u, u)", "compare of u32 has the type UNSIGNED, found FLOAT"),
    ("compare", "type=FLOAT", "type=less", "the type of compare is less, but has to be one of"),
    ("tan", "highest", "exact", "the mode of result_accuracy is exact"),
    ("stochastic-convert", "s8[4,6]", "f16[4,6]", "gives signed integers"),
    ("reduce-precision", ", mantissa_bits=10", "", "needs the attribute mantissa_bits"),
    ("reduce-precision", "mantissa_bits=10", "mantissa_bits=-1", "fewer than 0 bits"),
    ("reverse", ", dimensions={0}", "", "needs the attribute dimensions"),
    ("gather", "slice_sizes={1,6}", "slice_sizes={2,6}", "larger than 1 in dimensions [0]"),
    ("gather", "start_index_map={0}", "start_index_map={0,1}", "1 indices at a time for 2 dimensions"),
    ("gather", "index_vector_dim=1", "index_vector_dim=3", "has its indices in dimension 3"),
    ("gather", "index_vector_dim=1", "index_vector_dim=-1", "has its indices in dimension -1"),
    ("gather of windows", "start_index_map={0,1}", "start_index_map={1,1}", "names a dimension twice"),
    ("gather of windows", "offset_dims={1,2}", "offset_dims={2,1}", "out of order"),
    ("gather of windows", "indices_are_sorted=true", "indices_are_sorted=1", "is 1, but has to be one of false, true"),
    ("gather in batches", "start_indices_batching_dims={0}", "start_indices_batching_dims={1}", "joins dimension 0"),
    ("gather in batches", "start_indices_batching_dims={0}, ", "", "joins the dimensions [0] of an array and []"),
    ("gather in batches", "collapsed_slice_dims={}", "collapsed_slice_dims={0}", "names a dimension twice"),
    ("scatter", "scatter_dims_to_operand_dims={0}", "scatter_dims_to_operand_dims={7}", "names dimension 7"),
    ("scatter", "inserted_window_dims={0}", "inserted_window_dims={5}", "names dimension 5"),
    ("scatter", "update_window_dims={1}", "update_window_dims={-1}", "has its windows in dimensions [-1]"),
    ("scatter", "update_window_dims={1}", "update_window_dims={1,1}", "has its windows in dimensions [1, 1]"),
    ("scatter", "scatter(a, j, h)", "scatter(a, j, b)", "has [4] updates"),
    ("scatter", "inserted_window_dims={0}", "inserted_window_dims={}", "writes windows of [6] into"),
    ("scatter", "scatter(a, j, h)", "scatter(a, u, h)", "6 indices at a time for 1"),
    ("scatter", "to_apply=add", "to_apply=less", "applies a computation (f32, f32) -> f32, but %less"),
    ("scatter", "to_apply=add", "to_apply=add2", "applies %add2 to 2 values"),
    ("scatter of two", "scatter(a, b, j, h, h)", "scatter(a, b, z, h, h)", "takes integers as indices, found f32"),
    ("scatter of two", "scatter(a, b, j, h, h)", "scatter(a, v, j, h, h)", "but the shape is"),
    ("scatter in batches", "input_batching_dims={0}", "input_batching_dims={1}", "in both scatter_dims_to_operand_dims and input_batching_dims"),
    ("reduce", "reduce(a, z)", "reduce(c, z)", "applies a computation (f32, s32) -> f32"),
    ("reduce of two", "to_apply=add2", "to_apply=less2", "reduce gives (pred[6], f32[6])"),
    ("select-and-scatter", "select=less", "select=add", "applies a computation (f32, f32) -> pred, but %add"),
    ("select-and-scatter", "scatter=add", "scatter=less", "applies a computation (f32, f32) -> f32, but %less"),
    ("select-and-scatter", "(a, m, z)", "(a, m, w)", "which is not a scalar"),
    ("sort", "to_apply=less", "to_apply=add", "applies a computation (f32, f32) -> pred"),
    ("sort", "f32[4,6] sort", "s32[4,6] sort", "sort gives f32[4,6]"),
    ("map", "f32[4,6] map", "s32[4,6] map", "map gives f32[4,6]"),
    ("all-reduce", "to_apply=add", "to_apply=less", "but %less"),
    ("all-reduce", "all-reduce(a)", "all-reduce(c)", "all-reduce gives s32[4,6]"),
    ("all-gather", "f32[4,6]", "f32[6,6]", "gives f32[8,6], but the shape is f32[6,6]"),
    ("all-gather", "f32[4,6]", "f32[0,6]", "but the shape is f32[0,6]"),
    ("all-to-all", ", dimensions={0}", "", "needs a dimension to split"),
    ("all-to-all", "{{0}}", "{{1}}", "do not name each device once"),
    ("all-to-all", "{{0}}", "{{-1}}", "name a device below 0"),
    ("all-to-all of a tuple", "f32[4,6]", "f32[4,0]", "but the shape is (f32[4,0]"),
    ("reduce-scatter", "f32[4,6] red", "f32[3,6] red", "but the shape is f32[3,6]"),
    ("collective-permute", ", source_target_pairs={{0,0}}", "", "needs the attribute source_target_pairs"),
    ("collective-permute", "{{0,0}}", "{{0}}", "are not pairs of devices"),
    ("collective-permute", "f32[4,6]", "f32[4,5]", "but the shape is f32[4,5]"),
    ("partition-id", "u32[]", "u16[]", "partition-id gives u32[]"),
    ("topk", "s32[4,2]", "u32[4,2]", "topk gives (f32[4,2], s32[4,2])"),
    ("topk", "largest=true", "largest=less", "the largest of topk is less"),
    ("batch-norm-inference", ", epsilon=0.001", "", "needs the attribute epsilon"),
    ("batch-norm-inference", "feature_index=1", "feature_index=2", "has no dimension 2 of features"),
    ("batch-norm-inference", "(a, g, g, g, g)", "(a, g, g, g, v)", "needs [6] elements"),
    ("batch-norm-training", "f32[4,6], f32[6]", "f32[4,6], f32[5]", "gives (f32[4,6], f32[6], f32[6])"),
    ("batch-norm-grad", "(a, g, g, g, b)", "(a, g, g, g, w)", "needs [6] elements"),
    ("batch-norm-grad", "(a, g, g, g, b)", "(c, g, g, g, c)", "takes floats, found s32"),
    ("triangular-solve", ", transpose_a=NO_TRANSPOSE", "", "needs the attribute transpose_a"),
    ("triangular-solve", "lower=true", "lower=add", "the lower of triangular-solve is add"),
    ("triangular-solve", "f32[4,6] tri", "f64[4,6] tri", "triangular-solve gives f32[4,6]"),
    ("cholesky", "f32[2,3,3] cho", "s32[2,3,3] cho", "cholesky gives f32[2,3,3]"),
    ("fft", "fft(k)", "fft(a)", "fft of type FFT takes complex numbers, found f32"),
    ("fft of real", "fft(a)", "fft(k)", "fft of type RFFT takes real numbers, found c64"),
    ("fft of real", "c64[4,4]", "c128[4,4]", "fft gives c64[4,4]"),
    ("fft to real", "f32[4,10]", "f64[4,10]", "fft gives f32[4,10]"),
    ("fft to real", "fft_length={10}", "fft_length={12}", "fft back to 12 real numbers needs 7"),
    ("rng of normal numbers", "f32[4,6] rng(z, z)", "s32[4,6] rng(i, i)", "rng of s32 has no distribution rng_normal"),
    ("rng", "f32[4,6] rng(z, z), distribution=rng_uniform", "pred[4,6] rng(q, q), distribution=rng_normal", "rng of pred has no distribution rng_normal"),
    ("rng-bit-generator", "(u64[2], u32[4])", "(u64[3], u32[4])", "of the state u64[2]"),
    ("rng-bit-generator", "(u64[2], u32[4])", "(s4[2], u32[4])", "of the state u64[2]"),
    ("rng-bit-generator", "(u64[2], u32[4])", "(u64[2], c64[4])", "gives real numbers"),
    ("rng-get-and-update-state", "u64[2]", "u64[3]", "gives u64[2]"),
    ("rng-get-and-update-state", ", delta=4096", "", "needs the attribute delta"),
    ("get-dimension-size", "{0}", "{}", "takes one dimension, found []"),
    ("get-dimension-size", "(a)", "(t)", "get-dimension-size is for arrays"),
    ("dot", "dot(a, b)", "dot(a, t)", "dot is for arrays"),
    ("add-dependency", "(a, e)", "(a, t)", "waits for tokens"),
    ("domain", ', domain={kind="sharding", entry={replicated}, exit={replicated}}', "", "needs the attribute domain"),
    ("fusion", "kLoop", "kRound", "the kind of fusion is kRound"),
    ("conditional by truth", "(q, n, n)", "(i, n, n)", "chooses by pred[], found s32[]"),
    ("conditional by number", "(i, n, n, n)", "(q, n, n, n)", "chooses by s32[], found pred[]"),
    ("constant tuple", "{3,4}", "{3,4,5}", "a row of the literal has 3 elements"),
    ("constant tuple", "(1, {3,4})", "(1)", "the literal has 1 parts"),
    ("constant tuple", "(1, {3,4})", "{1, {3,4}}", "is not in parentheses"),
    ("constant", "f32[2,2] constant({{1,2},{3,4}})", "c64[2] constant({(1,2), 3})", "3 is not a c64: write (real, imaginary)"),
    ("constant", "f32[2,2] constant({{1,2},{3,4}})", "c64[] constant((1))", "is not a c64"),
    ("constant", "f32[2,2] constant({{1,2},{3,4}})", "bf16[] constant(nan(0x400001))", "more than the 7 bits of bf16"),
    ("negate", "negate(a)", "negate(a), sharding={devices=[1,1]0}", "is one of fewer than two devices"),
]  # fmt: skip


def messages(text: str) -> list[str]:
    return [problem.message for problem in find_problems(parse_bytes(text.encode(), "m.hlo"))]


@pytest.mark.parametrize("name", BODIES)
def test_what_is_right_verifies(name: str) -> None:
    assert messages(valid_module(BODIES[name])) == []


def test_most_opcodes_have_a_right_body() -> None:
    named = set()
    for body in BODIES.values():
        module = parse_bytes(valid_module(body).encode(), "m.hlo")
        assert isinstance(module, HloModule)
        named |= {each.opcode for computation in module.computations for each in computation.instructions}
    # Operations that only compilers write, that wait for others, or that need a later XLA.
    rest = "async acos asin asinh atanh collective-reduce cosh sinh dynamic-reshape infeed outfeed ragged-all-to-all recv scaled-dot scan send"
    assert {*HLO_NAMES} - named == {*rest.split(), "bitcast", "set-dimension-size"}


@pytest.mark.parametrize(("name", "old", "new", "said"), MISTAKES)
def test_a_mistake_is_found(name: str, old: str, new: str, said: str) -> None:
    body = BODIES[name]
    assert old in body
    if "h, z" in new:
        body = f"h = f64[4,6] convert(a)\n  {body}"
    assert said in " ".join(messages(valid_module(body.replace(old, new, 1))))


def test_xla_lets_computations_compute_in_another_precision() -> None:
    body = BODIES["scatter"].replace("to_apply=add", "to_apply=wide")
    wide = "wide {\n  x = f64[] parameter(0)\n  y = f64[] parameter(1)\n  ROOT s = f64[] add(x, y)\n}\n"
    assert messages(valid_module(body).replace("ENTRY", f"{wide}ENTRY", 1)) == []


@pytest.mark.parametrize(
    "body",
    [
        "ROOT r = (f32[6]) reduce(a, z), dimensions={0}, to_apply=add",
        "j = s32[3] broadcast(i), dimensions={}\n  e = f32[0,2] constant({})\n  ROOT r = f32[3,2] gather(e, j), offset_dims={1}, "
        "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={0,2}",
        "s = u64[2] constant({1,2})\n  ROOT r = u32[4] rng-bit-generator(s), algorithm=rng_three_fry",
        "ROOT r = c64[2] constant({(1,2), (inf, nan)})",
        "ROOT r = bf16[3] constant({nan, -nan(0x40), nan(0x7f)})",
    ],
)
def test_odd_forms_that_xla_takes_are_taken(body: str) -> None:
    assert messages(valid_module(body)) == []
