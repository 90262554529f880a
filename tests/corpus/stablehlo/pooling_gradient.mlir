module @pooling_gradient {
  func.func public @main() -> tensor<1x6x6xf32> {
    %in:2 = call @inputs() : () -> (tensor<1x6x6xf32>, tensor<1x3x3xf32>)
    %want = call @expected() : () -> (tensor<1x6x6xf32>)
    %got = call @pooling_gradient(%in#0, %in#1) : (tensor<1x6x6xf32>, tensor<1x3x3xf32>) -> (tensor<1x6x6xf32>)
    stablehlo.custom_call @check.expect_eq(%got, %want) {has_side_effect = true} : (tensor<1x6x6xf32>, tensor<1x6x6xf32>) -> ()
    return %got : tensor<1x6x6xf32>
  }
  func.func private @inputs() -> (tensor<1x6x6xf32>, tensor<1x3x3xf32>) {
    %cst = stablehlo.constant dense<[[[5.800000e+01, 1.400000e+01, 3.300000e+01, 5.600000e+01, 6.800000e+01, 5.400000e+01], [2.400000e+01, 6.300000e+01, 5.500000e+01, 5.000000e+00, 9.700000e+01, 7.300000e+01], [7.300000e+01, 1.400000e+01, 9.500000e+01, 2.100000e+01, 9.200000e+01, 2.000000e+00], [2.900000e+01, 5.700000e+01, 8.600000e+01, 9.200000e+01, 6.300000e+01, 4.400000e+01], [2.900000e+01, 8.900000e+01, 2.200000e+01, 3.500000e+01, 5.200000e+01, 1.300000e+01], [5.900000e+01, 6.000000e+00, 8.500000e+01, 3.300000e+01, 5.100000e+01, 7.400000e+01]]]> : tensor<1x6x6xf32>
    %cst_0 = stablehlo.constant dense<[[[1.000000e+00, 2.000000e+00, 3.000000e+00], [3.000000e+00, 4.000000e+00, 4.000000e+00], [6.000000e+00, 4.000000e+00, 5.000000e+00]]]> : tensor<1x3x3xf32>
    return %cst, %cst_0 : tensor<1x6x6xf32>, tensor<1x3x3xf32>
  }
  func.func private @expected() -> (tensor<1x6x6xf32>) {
    %cst = stablehlo.constant dense<[[[0.000000e+00, 0.000000e+00, 0.000000e+00, 2.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00, 3.000000e+00, 0.000000e+00], [3.000000e+00, 0.000000e+00, 4.000000e+00, 0.000000e+00, 4.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 6.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00, 4.000000e+00, 0.000000e+00, 0.000000e+00, 5.000000e+00]]]> : tensor<1x6x6xf32>
    return %cst : tensor<1x6x6xf32>
  }
  func.func private @pooling_gradient(%arg0: tensor<1x6x6xf32>, %arg1: tensor<1x3x3xf32>) -> (tensor<1x6x6xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.reduce_window"(%arg0, %0) <{base_dilations = array<i64: 1, 1, 1>, padding = dense<0> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2>, window_strides = array<i64: 1, 2, 2>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %3 = stablehlo.maximum %arg2, %arg3 : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<1x6x6xf32>, tensor<f32>) -> tensor<1x3x3xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = "stablehlo.select_and_scatter"(%arg0, %arg1, %cst_0) <{padding = dense<0> : tensor<3x2xi64>, window_dimensions = array<i64: 1, 2, 2>, window_strides = array<i64: 1, 2, 2>}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %3 = stablehlo.compare GE, %arg2, %arg3, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    }, {
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %3 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<1x6x6xf32>, tensor<1x3x3xf32>, tensor<f32>) -> tensor<1x6x6xf32>
    return %2 : tensor<1x6x6xf32>
  }
}
