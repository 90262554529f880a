"""Inferred shapes against those that jaxlib's parser infers, for every opcode that it can do without a shape."""

from __future__ import annotations

import jaxlib._hlo as reference
import pytest

from dialect_utils.hlo import parse_module
from dialect_utils.hlo.reading import Attributes
from dialect_utils.layout import Shape, parse_shape
from dialect_utils.ops import ALL_OPERANDS, Trait, opcode_of, with_trait
from dialect_utils.ops.inference import ShapeError, infer_shape
from dialect_utils.text import DiagnosticError

HEAD = """HloModule m

plus {
  u = f32[] parameter(0)
  v = f32[] parameter(1)
  ROOT w = f32[] add(u, v)
}

one {
  u = f32[] parameter(0)
  v = f32[] parameter(1)
  ROOT w = s32[] constant(1)
}

both {
  t = (f32[3,5], s32[]) parameter(0)
  ROOT w = (f32[3,5], s32[]) copy(t)
}

yes {
  t = (f32[3,5], s32[]) parameter(0)
  ROOT w = pred[] constant(true)
}

greater {
  u = f32[] parameter(0)
  v = f32[] parameter(1)
  ROOT w = pred[] compare(u, v), direction=GT
}

four {
  a = f32[] parameter(0)
  c = s32[] parameter(1)
  b = f32[] parameter(2)
  d = s32[] parameter(3)
  x = f32[] add(a, b)
  y = s32[] add(c, d)
  ROOT w = (f32[], s32[]) tuple(x, y)
}

ENTRY e {
  f = f32[3,5]{0,1} parameter(0)
  g = f32[3,5] parameter(1)
  i = s32[3,5] parameter(2)
  c = c64[3,5] parameter(3)
  z = f32[] parameter(4)
  n = s32[] parameter(5)
  t = (f32[3,5], s32[]) parameter(6)
  q = pred[3,5] parameter(7)
  image = f32[2,8,9,3] parameter(8)
  kernel = bf16[3,3,3,7] parameter(9)
  square = f32[4,5,5] parameter(10)
  stack = f32[4,3,5] parameter(11)
  scale = f32[3] parameter(12)
  spots = s32[2,6,2] parameter(13)
  updates = f32[2,6,5] parameter(14)
  h = bf16[5] parameter(15)
  maybe = pred[] parameter(16)
  chosen = f32[2,4] parameter(17)
"""

SAME = sorted(name for name in with_trait(Trait.ELEMENTWISE) if opcode_of(name).typed == ALL_OPERANDS)
INTEGER = {"not", "popcnt", "count-leading-zeros", "and", "or", "xor"}
WINDOW = "window={size=1x2x3x1 stride=1x2x1x1 pad=0_0x1_0x2_1x0_0 rhs_dilate=1x1x2x1}"
CASES = [
    *(
        f"{name}({', '.join(['i' if name in INTEGER or 'shift' in name else 'f'] * opcode_of(name).operands[0])})"
        for name in SAME
        if opcode_of(name).operands[0] and name != "complex"
    ),
    "abs(c)",
    "abs(f)",
    "real(c)",
    "imag(c)",
    "real(f)",
    "complex(f, g)",
    "is-finite(f)",
    "compare(f, g), direction=LT",
    "clamp(z, f, z)",
    "select(q, f, g)",
    "select(maybe, f, g)",
    "copy(f)",
    "tuple(f, t)",
    "get-tuple-element(t), index=1",
    "after-all()",
    "partition-id()",
    "replica-id()",
    "broadcast(f), dimensions={2,7}",
    "transpose(f), dimensions={1,0}",
    "transpose(stack), dimensions={1,2,0}",
    "reverse(f), dimensions={1}",
    "pad(f, z), padding=1_2_1x-1_0",
    "concatenate(f, g), dimensions={1}",
    "dot(f, square), lhs_contracting_dims={1}, rhs_contracting_dims={2}",
    "dot(square, stack), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={2}",
    "dot(f, h), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    "convolution(image, kernel), window={size=3x3 stride=2x1 pad=1_1x0_2 lhs_dilate=1x2}, dim_labels=b01f_01io->bf01",
    "reduce(stack, z), dimensions={0,2}, to_apply=plus",
    "reduce(f, i, z, n), dimensions={0}, to_apply=four",
    f"reduce-window(image, z), {WINDOW}, to_apply=plus",
    "select-and-scatter(f, chosen, z), window={size=2x2}, select=greater, scatter=plus",
    "gather(f, spots), offset_dims={2}, collapsed_slice_dims={0}, start_index_map={0,1}, index_vector_dim=2, "
    "slice_sizes={1,5}",
    "scatter(f, spots, updates), update_window_dims={2}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0,1}, "
    "index_vector_dim=2, to_apply=plus",
    "sort(f), dimensions={0}, to_apply=greater",
    "sort(f, i), dimensions={0}, to_apply=four",
    "map(f, g), dimensions={0,1}, to_apply=one",
    "call(t), to_apply=both",
    "while(t), condition=yes, body=both",
    "conditional(n, t, t), branch_computations={both, both}",
    "conditional(maybe, t, t), true_computation=both, false_computation=both",
    "cholesky(square), lower=true",
    "triangular-solve(square, square), left_side=true, lower=true, transpose_a=NO_TRANSPOSE",
    "fft(c), fft_type=FFT, fft_length={5}",
    "fft(f), fft_type=RFFT, fft_length={5}",
    "fft(c), fft_type=IRFFT, fft_length={8}",
    "batch-norm-training(f, scale, scale), epsilon=0.1, feature_index=0",
    "batch-norm-inference(f, scale, scale, scale, scale), epsilon=0.1, feature_index=0",
    "batch-norm-grad(f, scale, scale, scale, f), epsilon=0.1, feature_index=0",
    "get-dimension-size(f), dimensions={1}",
    "topk(f), k=2, largest=true",
    "add-dependency(f, after)",
    "slice(f), slice={[0:2], [1:5:2]}",
    "dynamic-slice(f, n, n), dynamic_slice_sizes={2,1}",
    "dynamic-update-slice(f, f, n, n)",
    "reduce-precision(f), exponent_bits=5, mantissa_bits=3",
    "copy-start(f)",
    "set-dimension-size(f, n), dimensions={0}",
]


