// RUN: relayout opt %s > %t.before
// RUN: relayout opt %s -p cancel-relayouts > %t.after
// RUN: diff %t.before %t.after

func.func public @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<6xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.slice %arg0 [0:2, 0:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.pad %0, %zero, low = [0, 0], high = [0, 1], interior = [0, 0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x3xf32>
  %2 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %3 = stablehlo.reshape %2 : (tensor<3x2xf32>) -> tensor<6xf32>
  return %1, %3 : tensor<2x3xf32>, tensor<6xf32>
}
