// RUN: not relayout opt %s 2>&1 | filecheck %s

// CHECK: errors.mlir:5:{{[0-9]+}}: error:
func.func public @main(%arg0: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = stablehlo.reshape %arg0 : (tensor<3x5xf32>) -> tensor<16xf32>
  return %arg0 : tensor<3x5xf32>
}
