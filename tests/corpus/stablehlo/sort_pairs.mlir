module @sort_pairs {
  func.func public @main() -> (tensor<4x6xi32>, tensor<4x6xf32>, tensor<4x6xi32>) {
    %in:2 = call @inputs() : () -> (tensor<4x6xi32>, tensor<4x6xf32>)
    %want:3 = call @expected() : () -> (tensor<4x6xi32>, tensor<4x6xf32>, tensor<4x6xi32>)
    %got:3 = call @sort_pairs(%in#0, %in#1) : (tensor<4x6xi32>, tensor<4x6xf32>) -> (tensor<4x6xi32>, tensor<4x6xf32>, tensor<4x6xi32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<4x6xi32>, tensor<4x6xi32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<4x6xf32>, tensor<4x6xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<4x6xi32>, tensor<4x6xi32>) -> ()
    return %got#0, %got#1, %got#2 : tensor<4x6xi32>, tensor<4x6xf32>, tensor<4x6xi32>
  }
  func.func private @inputs() -> (tensor<4x6xi32>, tensor<4x6xf32>) {
    %c = stablehlo.constant dense<[[3, 1, 3, 2, 0, 1], [2, 3, 1, 1, 3, 2], [2, 3, 1, 0, 0, 3], [0, 1, 0, 1, 0, 3]]> : tensor<4x6xi32>
    %cst = stablehlo.constant dense<[[-1.812500e+00, 1.000000e+00, -3.906250e-01, -1.156250e+00, -6.718750e-01, 7.343750e-01], [2.656250e-01, 1.093750e-01, 1.562500e-01, -6.093750e-01, -1.156250e+00, 1.562500e-01], [6.718750e-01, 7.812500e-02, 8.125000e-01, -7.500000e-01, 7.500000e-01, -1.250000e-01], [-2.812500e-01, -5.468750e-01, -1.609375, -9.218750e-01, -4.687500e-02, 7.187500e-01]]> : tensor<4x6xf32>
    return %c, %cst : tensor<4x6xi32>, tensor<4x6xf32>
  }
  func.func private @expected() -> (tensor<4x6xi32>, tensor<4x6xf32>, tensor<4x6xi32>) {
    %c = stablehlo.constant dense<[[0, 1, 1, 2, 3, 3], [1, 1, 2, 2, 3, 3], [0, 0, 1, 2, 3, 3], [0, 0, 0, 1, 1, 3]]> : tensor<4x6xi32>
    %cst = stablehlo.constant dense<[[-6.718750e-01, 1.000000e+00, 7.343750e-01, -1.156250e+00, -1.812500e+00, -3.906250e-01], [1.562500e-01, -6.093750e-01, 2.656250e-01, 1.562500e-01, 1.093750e-01, -1.156250e+00], [-7.500000e-01, 7.500000e-01, 8.125000e-01, 6.718750e-01, 7.812500e-02, -1.250000e-01], [-2.812500e-01, -1.609375, -4.687500e-02, -5.468750e-01, -9.218750e-01, 7.187500e-01]]> : tensor<4x6xf32>
    %c_0 = stablehlo.constant dense<[[0, 3, 3, 0, 1, 2], [3, 2, 0, 3, 0, 1], [1, 1, 1, 2, 3, 3], [2, 0, 2, 1, 2, 0]]> : tensor<4x6xi32>
    return %c, %cst, %c_0 : tensor<4x6xi32>, tensor<4x6xf32>, tensor<4x6xi32>
  }
  func.func private @sort_pairs(%arg0: tensor<4x6xi32>, %arg1: tensor<4x6xf32>) -> (tensor<4x6xi32>, tensor<4x6xf32>, tensor<4x6xi32>) {
    %0:2 = "stablehlo.sort"(%arg0, %arg1) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<f32>, %arg5: tensor<f32>):
      %2 = stablehlo.compare LT, %arg2, %arg3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    }) : (tensor<4x6xi32>, tensor<4x6xf32>) -> (tensor<4x6xi32>, tensor<4x6xf32>)
    %1 = call @argsort(%arg1) : (tensor<4x6xf32>) -> tensor<4x6xi32>
    return %0#0, %0#1, %1 : tensor<4x6xi32>, tensor<4x6xf32>, tensor<4x6xi32>
  }
  func.func private @argsort(%arg0: tensor<4x6xf32>) -> tensor<4x6xi32> {
    %0 = stablehlo.iota dim = 0 : tensor<4x6xi32>
    %1:2 = "stablehlo.sort"(%arg0, %0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>, %arg3: tensor<i32>, %arg4: tensor<i32>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %2 = stablehlo.compare EQ, %arg1, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %3 = stablehlo.select %2, %cst_0, %arg1 : tensor<i1>, tensor<f32>
      %4 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %5 = stablehlo.select %4, %cst_1, %3 : tensor<i1>, tensor<f32>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %6 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %7 = stablehlo.select %6, %cst_3, %arg2 : tensor<i1>, tensor<f32>
      %8 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
      %9 = stablehlo.select %8, %cst_4, %7 : tensor<i1>, tensor<f32>
      %10 = stablehlo.compare LT, %5, %9, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %10 : tensor<i1>
    }) : (tensor<4x6xf32>, tensor<4x6xi32>) -> (tensor<4x6xf32>, tensor<4x6xi32>)
    return %1#1 : tensor<4x6xi32>
  }
}