def inferred(text: str) -> Shape:
    module = parse_module(f"{HEAD}  after = token[] after-all()\n  ROOT r = {text}\n}}\n")
    return module.entry.root.shape


def inferred_by_jaxlib(text: str) -> Shape | None:
    source = f"{HEAD}  after = token[] after-all()\n  ROOT r = {text}\n}}\n"
    try:
        printed = reference.hlo_module_from_text(source).to_string(reference.HloPrintOptions())
    except Exception as error:
        if "cannot infer shape" not in str(error):
            raise
        return None
    return parse_module(printed).entry.root.shape


@pytest.mark.parametrize("text", CASES)
def test_against_jaxlib(text: str) -> None:
    ours, theirs = inferred(text), inferred_by_jaxlib(text)
    if theirs is None:
        # Its own rules are for what the attributes say completely.
        opcode = text.partition("(")[0]
        assert opcode in {"slice", "dynamic-slice", "dynamic-update-slice", "reduce-precision", "copy-start"}
        return
    assert ours.without_layout == theirs.without_layout
    # An unwritten layout is the descending one.
    assert ours.with_effective_layout == theirs.with_effective_layout


def test_what_has_to_be_written() -> None:
    for text in ("iota(), iota_dimension=0", "convert(f)", "reshape(f)", 'custom-call(f), custom_call_target="x"'):
        with pytest.raises(DiagnosticError, match="is not written"):
            inferred(text)
        assert inferred_by_jaxlib(text) is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("add(f, i)", "add of f32"),
        ("transpose(f), dimensions={0,0}", "transpose"),
        ("get-tuple-element(t), index=2", "takes element 2 of a tuple of 2"),
        ("get-tuple-element(f), index=0", "which is not a tuple"),
        ("concatenate(f, square), dimensions={0}", "the dimensions other than 0 differ"),
        ("dot(f, square), lhs_contracting_dims={0}, rhs_contracting_dims={0}", "the contracting dimensions differ"),
        ("reduce(f, g, z), dimensions={0}, to_apply=plus", "as many initial values"),
        ("reduce(f, z), dimensions={2}, to_apply=plus", "but the rank is 2"),
        ("reduce-window(f, z), window={size=2}, to_apply=plus", "2 dimensions"),
        ("clamp(h, f, z)", "the dimensions differ"),
        ("select(q, f, i)", "the element types differ"),
        ("convolution(f, g), dim_labels=bf_io->bf, window={size=3}", "dimensions"),
        ("map(f, h), dimensions={0,1}, to_apply=one", "dimensions differ"),
    ],
)
def test_what_gives_no_shape(text: str, message: str) -> None:
    with pytest.raises(DiagnosticError, match=message):
        inferred(text)


def test_the_operands_have_to_be_as_many_as_the_opcode_takes() -> None:
    with pytest.raises(ShapeError, match="add takes 2 operands, found 1"):
        infer_shape(opcode_of("add"), Attributes("add", {}), [parse_shape("f32[3]")])


def test_a_computation_in_place_says_what_a_conditional_gives() -> None:
    branch = "{ t = (f32[3,5], s32[]) parameter(0) ROOT w = f32[7] constant({1,2,3,4,5,6,7}) }"
    text = f"conditional(n, t, t), branch_computations={{{branch}, {branch}}}"
    assert inferred(text) == parse_shape("f32[7]")
