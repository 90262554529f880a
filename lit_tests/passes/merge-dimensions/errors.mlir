// RUN: not relayout opt %s -p 'merge-dimensions{value=%01 dimension=0}' 2>&1 | filecheck %s
// RUN: not relayout opt %s -p 'merge-dimensions{target=tpu-v9}' 2>&1 | filecheck %s --check-prefix=TARGET
// RUN: not relayout opt %s -p 'merge-dimensions{target=gpu-h100}' 2>&1 | filecheck %s --check-prefix=TILES

// CHECK: <pipeline>:1:24: error: the module has no value %01
// CHECK: hint: did you mean %0?
// TARGET: <pipeline>:1:25: error: unknown target 'tpu-v9'
// TARGET: hint: known targets: tpu-v2, tpu-v3, tpu-v4, tpu-v5e, tpu-v5p, tpu-v6e, tpu7x
// TILES: <pipeline>:1:{{.*}}: error: gpu-h100 stores arrays without tiles, so nothing is padded
func.func public @main(%arg0: tensor<8x2xf32>) -> tensor<8x2xf32> {
  %0 = stablehlo.negate %arg0 : tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}
