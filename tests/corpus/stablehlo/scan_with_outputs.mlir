module @scan_with_outputs {
  func.func public @main() -> (tensor<3xf32>, tensor<5x3xf32>, tensor<5xf32>) {
    %in = call @inputs() : () -> (tensor<5x3xf32>)
    %want:3 = call @expected() : () -> (tensor<3xf32>, tensor<5x3xf32>, tensor<5xf32>)
    %got:3 = call @scan_with_outputs(%in) : (tensor<5x3xf32>) -> (tensor<3xf32>, tensor<5x3xf32>, tensor<5xf32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<3xf32>, tensor<3xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<5x3xf32>, tensor<5x3xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<5xf32>, tensor<5xf32>) -> ()
    return %got#0, %got#1, %got#2 : tensor<3xf32>, tensor<5x3xf32>, tensor<5xf32>
  }
  func.func private @inputs() -> (tensor<5x3xf32>) {
    %cst = stablehlo.constant dense<[[6.000000e+00, 8.000000e+00, 7.000000e+00], [4.000000e+00, 7.000000e+00, 3.000000e+00], [7.000000e+00, 7.000000e+00, 5.000000e+00], [8.000000e+00, 7.000000e+00, 3.000000e+00], [0.000000e+00, 6.000000e+00, 8.000000e+00]]> : tensor<5x3xf32>
    return %cst : tensor<5x3xf32>
  }
  func.func private @expected() -> (tensor<3xf32>, tensor<5x3xf32>, tensor<5xf32>) {
    %cst = stablehlo.constant dense<[2.500000e+01, 3.500000e+01, 2.600000e+01]> : tensor<3xf32>
    %cst_0 = stablehlo.constant dense<[[0.000000e+00, 0.000000e+00, 0.000000e+00], [1.200000e+01, 1.600000e+01, 1.400000e+01], [2.000000e+01, 3.000000e+01, 2.000000e+01], [3.400000e+01, 4.400000e+01, 3.000000e+01], [5.000000e+01, 5.800000e+01, 3.600000e+01]]> : tensor<5x3xf32>
    %cst_1 = stablehlo.constant dense<[2.100000e+01, 1.400000e+01, 1.900000e+01, 1.800000e+01, 1.400000e+01]> : tensor<5xf32>
    return %cst, %cst_0, %cst_1 : tensor<3xf32>, tensor<5x3xf32>, tensor<5xf32>
  }
  func.func private @scan_with_outputs(%arg0: tensor<5x3xf32>) -> (tensor<3xf32>, tensor<5x3xf32>, tensor<5xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<5x3xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3:5 = stablehlo.while(%iterArg = %arg0, %iterArg_2 = %c, %iterArg_3 = %0, %iterArg_4 = %1, %iterArg_5 = %2) : tensor<5x3xf32>, tensor<i32>, tensor<3xf32>, tensor<5x3xf32>, tensor<5xf32>
    cond {
      %c_6 = stablehlo.constant dense<5> : tensor<i32>
      %4 = stablehlo.compare LT, %iterArg_2, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %4 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_2) : (tensor<5x3xf32>, tensor<i32>) -> tensor<3xf32>
      %5:3 = func.call @closed_call(%iterArg_3, %4) : (tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<f32>)
      %6 = func.call @dynamic_update_index_in_dim(%iterArg_4, %5#1, %iterArg_2) : (tensor<5x3xf32>, tensor<3xf32>, tensor<i32>) -> tensor<5x3xf32>
      %7 = func.call @dynamic_update_index_in_dim_0(%iterArg_5, %5#2, %iterArg_2) : (tensor<5xf32>, tensor<f32>, tensor<i32>) -> tensor<5xf32>
      %c_6 = stablehlo.constant dense<1> : tensor<i32>
      %8 = stablehlo.add %iterArg_2, %c_6 : tensor<i32>
      stablehlo.return %iterArg, %8, %5#0, %6, %7 : tensor<5x3xf32>, tensor<i32>, tensor<3xf32>, tensor<5x3xf32>, tensor<5xf32>
    }
    return %3#2, %3#3, %3#4 : tensor<3xf32>, tensor<5x3xf32>, tensor<5xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<5x3xf32>, %arg1: tensor<i32>) -> tensor<3xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 3] : (tensor<5x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x3xf32>) -> tensor<3xf32>
    return %1 : tensor<3xf32>
  }
  func.func private @closed_call(%arg0: tensor<3xf32>, %arg1: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<f32>) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<3xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %2 = stablehlo.multiply %arg0, %1 : tensor<3xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.reduce(%arg1 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    return %0, %2, %3 : tensor<3xf32>, tensor<3xf32>, tensor<f32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<5x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<i32>) -> tensor<5x3xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xf32>) -> tensor<1x3xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<5x3xf32>, tensor<1x3xf32>, tensor<i32>, tensor<i32>) -> tensor<5x3xf32>
    return %1 : tensor<5x3xf32>
  }
  func.func private @dynamic_update_index_in_dim_0(%arg0: tensor<5xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>) -> tensor<5xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<5xf32>, tensor<1xf32>, tensor<i32>) -> tensor<5xf32>
    return %1 : tensor<5xf32>
  }
}
