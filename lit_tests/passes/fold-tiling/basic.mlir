// RUN: relayout opt %s -p fold-tiling --strip-comments | filecheck %s

// CHECK-LABEL: func.func public @main(%arg0: tensor<3x5xf32> {{{.*}}mhlo.layout_mode = "{1,0:T(2,2)}"
func.func public @main(%arg0: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %arg0, %zero, low = [0, 0], high = [1, 1], interior = [0, 0] : (tensor<3x5xf32>, tensor<f32>) -> tensor<4x6xf32>
  %1 = stablehlo.reshape %0 : (tensor<4x6xf32>) -> tensor<2x2x3x2xf32>
  %2 = stablehlo.transpose %1, dims = [0, 2, 1, 3] : (tensor<2x2x3x2xf32>) -> tensor<2x3x2x2xf32>
  %3 = stablehlo.transpose %2, dims = [0, 2, 1, 3] : (tensor<2x3x2x2xf32>) -> tensor<2x2x3x2xf32>
  %4 = stablehlo.reshape %3 : (tensor<2x2x3x2xf32>) -> tensor<4x6xf32>
  %5 = stablehlo.slice %4 [0:3, 0:5] : (tensor<4x6xf32>) -> tensor<3x5xf32>
  // CHECK: stablehlo.negate %arg0
  %6 = stablehlo.negate %5 : tensor<3x5xf32>
  return %6 : tensor<3x5xf32>
}
