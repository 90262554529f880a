"""Four faults that a rewrite of tiles can make, each injected in both dialects: each is detected."""

import pytest

from dialect_utils.execution import Worker
from dialect_utils.io.files import parse_bytes
from dialect_utils.ir import Module
from dialect_utils.verdict import compare_modules

# The sum of a 3x3 array in 2x2 tiles: its physical array is [2,2,2,2], and 7 of 16 slots are padding.
HLO = """HloModule m, entry_computation_layout={(%(type)s)->f32[]}

add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}

ENTRY main {
  p = %(type)s parameter(0)
%(body)s
  zero = f32[] constant(0)
  weights = f32[4,4] constant({{1,2,4,8},{16,32,64,128},{256,512,1024,2048},{4096,8192,16384,32768}})
  used = %(used)s slice(weights), slice={%(bounds)s}
  product = %(used)s multiply(x, used)
  ROOT sum = f32[] reduce(product, zero), dimensions={0,1}, to_apply=add
}
"""
MLIR = """func.func public @main(%%p: %(type)s) -> tensor<f32> {
%(body)s
  %%zero = stablehlo.constant dense<0.0> : tensor<f32>
  %%weights = stablehlo.constant dense<[[1.,2.,4.,8.],[16.,32.,64.,128.],[256.,512.,1024.,2048.],
    [4096.,8192.,16384.,32768.]]> : tensor<4x4xf32>
  %%used = stablehlo.slice %%weights [%(bounds)s] : (tensor<4x4xf32>) -> %(used)s
  %%product = stablehlo.multiply %%x, %%used : %(used)s
  %%sum = stablehlo.reduce(%%product init: %%zero) applies stablehlo.add across dimensions = [0, 1]
    : (%(used)s, tensor<f32>) -> tensor<f32>
  return %%sum : tensor<f32>
}
"""
# name -> permutation that reads the physical array, slice of the padded 4x4 array (None: all of it)
READERS = {
    "right": ((0, 2, 1, 3), (0, 3)),
    "wrong tile size": ((2, 3, 0, 1), (0, 3)),  # as if the tiles were 4x1
    "swapped transpose": ((2, 0, 1, 3), (0, 3)),
    "padding in a sum": ((0, 2, 1, 3), None),
    "wrong slice bound": ((0, 2, 1, 3), (1, 4)),
}


def tiled(form: str) -> Module:
    if form == "hlo":
        body = "  x = f32[3,3]{1,0:T(2,2)} copy(p)"
        values = {"type": "f32[3,3]{1,0:T(2,2)}", "body": body, "used": "f32[3,3]", "bounds": "[0:3], [0:3]"}
        return parse_bytes((HLO % values).encode(), "tiled.hlo")
    body = "  %x = stablehlo.optimization_barrier %p : tensor<3x3xf32>"
    argument = 'tensor<3x3xf32> {mhlo.layout_mode = "{1,0:T(2,2)}"}'
    values = {"type": argument, "body": body, "used": "tensor<3x3xf32>", "bounds": "0:3, 0:3"}
    return parse_bytes((MLIR % values).encode(), "tiled.mlir")


def explicit(form: str, reader: str) -> Module:
    permutation, bounds = READERS[reader]
    size = 4 if bounds is None else bounds[1] - bounds[0]
    dims = ",".join(map(str, permutation))
    if form == "hlo":
        lines = [f"  t = f32[2,2,2,2] transpose(p), dimensions={{{dims}}}"]
        lines += ["  padded = f32[4,4] reshape(t)" if bounds else "  x = f32[4,4] reshape(t)"]
        if bounds:
            lines += [f"  x = f32[3,3] slice(padded), slice={{[{bounds[0]}:{bounds[1]}], [0:3]}}"]
        values = {"type": "f32[2,2,2,2]", "body": "\n".join(lines), "used": f"f32[{size},{size}]"}
        values["bounds"] = f"[0:{size}], [0:{size}]"
        return parse_bytes((HLO % values).encode(), "explicit.hlo")
    lines = [f"  %t = stablehlo.transpose %p, dims = [{dims}] : (tensor<2x2x2x2xf32>) -> tensor<2x2x2x2xf32>"]
    reshaped = "%padded" if bounds else "%x"
    lines += [f"  {reshaped} = stablehlo.reshape %t : (tensor<2x2x2x2xf32>) -> tensor<4x4xf32>"]
    if bounds:
        slicing = f"{bounds[0]}:{bounds[1]}, 0:3"
        lines += [f"  %x = stablehlo.slice %padded [{slicing}] : (tensor<4x4xf32>) -> tensor<3x3xf32>"]
    values = {"type": "tensor<2x2x2x2xf32>", "body": "\n".join(lines), "used": f"tensor<{size}x{size}xf32>"}
    values["bounds"] = f"0:{size}, 0:{size}"
    return parse_bytes((MLIR % values).encode(), "explicit.mlir")


@pytest.mark.parametrize("form", ["hlo", "stablehlo"])
@pytest.mark.parametrize("reader", READERS)
def test_every_planted_mistake_is_found(worker: Worker, form: str, reader: str) -> None:
    verdict = compare_modules(tiled(form), explicit(form, reader), worker=worker)
    if reader == "right":
        assert verdict.verdict == "equal"
        return
    assert verdict.verdict == "different"
    assert verdict.counterexample is not None
    assert verdict.counterexample.output == 0
