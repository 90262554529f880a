module @linear_layer {
  func.func public @main() -> tensor<4x3xf32> {
    %in:3 = call @inputs() : () -> (tensor<4x6xf32>, tensor<6x3xf32>, tensor<3xf32>)
    %want = call @expected() : () -> (tensor<4x3xf32>)
    %got = call @linear_layer(%in#0, %in#1, %in#2) : (tensor<4x6xf32>, tensor<6x3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>)
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<4x3xf32>, tensor<4x3xf32>) -> ()
    return %got : tensor<4x3xf32>
  }
  func.func private @inputs() -> (tensor<4x6xf32>, tensor<6x3xf32>, tensor<3xf32>) {
    %cst = stablehlo.constant dense<[[0.000000e+00, 1.000000e+00, 5.000000e+00, 6.000000e+00, 5.000000e+00, 2.000000e+00], [4.000000e+00, 8.000000e+00, 2.000000e+00, 7.000000e+00, 7.000000e+00, 1.000000e+00], [7.000000e+00, 5.000000e+00, 1.000000e+00, 0.000000e+00, 7.000000e+00, 3.000000e+00], [3.000000e+00, 3.000000e+00, 6.000000e+00, 0.000000e+00, 8.000000e+00, 4.000000e+00]]> : tensor<4x6xf32>
    %cst_0 = stablehlo.constant dense<[[0.000000e+00, 1.000000e+00, 8.000000e+00], [5.000000e+00, 6.000000e+00, 1.000000e+00], [4.000000e+00, 4.000000e+00, 0.000000e+00], [4.000000e+00, 1.000000e+00, 1.000000e+00], [6.000000e+00, 7.000000e+00, 8.000000e+00], [5.000000e+00, 6.000000e+00, 8.000000e+00]]> : tensor<6x3xf32>
    %cst_1 = stablehlo.constant dense<[8.000000e+00, 5.000000e+00, 5.000000e+00]> : tensor<3xf32>
    return %cst, %cst_0, %cst_1 : tensor<4x6xf32>, tensor<6x3xf32>, tensor<3xf32>
  }
  func.func private @expected() -> (tensor<4x3xf32>) {
    %cst = stablehlo.constant dense<[[0.000000e+00, 0.000000e+00, 0.000000e+00], [3.100000e+01, 2.700000e+01, 1.600000e+01], [0.000000e+00, 1.300000e+01, 4.600000e+01], [1.500000e+01, 3.000000e+01, 2.800000e+01]]> : tensor<4x3xf32>
    return %cst : tensor<4x3xf32>
  }
  func.func private @linear_layer(%arg0: tensor<4x6xf32>, %arg1: tensor<6x3xf32>, %arg2: tensor<3xf32>) -> (tensor<4x3xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<4x3xf32>
    %3 = stablehlo.add %0, %2 : tensor<4x3xf32>
    %cst = stablehlo.constant dense<1.000000e+02> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %5 = stablehlo.subtract %3, %4 : tensor<4x3xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %7 = stablehlo.maximum %5, %6 : tensor<4x3xf32>
    return %7 : tensor<4x3xf32>
  }
}
