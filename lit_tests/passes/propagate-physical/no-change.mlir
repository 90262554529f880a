// RUN: relayout opt %s > %t.before
// RUN: relayout opt %s -p propagate-physical > %t.after
// RUN: diff %t.before %t.after

// Padding might divide by zero.
func.func public @main(%arg0: tensor<4x6xi32>) -> tensor<3x5xi32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.slice %arg0 [0:3, 0:5] : (tensor<4x6xi32>) -> tensor<3x5xi32>
  %1 = stablehlo.divide %0, %0 : tensor<3x5xi32>
  %2 = stablehlo.pad %1, %zero, low = [0, 0], high = [1, 1], interior = [0, 0] : (tensor<3x5xi32>, tensor<i32>) -> tensor<4x6xi32>
  %3 = stablehlo.negate %2 : tensor<4x6xi32>
  %4 = stablehlo.slice %3 [0:3, 0:5] : (tensor<4x6xi32>) -> tensor<3x5xi32>
  return %4 : tensor<3x5xi32>
}
