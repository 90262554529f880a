"""HLO modules without a meaning: XLA rejects each, or crashes."""

from __future__ import annotations

_SUM = """add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}
"""
_LESS = """less {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = pred[] compare(x, y), direction=LT
}
"""
_LOOP = """condition {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  v = f32[4] get-tuple-element(s), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT t = (s32[], f32[4]) tuple(j, v)
}
"""

# The instructions of the entry beside its parameters a, b = f32[4,6], i = s32[], v = f32[4] and z = f32[] constant.
_BODIES = {
    # Literals.
    "literal with too few elements": "ROOT r = f32[3] constant({1, 2})",
    "literal with too many elements": "ROOT r = f32[3] constant({1, 2, 3, 4})",
    "literal of another rank": "ROOT r = f32[2,2] constant({1, 2, 3, 4})",
    "literal with ragged rows": "ROOT r = f32[2,2] constant({{1, 2}, {3}})",
    "literal of truth for a float": "ROOT r = f32[] constant(true)",
    "literal of truth among integers": "ROOT r = s32[2] constant({0, false})",
    "literal with a number where none is": "ROOT r = f32[0] constant({1})",
    "literal without rows": "ROOT r = f32[2,0] constant({})",
    "literal for a scalar in braces": "ROOT r = f32[] constant({1})",
    "integer literal too large": "ROOT r = s8[] constant(300)",
    "integer literal too small": "ROOT r = s8[2] constant({1, -129})",
    "negative unsigned literal": "ROOT r = u8[] constant(-1)",
    "fraction as an integer": "ROOT r = s32[] constant(1.5)",
    "word as a number": "ROOT r = f32[] constant(abc)",
    "float literal too large": "ROOT r = f16[] constant(1e10)",
    "literal of a tuple with too few": "ROOT r = (f32[], f32[]) constant((1))",
    "empty literal": "ROOT r = f32[] constant()",
    # Element types.
    "add of two types": "c = s32[4,6] convert(a)\n  ROOT r = f32[4,6] add(a, c)",
    "result of another type": "ROOT r = s32[4,6] add(a, b)",
    "and of floats": "ROOT r = f32[4,6] and(a, b)",
    "not of floats": "ROOT r = f32[4,6] not(a)",
    "shift of floats": "ROOT r = f32[4,6] shift-left(a, b)",
    "sine of integers": "c = s32[4,6] convert(a)\n  ROOT r = s32[4,6] sine(c)",
    "compare that gives floats": "ROOT r = f32[4,6] compare(a, b), direction=LT",
    "compare of two types": "c = s32[4,6] convert(a)\n  ROOT r = pred[4,6] compare(a, c), direction=LT",
    "select by floats": "ROOT r = f32[4,6] select(a, a, b)",
    "select of two types": (
        "p = pred[4,6] compare(a, b), direction=LT\n  c = s32[4,6] convert(a)\n  ROOT r = f32[4,6] select(p, a, c)"
    ),
    "clamp of two types": "ROOT r = f32[4,6] clamp(i, a, z)",
    "complex of integers": "ROOT r = c64[] complex(i, i)",
    "real that gives complex": "c = c64[4,6] complex(a, b)\n  ROOT r = c64[4,6] real(c)",
    "is-finite of integers": "ROOT r = pred[] is-finite(i)",
    "popcnt of floats": "ROOT r = f32[4,6] popcnt(a)",
    "transpose to another type": "ROOT r = s32[6,4] transpose(a), dimensions={1,0}",
    "reshape to another type": "ROOT r = s32[24] reshape(a)",
    "broadcast to another type": "ROOT r = s32[4,6,2] broadcast(a), dimensions={0,1}",
    "slice to another type": "ROOT r = s32[2,6] slice(a), slice={[0:2], [0:6]}",
    "pad with another type": "ROOT r = f32[5,6] pad(a, i), padding=0_1x0_0",
    "concatenate of two types": "c = s32[4,6] convert(a)\n  ROOT r = f32[8,6] concatenate(a, c), dimensions={0}",
    "copy to another type": "ROOT r = s32[4,6] copy(a)",
    "reverse to another type": "ROOT r = s32[4,6] reverse(a), dimensions={0}",
    "dynamic-slice by floats": "ROOT r = f32[1,6] dynamic-slice(a, z, z), dynamic_slice_sizes={1,6}",
    "dynamic-update-slice of another type": (
        "c = s32[1,6] constant({{1,2,3,4,5,6}})\n  ROOT r = f32[4,6] dynamic-update-slice(a, c, i, i)"
    ),
    "dot of two types": (
        "c = s32[4,6] convert(a)\n  ROOT r = f32[6,6] dot(a, c), lhs_contracting_dims={0}, rhs_contracting_dims={0}"
    ),
    "iota of a truth value": "ROOT r = pred[4] iota(), iota_dimension=0",
    "reduce-precision of integers": "ROOT r = s32[] reduce-precision(i), exponent_bits=5, mantissa_bits=5",
    # Shapes.
    "add of two shapes": "ROOT r = f32[4,6] add(a, v)",
    "result of another shape": "ROOT r = f32[6,4] add(a, b)",
    "transpose without a permutation": "ROOT r = f32[6,4] transpose(a), dimensions={1,1}",
    "transpose of too few dimensions": "ROOT r = f32[6,4] transpose(a), dimensions={1}",
    "reshape to another count": "ROOT r = f32[25] reshape(a)",
    "slice beyond the end": "ROOT r = f32[5,6] slice(a), slice={[0:5], [0:6]}",
    "slice backwards": "ROOT r = f32[4,6] slice(a), slice={[3:1], [0:6]}",
    "slice with stride 0": "ROOT r = f32[4,6] slice(a), slice={[0:4:0], [0:6]}",
    "slice of too few dimensions": "ROOT r = f32[4,6] slice(a), slice={[0:4]}",
    "pad below 0": "ROOT r = f32[4,6] pad(a, z), padding=-9_0x0_0",
    "pad with an array": "ROOT r = f32[5,6] pad(a, v), padding=0_1x0_0",
    "pad of too few dimensions": "ROOT r = f32[5,6] pad(a, z), padding=0_1",
    "negative interior padding": "ROOT r = f32[1,6] pad(a, z), padding=0_0_-1x0_0",
    "broadcast of other sizes": "ROOT r = f32[5,6] broadcast(a), dimensions={0,1}",
    "broadcast into one dimension twice": "ROOT r = f32[4,6] broadcast(a), dimensions={0,0}",
    "broadcast of unordered dimensions": "ROOT r = f32[4,6] broadcast(a), dimensions={1,0}",
    "broadcast beyond the rank": "ROOT r = f32[4,6] broadcast(v), dimensions={2}",
    "concatenate of other sizes": "ROOT r = f32[8,6] concatenate(a, v), dimensions={0}",
    "concatenate along no dimension": "ROOT r = f32[8,6] concatenate(a, b), dimensions={2}",
    "concatenate along two": "ROOT r = f32[8,6] concatenate(a, b), dimensions={0,1}",
    "concatenate of nothing": "ROOT r = f32[4,6] concatenate(), dimensions={0}",
    "reverse of one dimension twice": "ROOT r = f32[4,6] reverse(a), dimensions={0,0}",
    "reverse of no dimension": "ROOT r = f32[4,6] reverse(a), dimensions={5}",
    "iota along no dimension": "ROOT r = f32[4,6] iota(), iota_dimension=2",
    "iota of a scalar": "ROOT r = f32[] iota(), iota_dimension=0",
    "iota without its dimension": "ROOT r = f32[4,6] iota()",
    "dynamic-slice of too many": "ROOT r = f32[9,6] dynamic-slice(a, i, i), dynamic_slice_sizes={9,6}",
    "dynamic-slice of other sizes": "ROOT r = f32[2,6] dynamic-slice(a, i, i), dynamic_slice_sizes={1,6}",
    "dynamic-slice with too few indices": "ROOT r = f32[1,6] dynamic-slice(a, i), dynamic_slice_sizes={1,6}",
    "dynamic-slice without sizes": "ROOT r = f32[1,6] dynamic-slice(a, i, i)",
    "dynamic-update-slice that is larger": (
        "c = f32[5,6] broadcast(z), dimensions={}\n  ROOT r = f32[4,6] dynamic-update-slice(a, c, i, i)"
    ),
    "dynamic-update-slice with an index too many": "ROOT r = f32[4,6] dynamic-update-slice(a, b, i, i, i)",
    "get-tuple-element of an array": "ROOT r = f32[4] get-tuple-element(a), index=0",
    "get-tuple-element beyond the end": "t = (f32[4,6]) tuple(a)\n  ROOT r = f32[4,6] get-tuple-element(t), index=1",
    "get-tuple-element of another shape": "t = (f32[4,6]) tuple(a)\n  ROOT r = f32[6,4] get-tuple-element(t), index=0",
    "tuple of another shape": "ROOT r = (f32[6,4]) tuple(a)",
    "bitcast-convert to another width": "ROOT r = f64[4,6] bitcast-convert(a)",
    "convert of a tuple": "t = (f32[4,6]) tuple(a)\n  ROOT r = f32[4,6] convert(t)",
    "negate of a tuple": "t = (f32[4,6]) tuple(a)\n  ROOT r = (f32[4,6]) negate(t)",
    "select of another shape": "p = pred[4] constant({0,1,0,1})\n  ROOT r = f32[4,6] select(p, a, b)",
    "clamp by an array of another shape": "ROOT r = f32[4,6] clamp(v, a, v)",
    "compare without a direction": "ROOT r = pred[4,6] compare(a, b)",
    "compare with an unknown direction": "ROOT r = pred[4,6] compare(a, b), direction=XX",
    "set-dimension-size of a static result": "ROOT r = f32[4,6] set-dimension-size(a, i), dimensions={0}",
    "set-dimension-size by a float": "ROOT r = f32[<=4,6] set-dimension-size(a, z), dimensions={0}",
    "get-dimension-size of a float": "ROOT r = f32[] get-dimension-size(a), dimensions={0}",
    "get-dimension-size without dimension": "ROOT r = s32[] get-dimension-size(a)",
    # Reductions, sorts and what else applies a computation.
    "reduce of one dimension twice": "ROOT r = f32[6] reduce(a, z), dimensions={0,0}, to_apply=add",
    "reduce without dimensions": "ROOT r = f32[6] reduce(a, z), to_apply=add",
    "reduce with an array to begin with": "ROOT r = f32[6] reduce(a, v), dimensions={0}, to_apply=add",
    "reduce beginning with another type": "ROOT r = f32[6] reduce(a, i), dimensions={0}, to_apply=add",
    "reduce by a comparison": "ROOT r = f32[6] reduce(a, z), dimensions={0}, to_apply=less",
    "reduce without a computation": "ROOT r = f32[6] reduce(a, z), dimensions={0}",
    "reduce of no dimension": "ROOT r = f32[4,6] reduce(a, z), dimensions={2}, to_apply=add",
    "reduce to another type": "ROOT r = s32[6] reduce(a, z), dimensions={0}, to_apply=add",
    "reduce-window of another rank": "ROOT r = f32[4,6] reduce-window(a, z), window={size=1}, to_apply=add",
    "reduce-window of other sizes": "ROOT r = f32[4,6] reduce-window(a, z), window={size=2x1}, to_apply=add",
    "reduce-window of size 0": "ROOT r = f32[5,6] reduce-window(a, z), window={size=0x1}, to_apply=add",
    "reduce-window with stride 0": "ROOT r = f32[4,6] reduce-window(a, z), window={size=1x1 stride=0x1}, to_apply=add",
    "reduce-window without a window": "ROOT r = f32[4,6] reduce-window(a, z), to_apply=add",
    "sort by a sum": "ROOT r = f32[4,6] sort(a), dimensions={0}, to_apply=add",
    "sort along no dimension": "ROOT r = f32[4,6] sort(a), dimensions={2}, to_apply=less",
    "sort along two": "ROOT r = f32[4,6] sort(a), dimensions={0,1}, to_apply=less",
    "sort of other shapes": "ROOT r = (f32[4,6], f32[4]) sort(a, v), dimensions={0}, to_apply=less",
    "sort to another shape": "ROOT r = f32[6,4] sort(a), dimensions={0}, to_apply=less",
    "sort without a computation": "ROOT r = f32[4,6] sort(a), dimensions={0}",
    "map of another computation": "ROOT r = f32[4,6] map(a), dimensions={0,1}, to_apply=add",
    "map to another shape": "ROOT r = f32[6,4] map(a, b), dimensions={0,1}, to_apply=add",
    "call with too few operands": "ROOT r = f32[] call(z), to_apply=add",
    "call with operands of another type": "ROOT r = f32[] call(i, z), to_apply=add",
    "call of a computation that is not there": "ROOT r = f32[] call(z, z), to_apply=nobody",
    "call without a computation": "ROOT r = f32[] call(z, z)",
    "while over another shape": "ROOT r = f32[4,6] while(a), condition=condition, body=body",
    "while without a body": "t = (s32[], f32[4]) tuple(i, v)\n  ROOT r = (s32[], f32[4]) while(t), condition=condition",
    "while whose condition is a sum": "ROOT r = f32[] while(z), condition=add, body=add",
    "conditional without branches": "p = pred[] constant(1)\n  ROOT r = f32[] conditional(p, z, z)",
    "conditional by a float": "ROOT r = f32[] conditional(z, z, z), branch_computations={add, add}",
    "scatter without its numbers": "j = s32[1] reshape(i)\n  ROOT r = f32[4,6] scatter(a, j, v), to_apply=add",
    "select-and-scatter of other shapes": (
        "ROOT r = f32[4,6] select-and-scatter(a, v, z), window={size=2x2}, select=less, scatter=add"
    ),
    # Contractions.
    "dot of other sizes": "ROOT r = f32[4,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    "dot over no dimension": "ROOT r = f32[6,6] dot(a, b), lhs_contracting_dims={2}, rhs_contracting_dims={0}",
    "dot over one dimension twice": "ROOT r = f32[] dot(a, b), lhs_contracting_dims={0,0}, rhs_contracting_dims={0,0}",
    "dot of more dimensions here than there": (
        "ROOT r = f32[6] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0,1}"
    ),
    "dot whose batch is contracted": (
        "ROOT r = f32[4] dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={0}, "
        "lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}"
    ),
    "dot to another shape": "ROOT r = f32[6,5] dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
    "convolution with one letter twice": (
        "c = f32[4,6,1] reshape(a)\n  k = f32[1,6,1] broadcast(z), dimensions={}\n"
        "  ROOT r = f32[4,6,1] convolution(c, k), window={size=1}, dim_labels=bff_0io->b0f"
    ),
    "convolution with labels of another rank": (
        "c = f32[4,6,1] reshape(a)\n  k = f32[1,1,1] broadcast(z), dimensions={}\n"
        "  ROOT r = f32[4,6,1] convolution(c, k), window={size=1}, dim_labels=b01f_01io->b01f"
    ),
    "convolution of other features": (
        "c = f32[4,6,1] reshape(a)\n  k = f32[1,2,1] broadcast(z), dimensions={}\n"
        "  ROOT r = f32[4,6,1] convolution(c, k), window={size=1}, dim_labels=b0f_0io->b0f"
    ),
    "convolution with a window of another size": (
        "c = f32[4,6,1] reshape(a)\n  k = f32[1,1,1] broadcast(z), dimensions={}\n"
        "  ROOT r = f32[4,6,1] convolution(c, k), window={size=2}, dim_labels=b0f_0io->b0f"
    ),
    "convolution to another shape": (
        "c = f32[4,6,1] reshape(a)\n  k = f32[1,1,1] broadcast(z), dimensions={}\n"
        "  ROOT r = f32[4,5,1] convolution(c, k), window={size=1}, dim_labels=b0f_0io->b0f"
    ),
    "convolution in no groups": (
        "c = f32[4,6,1] reshape(a)\n  k = f32[1,1,1] broadcast(z), dimensions={}\n"
        "  ROOT r = f32[4,6,1] convolution(c, k), window={size=1}, dim_labels=b0f_0io->b0f, feature_group_count=0"
    ),
    "convolution without labels": (
        "c = f32[4,6,1] reshape(a)\n  k = f32[1,1,1] broadcast(z), dimensions={}\n"
        "  ROOT r = f32[4,6,1] convolution(c, k), window={size=1}"
    ),
    # Linear algebra, transforms, random numbers.
    "cholesky of no square": "ROOT r = f32[4,6] cholesky(a), lower=true",
    "cholesky of a vector": "ROOT r = f32[4] cholesky(v), lower=true",
    "triangular-solve of no square": (
        "ROOT r = f32[4,6] triangular-solve(a, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE"
    ),
    "fft of integers": "c = s32[4,6] convert(a)\n  ROOT r = c64[4,6] fft(c), fft_type=FFT, fft_length={6}",
    "fft of four dimensions": "ROOT r = c64[4,4] fft(a), fft_type=RFFT, fft_length={1,1,4,6}",
    "fft of an unknown kind": "ROOT r = c64[4,4] fft(a), fft_type=XFFT, fft_length={6}",
    "fft without a length": "ROOT r = c64[4,4] fft(a), fft_type=RFFT",
    "rng without operands": "ROOT r = f32[4] rng(), distribution=rng_uniform",
    "rng of an unknown distribution": "ROOT r = f32[4] rng(z, z), distribution=rng_other",
    "rng without a distribution": "ROOT r = f32[4] rng(z, z)",
    "rng of another type": "ROOT r = f32[4] rng(i, i), distribution=rng_uniform",
    "rng-bit-generator of floats": (
        "s = u64[2] constant({1,2})\n  ROOT r = (u64[2], f32[4]) rng-bit-generator(s), algorithm=rng_three_fry"
    ),
    "rng-bit-generator by nobody": (
        "s = u64[2] constant({1,2})\n  ROOT r = (u64[2], u32[4]) rng-bit-generator(s), algorithm=rng_nobody"
    ),
    "reduce-precision without exponent": "ROOT r = f32[4,6] reduce-precision(a), exponent_bits=0, mantissa_bits=5",
    # Attributes.
    "attribute that nobody has": "ROOT r = f32[4,6] negate(a), frobnicate=3",
    "attribute of another opcode": "ROOT r = f32[4,6] negate(a), dimensions={0}",
    "attribute twice": "ROOT r = f32[6,4] transpose(a), dimensions={1,0}, dimensions={1,0}",
    "transpose without dimensions": "ROOT r = f32[6,4] transpose(a)",
    "slice without bounds": "ROOT r = f32[4,6] slice(a)",
    "pad without amounts": "ROOT r = f32[5,6] pad(a, z)",
    "sharding that fits no rank": "ROOT r = f32[4,6] negate(a), sharding={devices=[2]0,1}",
    "sharding of other devices": "ROOT r = f32[4,6] negate(a), sharding={devices=[2,1]0}",
    "sharding that is no text of one": "ROOT r = f32[4,6] negate(a), sharding={nonsense}",
    # Operands.
    "negate of two": "ROOT r = f32[4,6] negate(a, b)",
    "add of one": "ROOT r = f32[4,6] add(a)",
    "operand that is not there": "ROOT r = f32[4,6] negate(nobody)",
    "operand that comes later": "r = f32[4,6] negate(q)\n  q = f32[4,6] negate(a)\n  ROOT s = f32[4,6] negate(r)",
    "value that uses itself": "r = f32[4,6] negate(r)\n  ROOT s = f32[4,6] negate(r)",
    "name twice": "r = f32[4,6] negate(a)\n  r = f32[4,6] negate(a)\n  ROOT s = f32[4,6] negate(r)",
    "two roots": "ROOT r = f32[4,6] negate(a)\n  ROOT s = f32[4,6] negate(a)",
    "parameter twice": "p = f32[4,6] parameter(0)\n  ROOT r = f32[4,6] negate(p)",
    "parameter after a gap": "p = f32[4,6] parameter(9)\n  ROOT r = f32[4,6] negate(p)",
    "unknown opcode": "ROOT r = f32[4,6] frobnicate(a)",
    "unknown type": "ROOT r = q32[4,6] negate(a)",
    "negative dimension": "ROOT r = f32[-4,6] negate(a)",
    "copy-done of an array": "ROOT r = f32[4,6] copy-done(a)",
    "all-reduce without a computation": "ROOT r = f32[4,6] all-reduce(a), replica_groups={}",
    "partition-id of floats": "ROOT r = f32[] partition-id()",
    "domain of two": 'ROOT r = f32[4,6] domain(a, b), domain={kind="sharding", entry={replicated}, exit={replicated}}',
    "optimization-barrier of another shape": "ROOT r = f32[6,4] opt-barrier(a)",
    "add-dependency on an array": "ROOT r = f32[4,6] add-dependency(a, b)",
    "topk of more than there are": "ROOT r = (f32[4,9], s32[4,9]) topk(a), k=9, largest=true",
    "topk to another shape": "ROOT r = (f32[4,3], s32[4,3]) topk(a), k=2, largest=true",
    "fft to another shape": "ROOT r = c64[4,5] fft(a), fft_type=RFFT, fft_length={6}",
    "scatter to another shape": (
        "j = s32[1] reshape(i)\n  u = f32[6] broadcast(z), dimensions={}\n"
        "  ROOT r = f32[4,3] scatter(a, j, u), update_window_dims={0}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=0, to_apply=add"
    ),
    "stochastic-convert by floats": "ROOT r = s8[4,6] stochastic-convert(a, b)",
    "gather without its numbers": "j = s32[1] reshape(i)\n  ROOT r = f32[6] gather(a, j)",
    "gather of slices beyond the end": (
        "j = s32[1] reshape(i)\n  ROOT r = f32[9] gather(a, j), offset_dims={0}, collapsed_slice_dims={0}, "
        "start_index_map={0}, index_vector_dim=0, slice_sizes={1,9}"
    ),
    "gather by floats": (
        "j = f32[1] reshape(z)\n  ROOT r = f32[6] gather(a, j), offset_dims={0}, collapsed_slice_dims={0}, "
        "start_index_map={0}, index_vector_dim=0, slice_sizes={1,6}"
    ),
    "gather to another shape": (
        "j = s32[1] reshape(i)\n  ROOT r = f32[5] gather(a, j), offset_dims={0}, collapsed_slice_dims={0}, "
        "start_index_map={0}, index_vector_dim=0, slice_sizes={1,6}"
    ),
    "erf of integers": "ROOT r = s32[] erf(i)",
    "power of truth values": "p = pred[] constant(1)\n  ROOT r = pred[] power(p, p)",
    "atan2 of integers": "ROOT r = s32[] atan2(i, i)",
    "remainder of complex": "c = c64[4,6] complex(a, b)\n  ROOT r = c64[4,6] remainder(c, c)",
    "floor of integers": "ROOT r = s32[] floor(i)",
    "maximum of complex": "c = c64[4,6] complex(a, b)\n  ROOT r = c64[4,6] maximum(c, c)",
    "abs of complex that stays complex": "c = c64[4,6] complex(a, b)\n  ROOT r = c64[4,6] abs(c)",
}

