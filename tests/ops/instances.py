"""Small instances of operations with factors, and the modules that hold one each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dialect_utils.hlo import parse_module
from dialect_utils.ir import Operation
from dialect_utils.stablehlo import parse_module as parse_stablehlo
from tests.execution.reference.programs import FAMILIES, cases

_COMPUTATIONS = """
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] maximum(a, b) }
first { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] subtract(a, b) }
ge { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=GE }
lt { a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  ROOT e = pred[] compare(a, b), direction=LT }
best { a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  m = f32[] maximum(a, b)
  k = s32[] maximum(i, j)
  ROOT t = (f32[], s32[]) tuple(m, k) }
"""

# Result, opcode and operands' shapes, attributes. Some dimensions are equal, so that exchanged factors fit.
HLO = """
f32[3,3,4] transpose(f32[4,3,3]), dimensions={2,1,0}
f32[2,12] reshape(f32[6,4])
f32[3,1,2,6] reshape(f32[6,3,2])
f32[6,4] reshape(f32[4,6])
f32[3,2,3] slice(f32[3,4,3]), slice={[0:3], [1:3], [0:3]}
f32[2,2,3] slice(f32[4,4,3]), slice={[0:4:2], [1:3], [0:3]}
f32[3,6,7] pad(f32[3,3,4], f32[]), padding=0_0x1_2x0_0_1
f32[3,3,2] reverse(f32[3,3,2]), dimensions={1}
f32[3,7,3] concatenate(f32[3,3,3], f32[3,4,3]), dimensions={1}
f32[3,4,3] broadcast(f32[3,3]), dimensions={0,2}
f32[3,4,3] broadcast(f32[3,3]), dimensions={2,0}
f32[3,4] iota(), iota_dimension=1
f32[3,4] constant({...})
u8[3,3,4] bitcast-convert(f32[3,3])
f32[3,3] bitcast-convert(s32[3,3])
f32[2,3,3] dynamic-slice(f32[4,3,3], s32[], s32[], s32[]), dynamic_slice_sizes={2,3,3}
f32[4,3,3] dynamic-update-slice(f32[4,3,3], f32[2,3,3], s32[], s32[], s32[])
f32[4,3,3] gather(f32[5,3,3], s32[4,1]), offset_dims={1,2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3,3}
f32[4,3,2] gather(f32[5,3,3], s32[4,1,3]), offset_dims={2}, collapsed_slice_dims={0}, operand_batching_dims={1}, start_indices_batching_dims={2}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,1,2}
f32[3,4,3] gather(f32[3,5,3], s32[3,4]), offset_dims={2}, collapsed_slice_dims={1}, operand_batching_dims={0}, start_indices_batching_dims={0}, start_index_map={1}, index_vector_dim=2, slice_sizes={1,1,3}
f32[5,3,3] scatter(f32[5,3,3], s32[4,1], f32[4,3,3]), update_window_dims={1,2}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
f32[5,3,3] scatter(f32[5,3,3], s32[4,1], f32[3,4,2]), update_window_dims={0,2}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=max
f32[3,5,3] scatter(f32[3,5,3], s32[3,4], f32[3,4,3]), update_window_dims={2}, inserted_window_dims={1}, input_batching_dims={0}, scatter_indices_batching_dims={0}, scatter_dims_to_operand_dims={1}, index_vector_dim=2, to_apply=add
f32[3,3] map(f32[3,3], f32[3,3]), dimensions={0,1}, to_apply=first
f32[3,3] reduce(f32[3,4,3,2], f32[]), dimensions={1,3}, to_apply=add
f32[3] reduce(f32[3,3], f32[]), dimensions={0}, to_apply=max
(f32[3,3], s32[3,3]) reduce(f32[3,4,3], s32[3,4,3], f32[], s32[]), dimensions={1}, to_apply=best
f32[3,4,3] sort(f32[3,4,3]), dimensions={1}, to_apply=ge
(f32[3,4,3], f32[3,4,3]) sort(f32[3,4,3], f32[3,4,3]), dimensions={1}, is_stable=true, to_apply=lt
(f32[3,3,2], s32[3,3,2]) topk(f32[3,3,4]), k=2, largest=true
f32[3,4,3] dot(f32[3,4,5], f32[3,5,3]), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}
f32[3,3,4,4] dot(f32[4,3,2,3,4], f32[4,2,3,4,3]), lhs_batch_dims={1,3}, rhs_batch_dims={2,4}, lhs_contracting_dims={2,0}, rhs_contracting_dims={1,0}
f32[3,2,3] dot(f32[3,2], f32[3])
f32[4,3,5,3] convolution(f32[4,3,7,3], f32[3,3,3,1]), window={size=3x1}, dim_labels=bf01_io01->bf01
f32[4,3,4] convolution(f32[4,5,6], f32[3,5,3]), window={size=3}, dim_labels=bf0_oi0->bf0
f32[3,4,4] convolution(f32[3,6,6], f32[4,3,3]), window={size=3}, dim_labels=bf0_oi0->bf0, feature_group_count=2
f32[3,4,4] convolution(f32[6,2,6], f32[4,2,3]), window={size=3}, dim_labels=bf0_oi0->bf0, batch_group_count=2
f32[3,4,1] convolution(f32[3,5,3], f32[4,5,3]), window={size=3}, dim_labels=bf0_oi0->bf0
f32[3,4,3] convolution(f32[3,5,1], f32[4,5,3]), window={size=3 pad=2_2 rhs_reversal=1}, dim_labels=bf0_oi0->bf0
f32[3,4,3] convolution(f32[3,5,1], f32[4,5,3]), window={size=3 pad=2_2}, dim_labels=bf0_oi0->bf0
f32[3,4,4] reduce-window(f32[3,6,4], f32[]), window={size=1x3x1}, to_apply=add
f32[3,4,4] select-and-scatter(f32[3,4,4], f32[3,2,4], f32[]), window={size=1x2x1 stride=1x2x1}, select=ge, scatter=add
f32[3,4,2] batch-norm-inference(f32[3,4,2], f32[4], f32[4], f32[4], f32[4]), epsilon=0.5, feature_index=1
(f32[3,4,2], f32[4], f32[4]) batch-norm-training(f32[3,4,2], f32[4], f32[4]), epsilon=0.5, feature_index=1
(f32[3,4,2], f32[4], f32[4]) batch-norm-grad(f32[3,4,2], f32[4], f32[4], f32[4], f32[3,4,2]), epsilon=0.5, feature_index=1
f32[3,4,2,2] cholesky(f32[3,4,2,2]), lower=true
c64[3,4,4] fft(c64[3,4,4]), fft_type=FFT, fft_length={4}
c64[3,4,3] fft(f32[3,4,4]), fft_type=RFFT, fft_length={4}
f32[3,2,3] triangular-solve(f32[3,2,2], f32[3,2,3]), left_side=true, lower=true, unit_diagonal=true, transpose_a=NO_TRANSPOSE
f32[3,3,2] triangular-solve(f32[3,2,2], f32[3,3,2]), lower=true, unit_diagonal=true, transpose_a=NO_TRANSPOSE
f32[3,3] all-reduce(f32[3,3]), replica_groups={}, to_apply=add
f32[3,3] all-gather(f32[3,3]), dimensions={1}, replica_groups={{0}}
f32[3,3] all-to-all(f32[3,3]), dimensions={1}, replica_groups={{0}}
f32[3,3] collective-broadcast(f32[3,3]), replica_groups={{0}}
f32[3,3] collective-reduce(f32[3,3]), replica_groups={{0}}, to_apply=add
f32[3,3] collective-permute(f32[3,3]), source_target_pairs={{0,0}}
f32[3,3] reduce-scatter(f32[3,3]), dimensions={1}, replica_groups={{0}}, to_apply=add
f32[3,3] clamp(f32[], f32[3,3], f32[3,3])
c64[3,3] complex(f32[3,3], f32[3,3])
f32[3,3] select(pred[], f32[3,3], f32[3,3])
s8[3,3] stochastic-convert(f32[3,3], u32[3,3])
"""  # noqa: E501  # instructions
EACH = "acos acosh asin asinh atanh cosh sinh erf copy"


def _module(line: str) -> str:
    """Returns a module whose entry has parameters for the operands of one instruction."""
    found = re.fullmatch(r"(\(.*?\)|\S+) ([\w-]+)\((.*?)\)(, .*)?", line)
    assert found is not None, line
    result, opcode, operands, attributes = found.groups()
    shapes = re.findall(r"\w+\[[\d,]*\]", operands)
    parameters = "\n".join(f"  p{i} = {shape} parameter({i})" for i, shape in enumerate(shapes))
    names = operands if opcode == "constant" else ", ".join(f"p{i}" for i, _ in enumerate(shapes))
    root = f"  ROOT r = {result} {opcode}({names}){attributes or ''}"
    return f"HloModule m\n{_COMPUTATIONS}\nENTRY e {{\n{parameters}\n{root}\n}}\n"


def hlo_operations() -> Iterator[Operation]:
    """Yields the operation of each instance in HLO."""
    lines = [*HLO.strip().splitlines(), *(f"f32[3,3] {name}(f32[3,3])" for name in EACH.split())]
    lines += ["s32[3,3] mulhi(s32[3,3], s32[3,3])", "f32[3,3] atan2(f32[3,3], f32[3,3])"]
    for line in lines:
        yield parse_module(_module(line.replace("{...}", "{{1,2,3,4},{5,6,7,8},{9,8,7,6}}"))).entry.operations[-1]


def stablehlo_operations() -> Iterator[Operation]:
    """Yields the operations of the random programs that engines are compared on."""
    for family in FAMILIES:
        for case in cases(0, family):
            yield from parse_stablehlo(case.text, case.name).entry.operations
