// RUN: relayout opt %s -p 'annotate-layouts{target=tpu-v5e}' --strip-comments | filecheck %s

// CHECK-LABEL: func.func public @main
// CHECK-SAME: mhlo.layout_mode = "{1,0:T(4,128)}"
// CHECK-SAME: mhlo.layout_mode = "{0:T(128)}"
func.func public @main(%arg0: tensor<3x5xf32>) -> tensor<3xf32> {
  // CHECK: stablehlo.constant
  // CHECK-SAME: xla_shape = "f32[]{:T(128)}"
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: stablehlo.reduce
  // CHECK-SAME: xla_shape = "f32[3]{0:T(128)}"
  %0 = stablehlo.reduce(%arg0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<3x5xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}
