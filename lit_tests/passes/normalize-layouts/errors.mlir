// RUN: not relayout opt %s -p normalize-layouts 2>&1 | filecheck %s

// CHECK: errors.mlir:7:{{.*}} error: {{.*}}minor_to_major {1,1} repeats dimension 1
func.func public @main(%arg0: tensor<5x4xf32>) -> tensor<5x4xf32> {
  // The annotation is not a valid layout.
  // (It repeats a dimension.)
  %0 = stablehlo.negate %arg0 {xla_shape = "f32[5,4]{1,1}"} : tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}