# Modules that XLA accepts although they mean little.
ACCEPTED = frozenset(("dot of two types", "maximum of complex", "rng-bit-generator of floats"))

_MODULES = {
    "entry layout with another parameter": (
        "HloModule m, entry_computation_layout={(f32[4], f32[4])->f32[4]}\n"
        "ENTRY e {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] negate(p)\n}\n"
    ),
    "entry layout of another shape": (
        "HloModule m, entry_computation_layout={(f32[5])->f32[4]}\n"
        "ENTRY e {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] negate(p)\n}\n"
    ),
    "alias of what is not there": (
        "HloModule m, input_output_alias={ {0}: (7, {}, may-alias) }\n"
        "ENTRY e {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] negate(p)\n}\n"
    ),
    "gap in the parameters": (
        "HloModule m\nENTRY e {\n  p = f32[4] parameter(0)\n  q = f32[4] parameter(2)\n  ROOT r = f32[4] add(p, q)\n}\n"
    ),
    "a computation that calls itself": (
        "HloModule m\nf {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] call(p), to_apply=f\n}\n"
        "ENTRY e {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] call(p), to_apply=f\n}\n"
    ),
    "two entries": (
        "HloModule m\nENTRY e {\n  ROOT p = f32[4] parameter(0)\n}\nENTRY f {\n  ROOT p = f32[4] parameter(0)\n}\n"
    ),
}


def body_module(body: str) -> str:
    """Returns the module whose entry has the common parameters and a body."""
    return (
        f"HloModule m\n\n{_SUM}{_LESS}{_LOOP}ENTRY main {{\n  a = f32[4,6] parameter(0)\n  b = f32[4,6] parameter(1)\n"
        f"  i = s32[] parameter(2)\n  v = f32[4] parameter(3)\n  z = f32[] constant(0)\n  {body}\n}}\n"
    )


def nonsense() -> dict[str, str]:
    """Returns the text of every module by its name."""
    return {**{name: body_module(body) for name, body in _BODIES.items()}, **_MODULES}
