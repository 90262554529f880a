module @batched_product {
  func.func public @main() -> tensor<2x5x3xf32> {
    %in:2 = call @inputs() : () -> (tensor<2x3x4xf32>, tensor<2x5x4xf32>)
    %want = call @expected() : () -> (tensor<2x5x3xf32>)
    %got = call @batched_product(%in#0, %in#1) : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> (tensor<2x5x3xf32>)
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<2x5x3xf32>, tensor<2x5x3xf32>) -> ()
    return %got : tensor<2x5x3xf32>
  }
  func.func private @inputs() -> (tensor<2x3x4xf32>, tensor<2x5x4xf32>) {
    %cst = stablehlo.constant dense<[[[3.000000e+00, 0.000000e+00, 2.000000e+00, 0.000000e+00], [4.000000e+00, 0.000000e+00, 3.000000e+00, 3.000000e+00], [1.000000e+00, 4.000000e+00, 2.000000e+00, 3.000000e+00]], [[1.000000e+00, 1.000000e+00, 3.000000e+00, 2.000000e+00], [4.000000e+00, 2.000000e+00, 2.000000e+00, 3.000000e+00], [1.000000e+00, 2.000000e+00, 2.000000e+00, 1.000000e+00]]]> : tensor<2x3x4xf32>
    %cst_0 = stablehlo.constant dense<[[[3.000000e+00, 2.000000e+00, 1.000000e+00, 2.000000e+00], [0.000000e+00, 3.000000e+00, 3.000000e+00, 3.000000e+00], [4.000000e+00, 3.000000e+00, 1.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e+00, 3.000000e+00, 0.000000e+00], [2.000000e+00, 4.000000e+00, 0.000000e+00, 3.000000e+00]], [[2.000000e+00, 1.000000e+00, 4.000000e+00, 2.000000e+00], [1.000000e+00, 1.000000e+00, 3.000000e+00, 2.000000e+00], [2.000000e+00, 3.000000e+00, 2.000000e+00, 4.000000e+00], [3.000000e+00, 4.000000e+00, 1.000000e+00, 2.000000e+00], [2.000000e+00, 2.000000e+00, 3.000000e+00, 1.000000e+00]]]> : tensor<2x5x4xf32>
    return %cst, %cst_0 : tensor<2x3x4xf32>, tensor<2x5x4xf32>
  }
  func.func private @expected() -> (tensor<2x5x3xf32>) {
    %cst = stablehlo.constant dense<[[[1.100000e+01, 2.100000e+01, 1.900000e+01], [6.000000e+00, 1.800000e+01, 2.700000e+01], [1.400000e+01, 1.900000e+01, 1.800000e+01], [9.000000e+00, 1.300000e+01, 1.100000e+01], [6.000000e+00, 1.700000e+01, 2.700000e+01]], [[1.900000e+01, 2.400000e+01, 1.400000e+01], [1.500000e+01, 1.800000e+01, 1.100000e+01], [1.900000e+01, 3.000000e+01, 1.600000e+01], [1.400000e+01, 2.800000e+01, 1.500000e+01], [1.500000e+01, 2.100000e+01, 1.300000e+01]]]> : tensor<2x5x3xf32>
    return %cst : tensor<2x5x3xf32>
  }
  func.func private @batched_product(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x5x4xf32>) -> (tensor<2x5x3xf32>) {
    %0 = stablehlo.dot_general %arg1, %arg0, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x5x4xf32>, tensor<2x3x4xf32>) -> tensor<2x5x3xf32>
    return %0 : tensor<2x5x3xf32>
  }
}
