"""Kernels in the text form of the TPU compiler; `call_of` wraps one in an HLO module."""

from __future__ import annotations

import base64
import json

TRIPLED = """module {
  func.func @tripled(%step: i32, %in: memref<8x128xf32, #tpu.memory_space<vmem>>, \
%out: memref<8x128xf32, #tpu.memory_space<vmem>>, %kept: memref<1xi32, #tpu.memory_space<smem>>) attributes {\
dimension_semantics = [#tpu.dimension_semantics<arbitrary>], iteration_bounds = array<i64: 3>, \
scalar_prefetch = 0 : i64, scratch_operands = 1 : i64, \
window_params = [{transform_indices = @rows, window_bounds = array<i64: 8, 128>}, \
{transform_indices = @rows, window_bounds = array<i64: 8, 128>}]} {
    %zero = arith.constant 0 : index
    %value = vector.load %in[%zero, %zero] : memref<8x128xf32, #tpu.memory_space<vmem>>, vector<8x128xf32>
    %factor = arith.constant dense<3.0> : vector<8x128xf32>
    %product = arith.mulf %value, %factor : vector<8x128xf32>
    vector.store %product, %out[%zero, %zero] : memref<8x128xf32, #tpu.memory_space<vmem>>, vector<8x128xf32>
    return
  }
  func.func @rows(%step: i32) -> (i32, i32) {
    %zero = arith.constant 0 : i32
    return %step, %zero : i32, i32
  }
}
"""


def call_of(kernel: str | bytes, parameters: str = "x = f32[24,128]{1,0} parameter(0)") -> str:
    """Returns the text of a module that calls a kernel on one array of 24x128."""
    body = kernel.encode() if isinstance(kernel, str) else kernel
    config = json.dumps({"custom_call_config": {"body": base64.b64encode(body).decode()}})
    return (
        "HloModule m, is_scheduled=true\n\nENTRY e {\n"
        f"  {parameters}\n"
        '  ROOT k = f32[24,128]{1,0} custom-call(x), custom_call_target="tpu_custom_call", '
        f"backend_config={config}\n}}\n"
    )
