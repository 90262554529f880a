// RUN: relayout opt %s -p cancel-relayouts --strip-comments | filecheck %s

// CHECK-LABEL: func.func public @main(%arg0: tensor<2x3xf32>)
func.func public @main(%arg0: tensor<2x3xf32>) -> (tensor<2x1x3xf32>, tensor<2x2xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = stablehlo.reshape %0 : (tensor<3x2xf32>) -> tensor<3x2x1xf32>
  // CHECK: [[U:%.*]] = stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
  %2 = stablehlo.transpose %1, dims = [1, 2, 0] : (tensor<3x2x1xf32>) -> tensor<2x1x3xf32>
  %3 = stablehlo.pad %arg0, %zero, low = [0, 2], high = [0, 3], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x8xf32>
  // CHECK: [[S:%.*]] = stablehlo.slice %arg0 [0:2, 1:3]
  %4 = stablehlo.slice %3 [0:2, 3:5] : (tensor<2x8xf32>) -> tensor<2x2xf32>
  // CHECK: return [[U]], [[S]]
  return %2, %4 : tensor<2x1x3xf32>, tensor<2x2xf32>
}
