module @case_of_three {
  func.func public @main() -> (tensor<4x4xf32>, tensor<4xf32>) {
    %in:2 = call @inputs() : () -> (tensor<4x4xf32>, tensor<i32>)
    %want:2 = call @expected() : () -> (tensor<4x4xf32>, tensor<4xf32>)
    %got:2 = call @case_of_three(%in#0, %in#1) : (tensor<4x4xf32>, tensor<i32>) -> (tensor<4x4xf32>, tensor<4xf32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<4x4xf32>, tensor<4x4xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
    return %got#0, %got#1 : tensor<4x4xf32>, tensor<4xf32>
  }
  func.func private @inputs() -> (tensor<4x4xf32>, tensor<i32>) {
    %cst = stablehlo.constant dense<[[2.000000e+00, 0.000000e+00, 2.000000e+00, 0.000000e+00], [0.000000e+00, 2.000000e+00, 0.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00], [1.000000e+00, 0.000000e+00, 0.000000e+00, 2.000000e+00]]> : tensor<4x4xf32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    return %cst, %c : tensor<4x4xf32>, tensor<i32>
  }
  func.func private @expected() -> (tensor<4x4xf32>, tensor<4xf32>) {
    %cst = stablehlo.constant dense<[[6.000000e+00, 2.000000e+00, 4.000000e+00, 0.000000e+00], [0.000000e+00, 4.000000e+00, 0.000000e+00, 0.000000e+00], [2.000000e+00, 2.000000e+00, 2.000000e+00, 0.000000e+00], [4.000000e+00, 0.000000e+00, 2.000000e+00, 4.000000e+00]]> : tensor<4x4xf32>
    %cst_0 = stablehlo.constant dense<[0.000000e+00, 4.000000e+00, 0.000000e+00, 0.000000e+00]> : tensor<4xf32>
    return %cst, %cst_0 : tensor<4x4xf32>, tensor<4xf32>
  }
  func.func private @case_of_three(%arg0: tensor<4x4xf32>, %arg1: tensor<i32>) -> (tensor<4x4xf32>, tensor<4xf32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<2> : tensor<i32>
    %0 = stablehlo.clamp %c, %arg1, %c_0 : tensor<i32>
    %1:2 = "stablehlo.case"(%0) ({
      %2 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %3 = stablehlo.slice %arg0 [0:1, 0:4] : (tensor<4x4xf32>) -> tensor<1x4xf32>
      %4 = stablehlo.reshape %3 : (tensor<1x4xf32>) -> tensor<4xf32>
      stablehlo.return %2, %4 : tensor<4x4xf32>, tensor<4xf32>
    }, {
      %2 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %3 = stablehlo.slice %arg0 [1:2, 0:4] : (tensor<4x4xf32>) -> tensor<1x4xf32>
      %4 = stablehlo.reshape %3 : (tensor<1x4xf32>) -> tensor<4xf32>
      %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>
      %6 = stablehlo.multiply %4, %5 : tensor<4xf32>
      stablehlo.return %2, %6 : tensor<4x4xf32>, tensor<4xf32>
    }, {
      %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x4xf32>
      %3 = stablehlo.add %arg0, %2 : tensor<4x4xf32>
      %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %4 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.add across dimensions = [0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
      stablehlo.return %3, %4 : tensor<4x4xf32>, tensor<4xf32>
    }) : (tensor<i32>) -> (tensor<4x4xf32>, tensor<4xf32>)
    return %1#0, %1#1 : tensor<4x4xf32>, tensor<4xf32>
  }
}
