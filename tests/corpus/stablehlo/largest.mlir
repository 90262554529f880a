module @largest {
  func.func public @main() -> (tensor<3x4xf32>, tensor<3x12xf32>) {
    %in = call @inputs() : () -> (tensor<3x12xf32>)
    %want:2 = call @expected() : () -> (tensor<3x4xf32>, tensor<3x12xf32>)
    %got:2 = call @largest(%in) : (tensor<3x12xf32>) -> (tensor<3x4xf32>, tensor<3x12xf32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<3x4xf32>, tensor<3x4xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<3x12xf32>, tensor<3x12xf32>) -> ()
    return %got#0, %got#1 : tensor<3x4xf32>, tensor<3x12xf32>
  }
  func.func private @inputs() -> (tensor<3x12xf32>) {
    %cst = stablehlo.constant dense<[[-3.609375, 2.859375, -1.687500e+00, 1.703125, -1.015625, 1.031250e+00, -6.250000e-02, -1.093750e-01, -4.687500e-01, -6.562500e-01, -2.031250e+00, -1.625000e+00], [-5.312500e-01, -3.125000e-01, 2.031250e-01, 9.375000e-01, 1.421875, 1.140625, 1.046875, -2.234375, -7.968750e-01, 6.406250e-01, 7.343750e-01, 3.437500e-01], [-1.562500e-02, 1.125000e+00, -1.875000e+00, 9.375000e-01, -1.296875, 1.593750e+00, -1.390625, -1.390625, -7.500000e-01, 2.078125, -1.171875, -4.843750e-01]]> : tensor<3x12xf32>
    return %cst : tensor<3x12xf32>
  }
  func.func private @expected() -> (tensor<3x4xf32>, tensor<3x12xf32>) {
    %cst = stablehlo.constant dense<[[2.859375, 1.703125, 1.031250e+00, -6.250000e-02], [1.421875, 1.140625, 1.046875, 9.375000e-01], [2.078125, 1.593750e+00, 1.125000e+00, 9.375000e-01]]> : tensor<3x4xf32>
    %cst_0 = stablehlo.constant dense<[[1.562500e-02, -2.859375, -2.031250e-01, -1.703125, -1.421875, -1.593750e+00, -1.046875, 1.093750e-01, 4.687500e-01, -2.078125, -7.343750e-01, -3.437500e-01], [5.312500e-01, -1.125000e+00, 1.687500e+00, -9.375000e-01, 1.015625, -1.140625, 6.250000e-02, 1.390625, 7.500000e-01, -6.406250e-01, 1.171875, 4.843750e-01], [3.609375, 3.125000e-01, 1.875000e+00, -9.375000e-01, 1.296875, -1.031250e+00, 1.390625, 2.234375, 7.968750e-01, 6.562500e-01, 2.031250e+00, 1.625000e+00]]> : tensor<3x12xf32>
    return %cst, %cst_0 : tensor<3x4xf32>, tensor<3x12xf32>
  }
  func.func private @largest(%arg0: tensor<3x12xf32>) -> (tensor<3x4xf32>, tensor<3x12xf32>) {
    %0 = call @sort(%arg0) : (tensor<3x12xf32>) -> tensor<3x12xf32>
    %1 = stablehlo.reverse %0, dims = [1] : tensor<3x12xf32>
    %2 = stablehlo.slice %1 [0:3, 0:4] : (tensor<3x12xf32>) -> tensor<3x4xf32>
    %3 = stablehlo.negate %arg0 : tensor<3x12xf32>
    %4 = call @sort_0(%3) : (tensor<3x12xf32>) -> tensor<3x12xf32>
    return %2, %4 : tensor<3x4xf32>, tensor<3x12xf32>
  }
  func.func private @sort(%arg0: tensor<3x12xf32>) -> tensor<3x12xf32> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %1 = stablehlo.compare EQ, %arg1, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %2 = stablehlo.select %1, %cst_0, %arg1 : tensor<i1>, tensor<f32>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %4 = stablehlo.select %3, %cst_1, %2 : tensor<i1>, tensor<f32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %5 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.select %5, %cst_3, %arg2 : tensor<i1>, tensor<f32>
      %7 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %8 = stablehlo.select %7, %cst_4, %6 : tensor<i1>, tensor<f32>
      %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }) : (tensor<3x12xf32>) -> tensor<3x12xf32>
    return %0 : tensor<3x12xf32>
  }
  func.func private @sort_0(%arg0: tensor<3x12xf32>) -> tensor<3x12xf32> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %1 = stablehlo.compare EQ, %arg1, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %2 = stablehlo.select %1, %cst_0, %arg1 : tensor<i1>, tensor<f32>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %4 = stablehlo.select %3, %cst_1, %2 : tensor<i1>, tensor<f32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %5 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.select %5, %cst_3, %arg2 : tensor<i1>, tensor<f32>
      %7 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %8 = stablehlo.select %7, %cst_4, %6 : tensor<i1>, tensor<f32>
      %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }) : (tensor<3x12xf32>) -> tensor<3x12xf32>
    return %0 : tensor<3x12xf32>
  }
}
