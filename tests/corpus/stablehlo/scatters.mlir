module @scatters {
  func.func public @main() -> (tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>) {
    %in:3 = call @inputs() : () -> (tensor<8x5xf32>, tensor<4xi32>, tensor<4x5xf32>)
    %want:3 = call @expected() : () -> (tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>)
    %got:3 = call @scatters(%in#0, %in#1, %in#2) : (tensor<8x5xf32>, tensor<4xi32>, tensor<4x5xf32>) -> (tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>)
    stablehlo.custom_call @check.expect_eq(%got#0, %want#0) {has_side_effect = true} : (tensor<8x5xf32>, tensor<8x5xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#1, %want#1) {has_side_effect = true} : (tensor<8x5xf32>, tensor<8x5xf32>) -> ()
    stablehlo.custom_call @check.expect_eq(%got#2, %want#2) {has_side_effect = true} : (tensor<8x5xf32>, tensor<8x5xf32>) -> ()
    return %got#0, %got#1, %got#2 : tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>
  }
  func.func private @inputs() -> (tensor<8x5xf32>, tensor<4xi32>, tensor<4x5xf32>) {
    %cst = stablehlo.constant dense<[[2.000000e+00, 6.000000e+00, 4.000000e+00, 5.000000e+00, 4.000000e+00], [5.000000e+00, 4.000000e+00, 2.000000e+00, 7.000000e+00, 4.000000e+00], [6.000000e+00, 6.000000e+00, 0.000000e+00, 5.000000e+00, 5.000000e+00], [1.000000e+00, 6.000000e+00, 7.000000e+00, 4.000000e+00, 8.000000e+00], [4.000000e+00, 8.000000e+00, 6.000000e+00, 4.000000e+00, 6.000000e+00], [6.000000e+00, 0.000000e+00, 2.000000e+00, 4.000000e+00, 8.000000e+00], [1.000000e+00, 4.000000e+00, 0.000000e+00, 3.000000e+00, 1.000000e+00], [6.000000e+00, 5.000000e+00, 4.000000e+00, 0.000000e+00, 4.000000e+00]]> : tensor<8x5xf32>
    %c = stablehlo.constant dense<[5, 1, 4, 0]> : tensor<4xi32>
    %cst_0 = stablehlo.constant dense<[[8.000000e+00, 3.000000e+00, 7.000000e+00, 5.000000e+00, 5.000000e+00], [6.000000e+00, 6.000000e+00, 1.000000e+00, 3.000000e+00, 1.000000e+00], [8.000000e+00, 6.000000e+00, 4.000000e+00, 0.000000e+00, 3.000000e+00], [3.000000e+00, 2.000000e+00, 1.000000e+00, 3.000000e+00, 7.000000e+00]]> : tensor<4x5xf32>
    return %cst, %c, %cst_0 : tensor<8x5xf32>, tensor<4xi32>, tensor<4x5xf32>
  }
  func.func private @expected() -> (tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>) {
    %cst = stablehlo.constant dense<[[5.000000e+00, 8.000000e+00, 5.000000e+00, 8.000000e+00, 1.100000e+01], [1.100000e+01, 1.000000e+01, 3.000000e+00, 1.000000e+01, 5.000000e+00], [6.000000e+00, 6.000000e+00, 0.000000e+00, 5.000000e+00, 5.000000e+00], [1.000000e+00, 6.000000e+00, 7.000000e+00, 4.000000e+00, 8.000000e+00], [1.200000e+01, 1.400000e+01, 1.000000e+01, 4.000000e+00, 9.000000e+00], [1.400000e+01, 3.000000e+00, 9.000000e+00, 9.000000e+00, 1.300000e+01], [1.000000e+00, 4.000000e+00, 0.000000e+00, 3.000000e+00, 1.000000e+00], [6.000000e+00, 5.000000e+00, 4.000000e+00, 0.000000e+00, 4.000000e+00]]> : tensor<8x5xf32>
    %cst_0 = stablehlo.constant dense<[[3.000000e+00, 6.000000e+00, 4.000000e+00, 5.000000e+00, 7.000000e+00], [6.000000e+00, 6.000000e+00, 2.000000e+00, 7.000000e+00, 4.000000e+00], [6.000000e+00, 6.000000e+00, 0.000000e+00, 5.000000e+00, 5.000000e+00], [1.000000e+00, 6.000000e+00, 7.000000e+00, 4.000000e+00, 8.000000e+00], [8.000000e+00, 8.000000e+00, 6.000000e+00, 4.000000e+00, 6.000000e+00], [8.000000e+00, 3.000000e+00, 7.000000e+00, 5.000000e+00, 8.000000e+00], [1.000000e+00, 4.000000e+00, 0.000000e+00, 3.000000e+00, 1.000000e+00], [6.000000e+00, 5.000000e+00, 4.000000e+00, 0.000000e+00, 4.000000e+00]]> : tensor<8x5xf32>
    %cst_1 = stablehlo.constant dense<[[8.000000e+00, 3.000000e+00, 7.000000e+00, 5.000000e+00, 5.000000e+00], [6.000000e+00, 6.000000e+00, 1.000000e+00, 3.000000e+00, 1.000000e+00], [8.000000e+00, 6.000000e+00, 4.000000e+00, 0.000000e+00, 3.000000e+00], [3.000000e+00, 2.000000e+00, 1.000000e+00, 3.000000e+00, 7.000000e+00], [4.000000e+00, 8.000000e+00, 6.000000e+00, 4.000000e+00, 6.000000e+00], [6.000000e+00, 0.000000e+00, 2.000000e+00, 4.000000e+00, 8.000000e+00], [1.000000e+00, 4.000000e+00, 0.000000e+00, 3.000000e+00, 1.000000e+00], [6.000000e+00, 5.000000e+00, 4.000000e+00, 0.000000e+00, 4.000000e+00]]> : tensor<8x5xf32>
    return %cst, %cst_0, %cst_1 : tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>
  }
  func.func private @scatters(%arg0: tensor<8x5xf32>, %arg1: tensor<4xi32>, %arg2: tensor<4x5xf32>) -> (tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_0 = stablehlo.constant dense<8> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<4xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<4xi1>, tensor<4xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %6 = "stablehlo.scatter"(%arg0, %5, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %25 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %25 : tensor<f32>
    }) : (tensor<8x5xf32>, tensor<4x1xi32>, tensor<4x5xf32>) -> tensor<8x5xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %8 = stablehlo.compare LT, %arg1, %7, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_2 = stablehlo.constant dense<8> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %10 = stablehlo.add %arg1, %9 : tensor<4xi32>
    %11 = stablehlo.select %8, %10, %arg1 : tensor<4xi1>, tensor<4xi32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %13 = "stablehlo.scatter"(%arg0, %12, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %25 = stablehlo.maximum %arg3, %arg4 : tensor<f32>
      stablehlo.return %25 : tensor<f32>
    }) : (tensor<8x5xf32>, tensor<4x1xi32>, tensor<4x5xf32>) -> tensor<8x5xf32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %14 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %15 = stablehlo.multiply %arg1, %14 : tensor<4xi32>
    %16 = stablehlo.iota dim = 0 : tensor<4xi32>
    %17 = stablehlo.add %15, %16 : tensor<4xi32>
    %c_4 = stablehlo.constant dense<0> : tensor<i32>
    %18 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %19 = stablehlo.compare LT, %17, %18, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
    %c_5 = stablehlo.constant dense<8> : tensor<i32>
    %20 = stablehlo.broadcast_in_dim %c_5, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %21 = stablehlo.add %17, %20 : tensor<4xi32>
    %22 = stablehlo.select %19, %21, %17 : tensor<4xi1>, tensor<4xi32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %24 = "stablehlo.scatter"(%arg0, %23, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      stablehlo.return %arg4 : tensor<f32>
    }) : (tensor<8x5xf32>, tensor<4x1xi32>, tensor<4x5xf32>) -> tensor<8x5xf32>
    return %6, %13, %24 : tensor<8x5xf32>, tensor<8x5xf32>, tensor<8x5xf32>
  }
}
