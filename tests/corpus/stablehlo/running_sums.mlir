module @running_sums {
  func.func public @main() -> (tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>) {
    %in = call @inputs() : () -> (tensor<3x8xf32>)
    %want:3 = call @expected() : () -> (tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>)
    %got:3 = call @running_sums(%in) : (tensor<3x8xf32>) -> (tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<3x8xf32>, tensor<3x8xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<3x8xf32>, tensor<3x8xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<3x8xf32>, tensor<3x8xf32>) -> ()
    return %got#0, %got#1, %got#2 : tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>
  }
  func.func private @inputs() -> (tensor<3x8xf32>) {
    %cst = stablehlo.constant dense<[[7.000000e+00, 7.000000e+00, 1.000000e+00, 8.000000e+00, 8.000000e+00, 8.000000e+00, 3.000000e+00, 5.000000e+00], [8.000000e+00, 1.000000e+00, 8.000000e+00, 7.000000e+00, 2.000000e+00, 1.000000e+00, 7.000000e+00, 4.000000e+00], [1.000000e+00, 7.000000e+00, 4.000000e+00, 2.000000e+00, 7.000000e+00, 7.000000e+00, 1.000000e+00, 1.000000e+00]]> : tensor<3x8xf32>
    return %cst : tensor<3x8xf32>
  }
  func.func private @expected() -> (tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>) {
    %cst = stablehlo.constant dense<[[7.000000e+00, 1.400000e+01, 1.500000e+01, 2.300000e+01, 3.100000e+01, 3.900000e+01, 4.200000e+01, 4.700000e+01], [8.000000e+00, 9.000000e+00, 1.700000e+01, 2.400000e+01, 2.600000e+01, 2.700000e+01, 3.400000e+01, 3.800000e+01], [1.000000e+00, 8.000000e+00, 1.200000e+01, 1.400000e+01, 2.100000e+01, 2.800000e+01, 2.900000e+01, 3.000000e+01]]> : tensor<3x8xf32>
    %cst_0 = stablehlo.constant dense<[[7.000000e+00, 7.000000e+00, 1.000000e+00, 8.000000e+00, 8.000000e+00, 8.000000e+00, 3.000000e+00, 5.000000e+00], [8.000000e+00, 7.000000e+00, 8.000000e+00, 8.000000e+00, 8.000000e+00, 8.000000e+00, 7.000000e+00, 5.000000e+00], [8.000000e+00, 7.000000e+00, 8.000000e+00, 8.000000e+00, 8.000000e+00, 8.000000e+00, 7.000000e+00, 5.000000e+00]]> : tensor<3x8xf32>
    %cst_1 = stablehlo.constant dense<[[1.600000e+01, 1.500000e+01, 1.300000e+01, 1.700000e+01, 1.700000e+01, 1.600000e+01, 1.100000e+01, 1.000000e+01], [1.500000e+01, 8.000000e+00, 9.000000e+00, 1.500000e+01, 1.000000e+01, 9.000000e+00, 1.000000e+01, 9.000000e+00], [7.000000e+00, 7.000000e+00, 1.000000e+00, 8.000000e+00, 8.000000e+00, 8.000000e+00, 3.000000e+00, 5.000000e+00]]> : tensor<3x8xf32>
    return %cst, %cst_0, %cst_1 : tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>
  }
  func.func private @running_sums(%arg0: tensor<3x8xf32>) -> (tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>) {
    %0 = call @cumsum(%arg0) : (tensor<3x8xf32>) -> tensor<3x8xf32>
    %1 = call @cummax(%arg0) : (tensor<3x8xf32>) -> tensor<3x8xf32>
    %2 = call @cumsum_1(%arg0) : (tensor<3x8xf32>) -> tensor<3x8xf32>
    %3 = stablehlo.reverse %2, dims = [0] : tensor<3x8xf32>
    return %0, %1, %3 : tensor<3x8xf32>, tensor<3x8xf32>, tensor<3x8xf32>
  }
  func.func private @cumsum(%arg0: tensor<3x8xf32>) -> tensor<3x8xf32> {
    %0 = call @cumsum_0(%arg0) : (tensor<3x8xf32>) -> tensor<3x8xf32>
    return %0 : tensor<3x8xf32>
  }
  func.func private @cumsum_0(%arg0: tensor<3x8xf32>) -> tensor<3x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [7, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 8>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
    return %1 : tensor<3x8xf32>
  }
  func.func private @cummax(%arg0: tensor<3x8xf32>) -> tensor<3x8xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[2, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
    return %1 : tensor<3x8xf32>
  }
  func.func private @cumsum_1(%arg0: tensor<3x8xf32>) -> tensor<3x8xf32> {
    %0 = call @cumsum_2(%arg0) : (tensor<3x8xf32>) -> tensor<3x8xf32>
    return %0 : tensor<3x8xf32>
  }
  func.func private @cumsum_2(%arg0: tensor<3x8xf32>) -> tensor<3x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1>, padding = dense<[[2, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<3x8xf32>, tensor<f32>) -> tensor<3x8xf32>
    return %1 : tensor<3x8xf32>
  }
}
