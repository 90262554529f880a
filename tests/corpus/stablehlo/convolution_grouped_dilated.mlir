module @convolution_grouped_dilated {
  func.func public @main() -> tensor<2x4x4xf32> {
    %in:2 = call @inputs() : () -> (tensor<2x4x9xf32>, tensor<4x2x3xf32>)
    %want = call @expected() : () -> (tensor<2x4x4xf32>)
    %got = call @convolution_grouped_dilated(%in#0, %in#1) : (tensor<2x4x9xf32>, tensor<4x2x3xf32>) -> (tensor<2x4x4xf32>)
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> ()
    return %got : tensor<2x4x4xf32>
  }
  func.func private @inputs() -> (tensor<2x4x9xf32>, tensor<4x2x3xf32>) {
    %cst = stablehlo.constant dense<[[[1.000000e+00, 2.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00, 2.000000e+00, 4.000000e+00, 3.000000e+00, 3.000000e+00], [0.000000e+00, 0.000000e+00, 1.000000e+00, 1.000000e+00, 4.000000e+00, 2.000000e+00, 4.000000e+00, 4.000000e+00, 0.000000e+00], [1.000000e+00, 3.000000e+00, 2.000000e+00, 2.000000e+00, 2.000000e+00, 1.000000e+00, 3.000000e+00, 0.000000e+00, 1.000000e+00], [1.000000e+00, 3.000000e+00, 2.000000e+00, 2.000000e+00, 4.000000e+00, 4.000000e+00, 3.000000e+00, 3.000000e+00, 1.000000e+00]], [[3.000000e+00, 1.000000e+00, 4.000000e+00, 3.000000e+00, 4.000000e+00, 2.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00], [4.000000e+00, 3.000000e+00, 2.000000e+00, 4.000000e+00, 4.000000e+00, 0.000000e+00, 3.000000e+00, 1.000000e+00, 1.000000e+00], [4.000000e+00, 4.000000e+00, 0.000000e+00, 0.000000e+00, 3.000000e+00, 0.000000e+00, 1.000000e+00, 3.000000e+00, 3.000000e+00], [2.000000e+00, 0.000000e+00, 0.000000e+00, 1.000000e+00, 0.000000e+00, 1.000000e+00, 2.000000e+00, 0.000000e+00, 0.000000e+00]]]> : tensor<2x4x9xf32>
    %cst_0 = stablehlo.constant dense<[[[1.000000e+00, 3.000000e+00, 1.000000e+00], [4.000000e+00, 4.000000e+00, 4.000000e+00]], [[2.000000e+00, 2.000000e+00, 1.000000e+00], [4.000000e+00, 0.000000e+00, 0.000000e+00]], [[4.000000e+00, 2.000000e+00, 4.000000e+00], [4.000000e+00, 0.000000e+00, 0.000000e+00]], [[4.000000e+00, 2.000000e+00, 2.000000e+00], [1.000000e+00, 0.000000e+00, 4.000000e+00]]]> : tensor<4x2x3xf32>
    return %cst, %cst_0 : tensor<2x4x9xf32>, tensor<4x2x3xf32>
  }
  func.func private @expected() -> (tensor<2x4x4xf32>) {
    %cst = stablehlo.constant dense<[[[8.000000e+00, 2.400000e+01, 4.100000e+01, 4.700000e+01], [3.000000e+00, 4.000000e+00, 1.000000e+01, 2.700000e+01], [1.000000e+01, 2.000000e+01, 3.200000e+01, 3.400000e+01], [1.400000e+01, 2.900000e+01, 3.200000e+01, 2.400000e+01]], [[3.700000e+01, 5.900000e+01, 5.300000e+01, 4.000000e+01], [1.000000e+01, 3.400000e+01, 2.500000e+01, 2.700000e+01], [8.000000e+00, 3.600000e+01, 1.000000e+01, 2.600000e+01], [8.000000e+00, 2.400000e+01, 1.600000e+01, 2.000000e+01]]]> : tensor<2x4x4xf32>
    return %cst : tensor<2x4x4xf32>
  }
  func.func private @convolution_grouped_dilated(%arg0: tensor<2x4x9xf32>, %arg1: tensor<4x2x3xf32>) -> (tensor<2x4x4xf32>) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [2], pad = [[2, 1]], lhs_dilate = [1], rhs_dilate = [2], reverse = [false]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x4x9xf32>, tensor<4x2x3xf32>) -> tensor<2x4x4xf32>
    return %0 : tensor<2x4x4xf32>
  }
}
