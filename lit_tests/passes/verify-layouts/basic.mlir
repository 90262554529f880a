// RUN: not relayout opt %s 2>&1 | filecheck %s

func.func public @main(%arg0: tensor<3x5xf32>) -> tensor<3x5xf32> {
  // CHECK: basic.mlir:5:{{[0-9]+}}: error: {{.*}}f32[5,3]
  %0 = stablehlo.negate %arg0 {xla_shape = "f32[5,3]{1,0:T(2,2)}"} : tensor<3x5xf32>
  // CHECK: basic.mlir:7:{{[0-9]+}}: error: minor_to_major {1,1} repeats dimension 1
  %1 = stablehlo.negate %0 {xla_shape = "f32[3,5]{1,1}"} : tensor<3x5xf32>
  return %1 : tensor<3x5xf32>
}
