// RUN: relayout opt %s > %t.before
// RUN: relayout opt %s -p fold-tiling > %t.after
// RUN: diff %t.before %t.after

func.func public @main(%arg0: tensor<3x5xf32>) -> tensor<4x6xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %arg0, %zero, low = [0, 0], high = [1, 1], interior = [0, 0] : (tensor<3x5xf32>, tensor<f32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
