# ruff: noqa: E501
"""Right modules: one body or more for each opcode, from which wrong ones are made."""

from __future__ import annotations

from tests.hostile.nonsense import body_module

_PAIRS = """add2 {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  x2 = f32[] parameter(2)
  y2 = f32[] parameter(3)
  s = f32[] add(x, x2)
  sum2 = f32[] add(y, y2)
  ROOT tt = (f32[], f32[]) tuple(s, sum2)
}
less2 {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  x2 = f32[] parameter(2)
  y2 = f32[] parameter(3)
  ROOT s = pred[] compare(x, y), direction=LT
}
"""
# Values of several types, before each body.
PRELUDE = """  c = s32[4,6] convert(a)
  p = pred[4,6] compare(a, b), direction=LT
  k = c64[4,6] complex(a, b)
  u = u32[4,6] convert(c)
  o = s32[] constant(1)
  t = (f32[4,6], s32[]) tuple(a, i)
  q = pred[] constant(true)
  w = f32[4,6,3] broadcast(a), dimensions={0,1}
"""

BODIES = {
    "abs": "ROOT r = f32[4,6] abs(a)",
    "negate": "ROOT r = f32[4,6] negate(a)",
    "sign": "ROOT r = f32[4,6] sign(a)",
    "ceil": "ROOT r = f32[4,6] ceil(a)",
    "floor": "ROOT r = f32[4,6] floor(a)",
    "round-nearest-afz": "ROOT r = f32[4,6] round-nearest-afz(a)",
    "round-nearest-even": "ROOT r = f32[4,6] round-nearest-even(a)",
    "cbrt": "ROOT r = f32[4,6] cbrt(a)",
    "cosine": "ROOT r = f32[4,6] cosine(a)",
    "exponential": "ROOT r = f32[4,6] exponential(a)",
    "exponential-minus-one": "ROOT r = f32[4,6] exponential-minus-one(a)",
    "log": "ROOT r = f32[4,6] log(a)",
    "log-plus-one": "ROOT r = f32[4,6] log-plus-one(a)",
    "logistic": "ROOT r = f32[4,6] logistic(a)",
    "rsqrt": "ROOT r = f32[4,6] rsqrt(a)",
    "sine": "ROOT r = f32[4,6] sine(a)",
    "sqrt": "ROOT r = f32[4,6] sqrt(a)",
    "tan": "ROOT r = f32[4,6] tan(a), result_accuracy={mode=highest}",
    "tanh": "ROOT r = f32[4,6] tanh(a)",
    "erf": "ROOT r = f32[4,6] erf(a)",
    "copy": "ROOT r = f32[4,6] copy(a)",
    "real": "ROOT r = f32[4,6] real(k)",
    "imag": "ROOT r = f32[4,6] imag(k)",
    "not": "ROOT r = s32[4,6] not(c)",
    "popcnt": "ROOT r = s32[4,6] popcnt(c)",
    "count-leading-zeros": "ROOT r = s32[4,6] count-leading-zeros(c)",
    "is-finite": "ROOT r = pred[4,6] is-finite(a)",
    "add": "ROOT r = f32[4,6] add(a, b)",
    "atan2": "ROOT r = f32[4,6] atan2(a, b)",
    "divide": "ROOT r = f32[4,6] divide(a, b)",
    "multiply": "ROOT r = f32[4,6] multiply(a, b)",
    "power": "ROOT r = f32[4,6] power(a, b)",
    "subtract": "ROOT r = f32[4,6] subtract(a, b)",
    "maximum": "ROOT r = f32[4,6] maximum(a, b)",
    "minimum": "ROOT r = f32[4,6] minimum(a, b)",
    "remainder": "ROOT r = f32[4,6] remainder(a, b)",
    "and": "ROOT r = s32[4,6] and(c, c)",
    "or": "ROOT r = s32[4,6] or(c, c)",
    "xor": "ROOT r = s32[4,6] xor(c, c)",
    "shift-left": "ROOT r = s32[4,6] shift-left(c, c)",
    "shift-right-arithmetic": "ROOT r = s32[4,6] shift-right-arithmetic(c, c)",
    "shift-right-logical": "ROOT r = s32[4,6] shift-right-logical(c, c)",
    "clamp": "ROOT r = f32[4,6] clamp(z, a, z)",
    "select": "ROOT r = f32[4,6] select(p, a, b)",
    "select by a scalar": "ROOT r = f32[4,6] select(q, a, b)",
    "compare": "ROOT r = pred[4,6] compare(a, b), direction=LT, type=FLOAT",
    "compare in total order": "ROOT r = pred[4,6] compare(a, b), direction=LT, type=TOTALORDER",
    "complex": "ROOT r = c64[4,6] complex(a, b)",
    "convert": "ROOT r = s32[4,6] convert(a)",
    "bitcast-convert": "ROOT r = s32[4,6] bitcast-convert(a)",
    "bitcast-convert to narrower": "ROOT r = u16[4,6,2] bitcast-convert(a)",
    "stochastic-convert": "ROOT r = s8[4,6] stochastic-convert(a, u)",
    "reduce-precision": "ROOT r = f32[4,6] reduce-precision(a), exponent_bits=5, mantissa_bits=10",
    "broadcast": "ROOT r = f32[2,4,6] broadcast(a), dimensions={1,2}",
    "concatenate": "ROOT r = f32[8,6] concatenate(a, b), dimensions={0}",
    "dynamic-slice": "ROOT r = f32[2,3] dynamic-slice(a, i, o), dynamic_slice_sizes={2,3}",
    "dynamic-update-slice": "h = f32[2,3] slice(a), slice={[0:2],[0:3]}\n  ROOT r = f32[4,6] dynamic-update-slice(a, h, i, o)",
    "gather": "j = s32[3,1] broadcast(i), dimensions={}\n  ROOT r = f32[3,6] gather(a, j), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}",
    "gather of windows": "j = s32[3,2] broadcast(i), dimensions={}\n  ROOT r = f32[3,2,3] gather(a, j), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={2,3}, indices_are_sorted=true",
    "gather in batches": "j = s32[4,5,1] broadcast(i), dimensions={}\n  ROOT r = f32[4,5,2] gather(a, j), offset_dims={2}, collapsed_slice_dims={}, operand_batching_dims={0}, start_indices_batching_dims={0}, start_index_map={1}, index_vector_dim=2, slice_sizes={1,2}",
    "scatter": "j = s32[3,1] broadcast(i), dimensions={}\n  h = f32[3,6] slice(a), slice={[0:3],[0:6]}\n  ROOT r = f32[4,6] scatter(a, j, h), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
    "scatter in batches": "j = s32[4,5,1] broadcast(i), dimensions={}\n  h = f32[4,5,2] broadcast(z), dimensions={}\n  ROOT r = f32[4,6] scatter(a, j, h), update_window_dims={2}, inserted_window_dims={}, input_batching_dims={0}, scatter_indices_batching_dims={0}, scatter_dims_to_operand_dims={1}, index_vector_dim=2, to_apply=add",
    "scatter of two": "j = s32[3,1] broadcast(i), dimensions={}\n  h = f32[3,6] slice(a), slice={[0:3],[0:6]}\n  ROOT r = (f32[4,6], f32[4,6]) scatter(a, b, j, h, h), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add2",
    "pad": "ROOT r = f32[5,8] pad(a, z), padding=0_1x1_1",
    "pad inside": "ROOT r = f32[7,6] pad(a, z), padding=0_0_1x0_0",
    "reshape": "ROOT r = f32[24] reshape(a)",
    "reverse": "ROOT r = f32[4,6] reverse(a), dimensions={0}",
    "slice": "ROOT r = f32[2,3] slice(a), slice={[1:3],[0:6:2]}",
    "transpose": "ROOT r = f32[6,4] transpose(a), dimensions={1,0}",
    "dot": "ROOT r = f32[6,6] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
    "dot in batches": "ROOT r = f32[4,6,6] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}",
    "dot in batches over one": "ROOT r = f32[4] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_contracting_dims={1}, operand_precision={highest,default}",
    "dot by an algorithm": "ROOT r = f32[6,6] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}, algorithm=dot_f32_f32_f32",
    "ragged-dot": "m = f32[2,6,5] broadcast(z), dimensions={}\n  g = s32[2] constant({2,2})\n  ROOT r = f32[4,5] ragged-dot(a, m, g), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
    "convolution": "m = f32[1,4,6] reshape(a)\n  g = f32[2,6,5] broadcast(z), dimensions={}\n  ROOT r = f32[1,3,5] convolution(m, g), window={size=2}, dim_labels=b0f_0io->b0f",
    "convolution in feature groups": "m = f32[1,4,6,2] broadcast(z), dimensions={}\n  g = f32[2,3,1,4] broadcast(z), dimensions={}\n  ROOT r = f32[1,3,4,4] convolution(m, g), window={size=2x3 pad=0_0x1_1 stride=1x1 lhs_dilate=1x1 rhs_dilate=1x2}, dim_labels=b01f_01io->b01f, feature_group_count=2",
    "convolution in batch groups": "m = f32[4,4,2] broadcast(z), dimensions={}\n  g = f32[2,2,4] broadcast(z), dimensions={}\n  ROOT r = f32[2,3,4] convolution(m, g), window={size=2}, dim_labels=b0f_0io->b0f, batch_group_count=2",
    "map": "ROOT r = f32[4,6] map(a, b), dimensions={0,1}, to_apply=add",
    "reduce": "ROOT r = f32[6] reduce(a, z), dimensions={0}, to_apply=add",
    "reduce of two": "ROOT r = (f32[6], f32[6]) reduce(a, b, z, z), dimensions={0}, to_apply=add2",
    "reduce-window": "ROOT r = f32[3,5] reduce-window(a, z), window={size=2x2}, to_apply=add",
    "reduce-window in strides": "ROOT r = f32[2,5] reduce-window(a, z), window={size=2x2 stride=2x1 pad=0_0x0_0 lhs_dilate=1x1 rhs_dilate=1x1}, to_apply=add",
    "select-and-scatter": "m = f32[2,3] slice(a), slice={[0:2],[0:3]}\n  ROOT r = f32[4,6] select-and-scatter(a, m, z), window={size=2x2 stride=2x2}, select=less, scatter=add",
    "sort": "ROOT r = f32[4,6] sort(a), dimensions={1}, is_stable=true, to_apply=less",
    "sort of two": "ROOT r = (f32[4,6], f32[4,6]) sort(a, b), dimensions={1}, to_apply=less2",
    "topk": "ROOT r = (f32[4,2], s32[4,2]) topk(a), k=2, largest=true",
    "batch-norm-inference": "g = f32[6] broadcast(z), dimensions={}\n  ROOT r = f32[4,6] batch-norm-inference(a, g, g, g, g), epsilon=0.001, feature_index=1",
    "batch-norm-training": "g = f32[6] broadcast(z), dimensions={}\n  ROOT r = (f32[4,6], f32[6], f32[6]) batch-norm-training(a, g, g), epsilon=0.001, feature_index=1",
    "batch-norm-grad": "g = f32[6] broadcast(z), dimensions={}\n  ROOT r = (f32[4,6], f32[6], f32[6]) batch-norm-grad(a, g, g, g, b), epsilon=0.001, feature_index=1",
    "cholesky": "m = f32[2,3,3] broadcast(z), dimensions={}\n  ROOT r = f32[2,3,3] cholesky(m), lower=true",
    "triangular-solve": "m = f32[4,4] broadcast(z), dimensions={}\n  ROOT r = f32[4,6] triangular-solve(m, a), left_side=true, lower=true, unit_diagonal=false, transpose_a=NO_TRANSPOSE",
    "fft": "ROOT r = c64[4,6] fft(k), fft_type=FFT, fft_length={6}",
    "fft back": "ROOT r = c64[4,6] fft(k), fft_type=IFFT, fft_length={4,6}",
    "fft of real": "ROOT r = c64[4,4] fft(a), fft_type=RFFT, fft_length={6}",
    "fft to real": "ROOT r = f32[4,10] fft(k), fft_type=IRFFT, fft_length={10}",
    "rng": "ROOT r = f32[4,6] rng(z, z), distribution=rng_uniform",
    "rng of normal numbers": "ROOT r = f32[4,6] rng(z, z), distribution=rng_normal",
    "rng-bit-generator": "s = u64[2] constant({1,2})\n  ROOT r = (u64[2], u32[4]) rng-bit-generator(s), algorithm=rng_three_fry",
    "rng-bit-generator by philox": "s = u64[3] constant({1,2,3})\n  ROOT r = (u64[3], u32[4]) rng-bit-generator(s), algorithm=rng_philox",
    "rng-get-and-update-state": "ROOT r = u64[2] rng-get-and-update-state(), delta=4096",
    "constant": "ROOT r = f32[2,2] constant({{1,2},{3,4}})",
    "constant tuple": "ROOT r = (f32[], s32[2]) constant((1, {3,4}))",
    "iota": "ROOT r = s32[4,6] iota(), iota_dimension=1",
    "get-dimension-size": "ROOT r = s32[] get-dimension-size(a), dimensions={0}",
    "get-tuple-element": "ROOT r = f32[4,6] get-tuple-element(t), index=0",
    "tuple": "ROOT r = (f32[4,6], s32[]) tuple(a, i)",
    "tuple in a tuple": "m = (s32[], f32[4,6]) tuple(i, a)\n  ROOT r = (f32[4,6], (s32[], f32[4,6])) tuple(a, m)",
    "add-dependency": "e = token[] after-all()\n  ROOT r = f32[4,6] add-dependency(a, e)",
    "after-all": "e = token[] after-all()\n  f = token[] after-all(e, e)\n  ROOT r = f32[4,6] add-dependency(a, f)",
    "domain": 'ROOT r = f32[4,6] domain(a), domain={kind="sharding", entry={replicated}, exit={replicated}}',
    "opt-barrier": "ROOT r = f32[4,6] opt-barrier(a)",
    "opt-barrier of a tuple": "ROOT r = (f32[4,6], s32[]) opt-barrier(t)",
    "call": "ROOT r = f32[] call(z, z), to_apply=add",
    "conditional by truth": "n = (s32[], f32[4]) tuple(i, v)\n  ROOT r = (s32[], f32[4]) conditional(q, n, n), true_computation=body, false_computation=body",
    "conditional by number": "n = (s32[], f32[4]) tuple(i, v)\n  ROOT r = (s32[], f32[4]) conditional(i, n, n, n), branch_computations={body, body, body}",
    "while": "n = (s32[], f32[4]) tuple(i, v)\n  ROOT r = (s32[], f32[4]) while(n), condition=condition, body=body",
    "fusion": "ROOT r = f32[] fusion(z, z), kind=kLoop, calls=add",
    "custom-call": 'ROOT r = f32[4,6] custom-call(a), custom_call_target="Sharding", sharding={replicated}',
    "custom-call of the largest": 'ROOT r = (f32[4,2], s32[4,2]) custom-call(a), custom_call_target="TopK"',
    "all-gather": "ROOT r = f32[4,6] all-gather(a), replica_groups={}, dimensions={0}",
    "all-reduce": "ROOT r = f32[4,6] all-reduce(a), replica_groups={}, to_apply=add",
    "all-reduce of two": "ROOT r = (f32[4,6], f32[4,6]) all-reduce(a, b), replica_groups={{0}}, to_apply=add",
    "all-to-all": "ROOT r = f32[4,6] all-to-all(a), replica_groups={{0}}, dimensions={0}",
    "all-to-all of a tuple": "ROOT r = (f32[4,6]) all-to-all(a), replica_groups={{0}}",
    "collective-permute": "ROOT r = f32[4,6] collective-permute(a), source_target_pairs={{0,0}}",
    "collective-broadcast": "ROOT r = f32[4,6] collective-broadcast(a), replica_groups={{0}}",
    "reduce-scatter": "ROOT r = f32[4,6] reduce-scatter(a), replica_groups={{0}}, dimensions={0}, to_apply=add",
    "partition-id": "ROOT r = u32[] partition-id()",
    "replica-id": "ROOT r = u32[] replica-id()",
    "copy-start": "n = (f32[4,6], f32[4,6], u32[]) copy-start(a)\n  ROOT r = f32[4,6] copy-done(n)",
    "add with notes": 'ROOT r = f32[4,6] add(a, b), metadata={op_name="x"}, frontend_attributes={x="y"}',
    "mulhi": "ROOT r = u32[4,6] mulhi(u, u)",
    "acosh": "ROOT r = f32[4,6] acosh(a)",
}


def valid_module(body: str) -> str:
    """Returns the module whose entry has the common parameters, the values of PRELUDE and a body."""
    text = body_module(f"{PRELUDE.strip()}\n  {body}")
    return text.replace("\n\n", f"\n\n{_PAIRS}", 1)
